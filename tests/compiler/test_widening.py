"""Types compared: what is called wider really takes more, and every part is named with its path."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windtunnel.compiler import widening
from windtunnel.compiler.acceptance import Accepted, acceptor
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import RecordTypeModel, Snapshot
from windtunnel.compiler.widening import accepts_all, type_changes

FLOW = """language 1
{declared}
workflow w {{
  input {{ a: {type} }}
  compute done = {{ ok: input.a == null }}
  edges {{ start -> done -> exit done }}
}}
"""


def snapshot(written: str, declared: str = "") -> Snapshot:
    """A workflow with one input of a type."""
    text = FLOW.format(type=written, declared=declared)
    compiled = compile_workflow(MemoryReader({"w.flow": text}), "w.flow")
    assert compiled.snapshot is not None, compiled.diagnostics
    return compiled.snapshot


def changes(old: str, new: str, declared: tuple[str, str] = ("", "")) -> list[tuple[str, str]]:
    """Paths and kinds of change between two types."""
    a, b = snapshot(old, declared[0]), snapshot(new, declared[1])
    return [(part.path, part.change.name) for part in type_changes(a.input, b.input, a.types, b.types)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("text", "text", []),
        ("text(1..5)", "text", [(".a", "WIDER")]),
        ("text", "text(1..5)", [(".a", "NARROWER")]),
        ('text(1..5, "a+")', "text(1..5)", [(".a", "WIDER")]),
        ('text(1..5, "a+")', 'text(1..5, "b+")', [(".a", "OTHER")]),
        ("text(1..5)", "text(2..6)", [(".a", "OTHER")]),
        ("int", "number", [(".a", "WIDER")]),
        ("int", "duration", [(".a", "OTHER")]),
        ('"x"', '"x" | "y"', [(".a", "WIDER")]),
        ('"x" | "y"', "text", [(".a", "WIDER")]),
        ("true | false", "bool", []),
        ("text", "text | int", [(".a", "WIDER")]),
        ("[text; ..3]", "[text; ..4]", [(".a", "WIDER")]),
        ("[text(1..2)]", "[text]", [(".a[]", "WIDER")]),
        ("{ [text]: int }", "{ [text]: number }", [(".a", "WIDER")]),
        ("{ b: int }", "{ b: number }", [(".a.b", "WIDER")]),
        ("{ b: int }", "{ b: int, c: int }", [(".a.c", "ADDED_REQUIRED")]),
        ("{ b: int }", "{ b: int, c?: int }", [(".a.c", "ADDED")]),
        ("{ b: int, c: int }", "{ b: int }", [(".a.c", "GONE")]),
        ("{ b?: int }", "{ b: int }", [(".a.b", "REQUIRED")]),
        ("{ b: int }", "{ b: int = 3 }", [(".a.b", "OPTIONAL")]),
        ("{ b: int = 2 }", "{ b: int = 3 }", [(".a.b", "DEFAULT")]),
        ("json", "text", [(".a", "NARROWER")]),
        ("json(..10)", "json(..20)", [(".a", "WIDER")]),
        ("text(1..2)", "json(..20)", [(".a", "OTHER")]),
    ],
)
def test_every_kind_of_change(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    """What the new type does with what the old one took; in doubt it is something else."""
    assert changes(old, new) == expected


TREE = "type Tree = {{ name: {name}, parts: [Tree] }}"


def test_recursive_types_are_compared_once_round() -> None:
    """A change inside a recursive type is found, and an unchanged one is none."""
    same = TREE.format(name="text")
    assert changes("Tree", "Tree", (same, same)) == []
    assert changes("Tree", "Tree", (same, TREE.format(name="text(1..3)"))) == [(".a.name", "NARROWER")]
    one, other = "type Tree = { parts: [Tree] }", "type Tree = { parts: [Tree; ..2] }"
    assert changes("Tree | int", "Tree | int", (one, other)) == [(".a", "NARROWER")]


TYPES = st.recursive(
    st.sampled_from(
        [
            "text",
            "text(1..2)",
            'text(1..2, "a*")',
            "int",
            "int(1..3)",
            "number(0..2)",
            "bool",
            "null",
            "json",
            "1",
        ]
    ),
    lambda inner: st.one_of(
        inner.map(lambda t: f"[{t}]"),
        inner.map(lambda t: f"[{t}; 1..2]"),
        inner.map(lambda t: f"{{ [text]: {t} }}"),
        st.tuples(inner, inner).map(lambda t: f"{{ a: {t[0]}, b?: {t[1]} }}"),
        inner.map(lambda t: f"{{ a: {t} }}"),
    ),
    max_leaves=3,
)
VALUES = st.recursive(
    st.sampled_from(["", "a", "aa", "ab", "abc", 0, 1, 2, 3, 1.5, True, False, None]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    ),
    max_leaves=3,
)


@settings(max_examples=60, deadline=None)
@given(wide=TYPES, narrow=TYPES, values=st.lists(VALUES, min_size=1, max_size=20))
def test_what_accepts_all_accepts_each(wide: str, narrow: str, values: list[object]) -> None:
    """Where one type is said to take all of another, no value of the other is refused."""
    a, b = snapshot(wide), snapshot(narrow)
    assert isinstance(a.input, RecordTypeModel)
    wider, narrower = a.input.fields["a"].type, b.input.fields["a"].type
    assert accepts_all(wider, wider, a.types, a.types) or "json" in wide
    if accepts_all(wider, narrower, a.types, b.types):
        for value in values:
            if isinstance(acceptor(narrower, b.types).accept(value), Accepted):  # type: ignore[arg-type]
                assert isinstance(acceptor(wider, a.types).accept(value), Accepted)  # type: ignore[arg-type]


def test_in_doubt_nothing_is_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit of work the answer is no; here the input, its field and three more are compared."""
    type_ = snapshot("{ a: int, b: int, c: int }")
    monkeypatch.setattr(widening, "MAX_PAIRS", 5)
    assert accepts_all(type_.input, type_.input, {}, {})
    monkeypatch.setattr(widening, "MAX_PAIRS", 4)
    assert not accepts_all(type_.input, type_.input, {}, {})
