"""The state of a run as the fold of its run events: `fold(fold(NEW, e1), e2) …`, nothing else writes it.

The state keeps what the engine can still read and drops the rest at every step (`Program.live`): outputs that
no later node reads, inputs of mounts that are left, counters of invocations that are over. Counters saturate.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar, cast

from pydantic import JsonValue

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.evaluator import Read
from windtunnel.simulator.events import Event, Json, Record, Value
from windtunnel.simulator.run.liveness import out, scopes
from windtunnel.simulator.run.program import Agent, Decision, Effect, Program

_V = TypeVar("_V", str, int)
Pairs = tuple[tuple[str, str], ...]
Counts = tuple[tuple[str, int], ...]


class Position(NamedTuple):
    """View: where the run stands. `phase` is "" before the start, then `started` or `ended`.

    `pausing` says that a person wants it paused, which it is when the step in flight has ended; `parked` that
    it waits for the session that it belongs to.
    """

    status: str = "queued"
    paused: bool = False
    node: str = ""
    phase: str = ""
    outcome: str = ""
    pausing: bool = False
    parked: bool = False


class Request(NamedTuple):
    """A request that nobody has answered. `due` says that it has a deadline; `default` is chosen then."""

    digest: str
    due: bool = False
    default: str = ""


class Notice(NamedTuple):
    """A notification that was queued and not delivered."""

    node: str
    message: str


class Owed(NamedTuple):
    """A turn of the conversation that is due, `presentation` or `fallback`, and what the model is told."""

    kind: str
    text: str


class Run(NamedTuple):
    """The fold. Values are canonical JSON texts.

    `exits` holds `[exit, output]` by mount, and `[choice, what it asked for]` by decision; `done` is the
    order of finished nodes, kept only where `latest` is read; `error` is that of the ended node; `outbox`
    and `owed` outlive the end of the run.
    """

    position: Position = Position()
    input: str = "null"
    outputs: Pairs = ()
    inputs: Pairs = ()
    exits: Pairs = ()
    results: Pairs = ()
    visits: Counts = ()
    ended: Counts = ()
    attempts: int = 0
    done: tuple[str, ...] = ()
    arrows: Counts = ()
    steps: Counts = ()
    error: str = ""
    request: Request | None = None
    outbox: tuple[Notice, ...] = ()
    owed: Owed | None = None


FINAL = frozenset({"completed", "failed", "timed_out", "cancelled"})
"""Statuses that nothing follows."""

OVER = FINAL | {"waiting"}
"""Statuses that end a run; one that waits may be continued by another."""

MANY: Final = 1_000_000
"""Where the counters of arrows and steps saturate."""

_END_EVENTS = {f"run_{status}": status for status in FINAL}


def fold(program: Program, run: Run, event: Event) -> Run:
    """The state after one event more."""
    run = _counted(program, run, event)
    step = _FOLDS.get(event.type)
    if step is not None:
        run = step(program, run, event)
    elif event.type in _END_EVENTS:
        status = _END_EVENTS[event.type]
        owed = None if status == "cancelled" else run.owed
        run = Run(Position(status), run.input, outbox=run.outbox, owed=owed)
    return run


def _counted(program: Program, run: Run, event: Event) -> Run:
    """The arrow that led to the event counts, where a limit counts it."""
    arrow = event.get("via")
    counter = program.counters.get(arrow) if isinstance(arrow, str) else None
    return run if counter is None else run._replace(arrows=_plus(run.arrows, counter, MANY))


def _started(program: Program, run: Run, event: Event) -> Run:
    node = event.node
    assert node is not None, "a start names its node"
    again = event.get("again") is True
    if not again:
        steps = run.steps
        for scope in scopes(node):
            steps = _plus(steps, scope, MANY)
        run = run._replace(
            steps=steps, visits=_plus(run.visits, node, program.most_visits(node)), attempts=1, error=""
        )
    else:
        run = run._replace(attempts=min(run.attempts + 1, program.visit_cap))
    position = run.position._replace(status="running", node=node, phase="started", outcome="")
    return _pruned(program, run._replace(position=position), node)


def _finished(program: Program, run: Run, event: Event) -> Run:
    output = event.get("output")
    assert isinstance(output, Json), "a finish carries an output"
    assert event.node is not None, "a finish names its node"
    run = run._replace(outputs=_put(run.outputs, event.node, output.text))
    if event.node in program.ways:
        run = run._replace(exits=_put(run.exits, event.node, _chosen(output.text)))
    return _ended(program, run, event, "ok", "")


def _failed(program: Program, run: Run, event: Event) -> Run:
    assert event.node is not None, "a failure names its node"
    run = run._replace(
        outputs=_drop(run.outputs, lambda id: id == event.node),
        exits=_drop(run.exits, lambda id: id == event.node),
    )
    return _ended(program, run, event, event.text("outcome"), event.text("error"))


def _ended(program: Program, run: Run, event: Event, outcome: str, error: str) -> Run:
    node = event.node
    assert node is not None, "an end names its node"
    receipt = event.get("receipt")
    result: dict[str, JsonValue] = {
        "outcome": outcome,
        "error": error or None,
        "attempts": run.attempts,
        "durationMs": 0,
        "cut": isinstance(receipt, Record) and dict(receipt.fields).get("cut") is True,
        "receipt": None,
        "provenance": cast(JsonValue, event.get("provenance")),
    }
    run = run._replace(
        position=run.position._replace(phase="ended", outcome=outcome),
        results=_put(run.results, node, canonical(result)),
        ended=_plus(run.ended, f"{node} {outcome}", program.most_visits(node)),
        done=(*(id for id in run.done if id != node), node),
        error=error,
    )
    return _pruned(program, run, out(node))


def _entered(program: Program, run: Run, event: Event) -> Run:
    """An include starts each invocation empty."""
    mount, given = event.text("mountPath"), event.get("input")
    assert isinstance(given, Json), "a mount is entered with an input"
    run = _left(program, run, mount)
    return run._replace(
        inputs=_put(run.inputs, mount, given.text),
        exits=_drop(run.exits, lambda id: id == mount),
        steps=_put_count(run.steps, mount, 0),
        visits=_plus(run.visits, mount, program.most_visits(mount)),
    )


def _exited(program: Program, run: Run, event: Event) -> Run:
    mount, output = event.text("mountPath"), event.get("output")
    assert isinstance(output, Json), "a mount is left with an output"
    run = _left(program, run, mount)
    taken = canonical([event.text("exit"), json.loads(output.text)])
    return run._replace(exits=_put(run.exits, mount, taken))


def _left(program: Program, run: Run, mount: str) -> Run:
    """Without everything that belongs to an invocation of the mount."""
    inside = f"{mount}/"

    def within(id: str) -> bool:
        return id.startswith(inside)

    return run._replace(
        outputs=_drop(run.outputs, within),
        inputs=_drop(run.inputs, lambda id: id == mount or within(id)),
        exits=_drop(run.exits, within),
        results=_drop(run.results, within),
        visits=_drop(run.visits, within),
        ended=_drop(run.ended, within),
        arrows=_drop(
            run.arrows,
            lambda key: program.counter_scopes[key] == mount or within(program.counter_scopes[key]),
        ),
        done=tuple(id for id in run.done if not within(id)),
    )


def _pausing(program: Program, run: Run, event: Event) -> Run:
    wanted = event.type == "pause_requested"
    return run._replace(position=run.position._replace(pausing=wanted))


def _paused(program: Program, run: Run, event: Event) -> Run:
    return run._replace(position=run.position._replace(paused=True, pausing=False))


def _resumed(program: Program, run: Run, event: Event) -> Run:
    """A run that goes on is still to pause where that was wanted."""
    return run._replace(position=run.position._replace(paused=False, parked=False, status="running"))


def _parked(program: Program, run: Run, event: Event) -> Run:
    return run._replace(position=run.position._replace(parked=True))


def _run_started(program: Program, run: Run, event: Event) -> Run:
    return run._replace(position=run.position._replace(status="running"), owed=None)


def _turn(program: Program, run: Run, event: Event) -> Run:
    given = event.type == "turn_given"
    return run._replace(owed=None if given else Owed(event.text("kind"), event.text("prompt")))


def _waiting(program: Program, run: Run, event: Event) -> Run:
    """Everything is kept for the run that goes on."""
    return run._replace(position=run.position._replace(status="waiting"))


def _requested(program: Program, run: Run, event: Event) -> Run:
    default = event.get("default")
    asked = Request(event.text("digest"), event.get("dueMs") is not None, str(default or ""))
    return run._replace(request=asked)


def _answered(program: Program, run: Run, event: Event) -> Run:
    return run._replace(request=None)


def _chosen(output: str) -> str:
    """What is read of a decision by its ways: the choice and what it asked for."""
    given = cast("dict[str, JsonValue]", json.loads(output))
    return canonical([given["choice"], given.get("input", {})])


def _queued(program: Program, run: Run, event: Event) -> Run:
    assert event.node is not None, "a notification has a node"
    return run._replace(outbox=(*run.outbox, Notice(event.node, event.text("message"))))


def _delivered(program: Program, run: Run, event: Event) -> Run:
    return run._replace(outbox=run.outbox[1:])


_FOLDS: dict[str, Callable[[Program, Run, Event], Run]] = {
    "run_started": _run_started,
    "run_waiting": _waiting,
    "decision_requested": _requested,
    "decision_answered": _answered,
    "decision_defaulted": _answered,
    "decision_cancelled": _answered,
    "notification_queued": _queued,
    "notification_delivered": _delivered,
    "node_started": _started,
    "node_finished": _finished,
    "node_failed": _failed,
    "include_entered": _entered,
    "include_exited": _exited,
    "turn_deferred": _turn,
    "turn_given": _turn,
    "pause_requested": _pausing,
    "pause_withdrawn": _pausing,
    "run_paused": _paused,
    "run_resumed": _resumed,
    "run_parked": _parked,
}


# --- dropping what nobody reads -----------------------------------------------------------------------------


def _pruned(program: Program, run: Run, place: str) -> Run:
    """The state without what nothing from the place on reads."""
    read = _named(program.live[place])
    return run._replace(
        outputs=_keep(run.outputs, read["node"]),
        inputs=_keep(run.inputs, read["input"]),
        exits=_keep(run.exits, read["exit"] | read["way"] | read["choice"]),
        results=_keep(run.results, read["result"] | read["latest"]),
        visits=_keep(run.visits, read["visits"] | program.revisited),
        ended=tuple(p for p in run.ended if p[0].rpartition(" ")[0] in read["visits"]),
        attempts=run.attempts if program.counts_attempts else 1,
        done=tuple(id for id in run.done if id in read["latest"]),
    )


_KINDS = ("node", "input", "exit", "way", "result", "latest", "visits", "choice")


@lru_cache(maxsize=4_096)
def _named(reads: frozenset[Read]) -> dict[str, frozenset[str]]:
    """The names that are read, by kind."""
    return {kind: frozenset(item.name for item in reads if item.kind == kind) for kind in _KINDS}


def _keep(pairs: tuple[tuple[str, _V], ...], names: frozenset[str]) -> tuple[tuple[str, _V], ...]:
    return tuple(pair for pair in pairs if pair[0] in names)


def _put(pairs: Pairs, key: str, value: str) -> Pairs:
    return tuple(sorted([*(p for p in pairs if p[0] != key), (key, value)]))


def _put_count(pairs: Counts, key: str, value: int) -> Counts:
    return tuple(sorted([*(p for p in pairs if p[0] != key), (key, value)]))


def _plus(pairs: Counts, key: str, most: int) -> Counts:
    return _put_count(pairs, key, min(most, dict(pairs).get(key, 0) + 1))


def _drop(pairs: tuple[tuple[str, _V], ...], gone: Callable[[str], bool]) -> tuple[tuple[str, _V], ...]:
    return tuple(pair for pair in pairs if not gone(pair[0]))


# --- reading ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=65_536)
def thaw(text: str) -> JsonValue:
    """The value of a canonical text; shared, so nobody may change it."""
    return cast(JsonValue, json.loads(text))


class Scope:
    """What expressions read of a run; the `Environment` of the evaluator."""

    def __init__(self, program: Program, run: Run) -> None:
        self._program = program
        self._run = run
        self._outputs = dict(run.outputs)
        self._inputs = dict(run.inputs)
        self._exits = dict(run.exits)

    def input(self, mount: str) -> JsonValue:
        """The input of a mount, or of the run."""
        if not mount:
            return thaw(self._run.input)
        return thaw(self._inputs[mount]) if mount in self._inputs else None

    def node(self, node: str) -> JsonValue:
        """A node's latest accepted output."""
        return thaw(self._outputs[node]) if node in self._outputs else None

    def exit(self, mount: str, name: str) -> JsonValue:
        """The output of a mount's exit, if it was the last way out."""
        taken = self._taken(mount)
        return taken[1] if taken is not None and taken[0] == name else None

    def choice(self, node: str, choice: str) -> JsonValue:
        """What was asked with the choice, if it was the last one taken."""
        return self.exit(node, choice)

    def way(self, node: str) -> JsonValue:
        """The exit or choice last taken."""
        taken = self._taken(node)
        return None if taken is None else taken[0]

    def result(self, node: str) -> JsonValue:
        """How a node ended."""
        results = dict(self._run.results)
        return thaw(results[node]) if node in results else None

    def visits(self, node: str, outcome: str | None) -> JsonValue:
        """Started visits, or those that ended with the outcome."""
        if outcome is None:
            return dict(self._run.visits).get(node, 0)
        return dict(self._run.ended).get(f"{node} {outcome}", 0)

    def latest(self, nodes: tuple[str, ...]) -> JsonValue:
        """Which of the nodes finished last."""
        for node in reversed(self._run.done):
            if node in nodes:
                found = self.result(node)
                outcome = found["outcome"] if isinstance(found, dict) else None
                return {"node": node, "outcome": outcome}
        return None

    def let(self, name: str) -> JsonValue:
        """A workflow's `let`."""
        return self._program.lets[name](self)

    def _taken(self, mount: str) -> tuple[str, JsonValue] | None:
        if mount not in self._exits:
            return None
        name, output = cast("list[JsonValue]", thaw(self._exits[mount]))
        return str(name), output


