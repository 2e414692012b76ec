"""The model of a store: what is committed is there, what is not is gone.

Exploration needs only the fold of a run (`commit`, `created`); `MemoryStore` is the whole interface, kept in
plain dictionaries, and says what a database must do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from windtunnel.simulator.events import Event
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.state import Run, fold
from windtunnel.simulator.store.interface import (
    MAX_LINES,
    ClaimLost,
    Dead,
    Gap,
    NoSuchRun,
    RunIsOver,
    StoreRefused,
    nobody_is_dead,
)
from windtunnel.simulator.store.projections import changes
from windtunnel.simulator.store.records import (
    FINAL,
    Asked,
    Claim,
    Decision,
    Held,
    Line,
    NewRun,
    Notice,
    Receipt,
    RunRecord,
)
from windtunnel.simulator.store.values import sha256, sorted_event


def commit(program: Program, run: Run, events: tuple[Event, ...]) -> Run:
    """The state after one transaction."""
    for event in events:
        run = fold(program, run, event)
    return run


def created(input_text: str) -> Run:
    """What stands in the store when a run was asked for: its input, queued."""
    return Run(input=input_text)


class MemoryStore:
    """A store that lives as long as its process."""

    def __init__(self) -> None:
        self._runs: dict[str, RunRecord] = {}
        self._continued: dict[str, str] = {}
        self._contents: dict[str, str] = {}
        self._traces: dict[str, tuple[Line, ...]] = {}
        self._receipts: dict[str, tuple[Receipt, ...]] = {}
        self._decisions: dict[str, dict[str, Decision]] = {}
        self._notices: dict[str, dict[tuple[str, int], Notice]] = {}
        self._claims: dict[str, Claim] = {}
        self._asked: dict[int, Asked] = {}
        self._last_asked = 0

    def copy(self) -> MemoryStore:
        """The store as it is now; what is written to one of the two is not in the other."""
        other = MemoryStore()
        other._runs, other._contents = dict(self._runs), dict(self._contents)
        other._continued = dict(self._continued)
        other._traces, other._receipts = dict(self._traces), dict(self._receipts)
        other._decisions = {run: dict(rows) for run, rows in self._decisions.items()}
        other._notices = {run: dict(rows) for run, rows in self._notices.items()}
        other._claims, other._asked = dict(self._claims), dict(self._asked)
        other._last_asked = self._last_asked
        return other

    # --- runs -----------------------------------------------------------------------------------------------

    def create(self, new: NewRun) -> RunRecord:
        """Add a run, queued."""
        address = sha256(new.snapshot)
        self._contents[address] = new.snapshot
        name = f"run-{len(self._runs) + 1}"
        record = RunRecord(
            name,
            new.workflow,
            new.revision,
            new.digest,
            address,
            new.input,
            new.reference,
            new.created_ms,
            current=name,
        )
        self._runs[record.run] = record
        return record

    def runs(self) -> tuple[RunRecord, ...]:
        """Every run, oldest first."""
        return tuple(self._runs.values())

    def run(self, run: str) -> RunRecord:
        """One run."""
        first = self._continued.get(run, run)
        if first not in self._runs:
            raise NoSuchRun(f"there is no run {run}")
        return self._runs[first]

    def content(self, address: str) -> str:
        """The text with this SHA-256."""
        if address not in self._contents:
            raise StoreRefused(f"the text {address} is missing")
        return self._contents[address]

    def trace(self, run: str) -> tuple[Line, ...]:
        """The run's lines."""
        return self._traces.get(self.run(run).run, ())

    def receipts(self, run: str) -> tuple[Receipt, ...]:
        """The run's receipts."""
        return self._receipts.get(self.run(run).run, ())

    def decisions(self, run: str) -> tuple[Decision, ...]:
        """The run's requests for decisions."""
        return tuple(self._decisions.get(self.run(run).run, {}).values())

    def notices(self, run: str) -> tuple[Notice, ...]:
        """The run's notifications."""
        return tuple(self._notices.get(self.run(run).run, {}).values())

    # --- claims ---------------------------------------------------------------------------------------------

    def claim(
        self, run: str, owner: str, now_ms: int, lease_ms: int, dead: Dead = nobody_is_dead
    ) -> Claim | Held:
        """Claim a run."""
        record = self.run(run)
        refuse_ended(record, record.untold > 0)
        last = self._claims.get(record.run)
        if last is not None and is_held(last, owner, now_ms, dead):
            return Held(record.run, last.owner, last.expires_ms)
        token = 1 if last is None else last.token + 1
        found = self._claims[record.run] = Claim(record.run, owner, token, now_ms + lease_ms)
        return found

    def claimed(self, run: str) -> Held | None:
        """Who claimed the run last."""
        last = self._claims.get(self.run(run).run)
        return None if last is None or not last.owner else Held(run, last.owner, last.expires_ms)

    def renew(self, claim: Claim, now_ms: int, lease_ms: int) -> Claim:
        """The same claim for longer."""
        self._prove(claim)
        found = self._claims[claim.run] = claim._replace(expires_ms=now_ms + lease_ms)
        return found

    def release(self, claim: Claim) -> None:
        """Give the claim back; its token stays used."""
        last = self._claims.get(claim.run)
        if last is not None and last.token == claim.token:
            self._claims[claim.run] = last._replace(owner="", expires_ms=0)

    @contextmanager
    def guard(self, claim: Claim) -> Iterator[None]:
        """Nobody else is in this process."""
        self._prove(claim)
        yield

    def _prove(self, claim: Claim) -> None:
        last = self._claims.get(claim.run)
        if last is None or last.token != claim.token or last.owner != claim.owner:
            raise ClaimLost(lost(claim))

    # --- writing --------------------------------------------------------------------------------------------

    def commit(self, claim: Claim, lines: tuple[Line, ...]) -> RunRecord:
        """Add lines, with everything that follows from them."""
        assert 0 < len(lines) <= MAX_LINES, "a transaction has lines, and not too many"
        self._prove(claim)
        run = self.run(claim.run)
        refuse_ended(run, all(line.event.type == "notification_delivered" for line in lines))
        refuse_gap(run, lines)
        after = changes(run, lines)
        kept = tuple(line._replace(event=sorted_event(line.event)) for line in lines)
        self._traces[run.run] = (*self._traces.get(run.run, ()), *kept)
        self._receipts[run.run] = (*self._receipts.get(run.run, ()), *after.receipts)
        decisions = self._decisions.setdefault(run.run, {})
        for decision in after.decisions:
            known = decisions.get(decision.attempt)
            if known is None or known.state == "open":
                asked = decision if known is None else decision._replace(request=known.request)
                decisions[decision.attempt] = asked
        notices = self._notices.setdefault(run.run, {})
        for notice in after.notices:
            key = (notice.node, notice.number)
            known_notice = notices.get(key, notice)
            notices[key] = known_notice._replace(delivered=notice.delivered or known_notice.delivered)
        self._runs[run.run] = after.run
        self._continued |= dict.fromkeys((name for name, _ in after.continued), run.run)
        return after.run

    # --- word from outside ----------------------------------------------------------------------------------

    def ask(self, run: str, what: str, now_ms: int) -> None:
        """Leave word for whoever holds the run."""
        record = self.run(run)
        refuse_ended(record)
        self._last_asked += 1
        self._asked[self._last_asked] = Asked(self._last_asked, record.run, what, now_ms)

    def asked(self, run: str) -> tuple[Asked, ...]:
        """What was asked and not settled yet."""
        return tuple(asked for asked in self._asked.values() if asked.run == run)

    def settle(self, claim: Claim, asked: Asked) -> None:
        """What was asked is done."""
        self._prove(claim)
        self._asked.pop(asked.id, None)


# --- what every store refuses, in the same words ------------------------------------------------------------


def is_held(last: Claim, owner: str, now_ms: int, dead: Dead) -> bool:
    """Whether somebody else still has the claim; who claimed before may claim again."""
    if not last.owner or last.owner == owner or last.expires_ms <= now_ms:
        return False
    return not dead(last.owner)


def lost(claim: Claim) -> str:
    """What a writer is told whose claim is gone."""
    return f"{claim.owner} has lost its claim of {claim.run}; nothing was written"


def refuse_ended(run: RunRecord, only_tells: bool = False) -> None:
    """Raise RunIsOver for a run that has ended, unless all that is left is to tell it."""
    if run.status in FINAL and not only_tells:
        raise RunIsOver(f"{run.run} is {run.status}; that is final")


def refuse_gap(run: RunRecord, lines: tuple[Line, ...]) -> None:
    """Raise Gap unless the lines come right after the run's last."""
    numbers = [line.seq for line in lines]
    if numbers != list(range(run.last_seq + 1, run.last_seq + 1 + len(lines))):
        raise Gap(f"{run.run} ends at line {run.last_seq}; lines {numbers[0]} to {numbers[-1]} do not follow")
