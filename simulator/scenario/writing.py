"""A path through the world as a scenario: the same story, told by its causes.

What model and people did and what went wrong is named by node, visit and event instead of by number, so the
text can be read, kept and changed. A node of which every visit took the first good behaviour needs no
line. What was written is run; only a scenario that comes to the same end is given out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.printing import scalar_text
from windtunnel.compiler.scenario import (
    Act,
    EventName,
    FaultLine,
    Moment,
    PersonLine,
    Scenario,
    ScriptLine,
    Where,
)
from windtunnel.compiler.snapshot import DecisionNode, Snapshot
from windtunnel.simulator.events import Action, Answered, Ask, Say
from windtunnel.simulator.hosting import USUAL, Hosting
from windtunnel.simulator.providers.behaviour import (
    Addressed,
    Behaviour,
    Call,
    Fails,
    Returns,
    Stop,
    Submit,
    Text,
    Thinking,
    Turn,
)
from windtunnel.simulator.run.state import thaw
from windtunnel.simulator.scenario.cues import moment_words
from windtunnel.simulator.scenario.directing import event_of
from windtunnel.simulator.scenario.happenings import Happening, Place, append_before, happenings
from windtunnel.simulator.scenario.running import run_scenario
from windtunnel.simulator.scenario.verdict import Cause
from windtunnel.simulator.world import (
    LOOP,
    OUTSIDE,
    PROVIDER,
    STORE,
    Option,
    State,
    World,
    until,
)

NOWHERE: Final = Where("", 1, 1)
INDENT: Final = "  "
VERBS: Final = {
    "followup": "sends",
    "escape": "presses",
    "cancel": "cancels",
    "pause": "pauses",
    "": "resumes",
}
"""What the moves of a person are called in a scenario."""


class Unwritable(ValueError):
    """The path holds something that no line of a scenario says; the message names it."""


class End(NamedTuple):
    """What a run came to: its status and exit, and the invariant that broke, if one did."""

    status: str
    exit: str | None
    invariant: str | None


@dataclass(slots=True)
class _Notes:
    """What was seen on the way. `unusual` are the nodes that did not only what comes first."""

    turns: dict[tuple[str, int], list[Turn]] = field(default_factory=dict)
    unusual: set[str] = field(default_factory=set)
    person: list[PersonLine] = field(default_factory=list)
    faults: list[FaultLine] = field(default_factory=list)


class _Recorder:
    """Follows one path and notes its causes."""

    def __init__(self, world: World, state: State) -> None:
        self.world = world
        self.state = state
        self.notes = _Notes()
        self.place = Place()
        self.last: Happening | None = None
        self._behaviour: Behaviour | None = None
        self._sent = 0

    def take(self, option: Option, options: Sequence[Option]) -> None:
        """One transition passes."""
        move = option.move
        actions = self.world.outcomes[option.outcome].actions
        if option.cut is not None:
            self._crash(option, actions)
        else:
            self._cause(option, options)
        done = actions if option.cut is None else until(actions, option.cut)
        for happening in happenings(done, self.place):
            self.place = happening.place
            self.last = happening
        self.state = option.state
        if move.handler != "provider":
            self._asked_again(done)

    def _cause(self, option: Option, options: Sequence[Option]) -> None:
        move = option.move
        message = self.world.messages.values[move.message]
        if move.source in ("provider", "outside") and isinstance(message, Behaviour):
            first = next(each for each in options if each.move.source == move.source)
            self._behaves(move.source, message, usual=option is first and not move.kind)
        elif move.source == "answer" and isinstance(message, Answered):
            self._answers(message, move.kind)
        elif move.source == "person":
            self._person(move.kind, message)
        elif move.kind == "duplicate":
            name = event_of(message)
            if name is None:
                raise Unwritable(f"“{move.label}” has no name in a scenario")
            self.notes.faults.append(FaultLine("duplicate", None, self._event(name), None, None, NOWHERE))
        elif move.kind:
            self._timer(move.label)

    # --- models and effects ---------------------------------------------------------------------------------

    def _behaves(self, source: str, behaviour: Behaviour, *, usual: bool) -> None:
        self._behaviour, self._sent = None, 0
        if source == "provider":
            question = self.world.calls.values[self.state[PROVIDER]].question
        else:
            call = self.world.outsides.values[self.state[OUTSIDE]].call
            question = None if call is None else call.question
        if question is None:
            return
        self._behaviour = behaviour
        self._turn(question.node, behaviour.turn(0))
        if not usual:
            self.notes.unusual.add(question.node)

    def _turn(self, node: str, turn: Turn) -> None:
        self.notes.turns.setdefault((node, self.place.visit(node)), []).append(turn)

    def _asked_again(self, actions: tuple[Action, ...]) -> None:
        """The model goes on with its behaviour; what follows an accepted submission is not kept."""
        for action in actions:
            if not isinstance(action, Ask) or not action.again or self._behaviour is None:
                continue
            call = self.world.calls.values[self.state[PROVIDER]]
            self._sent += 1
            if call.question is not None and not self.world.loops.values[self.state[LOOP]].muted:
                self._turn(call.question.node, self._behaviour.turn(self._sent))

    # --- people ---------------------------------------------------------------------------------------------

    def _answers(self, answer: Answered, kind: str) -> None:
        node = self.world.stores.values[self.state[STORE]].position.node
        if answer.rival is not None or answer.overdue:
            raise Unwritable("two people answer at once, or one in the moment when the time is up")
        asked = EventName("decision_requested", node, self.place.visit(node))
        value = None if answer.value is None else thaw(answer.value)
        declared = self.world.program.snapshot.nodes[node]
        if answer.choice is not None and isinstance(declared, DecisionNode):
            asks = declared.choices[answer.choice].asks
            value = None if asks is None else {asks: value}
        moment = Moment("after", None, asked)
        self.notes.person.append(PersonLine("answers", node, answer.choice, value, moment, NOWHERE))
        if kind == "duplicate":
            again = EventName("answer", node, self.place.visit(node))
            self.notes.faults.append(FaultLine("duplicate", None, again, None, None, NOWHERE))

    def _person(self, kind: str, message: object) -> None:
        if kind not in VERBS:
            raise Unwritable(f"a person who does “{kind}” has no line in a scenario")
        value: JsonValue = "escape" if kind == "escape" else None
        if isinstance(message, Say):
            value = message.text
        moment = None if kind == "" else Moment("after", None, self._latest())
        self.notes.person.append(PersonLine(VERBS[kind], None, None, value, moment, NOWHERE))

    def _timer(self, label: str) -> None:
        """A timer that goes off while the model is asked: the model stalls."""
        call = self.world.calls.values[self.state[PROVIDER]]
        if not call.asked or call.question is None:
            raise Unwritable(f"“{label}” in the middle of a message")
        self._turn(call.question.node, Turn(stalls=True))
        self.notes.unusual.add(call.question.node)

    # --- faults ---------------------------------------------------------------------------------------------

    def _crash(self, option: Option, actions: tuple[Action, ...]) -> None:
        cut = option.cut
        assert cut is not None, "a crash has a place"
        found = list(happenings(actions, self.place))
        before = [each for each in found if each.at < cut.done]
        if cut.torn:
            inside = [each for each in found if append_before(actions, each.at) == cut.done]
            if not inside or cut.rows:
                raise Unwritable("a write that is torn after its first row")
            moment = Moment("during", None, _named(inside[0]))
        elif before:
            moment = Moment("after", None, _named(before[-1]))
        elif found:
            moment = Moment("before", None, _named(found[0]))
        else:
            moment = Moment("after", None, self._latest())
        self.notes.faults.append(FaultLine("crash", "host", None, moment, None, NOWHERE))
        self._behaviour = None

    def _event(self, name: str) -> EventName:
        node = self.place.node
        return EventName(name, node or None, self.place.visit(node) or None)

    def _latest(self) -> EventName:
        if self.last is None:
            raise Unwritable("something that happens before the first event")
        return _named(self.last)


def _named(happening: Happening) -> EventName:
    return EventName(happening.event, happening.node, happening.visit or None)


def written(
    snapshot: Snapshot,
    world: World,
    start: State,
    choices: Sequence[int],
    end: End,
    *,
    input: JsonValue,
    title: str,
    switches: frozenset[str] = frozenset(),
) -> str:
    """The scenario of a path, as text that stands beside its workflow. Raises Unwritable.

    `end` is what the path comes to, `switches` the seeded faults that are on. What is written comes to the
    same end, or is not given out.
    """
    host = _host(world.hosting)
    scenario = _scenario(snapshot, _recorded(world, start, choices), input, title, host)
    verdict = run_scenario(scenario, snapshot, switches=switches)
    broken = [each.message.partition(":")[0] for each in verdict.broken if each.cause is Cause.INVARIANT]
    reached = End(verdict.run_status, verdict.exit, broken[0] if broken else None)
    others = [each.message for each in verdict.broken if each.cause is not Cause.INVARIANT]
    if reached.invariant != end.invariant or (end.invariant is None and (reached != end or others)):
        why = others[0] if others else f"it ends {reached.status}"
        raise Unwritable(f"the order of what happens at one moment ({why})")
    return _text(scenario, snapshot, end, switches)


def _host(around: Hosting) -> tuple[str, ...]:
    """The hosts as a scenario names them. Raises Unwritable for what none can name."""
    unsaid = [name for name in around.also if name != "pause"]
    if around.second or unsaid:
        raise Unwritable(", ".join([*(["a second host"] if around.second else []), *unsaid]))
    return around.words


def _recorded(world: World, start: State, choices: Sequence[int]) -> _Notes:
    recorder = _Recorder(world, start)
    taken = iter(choices)
    while options := world.options(recorder.state):
        number = next(taken, None)
        if number is None:
            number = 0
            if options[0].move.kind or options[0].cut is not None:
                break
        recorder.take(options[number], options)
        if options[number].violations:
            break
    return recorder.notes


def _scenario(
    snapshot: Snapshot, notes: _Notes, input: JsonValue, title: str, host: tuple[str, ...]
) -> Scenario:
    lines: list[ScriptLine] = []
    for node in dict.fromkeys(node for node, _ in notes.turns):
        visits = {visit: turns for (name, visit), turns in notes.turns.items() if name == node}
        if node in notes.unusual:
            for visit, turns in visits.items():
                said = tuple(tuple(_acts(turn)) for turn in turns)
                lines.append(ScriptLine(node, None if len(visits) == 1 else visit, said, NOWHERE))
    return Scenario(
        title,
        snapshot.workflow,
        input,
        host,
        tuple(lines),
        bool(lines),
        tuple(notes.person),
        tuple(notes.faults),
        (),
        NOWHERE,
    )


def _acts(turn: Turn) -> Iterator[Act]:
    """A message as it is written."""
    called = False
    for part in turn.acts:
        if called and isinstance(part, Text | Thinking):
            raise Unwritable("a message that goes on after its call")
        match part:
            case Text(text):
                yield Act("says", text, None, NOWHERE)
            case Thinking(text):
                yield Act("thinks", text, None, NOWHERE)
            case Call(tool, arguments):
                yield Act("calls", thaw(arguments), tool, NOWHERE)
            case Submit(output, Addressed.HERE):
                yield Act("submits", thaw(output), None, NOWHERE)
            case Returns(output):
                yield Act("returns", thaw(output), None, NOWHERE)
            case Fails(error):
                yield Act("fails", error, None, NOWHERE)
            case _:
                raise Unwritable("a submission to another step or attempt, or an update")
        called = called or isinstance(part, Call | Submit)
    if turn.error is not None:
        yield Act("retries" if turn.retryable else "fails", turn.error, None, NOWHERE)
    elif turn.stop in (Stop.LENGTH, Stop.ABORTED):
        yield Act("stops", str(turn.stop), None, NOWHERE)
    if turn.stalls:
        yield Act("stalls", None, None, NOWHERE)
    elif not turn.acts and turn.stop is Stop.STOP:
        yield Act("settles", None, None, NOWHERE)


# --- as text ------------------------------------------------------------------------------------------------


def _text(scenario: Scenario, snapshot: Snapshot, end: End, switches: frozenset[str]) -> str:
    lines = [f"# With the seeded fault {switch}." for switch in sorted(switches)]
    if end.invariant is not None:
        lines.append(f"# This breaks {end.invariant}.")
    lines.append(f"scenario {scalar_text(scenario.title)} for {scenario.workflow} {{")
    body = [] if scenario.host == USUAL.words else [f"host {' '.join(scenario.host)}"]
    body.append(f"input {scalar_text(scenario.input)}")
    body += _block("provider", [_script_line(line) for line in scenario.provider])
    body += _block("person", [_person_line(line) for line in scenario.person])
    body += _block("faults", [_fault_line(line) for line in scenario.faults])
    if end.invariant is None:
        body.append(f"expect run.status == {scalar_text(end.status)}")
        body += [] if end.exit is None else [f"expect run.exit == {scalar_text(end.exit)}"]
    return "\n".join([*lines, *(INDENT + line for line in body), "}"]) + "\n"


def _block(name: str, lines: Sequence[str]) -> list[str]:
    return [f"{name} {{", *(INDENT + line for line in lines), "}"] if lines else []


def _script_line(line: ScriptLine) -> str:
    visit = "" if line.visit is None else f" visit {line.visit}"
    turns = " then ".join(", ".join(_act(act) for act in turn) for turn in line.turns)
    return f"{line.node}{visit} {turns}"


def _act(act: Act) -> str:
    if act.tool is not None:
        return f"{act.verb} {act.tool}({scalar_text(act.value)})"
    return act.verb if act.value is None and act.verb != "submits" else f"{act.verb} {scalar_text(act.value)}"


def _person_line(line: PersonLine) -> str:
    if line.verb == "answers":
        given = "" if line.choice is None else f" {line.choice}"
        value = "" if line.value is None and line.choice is not None else f" {scalar_text(line.value)}"
        return f"answers {line.node} with{given}{value}{moment_words(line.moment)}"
    said = {"presses": " escape"}.get(line.verb, "" if line.value is None else f" {scalar_text(line.value)}")
    return f"{line.verb}{said}{moment_words(line.moment)}"


def _fault_line(line: FaultLine) -> str:
    return f"{line.kind} {line.process or line.event}{moment_words(line.moment)}"