def position(run: Run) -> Position:
    """View: where the run stands."""
    return run.position


def read_by(run: Run, reads: frozenset[Read]) -> Run:
    """View: the run with nothing but what the expressions read, so that equal inputs are equal values."""
    read = _named(reads)
    return Run(
        input=run.input,
        outputs=_keep(run.outputs, read["node"]),
        inputs=_keep(run.inputs, read["input"]),
        exits=_keep(run.exits, read["exit"] | read["way"] | read["choice"]),
        results=_keep(run.results, read["result"] | read["latest"]),
        visits=_keep(run.visits, read["visits"]),
        ended=tuple(p for p in run.ended if p[0].rpartition(" ")[0] in read["visits"]),
        done=tuple(id for id in run.done if id in read["latest"]),
    )


def question(program: Program, run: Run) -> Run:
    """View: what asking and judging the node in flight reads, and which visit it is."""
    name = run.position.node
    node = program.nodes.get(name)
    if isinstance(node, Decision):
        return Run(input=run.input, request=run.request)
    if not isinstance(node, Agent | Effect):
        return Run()
    read = read_by(run, node.reads)
    visits = dict(read.visits)
    visits.setdefault(name, visit(run, name))
    return read._replace(visits=tuple(sorted(visits.items())))


def visit(run: Run, node: str) -> int:
    """Which visit of the node this is; 1 where nothing counts them."""
    return dict(run.visits).get(node, 1)


def json_text(value: Value) -> str:
    """The canonical text of a payload value that is JSON."""
    assert isinstance(value, Json), "the value is JSON"
    return value.text
