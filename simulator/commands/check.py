"""`windtunnel check FILE…`."""

from __future__ import annotations

import click

from windtunnel.simulator.commands.options import outside_option


@click.command(name="check", epilog="Example: windtunnel check flows/*.flow --format concise")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(("full", "concise", "json")),
    default="full",
    show_default=True,
    help="full: with the source lines; concise: file:line:col code message; json: everything.",
)
@outside_option
def command(files: tuple[str, ...], form: str, allow_outside: bool) -> None:
    """Find mistakes in .flow files: all of them, in one go.

    Ends with 0 when there is nothing to mend, with 1 when there are errors or warnings. Hints alone are
    no reason to fail.
    """
    import json

    from windtunnel.dsl import Severity, concise, render
    from windtunnel.simulator.commands.console import FINDINGS, leave, say, show
    from windtunnel.simulator.commands.loading import check_files
    from windtunnel.simulator.report.findings import findings_json, tally

    checked = check_files(files, allow_outside)
    if form == "json":
        show(
            json.dumps(findings_json(checked.diagnostics, checked.sources), indent=2, ensure_ascii=False)
            + "\n"
        )
    else:
        draw = render if form == "full" else concise
        gap = "\n\n" if form == "full" else "\n"
        for diagnostic in checked.diagnostics:
            show(draw(diagnostic, checked.sources) + gap)
        say(tally(checked.diagnostics, len(files)))
    if any(each.severity in (Severity.ERROR, Severity.WARNING) for each in checked.diagnostics):
        leave(FINDINGS)
