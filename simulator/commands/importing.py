"""`windtunnel import SESSION`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from windtunnel.simulator.commands.console import FINDINGS, leave, reason, say, show

MAX_SESSION: Final = 256 * 1024 * 1024
"""Bytes of a session file."""


def read_text(path: str) -> str:
    """The text of a session file; bytes that are no UTF-8 are replaced, and so told apart.

    Raises click's UsageError where it cannot be read or is too long.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_SESSION + 1)
    except (OSError, ValueError) as problem:
        why = reason(problem) if isinstance(problem, OSError) else "not a usable path"
        raise click.UsageError(f"cannot read {path!r}: {why}") from None
    if len(data) > MAX_SESSION:
        raise click.UsageError(f"{path} has more than {MAX_SESSION:,} bytes")
    return data.decode("utf-8", "replace")


@click.command(name="import", epilog="Example: windtunnel import session.jsonl --json")
@click.argument("file", metavar="SESSION")
@click.option("--json", "as_json", is_flag=True, help="The rows as JSON, with all that could not be read.")
@click.option("--events", is_flag=True, help="A stream that the session could have had, as chunks.")
@click.option("--seed", type=int, default=1, show_default=True, help="How --events cuts the texts.")
def command(file: str, as_json: bool, events: bool, seed: int) -> None:
    """Read an agent's session file (versions 1, 2 and 3) and show the rows of its current branch.

    Lines that are damaged are told and skipped; calls without a result are settled where their run ended.
    Ends with 1 when something could not be read.
    """
    from windtunnel.simulator.chat.chunks import encode_chunk
    from windtunnel.simulator.chat.importing import read_session, synthesise
    from windtunnel.simulator.chat.parts import json_text, row_json
    from windtunnel.simulator.chat.rows import branch_rows, fold_log
    from windtunnel.simulator.chat.transcript import plain, transcript_text

    imported = read_session(read_text(file))
    rows = branch_rows(fold_log(imported.entries))
    if events:
        for event in synthesise(imported.path, seed):
            show(encode_chunk(event))
    elif as_json:
        data = {
            "session": imported.session,
            "version": imported.version,
            "rows": [row_json(row) for row in rows],
            "skipped": dict(imported.skipped),
            "problems": [{"line": each.line, "message": each.message} for each in imported.problems],
        }
        show(json_text(data) + "\n")
    else:
        show(transcript_text(rows))
    for problem in imported.problems:
        say(f"{file}:{problem.line}: {plain(problem.message)}")
    skipped = "".join(f", {count} × {plain(kind)} without a row" for kind, count in imported.skipped)
    say(f"{len(rows)} rows of a version {imported.version} session{skipped}")
    if imported.problems:
        leave(FINDINGS)
