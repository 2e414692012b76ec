"""`windtunnel answer STORE RUN [CHOICE]`."""

from __future__ import annotations

from typing import Any

import click


@click.command(name="answer", epilog="Example: windtunnel answer run.db run-1 approve")
@click.argument("store")
@click.argument("run")
@click.argument("choice", required=False)
@click.option("--value", metavar="JSON|@FILE", help="What the choice asks for, or a checkpoint's answer.")
@click.option(
    "--request",
    metavar="ATTEMPT|DIGEST",
    help="Answer this request only, not whichever is open; `runs --json` names them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the trace, one JSON event a line.")
def command(
    store: str, run: str, choice: str | None, value: str | None, request: str | None, as_json: bool
) -> None:
    """Answer the request of a run that waits; it goes on as a run that continues it.

    The first answer counts: the same again changes nothing, another one is refused, and so is one that comes
    when the time is up.
    """
    from windtunnel.compiler.canonical import canonical
    from windtunnel.simulator.commands.console import FINDINGS, leave, say
    from windtunnel.simulator.commands.input import json_value
    from windtunnel.simulator.commands.stored import GOOD, claimed, opened, tell_end
    from windtunnel.simulator.commands.watching import watched
    from windtunnel.simulator.durable.driving import NOTHING_ASKED, Answer, answer, repeats

    text = None if value is None else canonical(json_value(value))
    with opened(store) as place:
        record = place.store.run(run)
        _refuse_nothing(place.store.decisions(record.run), choice)
        given = Answer(choice, text, request)
        if record.status == "waiting":
            held = claimed(place, record.run)
            with watched(place, record.run, as_json=as_json) as seen:
                refused = answer(seen, held, given)
        else:
            refused = None if repeats(place.store, record.run, given) else NOTHING_ASKED
        if refused is not None:
            say(f"✗ {refused}")
            leave(FINDINGS)
        record = place.store.run(run)
        tell_end(place, record, as_json=as_json)
    if record.status not in GOOD:
        leave(FINDINGS)


def _refuse_nothing(decisions: Any, choice: str | None) -> None:
    """Say what can be chosen where nothing was."""
    from windtunnel.simulator.durable.lines import parsed

    if not decisions:
        raise click.UsageError("this run has asked for nothing")
    shown: Any = parsed(decisions[-1].request)
    listed = [str(one["id"]) for one in shown.get("choices", ())]
    if choice is None and listed:
        raise click.UsageError(f"say what you choose: {', '.join(listed)}")
