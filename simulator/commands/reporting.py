"""Runs, counterexamples and scenarios as pages on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from windtunnel.compiler.snapshot import Snapshot
    from windtunnel.simulator.report.page.document import Subject
    from windtunnel.simulator.report.page.places import Texts
    from windtunnel.simulator.scenario.verdict import Verdict
    from windtunnel.simulator.simulation import Run

ENDINGS: Final = (".html", ".htm")


def checked_name(report: str | None) -> None:
    """Raise click's UsageError before anything runs unless the page's name ends as one."""
    if report is not None and not report.endswith(ENDINGS):
        raise click.UsageError(f"a report is an HTML page: end the name {report!r} in .html")


def report_run(
    report: str | None,
    run: Run,
    snapshot: Snapshot,
    texts: Texts,
    again: str,
    notes: tuple[str, ...] = (),
) -> None:
    """Write the page of a run where one was asked for."""
    if report is None:
        return
    from windtunnel.simulator.report.page.document import of_run

    write_page(report, of_run(run, snapshot, texts, again=again, notes=notes))


def report_token(report: str, run: Run, token: str, allow_outside: bool, notes: tuple[str, ...] = ()) -> None:
    """Write the page of a run that a token stands for; the token is known to be sound."""
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.operations import snapshot_of
    from windtunnel.simulator.search.token import decode

    reference = decode(token).workflow
    snapshot = snapshot_of(reference, lambda file: load_snapshot(file, allow_outside))
    texts = texts_for(reference, snapshot, allow_outside)
    report_run(report, run, snapshot, texts, f"windtunnel replay {token}", notes)


def write_page(report: str, subject: Subject) -> None:
    """One page, whole or not at all; says where it is."""
    from windtunnel.simulator.commands.console import say, write_whole
    from windtunnel.simulator.report.page.document import html_report

    write_whole(Path(report), html_report(subject))
    say(f"report: {report}")


def write_pages(folder: str, cases: Sequence[tuple[Verdict, bytes]]) -> None:
    """The pages of scenarios into a folder, with a list. Raises click's UsageError where that fails."""
    from windtunnel.simulator.commands.console import reason, say, write_whole
    from windtunnel.simulator.report.page.listing import index_page, page_names

    root = Path(folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise click.UsageError(f"cannot write into {folder}: {reason(problem)}") from None
    verdicts = [verdict for verdict, _ in cases]
    for name, (_, page) in zip(page_names(verdicts), cases, strict=True):
        write_whole(root / name, page)
    write_whole(root / "index.html", index_page(verdicts))
    say(f"report: {root / 'index.html'}")


def texts_for(reference: str, snapshot: Snapshot, allow_outside: bool) -> Texts:
    """The text of the workflow that the command line or a token names so; empty for a snapshot."""
    from windtunnel.compiler import compile_file
    from windtunnel.compiler.pipeline import compile_workflow
    from windtunnel.compiler.reader import MemoryReader
    from windtunnel.simulator.faults import fault
    from windtunnel.simulator.operations import FAULT_REFERENCE
    from windtunnel.simulator.report.page.places import NO_TEXTS, texts_of

    if reference.endswith(".json"):
        return NO_TEXTS
    if reference.startswith(FAULT_REFERENCE):
        seeded = fault(reference.removeprefix(FAULT_REFERENCE))
        compiled = compile_workflow(MemoryReader({seeded.world: seeded.source}), seeded.world)
    else:
        from windtunnel.simulator.commands.loading import one_of

        file, workflow = one_of(reference)
        compiled = compile_file(file, workflow=workflow, allow_outside=allow_outside)
    return texts_of(compiled.checked, snapshot)
