"""What a change means to the runs that are not over: each is judged by where it stands.

The verdict is `same` when the behaviour digest is the same: the run resumes. Any other run starts again,
whatever changed; `restart` says which change it can still meet, and `untouched` that it can meet none.
Conditions are not evaluated, so a run counts as able to go wherever an arrow leads; where something is not
known the worst is assumed, and said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from pydantic import Field, JsonValue, ValidationError

from windtunnel.compiler.canonical import MAX_STORED_DEPTH, CanonicalError, canonical, parse_json
from windtunnel.compiler.changes import Change, Rank
from windtunnel.compiler.compatibility import compare
from windtunnel.compiler.places import START, Places, end, end_of, lets_read, places, reach
from windtunnel.compiler.renaming import Names, renamed, renamed_id
from windtunnel.compiler.snapshot import Model, Snapshot
from windtunnel.compiler.snapshotfile import MAX_SNAPSHOT_BYTES, SnapshotRefused, read_snapshot

RUNS_SCHEMA: Final = "windtunnel.runs.v1"
MAX_RUNS: Final = 100_000
"""Runs of one file."""

MAX_REASONS: Final = 5
"""Reasons that a verdict gives, the nearest first."""

OVER: Final = ("completed", "failed", "timed_out", "cancelled")
"""Statuses of runs that are over. A run that is `waiting` goes on when it is answered."""

Phase: TypeAlias = Literal["started", "prompt-out", "asked", "effect-started", "ended"]


class Stand(Model):
    """A node that a run is at, and how far it is; without a phase that is not known.

    It has `started`, its prompt is out (`prompt-out`), a person is asked (`asked`), its effect may have
    happened (`effect-started`), or it has `ended` and is not yet routed.
    """

    node: str
    phase: Phase | None = None
    outcome: Literal["ok", "failed", "timed_out"] | None = None
    way: str | None = None


class RunState(Model):
    """One run: which definition it runs under and where it stands; nowhere is before its start."""

    run: str
    workflow: str
    revision: int
    digest: str
    status: str
    at: tuple[Stand, ...] = ()


class RunStates(Model):
    """The states of many runs, with the snapshots they run under by behaviour digest."""

    schema_: Literal["windtunnel.runs.v1"] = Field(validation_alias="schema", serialization_alias="schema")
    snapshots: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    runs: tuple[RunState, ...]


Kind: TypeAlias = Literal["same", "restart", "untouched"]


@dataclass(frozen=True, slots=True)
class Reason:
    """A change that the run can meet: the rule, why, and what to do; it `bites` when it is met right now."""

    code: str
    place: str
    why: str
    todo: str
    bites: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a run. `unsure` says what was not known, so that the worst had to be assumed."""

    run: str
    kind: Kind
    reasons: tuple[Reason, ...] = ()
    more: int = 0
    unsure: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts, and how many runs were over and how many were runs of other workflows."""

    verdicts: tuple[Verdict, ...]
    over: int
    others: int


def read_runs(text: str | bytes) -> tuple[tuple[RunState, ...], dict[str, Snapshot]] | str:
    """The run states in a JSON text with their snapshots, or why they cannot be used."""
    if len(text) > MAX_SNAPSHOT_BYTES:
        return f"larger than {MAX_SNAPSHOT_BYTES} bytes"
    try:
        states = RunStates.model_validate(parse_json(text, max_depth=MAX_STORED_DEPTH + 2))
    except CanonicalError as problem:
        return str(problem)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        return f"/{'/'.join(str(step) for step in first['loc'])}: {first['msg'].lower()}"
    if len(states.runs) > MAX_RUNS:
        return f"more than {MAX_RUNS} runs"
    snapshots: dict[str, Snapshot] = {}
    for name, value in states.snapshots.items():
        snapshot = read_snapshot(canonical(value, MAX_STORED_DEPTH))
        if isinstance(snapshot, SnapshotRefused):
            return f"/snapshots/{name}: {snapshot}"
        snapshots[snapshot.digest] = snapshot
    return states.runs, snapshots


def judge(
    runs: Iterable[RunState], snapshots: Mapping[str, Snapshot], new: Snapshot, names: Mapping[str, Names]
) -> Judged:
    """A verdict for each run of the workflow that is not over; `names` are the renames since each digest."""
    comparisons: dict[str, _Comparison] = {}
    verdicts: list[Verdict] = []
    over = others = 0
    for state in runs:
        if state.workflow != new.workflow:
            others += 1
        elif state.status in OVER:
            over += 1
        elif state.digest == new.digest:
            verdicts.append(Verdict(state.run, "same"))
        elif state.digest not in snapshots:
            why = "its definition is not in the file, so nothing is known of what changed"
            verdicts.append(Verdict(state.run, "restart", unsure=(why,)))
        else:
            if state.digest not in comparisons:
                old = snapshots[state.digest]
                comparisons[state.digest] = _Comparison(old, new, names.get(state.digest, {}))
            verdicts.append(replace(comparisons[state.digest].verdict(state), run=state.run))
    return Judged(tuple(verdicts), over, others)


# --- one old definition against the new one -----------------------------------------------------------------

_UNTOUCHING: Final = frozenset({"WT1012", "WT1013", "WT1015", "WT1029", "WT1030"})
"""Changes that no run meets on its way."""

_NOW: Final[dict[str, tuple[tuple[str, ...], str, str]]] = {
    "WT1050": (
        ("prompt-out",),
        "its prompt is out, and the answer would be taken in another way",
        "let the step finish under the old definition",
    ),
    "WT1056": (
        ("asked",),
        "it waits for an answer, and that choice may still be the answer",
        "have it answered under the old definition",
    ),
    "WT1057": (
        ("asked",),
        "it waits for an answer, and the question that is out is the old one",
        "ask again",
    ),
    "WT1055": (
        ("effect-started",),
        "its effect is not settled, and under the new key it would happen a second time",
        "find out by the old key whether it happened",
    ),
    "WT1054": (
        ("effect-started",),
        "its effect is not settled, and the new one would not be a repetition of it",
        "find out whether it happened",
    ),
}
"""Changes that are met while a node is in a phase: the phases, why, and what to do."""

_THEN: Final = "finish it under the old definition, or cancel it and start it again"


@dataclass
class _Comparison:
    old: Snapshot
    new: Snapshot
    names: Names
    changes: tuple[Change, ...] = field(init=False)
    before: Places = field(init=False)
    now: Places = field(init=False)
    readers: dict[str, frozenset[str]] = field(init=False)
    mounts: frozenset[str] = field(init=False)
    known: dict[tuple[Stand, ...], Verdict] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = compare(self.old, self.new, self.names)
        self.changes = tuple(change for change in found if change.code not in _UNTOUCHING)
        old = renamed(self.old, self.names)
        self.before, self.now = places(old), places(self.new)
        self.mounts = frozenset((*old.composition.mounts, *self.new.composition.mounts))
        before, now = _readers(old), _readers(self.new)
        self.readers = {
            name: before.get(name, frozenset()) | now.get(name, frozenset()) for name in {**before, **now}
        }

    def verdict(self, state: RunState) -> Verdict:
        """What becomes of a run; of all that stand where it stands it is worked out once."""
        if state.at not in self.known:
            self.known[state.at] = self._verdict(state)
        return self.known[state.at]

    def _verdict(self, state: RunState) -> Verdict:
        unsure: list[str] = []
        known = self.old.nodes.keys() | self.old.composition.mounts.keys()
        for stand in state.at:
            if stand.node not in known:
                unsure.append(f"it stands at `{stand.node}`, which its own definition does not have")
            elif stand.phase is None:
                unsure.append(f"how far `{stand.node}` is is not said")
        if any(stand.node not in known for stand in state.at):
            return Verdict(state.run, "restart", unsure=tuple(unsure))
        at = tuple(s.model_copy(update={"node": renamed_id(self.names, s.node)}) for s in state.at)
        state = state.model_copy(update={"at": at})
        distance = self._distances(state)
        met = [
            (where, change)
            for change in self.changes
            if (where := self._met(change, distance, state)) is not None
        ]
        reasons = [self._reason(change, state) for _, change in sorted(met, key=lambda each: each[0])]
        reasons.sort(key=lambda reason: not reason.bites)
        kind: Kind = "restart" if reasons else "untouched"
        return Verdict(
            state.run,
            kind,
            tuple(reasons[:MAX_REASONS]),
            max(0, len(reasons) - MAX_REASONS),
            tuple(unsure),
        )

    def _distances(self, state: RunState) -> dict[str, int]:
        """Every place that the run can come to, in the old definition or in the new one."""
        first = [place for stand in state.at for place in self._first(stand)] if state.at else [START]
        found = reach(self.before, first)
        for place, steps in reach(self.now, [place for place in first if place in self.now]).items():
            found[place] = min(steps, found.get(place, steps))
        return found

    def _first(self, stand: Stand) -> Iterator[str]:
        """Where a run goes on from: the node, or the ends by which it may be left."""
        if stand.phase != "ended":
            yield f"{stand.node}>" if stand.node in self.mounts else stand.node
            return
        for on in ("ok", "failed", "timed_out") if stand.outcome is None else (stand.outcome,):
            ends = (
                [end(stand.node, on, stand.way)]
                if stand.way
                else [place for place in self.before if place.split(".")[0] == f"{stand.node}!{on}"]
            )
            yield from ends

    def _met(self, change: Change, distance: Mapping[str, int], state: RunState) -> int | None:
        """How far away the run meets the change; None when it cannot."""
        steps = [distance[place] for place in self._where(change, state) if place in distance]
        return min(steps, default=None)

    def _where(self, change: Change, state: RunState) -> Iterable[str]:
        place = change.place
        if place == "":
            return () if change.rank is Rank.CALLERS else list(self._anywhere(state))
        if change.end is not None:
            on, way = change.end
            if place == "start" or place.endswith("/start"):
                scope = place.removesuffix("start").removesuffix("/")
                return (f"{scope}:start",)
            return (end(place, on, way),)
        if place in self.readers:
            return self.readers[place]
        if place in self.mounts:
            return [
                f"{place}>",
                *(p for p in (*self.before, *self.now) if p.startswith((f"{place}/", f"{place}!"))),
            ]
        return (place,)

    def _anywhere(self, state: RunState) -> Iterator[str]:
        """The places a run stands at: what is about the whole is met at once."""
        yield START
        for stand in state.at:
            yield from self._first(stand)

    def _reason(self, change: Change, state: RunState) -> Reason:
        here = next((stand for stand in state.at if stand.node == change.place), None)
        rule = _NOW.get(change.code)
        if rule is not None and here is not None and here.phase in (*rule[0], None):
            return Reason(change.code, change.place, f"{change.message}: {rule[1]}", rule[2], True)
        if here is not None and here.phase != "ended" and change.end is None:
            return Reason(change.code, change.place, f"{change.message}, and the run is there", _THEN)
        if not change.place:
            return Reason(change.code, "", change.message, _THEN)
        return Reason(change.code, change.place, f"{change.message}, and the run can still come to it", _THEN)


def _readers(snapshot: Snapshot) -> dict[str, frozenset[str]]:
    """For each `let`, the places that read it, directly or through another one."""
    direct: dict[str, set[str]] = {name: set() for name in snapshot.lets}
    used_by = {name: lets_read(value) for name, value in snapshot.lets.items()}
    for name, node in snapshot.nodes.items():
        for let in lets_read(node):
            direct[let].add(name)
    for path, mount in snapshot.composition.mounts.items():
        for let in lets_read(mount):
            direct[let].add(f"{path}>")
    for edge in snapshot.edges:
        for let in lets_read(edge):
            direct[let].add(end_of(edge))
    for let in lets_read((snapshot.title, snapshot.presentation, snapshot.max_steps)):
        direct[let].add(START)
    found: dict[str, frozenset[str]] = {}
    for name in direct:
        readers = {name}
        waiting = [name]
        while waiting:
            top = waiting.pop()
            more = {other for other, uses in used_by.items() if top in uses} - readers
            readers |= more
            waiting += sorted(more)
        found[name] = frozenset(place for reader in readers for place in direct[reader])
    return found
