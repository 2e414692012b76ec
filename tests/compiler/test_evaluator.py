"""Expressions on values: operators, functions, what is missing, limits, and what an expression reads."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from windtunnel.compiler import values
from windtunnel.compiler.canonical import MAX_WHOLE, canonical
from windtunnel.compiler.evaluator import (
    EvaluationError,
    ExpressionError,
    Read,
    compile_expression,
    compile_validator,
    reads,
)
from windtunnel.compiler.functions import FUNCTIONS
from windtunnel.compiler.snapshot import LetStep, RequireStep


class World:
    """An environment made of plain dictionaries."""

    def __init__(self, **known: Any) -> None:
        self.known: dict[str, dict[Any, JsonValue]] = known

    def input(self, mount: str) -> JsonValue:
        return self.known.get("input", {}).get(mount)

    def node(self, node: str) -> JsonValue:
        return self.known.get("node", {}).get(node)

    def exit(self, mount: str, name: str) -> JsonValue:
        return self.known.get("exit", {}).get((mount, name))

    def choice(self, node: str, choice: str) -> JsonValue:
        return self.known.get("choice", {}).get((node, choice))

    def way(self, node: str) -> JsonValue:
        return self.known.get("way", {}).get(node)

    def result(self, node: str) -> JsonValue:
        return self.known.get("result", {}).get(node)

    def visits(self, node: str, outcome: str | None) -> JsonValue:
        return self.known.get("visits", {}).get((node, outcome), 0)

    def latest(self, nodes: tuple[str, ...]) -> JsonValue:
        return self.known.get("latest", {}).get(nodes)

    def let(self, name: str) -> JsonValue:
        return self.known.get("let", {}).get(name)


def const(value: Any) -> list[Any]:
    return ["const", value]


def value_of(expression: list[Any], **known: Any) -> JsonValue:
    return compile_expression(expression)(World(**known))


def op(operator: str, *sides: JsonValue) -> JsonValue:
    return value_of(["op", operator, *map(const, sides)])


def call(function: str, *arguments: JsonValue) -> JsonValue:
    return value_of(["call", function, *map(const, arguments)])


OPERATIONS: list[tuple[str, JsonValue, JsonValue, JsonValue]] = [
    ("+", 1, 2, 3),
    ("+", 0.1, 0.2, 0.30000000000000004),
    ("+", 1.5, 1.5, 3),
    ("+", "a", "b", "ab"),
    ("+", [1], [2], [1, 2]),
    ("+", "a", 1, None),
    ("+", None, 1, None),
    ("+", True, 1, None),
    ("+", MAX_WHOLE, 2, float(2**53)),
    ("-", 1, 3, -2),
    ("-", -MAX_WHOLE, MAX_WHOLE, float(-2 * MAX_WHOLE)),
    ("*", 3, 4, 12),
    ("*", 2**40, 2**40, float(2**80)),
    ("*", 1e200, 1e200, 1.7976931348623157e308),
    ("*", -1e200, 1e200, -1.7976931348623157e308),
    ("/", 7, 2, 3.5),
    ("/", 6, 2, 3),
    ("/", 1, 0, None),
    ("/", 1e308, 1e-308, 1.7976931348623157e308),
    ("//", 7, 2, 3),
    ("//", -7, 2, -3),
    ("//", 7, -2, -3),
    ("//", 7, 0, None),
    ("//", 1000, 0.3, 3333),
    ("%", 7, 2, 1),
    ("%", -7, 2, -1),
    ("%", 7, -2, 1),
    ("%", 7.5, 2, 1.5),
    ("%", 1, 0, None),
    ("==", 1, 1.0, True),
    ("==", True, 1, False),
    ("==", False, 0, False),
    ("==", [True], [1], False),
    ("==", {"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
    ("==", {"a": None}, {}, False),
    ("==", "1", 1, False),
    ("==", None, None, True),
    ("!=", [1], [1, 2], True),
    ("<", 1, 2.5, True),
    ("<", "Z", "a", True),
    ("<", "\uffff", "😀", True),
    ("<", "a", 1, False),
    (">=", "a", 1, False),
    ("<", None, 1, False),
    ("<=", 2, 2, True),
    (">", 3, 2, True),
    (">=", 2, 3, False),
    ("in", 1.0, [1], True),
    ("in", True, [1], False),
    ("in", "a", {"a": None}, True),
    ("in", 1, {"1": 2}, False),
    ("in", "a", "abc", False),
]


@pytest.mark.parametrize(("operator", "left", "right", "expected"), OPERATIONS)
def test_operators(operator: str, left: JsonValue, right: JsonValue, expected: JsonValue) -> None:
    result = op(operator, left, right)
    assert canonical(result) == canonical(expected)
    assert type(result) is type(expected)


CALLS: list[tuple[str, list[JsonValue], JsonValue]] = [
    ("len", ["a😀"], 2),
    ("len", [[1, 2]], 2),
    ("len", [{"a": 1}], 1),
    ("len", [None], None),
    ("text", [1.0], "1"),
    ("text", ["x"], "x"),
    ("json", [{"b": 1.0, "a": [None]}], '{"a":[null],"b":1}'),
    ("digest", [{}], "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    ("unique", [["a", "b"]], True),
    ("unique", [[1, 1.0]], False),
    ("unique", [[1, True]], True),
    ("unique", ["aa"], None),
    ("join", [["a", 1, True], ", "], "a, 1, true"),
    ("join", [["a", "b"]], "ab"),
    ("join", ["a", ""], None),
    ("split", ["a,b,", ","], ["a", "b", ""]),
    ("split", ["ab", ""], ["a", "b"]),
    ("trim", ["\u3000 a\u00a0\n"], "a"),
    ("trim", ["\x1ca"], "\x1ca"),
    ("lower", ["ÄB"], "äb"),
    ("upper", ["äß"], "ÄSS"),
    ("slice", ["a😀c", 1], "😀c"),
    ("slice", ["abc", -5, 2], "ab"),
    ("slice", ["abc", 2, 1], ""),
    ("slice", [[1, 2, 3], 1, 99], [2, 3]),
    ("slice", ["abc", 1.5], None),
    ("slice", ["abc", True], None),
    ("contains", ["abc", "b"], True),
    ("contains", [[1, 2], 2.0], True),
    ("contains", [1, 2], None),
    ("startsWith", ["abc", "ab"], True),
    ("endsWith", ["abc", "ab"], False),
    ("replace", ["aXbX", "X", "--"], "a--b--"),
    ("replace", ["ab", "", "x"], "ab"),
    ("lines", ["a\r\nb\rc\n"], ["a", "b", "c"]),
    ("lines", [""], []),
    ("lines", ["\n"], [""]),
    ("bullets", [["a", "b\nc"]], "- a\n- b\n  c"),
    ("bullets", [[]], ""),
    ("keys", [{"b": 1, "a": 2}], ["a", "b"]),
    ("values", [{"b": 1, "a": 2}], [2, 1]),
    ("first", [[3, 4]], 3),
    ("last", [[3, 4]], 4),
    ("first", [[]], None),
    ("sum", [[1, 2.5]], 3.5),
    ("sum", [[]], 0),
    ("sum", [[1, "a"]], None),
    ("min", [[3, 1, 2]], 1),
    ("max", [["a", "c", "b"]], "c"),
    ("min", [3, 2], 2),
    ("max", [[]], None),
    ("min", [[1, "a"]], None),
    (
        "sort",
        [["b", 2, None, True, "a", [1], {"a": 1}, False, 1.5]],
        [None, False, True, 1.5, 2, "a", "b", [1], {"a": 1}],
    ),
    ("all", [[True, True]], True),
    ("all", [[]], True),
    ("all", [[True, 1]], False),
    ("any", [[False, True]], True),
    ("any", [[]], False),
    ("count", [[True, False, True]], 2),
    ("count", [[{"a": 1}, None, 0]], 2),
    ("abs", [-3], 3),
    ("abs", [True], None),
    ("round", [2.5], 3),
    ("round", [-2.5], -3),
    ("round", [0.49999999999999994], 0),
    ("floor", [-1.5], -2),
    ("ceil", [-1.5], -1),
    ("floor", ["a"], None),
    ("defined", [None], False),
    ("defined", [0], True),
    ("minutes", [1.5], 90_000),
    ("minutes", ["a"], None),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), CALLS)
def test_functions(function: str, arguments: list[JsonValue], expected: JsonValue) -> None:
    result = call(function, *arguments)
    assert canonical(result) == canonical(expected)


def test_every_function_of_the_language_is_tried() -> None:
    assert {function for function, _, _ in CALLS} == FUNCTIONS.keys()


def settled(value: JsonValue) -> JsonValue:
    """The value with a number in its one form."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return values.settle(value) if is_number else value  # type: ignore[arg-type]


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS.map(settled),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(values.OPERATORS)), VALUES, VALUES)
def test_operators_are_total_and_finite(operator: str, left: JsonValue, right: JsonValue) -> None:
    result = op(operator, left, right)
    if isinstance(result, float):
        assert math.isfinite(result)
    assert canonical(op("==", result, result)) == "true"


