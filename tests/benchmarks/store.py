"""How many three-node runs a store on disk takes: `python -m tests.benchmarks.store [RUNS] [FOLDER]`.

Every transition is a synced commit, so the figures are those of the disk. The reference engine, which writes
plain files, is known for 86 to 117 runs of such a flow a second, one after another.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time  # noqa: TID251
from pathlib import Path
from typing import Final, NamedTuple

from tests.benchmarks.measuring import Row, print_table
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.durable import wall
from windtunnel.simulator.durable.driving import VISITS, Place, new_run
from windtunnel.simulator.durable.host import LEASE_MS, Host
from windtunnel.simulator.durable.session import MemoryLedger, MemorySession, Session
from windtunnel.simulator.durable.sessionfile import SessionFile, session_path
from windtunnel.simulator.providers.generated import GeneratedProvider, run_inputs
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.store.interface import Store
from windtunnel.simulator.store.memory import MemoryStore
from windtunnel.simulator.store.records import Claim
from windtunnel.simulator.store.sqlite import memory_store, open_store

VALUES = """language 1
workflow three {
  revision 1
  input { n: int }
  exits { done: { n: int } }
  compute one = { n: input.n + 1 }
  compute two = { n: one.n + 1 }
  compute three = { n: two.n + 1 }
  edges { start -> one -> two -> three -> exit done }
}
"""

AGENTS = """language 1
workflow agents {
  revision 1
  input { topic: text(1..40) }
  exits { done: { text: text, n: int } }
  agent say { prompt "Say something of ${input.topic}." expectedOutput assistant { maxChars 60 } }
  agent pick { prompt "Pick a number for ${say}." expectedOutput { n: int(0..9) } }
  compute kept = { text: say, n: pick.n }
  edges { start -> say -> pick -> kept -> exit done }
}
"""


class Bench:
    """One workflow, ready to run many times."""

    def __init__(self, text: str) -> None:
        compiled = compile_workflow(MemoryReader({"bench.flow": text}), "bench.flow")
        assert compiled.snapshot is not None, "the benchmark's flow compiles"
        self.snapshot: Snapshot = compiled.snapshot
        self.program = Program(self.snapshot, visit_cap=VISITS)
        self.provider = GeneratedProvider(self.snapshot)
        self.new = new_run(self.snapshot, run_inputs(self.snapshot)[0], "bench.flow", wall.now_ms())

    def run(self, place: Place, *, on_disk: bool) -> None:
        """One run, from its creation to its end."""
        store: Store = place.store
        claim = store.claim(store.create(self.new).run, wall.owner(), wall.now_ms(), LEASE_MS)
        assert isinstance(claim, Claim), "nobody else wants this run"
        session: Session = SessionFile(session_path(place.path, claim.run)) if on_disk else MemorySession()
        host = Host(self.program, self.provider, store, session, MemoryLedger(), claim, wall=wall.now_ms)
        assert host.work().status == "completed", "the benchmark's flow completes"


ROUNDS: Final = 3
"""The best of so many counts: a disk that others use is slow at times."""


class Took(NamedTuple):
    """Seconds on the wall, and of processors."""

    wall: float
    cpu: float


def timed(bench: Bench, place: Place, runs: int, *, on_disk: bool) -> Took:
    """What so many runs take at best, one after another."""
    bench.run(place, on_disk=on_disk)
    rounds = []
    for _ in range(ROUNDS):
        began = now()
        for _ in range(runs):
            bench.run(place, on_disk=on_disk)
        rounds.append(since(began))
    return min(rounds)


def together(bench: Bench, path: Path, runs: int, processes: int) -> Took:
    """What so many runs take at best, shared by several processes on one store."""
    return min(_shared(bench, path, runs, processes) for _ in range(ROUNDS))


def _shared(bench: Bench, path: Path, runs: int, processes: int) -> Took:
    began = now()
    children = []
    for _ in range(processes):
        pid = os.fork()
        if pid == 0:
            with open_store(path) as store:
                for _ in range(runs // processes):
                    bench.run(Place(store, path), on_disk=True)
            os._exit(0)
        children.append(pid)
    assert all(os.waitpid(pid, 0)[1] == 0 for pid in children), "every process finished its runs"
    return since(began)


def now() -> Took:
    """Both clocks, with those of children that have ended."""
    return Took(time.perf_counter(), sum(os.times()[:4]))


def since(began: Took) -> Took:
    """What went by."""
    wall_, cpu = now()
    return Took(wall_ - began.wall, cpu - began.cpu)


def rows_of(name: str, text: str, runs: int, folder: Path) -> list[Row]:
    """The same runs on disk, in memory, on the model."""
    bench = Bench(text)
    path = folder / f"{name}.db"
    with open_store(path, create=True) as store:
        found = [("one process, on disk", timed(bench, Place(store, path), runs, on_disk=True))]
    found += [(f"{count} processes, on disk", together(bench, path, runs, count)) for count in (2, 4)]
    with memory_store() as store:
        found.append(("SQLite in memory", timed(bench, Place(store, path), runs, on_disk=False)))
    found.append(("the model", timed(bench, Place(MemoryStore(), path), runs, on_disk=False)))
    return [
        Row(
            f"{name}: {what}",
            took.wall,
            f"{runs / took.wall:,.0f} runs/s, {1_000 * took.cpu / runs:.1f} ms of processors a run",
        )
        for what, took in found
    ]


def main() -> None:
    """Print both tables."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        for name, text in (("values", VALUES), ("agents", AGENTS)):
            print_table(f"{runs} runs of three nodes", rows_of(name, text, runs, Path(folder)))


if __name__ == "__main__":
    main()
