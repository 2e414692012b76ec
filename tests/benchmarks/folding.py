"""How fast events fold into rows as a chat grows: `python -m tests.benchmarks.folding [EVENTS…]`."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from tests.benchmarks.measuring import Row, best, print_table
from tests.simulator.chat.session_files import session_file
from windtunnel.simulator.chat.importing import read_session, synthesise
from windtunnel.simulator.chat.logfile import read_log, write_log
from windtunnel.simulator.chat.reducer import reduce_event
from windtunnel.simulator.chat.rows import branch_rows, fold_log
from windtunnel.simulator.chat.view import ViewState
from windtunnel.simulator.chat.wire import Event

SIZES = (10_000, 20_000, 40_000)
LINES = 1_000
"""Lines of the session file that is imported."""


def fold(events: Iterable[Event]) -> ViewState:
    """The client's state after these events."""
    state = ViewState()
    for event in events:
        state = reduce_event(state, event)
    return state


def rows_of(size: int) -> list[Row]:
    """Fold the first so many events of a long session, and the log behind them."""
    imported = read_session(session_file(1, size // 5).text())
    events = synthesise(imported.path, 1)[:size]
    folding = best(lambda: fold(events), rounds=2)
    count = len(fold(events).rows)
    log = best(lambda: branch_rows(fold_log(imported.entries)), rounds=2)
    return [
        Row(
            f"fold {len(events):,} events", folding, f"{len(events) / folding:,.0f} events/s, {count:,} rows"
        ),
        Row(f"fold {len(imported.entries):,} entries", log, f"{len(imported.entries) / log:,.0f} entries/s"),
    ]


def import_rows() -> list[Row]:
    """Read a session file of about a thousand lines, and the log that comes of it."""
    text = session_file(1, LINES).text()
    log = write_log(read_session(text).entries)
    size = f"{len(text) / 1e6:.1f} MB"
    return [
        Row(f"import {LINES:,} lines", best(lambda: read_session(text)), size),
        Row("read its log cold", best(lambda: fold_log(read_log(log).entries))),
    ]


def main() -> None:
    """Print the table."""
    sizes = [int(argument) for argument in sys.argv[1:]] or list(SIZES)
    print_table("conversation", [row for size in sizes for row in rows_of(size)] + import_rows())


if __name__ == "__main__":
    main()