@given(st.sampled_from(sorted(FUNCTIONS)), st.lists(VALUES, min_size=1, max_size=3))
def test_functions_are_total_and_change_nothing(function: str, arguments: list[JsonValue]) -> None:
    _, least, most = FUNCTIONS[function]
    arguments = (arguments * 3)[: least if most is None else min(most, max(least, len(arguments)))]
    before = canonical(arguments)
    canonical(call(function, *arguments))
    assert canonical(arguments) == before


@given(VALUES, VALUES)
def test_equality_is_equality_of_canonical_text(left: JsonValue, right: JsonValue) -> None:
    assert values.equal(left, right) == (canonical(left) == canonical(right))


@given(st.lists(VALUES, max_size=6))
def test_sorting_is_a_total_order(items: list[JsonValue]) -> None:
    ordered = call("sort", *[items])
    assert call("sort", ordered) == ordered
    assert call("sort", items[::-1]) == ordered or not call("unique", items)


def test_text_joins_what_stands_in_it() -> None:
    parts = ["text", const("a "), const(2.5), const(" "), const(True), const(None), const([1])]
    assert value_of(parts) == "a 2.5 truenull[1]"


def test_records_and_lists_with_spread_and_what_is_left_out() -> None:
    record = [
        "record",
        ["field", "a", const(1)],
        ["spread", const({"a": 2, "b": 3})],
        ["maybe", "b", const(None)],
    ]
    assert value_of(record) == {"a": 2, "b": 3}
    assert value_of([*record, ["maybe", "c", const(4)], ["spread", const(None)]]) == {"a": 2, "b": 3, "c": 4}
    assert value_of(["list", ["item", const(1)], ["spread", const([2, 3])], ["spread", const(None)]]) == [
        1,
        2,
        3,
    ]


