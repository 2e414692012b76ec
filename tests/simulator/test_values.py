"""Made values: what must be accepted is, what must be refused is, and every case is seen."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from tests.compiler.jsonschema import problems
from windtunnel.compiler.acceptance import Accepted, Refused, accept, acceptor
from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import (
    FieldModel,
    IntType,
    JsonType,
    ListTypeModel,
    LiteralValueType,
    MapTypeModel,
    NumberType,
    RecordTypeModel,
    RefType,
    SimpleType,
    TextType,
    TypeModel,
    UnionTypeModel,
)
from windtunnel.compiler.typetext import type_to_json, words
from windtunnel.simulator.providers import values
from windtunnel.simulator.providers.patterns import MAX_NESTING, MAX_PATTERN, matching, missing
from windtunnel.simulator.providers.values import Source, boundaries, cases, invalid

PATTERNS = (r"[a-z0-9][a-z0-9-]*", r"v[0-9]+\.[0-9]+", r"(?:ab|c){1,3}x?", r"\d{4}-\d\d", r"[^a-c]+", r".*")
NODE = RecordTypeModel(
    fields={
        "label": FieldModel(type=TextType(min=1)),
        "children": FieldModel(type=ListTypeModel(item=RefType(name="Node"))),
        "next": FieldModel(type=RefType(name="Node"), optional=True),
    }
)
SOURCE = Source({"Node": NODE}, ("kept", "a longer text of the run", "v1.2"))


def literal(value: str | int | bool) -> LiteralValueType:
    return LiteralValueType(value=value)


def ordered(low: int | None, high: int | None) -> tuple[int | None, int | None]:
    return (high, low) if low is not None and high is not None and low > high else (low, high)


BOUNDS = st.builds(ordered, st.none() | st.integers(0, 5), st.none() | st.integers(0, 9))
NUMBERS = st.builds(ordered, st.none() | st.integers(-50, 50), st.none() | st.integers(-50, 50))
SCALARS: st.SearchStrategy[TypeModel] = st.one_of(
    BOUNDS.map(lambda bounds: TextType(min=bounds[0], max=bounds[1])),
    st.sampled_from(PATTERNS).map(lambda pattern: TextType(pattern=pattern)),
    NUMBERS.map(lambda bounds: IntType(min=bounds[0], max=bounds[1])),
    NUMBERS.map(lambda bounds: NumberType(min=bounds[0], max=bounds[1])),
    st.sampled_from((SimpleType(kind="bool"), SimpleType(kind="null"), SimpleType(kind="duration"))),
    (st.none() | st.integers(2, 30)).map(lambda most: JsonType(max=most)),
    st.sampled_from((literal("ready"), literal("blocked"), literal(3), literal(True))),
    st.just(RefType(name="Node")),
)


def fields_of(inner: st.SearchStrategy[TypeModel]) -> st.SearchStrategy[TypeModel]:
    def field_of(of: TypeModel, kind: str) -> FieldModel:
        made = cases(of, SOURCE) if kind == "default" else ()
        if made:
            return FieldModel(type=of, has_default=True, default=made[0])
        return FieldModel(type=of, optional=kind == "optional")

    field = st.builds(field_of, inner, st.sampled_from(("required", "optional", "default")))
    names = st.sampled_from(("id", "title", "status", "a/b", "c~d"))
    return st.dictionaries(names, field, max_size=4).map(lambda fields: RecordTypeModel(fields=fields))


def lists_of(inner: st.SearchStrategy[TypeModel]) -> st.SearchStrategy[TypeModel]:
    return st.builds(lambda of, bounds: ListTypeModel(item=of, min=bounds[0], max=bounds[1]), inner, BOUNDS)


def unions_of(inner: st.SearchStrategy[TypeModel]) -> st.SearchStrategy[TypeModel]:
    several = st.lists(inner, min_size=2, max_size=4)
    return several.map(lambda members: UnionTypeModel(members=tuple(members)))


def maps_of(inner: st.SearchStrategy[TypeModel]) -> st.SearchStrategy[TypeModel]:
    key = TextType(min=1)
    return st.builds(
        lambda of, least: MapTypeModel(key=key, value=of, min=least), inner, st.none() | st.just(2)
    )


TYPES = st.recursive(
    SCALARS,
    lambda inner: fields_of(inner) | lists_of(inner) | unions_of(inner) | maps_of(inner),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(TYPES)
def test_what_is_made_is_what_it_claims_to_be(of: TypeModel) -> None:
    """Valid and boundary values are accepted, invalid ones refused; sets hold no value twice."""
    for made in (cases(of, SOURCE), cases(of, SOURCE, optional=True), boundaries(of, SOURCE)):
        assert len(made) <= values.MAX_VALUES
        assert len({canonical(value) for value in made}) == len(made)
        for value in made:
            assert isinstance(accept(of, value, SOURCE.types), Accepted), value
    for wrong in invalid(of, SOURCE):
        assert isinstance(accept(of, wrong.value, SOURCE.types), Refused), wrong


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-60, 60)
    | st.floats(-60, 60)
    | st.sampled_from(["", "x", "ab", "ready", "v1.2", "abcdefghijk", "\U0001f426"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(("id", "title", "label", "children", "a/b", "")), inner, max_size=3)
    ),
    max_leaves=6,
)


def has_long_json(of: TypeModel) -> bool:
    """Whether a type counts the characters of canonical JSON, which a JSON Schema cannot say."""
    return '"kind": "json", "max"' in json.dumps(type_to_json(of), sort_keys=True)


@settings(max_examples=60, deadline=None)
@given(TYPES, st.lists(JSON, max_size=4))
def test_model_schema_and_made_values_agree(of: TypeModel, others: list[JsonValue]) -> None:
    """One declaration: what the model takes, the schema takes, whoever made the value, and nothing else."""
    schema = acceptor(of, SOURCE.types).json_schema()
    made = [*cases(of, SOURCE, optional=True), *boundaries(of, SOURCE)]
    for value in (*made, *(wrong.value for wrong in invalid(of, SOURCE)), *others):
        taken = isinstance(accept(of, value, SOURCE.types), Accepted)
        says = list(problems(value, schema, schema))
        if taken or not has_long_json(of):
            assert taken == (not says), (value, says)


def declared(text: str) -> TypeModel | None:
    """The type of an input that is declared in these words; None for one that no author may declare."""
    flow = (
        f"language 1\ntype Node = {words(NODE)}\nworkflow w {{ input {{ x: {text}, n?: Node }}\n"
        " compute a = { x: json(input.x), n: json(input.n) }\n edges { start -> a -> exit done } }\n"
    )
    made = compile_workflow(MemoryReader({"w.flow": flow}), "w.flow")
    refused = {each.code for each in made.diagnostics if each.severity == "error"}
    assert refused <= {"WT0415", "WT0417"}, (flow, made.diagnostics)
    return None if made.snapshot is None else made.snapshot.input.fields["x"].type


@settings(max_examples=40, deadline=None)
@example(
    RecordTypeModel(
        fields={"wait": FieldModel(type=SimpleType(kind="duration"), has_default=True, default=1_000)}
    )
)
@given(TYPES)
def test_the_words_of_the_contract_are_the_type(of: TypeModel) -> None:
    """What a model is told reads back, in the language itself, as a type that takes the same values."""
    read = declared(words(of))
    if read is None:
        return
    assert declared(words(read)) == read
    for value in (*boundaries(of, SOURCE), *(wrong.value for wrong in invalid(of, SOURCE))):
        one, other = (accept(each, value, SOURCE.types) for each in (of, read))
        assert isinstance(one, Accepted) == isinstance(other, Accepted), value


@settings(max_examples=60, deadline=None)
@given(TYPES)
def test_making_values_again_gives_the_same(of: TypeModel) -> None:
    assert cases(of, SOURCE) == cases(of, SOURCE)
    assert boundaries(of, SOURCE) == boundaries(of, SOURCE)
    assert invalid(of, SOURCE) == invalid(of, SOURCE)


CANDIDATE = RecordTypeModel(
    fields={
        "id": FieldModel(type=TextType(min=1, max=64, pattern=PATTERNS[0])),
        "risk": FieldModel(type=UnionTypeModel(members=(literal("high"), literal("low"), literal("none")))),
        "note": FieldModel(type=TextType(max=20), optional=True),
    }
)
READY = RecordTypeModel(
    fields={
        "status": FieldModel(type=literal("ready")),
        "candidates": FieldModel(type=ListTypeModel(item=CANDIDATE, min=2, max=4)),
    }
)
BLOCKED = RecordTypeModel(
    fields={"status": FieldModel(type=literal("blocked")), "why": FieldModel(type=TextType(min=1))}
)
VERDICT = UnionTypeModel(members=(BLOCKED, READY))


def test_every_arm_and_every_enum_case_is_seen() -> None:
    made: Any = cases(VERDICT, SOURCE)
    assert {value["status"] for value in made} == {"ready", "blocked"}
    candidates = [candidate for value in made for candidate in value.get("candidates", ())]
    assert {candidate["risk"] for candidate in candidates} == {"high", "low", "none"}
    assert {"note" in candidate for candidate in candidates} == {True, False}


def test_the_items_of_the_smallest_list_differ() -> None:
    """So that a validator which wants unique ids is met by the first value."""
    made: Any = cases(READY, SOURCE)
    ids = [candidate["id"] for candidate in made[0]["candidates"]]
    assert len(ids) == len(set(ids)) == 2


def test_texts_come_from_the_pool_where_they_fit() -> None:
    assert cases(TextType(max=4), SOURCE) == ("kept",)
    assert cases(TextType(pattern="v[0-9.]+"), SOURCE) == ("v1.2",)
    assert cases(TextType(min=500, max=500), SOURCE) == ("a" * 500,)


def test_bounds_are_hit_on_both_sides() -> None:
    assert {len(str(text)) for text in boundaries(TextType(min=3, max=7), SOURCE)} == {3, 7}
    assert set(boundaries(IntType(min=2, max=9), SOURCE)) >= {2, 9}
    made: Any = boundaries(ListTypeModel(item=IntType(), min=1, max=3), SOURCE)
    assert {len(items) for items in made} == {1, 3}


def test_a_refused_value_says_where_it_is_wrong() -> None:
    found = {(wrong.pointer, wrong.reason) for wrong in invalid(READY, SOURCE)}
    assert ("/candidates", "too short") in found
    assert ("/candidates/0/risk", "no such case") in found
    assert ("/status", "another value") in found
    assert ("/candidates/0/id", "does not match the pattern") in found


@pytest.mark.parametrize("kind", ["without an end", "contradicting bounds", "inside a record"])
def test_a_type_without_values_gives_none(kind: str) -> None:
    endless = RecordTypeModel(fields={"next": FieldModel(type=RefType(name="Endless"))})
    nothing = IntType(min=3, max=2)
    types: dict[str, TypeModel] = {
        "without an end": endless,
        "contradicting bounds": nothing,
        "inside a record": RecordTypeModel(fields={"n": FieldModel(type=nothing)}),
    }
    assert cases(types[kind], Source({"Endless": endless})) == ()


def test_a_wide_type_stays_small_and_quick() -> None:
    """Limits hold where the product of all cases would be astronomic."""
    wide: TypeModel = UnionTypeModel(members=tuple(literal(f"case {at}") for at in range(200)))
    for _ in range(6):
        wide = RecordTypeModel(fields={name: FieldModel(type=wide) for name in "abcdefgh"})
        wide = ListTypeModel(item=wide)
    for made in (cases(wide, SOURCE), boundaries(wide, SOURCE), invalid(wide, SOURCE)):
        assert 1 <= len(made) <= values.MAX_VALUES


@pytest.mark.parametrize("pattern", PATTERNS)
def test_texts_match_their_pattern(pattern: str) -> None:
    made = matching(pattern, 0, 30, 4)
    assert len(set(made)) == 4
    assert all(isinstance(accept(TextType(pattern=pattern), text), Accepted) for text in made)
    wrong = missing(pattern, 1, 30)
    if pattern != ".*":
        assert isinstance(accept(TextType(pattern=pattern), wrong), Refused)


def test_a_length_can_be_hit() -> None:
    assert {len(text) for text in matching(r"[a-z0-9][a-z0-9-]*", 64, 64, 3)} == {64}


@pytest.mark.parametrize("pattern", ["(?=a)b", "a" * (MAX_PATTERN + 1), "[", "a{2", r"\b", "*"])
def test_an_unreadable_pattern_gives_no_text(pattern: str) -> None:
    assert matching(pattern, 0, 2_000, 3) == ()


def test_the_longest_readable_pattern_gives_a_text() -> None:
    assert matching("a" * MAX_PATTERN, 0, 2_000, 1) == ("a" * MAX_PATTERN,)


def test_long_texts_and_lists_are_made_up_to_a_limit() -> None:
    at, past = values.MAX_TEXT, values.MAX_TEXT + 1
    assert [len(str(text)) for text in cases(TextType(min=at), SOURCE)] == [at]
    assert cases(TextType(min=past), SOURCE) == ()
    assert at in {len(str(text)) for text in boundaries(TextType(max=at), SOURCE)}
    assert past not in {len(str(text)) for text in boundaries(TextType(max=past), SOURCE)}
    full: Any = cases(ListTypeModel(item=IntType(), min=values.MAX_ITEMS), SOURCE)
    assert len(full[0]) == values.MAX_ITEMS
    assert cases(ListTypeModel(item=IntType(), min=values.MAX_ITEMS + 1), SOURCE) == ()
    crowded: Any = cases(MapTypeModel(key=TextType(pattern="[a-z0-9]+"), value=IntType(), max=5), SOURCE)
    assert max(len(each) for each in crowded) <= 5


def test_a_set_shows_its_first_values_only() -> None:
    def union_of(count: int) -> TypeModel:
        return UnionTypeModel(members=tuple(literal(at) for at in range(count)))

    assert len(cases(union_of(values.MAX_VALUES), SOURCE)) == values.MAX_VALUES
    assert len(cases(union_of(values.MAX_VALUES + 1), SOURCE)) == values.MAX_VALUES


def test_patterns_nest_to_a_limit() -> None:
    def nested(depth: int) -> str:
        return "(" * depth + "a" + ")" * depth

    assert matching(nested(MAX_NESTING), 0, 9, 1) == ("a",)
    assert matching(nested(MAX_NESTING + 1), 0, 9, 1) == ()
