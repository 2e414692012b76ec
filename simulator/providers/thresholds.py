"""What an output or an input is compared with on the way to a route.

`match if judge.score >= 7 …` goes one way at 6 and another at 7; a model that only ever says 1 would leave
half of the workflow untried. So the constants of every expression that leads from a value to a route are
collected, and what those expressions give for a value tells routes apart.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic import JsonValue

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.evaluator import EvaluationError, compile_expression
from windtunnel.compiler.reading import reads, subexpressions
from windtunnel.compiler.snapshot import EdgeModel, Snapshot
from windtunnel.simulator.providers.routing import Chain, FieldPath, at, chains, deciding_paths, given

MAX_CONSTANTS: Final = 16
"""Texts, and numbers, that one value is compared with; the first ones in reading order are kept."""


_Key: TypeAlias = tuple[str, str]
"""A kind and a name: `node`, `let` or `input`."""

_SUBJECT: Final[_Key] = ("", "")
"""Stands for the subject of an edge among the expressions behind it."""


class Compared(NamedTuple):
    """The constants a value meets on the way to a route: texts as they come, numbers sorted."""

    words: tuple[str, ...] = ()
    numbers: tuple[int | float, ...] = ()


class _Leading(NamedTuple):
    """One edge, every expression behind its subject, and which of them read the value."""

    edge: EdgeModel
    closure: dict[_Key, Sequence[Any]]
    keys: list[_Key]


def _ways(snapshot: Snapshot, value: _Key) -> Iterator[_Leading]:
    """The edges that a value leads to."""
    for edge in snapshot.edges:
        if edge.subject is not None:
            closure = _closure(snapshot, edge.subject)
            yield _Leading(edge, closure, sorted(_leading(closure, value)))


def compared(snapshot: Snapshot, kind: str, name: str) -> Compared:
    """What a value is compared with: `node` and its id, or `input` and an empty name for the run's own."""
    return _compared(_ways(snapshot, (kind, name)))


def _compared(ways: Iterable[_Leading]) -> Compared:
    found: list[JsonValue] = []
    for edge, closure, keys in ways:
        if _SUBJECT in keys:
            found += [case for arm in edge.arms for case in arm.cases or ()]
        for key in keys:
            found += _constants(closure[key])
    words = dict.fromkeys(value for value in found if isinstance(value, str))
    numbers = dict.fromkeys(
        value for value in found if isinstance(value, int | float) and not isinstance(value, bool)
    )
    return Compared(tuple(words)[:MAX_CONSTANTS], tuple(sorted(list(numbers)[:MAX_CONSTANTS])))


def kinds(
    value: JsonValue, paths: Sequence[FieldPath], met: Compared, exact: Collection[str] = ()
) -> tuple[str, ...]:
    """On which side of every constant each part lies; values of equal kinds take equal routes.

    Texts of `exact` are told apart from all others, since they may be compared with other values of the run.
    """
    return tuple(_kind(at(value, path), met, exact) for path in paths)


@dataclass(frozen=True, slots=True)
class Routes:
    """What an output of one node decides.

    `probes` are the largest expressions on the way to a route that read this node alone: what they give is
    what counts of everything inside them. `open` are the parts that are read beside other values.
    """

    node: str
    met: Compared
    paths: tuple[FieldPath, ...]
    probes: tuple[Sequence[Any], ...]
    open: tuple[FieldPath, ...]
    own: Mapping[_Key, Sequence[Any]]

    def side(self, output: JsonValue, exact: Collection[str] = ()) -> tuple[str, ...]:
        """What decides, in texts: outputs with equal sides take equal routes."""
        supposed = _Supposed(self, output)
        return (
            *(_given_by(probe, supposed) for probe in self.probes),
            *kinds(output, self.open, self.met, exact),
        )


NOWHERE: Final = Routes("", Compared(), (), (), (), {})
"""The routes of a value that decides nothing."""


def routes_of(snapshot: Snapshot, node: str) -> Routes:
    """What the node's output decides, through computes, lets and inputs of mounts."""
    own: dict[_Key, Sequence[Any]] = {}
    parts: list[Sequence[Any]] = []
    ways = list(_ways(snapshot, ("node", node)))
    for _, closure, keys in ways:
        own |= _own(closure, keys, node)
        parts += [closure[key] for key in keys]
    alone = {("node", node), *own}
    probes: dict[str, Sequence[Any]] = {}
    open: set[FieldPath] = set()
    for part in parts:
        for probe in _largest(part, alone):
            bare = _bare(probe)
            if bare is None:
                probes.setdefault(canonical(list(probe)), probe)
            elif bare[:2] == ("node", node):
                open.add(bare.path)
    met = _compared(ways)
    return Routes(node, met, deciding_paths(snapshot, node), tuple(probes.values()), tuple(sorted(open)), own)