def test_comprehensions_bind_inside_only() -> None:
    inner = ["for", ["op", "+", ["var", "x"], ["var", "y"]], "y", const([10, 20]), None]
    outer = ["for", inner, "x", const([1, 2]), ["op", ">", ["var", "x"], const(1)]]
    assert value_of(outer) == [[12, 22]]
    shadowing = ["for", ["for", ["var", "x"], "x", ["var", "x"], None], "x", const([[1], [2]]), None]
    assert value_of(shadowing) == [[1], [2]]
    assert value_of(["for", const(1), "x", const(None), None]) == []


def test_only_the_needed_side_is_evaluated() -> None:
    never: list[Any] = ["node", "never"]

    class Strict(World):
        def node(self, node: str) -> JsonValue:
            raise AssertionError(f"{node} was read")

    cases: list[tuple[list[Any], JsonValue]] = [
        (["and", const(False), never], False),
        (["or", const(True), never], True),
        (["??", const(None), const(3), never], 3),
        (["if", const(True), const(1), never, never, never], 1),
        (["if", const(False), never, const(True), const(2), never], 2),
    ]
    for expression, expected in cases:
        assert compile_expression(expression)(Strict()) == expected


def test_truth_is_only_true() -> None:
    assert value_of(["and", const(1), const(True)]) is False
    assert value_of(["or", const("x"), const(None)]) is False
    assert value_of(["not", const(None)]) is True
    assert value_of(["if", const(1), const("a"), const("b")]) == "b"


def test_what_is_missing_is_null() -> None:
    assert value_of(["field", const({"a": 1}), "b", False]) is None
    assert value_of(["field", const(None), "b", True]) is None
    for index in (-1, 2, 0.5, True, "0", None):
        assert value_of(["index", const([1, 2]), const(index)]) is None
    assert value_of(["index", const([1, 2]), const(1)]) == 2
    assert value_of(["index", const({"a": 1}), const("a")]) == 1
    assert value_of(["neg", const("a")]) is None
    assert value_of(["neg", const(0)]) == 0


def test_everything_of_the_environment_can_be_read() -> None:
    known = {
        "input": {"": {"a": 1}},
        "node": {"n": 2},
        "exit": {("m", "done"): 3},
        "choice": {("d", "rewrite"): 4},
        "way": {"d": "rewrite"},
        "result": {"n": {"outcome": "ok"}},
        "visits": {("n", None): 5, ("n", "ok"): 6},
        "latest": {("a", "b"): {"node": "a", "outcome": "ok"}},
        "let": {"m/x": 7},
    }
    forms: list[tuple[list[Any], JsonValue]] = [
        (["field", ["input", ""], "a", False], 1),
        (["node", "n"], 2),
        (["exit", "m", "done"], 3),
        (["choice", "d", "rewrite"], 4),
        (["way", "d"], "rewrite"),
        (["result", "n"], {"outcome": "ok"}),
        (["visits", "n", None], 5),
        (["visits", "n", "ok"], 6),
        (["latest", "a", "b"], {"node": "a", "outcome": "ok"}),
        (["let", "m/x"], 7),
    ]
    for form, expected in forms:
        assert value_of(form, **known) == expected


