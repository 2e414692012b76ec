"""Shapes as data: equality, hashes, unions in normal form, and the syntax they are described in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compiler.shapes import SHAPES, shape_of
from windtunnel.compiler.description import describe, describe_whole
from windtunnel.compiler.patterns import matches_pattern, pattern_validator
from windtunnel.compiler.types import (
    BOOL,
    INT,
    NEVER,
    NULL,
    TEXT,
    UNKNOWN,
    Definition,
    FieldShape,
    ListShape,
    RecordShape,
    RefShape,
    Shape,
    TextShape,
    depth_of,
    expand,
    literal,
    members,
    named,
    record,
    weight_of,
)
from windtunnel.compiler.unions import (
    includes,
    is_nullable,
    join,
    may_be_null,
    optional,
    read_shape,
    union,
    without_null,
)


def test_the_order_of_fields_does_not_matter() -> None:
    """Records are compared by name, and equal ones have one hash."""
    left, right = record(a=TEXT, b=INT), record(b=INT, a=TEXT)
    assert left == right
    assert hash(left) == hash(right)
    assert left != record(a=TEXT)


def test_true_and_one_are_different_literals() -> None:
    """Python thinks that they are equal; the language does not."""
    assert literal(True) != literal(1)
    assert literal(1.0) == literal(1)
    assert len(members(union((literal(True), literal(1))))) == 2


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"a" | "b" | "a"', '"a" | "b"'),
        ("true | false | null", "bool | null"),
        ('"a" | text', "text"),
        ("3 | int(1..5) | int(2..4)", "int(1..5)"),
        ("int | number", "number"),
        ("text | json | null", "json"),
        ("[text; 1..2] | [text]", "[text]"),
        ("json(..10) | json(..20)", "json(..20)"),
    ],
)
def test_a_union_holds_no_member_twice(written: str, expected: str) -> None:
    """What another member includes vanishes."""
    assert describe(union(members_of(written))) == expected


def members_of(written: str) -> list[Shape]:
    """The shapes between the bars, each read alone."""
    return [shape_of(part.strip()) for part in written.split(" | ")]


def test_unknown_swallows_everything_and_never_nothing() -> None:
    """A mistake that is reported spreads silently; the empty set adds nothing."""
    assert union((TEXT, UNKNOWN)) == UNKNOWN
    assert union((TEXT, NEVER)) == TEXT
    assert union(()) == NEVER


@given(SHAPES, SHAPES)
def test_a_union_includes_its_members(left: Shape, right: Shape) -> None:
    """`union` and `join` lose no value."""
    for together in (union((left, right)), join((left, right))):
        assert includes(together, left)
        assert includes(together, right)


@given(SHAPES)
def test_a_shape_includes_itself_and_joins_to_itself(shape: Shape) -> None:
    """Normal forms stay as they are."""
    assert includes(shape, shape)
    assert union((shape, shape)) == shape
    assert hash(union((shape, shape))) == hash(shape)


@given(SHAPES)
def test_null_comes_and_goes(shape: Shape) -> None:
    """`T?` may be null; without null it is what it was, unless it was null already."""
    assert may_be_null(optional(shape))
    if not may_be_null(shape):
        assert without_null(optional(shape)) == shape
    assert not is_nullable(without_null(shape))


@given(SHAPES)
def test_a_description_is_the_type_again(shape: Shape) -> None:
    """What a message shows can be written into a file and means the same."""
    assert shape_of(describe_whole(shape)) == shape


def test_descriptions_use_names_and_are_cut() -> None:
    """A named record goes by its name; a long type ends in dots."""
    shape = named(record(**{f"field{n}": TEXT for n in range(30)}), "Wide")
    assert describe(shape) == "Wide"
    assert describe(ListShape(shape)) == "[Wide]"
    assert describe_whole(shape).startswith("{ field0: text, field1: text")
    cut = describe(record(**{f"field{n}": TEXT for n in range(30)}), limit=20)
    assert len(cut) == 20
    assert cut.endswith("…")


def test_a_recursive_name_is_looked_behind() -> None:
    """The knot is tied once; weights count the name as one part."""
    definition = Definition()
    ref = RefShape("a.flow", "Tree", definition)
    tree = RecordShape((FieldShape("left", ref, optional=True),))
    definition.tie(tree)
    assert expand(ref) is tree
    assert weight_of(tree) == 2
    assert depth_of(tree) == 1
    assert describe(tree) == "{ left?: Tree }"
    with pytest.raises(AssertionError, match="once"):
        definition.tie(tree)


def test_an_optional_field_reads_as_null() -> None:
    """The reader of an optional field gets `T?`, of a field with a default `T`."""
    assert read_shape(FieldShape("a", TEXT, optional=True)) == union((TEXT, NULL))
    assert read_shape(FieldShape("a", TEXT, default='"x"')) == TEXT


@given(st.sampled_from(("a+b", "v[0-9]+", "x|y")), st.text("abvxy0", max_size=5))
def test_patterns_match_the_whole_text(pattern: str, text: str) -> None:
    """A match inside is none: `x|y` does not match `xy`."""
    import re

    assert matches_pattern(pattern, text) == (re.fullmatch(pattern, text) is not None)


def test_patterns_without_linear_time_are_refused() -> None:
    """Look-around and back references; the reason is one line."""
    assert pattern_validator("(?=a)") == "look-around, including look-ahead and look-behind, is not supported"
    assert isinstance(pattern_validator(r"(a)\1"), str)
    assert isinstance(pattern_validator("(a"), str)
    assert not isinstance(pattern_validator("a*"), str)
    assert matches_pattern("(?=a)", "anything")


def test_booleans_and_texts_are_counted() -> None:
    """`bool` is both literals; text with a pattern is inside text without one."""
    assert union((literal(True), literal(False))) == BOOL
    assert includes(TEXT, TextShape(1, 3, "a+"))
    assert not includes(TextShape(1, 3, "a+"), TextShape(1, 3))
