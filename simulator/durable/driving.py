"""Runs begun, taken up and cancelled, on a store in a file: what the commands do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Refused
from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.compiler.snapshotfile import SnapshotRefused, read_snapshot, write_snapshot
from windtunnel.simulator.durable import wall
from windtunnel.simulator.durable.host import LEASE_MS, Host
from windtunnel.simulator.durable.lines import due_of, parsed
from windtunnel.simulator.durable.session import (
    ForeignLog,
    MemoryLedger,
    MemorySession,
    Session,
    refuse_shorter,
)
from windtunnel.simulator.durable.sessionfile import LedgerFile, SessionFile, ledger_path, session_path
from windtunnel.simulator.events import Answered, Cancel, Release
from windtunnel.simulator.providers.generated import GeneratedProvider
from windtunnel.simulator.run.decisions import WAITING
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.store.interface import RunIsOver, Store, StoreRefused
from windtunnel.simulator.store.records import FINAL, Claim, Decision, Held, NewRun, RunRecord
from windtunnel.simulator.world import InputRefused

VISITS = 1_000_000
"""Where the counts of visits saturate."""


NOTHING_ASKED: Final = "nothing is asked"
"""Why an answer is refused to which there is no request."""

OTHER_REQUEST: Final = "this answers another request than the one that is open"
"""Why an answer is refused that names its request."""


@dataclass(frozen=True, slots=True)
class Place:
    """A store and where its file lies, so that session logs lie beside it."""

    store: Store
    path: Path


def begin(place: Place, snapshot: Snapshot, input: JsonValue, reference: str) -> RunRecord:
    """Put a run into the store, queued. Raises InputRefused and NotSimulated before anything is written."""
    program = Program(snapshot, visit_cap=VISITS)
    verdict = program.accepts.accept(input)
    if isinstance(verdict, Refused):
        raise InputRefused(str(verdict))
    return place.store.create(new_run(snapshot, verdict.value, reference, wall.now_ms()))


def new_run(snapshot: Snapshot, input: JsonValue, reference: str, now_ms: int) -> NewRun:
    """What a store needs to know of a run that begins; the input was accepted."""
    text = write_snapshot(snapshot)
    return NewRun(
        snapshot.workflow, snapshot.revision, snapshot.digest, text, canonical(input), reference, now_ms
    )


def snapshot_of(store: Store, record: RunRecord) -> Snapshot:
    """The snapshot that a run was begun with. Raises StoreRefused when it cannot be read any more."""
    found = read_snapshot(store.content(record.snapshot))
    if isinstance(found, SnapshotRefused):
        raise StoreRefused(f"the snapshot of {record.run} cannot be used: {found}")
    return found


def claim(place: Place, run: str, waits: Callable[[Held], None] | None = None) -> Claim | Held:
    """Claim a run; where somebody holds it whose lease may run out, wait for that once.

    `waits` is told whom it is waited for. Raises NoSuchRun and RunIsOver.
    """
    claimant = _Claimant(place.store, run)
    found = claimant.claim()
    if not isinstance(found, Held) or waits is None:
        return found
    waits(found)
    until = found.expires_ms
    while isinstance(found, Held) and found.expires_ms <= until:
        wall.nap()
        found = claimant.claim()
    return found


class _Claimant:
    """Tries again and again. A lease that nobody renewed for as long as one lasts is over, although a clock
    that was put back says that it has hours to go.
    """

    def __init__(self, store: Store, run: str) -> None:
        self._store, self._run = store, run
        self._expires_ms, self._tries = 0, 0

    def claim(self) -> Claim | Held:
        """One try; between two of them the caller naps."""
        found = self._at(wall.now_ms())
        if not isinstance(found, Held):
            return found
        if found.expires_ms != self._expires_ms:
            self._expires_ms, self._tries = found.expires_ms, 0
        self._tries += 1
        if self._tries * wall.SLICE_MS <= LEASE_MS:
            return found
        found = self._at(found.expires_ms)
        return found if isinstance(found, Held) else self._store.renew(found, wall.now_ms(), LEASE_MS)

    def _at(self, now_ms: int) -> Claim | Held:
        return self._store.claim(self._run, wall.owner(), now_ms, LEASE_MS, wall.is_dead)


def work(place: Place, claimed: Claim, *, releases: bool = False) -> RunRecord:
    """Go on with a run until nothing happens by itself, then give the claim back; nobody can claim one that
    ended.

    `releases` lets a paused run go on. Raises ClaimLost, Stuck and StoreRefused.
    """
    host = _host(place, claimed)
    if releases and host.run.position.paused:
        while host.engine.phase != "held" and host.advance():
            pass
        host.receive(Release())
    record = host.work()
    if record.status not in FINAL or record.untold:
        place.store.release(host.claim)
    return record


def _host(place: Place, claimed: Claim, *, blind: bool = False) -> Host:
    """A host for a claimed run; a `blind` one looks at nothing beside the store."""
    record = place.store.run(claimed.run)
    snapshot = snapshot_of(place.store, record)
    lines = place.store.trace(claimed.run)
    last = lines[-1].at if lines else 0
    path = session_path(place.path, claimed.run)
    try:
        session: Session = MemorySession() if blind else SessionFile(path)
        if not blind:
            refuse_shorter(session, claimed.run, lines)
        return Host(
            Program(snapshot, visit_cap=VISITS),
            GeneratedProvider(snapshot),
            place.store,
            session,
            MemoryLedger() if blind else LedgerFile(ledger_path(place.path, claimed.run)),
            claimed,
            clock=wall.WallClock(record.created_ms, last),
            timely=True,
            wall=wall.now_ms,
            blind=blind,
        )
    except ForeignLog as problem:
        raise StoreRefused(f"cannot use {path}: {problem}") from None


def due_ms(store: Store, record: RunRecord) -> int | None:
    """When the open request of a run can no longer be answered, by the clock of the wall."""
    due = due_of(store.trace(record.run)) if record.status == WAITING else None
    return None if due is None else record.created_ms + due


class Answer(NamedTuple):
    """An answer to the request of a run: a choice, or None for a checkpoint, and canonical JSON with it.

    `request` is the attempt that asked, or the digest of what was asked, and binds it to that request; None
    stands for the one that is open.
    """

    choice: str | None
    value: str | None
    request: str | None = None


def answer(place: Place, claimed: Claim, given: Answer) -> str | None:
    """Answer the request of a run that waits, as a person; why it was refused, None if it was accepted.

    The same answer again is accepted and changes nothing. Raises ClaimLost and StoreRefused.
    """
    host = _host(place, claimed)
    while host.engine.phase in ("down", "recover") and host.advance():
        pass
    asked = host.run.request
    decisions = place.store.decisions(claimed.run)
    if host.engine.phase != WAITING or asked is None or not decisions:
        place.store.release(host.claim)
        return None if repeats(place.store, claimed.run, given) else NOTHING_ASKED
    other = _other(decisions, given.request)
    if other is not None:
        place.store.release(host.claim)
        return None if repeats(place.store, claimed.run, given) else other
    said = host.receive(Answered(asked.digest, given.choice, given.value, overdue=host.overdue))
    host.work()
    place.store.release(host.claim)
    refused = [event.text("reason") for event in said if event.type == "answer_refused"]
    return refused[0] if refused else None


def _other(decisions: Sequence[Decision], request: str | None) -> str | None:
    """Why a name is not that of the open request, the last one; None where it is, or none is given.

    A loop may ask the same more than once, and an answer to one visit is none to the next.
    """
    *before, open_ = decisions
    if request is None or request == open_.attempt:
        return None
    if request != digest_of(open_):
        return OTHER_REQUEST
    if request in map(digest_of, before):
        return f"the same was asked before; name the request {open_.attempt} instead of its digest"
    return None


def digest_of(decision: Decision) -> str:
    """The digest of what was asked."""
    asked: Any = parsed(decision.request)
    return str(asked["digest"])


def repeats(store: Store, run: str, given: Answer) -> bool:
    """Whether the answer is the one that won: the request that it names, or the last one."""
    closed = [decision for decision in store.decisions(run) if decision.state == "answered"]
    if given.request is not None:
        closed = [one for one in closed if given.request in (one.attempt, digest_of(one))]
    won: Any = parsed(closed[-1].outcome or "{}") if closed else {}
    if "output" not in won:
        return False
    output, value = won["output"], None if given.value is None else parsed(given.value)
    if given.choice is None:
        return bool(output == value)
    asked = list(output.get("input", {}).values())
    return bool(output.get("choice") == given.choice and asked == ([] if value is None else [value]))


def cancel(place: Place, run: str) -> RunRecord:
    """End a run: at once where nobody holds it, else through whoever does, or in their stead once they are
    gone. Raises NoSuchRun, RunIsOver and StoreRefused.
    """
    claimant = _Claimant(place.store, run)
    claimed = claimant.claim()
    if isinstance(claimed, Held):
        place.store.ask(run, "cancel", wall.now_ms())
    while isinstance(claimed, Held):
        wall.nap()
        record = place.store.run(run)
        if record.status in FINAL:
            return record
        try:
            claimed = claimant.claim()
        except RunIsOver:
            return place.store.run(run)
    host = _host(place, claimed, blind=True)  # A run can be ended whatever became of its session.
    host.receive(Cancel())
    return host.record
