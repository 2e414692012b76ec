"""The shapes of one workflow: what each node gives, what each exit gives, and what every clause is given.

Included workflows come first, so that what their exits give is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from windtunnel.compiler.assignability import Reason, mismatch
from windtunnel.compiler.clauses import CLAUSES
from windtunnel.compiler.conditions import assume
from windtunnel.compiler.description import describe
from windtunnel.compiler.expressions import Expressions
from windtunnel.compiler.fitting import locate, mismatch_words
from windtunnel.compiler.flow import Flow
from windtunnel.compiler.graph import START, Arrow, Graph, Route
from windtunnel.compiler.outputs import Outputs
from windtunnel.compiler.resolver import Declaration, Kind, Program, Scope, WorkflowId
from windtunnel.compiler.settings import SETTINGS
from windtunnel.compiler.stored import Env, Stored
from windtunnel.compiler.types import (
    INT,
    JSON,
    TEXT,
    UNKNOWN,
    IntShape,
    LiteralShape,
    NumberShape,
    RecordShape,
    Shape,
    UnknownShape,
    members,
)
from windtunnel.compiler.unions import is_nullable, join, without_null
from windtunnel.dsl.syntax import (
    After,
    AssistantOutput,
    Binary,
    CallEffect,
    Choices,
    Clause,
    Compute,
    Entry,
    Expr,
    Include,
    Let,
    ListType,
    Literal,
    LiteralType,
    MapType,
    NamedType,
    Node,
    PromptFile,
    RecordType,
    Require,
    UnionType,
    Validate,
    Word,
)

Templates = Mapping[tuple[str, str], Shape]

MAX_WANTED: Final = 80
"""Characters of a type that a help writes out."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What inference found out about one workflow."""

    scope: Scope
    graph: Graph
    expressions: Expressions
    outputs: Mapping[str, Shape]
    exits: Mapping[str, Shape]
    subjects: Mapping[int, Shape]
    """By route: the shape that its match looks at."""
    limits: Mapping[int, Shape]
    """By the place of a limit's count: its shape."""
    max_chars: Mapping[str, Shape | None]
    """By assistant node: the shape of `maxChars`, None when it is not set."""
    clauses: Mapping[tuple[str, str], Shape]
    """By node and keyword: the shape of a clause's expression."""

    @property
    def flow(self) -> Flow:
        """What has surely happened where."""
        return self.expressions.stored.flow

    def is_whole(self, expr: Expr) -> bool:
        """Whether a `/`, a `*` or a side of one is a whole number or a duration wherever it is read."""
        return self.expressions.whole.get(id(expr), False)


def infer(
    program: Program, scope: Scope, graph: Graph, children: Mapping[WorkflowId, Typed], templates: Templates
) -> Typed:
    """Infer every shape of a workflow; `children` holds the workflows that it includes."""
    exits = {
        d.name: children[d.child].exits for d in scope.nodes if d.child is not None and d.child in children
    }
    stored = Stored(program, scope, graph, exits)
    return _Inference(program, scope, graph, Expressions(program, scope, stored, templates)).run()


