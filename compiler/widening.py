"""Two stored types compared: which accepts more, and at which path they part.

`accepts_all` is strict, unlike what may be given for what: every value of the one must be one of the other.
It says no when unsure, so a change that cannot be judged counts as one that may break.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from windtunnel.compiler.acceptance import Accepted, acceptor
from windtunnel.compiler.canonical import canonical
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
from windtunnel.compiler.typetext import words

MAX_PAIRS: Final = 20_000
"""Pairs of types compared for one question; past it the answer is that nothing is sure."""

Types = Mapping[str, TypeModel]


class Change(StrEnum):
    """How the new type differs; OTHER accepts neither more nor less, or it is not known."""

    WIDER = "accepts more"
    NARROWER = "accepts less"
    OTHER = "accepts something else"
    REQUIRED = "is required now"
    OPTIONAL = "may be left out now"
    ADDED_REQUIRED = "is new and required"
    ADDED = "is new and may be left out"
    GONE = "is gone"
    DEFAULT = "has another default"


@dataclass(frozen=True, slots=True)
class TypeChange:
    """One place where two types part: a path such as `.tasks[].id`, and what stood and stands there."""

    path: str
    change: Change
    before: str
    now: str


def type_changes(
    old: TypeModel, new: TypeModel, old_types: Types, new_types: Types
) -> tuple[TypeChange, ...]:
    """Where the types part, in order of path; empty when they are the same."""
    return tuple(_changes(old, new, _Comparison(old_types, new_types), "", frozenset()))


def accepts_all(wide: TypeModel, narrow: TypeModel, wide_types: Types, narrow_types: Types) -> bool:
    """Whether every value of `narrow` surely is one of `wide`."""
    return _Comparison(narrow_types, wide_types).within(narrow, wide, frozenset())


def _changes(
    old: TypeModel, new: TypeModel, comparison: _Comparison, path: str, seen: frozenset[tuple[str, str]]
) -> Iterator[TypeChange]:
    if isinstance(old, RefType) and isinstance(new, RefType):
        pair = (old.name, new.name)
        if pair in seen:
            return
        seen = seen | {pair}
        old, new = comparison.old[old.name], comparison.new[new.name]
    elif comparison.same and old == new:
        return
    match old, new:
        case RecordTypeModel(), RecordTypeModel():
            yield from _field_changes(old, new, comparison, path, seen)
        case ListTypeModel(), ListTypeModel() if (old.min, old.max) == (new.min, new.max):
            yield from _changes(old.item, new.item, comparison, f"{path}[]", seen)
        case _:
            change = comparison.judge(old, new)
            if change is not None:
                yield TypeChange(path, change, words(old), words(new))


def _field_changes(
    old: RecordTypeModel,
    new: RecordTypeModel,
    comparison: _Comparison,
    path: str,
    seen: frozenset[tuple[str, str]],
) -> Iterator[TypeChange]:
    for name in sorted(old.fields.keys() | new.fields.keys()):
        before, now = old.fields.get(name), new.fields.get(name)
        where = f"{path}.{name}"
        if before is None:
            assert now is not None, "a name stands in one of the two"
            change = Change.ADDED if _may_be_missing(now) else Change.ADDED_REQUIRED
            yield TypeChange(where, change, "", words(now.type))
        elif now is None:
            yield TypeChange(where, Change.GONE, words(before.type), "")
        else:
            yield from _changes(before.type, now.type, comparison, where, seen)
            if _may_be_missing(before) != _may_be_missing(now):
                change = Change.OPTIONAL if _may_be_missing(now) else Change.REQUIRED
                yield TypeChange(where, change, _presence(before), _presence(now))
            elif (before.has_default, before.default) != (now.has_default, now.default):
                yield TypeChange(where, Change.DEFAULT, _presence(before), _presence(now))


def _may_be_missing(field: FieldModel) -> bool:
    return field.optional or field.has_default


def _presence(field: FieldModel) -> str:
    if field.has_default:
        return f"{canonical(field.default)} by default"
    return "null by default" if field.optional else "required"


class _Comparison:
    """One question about types of two snapshots; recursive types are looked up, each pair once."""

    def __init__(self, old: Types, new: Types) -> None:
        self.old = old
        self.new = new
        self.same = old == new
        """Whether a name means the same in both."""
        self._room = MAX_PAIRS

    def judge(self, old: TypeModel, new: TypeModel) -> Change | None:
        """How the new type differs as a whole; None when both surely accept the same."""
        wider = self.within(old, new, frozenset())
        narrower = _Comparison(self.new, self.old).within(new, old, frozenset())
        if wider and narrower:
            return None
        if wider:
            return Change.WIDER
        return Change.NARROWER if narrower else Change.OTHER

    def within(self, part: TypeModel, whole: TypeModel, seen: frozenset[tuple[str, str]]) -> bool:
        """Whether every value of `part` (of the old types) is one of `whole` (of the new ones)."""
        self._room -= 1
        if self._room < 0:
            return False
        if isinstance(part, RefType):
            if isinstance(whole, RefType) and (part.name, whole.name) in seen:
                return True  # Taken for granted while it is being shown: types are finite words.
            if isinstance(whole, RefType):
                seen = seen | {(part.name, whole.name)}
            part = self.old[part.name]
        if isinstance(whole, RefType):
            whole = self.new[whole.name]
        if isinstance(part, UnionTypeModel):
            return all(self.within(member, whole, seen) for member in part.members)
        if isinstance(whole, UnionTypeModel):
            return _is_bool_of(part, whole) or any(
                self.within(part, member, seen) for member in whole.members
            )
        if isinstance(whole, JsonType):
            return whole.max is None or (isinstance(part, JsonType) and _at_most(part.max, whole.max))
        return self._within_plain(part, whole, seen)

    def _within_plain(self, part: TypeModel, whole: TypeModel, seen: frozenset[tuple[str, str]]) -> bool:
        match part, whole:
            case LiteralValueType(), _:
                return isinstance(acceptor(whole, self.new).accept(part.value), Accepted)
            case TextType(), TextType():
                same_pattern = whole.pattern is None or whole.pattern == part.pattern
                return same_pattern and _inside(part.min or 0, part.max, whole.min or 0, whole.max)
            case IntType() | NumberType(), NumberType():
                return _inside(part.min, part.max, whole.min, whole.max)
            case IntType(), IntType():
                return _inside(part.min, part.max, whole.min, whole.max)
            case SimpleType(), SimpleType():
                return part.kind == whole.kind
            case ListTypeModel(), ListTypeModel():
                inside = _inside(part.min or 0, part.max, whole.min or 0, whole.max)
                return inside and self.within(part.item, whole.item, seen)
            case MapTypeModel(), MapTypeModel():
                inside = _inside(part.min or 0, part.max, whole.min or 0, whole.max)
                keys = inside and self.within(part.key, whole.key, seen)
                return keys and self.within(part.value, whole.value, seen)
            case RecordTypeModel(), RecordTypeModel():
                return self._within_record(part, whole, seen)
            case _:
                return False

    def _within_record(
        self, part: RecordTypeModel, whole: RecordTypeModel, seen: frozenset[tuple[str, str]]
    ) -> bool:
        for name, field in part.fields.items():
            other = whole.fields.get(name)
            if other is None or (_may_be_missing(field) and not _may_be_missing(other)):
                return False
            if not self.within(field.type, other.type, seen):
                return False
        return all(name in part.fields or _may_be_missing(field) for name, field in whole.fields.items())


def _is_bool_of(part: TypeModel, whole: UnionTypeModel) -> bool:
    """`bool` is `true | false`."""
    if not (isinstance(part, SimpleType) and part.kind == "bool"):
        return False
    literals = [member.value for member in whole.members if isinstance(member, LiteralValueType)]
    return any(value is True for value in literals) and any(value is False for value in literals)


def _inside(low: float | None, high: float | None, least: float | None, most: float | None) -> bool:
    return (least is None or (low is not None and low >= least)) and _at_most(high, most)


def _at_most(high: float | None, most: float | None) -> bool:
    return most is None or (high is not None and high <= most)
