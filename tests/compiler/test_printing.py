"""Expressions of a snapshot in the syntax of the language."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import JsonValue

from windtunnel.compiler import compile_file
from windtunnel.compiler.printing import (
    MAX_DEPTH,
    duration_expression_text,
    duration_text,
    expression_text,
    local_name,
    scalar_text,
    template_text,
)
from windtunnel.dsl.parser import parse
from windtunnel.dsl.source import Source

INPUT: list[JsonValue] = ["input", ""]
NODE: list[JsonValue] = ["node", "draft"]


def field(expression: JsonValue, name: str, optional: bool = False) -> list[JsonValue]:
    """`expression.name`."""
    return ["field", expression, name, optional]


def op(sign: str, left: JsonValue, right: JsonValue) -> list[JsonValue]:
    """A binary operation."""
    return ["op", sign, left, right]


def number(value: int) -> list[JsonValue]:
    """A constant."""
    return ["const", value]


CASES: dict[str, list[JsonValue]] = {
    "input.tag": field(INPUT, "tag"),
    "input.plan?.steps[0]": ["index", field(field(INPUT, "plan"), "steps", True), number(0)],
    "draft.notes ?? null": ["??", field(NODE, "notes"), ["const", None]],
    '"release-${input.tag} of $${x}"': [
        "text",
        ["const", "release-"],
        field(INPUT, "tag"),
        ["const", " of ${x}"],
    ],
    '"a \\"quoted\\" line\\nand a second \\\\"': ["const", 'a "quoted" line\nand a second \\'],
    "1 + 2 + 3": op("+", op("+", number(1), number(2)), number(3)),
    "1 + (2 + 3)": op("+", number(1), op("+", number(2), number(3))),
    "(1 + 2) * 3 - 4 % 5": op(
        "-", op("*", op("+", number(1), number(2)), number(3)), op("%", number(4), number(5))
    ),
    "-(1 + 2)": ["neg", op("+", number(1), number(2))],
    "not (draft.a and draft.b) or draft.c": [
        "or",
        ["not", ["and", field(NODE, "a"), field(NODE, "b")]],
        field(NODE, "c"),
    ],
    "(1 < 2) == true": op("==", op("<", number(1), number(2)), ["const", True]),
    "not draft.a in [1, ...draft.b]": [
        "not",
        op("in", field(NODE, "a"), ["list", ["item", number(1)], ["spread", field(NODE, "b")]]),
    ],
    "if draft.a then 1 else if draft.b then 2 else 3": [
        "if",
        field(NODE, "a"),
        number(1),
        ["if", field(NODE, "b"), number(2), number(3)],
    ],
    "(if draft.a then 1 else 2) + 3": op("+", ["if", field(NODE, "a"), number(1), number(2)], number(3)),
    '{ draft, "odd key": 1, maybe?: 2, ...draft }': [
        "record",
        ["field", "draft", NODE],
        ["field", "odd key", number(1)],
        ["maybe", "maybe", number(2)],
        ["spread", NODE],
    ],
    "{}": ["record"],
    "[x.id for x in draft.items if x.ok]": [
        "for",
        field(["var", "x"], "id"),
        "x",
        field(NODE, "items"),
        field(["var", "x"], "ok"),
    ],
    "len(draft.notes) <= 20_000": op("<=", ["call", "len", field(NODE, "notes")], number(20_000)),
    "result(draft).outcome": field(["result", "draft"], "outcome"),
    'visits(draft) >= visits(draft, "ok")': op(">=", ["visits", "draft", None], ["visits", "draft", "ok"]),
    "latest(draft, approve)?.node": field(["latest", "draft", "approve"], "node", True),
    "approve.rewrite?.remarks": field(["choice", "approve", "rewrite"], "remarks", True),
    "tell.done.text": field(["exit", "tell", "done"], "text"),
    "considered": ["let", "considered"],
    "output.text": field(["var", "output"], "text"),
    "-3": number(-3),
    "[1, 2.5, null]": ["const", [1, 2.5, None]],
}


@pytest.mark.parametrize("text", CASES)
def test_each_form(text: str) -> None:
    assert expression_text(CASES[text]) == text


@pytest.mark.parametrize("text", CASES)
def test_the_syntax_is_that_of_the_language(text: str) -> None:
    source = Source("x.flow", f"language 1\nworkflow w {{\n  compute c = {text}\n}}\n")
    assert parse(source).diagnostics == ()


def test_the_way_of_a_mount_is_an_exit_and_that_of_a_decision_a_choice() -> None:
    assert expression_text(["way", "tell"], mounts={"tell"}) == "tell.exit"
    assert expression_text(["way", "approve"], mounts={"tell"}) == "approve.choice"


def test_names_stand_as_the_workflow_of_the_scope_writes_them() -> None:
    expression: list[JsonValue] = [
        "record",
        ["field", "a", ["node", "repair/check"]],
        ["field", "b", ["input", "repair"]],
    ]
    assert expression_text(expression, "repair") == "{ a: check, b: input }"
    assert expression_text(expression) == "{ a: repair/check, b: input of repair }"
    assert local_name("repairs/check", "repair") == "repairs/check"


def test_templates_stand_without_quotes() -> None:
    assert (
        template_text(["text", ["const", 'say "hi" to '], field(INPUT, "who")]) == 'say "hi" to ${input.who}'
    )
    assert template_text(["const", "one\ntwo"]) == "one\ntwo"
    assert template_text(field(INPUT, "who")) == "${input.who}"


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0ms"), (250, "250ms"), (1_500, "1_500ms"), (30_000, "30s"), (90_000, "90s"), (86_400_000, "1d")],
)
def test_durations(milliseconds: int, text: str) -> None:
    assert duration_text(milliseconds) == text


def test_durations_inside_expressions() -> None:
    minutes: list[JsonValue] = ["??", field(INPUT, "minutes"), number(10)]
    assert duration_expression_text(op("*", minutes, number(60_000))) == "(input.minutes ?? 10) * 1m"
    assert duration_expression_text(op("+", op("*", number(60_000), minutes), number(500))) == (
        "1m * (input.minutes ?? 10) + 500ms"
    )
    choice: list[JsonValue] = ["if", field(INPUT, "fast"), number(1_000), number(60_000)]
    assert duration_expression_text(choice) == "if input.fast then 1s else 1m"


def test_a_long_chain_is_written_whole_and_a_deep_nest_is_cut() -> None:
    """B28: nothing recurses without a limit."""
    chain: list[JsonValue] = number(0)
    for value in range(1, 5_000):
        chain = op("+", chain, number(value))
    text = expression_text(chain)
    assert text.startswith("0 + 1 + 2")
    assert text.endswith(" + 4999")

    def nest(depth: int) -> str:
        made: list[JsonValue] = number(7)
        for _ in range(depth):
            made = ["not", made]
        return expression_text(made)

    assert nest(MAX_DEPTH) == "not " * MAX_DEPTH + "7"
    assert nest(MAX_DEPTH + 1) == "not " * (MAX_DEPTH + 1) + "…"


def test_scalars() -> None:
    assert scalar_text({"a": [True, 10_000]}) == "{ a: [true, 10_000] }"
    assert scalar_text("a ${b}") == '"a $${b}"'


EXPRESSIONS = ("value", "prompt", "message", "run", "require", "when", "input", "subject", "label")
"""Where a snapshot has expressions."""


def expressions(value: JsonValue) -> Iterator[list[JsonValue]]:
    """Every list in JSON that begins with the name of a form and stands where expressions stand."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in EXPRESSIONS and isinstance(item, list):
                yield item
            else:
                yield from expressions(item)
    elif isinstance(value, list):
        for item in value:
            yield from expressions(item)


@pytest.mark.parametrize("name", ["autoplan", "plan-approval", "plan-change"])
def test_what_the_built_ins_say_can_be_read_again(name: str) -> None:
    snapshot = compile_file(f"builtin:{name}").snapshot
    assert snapshot is not None
    found = list(expressions(snapshot.model_dump(mode="json", by_alias=True, exclude_none=True)))
    assert len(found) > 10
    for expression in found:
        text = expression_text(expression, mounts=snapshot.composition.mounts)
        # A qualified id is no name of the language: it stands for the name in its own workflow.
        source = Source("x.flow", f"language 1\nworkflow w {{\n  compute c = {text.replace('/', '.')}\n}}\n")
        if " of " not in text and "; " not in text:
            assert parse(source).diagnostics == (), text
