"""Every crash point on a real store: a child runs, kills itself there, is started again, and must end as the
simulation of that crash ends.

Children are forked from one parent that has everything ready, so that a life costs what its writes cost. The
parent never opens a store while a child may be born.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
import time  # noqa: TID251
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from windtunnel.simulator.durable import killing
from windtunnel.simulator.durable.driving import new_run
from windtunnel.simulator.durable.expected import DEPTH, Crash, crashes
from windtunnel.simulator.durable.killing import EQUAL, HELD, Life, first_life, second_life
from windtunnel.simulator.search.crashpoints import Point
from windtunnel.simulator.search.exploration import Setup
from windtunnel.simulator.store.sqlite import open_store

AT_ONCE: Final = 8
"""The most children at a time; more would only wait for the disk."""

NAP: Final = 0.002
"""Seconds between two looks at the children."""

Progress = Callable[[int, int], None]
"""Called with how many points are done, of how many."""


class Survived(NamedTuple):
    """What became of one point; `difference` is None when it ended as its simulation does."""

    node: str
    place: str
    difference: str | None


class Tortured(NamedTuple):
    """What became of each point that was made to happen, of how many; `points`, `deeper`: as planned."""

    survived: tuple[Survived, ...]
    different: int
    points: int
    deeper: int


def torture(
    setup: Setup,
    *,
    only: Callable[[Point], bool] | None = None,
    every: int = 1,
    depth: int = DEPTH,
    race: bool = False,
    folder: Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Tortured:
    """Fire every point for real, or of those that `only` picks the first of each `every`; none that lies
    `depth` transitions or more into a run.

    With `race` two processes start after each crash and one of them wins the claim. The stores lie below
    `folder`, and are gone afterwards.
    """
    planned = crashes(setup, only, depth)
    folder = Path(tempfile.mkdtemp(prefix="windtunnel-torture-", dir=folder))
    gc.collect()
    gc.freeze()  # Children share what is ready; a collection in one of them would copy it all.
    try:
        blank = folder / "blank.db"
        _begin(setup, blank)
        jobs = [
            _Job(setup, crash, folder / str(at), blank, race)
            for at, crash in enumerate(planned.crashes[::every])
        ]
        _work(jobs, max(1, min(AT_ONCE, workers or os.cpu_count() or 1)), progress)
        survived = tuple(Survived(job.crash.node, job.crash.place, job.said) for job in jobs)
        return Tortured(survived, len(planned.crashes), planned.points, planned.deeper)
    finally:
        gc.unfreeze()
        shutil.rmtree(folder, ignore_errors=True)


def _begin(setup: Setup, path: Path) -> None:
    """A store with one queued run, copied for each point."""
    with open_store(path, create=True) as store:
        store.create(new_run(setup.snapshot, setup.world.input, setup.reference, 0))


class _Job:
    """One point: first a child that dies, then one that goes on, or two that race."""

    def __init__(self, setup: Setup, crash: Crash, folder: Path, blank: Path, race: bool) -> None:
        self.crash, self.folder, self.blank, self.race = crash, folder, blank, race
        self.world = setup.world
        ready = self.world.program, self.world.provider, self.world.people
        self.life = Life(folder / "run.db", *ready)
        self.said: str | None = None
        self._running: dict[int, int] = {}
        self._verdicts: list[int] = []

    @property
    def is_running(self) -> bool:
        """Whether any of its children lives."""
        return bool(self._running)

    def begin(self) -> list[int]:
        """Start the first life; the process ids to wait for."""
        self.folder.mkdir()
        shutil.copy(self.blank, self.life.store)
        return [self._born(0, lambda: first_life(self.life, self.crash))]

    def ended(self, pid: int, status: int) -> list[int]:
        """One child is gone; those that come after it."""
        which = self._running.pop(pid)
        if which == 0:
            if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
                code = os.waitstatus_to_exitcode(status)
                self.said = (
                    "; ".join(self._reports()) or f"the process did not die there, it left with {code}"
                )
                return []
            return [self._second(which) for which in range(1, 3 if self.race else 2)]
        self._verdicts.append(os.waitstatus_to_exitcode(status))
        if not self._running:
            self._judge()
        return []

    def _second(self, which: int) -> int:
        report = self.folder / f"said-{which}"
        return self._born(which, lambda: second_life(self.life, self.world, self.crash, report))

    def _born(self, which: int, live: Callable[[], None]) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                live()
            except BaseException as problem:
                said = f"{type(problem).__name__}: {problem}"
                (self.folder / f"said-{which}").write_text(said, encoding="utf-8")
            finally:
                os._exit(killing.REFUSED)
        self._running[pid] = which
        return pid

    def _judge(self) -> None:
        """One process must have gone on to the right end; another may have found the run taken or over."""
        if EQUAL not in self._verdicts or not set(self._verdicts) <= {EQUAL, HELD}:
            self.said = "; ".join(self._reports()) or f"the second life left with {self._verdicts}"
        shutil.rmtree(self.folder, ignore_errors=True)

    def _reports(self) -> list[str]:
        return [path.read_text(encoding="utf-8") for path in sorted(self.folder.glob("said-*"))]


def _work(jobs: Sequence[_Job], workers: int, progress: Progress | None) -> None:
    """Keep so many jobs going until all are done."""
    waiting = list(reversed(jobs))
    owners: dict[int, _Job] = {}
    done = 0
    try:
        while waiting or owners:
            while waiting and len(owners) < workers:
                job = waiting.pop()
                owners |= dict.fromkeys(job.begin(), job)
            pid, status = _next_to_end(owners)
            job = owners.pop(pid)
            owners |= dict.fromkeys(job.ended(pid, status), job)
            if not job.is_running:
                done += 1
                if progress is not None:
                    progress(done, len(jobs))
    finally:
        for pid in owners:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _next_to_end(owners: Iterable[int]) -> tuple[int, int]:
    """The first of our children that is gone, and how it ended; nobody else's children are waited for."""
    while True:
        for pid in owners:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return found, status
        time.sleep(NAP)
