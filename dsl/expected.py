"""What could stand where the parser is stuck, in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from windtunnel.dsl.machine import HOLE, Machine
from windtunnel.dsl.tables import END
from windtunnel.dsl.tokens import NODE_WORDS

MOST_LISTED: Final = 6
_VALUE: Final = frozenset({"IF", "NOT", "NUMBER", "DURATION", "TEXT_OPEN", "LPAR", "LSQB", "NULL"})
_ALSO_VALUE: Final = _VALUE | {"MINUS", "LBRACE", "TRUE", "FALSE", "OUTPUT", "TEMPLATE"}
_TYPE: Final = frozenset({"NULL", "TEXT_OPEN", "NUMBER", "LSQB", "LBRACE"})
_OPERATORS: Final = frozenset(
    ("AND", "OR", "IN", "EQUAL_TO", "UNEQUAL_TO", "LESS", "AT_MOST", "MORE", "AT_LEAST", "OR_ELSE", "PLUS")
) | {"MINUS", "STAR", "SLASH", "PERCENT", "TIGHT_SLASH", "DOT", "MAYBE_DOT"}
_NODES: Final = NODE_WORDS | {"COMPUTE", "INCLUDE"}
_WORDS: Final = {
    "TEXT_OPEN": "a string",
    "NUMBER": "a number",
    "DURATION": "a duration",
    "NEWLINE": "a new line",
    END: "the end",
}


class Expected:
    """Phrases for the states of a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def phrase(self, stack: Sequence[int]) -> str | None:
        """`expected a value, `,` or `}``; None when nothing can be said."""
        kinds = {kind for kind in self.machine.table.actions[stack[-1]] if self.machine.takes(stack, kind)}
        kinds.discard(HOLE)
        words = self.words(kinds)
        if not words:
            return None
        if len(words) > MOST_LISTED:
            words = [*words[:MOST_LISTED], "…"]
        listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
        return f"expected {listed}"

    def words(self, kinds: set[str]) -> list[str]:
        """The kinds as words, groups first."""
        words: list[str] = []
        spellings = self.machine.table.spellings
        idents = {kind for kind in kinds if spellings.get(kind, "").isidentifier()}
        if kinds >= _VALUE:
            words.append("a value")
            kinds = kinds - _ALSO_VALUE - {"NAME"} - idents
        elif kinds >= _TYPE:
            words.append("a type")
            kinds = kinds - _TYPE - {"NAME", "MINUS", "TRUE", "FALSE", "LPAR"} - idents
        if kinds >= _NODES:
            words.append("a node")
            kinds = kinds - _NODES
        if "NAME" in kinds:
            soft = {kind for kind in idents if kind in ("ANSWER", "BUDGET", "FILE", "HOST", "OF", "VISIT")}
            words.append("a name" if len(soft) > 4 else "a word")
            kinds = kinds - {"NAME"} - (idents if len(soft) > 4 else set())
        if len(kinds & _OPERATORS) > 8:
            kinds = kinds - _OPERATORS - {"LSQB", "LPAR"}
        words.extend(sorted(_WORDS.get(kind) or f"`{spellings.get(kind, kind)}`" for kind in kinds))
        return words
