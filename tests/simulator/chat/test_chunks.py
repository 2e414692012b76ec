"""Events on the wire: names of chunks, JSON and back, torn frames, what else may travel."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.chat.test_logfile import ANY_WORDS, ITEMS, JSON, PARTS, STEPS, WORDS
from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.chunks import (
    chunk_name,
    decode_chunk,
    encode_chunk,
    event_json,
    event_of,
    may_travel,
)
from windtunnel.simulator.chat.parts import BadJson, TextPart

PROSE = st.sampled_from(["text", "reasoning"])
ROLES = st.sampled_from(["user", "assistant"])
MAYBE = st.none() | WORDS
BODIES = st.one_of(
    st.builds(wire.Mode, st.booleans()),
    st.builds(wire.AgentStart, MAYBE),
    st.builds(wire.AgentEnd, st.sampled_from(["ok", "error", "aborted"]), MAYBE),
    st.builds(
        wire.MessageStart,
        WORDS,
        ROLES,
        MAYBE,
        MAYBE,
        st.none() | ANY_WORDS,
        st.none() | STEPS,
        st.integers(0, 9),
    ),
    st.builds(wire.MessageEnd, WORDS, ROLES, st.builds(wire.Whole, WORDS, ROLES, PARTS), MAYBE, MAYBE),
    st.builds(wire.ProseStart, PROSE, WORDS, WORDS),
    st.builds(wire.ProseDelta, PROSE, WORDS, WORDS, ANY_WORDS, st.none() | st.integers(0, 9)),
    st.builds(wire.ProseEnd, PROSE, WORDS, WORDS, st.none() | ANY_WORDS),
    st.builds(wire.ToolCallStart, WORDS, WORDS, WORDS),
    st.builds(wire.ToolCallDelta, WORDS, WORDS, ANY_WORDS, st.none() | st.integers(0, 9)),
    st.builds(wire.ToolCallEnd, WORDS, WORDS, JSON),
    st.builds(wire.ToolResult, WORDS, WORDS, JSON, st.booleans()),
    st.builds(wire.QueueUpdated, st.lists(ITEMS, max_size=2).map(tuple), st.booleans()),
    st.builds(wire.FollowupConsumed, WORDS, MAYBE),
    st.builds(wire.RetryStart, st.integers(1, 9), st.integers(1, 9), MAYBE),
    st.builds(wire.RetryEnd, st.integers(1, 9), WORDS, MAYBE),
    st.builds(wire.Error, WORDS, MAYBE, WORDS),
)
EVENTS = st.builds(wire.Event, st.integers(1, 9), st.integers(1, 99), BODIES)


@given(EVENTS)
@settings(max_examples=200, deadline=None)
def test_an_event_travels_and_comes_back(event: wire.Event) -> None:
    """A48, A74b, A196: one frame each, with seq and epoch; decoded it is equal."""
    frame = encode_chunk(event)
    assert frame.count("\n") == 2
    assert decode_chunk(frame) == event


@given(EVENTS, st.integers(0, 200))
@settings(max_examples=100, deadline=None)
def test_a_torn_frame_is_no_event(event: wire.Event, cut: int) -> None:
    """F32: a frame that was cut off is refused, never half read."""
    frame = encode_chunk(event)
    with pytest.raises(BadJson):
        decode_chunk(frame[: cut % len(frame)])


NAMES: dict[str, wire.EventBody] = {
    "data-pi-mode": wire.Mode(),
    "data-pi-agent-start": wire.AgentStart(),
    "data-pi-agent-end": wire.AgentEnd(),
    "data-pi-message-start": wire.MessageStart("m", "user"),
    "data-pi-message-end": wire.MessageEnd("m", "user", wire.Whole("m", "user", ())),
    "data-pi-queue-updated": wire.QueueUpdated(()),
    "data-pi-error": wire.Error("x"),
}
UPDATES = (
    wire.ProseStart("text", "m", "p"),
    wire.ProseDelta("reasoning", "m", "p", "x"),
    wire.ToolCallStart("m", "c", "look"),
    wire.ToolResult("m", "c", "1"),
)


def test_names_of_chunks() -> None:
    """A103, A104, A105, A106, A107: start, end and status have a name each, all between is an update."""
    assert {name: chunk_name(body) for name, body in NAMES.items()} == {name: name for name in NAMES}
    assert {chunk_name(body) for body in UPDATES} == {"data-pi-message-update"}


def test_the_fields_of_the_contract() -> None:
    """A78–A98: the JSON of each kind, as a client of another make reads it."""
    whole = wire.Whole("m", "assistant", (TextPart("p", "x"),))
    table: dict[str, tuple[wire.EventBody, dict[str, object]]] = {
        "pi-mode": (wire.Mode(), {"enabled": True}),
        "pi-message-start": (
            wire.MessageStart("m", "user", "t", "n", "hi"),
            {"messageId": "m", "role": "user", "turnId": "t", "clientNonce": "n", "text": "hi"},
        ),
        "pi-message-end": (
            wire.MessageEnd("m", "assistant", whole),
            {
                "messageId": "m",
                "role": "assistant",
                "final": {
                    "id": "m",
                    "role": "assistant",
                    "parts": [{"type": "text", "id": "p", "text": "x"}],
                },
            },
        ),
        "pi-text-delta": (
            wire.ProseDelta("text", "m", "p", "x", 0),
            {"messageId": "m", "partId": "p", "delta": "x", "offset": 0},
        ),
        "pi-reasoning-end": (
            wire.ProseEnd("reasoning", "m", "p", "x"),
            {"messageId": "m", "partId": "p", "text": "x"},
        ),
        "pi-tool-call-start": (
            wire.ToolCallStart("m", "c", "look"),
            {"messageId": "m", "toolCallId": "c", "toolName": "look"},
        ),
        "pi-tool-call-end": (
            wire.ToolCallEnd("m", "c", '{"a":null}'),
            {"messageId": "m", "toolCallId": "c", "input": {"a": None}},
        ),
        "pi-tool-result": (
            wire.ToolResult("m", "c", "null", True),
            {"messageId": "m", "toolCallId": "c", "output": None, "isError": True},
        ),
    }
    for kind, (body, fields) in table.items():
        assert event_json(wire.Event(1, 7, body)) == {"type": kind, "seq": 7, "epoch": 1} | fields


def test_unknown_fields_and_kinds() -> None:
    """An unknown field is ignored; an unknown kind is an event that says so; a missing field is refused."""
    known = {"type": "pi-agent-start", "seq": 1, "epoch": 1, "mood": "good"}
    assert event_of(known) == wire.Event(1, 1, wire.AgentStart())
    assert event_of({"type": "pi-new", "seq": 2, "epoch": 1}).body == wire.Unknown("pi-new")
    for broken in (
        {"type": "pi-text-start", "seq": 1, "epoch": 1},
        {"type": "pi-mode"},
        {"type": 3, "seq": {}},
    ):
        with pytest.raises(BadJson):
            event_of(broken)
    assert decode_chunk('data: {"type":"text-delta","delta":"x"}\n\n') is None


CONTENT = (
    "text-start",
    "text-delta",
    "text-end",
    "reasoning-delta",
    "tool-input-start",
    "tool-output-available",
)
BESIDE = ("data-weather", "data-pi-mode", "start", "finish", "error", "abort", "message-metadata")


def test_what_may_travel_while_the_mode_is_on() -> None:
    """A63, A109, A109b, A219, S53: data, status, finish and error; nothing that speaks for the assistant."""
    assert [name for name in (*CONTENT, *BESIDE) if may_travel(name, mode=True)] == list(BESIDE)
    assert all(may_travel(name, mode=False) for name in (*CONTENT, *BESIDE))
