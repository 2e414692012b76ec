"""`windtunnel explore FILE`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from windtunnel.simulator.commands.options import hosting_options, input_option, outside_option, report_option

if TYPE_CHECKING:
    from pydantic import JsonValue

    from windtunnel.compiler.snapshot import Snapshot
    from windtunnel.simulator.operations import Exploration

_COUNT = click.IntRange(min=0, max=1_000)
_SEED = click.IntRange(min=0)


@click.command(name="explore", epilog="Example: windtunnel explore builtin:autoplan --faults 2")
@click.argument("file", required=False)
@click.option(
    "--faults", type=_COUNT, metavar="N", default=2, show_default="2", help="Faults of all kinds together."
)
@click.option("--crashes", type=_COUNT, metavar="N", help="At most N of them crashes.")
@click.option("--duplicates", type=_COUNT, metavar="N", help="At most N of them repeated messages.")
@click.option(
    "--provider-faults", type=_COUNT, metavar="N", help="At most N of them deviations of the model."
)
@click.option("--fault", metavar="ID", help="Put a known bug back, to see it found; FILE may be left out.")
@click.option(
    "--seed", type=_SEED, metavar="N", default=0, help="Where random runs begin if a search is too large."
)
@click.option(
    "--states",
    type=click.IntRange(min=1),
    metavar="N",
    default=None,
    help="Look at about N states at most; then say that not everything was tried.",
)
@hosting_options
@input_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@report_option
@outside_option
def command(
    file: str | None,
    faults: int,
    crashes: int | None,
    duplicates: int | None,
    provider_faults: int | None,
    fault: str | None,
    seed: int,
    states: int | None,
    host: str,
    origin: bool,
    second_host: bool,
    also: tuple[str, ...],
    given: str | None,
    as_json: bool,
    report: str | None,
    allow_outside: bool,
) -> None:
    """Try every schedule of a workflow with up to N faults.

    A fault is a crash, a deviation of the model, a repeated message, or a person who interferes. Ends with a
    proof within these bounds, or with the shortest story of what breaks and a token that replays it; then the
    exit code is 1.
    """
    if file is None and fault is None:
        raise click.UsageError("name a FILE to explore, or a --fault whose own small world is explored")
    if file is None and given is not None:
        raise click.UsageError("an --input needs the FILE that it is for")
    if fault is not None and fault.startswith("C"):
        from windtunnel.simulator.chat.faults import CHAT_FAULTS
        from windtunnel.simulator.commands.conversing import hunt_in_conversation

        if fault in CHAT_FAULTS and file is not None:
            raise click.UsageError(f"{fault} is a bug of the conversation: leave the FILE out")
        if fault in CHAT_FAULTS:
            if report is not None:
                raise click.UsageError(f"--report shows workflows; {fault} is a bug of the conversation")
            hunt_in_conversation(fault, states, as_json=as_json)
            return
    import json
    import time  # noqa: TID251
    from dataclasses import replace

    from windtunnel.simulator.commands.console import FINDINGS, leave, show
    from windtunnel.simulator.commands.input import run_input
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.progress import progress_bar
    from windtunnel.simulator.commands.refusing import refusals
    from windtunnel.simulator.commands.reporting import checked_name
    from windtunnel.simulator.operations import explore

    checked_name(report)
    snapshot = None if file is None else load_snapshot(file, allow_outside)
    run = None if snapshot is None or given is None else run_input(snapshot, given)
    began = time.monotonic()
    with refusals(), progress_bar(faults) as progress:
        found = explore(
            snapshot,
            input=run,
            faults=faults,
            crashes=crashes,
            duplicates=duplicates,
            provider_faults=provider_faults,
            fault=fault,
            seed=seed,
            states=states,
            progress=progress,
            reference=file,
            host=host,
            origin=origin,
            second_host=second_host,
            also=also,
        )
    found = replace(found, seconds=round(time.monotonic() - began, 3))
    if as_json:
        show(json.dumps(found.to_json(), indent=2, ensure_ascii=False) + "\n")
    else:
        _tell(found, allow_outside)
    if report is not None:
        _report(report, found, snapshot, file, run, allow_outside)
    if found.violations:
        leave(FINDINGS)


def _report(
    report: str,
    found: Exploration,
    snapshot: Snapshot | None,
    file: str | None,
    input: JsonValue,
    allow_outside: bool,
) -> None:
    """The page of the first violation; of the run without faults where there is none."""
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.reporting import report_run, report_token, texts_for
    from windtunnel.simulator.operations import replay, simulate
    from windtunnel.simulator.report.summary import verdict

    said = verdict(found.to_json())
    if found.violations:
        first = found.violations[0]
        broken = replay(first.token, lambda name: load_snapshot(name, allow_outside))
        report_token(report, broken, first.token, allow_outside, (said,))
    elif snapshot is not None and file is not None:
        notes = (said, "This is the run without faults.")
        texts = texts_for(file, snapshot, allow_outside)
        again = f"windtunnel run {shlex.quote(file)}"
        report_run(report, simulate(snapshot, input), snapshot, texts, again, notes)


def _tell(found: Exploration, allow_outside: bool) -> None:
    """The summary, and the story of the first violation."""
    from windtunnel.simulator.commands.console import show
    from windtunnel.simulator.commands.loading import load_snapshot
    from windtunnel.simulator.commands.telling import tell_story
    from windtunnel.simulator.operations import replay
    from windtunnel.simulator.report.folding import folded
    from windtunnel.simulator.report.summary import exploration

    show(exploration(found.to_json()))
    if found.violations:
        first = found.violations[0]
        show(f"\nHow it comes to “{first.invariant}”:\n\n")
        run = replay(first.token, lambda file: load_snapshot(file, allow_outside))
        tell_story(folded(run.events, keep_last=True))
