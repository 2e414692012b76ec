"""Written types: names, recursion, defaults, bounds; and the limits of size and depth."""

from __future__ import annotations

import pytest

from tests.compiler.cases import check_text
from windtunnel.compiler.description import describe, describe_whole
from windtunnel.compiler.findings import Findings
from windtunnel.compiler.types import (
    MAX_DEPTH,
    MAX_WEIGHT,
    UNKNOWN,
    RecordShape,
    Shape,
    depth_of,
    weight_of,
)
from windtunnel.compiler.typescope import TypeScope
from windtunnel.dsl.parser import parse
from windtunnel.dsl.source import Source


def declared(text: str) -> tuple[dict[str, Shape], list[str]]:
    """The types that a file declares, and the findings as `code message`."""
    parsed = parse(Source("types.flow", f"language 1\n{text}\n"))
    assert not parsed.diagnostics, [found.message for found in parsed.diagnostics]
    findings = Findings("types.flow")
    scope = TypeScope("types.flow", {}, findings)
    scope.declare(parsed.file.types)
    return scope.names, [f"{found.code} {found.message}" for found in findings.sink]


def test_names_stand_for_what_they_declare_in_any_order() -> None:
    """A later declaration is as good as an earlier one, and names vanish."""
    names, found = declared("type A = [B]\ntype B = { c: C, d?: int }\ntype C = text(1..5)")
    assert found == []
    assert describe_whole(names["B"]) == "{ c: text(1..5), d?: int }"
    assert describe(names["A"]) == "[B]"


def test_recursion_through_fields_and_lists() -> None:
    """A recursive type keeps its name inside itself; two may need each other."""
    names, found = declared(
        "type Tree = { value: text, children: [Tree] }\ntype A = { b?: B }\ntype B = { a: A }"
    )
    assert found == []
    assert describe_whole(names["Tree"].definition.shape) == "{ value: text, children: [Tree] }"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type A = A", "WT0413 type `A` stands only for itself"),
        ("type A = B | text\ntype B = A", "WT0413 type `A` stands only for itself"),
        ("type A = { a: A }", "WT0413 no value of type `A` can ever end: each one needs another one inside"),
        ("type A = [A; 1..]", "WT0413 no value of type `A` can ever end: each one needs another one inside"),
        ("type A = { a: A | null = {} }", "WT0413 the default of `a` is filled in without end"),
        ("type A = text(5..1)", "WT0415 nothing lies between 5 and 1"),
        ("type A = bool(1..2)", "WT0415 `bool` takes no bounds"),
        ("type A = int(1.5..2)", "WT0415 these bounds are whole numbers"),
        ('type A = text(1..5, "(?=x)")', "WT0415 the pattern cannot be used: look-around, "),
        ("type A = { [int]: text }", "WT0415 the keys of a map are text, not int"),
        ("type A = { a: text, a: int }", "WT0102 field `a` is declared twice"),
        ("type A = { a: text = 3 }", "WT0414 the default of `a` is 3, which is not text"),
        ('type A = { a: { b: int } = { b: "x" } }', 'WT0414 the default of `a` is { b: "x" }, which is not'),
        ('type A = { a: [text] = [lower("X")] }', "WT0414 the default of `a` is not a constant"),
        ("type A = Txt\ntype Text = text", "WT0105 there is no type `Txt`"),
        ('type A = "x" | text', ""),
        ('type A = text | "x"', 'WT0416 "x" is already part of this union'),
    ],
)
def test_what_is_wrong_with_a_type(text: str, message: str) -> None:
    """Each mistake has its own words; the broken part becomes unknown."""
    _, found = declared(text)
    assert [line[: len(message)] for line in found[:1]] == ([message] if message else [])


def test_a_pair_in_a_cycle_is_reported_for_each() -> None:
    """Both names that stand only for each other become unknown."""
    names, found = declared("type A = B\ntype B = A")
    assert len(found) == 2
    assert names["A"] == names["B"] == UNKNOWN


def test_the_largest_type_is_allowed_and_one_part_more_is_not() -> None:
    """A record of n texts has n + 1 parts."""
    fields = ", ".join(f"f{n}: text" for n in range(MAX_WEIGHT - 1))
    names, found = declared(f"type A = {{ {fields} }}")
    assert found == []
    assert weight_of(names["A"]) == MAX_WEIGHT
    _, found = declared(f"type A = {{ {fields}, more: text }}")
    assert [line[:6] for line in found] == ["WT0417"]


def test_the_deepest_type_is_allowed_and_one_level_more_is_not() -> None:
    """Names are written out before depth is counted."""
    lines = ["type T0 = text", *(f"type T{n} = [T{n - 1}]" for n in range(1, MAX_DEPTH + 2))]
    names, found = declared("\n".join(lines[:-1]))
    assert found == []
    assert depth_of(names[f"T{MAX_DEPTH}"]) == MAX_DEPTH
    _, found = declared("\n".join(lines))
    assert [line[:6] for line in found] == ["WT0417"]


def test_a_long_chain_of_names_costs_no_stack() -> None:
    """Ten thousand names for one type are followed without recursion."""
    lines = ["type T0 = { a: text }", *(f"type T{n} = T{n - 1}" for n in range(1, 10_000))]
    names, found = declared("\n".join(lines))
    assert found == []
    assert isinstance(names["T9999"], RecordShape)


def test_a_union_of_thousands_of_literals_still_knows_a_repeated_one() -> None:
    """Size changes nothing in what is found; literals are looked up, not compared pair by pair."""
    many = " | ".join(f'"a{number}"' for number in range(3_000))
    checked = check_text(f'language 1\ntype Big = {many} | "a7"\nworkflow w {{ input {{ big: Big }} }}\n')
    found = [each for each in checked.diagnostics if each.code == "WT0416"]
    assert [each.message for each in found] == ['"a7" is already part of this union']
