"""Interning: a frozen value becomes a small whole number once, so that states are flat tuples of numbers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Pool(Generic[T]):
    """The values of one component of the world, numbered in the order they were first met."""

    __slots__ = ("_ids", "values")

    def __init__(self) -> None:
        self._ids: dict[T, int] = {}
        self.values: list[T] = []

    def id(self, value: T) -> int:
        """The number of a value."""
        found = self._ids.get(value)
        if found is None:
            found = self._ids[value] = len(self.values)
            self.values.append(value)
        return found

    def __len__(self) -> int:
        return len(self.values)
