"""Which parts of a node's output decide where a run goes: what `match` reads, through computes and lets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from pydantic import JsonValue

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.reading import subexpressions
from windtunnel.compiler.snapshot import ComputeNode, Snapshot

FieldPath: TypeAlias = tuple[str, ...]
"""Fields from the output inwards; empty for the whole output."""


class Chain(NamedTuple):
    """`name.a.b` in an expression; `kind` is `node`, `let` or `input`."""

    kind: str
    name: str
    path: FieldPath


def deciding_paths(snapshot: Snapshot, node: str) -> tuple[FieldPath, ...]:
    """The parts of the node's output that any edge matches on, sorted; none if no edge does."""
    return tuple(sorted({chain.path for chain in _deciding(snapshot) if chain[:2] == ("node", node)}))


def signature(output: JsonValue, paths: Sequence[FieldPath]) -> tuple[str, ...]:
    """What the paths hold, as canonical texts: outputs with equal signatures take equal routes."""
    return tuple(canonical(at(output, path)) for path in paths)


def deciding_inputs(snapshot: Snapshot) -> tuple[FieldPath, ...]:
    """The parts of the run's input that may decide a route, sorted."""
    return tuple(sorted({chain.path for chain in _deciding(snapshot) if chain[:2] == ("input", "")}))


def _deciding(snapshot: Snapshot) -> Iterator[Chain]:
    """Every name that leads to a route, through lets, computes and the inputs of mounts."""
    done: set[tuple[str, str]] = set()
    waiting: list[Sequence[Any]] = [edge.subject for edge in snapshot.edges if edge.subject is not None]
    while waiting:
        for chain in chains(waiting.pop()):
            yield chain
            behind = given(snapshot, chain)
            if behind is not None and chain[:2] not in done:
                done.add(chain[:2])
                waiting.append(behind)


def given(snapshot: Snapshot, chain: Chain) -> Sequence[Any] | None:
    """The expression that a let, a compute or the input of a mount stands for; None for any other name."""
    if chain.kind == "input":
        mount = snapshot.composition.mounts.get(chain.name)
        return None if mount is None else mount.input
    return _behind(snapshot, chain)


def _behind(snapshot: Snapshot, chain: Chain) -> Sequence[Any] | None:
    """The expression that a let or compute stands for."""
    if chain.kind == "let":
        return snapshot.lets.get(chain.name)
    node = snapshot.nodes.get(chain.name)
    return node.value if isinstance(node, ComputeNode) else None


def chains(expression: Sequence[Any]) -> Iterator[Chain]:
    """Every name that an expression reads, each with the fields taken from it."""
    stack = [expression]
    while stack:
        top = stack.pop()
        root: Sequence[Any] = top
        path: FieldPath = ()
        while root[0] == "field":
            root, path = root[1], (root[2], *path)
        if root[0] in ("node", "let", "input"):
            yield Chain(root[0], root[1], path)
        else:
            stack.extend(subexpressions(root))


def at(value: JsonValue, path: FieldPath) -> JsonValue:
    """The part at a path; null where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
