"""Values of a type: valid ones that show every case, the ones at its bounds, and ones it must refuse.

Sets are small and their order is fixed. A set of records is not the product of its fields: the i-th record
takes the i-th value of each field, so each value of each field is seen. Texts come from a pool that fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeVar

from pydantic import JsonValue

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.patterns import matches_pattern
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
from windtunnel.simulator.providers.patterns import matching, missing
from windtunnel.simulator.providers.scalars import any_json, not_literal, not_simple, outside, simple, within

MAX_TEXT: Final = 20_000
"""Code points of the longest text that is made; a type that needs more has no values here."""

MAX_ITEMS: Final = 64
"""Items of the longest list or map that is made."""

MAX_VALUES: Final = 64
"""Values in one set; a type with more cases shows its first ones."""

MAX_SHOWN: Final = 12
"""Cases of an item that one list or map shows."""

MAX_STEPS: Final = 20_000
"""Steps spent on one set; what was not made by then is left out, and the smallest value comes first."""

MAX_DEPTH: Final = 24
"""Types inside one another; deeper than this a recursive type takes its shortest way out."""

MAX_RECURSION: Final = 2
"""How often a recursive type is entered again on one path."""

WORDS: Final = ("alpha", "beta", "gamma", "delta", "a", "Two words.")
"""Texts for when the pool has none that fits."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """A value that the type refuses, and why; `pointer` is the JSON pointer of the part that is wrong."""

    value: JsonValue
    reason: str
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where values come from: the snapshot's recursive types by name, and texts to draw from, best first."""

    types: Mapping[str, TypeModel]
    pool: tuple[str, ...] = ()


def cases(of: TypeModel, source: Source, *, optional: bool = False) -> tuple[JsonValue, ...]:
    """Valid values: every enum case and union arm is seen, the first value is the smallest.

    With `optional` each optional field and each field with a default is given wherever it can be. Empty if
    no value of the type can be made.
    """
    return _distinct(_Maker(source, optional).cases(of, 0, _Path()))


def boundaries(of: TypeModel, source: Source) -> tuple[JsonValue, ...]:
    """Valid values at the bounds: shortest and longest, least and greatest. Empty if none can be made."""
    return _distinct(_Maker(source, False).boundaries(of, _Path()))


def invalid(of: TypeModel, source: Source) -> tuple[Invalid, ...]:
    """Values that the type refuses, one mistake in each."""
    found: dict[str, Invalid] = {}
    for wrong in _Refused(_Maker(source, False)).of(of, _Path()):
        found.setdefault(canonical(wrong.value), wrong)
        if len(found) == MAX_VALUES:
            break
    return tuple(found.values())


def texts_in(value: JsonValue) -> Iterator[str]:
    """Every text inside a value, in order; keys are not texts."""
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            yield top
        elif isinstance(top, list):
            stack.extend(reversed(top))
        elif isinstance(top, dict):
            stack.extend(reversed(top.values()))


def _distinct(values: Iterator[JsonValue]) -> tuple[JsonValue, ...]:
    found: dict[str, JsonValue] = {}
    for value in values:
        found.setdefault(canonical(value), value)
        if len(found) == MAX_VALUES:
            break
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class _Path:
    """How deep we are and which recursive types we came through."""

    depth: int = 0
    refs: tuple[str, ...] = ()

    def deeper(self) -> _Path:
        return _Path(self.depth + 1, self.refs)

    def through(self, name: str) -> _Path | None:
        if self.depth > MAX_DEPTH or self.refs.count(name) > MAX_RECURSION:
            return None
        return _Path(self.depth + 1, (*self.refs, name))


