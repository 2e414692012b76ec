"""Rows as words for a terminal: who said what, tools under their own answer, step prompts as compact
cards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from windtunnel.simulator.chat.parts import Part, ReasoningPart, Row, TextPart, ToolPart

WIDTH: Final = 100
"""How much of a thought, an input or an output is shown; texts are shown whole."""

STATES: Final = {
    "input-streaming": "is being called",
    "input-available": "runs",
    "output-available": "done",
    "output-error": "failed",
    "aborted": "aborted",
}


def plain(text: str) -> str:
    """The text without what a terminal would obey."""
    return "".join(
        char if char in "\n\t" or (ord(char) >= 32 and not 127 <= ord(char) < 160) else repr(char)[1:-1]
        for char in text.encode("utf-8", "backslashreplace").decode("utf-8")
    )


def short(text: str) -> str:
    """The text on one line, cut where it is long."""
    line = " ".join(plain(text).split())
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def part_lines(part: Part) -> Iterator[str]:
    """The lines of one part."""
    if isinstance(part, TextPart):
        yield from plain(part.text).split("\n")
    elif isinstance(part, ReasoningPart):
        yield f"· {short(part.text)}" if part.text.strip() else "· (a thought without words)"
    elif isinstance(part, ToolPart):
        yield f"⚙ {short(part.name)} {STATES[part.state]}: {short(part.input or part.partial)}"
        if part.output is not None or part.error is not None:
            yield f"  → {short(part.output if part.output is not None else part.error or '')}"


def row_lines(row: Row) -> Iterator[str]:
    """The lines of one row."""
    if row.step is not None:
        yield f"▶ {short(row.step.run)} › {short(row.step.node)}  ({row.step.completion}, {row.step.kind})"
        yield f"    {short(row.text)}"
        return
    ended = "" if row.status == "done" else f" ({row.status})"
    yield f"{row.role}{ended}:"
    for part in row.parts:
        yield from (f"    {line}".rstrip() for line in part_lines(part))


def transcript_text(rows: Iterable[Row]) -> str:
    """All rows, with an empty line between them."""
    return "\n".join("\n".join(row_lines(row)) + "\n" for row in rows)
