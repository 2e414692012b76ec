"""The message that streams: deltas extend it, ends close its parts, the final is merged into it.

A final is authoritative, but it never loses text that was sent already: where it holds only the beginning of
what was streamed, the longer text stays; a part that it does not mention stays as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.parts import (
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
    ToolState,
    close_part,
    sound_json,
)
from windtunnel.simulator.chat.turns import Content, ModelDelta, ModelPartEnd


@dataclass(frozen=True, slots=True)
class Opened:
    """A message that streams. `places[i]` says where `parts[i]` stands in the model's content: index and
    kind.
    """

    id: str
    turn: str
    parts: tuple[Part, ...] = ()
    places: tuple[tuple[int, str], ...] = ()
    ended: frozenset[int] = frozenset()
    at: int = 0


def with_part(opened: Opened, place: int, part: Part) -> Opened:
    """The message with another content at a place."""
    return replace(opened, parts=(*opened.parts[:place], part, *opened.parts[place + 1 :]))


def place_of(opened: Opened, index: int) -> int:
    """Where the content at an index stands; -1 if it has not begun."""
    found = [place for place, (at, _) in enumerate(opened.places) if at == index]
    return found[-1] if found else -1


def new_part(opened: Opened, kind: str, index: int, tool: str, name: str, place: int) -> Opened:
    """The message with one more part at a place. Its id is minted here and kept for good.

    A model that names two calls alike still has two calls.
    """
    taken = {part.id for part in opened.parts}
    part: Part
    if kind == "tool":
        tool = tool or "call"
        count = 1 + sum(each == tool or each.startswith(f"{tool}~") for each in taken)
        part = ToolPart(tool if count == 1 else f"{tool}~{count}", name)
    else:
        minted = f"p{len(opened.parts) + 1}"
        part = TextPart(minted) if kind == "text" else ReasoningPart(minted)
    parts = (*opened.parts[:place], part, *opened.parts[place:])
    return replace(
        opened, parts=parts, places=(*opened.places[:place], (index, kind), *opened.places[place:])
    )


def place_in_final(opened: Opened, index: int) -> int:
    """Where content that was never streamed goes: after the last that stands before it."""
    before = [place for place, (at, _) in enumerate(opened.places, start=1) if at < index]
    return max(before, default=0)


def extend(opened: Opened, delta: ModelDelta) -> tuple[Opened, tuple[wire.EventBody, ...]]:
    """The message with one more delta, and the events that say so. A part that ended takes no more."""
    if delta.index in opened.ended:
        return opened, ()
    events: list[wire.EventBody] = []
    key = (delta.index, delta.kind)
    if key not in opened.places:
        opened = new_part(opened, delta.kind, delta.index, delta.tool, delta.name, len(opened.parts))
        events.append(start_event(opened.id, opened.parts[-1]))
    place = opened.places.index(key)
    part = opened.parts[place]
    if isinstance(part, ToolPart):
        events.append(wire.ToolCallDelta(opened.id, part.id, delta.text, len(part.partial)))
        return with_part(opened, place, replace(part, partial=part.partial + delta.text)), tuple(events)
    kind: wire.Prose = "text" if isinstance(part, TextPart) else "reasoning"
    events.append(wire.ProseDelta(kind, opened.id, part.id, delta.text, len(part.text)))
    return with_part(opened, place, replace(part, text=part.text + delta.text)), tuple(events)


def start_event(message: str, part: Part) -> wire.EventBody:
    """The event that says that a part begins."""
    if isinstance(part, ToolPart):
        return wire.ToolCallStart(message, part.id, part.name)
    return wire.ProseStart("text" if isinstance(part, TextPart) else "reasoning", message, part.id)


def end_part(opened: Opened, end: ModelPartEnd) -> tuple[Opened, tuple[wire.EventBody, ...]]:
    """The message with a part that is whole, and the event that says so."""
    place = place_of(opened, end.index)
    if place < 0 or end.index in opened.ended:
        return opened, ()
    opened = replace(opened, ended=opened.ended | {end.index})
    part = opened.parts[place]
    if isinstance(part, ToolPart):
        given = sound_json(end.input)
        whole: Part = replace(part, state="input-available", input=given, partial="")
        return with_part(opened, place, whole), (wire.ToolCallEnd(opened.id, part.id, given),)
    if isinstance(part, ReasoningPart):
        done = replace(part, state="done")
        return with_part(opened, place, done), (wire.ProseEnd("reasoning", opened.id, part.id, part.text),)
    return opened, (wire.ProseEnd("text", opened.id, part.id, part.text),)


def longer(streamed: str, final: str) -> str:
    """The final text, unless it is only the beginning of what was streamed."""
    return streamed if streamed.startswith(final) else final


def merge(opened: Opened, contents: tuple[Content, ...]) -> Opened:
    """The message as its final says, with every part whole."""
    for index, content in enumerate(contents):
        key = (index, content.kind)
        if key not in opened.places:
            free = place_in_final(opened, index)
            opened = new_part(opened, content.kind, index, content.tool, content.name, free)
        place = opened.places.index(key)
        part = opened.parts[place]
        if isinstance(part, ToolPart):
            if part.state in ("input-streaming", "input-available"):
                part = replace(part, state="input-available", input=sound_json(content.text), partial="")
        else:
            part = replace(part, text=longer(part.text, content.text))
        opened = with_part(opened, place, part)
    whole = tuple(close_part(part, "aborted") if not callable_part(part) else part for part in opened.parts)
    return replace(opened, parts=whole)


def callable_part(part: Part) -> bool:
    """Whether a part is a call that is ready to run."""
    return isinstance(part, ToolPart) and part.state == "input-available"


def close_parts(parts: tuple[Part, ...], status: str) -> tuple[Part, ...]:
    """The parts of a message that will not go on."""
    state: ToolState = "output-error" if status == "error" else "aborted"
    return tuple(close_part(part, state) for part in parts)
