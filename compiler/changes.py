"""One difference between two snapshots as a value: the rule it falls under, where, and in words.

Every rule is a code of band 10 and belongs to one rank. Each rank takes in the ones before it: *text* is what
models and people read, *callers* is what goes in and comes out, *runs* is where an unfinished run can go and
what it does there. Whoever must look at changes of text must look at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest
from typing import Any, Final

from windtunnel.compiler.printing import expression_text, template_text

MAX_QUOTED: Final = 120
"""Characters of a text that a message shows, around the place where it changed."""


class Rank(StrEnum):
    """Whom a change concerns, in order of weight."""

    TEXT = "text"
    CALLERS = "callers"
    RUNS = "runs"


ORDER: Final = tuple(Rank)
_RANKS: Final = {"WT101": Rank.TEXT, "WT102": Rank.CALLERS, "WT103": Rank.CALLERS}
"""By the first digits of a code; the rest of the band is of rank runs."""


def rank_of(code: str) -> Rank:
    """The rank of a rule."""
    return _RANKS.get(code[:5], Rank.RUNS)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `place` is the qualified id of a node, mount or `let`, `start`, or empty for the whole.

    `message` speaks of the place by its local name; `before` and `now` are what stood and stands there. `end`
    tells, for a change of an arrow, which end of `place` it leaves: the outcome and the way.
    """

    code: str
    place: str
    message: str
    before: str = ""
    now: str = ""
    end: tuple[str, str | None] | None = None

    @property
    def rank(self) -> Rank:
        """Whom it concerns."""
        return rank_of(self.code)


def heaviest(changes: Iterable[Change]) -> Rank | None:
    """The weightiest rank among the changes; None without any."""
    return max((change.rank for change in changes), key=ORDER.index, default=None)


# --- one workflow mounted several times ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Group:
    """The same change at several places, since one workflow is mounted several times."""

    change: Change
    places: tuple[str, ...]

    @property
    def words(self) -> str:
        """The message, with the includes that the change stands in."""
        scopes = sorted({scope_of(place) for place in self.places} - {""})
        return self.change.message + (f" (in {', '.join(scopes)})" if scopes else "")


def grouped(changes: Iterable[Change], workflow_of: Callable[[str], str]) -> tuple[Group, ...]:
    """Changes of one workflow said once; `workflow_of` gives the workflow that is mounted at a path."""
    found: dict[tuple[str, Change], list[str]] = {}
    for change in changes:
        key = (workflow_of(scope_of(change.place)), replace(change, place=local(change.place)))
        found.setdefault(key, []).append(change.place)
    return tuple(Group(change, tuple(places)) for (_, change), places in found.items())


# --- wording ------------------------------------------------------------------------------------------------


def plain(code: str, place: str, what: str, before: str | None, now: str | None) -> Iterator[Change]:
    """A change of a word, if there is one."""
    if before != now:
        yield Change(code, place, f"{what} is another one", before or "none", now or "none")


def number(code: str, place: str, what: str, before: Any, now: Any) -> Iterator[Change]:
    """A change of a whole number that may be an expression of `place`, if there is one."""
    if before != now:
        a, b = (_number_text(each, place) for each in (before, now))
        yield Change(code, place, f"{what} is another number", a, b)


def _number_text(value: Any, scope: str) -> str:
    return str(value) if isinstance(value, int) else expression_text(value, scope)


def text(code: str, place: str, what: str, before: Any, now: Any, scope: str) -> Iterator[Change]:
    """A change of a text, an expression of the workflow at `scope`, if there is one."""
    if before != now:
        texts = ["" if each is None else template_text(each, scope) for each in (before, now)]
        yield Change(code, place, f"{what} says something else", *apart(*texts))


def apart(before: str, now: str) -> tuple[str, str]:
    """Both texts, cut to where they part when they are long."""
    if max(len(before), len(now)) <= MAX_QUOTED:
        return before, now
    same = next((i for i, (a, b) in enumerate(zip_longest(before, now)) if a != b), 0)
    first = max(0, same - MAX_QUOTED // 4)
    return _cut(before, first), _cut(now, first)


def _cut(whole: str, first: int) -> str:
    part = whole[first : first + MAX_QUOTED]
    return ("…" if first else "") + part + ("…" if first + MAX_QUOTED < len(whole) else "")


def local(name: str) -> str:
    """A qualified id as its own workflow writes it."""
    return name.rpartition("/")[2]


def scope_of(name: str) -> str:
    """The mount path of the workflow that a qualified id stands in."""
    return name.rpartition("/")[0]
