"""Files to verdicts of their scenarios, on one core or on several, always in the same order."""

from __future__ import annotations

import multiprocessing
import time  # noqa: TID251
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from windtunnel.compiler import stage_file
from windtunnel.compiler.pipeline import Checked
from windtunnel.compiler.scenario import under
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.dsl import Diagnostic, Severity, Source, parse
from windtunnel.simulator.commands.naming import from_here, renamed
from windtunnel.simulator.commands.selecting import Selection
from windtunnel.simulator.scenario.running import run_scenario
from windtunnel.simulator.scenario.verdict import Verdict

WORTH_A_WORKER: Final = 8
"""Files that one more worker is started for when nobody says how many."""


@dataclass(frozen=True, slots=True)
class Acted:
    """One file: the verdicts of its scenarios that were wanted, the seconds each took, and its findings.

    `pages` are the reports, one for each verdict where they were asked for.
    """

    file: str
    verdicts: tuple[Verdict, ...]
    seconds: tuple[float, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: dict[str, Source]
    pages: tuple[bytes, ...] = ()

    @property
    def broken(self) -> bool:
        """Whether the file has errors, so that nothing in it was run."""
        return any(each.severity is Severity.ERROR for each in self.diagnostics)


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is told."""

    file: str
    expression: str
    allow_outside: bool
    pages: bool = False


def act(job: Job) -> Acted:
    """Run the scenarios of one file; of those that pass only the verdict is kept."""
    selection = Selection(job.expression)
    if job.expression and not _holds_wanted(job.file, selection):
        return Acted(job.file, (), (), (), {})
    staged = stage_file(job.file, allow_outside=job.allow_outside)
    name = from_here(job.file)
    verdicts: list[Verdict] = []
    seconds: list[float] = []
    pages: list[bytes] = []
    for scenario, snapshot in staged.scenarios:
        if not selection.fits(f"{job.file}::{scenario.title}"):
            continue
        began = time.monotonic()
        verdict = run_scenario(under(scenario, job.file), snapshot)
        seconds.append(time.monotonic() - began)
        if job.pages:
            pages.append(_page(verdict, snapshot, staged.checked))
        verdict = replace(verdict, film=None)
        verdicts.append(verdict if not verdict.passed else replace(verdict, trace=(), events=(), session=()))
    found = tuple(renamed(each, name) for each in staged.diagnostics)
    shown = {name(file): source for file, source in staged.checked.modules.sources.items()} if found else {}
    return Acted(job.file, tuple(verdicts), tuple(seconds), found, shown, tuple(pages))


def _page(verdict: Verdict, snapshot: Snapshot, checked: Checked) -> bytes:
    """The report of one scenario."""
    from windtunnel.simulator.report.page.document import html_report, of_verdict
    from windtunnel.simulator.report.page.places import texts_of

    texts = texts_of(checked, snapshot)
    root = checked.modules.root
    written = next((module.source.text for module in checked.modules.order if module.name == root), "")
    # What was expected stands in the file of the scenario.
    files = {**texts.files, verdict.scenario.where.file: written}
    return html_report(of_verdict(verdict, snapshot, texts._replace(files=dict(sorted(files.items())))))


def _holds_wanted(file: str, selection: Selection) -> bool:
    """Whether some title in a file is wanted; a file that cannot be parsed is looked at in full."""
    try:
        parsed = parse(Source(file, Path(file).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return True
    titles = [scenario.title.constant for scenario in parsed.file.scenarios]
    return bool(parsed.diagnostics) or any(selection.fits(f"{file}::{title}") for title in titles)


def workers_for(jobs: int, cores: int) -> int:
    """How many workers pay: each takes a second or so to start."""
    return max(1, min(cores, jobs // WORTH_A_WORKER))


def act_all(jobs: Sequence[Job], workers: int) -> Iterator[Acted]:
    """The files in order; with several workers they are run side by side."""
    if workers <= 1 or len(jobs) <= 1:
        yield from map(act, jobs)
        return
    # A fresh interpreter for each worker: the same on every platform, and nothing of ours leaks into it.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=context) as pool:
        yield from pool.map(act, jobs)