class _Maker:
    """Makes values lazily, the smallest first; `salt` shifts the choice of texts, so that items differ."""

    def __init__(self, source: Source, optional: bool) -> None:
        self.source = source
        self.optional = optional
        self.fuel = MAX_STEPS

    def cases(self, of: TypeModel, salt: int, path: _Path) -> Iterator[JsonValue]:
        self.fuel -= 1
        if self.fuel < 0:
            return
        match of:
            case LiteralValueType():
                yield of.value
            case SimpleType():
                yield from simple(of)
            case IntType() | NumberType():
                yield from within(of)[:1]
            case TextType():
                yield from self.texts(of, salt)[:1]
            case JsonType():
                yield from any_json(of)[:1]
            case UnionTypeModel():
                # The first case of every arm comes before the second of any: a cut set still shows all arms.
                inner = path.deeper()
                yield from _turns([self.cases(member, salt, inner) for member in of.members])
            case ListTypeModel():
                yield from self.lists(of, salt, path.deeper())
            case MapTypeModel():
                yield from self.maps(of, salt, path.deeper())
            case RecordTypeModel():
                yield from self.records(of, salt, path.deeper())
            case RefType():
                below = path.through(of.name)
                if below is not None:
                    yield from self.cases(self.source.types[of.name], salt, below)

    def first(self, of: TypeModel, salt: int, path: _Path) -> list[JsonValue]:
        """The smallest value, in a list that is empty if there is none."""
        return next(([value] for value in self.cases(of, salt, path)), [])

    def texts(self, of: TextType, salt: int) -> list[str]:
        """Texts that fit, of which the first changes with `salt`."""
        low, high = _span(of.min, of.max, MAX_TEXT)
        fitting = [text for text in self.source.pool if low <= len(text) <= high]
        if of.pattern is not None:
            fitting = [text for text in fitting if matches_pattern(of.pattern, text)]
            made = matching(of.pattern, low, high, 4)
        else:
            made = tuple(word for word in WORDS if low <= len(word) <= high) or _filled(low, high)
        found = list(dict.fromkeys([*fitting, *made]))
        turn = salt % len(found) if found else 0
        return found[turn:] + found[:turn]

    def lists(self, of: ListTypeModel, salt: int, path: _Path) -> Iterator[JsonValue]:
        """The smallest list, then lists that show every case of the item."""
        low, high = _span(of.min, of.max, MAX_ITEMS)
        smallest = self.items(of.item, low, salt, path) if low <= high else None
        if smallest is None:
            return
        yield smallest
        shown: list[JsonValue] = []
        for place in range(MAX_SHOWN if high else 0):
            item = list(islice(self.cases(of.item, salt + place, path), place, place + 1))
            if not item:
                break
            shown += item
        for start in range(0, len(shown), max(high, 1)):
            part = shown[start : start + high]
            fill = self.items(of.item, max(0, low - len(part)), salt + start + len(part), path)
            if fill is not None:
                yield [*part, *fill]

    def items(self, of: TypeModel, count: int, salt: int, path: _Path) -> list[JsonValue] | None:
        """`count` smallest items, as different as they come; None if there are none."""
        made: list[JsonValue] = []
        for place in range(count):
            item = self.first(of, salt + place, path)
            if not item:
                return None
            made += item
        return made

    def maps(self, of: MapTypeModel, salt: int, path: _Path) -> Iterator[JsonValue]:
        """The smallest map, then one that shows the cases of the value."""
        low, high = _span(of.min, of.max, MAX_ITEMS)
        if low > high:
            return
        if low == 0:
            yield {}
        values = list(islice(self.cases(of.value, salt, path), min(high, MAX_SHOWN)))
        wanted = max(low, min(high, len(values)))
        keys: dict[str, None] = {}
        for place in range(2 * wanted):
            texts = self.first(of.key, salt + place, path)
            keys.update(dict.fromkeys(key for key in texts if isinstance(key, str)))
        if not values or len(keys) < low:
            return
        for count in dict.fromkeys((low, min(wanted, len(keys)))):
            if count:
                yield {key: values[at % len(values)] for at, key in enumerate(islice(keys, count))}

    def records(self, of: RecordTypeModel, salt: int, path: _Path) -> Iterator[JsonValue]:
        """The i-th record takes the i-th value of each field, or its last one."""
        columns = {name: self.column(field, salt, path) for name, field in of.fields.items()}
        picked: dict[str, list[JsonValue]] = {}
        for name, column in columns.items():
            value = next(column, None)
            if value is None:
                return
            picked[name] = value
        while True:
            yield {name: value[0] for name, value in picked.items() if value}
            fresh = {
                name: value for name, column in columns.items() if (value := next(column, None)) is not None
            }
            if not fresh:
                return
            picked |= fresh

    def column(self, field: FieldModel, salt: int, path: _Path) -> Iterator[list[JsonValue]]:
        """The values of one field, each in a list; an empty list leaves the field out."""
        may_miss = field.optional or field.has_default
        if may_miss and not self.optional:
            yield []
        given = False
        for value in islice(self.cases(field.type, salt, path), MAX_VALUES):
            given = True
            yield [value]
        if may_miss and self.optional and not given:
            yield []

    def boundaries(self, of: TypeModel, path: _Path) -> Iterator[JsonValue]:
        """Values at the bounds: of each part in turn, with the other parts smallest."""
        self.fuel -= 1
        if self.fuel < 0:
            return
        match of:
            case IntType() | NumberType():
                yield from within(of)
            case TextType():
                yield from self.text_bounds(of)
            case JsonType():
                yield from any_json(of)
            case UnionTypeModel():
                inner = path.deeper()
                yield from _turns([self.boundaries(member, inner) for member in of.members])
            case ListTypeModel():
                yield from self.list_bounds(of, path.deeper())
            case RecordTypeModel():
                yield from self.record_bounds(of, path.deeper())
            case RefType():
                below = path.through(of.name)
                if below is not None and of.name not in path.refs:
                    yield from self.boundaries(self.source.types[of.name], below)
            case _:
                yield from self.cases(of, 0, path)

    def text_bounds(self, of: TextType) -> Iterator[JsonValue]:
        low, high = _span(of.min, of.max, MAX_TEXT)
        if of.pattern is not None:
            yield from matching(of.pattern, low, high, 1)
            yield from matching(of.pattern, high, high, 1) if high == of.max else ()
        elif low <= high:
            yield "x" * low
            if high == of.max:
                yield "x" * high
                # A code point outside the basic plane counts as one.
                yield "\N{PERSONAL COMPUTER}" * high

    def list_bounds(self, of: ListTypeModel, path: _Path) -> Iterator[JsonValue]:
        low, high = _span(of.min, of.max, MAX_ITEMS)
        for count in dict.fromkeys((low, high) if high == of.max else (low,)):
            made = self.items(of.item, count, 0, path) if low <= high else None
            if made is not None:
                yield made
        rest = self.items(of.item, max(0, low - 1), 1, path) if 0 < high >= low else None
        if rest is not None:
            yield from ([value, *rest] for value in self.boundaries(of.item, path))

    def record_bounds(self, of: RecordTypeModel, path: _Path) -> Iterator[JsonValue]:
        for smallest in islice(self.records(of, 0, path), 1):
            assert isinstance(smallest, dict), "a record's value is a dict"
            yield from _turns([self.field_bounds(smallest, of, name, path) for name in of.fields])

    def field_bounds(
        self, record: dict[str, JsonValue], of: RecordTypeModel, name: str, path: _Path
    ) -> Iterator[JsonValue]:
        for value in self.boundaries(of.fields[name].type, path):
            yield {**record, name: value}


