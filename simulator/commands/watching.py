"""The picture of a run on a terminal: with the path so far while it runs, and as it stands at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from windtunnel.compiler.drawing.marking import with_course
from windtunnel.compiler.drawing.sketch import picture_of
from windtunnel.compiler.drawing.terminal import COLUMNS, UNICODE, terminal_text
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.durable.driving import Place, snapshot_of
from windtunnel.simulator.durable.lines import written
from windtunnel.simulator.report.course import course_of
from windtunnel.simulator.store.interface import Store
from windtunnel.simulator.store.records import Claim, Line, RunRecord

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

PER_SECOND: Final = 8
"""How often the picture is drawn anew."""

SPARE: Final = 3
"""Lines of the terminal that the picture leaves free."""

_COLOURS: Final = {"taken": "green", "current": "bold blue", "failed": "red"}


def is_watched() -> bool:
    """Whether results go to a terminal that can draw anew, in colour or without."""
    return sys.stdout.isatty() and not _console().is_dumb_terminal


def frame(
    snapshot: Snapshot, trace: Sequence[Mapping[str, Any]], columns: int, lines: int, name: str = ""
) -> list[tuple[str, str]]:
    """A run so far in so many columns and lines: each line with its style.

    What does not fit is left out above and below the place where the run is; title and the name of the
    include stay.
    """
    drawn = with_course(picture_of(snapshot, "all"), course_of(trace, name))
    told = terminal_text(drawn, columns=min(columns, COLUMNS), legend=False).rstrip("\n").split("\n")
    head = told.index("")
    marks = {sign: status for status, sign in UNICODE.path.items()}
    here = [
        number for number, line in enumerate(told) if number > head and line[:1] == UNICODE.path["current"]
    ]
    taken = [number for number, line in enumerate(told) if number > head and marks.get(line[:1]) == "taken"]
    at = here[-1] if here else taken[-1] if taken else head
    kept = _window(told, head, at, max(lines, head + 5))
    return [(line, _COLOURS.get(marks.get(line[:1], ""), "") if line else "") for line in kept]


def _window(told: list[str], head: int, at: int, lines: int) -> list[str]:
    """The head, and as much around a line as there is room for."""
    if len(told) <= lines:
        return told
    room = lines - head - 1
    first = max(head, min(at - room // 2, len(told) - room))
    kept = told[first : first + room]
    named = [number for number in range(head, at + 1) if told[number].startswith(UNICODE.rule * 2)]
    if named and named[-1] < first:
        kept[0] = told[named[-1]]
    return [*told[:head], "", *kept]


def show_picture(snapshot: Snapshot, trace: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Show a run that is over, where a person watches."""
    if not as_json and is_watched():
        console = _console()
        console.print(_text(frame(snapshot, trace, console.width, console.height - SPARE)), soft_wrap=True)
        console.print()


@contextmanager
def watched(place: Place, run: str, *, as_json: bool) -> Iterator[Place]:
    """The place to run at; where a person watches, its store shows the picture as it goes on."""
    if as_json or not is_watched():
        yield place
        return
    from rich.live import Live

    record = place.store.run(run)
    snapshot = snapshot_of(place.store, record)
    lines = list(place.store.trace(record.run))
    console = _console()

    def drawn() -> Text:
        trace = written(record.run, tuple(lines))
        return _text(frame(snapshot, trace, console.width, console.height - SPARE, record.run))

    with Live(get_renderable=drawn, console=console, refresh_per_second=PER_SECOND):
        yield Place(cast(Store, Watched(place.store, lines)), place.path)
    console.print()


class Watched:
    """A store that notes what is added to the trace of the one run that goes on."""

    def __init__(self, store: Store, lines: list[Line]) -> None:
        self._store, self._lines = store, lines

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's."""
        return getattr(self._store, name)

    def commit(self, claim: Claim, lines: tuple[Line, ...]) -> RunRecord:
        """As the store does."""
        record = self._store.commit(claim, lines)
        self._lines += lines
        return record


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)


def _text(lines: list[tuple[str, str]]) -> Text:
    from rich.text import Text

    return Text("\n").join(Text(line, style, no_wrap=True, overflow="crop") for line, style in lines)
