"""Node paths of scenarios: `summary/summarize` to its declaration, through the includes on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from windtunnel.compiler.graph import Graph
from windtunnel.compiler.resolver import Declaration, Kind, Program, Scope, WorkflowId
from windtunnel.dsl.syntax import Name, NodePath, Span

MAX_LISTED: Final = 2_000
"""Most paths that are looked at for one that a wrong path may have been meant for."""


class Found(NamedTuple):
    """The node at the end of a path, and every declaration on the way with the scope that holds it."""

    declaration: Declaration
    way: tuple[tuple[Scope, Declaration], ...]

    @property
    def kind(self) -> Kind:
        """What kind of node it is."""
        return self.declaration.kind


class Lost(NamedTuple):
    """Where a path leaves what there is: the part that is unknown and the scope that lacks it.

    `scope` is None when the part before is no include.
    """

    part: Name
    scope: Scope | None


def find(program: Program, scope: Scope, path: NodePath) -> Found | Lost:
    """Follow a path from the workflow that it starts in."""
    way: list[tuple[Scope, Declaration]] = []
    current: Scope | None = scope
    for part in path.parts:
        if current is None:
            return Lost(part, None)
        declaration = current.lookup(part.text)
        if declaration is None or not declaration.is_node:
            return Lost(part, current)
        way.append((current, declaration))
        current = program.child(declaration)
    return Found(way[-1][1], tuple(way))


def path_in(name: str, span: Span) -> NodePath:
    """The path that a bare name such as `summary/summarize` spells."""
    parts: list[Name] = []
    start = span.start
    for part in name.split("/"):
        parts.append(Name(part, Span(start, start + len(part))))
        start += len(part) + 1
    return NodePath(tuple(parts), span)


def paths(program: Program, scope: Scope, prefix: str = "") -> Iterator[str]:
    """Every path from a workflow, nearer ones first, at most MAX_LISTED."""
    waiting: list[tuple[Scope, str]] = [(scope, prefix)]
    count = 0
    for current, before in waiting:
        for declaration in current.nodes:
            if count == MAX_LISTED:
                return
            count += 1
            yield f"{before}{declaration.name}"
            child = program.child(declaration)
            if child is not None:
                waiting.append((child, f"{before}{declaration.name}/"))


def may_come_again(found: Found, graphs: Mapping[WorkflowId, Graph]) -> bool:
    """Whether a run can visit the node a second time: it, or an include that it lies in, is on a cycle."""
    return any(_on_cycle(graphs[scope.id], declaration.name) for scope, declaration in found.way)


def _on_cycle(graph: Graph, name: str) -> bool:
    drawn = graph.digraph
    return name in drawn and any(drawn.reaches(after, name) for after in drawn.successors(name))
