"""Many runs through one store, by several processes that are killed at random.

`python -m tests.benchmarks.load [RUNS] [PROCESSES] [RUNS A KILL]`: nothing may be lost or done twice.
"""

from __future__ import annotations

import os
import random  # noqa: TID251
import select
import signal
import sys
import tempfile
import time  # noqa: TID251
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

from tests.benchmarks.store import Bench
from windtunnel.simulator.durable import wall
from windtunnel.simulator.durable.host import LEASE_MS, Host
from windtunnel.simulator.durable.session import refuse_shorter
from windtunnel.simulator.durable.sessionfile import LedgerFile, SessionFile, ledger_path, session_path
from windtunnel.simulator.store.interface import RunIsOver
from windtunnel.simulator.store.records import FINAL, Claim
from windtunnel.simulator.store.sqlite import SqliteStore, open_store

FLOW: Final = """language 1
workflow paying {
  revision 1
  input { order: text(1..9) }
  exits { done: { said: text, receipt: text } }
  agent say { prompt "Announce ${input.order}." expectedOutput assistant { maxChars 60 } }
  action charge {
    call "payments.charge" with { order: input.order }
    returns { receipt: text(1..20) }
    idempotencyKey "order-${input.order}"
    timeout 30s
  }
  compute kept = { said: say, receipt: charge.receipt }
  edges { start -> say -> charge -> kept -> exit done }
}
"""
"""A visible answer, which is given once, an effect, which happens once, and a value."""

NODES: Final = 3

NAP: Final = 0.02
"""Seconds between two looks at the processes, and the most that a kill is delayed."""


class Load(NamedTuple):
    """What became of the runs: `wrong` says of which, and why."""

    runs: int
    kills: int
    resumed: int
    seconds: float
    wrong: tuple[str, ...]


def hammer(folder: Path, runs: int, processes: int, runs_a_kill: int, seed: int = 0) -> Load:
    """Put runs into a store and let processes work on them; after so many runs, a few milliseconds later, one
    of the processes is killed, and another one begins.
    """
    bench, path = Bench(FLOW), folder / "load.db"
    with open_store(path, create=True) as store:
        for _ in range(runs):
            store.create(bench.new)
    began = time.monotonic()
    drawn, kills, done = random.Random(seed), 0, 0
    told, tell = os.pipe()
    workers = [_born(bench, path, number, processes, tell) for number in range(processes)]
    while any(workers):
        if select.select([told], [], [], NAP)[0]:
            done += len(os.read(told, 4_096))
        for number, pid in enumerate(workers):
            if pid and os.waitpid(pid, os.WNOHANG)[0]:
                workers[number] = 0
        alive = [number for number, pid in enumerate(workers) if pid]
        if alive and runs_a_kill and done >= runs_a_kill * (kills + 1):
            time.sleep(drawn.random() * NAP)
            number = drawn.choice(alive)
            os.kill(workers[number], signal.SIGKILL)
            os.waitpid(workers[number], 0)
            kills += 1
            workers[number] = _born(bench, path, number, processes, tell)
    seconds = time.monotonic() - began
    os.close(told)
    os.close(tell)
    with open_store(path) as store:
        resumed, wrong = _verdict(store, path, runs)
    return Load(runs, kills, resumed, seconds, wrong)


def _born(bench: Bench, path: Path, number: int, processes: int, tell: int) -> int:
    """A process that works until nothing is left to do, from a place of its own on; it tells of each run."""
    pid = os.fork()
    if pid == 0:
        try:
            with open_store(path) as store:
                while left := [record.run for record in store.runs() if record.status not in FINAL]:
                    begin = len(left) * number // processes
                    for run in left[begin:] + left[:begin]:
                        if _work(bench, store, path, run):
                            os.write(tell, b".")
            os._exit(0)
        finally:
            os._exit(99)
    return pid


def _work(bench: Bench, store: SqliteStore, path: Path, run: str) -> bool:
    """One run to its end, unless somebody else has it."""
    try:
        claim = store.claim(run, wall.owner(), wall.now_ms(), LEASE_MS, wall.is_dead)
    except RunIsOver:
        return False
    if isinstance(claim, Claim):
        session = SessionFile(session_path(path, run))
        ledger = LedgerFile(ledger_path(path, run))
        Host(bench.program, bench.provider, store, session, ledger, claim, wall=wall.now_ms).work()
    return isinstance(claim, Claim)


def _verdict(store: SqliteStore, path: Path, runs: int) -> tuple[int, tuple[str, ...]]:
    """How often a run was taken up again, and everything that is not as it should be."""
    resumed, wrong, records = 0, [], store.runs()
    if [record.run for record in records] != [f"run-{number + 1}" for number in range(runs)]:
        wrong.append(f"{len(records)} runs of {runs}")
    for record in records:
        lines = store.trace(record.run)
        types = Counter(line.event.type for line in lines)
        resumed += types["run_resumed"]
        once = (types["run_started"], types["run_completed"], types["node_finished"], types["node_failed"])
        session = SessionFile(session_path(path, record.run))
        refuse_shorter(session, record.run, lines)
        shown = [entry for entry in session.entries if entry.get("stop") == "stop" and entry["text"]]
        done = LedgerFile(ledger_path(path, record.run)).done
        if once != (1, 1, NODES, 0):
            wrong.append(f"{record.run}: {dict(types)}")
        if (len(shown), len(store.receipts(record.run)), len(done)) != (1, 1, 1):
            wrong.append(f"{record.run}: {len(shown)} visible answers, {len(done)} effects")
    return resumed, tuple(wrong)


def main() -> None:
    """Print what became of them."""
    given = [int(text) for text in sys.argv[1:]]
    runs, processes, runs_a_kill = (given + [10_000, 4, 20][len(given) :])[:3]
    with tempfile.TemporaryDirectory() as folder:
        load = hammer(Path(folder), runs, processes, runs_a_kill)
    rate = load.runs / load.seconds
    print(  # noqa: T201
        f"{load.runs:,} runs of three nodes by {processes} processes in {load.seconds:.1f} s "
        f"({rate:,.0f} runs/s), {load.kills} kills, {load.resumed} times taken up again, "
        f"{len(load.wrong)} lost or doubled"
    )
    for line in load.wrong[:20]:
        print(f"  {line}")  # noqa: T201


if __name__ == "__main__":
    main()
