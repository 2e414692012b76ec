"""Values on each side of what decides: below, at and above each constant that they are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Final

from pydantic import JsonValue

from windtunnel.compiler.canonical import MAX_WHOLE, canonical
from windtunnel.compiler.snapshot import (
    IntType,
    JsonType,
    ListTypeModel,
    LiteralValueType,
    MapTypeModel,
    NumberType,
    RecordTypeModel,
    RefType,
    TextType,
    TypeModel,
    UnionTypeModel,
)
from windtunnel.simulator.providers.routing import FieldPath
from windtunnel.simulator.providers.scalars import any_json, bounds
from windtunnel.simulator.providers.thresholds import Compared
from windtunnel.simulator.providers.values import MAX_ITEMS, MAX_TEXT, Source, cases

MAX_PART: Final = 24
"""Values that are tried for one part."""

MAX_COMBINED: Final = 256
"""Combinations of them that are tried."""

MAX_WITHIN: Final = 8
"""Types inside one another down to which a part is looked into."""


def cases_named(of: TypeModel, source: Source) -> frozenset[str]:
    """The texts that are cases of the type itself, wherever they stand in it."""
    found: set[str] = set()
    seen: set[str] = set()
    stack: list[TypeModel] = [of]
    while stack:
        match stack.pop():
            case LiteralValueType(value=str(text)):
                found.add(text)
            case UnionTypeModel(members=members):
                stack.extend(members)
            case ListTypeModel(item=item):
                stack.append(item)
            case MapTypeModel(value=value):
                stack.append(value)
            case RecordTypeModel(fields=fields):
                stack.extend(field.type for field in fields.values())
            case RefType(name=name) if name not in seen:
                seen.add(name)
                stack.append(source.types[name])
    return frozenset(found)


def spread(of: TypeModel, paths: Sequence[FieldPath], met: Compared, source: Source) -> Iterator[JsonValue]:
    """Values of a type: every case of it, then those on each side of what decides."""
    for optional in (False, True):
        made = cases(of, source, optional=optional)
        yield from made
        for base in made[:1]:
            yield from targeted(of, paths, met, source, base)


def targeted(
    of: TypeModel, paths: Sequence[FieldPath], met: Compared, source: Source, base: JsonValue
) -> Iterator[JsonValue]:
    """`base` with its deciding parts below, at and above each constant: one part at a time, then together."""
    columns = [
        (path, list(islice(_parts(part, met, source, 0), MAX_PART)))
        for path in paths
        if (part := _type_at(of, path, source)) is not None
    ]
    for path, values in columns:
        for value in values:
            yield _with(base, path, value)
    if len(columns) > 1:
        for combined in islice(product(*(values for _, values in columns)), MAX_COMBINED):
            made = base
            for (path, _), value in zip(columns, combined, strict=True):
                made = _with(made, path, value)
            yield made


def _type_at(of: TypeModel, path: FieldPath, source: Source) -> TypeModel | None:
    """The type of a part; None where a union or a list lies in between."""
    here: TypeModel = of
    for name in (*path, ""):
        if isinstance(here, RefType):
            here = source.types[here.name]
        if name:
            if not isinstance(here, RecordTypeModel) or name not in here.fields:
                return None
            here = here.fields[name].type
    return here


def _with(value: JsonValue, path: FieldPath, part: JsonValue) -> JsonValue:
    """A value with another part; unchanged where the path leaves its records."""
    if not path:
        return part
    if not isinstance(value, dict):
        return value
    below = value.get(path[0])
    return value | {path[0]: _with({} if below is None and len(path) > 1 else below, path[1:], part)}


def _parts(of: TypeModel, met: Compared, source: Source, depth: int) -> Iterator[JsonValue]:
    """Values of a part on each side of every constant."""
    if depth > MAX_WITHIN:
        return
    match of:
        case IntType() | NumberType():
            yield from _numbers(of, met)
        case TextType():
            yield from _texts(of, met)
        case ListTypeModel():
            yield from _lists(of, met, source, depth)
        case JsonType():
            yield from any_json(of)
            yield from (value for value in (*met.words, *met.numbers) if _fits(of, value))
        case UnionTypeModel():
            for member in of.members:
                yield from _parts(member, met, source, depth + 1)
        case RefType():
            yield from _parts(source.types[of.name], met, source, depth + 1)
        case RecordTypeModel():
            for base in cases(of, source)[:1]:
                for name, field in of.fields.items():
                    for value in _parts(field.type, met, source, depth + 1):
                        yield _with(base, (name,), value)
        case _:
            yield from cases(of, source)


def _fits(of: JsonType, value: JsonValue) -> bool:
    return of.max is None or len(canonical(value)) <= of.max


def _numbers(of: IntType | NumberType, met: Compared) -> Iterator[int | float]:
    """Each constant and its neighbours, then the bounds of the type."""
    low, high = bounds(of)
    step = 1 if isinstance(of, IntType) else 0.5
    near: list[int | float] = [
        beside for number in met.numbers for beside in (number, number - step, number + step)
    ]
    near += [bound for bound in (low, high) if abs(bound) < MAX_WHOLE]
    for number in dict.fromkeys(near):
        whole = isinstance(number, int) or float(number).is_integer()
        if low <= number <= high and (whole or isinstance(of, NumberType)):
            yield int(number) if whole else number


def _texts(of: TextType, met: Compared) -> Iterator[str]:
    """The constants, and texts as long as a number says; others are left to the pool."""
    if of.pattern is not None:
        return
    low, high = of.min or 0, MAX_TEXT if of.max is None else min(of.max, MAX_TEXT)
    sizes = dict.fromkeys(size for number in met.numbers for size in _sizes(number))
    for text in dict.fromkeys((*met.words, *("x" * size for size in sizes if low <= size <= high))):
        if low <= len(text) <= high:
            yield text


def _lists(of: ListTypeModel, met: Compared, source: Source, depth: int) -> Iterator[JsonValue]:
    """Lists as long as a number says, as the bounds say, and with each deciding value as the only item."""
    low, high = of.min or 0, MAX_ITEMS if of.max is None else min(of.max, MAX_ITEMS)
    items = cases(of.item, source)
    parts = list(islice(_parts(of.item, met, source, depth + 1), MAX_PART))
    fill = items or tuple(parts)
    if not fill:
        return
    wanted = [
        low,
        *(size for number in met.numbers for size in _sizes(number)),
        1,
        high if high == of.max else low,
    ]
    for size in dict.fromkeys(wanted):
        if low <= size <= high:
            yield [fill[place % len(fill)] for place in range(size)]
    for part in parts:
        yield [part, *(fill[place % len(fill)] for place in range(low - 1))]


def _sizes(number: int | float) -> tuple[int, ...]:
    """The lengths at and next to a number; none for one that no length reaches."""
    size = int(number) if 0 <= number <= MAX_TEXT else -1
    return tuple(beside for beside in (size, size + 1, size - 1) if size >= 0 and beside >= 0)
