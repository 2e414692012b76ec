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


class _Chain(NamedTuple):
    """`name.a.b` in an expression; `kind` is `node`, `let` or `input`."""

    kind: str
    name: str
    path: FieldPath


def deciding_paths(snapshot: Snapshot, node: str) -> tuple[FieldPath, ...]:
    """The parts of the node's output that any edge matches on, sorted; none if no edge does."""
    found: set[FieldPath] = set()
    done: set[str] = set()
    waiting: list[Sequence[Any]] = [edge.subject for edge in snapshot.edges if edge.subject is not None]
    while waiting:
        for chain in _chains(waiting.pop()):
            if chain.kind == "node" and chain.name == node:
                found.add(chain.path)
            behind = _behind(snapshot, chain)
            if behind is not None and chain.name not in done:
                done.add(chain.name)
                waiting.append(behind)
    return tuple(sorted(found))


def signature(output: JsonValue, paths: Sequence[FieldPath]) -> tuple[str, ...]:
    """What the paths hold, as canonical texts: outputs with equal signatures take equal routes."""
    return tuple(canonical(_at(output, path)) for path in paths)


def deciding_inputs(snapshot: Snapshot) -> tuple[tuple[FieldPath, ...], frozenset[str]]:
    """The parts of the run's input that may decide a route, and the texts they are compared with."""
    found: set[FieldPath] = set()
    words: set[str] = set()
    done: set[str] = set()
    waiting: list[Sequence[Any]] = []
    for edge in snapshot.edges:
        if edge.subject is not None:
            waiting.append(edge.subject)
            words |= {case for arm in edge.arms for case in arm.cases or () if isinstance(case, str)}
    while waiting:
        top = waiting.pop()
        words |= _words(top)
        for chain in _chains(top):
            if chain.kind == "input" and not chain.name:
                found.add(chain.path)
            key = f"{chain.kind} {chain.name}"
            behind = _given(snapshot, chain)
            if behind is not None and key not in done:
                done.add(key)
                waiting.append(behind)
    return tuple(sorted(found)), frozenset(words)


def kinds(value: JsonValue, paths: Sequence[FieldPath], words: frozenset[str]) -> tuple[str, ...]:
    """What the paths hold, where texts that nothing is compared with are all the same."""
    return tuple(_kind(_at(value, path), words) for path in paths)


def _kind(value: JsonValue, words: frozenset[str]) -> str:
    match value:
        case str():
            return value if value in words else "text"
        case bool() | None:
            return canonical(value)
        case int() | float():
            return "number"
        case list():
            return f"list {bool(value)}"
        case dict():
            return str(sorted((key, _kind(item, words)) for key, item in value.items()))


def _given(snapshot: Snapshot, chain: _Chain) -> Sequence[Any] | None:
    """The expression that a let, a compute or the input of a mount stands for."""
    if chain.kind == "input":
        mount = snapshot.composition.mounts.get(chain.name)
        return None if mount is None else mount.input
    return _behind(snapshot, chain)


def _words(expression: Sequence[Any]) -> set[str]:
    """The texts that stand in an expression."""
    found: set[str] = set()
    stack = [expression]
    while stack:
        top = stack.pop()
        if top[0] == "const":
            found |= {top[1]} if isinstance(top[1], str) else set()
        else:
            stack.extend(subexpressions(top))
    return found


def _behind(snapshot: Snapshot, chain: _Chain) -> Sequence[Any] | None:
    """The expression that a let or compute stands for."""
    if chain.kind == "let":
        return snapshot.lets.get(chain.name)
    node = snapshot.nodes.get(chain.name)
    return node.value if isinstance(node, ComputeNode) else None


def _chains(expression: Sequence[Any]) -> Iterator[_Chain]:
    stack = [expression]
    while stack:
        top = stack.pop()
        root: Sequence[Any] = top
        path: FieldPath = ()
        while root[0] == "field":
            root, path = root[1], (root[2], *path)
        if root[0] in ("node", "let", "input"):
            yield _Chain(root[0], root[1], path)
        else:
            stack.extend(subexpressions(root))


def _at(value: JsonValue, path: FieldPath) -> JsonValue:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
