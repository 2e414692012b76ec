"""Band 04: reads of what an earlier round of a cycle may have left, where this round went without it.

A node on a branch of a cycle gives nothing until the branch is taken once; from then on its output stays. Who
reads it after the branches have met, and takes null for "not this time", is given the output of an old round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.graph import START
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Declaration
from windtunnel.dsl.syntax import Binary, Call, Expr, Field, Index, Literal, Ref

MAX_WORK: Final = 1_000_000
"""Most vertices followed in search of where rounds part; in larger workflows the first reads are searched."""


def check_staleness(typed: Typed) -> None:
    """Report reads that take null for "not in this round" and may find the output of an earlier one."""
    if not typed.graph.open and not typed.graph.loose:
        order = {vertex: place for place, vertex in enumerate(typed.graph.digraph)}
        for component in typed.graph.digraph.loops():
            members = dict.fromkeys(sorted(component, key=order.__getitem__))
            rounds = _Rounds(typed.graph.digraph, members)
            for name in members:
                declaration = typed.scope.lookup(name)
                assert declaration is not None, "the start is on no cycle, and all others are declared"
                _check_reader(typed, rounds, declaration)


def _check_reader(typed: Typed, rounds: _Rounds, reader: Declaration) -> None:
    told: set[str] = {reader.name}
    state = typed.flow.entry(reader.name)
    for ref in _asked(reader.parts):
        if ref.name in told or ref.name not in rounds.members:
            continue
        told.add(ref.name)
        if not typed.flow.reading(state, ref.name).unassigned:
            continue
        chooser = rounds.chooser(ref.name, reader.name)
        if chooser is not None:
            typed.scope.file.findings.add(
                "WT0426",
                f"here null means a round without `{ref.name}`, but what an earlier round made of it stays",
                ref.span,
                notes=[f"from `{chooser}` a round goes through `{ref.name}` to `{reader.name}`, or past it"],
                help=f"ask what `{chooser}` gave this time, as in `if {chooser}.… then {ref.name}… else …`",
            )


def _asked(parts: Iterable[Expr]) -> Iterator[Ref]:
    """The names whose absence means something: before `??`, beside `== null`, and in `defined(…)`."""
    for part in parts:
        sides: tuple[Expr, ...] = ()
        if isinstance(part, Call) and part.function.text == "defined":
            sides = part.arguments
        elif isinstance(part, Binary) and part.operator == "??":
            sides = (part.left,)
        elif isinstance(part, Binary) and part.operator in ("==", "!="):
            both = (part.left, part.right)
            is_null = [isinstance(side, Literal) and side.value is None for side in both]
            sides = both if any(is_null) else ()
        for side in sides:
            root = side
            while isinstance(root, Field | Index):
                root = root.target
            if isinstance(root, Ref):
                yield root


class _Rounds:
    """The rounds of a cycle, and where they part. Searches come to an end with MAX_WORK."""

    def __init__(self, graph: Digraph, members: Mapping[str, None]) -> None:
        self.members = members
        self._graph = graph
        self._choosers = [name for name in members if len(graph.successors(name)) > 1]
        self._searches = MAX_WORK // len(graph)

    def chooser(self, node: str, reader: str) -> str | None:
        """The vertex at which every round chooses whether it comes to the reader through the node or past it.

        None where there is no such vertex: a node that only ever runs after its reader is fed back, and one
        that rounds reach in many ways is the last of its kind; both are read on purpose, whatever made them.
        """
        for name in self._choosers:
            if name not in (node, reader) and self._parts(name, node, reader):
                return name
        return None

    def _parts(self, chooser: str, node: str, reader: str) -> bool:
        """Whether all rounds pass the chooser, some come through the node to the reader, and some past it."""
        return (
            self._reaches(chooser, node, reader)
            and self._reaches(chooser, reader, node)
            and self._reaches(node, reader, chooser)
            and not self._reaches(reader, node, chooser)
            and not self._reaches(START, node, chooser)
            and not self._reaches(START, reader, chooser)
            and self._searches > 0
        )

    def _reaches(self, first: str, goal: str, without: str) -> bool:
        if self._searches <= 0:
            return False
        self._searches -= 1
        seen = {first}
        stack = [first]
        while stack:
            for following in self._graph.successors(stack.pop()):
                if following == goal:
                    return True
                if following != without and following not in seen:
                    seen.add(following)
                    stack.append(following)
        return False
