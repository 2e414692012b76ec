"""Payloads to text and back."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from windtunnel.compiler.canonical import canonical
from windtunnel.simulator.events import Event, Json, Mark, Payload, Record, Value
from windtunnel.simulator.store.values import INLINE, pack, payload_json, sha256, sorted_event, unpack

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def fields(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Payload]:
    """Payloads without a key twice."""
    return st.dictionaries(TEXTS, inner, max_size=4).map(lambda found: tuple(found.items()))


VALUES: st.SearchStrategy[Value] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | TEXTS
    | TEXTS.map(lambda text: text * 400)
    | JSON_VALUES.map(lambda value: Json(canonical(value)))
    | JSON_VALUES.map(lambda value: Json(canonical([value] * 300)))
    | TEXTS.map(Mark),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | fields(inner).map(Record),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(fields(VALUES))
def test_nothing_is_lost(payload: Payload) -> None:
    """Every payload comes back as it was, sorted, whatever it holds and however large it is."""
    packed = pack(payload)
    back = unpack(packed.payload, packed.kinds, packed.contents.__getitem__)
    assert back == sorted_event(Event("run", "any", payload=payload)).payload


def test_a_large_value_stands_under_its_address() -> None:
    """At the limit a value stands in the payload, one past it does not; equal values share an address."""
    at, past = "x" * INLINE, "x" * (INLINE + 1)
    quoted = Json('"' + "x" * (INLINE - 1) + '"')
    packed = pack((("a", at), ("b", past), ("c", past), ("d", quoted)))
    assert packed.contents == {sha256(past): past, sha256(quoted.text): quoted.text}
    plain = json.loads(packed.payload)
    assert (plain["a"], plain["b"], plain["c"]) == (at, sha256(past), sha256(past))


def test_a_reader_sees_plain_json() -> None:
    """The stored payload is what a person with a database browser would expect."""
    payload: Payload = (("output", Json('{"n":1}')), ("text", "hi"), ("range", ("entry-1", "entry-2")))
    assert json.loads(pack(payload).payload) == payload_json(payload)
    assert payload_json(payload) == {"output": {"n": 1}, "text": "hi", "range": ["entry-1", "entry-2"]}


def test_a_text_that_looks_like_an_address_stays_a_text() -> None:
    """Only what is noted is looked up."""
    address = sha256("secret")
    packed = pack((("a", address), ("b", Json(f'"{address}"'))))
    assert packed.contents == {}
    assert dict(unpack(packed.payload, packed.kinds, packed.contents.__getitem__)) == {
        "a": address,
        "b": Json(f'"{address}"'),
    }


def test_a_value_may_be_as_deep_as_any() -> None:
    """A value of the greatest depth still has room in its payload."""
    deep = "[" * 200 + "]" * 200
    packed = pack((("record", Record((("x", Json(deep)),))),))
    assert unpack(packed.payload, packed.kinds, packed.contents.__getitem__) == (
        ("record", Record((("x", Json(deep)),))),
    )