def test_reads_names_everything_that_is_read() -> None:
    expression = [
        "text",
        ["field", ["node", "a"], "x", False],
        ["for", ["call", "len", ["input", "m"]], "x", ["exit", "m", "done"], ["way", "d"]],
        ["record", ["maybe", "k", ["visits", "b", "ok"]], ["spread", ["let", "q"]]],
        ["list", ["item", ["latest", "e", "f"]], ["spread", ["choice", "d", "c"]]],
        ["bind", "v", ["result", "g"], ["index", ["var", "v"], const(["node", "no"])]],
        ["if", ["op", "==", ["neg", const(1)], const(2)], const(3), ["not", ["node", "h"]]],
    ]
    found = {
        Read("node", "a"),
        Read("input", "m"),
        Read("exit", "m", "done"),
        Read("way", "d"),
        Read("visits", "b", "ok"),
        Read("latest", "e"),
        Read("latest", "f"),
        Read("choice", "d", "c"),
        Read("result", "g"),
        Read("node", "h"),
    }
    assert reads(expression) == found | {Read("let", "q")}
    assert reads(expression, {"q": ["op", "+", ["let", "q"], ["node", "z"]]}) == found | {Read("node", "z")}


def test_equal_expressions_are_compiled_once() -> None:
    assert compile_expression(["op", "+", const(1), const(2)]) is compile_expression(
        ["op", "+", const(1.0), const(2)]
    )


@pytest.mark.parametrize(
    "expression",
    [
        [],
        ["nothing"],
        [["const", 1]],
        ["const"],
        ["var", "x"],
        ["op", "**", ["const", 1], ["const", 2]],
        ["op", "+", ["const", 1]],
        ["call", "eval", ["const", 1]],
        ["call", "len"],
        ["if", ["const", True], ["const", 1]],
        ["record", ["item", ["const", 1]]],
        ["node"],
        ["node", 3],
        ["text", "bare"],
    ],
)
def test_what_is_no_expression_is_refused(expression: list[Any]) -> None:
    with pytest.raises(ExpressionError):
        compile_expression(expression)


def test_limits_end_the_node_and_not_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windtunnel.compiler.values.MAX_TEXT", 8)
    monkeypatch.setattr("windtunnel.compiler.functions.MAX_TEXT", 8)
    monkeypatch.setattr("windtunnel.compiler.evaluator.MAX_TEXT", 8)
    monkeypatch.setattr("windtunnel.compiler.values.MAX_ITEMS", 3)
    at_limit: list[Any] = [
        ["op", "+", const("1234"), const("5678")],
        ["text", const("1234"), const("5678")],
        ["call", "join", const(["123", "456"]), const("--")],
        ["call", "replace", const("aaaa"), const("a"), const("bb")],
        ["call", "bullets", const(["123456"])],
        ["op", "+", const([1]), const([2, 3])],
        ["list", ["spread", const([1, 2, 3])]],
        ["call", "split", const("a,b,c"), const(",")],
    ]
    for expression in at_limit:
        value_of(expression)
    past: list[Any] = [
        ["op", "+", const("1234"), const("56789")],
        ["text", const("1234"), const("56789")],
        ["call", "join", const(["123", "4567"]), const("--")],
        ["call", "replace", const("aaaaa"), const("a"), const("bb")],
        ["call", "bullets", const(["1234567"])],
        ["call", "json", const(["1234567"])],
        ["op", "+", const([1, 2]), const([3, 4])],
        ["list", ["spread", const([1, 2, 3, 4])]],
        ["call", "split", const("a,b,c,d"), const(",")],
    ]
    for expression in past:
        with pytest.raises(EvaluationError):
            value_of(expression)


def test_a_long_chain_costs_no_depth() -> None:
    assert op("+", *([1] * 5_000)) == 5_000
    ladder: list[Any] = ["if"]
    for _ in range(5_000):
        ladder += [const(False), const(1)]
    assert value_of([*ladder, const(2)]) == 2


def test_validators_report_every_broken_requirement() -> None:
    output: Any = ["var", "output"]
    node_a: Any = ["node", "a"]
    steps = (
        LetStep(let="n", value=["call", "len", ["field", output, "items", False]]),
        RequireStep(require=["op", ">", ["var", "n"], const(0)], message=const("give items")),
        RequireStep(
            require=["op", "<", ["var", "n"], const(3)],
            when=["op", "==", ["field", output, "short", False], const(True)],
            message=["text", const("at most 2, not "), ["var", "n"]],
        ),
        RequireStep(require=["op", "!=", node_a, output], message=const("say something new")),
    )
    check = compile_validator(steps)
    assert check(World(), {"items": [1, 2, 3]}) == ()
    assert check(World(), {"items": [1, 2, 3], "short": True}) == ("at most 2, not 3",)
    same: JsonValue = {"items": []}
    assert check(World(node={"a": same}), same) == ("give items", "say something new")
