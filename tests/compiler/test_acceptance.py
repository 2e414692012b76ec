"""Types at work: what they accept, what they fill in, and where they say a value is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from windtunnel.compiler.acceptance import (
    MAX_PROBLEMS,
    Accepted,
    Acceptor,
    Refused,
    TypeModelError,
    accept,
    acceptor,
)
from windtunnel.compiler.canonical import MAX_DEPTH, MAX_WHOLE
from windtunnel.compiler.snapshot import TypeModel
from windtunnel.compiler.typetext import type_from_json, type_to_json, words

TEXT: dict[str, JsonValue] = {"kind": "text"}
INT: dict[str, JsonValue] = {"kind": "int"}


def of(form: Any) -> TypeModel:
    return type_from_json(form)


def field(form: Any, **more: Any) -> dict[str, Any]:
    return {"type": form, **more}


def record(**fields: Any) -> dict[str, Any]:
    return {"kind": "record", "fields": {name: f if "type" in f else field(f) for name, f in fields.items()}}


def literal(value: JsonValue) -> dict[str, JsonValue]:
    return {"kind": "literal", "value": value}


def union(*members: Any) -> dict[str, Any]:
    return {"kind": "union", "members": list(members)}


PAIR = union(record(status=literal("ready"), id=TEXT), record(status=literal("blocked"), why=TEXT))
ACCEPTED: list[tuple[Any, JsonValue]] = [
    ({"kind": "text", "max": 1}, "😀"),
    ({"kind": "text", "pattern": "a|bc"}, "bc"),
    (INT, 3.0),
    (INT, MAX_WHOLE),
    ({"kind": "number", "min": 0, "max": 1}, 1),
    ({"kind": "bool"}, True),
    ({"kind": "null"}, None),
    ({"kind": "duration"}, 0),
    ({"kind": "json", "max": 5}, [1, 2]),
    (literal(1), 1.0),
    ({"kind": "list", "item": INT, "min": 1}, [1]),
    ({"kind": "map", "key": {"kind": "text", "max": 2}, "value": INT, "max": 1}, {"ab": 1}),
    (union(TEXT, INT), 5),
    (PAIR, {"status": "blocked", "why": "x"}),
]
REFUSED: list[tuple[Any, JsonValue, list[tuple[str, str]]]] = [
    ({"kind": "text", "max": 1}, "ab", [("", "has 2 characters; expected text(..1)")]),
    ({"kind": "text", "pattern": "a|bc"}, "xa", [("", 'must match "a|bc"')]),
    ({"kind": "text", "pattern": "a"}, "a\n", [("", 'must match "a"')]),
    (TEXT, 1, [("", "expected text, got a number")]),
    (INT, 1.5, [("", "expected int, got 1.5")]),
    (INT, True, [("", "expected int, got a bool")]),
    (INT, 2**53, [("", "expected int, got 9007199254740992")]),
    (INT, 2**53 + 1, [("", "the whole number 9007199254740993 cannot be kept exactly; give it as text")]),
    ({"kind": "int", "min": 1, "max": 3}, 4, [("", "expected int(1..3), got 4")]),
    ({"kind": "number"}, "1", [("", "expected number, got text")]),
    ({"kind": "bool"}, 1, [("", "expected bool, got a number")]),
    ({"kind": "null"}, 0, [("", "expected null, got a number")]),
    ({"kind": "duration"}, -1, [("", "expected duration, got -1")]),
    ({"kind": "json", "max": 5}, [1, 2, 3], [("", "has 7 characters as JSON; at most 5 are allowed")]),
    (literal(1), True, [("", "expected 1, got true")]),
    (literal(True), 1, [("", "expected true, got 1")]),
    ({"kind": "list", "item": INT, "min": 1}, [], [("", "has 0 items; expected [int; 1..]")]),
    ({"kind": "list", "item": INT}, {}, [("", "expected [int], got a record")]),
    (
        {"kind": "list", "item": INT},
        [1, "a", None],
        [("/1", "expected int, got text"), ("/2", "expected int, got null")],
    ),
    (
        {"kind": "map", "key": {"kind": "text", "max": 1}, "value": INT},
        {"ab": "x"},
        [("/ab", "has 2 characters; expected text(..1)")],
    ),
    (record(a=INT), {}, [("/a", "missing; expected int")]),
    (record(a=INT), {"a": 1, "b~/": 2}, [("/b~0~1", "no such field; known are a")]),
    (record(a=INT), [], [("", "expected { a: int }, got a list")]),
    (union(TEXT, INT), None, [("", "expected text | int, got null")]),
    (union(record(a=INT), TEXT), {"a": "x"}, [("/a", "expected int, got text")]),
    (PAIR, {"status": "ready", "id": 1}, [("/id", "expected text, got a number")]),
    (PAIR, {"status": "lost"}, [("/status", 'expected "blocked" or "ready", got "lost"')]),
    (PAIR, {}, [("/status", 'missing; expected "blocked" or "ready"')]),
    (PAIR, "ready", [("", "expected a record, got text")]),
    (record(p=field(PAIR, optional=True)), {"p": {"status": "ready"}}, [("/p/id", "missing; expected text")]),
    (TEXT, "\ud800", [("", "text holds half of a surrogate pair")]),
]


@pytest.mark.parametrize(("form", "value"), ACCEPTED)
def test_what_fits_is_accepted(form: Any, value: JsonValue) -> None:
    assert accept(of(form), value) == Accepted(value)


@pytest.mark.parametrize(("form", "value", "problems"), REFUSED)
def test_what_does_not_fit_is_refused_at_its_place(
    form: Any, value: JsonValue, problems: list[tuple[str, str]]
) -> None:
    verdict = accept(of(form), value)
    assert isinstance(verdict, Refused)
    assert [tuple(problem) for problem in verdict.problems] == problems


def test_defaults_are_filled_and_null_reads_as_absent() -> None:
    inner = record(n=field(INT, hasDefault=True, default=2))
    outer = of(
        record(
            a=field(INT, hasDefault=True, default=1),
            b=field(TEXT, optional=True),
            c=field(inner, hasDefault=True, default={"n": 5}),
            d=field(union(INT, {"kind": "null"}), hasDefault=True, default=7),
        )
    )
    filled: JsonValue = {"a": 1, "c": {"n": 5}, "d": 7}
    assert accept(outer, {}) == Accepted(filled)
    assert accept(outer, {"a": None, "b": None, "c": None}) == Accepted(filled)
    assert accept(outer, {"d": None, "c": {}, "b": "x"}) == Accepted(
        {"a": 1, "b": "x", "c": {"n": 2}, "d": None}
    )


def test_a_value_is_not_changed_and_numbers_get_one_form() -> None:
    given_value: JsonValue = {"a": 1.0, "b": None}
    verdict = accept(of(record(a={"kind": "number"}, b=field(TEXT, optional=True))), given_value)
    assert verdict == Accepted({"a": 1})
    assert isinstance(verdict, Accepted)
    assert isinstance(verdict.value, dict)
    assert type(verdict.value["a"]) is int
    assert given_value == {"a": 1.0, "b": None}


def test_recursive_types() -> None:
    tree = of({"kind": "ref", "name": "Tree"})
    types = {"Tree": of(record(name=TEXT, below={"kind": "list", "item": {"kind": "ref", "name": "Tree"}}))}
    good: JsonValue = {"name": "a", "below": [{"name": "b", "below": []}]}
    assert accept(tree, good, types) == Accepted(good)
    verdict = accept(
        tree, {"name": "a", "below": [{"name": "b", "below": [{"name": 1, "below": []}]}]}, types
    )
    assert isinstance(verdict, Refused)
    assert verdict.problems[0].pointer == "/below/0/below/0/name"


def test_a_value_too_deep_is_refused() -> None:
    value: JsonValue = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert isinstance(accept(of({"kind": "json"}), value), Accepted)
    assert isinstance(accept(of({"kind": "json"}), [value]), Refused)


def test_problems_are_limited() -> None:
    many = of({"kind": "list", "item": INT})
    exact = accept(many, ["x"] * MAX_PROBLEMS)
    more = accept(many, ["x"] * (MAX_PROBLEMS + 1))
    assert isinstance(exact, Refused)
    assert isinstance(more, Refused)
    assert len(exact.problems) == MAX_PROBLEMS
    assert more.problems[-1].message == "and 1 more problems"


def test_a_pattern_outside_the_linear_engine_is_refused() -> None:
    with pytest.raises(TypeModelError):
        Acceptor(of({"kind": "text", "pattern": "(?=a)"}))


def test_a_pattern_never_takes_more_than_linear_time() -> None:
    verdict = accept(of({"kind": "text", "pattern": "(a*)*b"}), "a" * 50_000)
    assert isinstance(verdict, Refused)


def test_equal_types_share_one_acceptor() -> None:
    assert acceptor(of(PAIR)) is acceptor(of(PAIR))


def test_the_json_schema_says_what_a_giver_may_write() -> None:
    form = record(
        id={"kind": "text", "min": 1, "pattern": "[a-z]+"},
        n=field({"kind": "int", "min": 1}, hasDefault=True, default=2),
        o=field({"kind": "number", "max": 1.5}, optional=True),
        s=union(literal("a"), literal("b")),
        m={"kind": "map", "key": TEXT, "value": {"kind": "ref", "name": "T"}},
    )
    assert Acceptor(of(form), {"T": of(INT)}).json_schema() == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1, "pattern": "^(?:[a-z]+)$"},
            "m": {
                "type": "object",
                "propertyNames": {"type": "string"},
                "additionalProperties": {"$ref": "#/$defs/T"},
            },
            "n": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": 2},
            "o": {"anyOf": [{"type": "number", "maximum": 1.5}, {"type": "null"}]},
            "s": {"enum": ["a", "b"]},
        },
        "required": ["id", "m", "s"],
        "additionalProperties": False,
        "$defs": {"T": {"type": "integer"}},
    }


FORMS = st.recursive(
    st.sampled_from(
        [TEXT, INT, {"kind": "bool"}, {"kind": "json"}, {"kind": "number", "min": 0}, literal("x")]
    ),
    lambda inner: st.one_of(
        inner.map(lambda item: {"kind": "list", "item": item, "max": 3}),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(lambda fields: record(**fields)),
        st.tuples(inner, inner).map(lambda pair: union(*pair)),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["x", "y"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=6,
)


@given(FORMS, VALUES)
def test_acceptance_is_total_and_idempotent(form: Any, value: JsonValue) -> None:
    verdict = accept(of(form), value)
    if isinstance(verdict, Accepted):
        assert accept(of(form), verdict.value) == verdict
    else:
        assert verdict.problems


@given(FORMS)
def test_a_type_survives_its_json_form(form: Any) -> None:
    type_ = of(form)
    assert of(type_to_json(type_)) == type_
    assert words(of(type_to_json(type_))) == words(type_)
