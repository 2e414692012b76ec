"""Shapes for properties: Hypothesis strategies, and shapes read from the syntax of the language."""

from __future__ import annotations

from hypothesis import strategies as st

from windtunnel.compiler.findings import Findings
from windtunnel.compiler.types import (
    BOOL,
    DURATION,
    JSON,
    NULL,
    FieldShape,
    IntShape,
    JsonShape,
    ListShape,
    MapShape,
    NumberShape,
    RecordShape,
    Shape,
    TextShape,
    literal,
)
from windtunnel.compiler.typescope import TypeScope
from windtunnel.compiler.unions import union
from windtunnel.dsl.parser import parse
from windtunnel.dsl.source import Source

BOUNDS = st.one_of(st.none(), st.integers(0, 50))
NAMES = st.sampled_from(("a", "b", "c", "d"))


def _ordered(low: int | None, high: int | None) -> tuple[int | None, int | None]:
    return (high, low) if low is not None and high is not None and low > high else (low, high)


BOUNDED = st.builds(_ordered, BOUNDS, BOUNDS)

SCALARS: st.SearchStrategy[Shape] = st.one_of(
    st.sampled_from((BOOL, NULL, DURATION, JSON)),
    BOUNDED.map(lambda pair: TextShape(pair[0] or 0, pair[1])),
    BOUNDED.map(lambda pair: IntShape(*pair)),
    BOUNDED.map(lambda pair: NumberShape(*pair)),
    st.integers(1, 99).map(JsonShape),
    st.one_of(st.sampled_from(("x", "y", "ready")), st.integers(-3, 60), st.booleans()).map(literal),
)


def _record(fields: dict[str, tuple[Shape, bool]]) -> Shape:
    return RecordShape(tuple(FieldShape(name, shape, optional) for name, (shape, optional) in fields.items()))


def _composite(inner: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    return st.one_of(
        st.builds(lambda item, pair: ListShape(item, pair[0] or 0, pair[1]), inner, BOUNDED),
        st.builds(lambda value, pair: MapShape(TextShape(), value, pair[0] or 0, pair[1]), inner, BOUNDED),
        st.dictionaries(NAMES, st.tuples(inner, st.booleans()), max_size=3).map(_record),
        st.lists(inner, min_size=2, max_size=4).map(union),
    )


SHAPES: st.SearchStrategy[Shape] = st.recursive(SCALARS, _composite, max_leaves=12)


def shape_of(text: str, **names: Shape) -> Shape:
    """The shape of a written type; it must be without mistakes."""
    findings = Findings("types.flow")
    parsed = parse(Source("types.flow", f"language 1\ntype X = {text}\n"))
    assert not parsed.diagnostics, [found.message for found in parsed.diagnostics]
    shape = TypeScope("types.flow", names, findings).shape(parsed.file.types[0].type)
    assert not findings.sink, [found.message for found in findings.sink]
    return shape
