"""Events as JSON and as chunks of an SSE body, and what else may travel beside them."""

from __future__ import annotations

from typing import Any, Final

from windtunnel.simulator.chat.parts import (
    BadJson,
    Json,
    Step,
    item_json,
    item_of,
    json_text,
    json_value,
    part_json,
    part_of,
    step_json,
    step_of,
    text_at,
)
from windtunnel.simulator.chat.wire import (
    AgentEnd,
    AgentStart,
    Error,
    Event,
    EventBody,
    FollowupConsumed,
    MessageEnd,
    MessageStart,
    Mode,
    ProseDelta,
    ProseEnd,
    ProseStart,
    QueueUpdated,
    RetryEnd,
    RetryStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolResult,
    Unknown,
    Whole,
)

# --- JSON ---------------------------------------------------------------------------------------------------

KINDS: Final[dict[str, type[Any]]] = {
    "pi-mode": Mode,
    "pi-agent-start": AgentStart,
    "pi-agent-end": AgentEnd,
    "pi-message-start": MessageStart,
    "pi-message-end": MessageEnd,
    "pi-text-start": ProseStart,
    "pi-text-delta": ProseDelta,
    "pi-text-end": ProseEnd,
    "pi-reasoning-start": ProseStart,
    "pi-reasoning-delta": ProseDelta,
    "pi-reasoning-end": ProseEnd,
    "pi-tool-call-start": ToolCallStart,
    "pi-tool-call-delta": ToolCallDelta,
    "pi-tool-call-end": ToolCallEnd,
    "pi-tool-result": ToolResult,
    "pi-queue-updated": QueueUpdated,
    "pi-followup-consumed": FollowupConsumed,
    "pi-retry-start": RetryStart,
    "pi-retry-end": RetryEnd,
    "pi-error": Error,
}
"""Every type of event on the wire."""

TYPES: Final[dict[type[Any], str]] = {
    made: name for name, made in KINDS.items() if not name.startswith(("pi-text", "pi-reasoning"))
}
PROSE_ENDINGS: Final = {ProseStart: "start", ProseDelta: "delta", ProseEnd: "end"}

OUTER: Final = {
    "message": "messageId",
    "part": "partId",
    "call": "toolCallId",
    "name": "toolName",
    "nonce": "clientNonce",
    "turn": "turnId",
    "is_error": "isError",
    "delay_ms": "delayMs",
}
"""How a field is called on the wire, where that differs."""


def kind_of(body: EventBody) -> str:
    """The type of an event on the wire."""
    if isinstance(body, ProseStart | ProseDelta | ProseEnd):
        return f"pi-{body.kind}-{PROSE_ENDINGS[type(body)]}"
    return body.kind if isinstance(body, Unknown) else TYPES[type(body)]


def outer_name(body_type: type[Any], name: str) -> str:
    """A field's name on the wire; the message of an error is words, not an id."""
    return name if body_type is Error and name == "message" else OUTER.get(name, name)


def value_json(name: str, value: Any) -> Any:
    """A field's value as JSON."""
    if name in ("input", "output"):
        return json_value(value)
    if isinstance(value, Whole):
        return {"id": value.id, "role": value.role, "parts": [part_json(part) for part in value.parts]}
    if isinstance(value, Step):
        return step_json(value)
    if name == "queue":
        return [item_json(item) for item in value]
    return value


def value_of(name: str, data: Json, key: str) -> Any:
    """A field's value from JSON."""
    value = data[key]
    if name in ("input", "output"):
        return text_at(data, key)
    if name == "final":
        return Whole(value["id"], value["role"], tuple(part_of(part) for part in value["parts"]))
    if name == "step":
        return step_of(value)
    if name == "queue":
        return tuple(item_of(item) for item in value)
    return value


def event_json(event: Event) -> Json:
    """An event as JSON; fields that say nothing are left out."""
    body = event.body
    data: Json = {"type": kind_of(body), "seq": event.seq, "epoch": event.epoch}
    fields: tuple[str, ...] = () if isinstance(body, Unknown) else body.__slots__
    for name in fields:
        value = getattr(body, name)
        if name != "kind" and value is not None and (name != "at" or value):
            data[outer_name(type(body), name)] = value_json(name, value)
    return data


def event_of(data: Json) -> Event:
    """The event that JSON holds; raises BadJson where fields are missing or of another shape."""
    try:
        kind, position = data["type"], (data["epoch"], data["seq"])
        made = KINDS.get(kind)
        if made is None:
            return Event(*position, Unknown(kind))
        found: Json = {"kind": kind.split("-")[1]} if made in PROSE_ENDINGS else {}
        for name in made.__slots__:
            key = outer_name(made, name)
            if name != "kind" and data.get(key, data) is not data:
                found[name] = value_of(name, data, key)
        event = Event(*position, made(**found))
        hash(event)  # What is no text or number where one belongs cannot be hashed.
    except (KeyError, TypeError, AttributeError) as problem:
        raise BadJson(f"no event of the stream: {problem}") from None
    return event


# --- chunks -------------------------------------------------------------------------------------------------

OWN_CHUNK: Final = (
    "pi-mode",
    "pi-agent-start",
    "pi-agent-end",
    "pi-message-start",
    "pi-message-end",
    "pi-queue-updated",
    "pi-followup-consumed",
    "pi-retry-start",
    "pi-retry-end",
    "pi-error",
)
"""The events that travel under their own name; whatever changes a message travels as an update."""

UPDATE: Final = "data-pi-message-update"

BESIDE: Final = frozenset(
    {"start", "finish", "start-step", "finish-step", "message-metadata", "error", "abort"}
)
"""Transport chunks that may travel while the mode is on, besides those named `data-…`."""


def chunk_name(body: EventBody) -> str:
    """The name of the chunk that carries an event."""
    kind = kind_of(body)
    return f"data-{kind}" if kind in OWN_CHUNK or isinstance(body, Unknown) else UPDATE


def encode_chunk(event: Event) -> str:
    """An event as one frame of an SSE body."""
    return "data: " + json_text({"type": chunk_name(event.body), "data": event_json(event)}) + "\n\n"


def decode_chunk(frame: str) -> Event | None:
    """The event in a frame; None for a chunk that is not of the projection; raises BadJson for a torn one."""
    if not frame.startswith("data: ") or not frame.endswith("\n\n"):
        raise BadJson("no whole frame")
    chunk = json_value(frame[len("data: ") :])
    if not isinstance(chunk, dict) or not str(chunk.get("type")).startswith("data-pi-"):
        return None
    return event_of(chunk["data"])


def may_travel(chunk: str, mode: bool) -> bool:
    """Whether a chunk of the transport may be sent: in the mode, none that says something for the
    assistant.
    """
    return not mode or chunk.startswith("data-") or chunk in BESIDE
