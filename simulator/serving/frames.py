"""What goes down a stream, as frames of an SSE body. The id of an event's frame is its position."""

from __future__ import annotations

from typing import Final

from windtunnel.simulator.chat.chunks import encode_chunk, may_travel
from windtunnel.simulator.chat.parts import Json, json_text, json_value
from windtunnel.simulator.chat.requests import (
    Heartbeat,
    RawChunk,
    StreamClosed,
    StreamEvent,
    StreamMessage,
    StreamResync,
)

RESYNC: Final = "data-pi-resync"
HEARTBEAT: Final = "data-pi-heartbeat"
RUN: Final = "data-run"
"""Chunks beside the projection: where to start anew, where the stream is, how the workflow stands."""


def chunk(kind: str, data: Json) -> str:
    """A frame that carries no event."""
    return "data: " + json_text({"type": kind, "data": data}) + "\n\n"


def frame_of(message: StreamMessage) -> str:
    """A message of a stream as its frame."""
    match message:
        case StreamEvent(event):
            return f"id: {event.epoch}.{event.seq}\n{encode_chunk(event)}"
        case StreamResync(code, latest, first):
            return chunk(RESYNC, {"code": code, "latest": latest, "first": first})
        case Heartbeat(epoch, seq):
            return chunk(HEARTBEAT, {"epoch": epoch, "seq": seq})
        case StreamClosed(code):
            return "data: " + json_text({"type": "error", "errorText": code}) + "\n\n"
        case RawChunk(name, text):
            assert may_travel(name, True), f"{name} would speak for the assistant"
            return chunk(name, json_value(text))


def is_last(message: StreamMessage) -> bool:
    """Whether nothing comes after a message."""
    return isinstance(message, StreamClosed | StreamResync)
