"""Walks the tables: shifts tokens, reduces rules by their builders, and marks where entries of lists begin.

A machine that gets stuck says so and keeps its stack; `recovery` mends the tokens and lets it go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from windtunnel.dsl.tables import END, Table
from windtunnel.dsl.tokens import Token

HOLE: Final = "HOLE"
_MANY: Final = 1_000_000_000


class Mark(NamedTuple):
    """The beginning of an entry of a list: how high the stack was, the state, and the number of the token."""

    depth: int
    state: int
    token: int


_mark: Callable[[tuple[int, int, int]], Mark] = partial(tuple.__new__, Mark)
_Reducer: TypeAlias = tuple[dict[int, dict[str, int]], int, Callable[..., Any] | None, tuple[int, ...]]
"""Where the rule leads, how many symbols it takes, what builds it, and which symbols are left out."""


class Machine:
    """One parse of one item. `below` and `state` are the stack of states, `values` what was built so far."""

    def __init__(self, table: Table, builder: object) -> None:
        self.table = table
        self.below: list[int] = []
        self.values: list[Any] = []
        self.state = table.start
        self.marks: list[Mark] = []
        self.reducers: list[_Reducer] = [
            (
                table.leaps[each.origin],
                each.size,
                getattr(builder, each.builder) if each.builder else None,
                each.absent,
            )
            for each in table.productions
        ]

    def reset(self) -> None:
        """Be ready for the next item."""
        self.below.clear()
        self.values.clear()
        self.marks.clear()
        self.state = self.table.start

    def run(self, tokens: Sequence[Token], index: int) -> int | None:
        """Take tokens from `index` on; None when the item is complete, else where it is stuck.

        The last token must be of the kind END. The item is then the only value.
        """
        actions, entry = self.table.actions, self.table.entry
        below, values, reducers, marks = self.below, self.values, self.reducers, self.marks
        state, end = self.state, self.table.end
        for place in range(index, len(tokens)):
            token = tokens[place]
            kind = token[0]
            while True:
                action = actions[state].get(kind)
                if action is None:
                    self.state = state
                    return place
                if action >= 0:
                    if entry[state]:
                        depth = len(below)
                        while marks and marks[-1][0] >= depth:
                            marks.pop()
                        marks.append(_mark((depth, state, place)))
                    below.append(state)
                    state = action
                    values.append(token)
                    break
                leap, size, make, absent = reducers[~action]
                if make is None:
                    pass
                elif size == 1 and not absent:
                    values[-1] = make(values[-1])
                elif size == 2 and not absent:
                    below.pop()
                    last = values.pop()
                    values[-1] = make(values[-1], last)
                elif size == 3 and not absent:
                    del below[-2:]
                    last, middle = values.pop(), values.pop()
                    values[-1] = make(values[-1], middle, last)
                elif size:
                    children = values[-size:]
                    del values[-size:]
                    if size > 1:
                        del below[1 - size :]
                    for gap in absent:
                        children.insert(gap, None)
                    values.append(make(*children))
                else:
                    below.append(state)
                    values.append(make(*(None for _ in absent)))
                try:
                    state = leap[below[-1]][kind]
                except KeyError:
                    state = self.leap(~action, kind)
                if kind == END and state == end:
                    return None
        raise AssertionError("the tokens of an item end with END, which completes it or gets stuck")

    def leap(self, number: int, kind: str) -> int:
        """The state after a reduction by a rule before a token, and after all that only pass a value on.

        An atom of an expression climbs a dozen rules that add nothing; they are followed once and kept.
        """
        actions, gotos, productions = self.table.actions, self.table.gotos, self.table.productions
        base, origin = self.below[-1], productions[number].origin
        state = gotos[base][origin]
        while state != self.table.end:
            action = actions[state].get(kind, 0)
            if action >= 0 or productions[~action].builder is not None:
                break
            state = gotos[base][productions[~action].origin]
        self.table.leaps[origin].setdefault(base, {})[kind] = state
        return state

    def back_to(self, mark: Mark) -> None:
        """Forget everything since a mark."""
        del self.below[mark.depth :], self.values[mark.depth :]
        self.state = mark.state
        while self.marks and self.marks[-1].depth >= mark.depth:
            self.marks.pop()

    def stack(self, mark: Mark | None = None) -> list[int]:
        """The states now, or as they were at a mark."""
        return [*self.below, self.state] if mark is None else [*self.below[: mark.depth], mark.state]

    def probe(self, stack: list[int], kinds: Iterable[str]) -> int:
        """How many tokens of these kinds a stack would take; completing the item counts for very many.

        `stack` is used up; nothing else changes.
        """
        actions, gotos, productions = self.table.actions, self.table.gotos, self.table.productions
        taken = 0
        for kind in kinds:
            while True:
                action = actions[stack[-1]].get(kind)
                if action is None:
                    return taken
                if action >= 0:
                    stack.append(action)
                    break
                production = productions[~action]
                if production.size:
                    del stack[-production.size :]
                stack.append(gotos[stack[-1]][production.origin])
                if kind == END and stack[-1] == self.table.end:
                    return _MANY
            taken += 1
        return taken

    def completes(self) -> bool:
        """Whether the item could end here."""
        return self.probe(self.stack(), (END,)) > 0

    def takes(self, stack: Sequence[int], kind: str) -> bool:
        """Whether a stack of states would take one token of this kind."""
        return self.probe(list(stack), (kind,)) > 0
