"""What may be given for what, and the path where two shapes part."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.compiler.shapes import SHAPES, shape_of
from windtunnel.compiler.assignability import Reason, fits, mismatch, overlap
from windtunnel.compiler.types import JSON, Shape
from windtunnel.compiler.unions import includes, union


@given(SHAPES)
def test_everything_fits_itself_and_json(shape: Shape) -> None:
    """Every value is JSON."""
    assert mismatch(shape, shape) is None
    assert mismatch(shape, JSON) is None


@given(SHAPES, SHAPES)
def test_what_is_included_fits(left: Shape, right: Shape) -> None:
    """Each member may be given for the union."""
    assert mismatch(left, union((left, right))) is None
    if includes(right, left):
        assert fits(left, right)
        assert overlap(left, right)


@pytest.mark.parametrize(
    ("given_", "wanted"),
    [
        ("text", "text(1..500)"),
        ("int", "number"),
        ("3", "int(1..5)"),
        ("{ a: text }", "{ a: text, b?: int }"),
        ("{ a: text }", "{ a: text, b: int = 3 }"),
        ("{ a: text }", "{ a: text, b: int | null }"),
        ("{ a?: text }", "{ a?: text }"),
        ("{ a: text | null }", "{ a?: text }"),
        ("{ a: text, b: text }", "{ [text]: text }"),
        ('"a" | "b"', "text"),
        ('{ kind: "a", x: int }', '{ kind: "a", x: int } | { kind: "b", y: int }'),
        ('text(1..9) | ""', "text(1..)"),
        ("[int; 2..4]", "[number; 1..]"),
    ],
)
def test_these_fit(given_: str, wanted: str) -> None:
    """Refinements are checked when a value arrives; only what can never fit is refused."""
    assert mismatch(shape_of(given_), shape_of(wanted)) is None


@pytest.mark.parametrize(
    ("given_", "wanted", "path", "reason"),
    [
        ("text", "int", "", Reason.KIND),
        ("text", '"a"', "", Reason.KIND),
        ("number", "int", "", Reason.KIND),
        ("json", "text", "", Reason.KIND),
        ("text | null", "text", "", Reason.NULL),
        ("null", "text", "", Reason.NULL),
        ('""', "text(1..)", "", Reason.RANGE),
        ("int(6..9)", "int(1..5)", "", Reason.RANGE),
        ("[text; ..1]", "[text; 2..]", "", Reason.RANGE),
        ("{ tasks: [{ id: int }] }", "{ tasks: [{ id: text }] }", ".tasks[].id", Reason.KIND),
        ("{ a: text }", "{ a: text, b: int }", ".b", Reason.MISSING),
        ("{ a: text, c: int }", "{ a: text }", ".c", Reason.UNKNOWN_FIELD),
        ("{ a?: text }", "{ a: text }", ".a", Reason.NULL),
        ("{ [text]: int }", "{ [text]: text }", "[]", Reason.KIND),
        ('{ kind: "a", x: text }', '{ kind: "a", x: int } | { kind: "b", y: int }', ".x", Reason.KIND),
        ('"a" | "c"', '"a" | "b"', "", Reason.KIND),
        ("text | int", "text", "", Reason.KIND),
        ("bool", "true", "", Reason.KIND),
    ],
)
def test_these_part(given_: str, wanted: str, path: str, reason: Reason) -> None:
    """The path leads to the first place where the two differ."""
    parted = mismatch(shape_of(given_), shape_of(wanted))
    assert parted is not None
    assert (parted.path, parted.reason) == (path, reason)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ('"a"', "text", True),
        ('"a"', '"b"', False),
        ("int", "number", True),
        ("int", "text", False),
        ("text | null", "null", True),
        ("text", "null", False),
        ("int(1..3)", "int(4..9)", False),
        ('{ kind: "a" }', '{ kind: "b" }', False),
        ("{ a: int }", "{ a: int, b?: int }", True),
        ("json", "text", True),
        ("duration", "int", False),
    ],
)
def test_overlap(left: str, right: str, expected: bool) -> None:
    """Whether some value is of both, which a comparison needs to make sense."""
    assert overlap(shape_of(left), shape_of(right)) is expected
    assert overlap(shape_of(right), shape_of(left)) is expected
