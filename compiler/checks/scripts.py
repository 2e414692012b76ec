"""Band 12: what the model, actions and commands do in a scenario, line by line."""

from __future__ import annotations

from typing import Final

from windtunnel.compiler.checks.staged import WORDS, Staged
from windtunnel.compiler.clauses import clause
from windtunnel.compiler.nodepaths import Found
from windtunnel.compiler.resolver import Kind
from windtunnel.compiler.types import INT, TEXT, FieldShape, IntShape, RecordShape, Shape
from windtunnel.compiler.unions import union
from windtunnel.compiler.vocabulary import ACTS, CALLS, EFFECTS, ENDINGS, STOPS, UNSEEN, Takes
from windtunnel.dsl.syntax import Act, AssistantOutput, Node, ProviderLine, Text

PROCESS: Final = RecordShape(
    (
        FieldShape("exitCode", INT, optional=True),
        FieldShape("stdout", TEXT, optional=True),
        FieldShape("stderr", TEXT, optional=True),
        FieldShape("durationMs", IntShape(0, None), optional=True),
    )
)
"""What a command may be said to return: any part of what a process leaves."""


def check_scripts(staged: Staged) -> None:
    """Report lines that nothing comes of: of unknown nodes, impossible acts, values that do not fit."""
    first: dict[tuple[str, int | None], ProviderLine] = {}
    for line in staged.scenario.provider:
        found = staged.find(line.node)
        if found is None:
            continue
        staged.visit(found, line.node, line.visit, line.node.span)
        before = first.setdefault((line.node.text, line.visit), line)
        if before is not line:
            _report_second(staged, line, before)
        if found.kind is Kind.AGENT and _answers(found):
            _check_origin(staged, line)
        intact = [_check_act(staged, found, line, act) for turn in line.turns for act in turn]
        if all(intact) and all(_check_ending(staged, turn) for turn in line.turns):
            _check_end(staged, found, line)


def _report_second(staged: Staged, line: ProviderLine, before: ProviderLine) -> None:
    which = "every visit" if line.visit is None else f"visit {line.visit}"
    staged.findings.add(
        "WT1209",
        f"a line for {which} of `{line.node.text}` stands above, so this one is never used",
        line.node.span,
        secondary=[(before.node.span, "the line that is used")],
        help="join them with `then`, or say `visit 2`",
    )


def _check_origin(staged: Staged, line: ProviderLine) -> None:
    """A visible answer needs a session that shows it: without one the run fails before the model is asked."""
    host = staged.scenario.host
    if tuple(word.text for word in host) != UNSEEN:
        return
    staged.findings.add(
        "WT0607",
        f"`{line.node.text}` answers in the chat, and this run has none: it fails before the model is asked",
        line.node.span,
        secondary=[(host[0].span.to(host[-1].span), "no session would show the answer")],
        help="say `host detached with origin`, or take the line out and expect the failure",
    )


# --- acts ---------------------------------------------------------------------------------------------------


def _check_act(staged: Staged, found: Found, line: ProviderLine, act: Act) -> bool:
    """Whether an act is one that its node can do, with what it takes."""
    verb = act.verb.text
    rule = ACTS.get(verb)
    if rule is None:
        mend = staged.findings.did_you_mean(act.verb, ACTS)
        if mend["help"] is None:
            mend["help"] = f"the acts are {', '.join(f'`{each}`' for each in ACTS)}"
        staged.findings.add("WT1205", f"there is no act `{verb}`", act.verb.span, **mend)
        return False
    if found.kind not in rule.kinds:
        able = [f"`{name}`" for name, each in ACTS.items() if found.kind in each.kinds]
        help_ = f"it has {', '.join(able)}" if able else "it does nothing that a script could tell"
        if found.kind is Kind.INCLUDE:
            help_ = f"name a node inside it, as in `{line.node.text}/…`"
        words = WORDS[found.kind]
        message = f"`{line.node.text}` is {words}, which never {verb}"
        staged.findings.add("WT1206", message, act.verb.span, help=help_)
        return False
    return _check_argument(staged, act, rule.takes)


