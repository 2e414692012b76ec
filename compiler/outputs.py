"""What each node gives: its written type, or for computed nodes the shape of its value.

Computed nodes are taken in the order in which they read each other; around a cycle their shapes grow from
nothing until they stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from windtunnel.compiler.clauses import clause
from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.expressions import Expressions
from windtunnel.compiler.resolver import Declaration, Kind
from windtunnel.compiler.stored import Env
from windtunnel.compiler.types import (
    INT,
    JSON,
    NEVER,
    TEXT,
    UNKNOWN,
    DurationShape,
    FieldShape,
    IntShape,
    ListShape,
    LiteralShape,
    NumberShape,
    RecordShape,
    Shape,
    TextShape,
    members,
)
from windtunnel.compiler.unions import includes, join
from windtunnel.dsl.syntax import (
    AssistantOutput,
    Compute,
    Expr,
    Let,
    ListType,
    LiteralType,
    MapType,
    NamedType,
    Node,
    RecordType,
    Ref,
    UnionType,
    walk,
)

MAX_ROUNDS: Final = 8
"""Most times that computed nodes around a cycle are inferred again before their shapes count as endless."""
WIDEN_AFTER: Final = 2
"""Rounds after which a range that still grows is opened."""

SHELL_OUTPUT: Final = RecordShape(
    (
        FieldShape("exitCode", INT),
        FieldShape("stdout", TEXT),
        FieldShape("stderr", TEXT),
        FieldShape("durationMs", IntShape(0, None)),
    )
)
"""What a shell node gives when it declares nothing else."""


def opened(shape: Shape) -> Shape:
    """The shape with the upper ends of its ranges open, so that what counts upward stops growing."""
    parts: list[Shape] = []
    for member in members(shape):
        match member:
            case IntShape():
                parts.append(IntShape(member.low if member.low == 0 or member.low == 1 else None, None))
            case LiteralShape() if member.kind == "int":
                parts.append(INT)
            case NumberShape():
                parts.append(NumberShape())
            case DurationShape():
                parts.append(DurationShape())
            case TextShape():
                parts.append(TextShape())
            case ListShape():
                parts.append(ListShape(opened(member.item)))
            case RecordShape():
                fields = tuple(FieldShape(f.name, opened(f.shape), f.optional) for f in member.fields)
                parts.append(RecordShape(fields))
            case _:
                parts.append(member)
    return join(parts)


class Outputs:
    """Fills the outputs of one workflow, by node; decisions and mounts have none of their own."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.scope = expressions.scope
        self.findings = expressions.findings
        self.flow = expressions.stored.flow
        self.outputs = expressions.stored.outputs

    def fill(self) -> None:
        """Infer every output, and report what is wrong in computed ones."""
        for declaration in self.scope.nodes:
            self._declared_output(declaration)
        self._computes()

    def _declared_output(self, declaration: Declaration) -> None:
        tree = declaration.tree
        if isinstance(tree, Compute):
            self.outputs[declaration.name] = NEVER
        if not isinstance(tree, Node) or declaration.kind is Kind.DECISION:
            return
        match declaration.kind:
            case Kind.AGENT:
                self.outputs[declaration.name] = self._written(tree, "expectedOutput", JSON)
            case Kind.ACTION:
                self.outputs[declaration.name] = self._written(tree, "returns", JSON)
            case Kind.SHELL:
                self.outputs[declaration.name] = self._written(tree, "returns", SHELL_OUTPUT)
            case Kind.CHECKPOINT:
                self.outputs[declaration.name] = self._written(tree, "answer", TEXT)
            case _:
                self.outputs[declaration.name] = JSON

    def _written(self, node: Node, keyword: str, otherwise: Shape) -> Shape:
        written = clause(node, keyword)
        if written is None:
            return otherwise
        if isinstance(written.value, AssistantOutput):
            return TextShape(1)
        if isinstance(written.value, NamedType | LiteralType | ListType | MapType | RecordType | UnionType):
            return self.scope.file.types.shape(written.value)
        return UNKNOWN

    def _computes(self) -> None:
        trees = {d.name: d.tree for d in self.scope.nodes if isinstance(d.tree, Compute)}
        graph = Digraph(trees)
        for name, tree in trees.items():
            assert isinstance(tree, Compute), "only computed nodes were taken"
            for used in self._computes_in(tree.value, trees):
                graph.add(name, used)
        order = {name: index for index, name in enumerate(trees)}
        for group in graph.components():
            ordered = sorted(group, key=lambda name: order[name])
            if len(ordered) > 1 or graph.leads(ordered[0], ordered[0]):
                self._grow([trees[name] for name in ordered])
            else:
                self.outputs[ordered[0]] = self._compute(trees[ordered[0]])

    def _computes_in(self, expr: Expr, trees: Mapping[str, object]) -> Iterator[str]:
        """The computed nodes that an expression reads, also through `let`s."""
        seen: set[str] = set()
        stack = [expr]
        while stack:
            for part in walk(stack.pop()):
                if not isinstance(part, Ref) or part.name in seen:
                    continue
                seen.add(part.name)
                declaration = self.scope.lookup(part.name)
                if declaration is not None and isinstance(declaration.tree, Let):
                    stack.append(declaration.tree.value)
                if part.name in trees:
                    yield part.name

    def _compute(self, tree: object) -> Shape:
        assert isinstance(tree, Compute), "only computed nodes were taken"
        return self.expressions.shape(tree.value, Env(self.flow.entry(tree.name.text), tree.name.text))

    def _grow(self, trees: list[object]) -> None:
        named = [tree for tree in trees if isinstance(tree, Compute)]
        for round_ in range(MAX_ROUNDS):
            before = {tree.name.text: self.outputs[tree.name.text] for tree in named}
            with self.findings.muted():
                for tree in named:
                    grown = join((before[tree.name.text], self._compute(tree)))
                    if round_ >= WIDEN_AFTER and grown != before[tree.name.text]:
                        grown = opened(grown)
                    self.outputs[tree.name.text] = grown
            self.expressions.accesses.forget_lets()
            if all(includes(before[tree.name.text], self.outputs[tree.name.text]) for tree in named):
                break
        else:
            for tree in named:
                self.outputs[tree.name.text] = UNKNOWN
            self.findings.add(
                "WT0420",
                f"the type of `{named[0].name.text}` grows each time it reads itself",
                named[0].name.span,
                help="give one of the nodes on the way a written type, for example an agent or an action",
            )
        for tree in named:
            self._compute(tree)