class _Inference:
    """One run over one workflow."""

    def __init__(self, program: Program, scope: Scope, graph: Graph, expressions: Expressions) -> None:
        self.program = program
        self.scope = scope
        self.graph = graph
        self.expressions = expressions
        self.stored = expressions.stored
        self.flow = expressions.stored.flow
        self.fitting = expressions.fitting
        self.findings = scope.file.findings
        self.outputs = expressions.stored.outputs
        self.max_chars: dict[str, Shape | None] = {}
        self.clauses: dict[tuple[str, str], Shape] = {}
        self.subjects: dict[int, Shape] = {}
        self.limits: dict[int, Shape] = {}

    def run(self) -> Typed:
        Outputs(self.expressions).fill()
        for declaration in self.scope.nodes:
            self._node(declaration)
        self._settings()
        self._edges()
        exits = self._exits()
        self._unread_lets()
        return Typed(
            self.scope,
            self.graph,
            self.expressions,
            self.outputs,
            exits,
            self.subjects,
            self.limits,
            self.max_chars,
            self.clauses,
        )

    def env(self, name: str) -> Env:
        """The place at the entry of a node."""
        return Env(self.flow.entry(name), name)

    # --- nodes ----------------------------------------------------------------------------------------------

    def _node(self, declaration: Declaration) -> None:
        env = self.env(declaration.name)
        tree = declaration.tree
        label = getattr(tree, "label", None)
        if label is not None:
            self._wants(label, TEXT, env, "the label")
        if isinstance(tree, Include):
            self._include(declaration, tree, env)
        elif isinstance(tree, Node):
            seen: set[str] = set()
            for part in tree.clauses:
                rule = CLAUSES[tree.kind].get(part.keyword.text)
                if rule is not None and (rule.repeats or part.keyword.text not in seen):
                    self._clause(tree, part, env)
                seen.add(part.keyword.text)

    def _wants(self, expr: Expr, wanted: Shape, env: Env, what: str) -> Shape:
        shape = self.expressions.shape(expr, env)
        self.fitting.fits(expr, shape, wanted, env, what)
        return shape

    def _clause(self, node: Node, part: Clause, env: Env) -> None:
        keyword = part.keyword.text
        value = part.value
        match value:
            case (
                Word()
                | PromptFile()
                | NamedType()
                | LiteralType()
                | ListType()
                | MapType()
                | RecordType()
                | UnionType()
            ):
                return
            case AssistantOutput():
                self._assistant(node, value, env)
            case Validate():
                self._validate(node, value, env)
            case Choices():
                self._choices(value, env)
            case After():
                self._wants(value.delay, CLAUSES["decision"]["expires"].wanted or JSON, env, "the delay")
                if value.premise is not None:
                    self.expressions.condition(value.premise, env)
            case CallEffect():
                if value.argument is not None:
                    self.expressions.shape(value.argument, env)
            case _:
                wanted = CLAUSES[node.kind][keyword].wanted
                if keyword == "example":
                    wanted = self.outputs[node.name.text]
                shape = self.expressions.shape(value, env)
                if wanted is None:
                    return  # The clause holds something else than an expression, which is reported.
                code = "WT0508" if keyword == "example" else "WT0403"
                self.fitting.fits(value, shape, wanted, env, f"`{keyword}`", code=code)
                self.clauses.setdefault((node.name.text, keyword), shape)

    def _assistant(self, node: Node, value: AssistantOutput, env: Env) -> None:
        if value.max_chars is None:
            self.max_chars[node.name.text] = None
            return
        self.max_chars[node.name.text] = self._wants(value.max_chars, INT, env, "`maxChars`")

    def _validate(self, node: Node, value: Validate, env: Env) -> None:
        env = env.binding("output", self.outputs[node.name.text])
        for item in value.items:
            if isinstance(item, Let):
                env = env.binding(item.name.text, self.expressions.shape(item.value, env))
                continue
            self._require(item, env)

    def _require(self, item: Require, env: Env) -> None:
        if item.premise is not None:
            self.expressions.condition(item.premise, env)
            env = assume(self.expressions, item.premise, True, env)
        self.expressions.condition(item.condition, env)
        if self._never_holds(item.condition, env):
            self.findings.add(
                "WT0423",
                "no submission can meet this"
                + (" where it is asked for" if item.premise is not None else ""),
                item.condition.span,
                help="loosen it, or the type that it looks at",
            )
        self._wants(item.message, TEXT, assume(self.expressions, item.condition, False, env), "the message")

    def _never_holds(self, condition: Expr, env: Env) -> bool:
        """Whether a condition is `false`, or compares numbers of which none can stand so to each other."""
        if isinstance(condition, Literal):
            return condition.value is False
        if not isinstance(condition, Binary) or condition.operator not in ("<", "<=", ">", ">="):
            return False
        with self.findings.muted():
            sides = [span_of(self.expressions.shape(s, env)) for s in (condition.left, condition.right)]
        if condition.operator in (">", ">="):
            sides.reverse()
        (least, _), (_, most) = sides
        if least is None or most is None:
            return False
        return least > most or (least == most and condition.operator in ("<", ">"))

    def _choices(self, value: Choices, env: Env) -> None:
        for choice in value.items:
            if choice.label is not None:
                self._wants(choice.label, TEXT, env, "the label")
            if choice.ask is not None and choice.ask.prompt is not None:
                self._wants(choice.ask.prompt, TEXT, env, "the question")

    def _include(self, declaration: Declaration, tree: Include, env: Env) -> None:
        child = self.program.child(declaration)
        shape = self.expressions.shape(tree.input, env)
        if child is None or child.has_hole or isinstance(shape, UnknownShape):
            return
        wanted = child.input
        what = f"the input of `{declaration.name}`"
        parted = mismatch(shape, wanted)
        if parted is None:
            return
        given = [e for e in tree.input.entries if isinstance(e, Entry)]
        if len(given) != len(tree.input.entries):
            self.fitting.fits(tree.input, shape, wanted, env, what)
            return
        for entry in given:
            self._given(entry, shape, child, env, declaration)
        names = {entry.key.text for entry in given}
        missing = [f for f in wanted.fields if f.name not in names and not f.may_be_missing]
        missing = [f for f in missing if not is_nullable(f.shape)]
        if missing:
            listed = ", ".join(f"`{f.name}: {describe(f.shape)}`" for f in missing)
            self.findings.add(
                "WT0405",
                f"`{declaration.name}` is not given {listed}",
                tree.workflow.span,
                help=f"`{child.id.name}` needs {'it' if len(missing) == 1 else 'them'} in its input",
            )

    def _given(self, entry: Entry, shape: Shape, child: Scope, env: Env, declaration: Declaration) -> None:
        name = entry.key.text
        wanted = child.input.field(name)
        if wanted is None:
            self.findings.add(
                "WT0406",
                f"`{child.id.name}` takes no `{name}`",
                entry.key.span,
                **self.findings.did_you_mean(entry.key, child.input.names),
            )
            return
        own = shape.field(name) if isinstance(shape, RecordShape) else None
        if own is None:
            return
        given: Shape = own.shape
        if own.optional and not wanted.may_be_missing:
            given = join((given, UNKNOWN)) if isinstance(given, UnknownShape) else given
            self.fitting.report_null(
                entry.value, env, f"and `{name}` of `{declaration.name}` needs {describe(wanted.shape)}"
            )
            return
        if wanted.optional:
            given = without_null(given)
        self.fitting.fits(entry.value, given, wanted.shape, env, f"`{name}` of `{declaration.name}`")

    # --- settings, lets, edges ------------------------------------------------------------------------------

    def _settings(self) -> None:
        for setting in self.scope.workflow.settings:
            wanted = SETTINGS.get(setting.keyword.text)
            if wanted is None:
                continue
            env = Env(self.flow.entry(START), START)
            if setting.keyword.text == "presentation":
                env = Env(self._at_the_end(), START)
            self._wants(setting.value, wanted, env, f"`{setting.keyword.text}`")

    def _at_the_end(self) -> int | None:
        """The state when the presentation is asked for: after any exit, or while a person is waited for."""
        states = [self.flow.along(arrow) for arrows in self.graph.exits.values() for arrow in arrows]
        waiting = (Kind.DECISION, Kind.CHECKPOINT)
        states += [self.flow.entry(d.name) for d in self.scope.nodes if d.kind in waiting]
        united: int | None = None
        for state in states:
            if state is not None:
                united = state if united is None else united | state
        return united

    def _unread_lets(self) -> None:
        for declaration in self.scope.lets:
            if declaration.name not in self.expressions.accesses.used_lets:
                self.expressions.let(declaration, Env(None, START, inside_let=True))
                self.expressions.accesses.used_lets.discard(declaration.name)

    def _edges(self) -> None:
        for route in self.graph.routes:
            env = Env(self.flow.after(route), route.source)
            if route.match is not None:
                self.subjects[route.index] = self._subject(route, env)
            for branch in route.branches:
                if branch.limit is None:
                    continue
                count = branch.limit.count
                self.limits[count.span.start] = self._wants(count, INT, env, "the limit")

    def _subject(self, route: Route, env: Env) -> Shape:
        assert route.match is not None, "only a route with a match has a subject"
        if not route.match.own:
            return self.expressions.shape(route.match.subject, env)
        if route.source == START or route.outcome != "ok":
            self.findings.add(
                "WT0305",
                "there is no output here to match",
                route.match.subject.span,
                help="match a value by its name, as in `match input.mode`",
            )
            return UNKNOWN
        output = self.stored.root(self._root_of(route), env)
        return self.expressions.shape(route.match.subject, env.binding("output", output))

    @staticmethod
    def _root_of(route: Route) -> str:
        return route.source if route.way is None else f"{route.source}.{route.way}"

    # --- exits ----------------------------------------------------------------------------------------------

    def _exits(self) -> dict[str, Shape]:
        found: dict[str, list[Shape]] = {name: [] for name in self.scope.exit_names}
        for name, arrows in self.graph.exits.items():
            for arrow in arrows:
                found.setdefault(name, []).append(self._given_at_exit(name, arrow))
        if self.scope.exits is not None:
            return dict(self.scope.exits)
        return {name: join(shapes) if shapes else UNKNOWN for name, shapes in found.items()}

    def _given_at_exit(self, name: str, arrow: Arrow) -> Shape:
        if arrow.source == START:
            self.findings.add(
                "WT0218",
                f"`exit {name}` is entered from `start`, where nothing has been made yet",
                arrow.goal.span,
                help="end in a `compute` that makes the output",
            )
            return UNKNOWN
        env = Env(self.flow.along(arrow), arrow.source)
        declaration = self.scope.lookup(arrow.source)
        assert declaration is not None, "arrows start from declared nodes"
        root = arrow.source if declaration.kind is Kind.DECISION else self._root_of(arrow.route)
        shape = self.stored.root(root, env)
        if self.scope.exits is not None:
            self._check_exit(name, arrow, shape, declaration)
        return shape

    def _check_exit(self, name: str, arrow: Arrow, shape: Shape, declaration: Declaration) -> None:
        assert self.scope.exits is not None, "only declared exits are compared"
        parted = mismatch(shape, self.scope.exits[name])
        if parted is None:
            return
        where = arrow.goal.span
        if isinstance(declaration.tree, Compute):
            part = locate(declaration.tree.value, parted.path)
            where = part.span if part is not None else declaration.tree.name.span
        declared = next(e for e in self.scope.workflow.exits[0] if e.name.text == name)
        words = mismatch_words(parted, f"what `{declaration.name}` gives to exit `{name}`")
        if parted.reason is Reason.NULL and arrow.route.outcome != "ok":
            after = arrow.route.outcome
            words = f"`{declaration.name}` may have no output after `{after}`; exit `{name}` needs one"
        wanted = describe(self.scope.exits[name])
        help = None
        if not isinstance(declaration.tree, Compute) and len(wanted) <= MAX_WANTED:
            help = f"lead `{declaration.name}` to a `compute` that makes {wanted}, and that one to the exit"
        self.findings.add(
            "WT0407", words, where, secondary=[(declared.span, "the exit is declared here")], help=help
        )


def span_of(shape: Shape) -> tuple[float | None, float | None]:
    """The least and the largest number of a shape; None where it has none, or is no number."""
    lows: list[float] = []
    highs: list[float] = []
    parts = members(shape)
    for part in parts:
        if isinstance(part, LiteralShape) and part.kind in ("int", "number"):
            lows.append(float(part.value))
            highs.append(float(part.value))
        elif isinstance(part, IntShape | NumberShape):
            lows += [] if part.low is None else [part.low]
            highs += [] if part.high is None else [part.high]
    return (
        min(lows) if parts and len(lows) == len(parts) else None,
        max(highs) if parts and len(highs) == len(parts) else None,
    )
