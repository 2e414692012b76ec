"""Where a run goes next: the events of one routing transaction, computed from the state alone.

One call follows arrows through mounts until a node starts or the run ends, and folds each event as it goes,
so that every expression reads the state it would find.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Refused
from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.evaluator import EvaluationError, equal
from windtunnel.compiler.snapshot import TargetModel
from windtunnel.simulator.events import CURRENT, INVOCATION, THIS_INVOCATION, Event, Json, Payload
from windtunnel.simulator.run import words
from windtunnel.simulator.run.liveness import START, scopes
from windtunnel.simulator.run.program import Arm, Edge, Program, scope_of
from windtunnel.simulator.run.state import Run, Scope, fold

MAX_ARROWS: Final = 1_000
"""Arrows followed in one transaction; more means mounts that go in circles without a node."""


class Route(NamedTuple):
    """The events to commit, the state after them, and the one before the run ended, if it did."""

    events: tuple[Event, ...]
    run: Run
    before: Run


class _Dead(Exception):
    """The run cannot go on; the message is its error, `about` what else is known of it."""

    def __init__(self, message: str, about: Payload = ()) -> None:
        super().__init__(message)
        self.about = about


class _Walk:
    """The events so far and the state they fold to."""

    def __init__(self, program: Program, run: Run) -> None:
        self.program = program
        self.run = run
        self.before = run
        self.events: list[Event] = []
        self.arrows = 0

    def say(self, event: Event) -> None:
        self.events.append(event)
        self.before = self.run
        self.run = fold(self.program, self.run, event)

    def route(self) -> Route:
        return Route(tuple(self.events), self.run, self.before)


def start(program: Program, run: Run, first: Event | None = None) -> Route:
    """The transaction that begins a run: `first`, then everything up to the first node."""
    walk = _Walk(program, run)
    if first is not None:
        walk.say(first)
    try:
        _begin_scope(walk, "", program.snapshot.start_at)
    except (_Dead, EvaluationError) as error:
        _die(walk, error)
    return walk.route()


def route(program: Program, run: Run) -> Route:
    """The transaction that follows the end of a node."""
    walk = _Walk(program, run)
    node, outcome = run.position.node, run.position.outcome
    chosen = Scope(program, run).way(node) if outcome == "ok" and node in program.ways else None
    edge = program.edge(scope_of(node), node, None if chosen is None else str(chosen), outcome)
    if edge is None:
        error = run.error or f"{node} has no way on after {outcome}."
        late = outcome == "timed_out" and "W18" not in program.switches
        _end(walk, "timed_out" if late else "failed", error)
        return walk.route()
    try:
        output = Scope(program, run).node(node) if outcome == "ok" else None
        _take(walk, edge, output)
    except (_Dead, EvaluationError) as error:
        _die(walk, error)
    return walk.route()


def _end(walk: _Walk, status: str, error: str, about: Payload = ()) -> None:
    walk.say(Event("run", f"run_{status}", payload=(("error", error), *about)))


def _die(walk: _Walk, error: _Dead | EvaluationError) -> None:
    _end(walk, "failed", str(error), error.about if isinstance(error, _Dead) else ())


def _take(walk: _Walk, edge: Edge, output: JsonValue) -> None:
    """Follow an edge with the value that would leave by an exit."""
    walk.arrows += 1
    if walk.arrows > MAX_ARROWS:
        raise _Dead("The includes go in circles without a node.")
    scope = Scope(walk.program, walk.run)
    arm = _arm(edge, scope)
    via: Payload = (("via", arm.key),)
    target = arm.to
    if arm.limit is not None:
        limit = arm.limit(scope)
        program = walk.program
        counter = arm.counter.rpartition("/")[2] if "W20" in program.switches else arm.counter
        taken = dict(walk.run.arrows).get(counter, 0)
        if isinstance(limit, int) and taken >= limit:
            assert arm.then is not None, "a limit says where to go then"
            target, via = arm.then, (("via", f"{arm.key} then"),)
    if target.exit is not None:
        _leave(walk, edge.scope, target.exit, output, via)
    else:
        _enter(walk, target, via)


def _arm(edge: Edge, scope: Scope) -> Arm:
    if edge.subject is None:
        return edge.arms[0]
    subject = edge.subject(scope)
    default = None
    for arm in edge.arms:
        if arm.cases is None:
            default = arm
        elif any(equal(subject, case) for case in arm.cases):
            return arm
    if default is None:
        raise _Dead(words.no_arm(canonical(subject)))
    return default


def _leave(walk: _Walk, scope: str, exit: str, output: JsonValue, via: Payload) -> None:
    """Out of a workflow: of the run, or of a mount into its parent."""
    value = Json(canonical(output))
    if not scope:
        walk.say(Event("run", "run_completed", payload=(("exit", exit), ("finalOutput", value), *via)))
        return
    mount = walk.program.mounts[scope]
    left: Payload = (
        ("exit", exit),
        ("invocation", THIS_INVOCATION),
        ("mountPath", scope),
        ("output", value),
    )
    payload = (*left, *via, ("workflow", mount.workflow))
    walk.say(Event("run", "include_exited", payload=payload))
    edge = walk.program.edge(mount.scope, scope, exit)
    if edge is None:
        raise _Dead(f"{scope}.{exit} leads nowhere.")
    _take(walk, edge, output)


def _enter(walk: _Walk, target: TargetModel, via: Payload) -> None:
    assert target.node is not None, "a target is a node or an exit"
    mount = walk.program.mounts.get(target.node)
    if mount is None:
        start_node(walk, target.node, via)
        return
    given = mount.input(Scope(walk.program, walk.run))
    verdict = mount.accepts.accept(given)
    if isinstance(verdict, Refused):
        about = (("given", Json(canonical(given))), ("mount", mount.path))
        raise _Dead(f"The input of {mount.path} is refused: {verdict}", about)
    payload: Payload = (
        ("input", Json(canonical(verdict.value))),
        ("invocation", INVOCATION),
        ("mountPath", mount.path),
        *via,
        ("workflow", mount.workflow),
    )
    walk.say(Event("run", "include_entered", payload=payload))
    _begin_scope(walk, mount.path, mount.start_at)


def _begin_scope(walk: _Walk, scope: str, start_at: str) -> None:
    edge = walk.program.edge(scope, START)
    if edge is None:
        _enter(walk, TargetModel(node=start_at), ())
    else:
        _take(walk, edge, None)


def start_node(walk: _Walk, node: str, via: Payload) -> None:
    """A visit begins, unless a limit of steps around the node is used up."""
    steps = dict(walk.run.steps)
    for scope in scopes(node):
        most = _max_steps(walk, scope)
        if steps.get(scope, 0) >= most:
            raise _Dead(words.max_steps(most))
    payload = tuple(sorted([("nodeType", walk.program.nodes[node].kind), *via]))
    walk.say(Event("node", "node_started", node, CURRENT, payload))


def _max_steps(walk: _Walk, scope: str) -> int:
    compiled = walk.program.mounts[scope].max_steps if scope else walk.program.max_steps
    most = compiled(Scope(walk.program, walk.run))
    return most if isinstance(most, int) else 0
