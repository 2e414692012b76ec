"""How a client puts parts of one row together: deltas at their offset, finals once, results where they
belong.
"""

from __future__ import annotations

from typing import Final

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.faults import Faults
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.parts import (
    ENDED_TOOL,
    Part,
    ReasoningPart,
    Row,
    RowStatus,
    TextPart,
    ToolPart,
    ToolState,
    close_part,
    json_value,
)

BAD_ENDS: Final[dict[str, RowStatus]] = {"error": "error", "aborted": "aborted"}


def kind_of(part: Part) -> str:
    """`text`, `reasoning` or `tool`."""
    if isinstance(part, ToolPart):
        return "tool"
    return "text" if isinstance(part, TextPart) else "reasoning"


def part_at(row: Row, kind: str, name: str) -> int:
    """Where the part of a kind with an id stands; -1 if the row has none."""
    for place in range(len(row.parts) - 1, -1, -1):
        if row.parts[place].id == name and kind_of(row.parts[place]) == kind:
            return place
    return -1


def same_kind(row: Row, kind: str) -> int:
    """One more than the place of the first part of a kind; 0 if the row has none."""
    return next((place for place, part in enumerate(row.parts, start=1) if kind_of(part) == kind), 0)


def add_delta(text: str, delta: str, offset: int | None, faults: Faults) -> str | None:
    """The text with a delta at its offset; None if something before it is missing.

    What the text has already is not added again, which is seen from the offset and never from the words.
    """
    if "C33" in faults and delta and text.endswith(delta):
        return text
    if offset is None or offset == len(text):
        return text + delta
    if offset > len(text):
        return None
    return text + delta[len(text) - offset :]


def finish_row(row: Row, status: str) -> Row:
    """The row when its run is over."""
    state: ToolState = "output-error" if status == "error" else "aborted"
    parts = tuple(close_part(part, state) for part in row.parts)
    return replace(row, parts=parts, status=BAD_ENDS.get(status, "done"))


def row_after_end(row: Row, stop: str | None) -> Row:
    """The row when its message is whole: it streams on while its tools run."""
    if stop in BAD_ENDS:
        return finish_row(row, stop)
    return replace(row, status="streaming" if row.pending else "done")


def merged(old: Part, new: Part) -> Part:
    """A part of the final over the part that was streamed: an ended tool and longer text stay."""
    if isinstance(old, ToolPart) and isinstance(new, ToolPart):
        return old if old.state in ENDED_TOOL else new
    if isinstance(old, TextPart) and isinstance(new, TextPart):
        return replace(new, text=old.text) if old.text.startswith(new.text) else new
    if isinstance(old, ReasoningPart) and isinstance(new, ReasoningPart):
        return replace(new, text=old.text) if old.text.startswith(new.text) else new
    return new


def counterparts(parts: tuple[Part, ...], final: tuple[Part, ...]) -> dict[int, int]:
    """For each part of the final the streamed part that it is: by kind and id, or else the next of its kind.

    A tool is found by its id alone.
    """
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for place, part in enumerate(final):
        for old_place, old in enumerate(parts):
            if old_place not in taken and old.id == part.id and kind_of(old) == kind_of(part):
                pairs[place] = old_place
                taken.add(old_place)
                break
    for place, part in enumerate(final):
        if place in pairs or isinstance(part, ToolPart):
            continue
        for old_place, old in enumerate(parts):
            if old_place not in taken and kind_of(old) == kind_of(part):
                pairs[place] = old_place
                taken.add(old_place)
                break
    return pairs


def adopt_final(row: Row, final: tuple[Part, ...], faults: Faults) -> Row:
    """The streaming row as its final says, in the order in which it was emitted.

    A part that the final does not mention stays where it is; one that was never streamed comes right after
    the part that precedes it in the final.
    """
    pairs = counterparts(row.parts, final)
    if "C18" in faults:
        pairs = {new: old for new, old in pairs.items() if kind_of(final[new]) != "reasoning"}
    streamed = {old: new for new, old in pairs.items()}
    parts = [
        (streamed.get(place, -1), merged(old, final[streamed[place]]) if place in streamed else old)
        for place, old in enumerate(row.parts)
    ]
    if "C10" in faults:
        parts = [
            (new, replace(part, text=part.text + part.text) if isinstance(part, TextPart) else part)
            for new, part in parts
        ]
    for new, part in enumerate(final):
        if new not in pairs:
            places = [place for place, (other, _) in enumerate(parts, start=1) if 0 <= other == new - 1]
            parts.insert(places[0] if places else 0, (new, part))
    return replace(row, parts=tuple(part for _, part in parts))


def replace_final(row: Row, final: tuple[Part, ...]) -> Row:
    """A row that was whole already as a later final says; tools that ended stay."""
    ended = {part.id: part for part in row.parts if isinstance(part, ToolPart) and part.state in ENDED_TOOL}
    parts = tuple(ended.get(part.id, part) if isinstance(part, ToolPart) else part for part in final)
    return replace(row, parts=parts)


def with_result(row: Row, body: wire.ToolResult, streams: bool) -> Row:
    """The row with a result at the call that asked for it; the first end of a call counts."""
    parts: list[Part] = []
    for part in row.parts:
        if isinstance(part, ToolPart) and part.id == body.call and part.state not in ENDED_TOOL:
            if body.is_error:
                value = json_value(body.output)
                words = value if isinstance(value, str) else body.output
                part = replace(part, state="output-error", partial="", error=words)
            else:
                part = replace(part, state="output-available", partial="", output=body.output)
        parts.append(part)
    row = replace(row, parts=tuple(parts))
    if row.status == "streaming" and not streams and not row.pending:
        return replace(row, status="done")
    return row
