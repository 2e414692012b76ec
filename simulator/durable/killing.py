"""A process that does one life of a run on a real store, and may kill itself at one exact place of it.

What is called here runs in a child of its own. It ends by `os._exit` or by SIGKILL, never by returning.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from windtunnel.simulator.choices import Recorded
from windtunnel.simulator.clock import Clock
from windtunnel.simulator.durable import wall
from windtunnel.simulator.durable.expected import AFTER, Crash, Ending, simulated
from windtunnel.simulator.durable.host import LEASE_MS, Host
from windtunnel.simulator.durable.lines import attempts_of, delivered, state_of, written
from windtunnel.simulator.durable.session import fold, refuse_shorter, text_of
from windtunnel.simulator.durable.sessionfile import LedgerFile, SessionFile, ledger_path, session_path
from windtunnel.simulator.events import Action, Commit
from windtunnel.simulator.providers.behaviour import Provider
from windtunnel.simulator.providers.people import People
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.store.interface import RunIsOver, StoreRefused
from windtunnel.simulator.store.records import Held
from windtunnel.simulator.store.sqlite import SqliteStore, open_store
from windtunnel.simulator.trace import following_run
from windtunnel.simulator.world import Cut, World

EQUAL: Final = 0
DIFFERENT: Final = 10
HELD: Final = 11
REFUSED: Final = 12
NOT_REACHED: Final = 13

RUN: Final = "run-1"


class Life(NamedTuple):
    """What a life of the run needs: where the store lies, and everything that the parent made ready."""

    store: Path
    program: Program
    provider: Provider
    people: People


def first_life(life: Life, crash: Crash) -> NoReturn:
    """Run until the crash, and die of it. Leaves with NOT_REACHED when it never comes."""
    with open_store(life.store) as store:
        killer = Killer(store, crash.number, crash.cut)
        host = _host(life, store, crash.choices, 0, killer)
        host.probe = killer.probe
        host.work()
    os._exit(NOT_REACHED)


def second_life(life: Life, world: World, crash: Crash, report: Path) -> NoReturn:
    """Find what the first left, go on to the end, and compare; what differs is written to `report`."""
    at_ms, steps, ending = simulated(world, crash)
    try:
        with open_store(life.store) as store:
            host = _host(life, store, (), at_ms, None)
            while host.transitions < steps and host.advance():
                pass
            over = steps == AFTER or not host.advance()
            found = ending_of(life, store)
    except _Held:
        os._exit(HELD)
    except RunIsOver:
        with open_store(life.store) as store:
            found, over = ending_of(life, store), True
    except StoreRefused as problem:
        report.write_text(str(problem), encoding="utf-8")
        os._exit(REFUSED)
    said = difference(ending, found)
    if said is None and over:
        os._exit(EQUAL)
    report.write_text(said or f"the run goes on after {steps:,} transitions", encoding="utf-8")
    os._exit(DIFFERENT)


class _Held(Exception):
    """Another process has the claim."""


def _host(
    life: Life, store: SqliteStore, choices: tuple[int, ...], at_ms: int, killer: Killer | None
) -> Host:
    claim = store.claim(RUN, wall.owner(), wall.now_ms(), LEASE_MS, wall.is_dead)
    if isinstance(claim, Held):
        raise _Held
    clock = Clock()
    clock.now_ms = at_ms
    session = SessionFile(session_path(life.store, RUN), os.write if killer is None else killer.write)
    refuse_shorter(session, RUN, store.trace(RUN))
    return Host(
        life.program,
        life.provider,
        store,
        session,
        LedgerFile(ledger_path(life.store, RUN)),
        claim,
        clock=clock,
        wall=wall.now_ms,
        choices=Recorded(choices),
        people=life.people,
        following=following_run,
    )


class Killer:
    """Kills its own process at `cut` of transition `number`: between two writes, inside an append, or, where
    the next write is a commit, when everything of it is written but the commit itself.
    """

    def __init__(self, store: SqliteStore, number: int, cut: Cut) -> None:
        self.store, self.number, self.cut = store, number, cut
        self.armed = False

    def probe(self, number: int, done: int, action: Action | None) -> None:
        """The window before an action, or after the last."""
        if (number, done) != (self.number, self.cut.done):
            return
        if self.cut.torn:
            self.armed = True
        elif isinstance(action, Commit):
            self.store.connection.set_trace_callback(self._at_commit)
        else:
            die()

    def _at_commit(self, statement: str) -> None:
        if statement == "COMMIT":
            die()

    def write(self, handle: int, data: bytes) -> int:
        """Hand bytes to the session log; in the append that is to tear, some whole lines and half of one."""
        if self.armed:
            lines = data.splitlines(keepends=True)
            torn = lines[self.cut.rows]
            os.write(handle, b"".join(lines[: self.cut.rows]) + torn[: len(torn) // 2])
            die()
        return os.write(handle, data)


def die() -> NoReturn:
    """Kill this process as nothing can catch."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a process that is killed does not go on")


def ending_of(life: Life, store: SqliteStore) -> Ending:
    """How the run ended: read back from the file and the log, through nothing that the host kept."""
    lines = store.trace(RUN)
    session = SessionFile(session_path(life.store, RUN))
    run = state_of(life.program, store.run(RUN).input, lines)
    log = fold(
        session.entries,
        attempts_of(lines),
        life.program.revisited,
        delivered=delivered(lines),
        torn=session.torn,
    )
    done = LedgerFile(ledger_path(life.store, RUN)).done
    applied = tuple((one["name"], one.get("key")) for one in done)
    return Ending(tuple(written(RUN, lines)), run, session.entries, log, applied)


def difference(wanted: Ending, found: Ending) -> str | None:
    """The first thing that differs, in words; None if nothing does."""
    for name, ours, theirs in (
        ("trace", tuple(map(text_of, wanted.lines)), tuple(map(text_of, found.lines))),
        ("session log", tuple(map(text_of, wanted.entries)), tuple(map(text_of, found.entries))),
    ):
        for at, (one, other) in enumerate(zip(ours, theirs, strict=False), start=1):
            if one != other:
                return f"line {at} of the {name}: simulated {one.strip()}, real {other.strip()}"
        if len(ours) != len(theirs):
            return f"the {name}: simulated {len(ours)} lines, real {len(theirs)}"
    if wanted.applied != found.applied:
        return f"effects: simulated {wanted.applied}, real {found.applied}"
    if wanted.run != found.run:
        return f"the state: simulated {wanted.run}, real {found.run}"
    return None if wanted.log == found.log else f"the log: simulated {wanted.log}, real {found.log}"
