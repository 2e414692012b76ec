"""Band 12: what a person does and what goes wrong in a scenario, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from windtunnel.compiler.checks.staged import WORDS, Staged
from windtunnel.compiler.nodepaths import Found
from windtunnel.compiler.resolver import Kind
from windtunnel.compiler.types import TEXT, RecordShape, Shape
from windtunnel.compiler.vocabulary import EVENTS, KEYS, MESSAGE_FAULTS, MESSAGES, PROCESS_FAULTS, VERBS
from windtunnel.dsl.syntax import Choice, EventRef, FaultLine, Moment, Name, PersonLine, Ref

Events = Mapping[str, frozenset[Kind]]
MOST_LISTED: Final = 8
"""Events that a finding lists."""


# --- people -------------------------------------------------------------------------------------------------


def check_person(staged: Staged) -> None:
    """Report what a person cannot do."""
    for line in staged.scenario.person:
        verb = line.verb.text
        if verb not in VERBS:
            mend = staged.findings.did_you_mean(line.verb, VERBS)
            if mend["help"] is None:
                mend["help"] = f"a person {', '.join(f'`{each}`' for each in VERBS)}"
            staged.findings.add("WT1212", f"`{verb}` is nothing that a person does", line.verb.span, **mend)
            continue
        if verb == "answers":
            _check_answer(staged, line)
        else:
            _check_said(staged, line)
        if line.moment is not None:
            _check_moment(staged, line.moment)
            if line.moment.relation in ("before", "during"):
                said = "a person sees what happened and answers to it, so this is `after`"
                staged.findings.add("WT1215", said, line.moment.span)


def _check_said(staged: Staged, line: PersonLine) -> None:
    verb, argument = line.verb.text, line.argument
    if verb == "sends":
        if argument is None:
            staged.findings.add("WT1212", "`sends` takes a text", line.verb.span)
        else:
            staged.fits(argument, TEXT, "what a person sends", "WT1212")
    elif verb == "presses":
        key = argument.name if isinstance(argument, Ref) else None
        if key not in KEYS:
            listed = ", ".join(f"`{each}`" for each in KEYS)
            staged.findings.add("WT1212", f"`presses` takes a key: {listed}", (argument or line.verb).span)
    elif argument is not None:
        staged.findings.add("WT1212", f"`{verb}` takes nothing", argument.span)


def _check_answer(staged: Staged, line: PersonLine) -> None:
    if line.node is None:
        return  # The parser has said that a node is missing.
    found = staged.find(line.node)
    if found is None:
        return
    name = line.node.text
    if found.kind is Kind.CHECKPOINT:
        if line.choice is not None:
            staged.findings.add("WT1213", f"`{name}` is a checkpoint and has no choices", line.choice.span)
        elif line.argument is None:
            staged.findings.add("WT1213", f"`{name}` is answered `with` a value", line.node.span)
        else:
            wanted = staged.typing.output(found)
            staged.fits(line.argument, wanted, f"the answer to `{name}`", "WT1213")
    elif found.kind is not Kind.DECISION:
        message = f"`{name}` is {WORDS[found.kind]}, which asks nobody"
        staged.findings.add("WT1213", message, line.node.span)
    else:
        _check_choice(staged, line, found, name)


def _check_choice(staged: Staged, line: PersonLine, found: Found, name: str) -> None:
    choices = found.declaration.choices
    known: dict[str, Choice] = {} if choices is None else {each.name.text: each for each in choices.items}
    listed = ", ".join(f"`{each}`" for each in known)
    if line.choice is None:
        where = (line.argument or line.node or line.verb).span
        message = f"`{name}` is answered `with` one of its choices: {listed}"
        staged.findings.add("WT1213", message, where)
        return
    choice = known.get(line.choice.text)
    if choice is None:
        mend = staged.findings.did_you_mean(line.choice, known)
        mend["help"] = mend["help"] or f"its choices are {listed}"
        staged.findings.add(
            "WT1213", f"`{name}` has no choice `{line.choice.text}`", line.choice.span, **mend
        )
        return
    said = f"`{choice.name.text}`"
    if choice.ask is None:
        if line.argument is not None:
            staged.findings.add("WT1213", f"{said} of `{name}` asks for nothing", line.argument.span)
        return
    if line.argument is None:
        wanted = f"{{ {choice.ask.name.text}: … }}"
        message = f"{said} of `{name}` asks for `{choice.ask.name.text}`"
        staged.findings.add("WT1213", message, line.choice.span, help=f"write `{line.choice.text} {wanted}`")
        return
    staged.fits(line.argument, _asked(staged, found, choice), f"what {said} asks for", "WT1213")


def _asked(staged: Staged, found: Found, choice: Choice) -> Shape:
    scope, declaration = found.way[-1]
    asked = staged.typing.workflows[scope.id].expressions.stored.asked(declaration)
    return asked.get(choice.name.text, RecordShape(()))


# --- faults -------------------------------------------------------------------------------------------------


def check_faults(staged: Staged) -> None:
    """Report what cannot go wrong like this."""
    for line in staged.scenario.faults:
        kind = line.kind.text
        if kind in PROCESS_FAULTS:
            _check_process(staged, line)
        elif kind in MESSAGE_FAULTS:
            _check_message(staged, line)
        else:
            known = (*PROCESS_FAULTS, *MESSAGE_FAULTS)
            mend = staged.findings.did_you_mean(line.kind, known)
            mend["help"] = mend["help"] or f"the faults are {', '.join(f'`{each}`' for each in known)}"
            staged.findings.add("WT1214", f"there is no fault `{kind}`", line.kind.span, **mend)
        if line.moment is not None:
            _check_moment(staged, line.moment)
        if line.duration is not None:
            staged.duration(line.duration, "how long a fault lasts")


def _check_process(staged: Staged, line: FaultLine) -> None:
    kind = line.kind.text
    known = PROCESS_FAULTS[kind]
    listed = " or ".join(f"`{kind} {each}`" for each in known)
    if line.process is None:
        where = (line.event or line.kind).span
        staged.findings.add("WT1214", f"`{kind}` befalls a process: {listed}", where)
    elif line.process.text not in known:
        message = f"`{line.process.text}` knows no {kind}; it is {listed}"
        staged.findings.add("WT1214", message, line.process.span)


def _check_message(staged: Staged, line: FaultLine) -> None:
    kind = line.kind.text
    if line.process is not None:
        staged.findings.add("WT1214", f"`{kind}` befalls a message, not a process", line.process.span)
    elif line.event is not None:
        if line.event.event.text in EVENTS and line.event.event.text not in MESSAGES:
            message = f"`{line.event.event.text}` is written where it happens; it is no message on its way"
            staged.findings.add("WT1214", message, line.event.event.span)
        else:
            _check_event(staged, line.event, MESSAGES)
    elif kind != "reorder":
        staged.findings.add("WT1214", f"`{kind}` names a message, as in `{kind} message_end`", line.kind.span)


# --- moments ------------------------------------------------------------------------------------------------


def _check_moment(staged: Staged, moment: Moment) -> None:
    if moment.at is not None:
        staged.duration(moment.at, "a moment")
    if moment.event is not None:
        _check_event(staged, moment.event, EVENTS)


def _check_event(staged: Staged, event: EventRef, known: Events) -> None:
    name = event.event.text
    kinds = known.get(name)
    if kinds is None:
        mend = staged.findings.did_you_mean(Name(name, event.event.span), known)
        staged.findings.add("WT1211", f"there is no event `{name}`", event.event.span, **mend)
        return
    if event.node is None:
        if event.visit is not None:
            message = f"`visit {event.visit}` counts the visits of a node: `{name} of …`"
            staged.findings.add("WT1211", message, event.span)
        return
    found = staged.find(event.node)
    if found is None:
        return
    path = event.node.text
    if not kinds:
        staged.findings.add("WT1211", f"`{name}` happens to the run, not at a node", event.node.span)
    elif found.kind not in kinds:
        message = f"`{path}` is {WORDS[found.kind]}, where `{name}` never happens"
        staged.findings.add("WT1211", message, event.event.span, help=_can_happen(found, known))
    else:
        staged.visit(found, event.node, event.visit, event.span)


def _can_happen(found: Found, known: Events) -> str | None:
    able = [f"`{name}`" for name, kinds in known.items() if found.kind in kinds]
    listed = ", ".join(able[:MOST_LISTED]) + (" and more" if len(able) > MOST_LISTED else "")
    return f"what happens there: {listed}" if able else None