def _own(closure: dict[_Key, Sequence[Any]], leading: Sequence[_Key], node: str) -> dict[_Key, Sequence[Any]]:
    """The named expressions that read nothing but the node, and each other."""
    found: dict[_Key, Sequence[Any]] = {}
    while True:
        alone = {("node", node), *found}
        more = {key: closure[key] for key in leading if key not in found and _reads_only(closure[key], alone)}
        if not more:
            return found
        found |= more


def _reads_only(expression: Sequence[Any], names: Collection[_Key]) -> bool:
    return all((read.kind, read.name) in names for read in reads(expression))


def _largest(expression: Sequence[Any], alone: Collection[_Key]) -> Iterator[Sequence[Any]]:
    """The largest parts of an expression that read something, and only those names."""
    stack = [expression]
    while stack:
        top = stack.pop()
        if reads(top) and _reads_only(top, alone) and not _free(top):
            yield top
        elif _bare(top) is None:
            stack.extend(reversed(list(subexpressions(top))))


def _free(expression: Sequence[Any], bound: frozenset[str] = frozenset()) -> bool:
    """Whether a variable occurs that is bound outside."""
    if expression[0] == "var":
        return expression[1] not in bound
    names = {"for": 2, "bind": 1}.get(expression[0])
    inner = bound if names is None else bound | {expression[names]}
    return any(_free(part, inner) for part in subexpressions(expression))


def _bare(expression: Sequence[Any]) -> Chain | None:
    """The chain that an expression is, if it is nothing else."""
    found = list(chains(expression))
    here = expression
    while here[0] == "field":
        here = here[1]
    return found[0] if here[0] in ("node", "let", "input") else None


def _given_by(probe: Sequence[Any], supposed: _Supposed) -> str:
    try:
        return canonical(compile_expression(probe)(supposed))
    except EvaluationError as error:
        return str(error)


class _Supposed:
    """An environment of one node's output and of what follows from it alone; the rest is absent."""

    def __init__(self, routes: Routes, output: JsonValue) -> None:
        self._routes = routes
        self._output = output

    def node(self, node: str) -> JsonValue:
        return self._output if node == self._routes.node else self._follow("node", node)

    def let(self, name: str) -> JsonValue:
        return self._follow("let", name)

    def input(self, mount: str) -> JsonValue:
        return self._follow("input", mount)

    def exit(self, mount: str, name: str) -> JsonValue:
        return None

    choice = exit

    def way(self, node: str) -> JsonValue:
        return None

    result = way

    def visits(self, node: str, outcome: str | None) -> JsonValue:
        return 0

    def latest(self, nodes: tuple[str, ...]) -> JsonValue:
        return None

    def _follow(self, kind: str, name: str) -> JsonValue:
        behind = self._routes.own.get((kind, name))
        return None if behind is None else compile_expression(behind)(self)


def _closure(snapshot: Snapshot, subject: Sequence[Any]) -> dict[_Key, Sequence[Any]]:
    """The subject of an edge, and every expression behind a name that it reads."""
    found: dict[_Key, Sequence[Any]] = {_SUBJECT: subject}
    waiting = [subject]
    while waiting:
        for chain in chains(waiting.pop()):
            key = (chain.kind, chain.name)
            behind = given(snapshot, chain)
            if behind is not None and key not in found:
                found[key] = behind
                waiting.append(behind)
    return found


def _leading(closure: dict[_Key, Sequence[Any]], value: _Key) -> set[_Key]:
    """The expressions that read the value, themselves or through others."""
    read_by = {key: {(chain.kind, chain.name) for chain in chains(each)} for key, each in closure.items()}
    leading = {key for key, read in read_by.items() if value in read}
    while True:
        more = {key for key, read in read_by.items() if key not in leading and read & leading}
        if not more:
            return leading
        leading |= more


def _constants(expression: Sequence[Any]) -> Iterator[JsonValue]:
    stack = [expression]
    while stack:
        top = stack.pop()
        if top[0] == "const":
            yield top[1]
        else:
            stack.extend(reversed(list(subexpressions(top))))


def _kind(value: JsonValue, met: Compared, exact: Collection[str]) -> str:
    match value:
        case bool() | None:
            return canonical(value)
        case str() if value in met.words or value in exact or not value:
            return canonical(value)
        case str():
            inside = [word for word in met.words if word in value]
            return f"text {_side(len(value), met)} {inside}"
        case int() | float():
            return f"number {_side(value, met)}"
        case list():
            items = sorted({_kind(item, met, exact) for item in value})
            return f"list {bool(value)} {_side(len(value), met)} {items}"
        case dict():
            return str(sorted((key, _kind(item, met, exact)) for key, item in value.items()))


def _side(number: int | float, met: Compared) -> str:
    """Between which constants a number lies, or on which."""
    return f"{bisect_left(met.numbers, number)}-{bisect_right(met.numbers, number)}"
