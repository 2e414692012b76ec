"""What an expression can read at its place in the run: the input, outputs of nodes, exits and choices
taken.

The shape of a read depends on where it happens: null stands in it when some path comes here without the
node having finished, and what the arms of a match have settled on all paths is taken into account.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from windtunnel.compiler.flow import Flow, Reading, Site
from windtunnel.compiler.graph import START, Graph, Route
from windtunnel.compiler.narrowing import Test, none_of, one_of, refine
from windtunnel.compiler.paths import Path, path_of
from windtunnel.compiler.resolver import Declaration, Kind, Program, Scope
from windtunnel.compiler.routing import outcomes_of, ways_of
from windtunnel.compiler.types import (
    BOOL,
    JSON,
    NULL,
    TEXT,
    UNKNOWN,
    FieldShape,
    IntShape,
    RecordShape,
    Shape,
    literal,
)
from windtunnel.compiler.unions import join, optional, union
from windtunnel.dsl.syntax import After, Choice, Node

NOTHING: Final[Mapping[str, Shape]] = {}


@dataclass(frozen=True, slots=True)
class Env:
    """Where an expression stands: the state of the run, who reads, and what is known of names there.

    `reader` is the vertex at whose entry (or after whose end) the expression is evaluated, START before
    all. With `isolated` only variables can be seen, as in the body of a template. `inside_let` marks the
    value of a `let`, which several readers share.
    """

    state: int | None
    reader: str
    variables: Mapping[str, Shape] = field(default_factory=dict)
    narrowed: Mapping[str, Shape] = field(default_factory=dict)
    isolated: bool = False
    inside_let: bool = False

    def binding(self, name: str, shape: Shape) -> Env:
        """The same place with one more variable, which hides what had its name."""
        narrowed = {key: value for key, value in self.narrowed.items() if key.partition(".")[0] != name}
        return replace(self, variables={**self.variables, name: shape}, narrowed=narrowed)

    def narrowing(self, root: str, shape: Shape) -> Env:
        """The same place, where the root is known to have this shape."""
        return replace(self, narrowed={**self.narrowed, root: shape})


def subject_path(route: Route, scope: Scope) -> Path | None:
    """What the match of a route looks at, when that can be narrowed."""
    assert route.match is not None, "only a route with a match has a subject"
    if not route.match.own:
        return path_of(route.match.subject, scope, ())
    own = path_of(route.match.subject, scope, ("output",))
    if own is None or route.source == START or route.outcome != "ok":
        return None
    root = route.source if route.way is None else f"{route.source}.{route.way}"
    return Path(root, own.fields)


class Stored:
    """The shapes of what can be read in one workflow; `outputs` is filled while they are being inferred."""

    def __init__(
        self, program: Program, scope: Scope, graph: Graph, exits: Mapping[str, Mapping[str, Shape]]
    ) -> None:
        self.scope = scope
        self.graph = graph
        self.exits = exits
        self.outputs: dict[str, Shape] = {}
        self.read: set[str] = set()
        """Keys of the roots that some expression asked for."""
        found = {declaration.name: ways_of(declaration, program) for declaration in scope.nodes}
        self.ways = {name: ways for name, ways in found.items() if ways is not None}
        self._subjects: dict[int, Path] = {}
        for route in graph.routes:
            path = None if route.match is None else subject_path(route, scope)
            declaration = None if path is None else scope.lookup(path.root.partition(".")[0])
            is_let = declaration is not None and not declaration.is_node
            if path is not None and path.root != "output" and not is_let:
                self._subjects[route.index] = path
        sites = [Site(index, path.root) for index, path in self._subjects.items()]
        self.flow = Flow(graph, self.ways, sites)
        self._asked: dict[str, Mapping[str, Shape]] = {}
        self._tests: dict[tuple[int, int], Test] = {}

    # --- roots ----------------------------------------------------------------------------------------------

    def root(self, key: str, env: Env) -> Shape:
        """The shape of a root at that place; a `let` is none of these. Unknown keys give `UNKNOWN`."""
        known = env.narrowed.get(key)
        if known is None:
            known = env.variables.get(key)
        if known is not None:
            return known
        self.read.add(key)
        if key == "input":
            return self._after_arms(self.scope.input, key, env)
        vertex, _, way = key.partition(".")
        declaration = self.scope.lookup(vertex)
        if declaration is None or not declaration.is_node:
            return UNKNOWN
        reading = self.flow.reading(env.state, vertex)
        if way:
            return self._way(declaration, way, reading, env)
        shape = self._output(declaration, reading)
        if not reading.ways and reading.unassigned:
            return NULL
        shape = self._after_arms(shape, key, env)
        return optional(shape) if reading.unassigned else shape

    def _output(self, declaration: Declaration, reading: Reading) -> Shape:
        if declaration.kind is Kind.DECISION:
            return decision_output(declaration, self.asked(declaration), reading.ways)
        return self.outputs.get(declaration.name, UNKNOWN)

    def _way(self, declaration: Declaration, way: str, reading: Reading, env: Env) -> Shape:
        key = f"{declaration.name}.{way}"
        if declaration.kind is Kind.INCLUDE:
            shape = self.exits.get(declaration.name, {}).get(way, UNKNOWN)
        else:
            shape = self.asked(declaration).get(way, RecordShape(()))
        if way not in reading.ways:
            return NULL if declaration.name in self.ways else UNKNOWN
        shape = self._after_arms(shape, key, env)
        return shape if self.is_certain(reading, way) else optional(shape)

    @staticmethod
    def is_certain(reading: Reading, way: str | None) -> bool:
        """Whether the vertex has finished, and surely by that way."""
        return not reading.unassigned and reading.ways == (way,)

    def _after_arms(self, shape: Shape, root: str, env: Env) -> Shape:
        for index, branches in self.flow.arms(env.state, root):
            fields = self._subjects[index].fields
            shape = join(refine(shape, fields, self._test(index, branch)) for branch in branches)
        return shape

    def _test(self, index: int, branch: int) -> Test:
        known = self._tests.get((index, branch))
        if known is None:
            branches = self.graph.routes[index].branches
            cases = branches[branch].cases
            if cases is not None:
                known = one_of(cases)
            else:
                known = none_of([case for other in branches for case in other.cases or ()])
            self._tests[index, branch] = known
        return known

    def asked(self, declaration: Declaration) -> Mapping[str, Shape]:
        """What each choice of a decision asks for, as records; `{}` for one that asks nothing."""
        known = self._asked.get(declaration.name)
        if known is not None:
            return known
        found: dict[str, Shape] = {}
        self._asked[declaration.name] = found
        choices = declaration.choices
        for choice in choices.items if choices is not None else ():
            found.setdefault(choice.name.text, self._ask(choice))
        return found

    def _ask(self, choice: Choice) -> Shape:
        if choice.ask is None:
            return RecordShape(())
        shape = self.scope.file.types.shape(choice.ask.type)
        return RecordShape((FieldShape(choice.ask.name.text, shape),))

    # --- the way taken, results, counts ---------------------------------------------------------------------

    def way_taken(self, declaration: Declaration, env: Env) -> Shape:
        """The name of the exit or choice last taken."""
        self.read.add(declaration.name)
        if declaration.name not in self.ways:
            return UNKNOWN
        reading = self.flow.reading(env.state, declaration.name)
        names = union(literal(way) for way in reading.ways if way is not None)
        return optional(names) if reading.unassigned else names

    def result(self, declaration: Declaration, env: Env) -> Shape:
        """`result(node)`: null when the node may not have ended yet."""
        outcomes = union(literal(outcome) for outcome in outcomes_of(declaration))
        fields = (
            FieldShape("outcome", outcomes),
            FieldShape("error", TEXT, optional=True),
            FieldShape("attempts", IntShape(1, None)),
            FieldShape("durationMs", IntShape(0, None)),
            FieldShape("cut", BOOL),
            FieldShape("receipt", JSON, optional=True),
            FieldShape("provenance", union((literal("human"), literal("timeout"))), optional=True),
        )
        shape = RecordShape(fields)
        return optional(shape) if self.flow.may_not_have_ended(env.state, declaration.name) else shape

    def visits(self, declaration: Declaration, env: Env, any_outcome: bool) -> Shape:
        """`visits(node)`: at least one where the node has ended, and in its own expressions."""
        own = declaration.name == env.reader
        started = own or (
            env.state is not None and not self.flow.may_not_have_ended(env.state, declaration.name)
        )
        return IntShape(1 if started and any_outcome else 0, None)

    def latest(self, declarations: list[Declaration], env: Env) -> Shape:
        """`latest(a, b, …)`: null when none may have ended."""
        outcomes = dict.fromkeys(o for d in declarations for o in outcomes_of(d))
        shape = RecordShape(
            (
                FieldShape("node", union(literal(d.name) for d in declarations)),
                FieldShape("outcome", union(literal(outcome) for outcome in outcomes)),
            )
        )
        all_open = all(self.flow.may_not_have_ended(env.state, d.name) for d in declarations)
        return optional(shape) if all_open else shape

    def is_unassigned(self, root: str, env: Env) -> bool:
        """Whether a root reads as null because its node may not have finished that way."""
        vertex, _, way = root.partition(".")
        declaration = self.scope.lookup(vertex)
        if root in env.narrowed or vertex in env.variables or declaration is None or not declaration.is_node:
            return False
        return not self.is_certain(self.flow.reading(env.state, vertex), way or None) and (
            bool(way) or self.flow.reading(env.state, vertex).unassigned
        )


def decision_output(
    declaration: Declaration, asked: Mapping[str, Shape], ways: tuple[str | None, ...]
) -> Shape:
    """What a decision gives: one record for each choice that may have been taken."""
    assert isinstance(declaration.tree, Node), "a decision is a node with clauses"
    defaults = {c.value.choice.text for c in declaration.tree.clauses if isinstance(c.value, After)}
    records: list[Shape] = []
    for choice, shape in asked.items():
        if choice not in ways:
            continue
        by = [literal("human")] + ([literal("timeout")] if choice in defaults else [])
        fields = [FieldShape("choice", literal(choice)), FieldShape("provenance", union(by))]
        if isinstance(shape, RecordShape) and shape.fields:
            fields.append(FieldShape("input", shape))
        records.append(RecordShape(tuple(fields)))
    return union(records) if records else UNKNOWN
