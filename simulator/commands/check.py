"""`windtunnel check FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from windtunnel.simulator.commands.options import outside_option

if TYPE_CHECKING:
    from windtunnel.simulator.commands.loading import Found

FORMATS = ("full", "concise", "json", "sarif", "github")


@click.command(name="check", epilog="Example: windtunnel check flows/*.flow --format concise")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="full",
    show_default=True,
    help="full: with the source lines; concise: file:line:col code message; json: everything; sarif: SARIF"
    " 2.1.0; github: annotations of a GitHub workflow.",
)
@click.option("--fix", is_flag=True, help="Apply the safe fixes to the FILEs first, then check again.")
@click.option("--strict", is_flag=True, help="Hints count too.")
@click.option("--locked", is_flag=True, help="Also hold every workflow against windtunnel.lock.")
@outside_option
def command(
    files: tuple[str, ...], form: str, fix: bool, strict: bool, locked: bool, allow_outside: bool
) -> None:
    """Find mistakes in .flow files: all of them, in one go.

    Ends with 0 when there is nothing to mend, with 1 when there are errors or warnings, with 2 when a FILE
    cannot be read; the others are checked all the same. Hints alone are no reason to fail without --strict.
    `windtunnel explain CODE` says more about a finding; the table [tool.windtunnel.severity] of
    pyproject.toml sets what is an "error", a "warning", a "hint" or "off".
    """
    from windtunnel.dsl import Severity
    from windtunnel.simulator.commands.console import FINDINGS, leave, say
    from windtunnel.simulator.commands.loading import Found, check_files
    from windtunnel.simulator.commands.severities import configured, weighed
    from windtunnel.simulator.report.findings import tally

    severities = configured()
    files, unreadable = _readable(files)
    if not files:
        raise click.UsageError("; ".join(unreadable))
    found = check_files(files, allow_outside)
    if fix:
        _mend(files, allow_outside)
        found = check_files(files, allow_outside)
    if locked:
        from windtunnel.simulator.commands.locking import held_against_lock

        found = held_against_lock(files, found)
    found = Found(weighed(found.diagnostics, severities), found.sources, found.programs)
    _show(found, form, files)
    if form in ("full", "concise"):
        say(tally(found.diagnostics, len(files)))
    if unreadable:
        raise click.UsageError("; ".join(unreadable))
    counted = tuple(Severity) if strict else (Severity.ERROR, Severity.WARNING)
    if any(each.severity in counted for each in found.diagnostics):
        leave(FINDINGS)


def _readable(files: tuple[str, ...]) -> tuple[tuple[str, ...], list[str]]:
    """The files that can be opened, and why the others cannot: one of them hides nothing of the rest."""
    from windtunnel.simulator.commands.naming import readable

    opened: list[str] = []
    unreadable: list[str] = []
    for file in files:
        try:
            readable(file)
        except click.UsageError as problem:
            unreadable.append(problem.message)
        else:
            opened.append(file)
    return tuple(opened), unreadable


def _mend(files: tuple[str, ...], allow_outside: bool) -> None:
    from windtunnel.simulator.commands.console import say
    from windtunnel.simulator.commands.mending import mend_files

    mended = mend_files(files, allow_outside)
    for file, count in mended.applied.items():
        say(f"{file}: {count} fix{'' if count == 1 else 'es'} applied")
    for file in mended.left:
        say(f"{file}: left as it was, since its fixes would bring new errors to light")


def _show(found: Found, form: str, files: tuple[str, ...]) -> None:
    import json

    from windtunnel.dsl import concise, render
    from windtunnel.simulator.commands.console import show

    if form == "json":
        from windtunnel.simulator.report.findings import findings_json

        value = findings_json(found.diagnostics, found.sources)
        show(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    elif form == "sarif":
        from importlib.metadata import version

        from windtunnel.simulator.commands.loading import declared
        from windtunnel.simulator.report.sarif import sarif

        places = declared(files, found.programs)
        value = sarif(found.diagnostics, found.sources, places, version("windtunnel"))
        show(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    elif form == "github":
        from windtunnel.simulator.report.annotations import annotation

        for diagnostic in found.diagnostics:
            show(annotation(diagnostic, found.sources) + "\n")
    else:
        draw = render if form == "full" else concise
        gap = "\n\n" if form == "full" else "\n"
        for diagnostic in found.diagnostics:
            show(draw(diagnostic, found.sources) + gap)
