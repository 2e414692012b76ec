"""What the model is given: the current branch after its last compaction, with calls and results in pairs.

The log keeps what happened; this view is what a strict provider accepts. A call without a result gets one
that says so, a result without its call is left out, and a message that ended badly is left out with all its
results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from windtunnel.simulator.chat.entries import Compacted, Entry, path_of
from windtunnel.simulator.chat.parts import Row, ToolPart
from windtunnel.simulator.chat.rows import branch_rows, fold_log

INTERRUPTED: Final = "interrupted by the user"
"""The result of a call that never ended."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message: `calls` are the ids of the tool calls in it."""

    role: str
    text: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call."""

    call: str
    output: str
    is_error: bool = False


ContextItem: TypeAlias = Said | Result


def result_of(part: ToolPart) -> Result:
    """The result that the model reads for a call."""
    if part.state == "output-available":
        return Result(part.id, part.output or "null")
    return Result(part.id, part.error or INTERRUPTED, True)


def context_of(rows: tuple[Row, ...]) -> tuple[ContextItem, ...]:
    """What the model reads for these rows."""
    items: list[ContextItem] = []
    for row in rows:
        calls = tuple(part for part in row.parts if isinstance(part, ToolPart))
        if row.role == "assistant" and (row.status == "error" or not (calls or row.text)):
            continue
        items.append(Said(row.role, row.text, tuple(part.id for part in calls)))
        items += [result_of(part) for part in calls]
    return tuple(items)


def context_of_log(entries: tuple[Entry, ...]) -> tuple[ContextItem, ...]:
    """The context of the next request of a session, by its log."""
    transcript = fold_log(entries)
    rows = branch_rows(transcript)
    path = path_of(entries, transcript.leaf)
    compactions = [place for place, entry in enumerate(path) if isinstance(entry.body, Compacted)]
    if not compactions:
        return context_of(rows)
    body = path[compactions[-1]].body
    assert isinstance(body, Compacted), "a compaction was looked for"
    ids = [entry.id for entry in path]
    first = ids.index(body.first_kept) if body.first_kept in ids else compactions[-1]
    kept = frozenset(ids[first:])
    return (Said("user", body.summary), *context_of(tuple(row for row in rows if row.id in kept)))


def unpaired(items: tuple[ContextItem, ...]) -> tuple[str, ...]:
    """The calls without a result right after them and the results without a call: a strict provider refuses
    any.
    """
    open_calls: list[str] = []
    found: list[str] = []
    for item in items:
        if isinstance(item, Result):
            if item.call in open_calls:
                open_calls.remove(item.call)
            else:
                found.append(item.call)
            continue
        found += open_calls
        open_calls = list(item.calls)
    return tuple(found + open_calls)