def _check_argument(staged: Staged, act: Act, takes: Takes) -> bool:
    verb, argument = act.verb.text, act.argument
    if takes is Takes.CALL:
        if act.tool is None:
            staged.findings.add("WT1207", f"`{verb}` takes {takes}", act.span)
            return False
        return argument is None or staged.shape(argument) is not None
    if argument is None:
        if takes in (Takes.NOTHING, Takes.MAYBE_TEXT):
            return True
        staged.findings.add("WT1207", f"`{verb}` takes {takes}", act.span)
        return False
    if takes is Takes.NOTHING:
        staged.findings.add("WT1207", f"`{verb}` takes nothing", argument.span)
        return False
    if takes is Takes.VALUE:
        return staged.shape(argument) is not None
    if not staged.fits(argument, TEXT, f"what the model {verb}", "WT1207"):
        return False
    if verb == "stops" and not (isinstance(argument, Text) and argument.constant in STOPS):
        listed = " or ".join(f'"{each}"' for each in STOPS)
        staged.findings.add("WT1207", f"a message stops for {listed}", argument.span)
        return False
    return True


def _check_ending(staged: Staged, turn: tuple[Act, ...]) -> bool:
    """Whether each message of a turn ends in one way only."""
    ending: Act | None = None
    called = False
    for act in turn:
        verb = act.verb.text
        if called and verb not in CALLS:
            ending, called = None, False
        called = called or verb in CALLS
        if verb in ENDINGS and ending is not None:
            staged.findings.add(
                "WT1220",
                f"this message ends with `{ending.verb.text}`; it does not end a second time",
                act.verb.span,
                secondary=[(ending.verb.span, "the end of the message")],
                help="begin the next message with `then`",
            )
            return False
        ending = act if verb in ENDINGS else ending
    return True


# --- outputs ------------------------------------------------------------------------------------------------


def _check_end(staged: Staged, found: Found, line: ProviderLine) -> None:
    """The last turn must give the node its output, or say plainly that it does not come."""
    last = line.turns[-1]
    if any(ACTS[act.verb.text].ends for act in last):
        return
    if found.kind in EFFECTS:
        for act in last:
            assert act.argument is not None, "what takes a value has one"
            staged.fits(act.argument, _returned(staged, found), f"what `{line.node.text}` returns", "WT1208")
    elif _answers(found):
        _check_answer(staged, line, last)
    else:
        _check_submission(staged, found, line, last)


def _returned(staged: Staged, found: Found) -> Shape:
    output = staged.typing.output(found)
    return union((output, PROCESS)) if found.kind is Kind.SHELL else output


def _answers(found: Found) -> bool:
    """Whether the output of an agent is what it says."""
    tree = found.declaration.tree
    output = clause(tree, "expectedOutput") if isinstance(tree, Node) else None
    return output is not None and isinstance(output.value, AssistantOutput)


def _check_answer(staged: Staged, line: ProviderLine, last: tuple[Act, ...]) -> None:
    calls = [at for at, act in enumerate(last) if act.verb.text in CALLS]
    after = last[calls[-1] + 1 :] if calls else last
    # A message that is cut or asked again says what it says.
    if any(act.verb.text in ("says", "stops") for act in after):
        return
    staged.findings.add(
        "WT1208",
        f"`{line.node.text}` answers in the chat, which this line never does",
        last[-1].span,
        help="end it with `says …`, or with `settles` where the model is meant to stop without an answer",
    )


def _check_submission(staged: Staged, found: Found, line: ProviderLine, last: tuple[Act, ...]) -> None:
    submitted = [act for act in last if act.verb.text == "submits"]
    # A message that is cut or aborted says itself that nothing more comes.
    if not submitted and any(act.verb.text == "stops" for act in last):
        return
    if not submitted:
        staged.findings.add(
            "WT1208",
            f"`{line.node.text}` waits for a submission, which this line never makes",
            last[-1].span,
            help="end it with `submits …`, or with `then settles` where the model is meant to go without",
        )
        return
    wanted = staged.typing.output(found)
    act = submitted[-1]
    assert act.argument is not None, "what takes a value has one"
    staged.fits(act.argument, wanted, f"what `{line.node.text}` submits", "WT1208")
