"""Frozen data with other values: what `dataclasses.replace` does, twice as fast, for classes with slots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Data = TypeVar("Data")
Slots: TypeAlias = tuple[tuple[str, Callable[[Any], Any], Callable[[Any, Any], None]], ...]


KNOWN: dict[type[Any], Slots] = {}


def slots_of(made: type[Any]) -> Slots:
    """The name, the reader and the writer of each field of a class; found out once."""
    if made not in KNOWN:
        fields = ((name, getattr(made, name)) for name in made.__slots__)
        KNOWN[made] = tuple((name, field.__get__, field.__set__) for name, field in fields)
    return KNOWN[made]


def replace(data: Data, **changes: Any) -> Data:
    """A copy of frozen data with some fields changed; a name that it has not is an impossibility."""
    made = type(data)
    slots = slots_of(made)
    copy: Data = object.__new__(made)
    used = 0
    for name, read, write in slots:
        if name in changes:
            used += 1
            write(copy, changes[name])
        else:
            write(copy, read(data))
    assert used == len(changes), f"{made.__name__} has no field {sorted(changes)}"
    return copy
