"""Behaviour that nobody wrote: made from a node's type, its examples and its validator.

Good behaviour comes first and takes every route that the node's output can decide: the author's examples,
then made values, each kept only when type and validator accept it. Then the ways a model goes wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Accepted, acceptor
from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.evaluator import (
    Environment,
    EvaluationError,
    Read,
    compile_expression,
    compile_validator,
    reads,
)
from windtunnel.compiler.reading import subexpressions
from windtunnel.compiler.snapshot import AgentNode, LetStep, Snapshot, SubmittedOutput, TypeModel
from windtunnel.simulator.providers.behaviour import Kind, Menu, Request, says, submits
from windtunnel.simulator.providers.effects import MAX_TRIED, effect_menu
from windtunnel.simulator.providers.misbehaviour import of_assistant, of_hopeless, of_submit
from windtunnel.simulator.providers.routing import (
    FieldPath,
    deciding_inputs,
    signature,
)
from windtunnel.simulator.providers.sides import cases_named, spread, targeted
from windtunnel.simulator.providers.thresholds import Compared, Routes, compared, kinds, routes_of
from windtunnel.simulator.providers.values import MAX_TEXT, WORDS, Source, cases, invalid, texts_in

MAX_QUIET: Final = 8
"""Good behaviours of one request: one for each route that the output can decide, up to this many."""

MAX_INPUTS: Final = 6
"""Inputs that runs are started with."""

MAX_ROTATIONS: Final = 8
"""How many texts of the pool get to come first."""

MAX_NAME: Final = 80
"""Code points of a behaviour's name; a longer one is numbered instead."""

MAX_POOL: Final = 64
"""Texts in a pool."""

MAX_ID: Final = 64
"""Code points; a longer text of the run is no id and is not drawn."""


class GeneratedProvider:
    """A provider that makes up what each agent of a snapshot does."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._menus: dict[tuple[str, int, int | None, str], Menu] = {}
        self._effects: dict[str, Menu] = {}
        self._routes: dict[str, Routes] = {}

    def menu(self, request: Request) -> Menu:
        """Every behaviour for the request; equal requests in equal environments share one menu."""
        node = self.snapshot.nodes[request.node]
        if request.kind is Kind.EFFECT:
            return self._effect(request.node)
        assert isinstance(node, AgentNode), "only an agent asks a model"
        seen = _seen(node, self.snapshot, request.environment)
        key = (request.node, min(request.visit, MAX_QUIET), request.max_chars, canonical(seen))
        found = self._menus.get(key)
        if found is None:
            found = self._menus[key] = self._make(node, request, seen)
        return found

    def _effect(self, node: str) -> Menu:
        if node not in self._effects:
            self._effects[node] = effect_menu(self.snapshot, node)
        return self._effects[node]

    def _make(self, node: AgentNode, request: Request, seen: JsonValue) -> Menu:
        if not isinstance(node.expected_output, SubmittedOutput):
            answer = answer_of(request.node, request.visit, request.max_chars)
            good = says("answers", answer)
            return Menu((good,), of_assistant(answer, request.max_chars))
        pool = _pool(node, seen)
        routes = self._routes.get(request.node)
        if routes is None:
            routes = self._routes[request.node] = routes_of(self.snapshot, request.node)
        step = _Step(self.snapshot, node, node.expected_output.type, routes, request.environment)
        outputs = step.outputs(pool)
        if not outputs:
            return Menu((), of_hopeless(step.wrong(pool)), gap=step.gap(pool))
        names = _names(outputs, routes.paths)
        quiet = tuple(submits(name, output) for name, output in zip(names, outputs, strict=True))
        return Menu(quiet, of_submit(quiet[0].turns, outputs[0], step.wrong(pool)))


def answer_of(node: str, visit: int, max_chars: int | None) -> str:
    """The visible answer that a good model gives: short, and another one at each early visit."""
    text = f"An answer from {node}." if visit == 1 else f"Answer {min(visit, MAX_QUIET)} from {node}."
    return text if max_chars is None else text[:max_chars]


def run_inputs(snapshot: Snapshot) -> tuple[JsonValue, ...]:
    """Inputs to start a run with: the smallest valid one, then those that may take other routes.

    An input may take another route when one of its fields that decide says something else. Empty if no
    valid input could be made.
    """
    source = Source(snapshot.types, WORDS)
    paths, met = deciding_inputs(snapshot), compared(snapshot, "input", "")
    accepts = acceptor(snapshot.input, snapshot.types)
    made: dict[tuple[str, ...], JsonValue] = {}
    for tried, value in enumerate(_inputs(snapshot, source, paths, met)):
        if tried == MAX_TRIED or len(made) == MAX_INPUTS:
            break
        verdict = accepts.accept(value)
        if isinstance(verdict, Accepted):
            made.setdefault(kinds(verdict.value, paths, met), verdict.value)
    return tuple(made.values())


def _inputs(
    snapshot: Snapshot, source: Source, paths: Sequence[FieldPath], met: Compared
) -> Iterator[JsonValue]:
    """Inputs to try: every case of the type, then those on each side of what decides."""
    for optional in (False, True):
        yield from cases(snapshot.input, source, optional=optional)
    for optional in (False, True):
        for base in cases(snapshot.input, source, optional=optional)[:1]:
            yield from targeted(snapshot.input, paths, met, source, base)


@dataclass(frozen=True, slots=True)
class _Step:
    """One agent in one environment."""

    snapshot: Snapshot
    node: AgentNode
    type: TypeModel
    routes: Routes
    environment: Environment

    def outputs(self, pool: Sequence[str]) -> list[JsonValue]:
        """The first acceptable output for each route."""
        routes = self.routes
        exact = {*pool} - {*WORDS[2:]} | cases_named(self.type, Source(self.snapshot.types))
        accepts = acceptor(self.type, self.snapshot.types)
        found: dict[tuple[str, ...], JsonValue] = {}
        for tried, candidate in enumerate(self.candidates(pool)):
            if tried == MAX_TRIED or len(found) == (MAX_QUIET if routes.paths else 1):
                break
            route = routes.side(candidate, exact)
            if route in found:
                continue
            verdict = accepts.accept(candidate)
            if isinstance(verdict, Accepted) and not self.refusals(verdict.value):
                found[route] = candidate
        return list(found.values())

    def candidates(self, pool: Sequence[str]) -> Iterator[JsonValue]:
        """The author's examples, made values, those on each side of what decides, and then other texts."""
        for example in self.node.examples:
            try:
                yield compile_expression(example)(self.environment)
            except EvaluationError:
                continue
        source = Source(self.snapshot.types, tuple(pool))
        yield from spread(self.type, self.routes.paths, self.routes.met, source)
        for optional in (False, True):
            for turn in range(1, min(len(pool), MAX_ROTATIONS)):
                source = Source(self.snapshot.types, (*pool[turn:], *pool[:turn]))
                yield from cases(self.type, source, optional=optional)

    def refusals(self, output: JsonValue) -> tuple[str, ...]:
        """What the validator says against an output of the right type."""
        try:
            return compile_validator(self.node.validate_steps)(self.environment, output)
        except EvaluationError as error:
            return (str(error),)

    def wrong(self, pool: Sequence[str]) -> list[JsonValue]:
        """An output that is refused, by the validator if that can be; empty if everything is accepted."""
        source = Source(self.snapshot.types, tuple(pool))
        if self.node.validate_steps:
            accepts = acceptor(self.type, self.snapshot.types)
            for candidate in cases(self.type, source):
                verdict = accepts.accept(candidate)
                if isinstance(verdict, Accepted) and self.refusals(verdict.value):
                    return [candidate]
        return [wrong.value for wrong in invalid(self.type, source)[:1]]

    def gap(self, pool: Sequence[str]) -> str:
        """Why nothing valid could be made, in words for a report."""
        first = next(self.candidates(pool), None)
        if first is None:
            return "no value of its type could be made; add an example"
        verdict = acceptor(self.type, self.snapshot.types).accept(first)
        reasons = self.refusals(verdict.value) if isinstance(verdict, Accepted) else (str(verdict),)
        return f"nothing that was made is accepted ({reasons[0]}); add an example"


