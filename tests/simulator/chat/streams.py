"""Short ways to write streams, logs and states in tests."""

from __future__ import annotations

from collections.abc import Iterable

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.parts import Part, Row, TextPart, ToolPart
from windtunnel.simulator.chat.reducer import reduce_event
from windtunnel.simulator.chat.view import ViewState, seen_live


def numbered(bodies: Iterable[wire.EventBody], start: int = 1, epoch: int = 1) -> tuple[wire.Event, ...]:
    """Events with positions from `start` on."""
    return tuple(wire.Event(epoch, seq, body) for seq, body in enumerate(bodies, start=start))


def fold(*bodies: wire.EventBody, state: ViewState | None = None) -> ViewState:
    """The state after these events, each with the next position."""
    state = ViewState() if state is None else state
    for event in numbered(bodies, state.last + 1, state.epoch):
        state = reduce_event(state, event)
    return state


def rows(state: ViewState) -> tuple[Row, ...]:
    """All rows, the streaming one too."""
    return seen_live(state).rows


def row(state: ViewState, name: str) -> Row:
    """The row with an id."""
    return next(each for each in rows(state) if each.id == name)


def user(
    name: str, nonce: str | None = None, text: str = "hi", turn: str | None = "t1", at: int = 0
) -> wire.EventBody:
    """A user message starts."""
    return wire.MessageStart(name, "user", turn, nonce, text, at=at)


def assistant(name: str, turn: str | None = "t1") -> wire.EventBody:
    """An assistant message starts."""
    return wire.MessageStart(name, "assistant", turn)


def end(name: str, *parts: Part, turn: str | None = "t1", stop: str | None = "stop") -> wire.EventBody:
    """An assistant message ends."""
    return wire.MessageEnd(name, "assistant", wire.Whole(name, "assistant", parts), turn, stop)


def text(name: str, delta: str, part: str = "p1", offset: int | None = None) -> wire.EventBody:
    """More text."""
    return wire.ProseDelta("text", name, part, delta, offset)


def thought(name: str, delta: str, part: str = "p0", offset: int | None = None) -> wire.EventBody:
    """More reasoning."""
    return wire.ProseDelta("reasoning", name, part, delta, offset)


def call(name: str, tool: str = "call-1") -> tuple[wire.EventBody, ...]:
    """A whole tool call."""
    return wire.ToolCallStart(name, tool, "look"), wire.ToolCallEnd(name, tool, "{}")


def tool(state: ViewState, name: str, tool_id: str = "call-1") -> ToolPart:
    """A tool part."""
    return next(part for part in row(state, name).parts if isinstance(part, ToolPart) and part.id == tool_id)


def texts(state: ViewState) -> list[tuple[str, str]]:
    """Roles and texts."""
    return [(each.role, each.text) for each in rows(state)]


def says(name: str, words: str, turn: str = "t1", part: str = "p1") -> tuple[wire.EventBody, ...]:
    """A whole assistant message of one text."""
    return assistant(name, turn), text(name, words, part), end(name, TextPart(part, words), turn=turn)
