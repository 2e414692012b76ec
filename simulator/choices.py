"""The one source of chance: everything that could go either way asks `choose(n, label)`.

A run is the list of its answers. 0 is always the quiet one, so a list that ends early goes on with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

MASK: Final = (1 << 64) - 1
"""Seeded answers come from 64-bit arithmetic, the same on every platform."""


class ChoiceError(ValueError):
    """A recorded answer that the question does not offer; the message says where."""


class Choices(Protocol):
    """Answers questions, one after the other."""

    def choose(self, n: int, label: str) -> int:
        """A number in `0..n-1`; `n` is at least 1."""


class Recorded:
    """Answers from a list, then 0. Raises ChoiceError for an answer out of range."""

    def __init__(self, answers: Sequence[int]) -> None:
        self._answers = tuple(answers)
        self.asked = 0

    def choose(self, n: int, label: str) -> int:
        """The next recorded answer."""
        assert n >= 1, "a question has an answer"
        answer = self._answers[self.asked] if self.asked < len(self._answers) else 0
        self.asked += 1
        if not 0 <= answer < n:
            raise ChoiceError(f"choice {self.asked} is {answer}, but only {n} are offered ({label})")
        return answer

    @property
    def used_up(self) -> bool:
        """Whether every recorded answer was asked for."""
        return self.asked >= len(self._answers)


QUIET_SHARE: Final = 7
"""Of eight answers of a seed, how many are the quiet one: else every run would end in its first steps."""


class Seeded:
    """Answers from a seed (splitmix64): mostly 0, else any of them."""

    def __init__(self, seed: int) -> None:
        self._state = seed & MASK

    def choose(self, n: int, label: str) -> int:
        """The next answer."""
        return self._next() % n if self._next() % 8 >= QUIET_SHARE else 0

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return mixed ^ (mixed >> 31)


class Asked:
    """Answers by a function, for callers that decide themselves (Hypothesis, scenarios)."""

    def __init__(self, answer: Callable[[int, str], int]) -> None:
        self._answer = answer

    def choose(self, n: int, label: str) -> int:
        """What the function says. Raises ChoiceError when that is out of range."""
        answer = self._answer(n, label)
        if not 0 <= answer < n:
            raise ChoiceError(f"{answer} was answered, but only {n} are offered ({label})")
        return answer