def _names(outputs: Sequence[JsonValue], paths: Sequence[FieldPath]) -> list[str]:
    """`submits status "ready"` and so on: unique, and in words where they are short."""
    if len(outputs) == 1:
        return ["submits"]
    shown = [
        "submits "
        + ", ".join(f"{'.'.join(path)} {value}".strip() for path, value in zip(paths, signed, strict=True))
        for signed in (signature(output, paths) for output in outputs)
    ]
    return [
        name if len(name) <= MAX_NAME and shown.count(name) == 1 else f"submits case {at}"
        for at, name in enumerate(shown, 1)
    ]


def _seen(node: AgentNode, snapshot: Snapshot, environment: Environment) -> JsonValue:
    """Everything that the examples and the validator read, and nothing else: what a menu depends on."""
    expressions: list[Any] = list(node.examples)
    for step in node.validate_steps:
        if isinstance(step, LetStep):
            expressions.append(step.value)
        else:
            expressions += [part for part in (step.require, step.when, step.message) if part is not None]
    wanted = sorted({read for part in expressions for read in reads(part, snapshot.lets)}, key=_order)
    return [_value(environment, read) for read in wanted]


def _order(read: Read) -> tuple[str, str, str]:
    return (read.kind, read.name, read.detail or "")


def _value(environment: Environment, read: Read) -> JsonValue:
    """What the environment holds for one read; null for a let whose value breaks a limit."""
    try:
        return _asked(environment, read)
    except EvaluationError:
        return None


def _asked(environment: Environment, read: Read) -> JsonValue:
    match read.kind:
        case "input":
            return environment.input(read.name)
        case "node":
            return environment.node(read.name)
        case "exit":
            return environment.exit(read.name, read.detail or "")
        case "choice":
            return environment.choice(read.name, read.detail or "")
        case "way":
            return environment.way(read.name)
        case "result":
            return environment.result(read.name)
        case "visits":
            return environment.visits(read.name, read.detail)
        case "latest":
            return environment.latest((read.name,))
        case _:
            return environment.let(read.name)


def _pool(node: AgentNode, seen: JsonValue) -> tuple[str, ...]:
    """Ids that the run already knows, ordinary words, and the texts that the validator compares with."""
    ids = [text for text in texts_in(seen) if 0 < len(text) <= MAX_ID]
    literals: list[str] = []
    stack: list[Any] = []
    for step in node.validate_steps:
        stack.append(step.value if isinstance(step, LetStep) else step.require)
    while stack:
        top = stack.pop()
        if top[0] == "const":
            literals += [text for text in texts_in(top[1]) if 0 < len(text) <= MAX_TEXT]
        else:
            stack.extend(subexpressions(top))
    return tuple(dict.fromkeys([*ids[: MAX_POOL - len(WORDS)], *WORDS, *literals]))[:MAX_POOL]