class _Refused:
    """Makes values with one mistake in each."""

    def __init__(self, maker: _Maker) -> None:
        self.maker = maker

    def of(self, of: TypeModel, path: _Path) -> Iterator[Invalid]:
        match of:
            case TextType():
                yield from self.texts(of)
            case IntType() | NumberType():
                yield from (Invalid(value, "out of range") for value in outside(of))
                yield from (Invalid(value, f"not {of.kind}") for value in (True, "1", None))
                if isinstance(of, IntType):
                    yield Invalid(0.5, "not whole")
            case SimpleType():
                yield from (Invalid(value, f"not {of.kind}") for value in not_simple(of))
            case LiteralValueType():
                yield from (Invalid(value, "another value") for value in not_literal(of))
            case JsonType():
                if of.max is not None and of.max < MAX_TEXT:
                    # Two quotation marks count as well.
                    yield Invalid("x" * max(0, of.max - 1), "too long")
            case UnionTypeModel():
                yield from self.unions(of)
            case ListTypeModel():
                yield from self.lists(of, path.deeper())
            case MapTypeModel():
                yield from (Invalid([], "not a record"), Invalid(None, "null"))
            case RecordTypeModel():
                yield from self.records(of, path.deeper())
            case RefType():
                below = path.through(of.name)
                if below is not None and of.name not in path.refs:
                    yield from self.of(self.maker.source.types[of.name], below)

    def texts(self, of: TextType) -> Iterator[Invalid]:
        low, high = of.min or 0, of.max
        if 0 < low <= MAX_TEXT and of.pattern is None:
            yield Invalid("x" * (low - 1), "too short")
        if high is not None and high < MAX_TEXT:
            yield Invalid("x" * (high + 1), "too long")
        if of.pattern is not None:
            text = missing(of.pattern, low, MAX_TEXT if high is None else high)
            if text is not None:
                yield Invalid(text, "does not match the pattern")
        yield from (Invalid(1, "not text"), Invalid(None, "null"), Invalid(["x"], "not text"))

    def unions(self, of: UnionTypeModel) -> Iterator[Invalid]:
        """Only values that are wrong for every arm: one whose kind or literal no arm has."""
        kinds = {member.kind for member in of.members}
        if kinds & {"json", "ref", "union"}:
            return
        if kinds <= {"literal"}:
            literals = {member.value for member in of.members if isinstance(member, LiteralValueType)}
            yield from (
                Invalid(text, "no such case") for text in ("no-such-case", "") if text not in literals
            )
        if not kinds & {"list"}:
            yield Invalid(["x"], "no arm takes a list")
        if not kinds & {"record", "map"}:
            yield Invalid({"x": 1}, "no arm takes a record")
        elif kinds <= {"record"}:
            yield Invalid({"no-such-field": 1}, "no arm has this field")

    def lists(self, of: ListTypeModel, path: _Path) -> Iterator[Invalid]:
        low, high = of.min or 0, of.max
        counts = {"too short": low - 1, "too long": MAX_ITEMS if high is None else high + 1}
        for reason, count in counts.items():
            made = self.maker.items(of.item, count, 0, path) if 0 <= count < MAX_ITEMS else None
            if made is not None:
                yield Invalid(made, reason)
        yield from (Invalid({}, "not a list"), Invalid(None, "null"))
        rest = self.maker.items(of.item, max(0, low - 1), 1, path) if high != 0 and low <= MAX_ITEMS else None
        if rest is not None:
            for wrong in self.of(of.item, path):
                yield Invalid([wrong.value, *rest], wrong.reason, "/0" + wrong.pointer)

    def records(self, of: RecordTypeModel, path: _Path) -> Iterator[Invalid]:
        for smallest in islice(self.maker.records(of, 0, path), 1):
            assert isinstance(smallest, dict), "a record's value is a dict"
            if "no-such-field" not in of.fields:
                yield Invalid({**smallest, "no-such-field": 1}, "unknown field", "/no-such-field")
            for name, field in of.fields.items():
                if not field.optional and not field.has_default:
                    without = {key: value for key, value in smallest.items() if key != name}
                    yield Invalid(without, "a field is missing", _pointer(name))
            yield from _turns([self.field(smallest, name, field, path) for name, field in of.fields.items()])
        yield from (Invalid([], "not a record"), Invalid(None, "null"), Invalid("x", "not a record"))

    def field(
        self, record: dict[str, JsonValue], name: str, field: FieldModel, path: _Path
    ) -> Iterator[Invalid]:
        """Records that are wrong in one field; null stands for absent where a field may be absent."""
        for wrong in self.of(field.type, path):
            if wrong.value is not None or not (field.optional or field.has_default):
                pointer = _pointer(name) + wrong.pointer
                yield Invalid({**record, name: wrong.value}, wrong.reason, pointer)


def _span(low: int | None, high: int | None, most: int) -> tuple[int, int]:
    """Both bounds, the upper one cut to `most`; the lower one may be above it."""
    return low or 0, most if high is None else min(high, most)


def _filled(low: int, high: int) -> tuple[str, ...]:
    """Texts for bounds that no word fits."""
    if low > high:
        return ()
    size = min(high, max(low, 1))
    return tuple(dict.fromkeys(letter * size for letter in "abcd"))


_T = TypeVar("_T")


def _turns(iterators: Sequence[Iterator[_T]]) -> Iterator[_T]:
    """The first of each, then the second of each, and so on."""
    left = list(iterators)
    while left:
        still: list[Iterator[_T]] = []
        for iterator in left:
            for value in islice(iterator, 1):
                yield value
                still.append(iterator)
        left = still


def _pointer(name: str) -> str:
    """One step of a JSON pointer."""
    return "/" + name.replace("~", "~0").replace("/", "~1")
