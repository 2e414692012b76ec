"""`windtunnel test [PATHS]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from windtunnel.simulator.commands.options import outside_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from windtunnel.simulator.commands.staging import Acted
    from windtunnel.simulator.scenario.verdict import Verdict


@click.command(name="test", epilog="Example: windtunnel test examples -k 'crash and not cancel'")
@click.argument("paths", metavar="[PATHS]...", nargs=-1)
@click.option("-k", "expression", metavar="EXPR", default="", help="Only scenarios whose name fits.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@click.option("--junit", metavar="FILE", help="Also write the verdicts to FILE, in the form of JUnit.")
@click.option(
    "-j",
    "workers",
    type=click.IntRange(min=0, max=256),
    metavar="N",
    default=0,
    help="Cores; 0 for as many as pay.",
)
@click.option("--full", is_flag=True, help="Tell every event, also where nothing went wrong.")
@click.option("--report", metavar="DIR", help="Also write each scenario as an HTML page into this folder.")
@outside_option
def command(
    paths: tuple[str, ...],
    expression: str,
    as_json: bool,
    junit: str | None,
    workers: int,
    full: bool,
    report: str | None,
    allow_outside: bool,
) -> None:
    """Run the scenarios in .flow files and in folders of them; without PATHS in the current folder.

    A failing scenario is told event by event, with the first thing that was not as expected marked. Ends
    with 1 when a scenario fails, is not simulated yet, or stands in a file with errors.
    """
    import os

    from windtunnel.simulator.commands.console import FINDINGS, leave, say
    from windtunnel.simulator.commands.selecting import Selection, files_below
    from windtunnel.simulator.commands.staging import Job, act_all, workers_for
    from windtunnel.simulator.report.verdicts import summary

    Selection(expression)
    files = files_below(paths or (".",))
    jobs = [Job(file, expression, allow_outside, report is not None) for file in files]
    done: list[Acted] = []
    for acted in act_all(jobs, workers or workers_for(len(jobs), os.cpu_count() or 1)):
        done.append(acted)
        _show_findings(acted)
        if not as_json:
            _show(acted, full)
    verdicts = [verdict for acted in done for verdict in acted.verdicts]
    broken = sum(acted.broken for acted in done)
    if not verdicts and not broken:
        chosen = f" that fits -k {expression!r}" if expression else ""
        raise click.UsageError(f"there is no scenario{chosen} in {', '.join(paths) or 'this folder'}")
    if as_json:
        _show_json(verdicts)
    if junit is not None:
        _write_junit(junit, done)
    if report is not None:
        _write_pages(report, done)
    files_broken = f", {broken} file{'' if broken == 1 else 's'} with errors" if broken else ""
    say(summary(verdicts) + files_broken)
    if broken or not all(verdict.passed for verdict in verdicts):
        leave(FINDINGS)


def _show_findings(acted: Acted) -> None:
    from windtunnel.simulator.commands.loading import Found, tell_findings

    tell_findings(acted.file, Found(acted.diagnostics, acted.sources), broken=acted.broken)


def _show(acted: Acted, full: bool) -> None:
    """The verdicts of one file, each failing one with its story."""
    import shutil

    from windtunnel.simulator.commands.console import show, wants_colour
    from windtunnel.simulator.commands.telling import paint
    from windtunnel.simulator.report.story import DEFAULT_WIDTH
    from windtunnel.simulator.report.verdicts import again, headline, told

    if not acted.verdicts:
        return
    colour = wants_colour()
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns if colour else DEFAULT_WIDTH
    show(f"{acted.file}\n")
    for verdict in acted.verdicts:
        show(f"  {headline(verdict)}\n")
        if verdict.passed:
            continue
        for line in told(verdict, width=width - 4, full=full):
            show(("    " + paint(line, colour=colour)).rstrip() + "\n")
        if verdict.events:
            show(f"\n    again: {again(verdict)}\n")


def _show_json(verdicts: Sequence[Verdict]) -> None:
    import json

    from windtunnel.simulator.commands.console import show
    from windtunnel.simulator.report.verdicts import to_json

    show(json.dumps(to_json(verdicts), indent=2, ensure_ascii=False) + "\n")


def _write_pages(folder: str, done: Sequence[Acted]) -> None:
    """A page for each scenario, and one that lists them."""
    from windtunnel.simulator.commands.reporting import write_pages

    cases = [(v, page) for acted in done for v, page in zip(acted.verdicts, acted.pages, strict=True)]
    write_pages(folder, cases)


def _write_junit(file: str, done: Sequence[Acted]) -> None:
    from pathlib import Path

    from windtunnel.simulator.commands.console import write_whole
    from windtunnel.simulator.report.junit import Case, Suite, junit

    suites = [
        Suite(
            acted.file,
            tuple(Case(verdict, taken) for verdict, taken in zip(acted.verdicts, acted.seconds, strict=True)),
            acted.broken,
        )
        for acted in done
    ]
    write_whole(Path(file), junit(suites))
