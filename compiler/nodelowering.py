"""One declared node to the node of a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from windtunnel.compiler.clauses import DEFAULT_NUDGES
from windtunnel.compiler.exprlowering import ExpressionLowering
from windtunnel.compiler.folding import Lowered
from windtunnel.compiler.resolver import Scope
from windtunnel.compiler.snapshot import (
    ActionNode,
    AfterModel,
    AgentNode,
    AssistantMessage,
    CheckpointNode,
    ChoiceModel,
    ComputeNode,
    DecisionNode,
    JsonType,
    LetStep,
    NotifyNode,
    RequireStep,
    ShellNode,
    SnapshotNode,
    SubmittedOutput,
    TextType,
    TypeModel,
)
from windtunnel.compiler.typelowering import TypeLowering
from windtunnel.dsl.syntax import (
    After,
    AssistantOutput,
    CallEffect,
    Choice,
    Choices,
    ClauseValue,
    Compute,
    Expr,
    Let,
    ListType,
    LiteralType,
    MapType,
    NamedType,
    Node,
    RecordType,
    Text,
    TypeExpr,
    UnionType,
    Validate,
    Word,
)

DEFAULT_TIMEOUT_MS: Final = 15 * 60 * 1_000

Timeout = int | list[object] | Literal["none"]


def lower_node(
    tree: Node | Compute, scope: Scope, expressions: ExpressionLowering, types: TypeLowering
) -> SnapshotNode:
    """The stored form of a checked node, without digests."""
    if isinstance(tree, Compute):
        return ComputeNode(value=expressions.lower(tree.value))
    return _NodeLowering(tree, scope, expressions, types).node()


class _NodeLowering:
    """The clauses of one node, by keyword; the first of a repeated one counts."""

    def __init__(
        self, tree: Node, scope: Scope, expressions: ExpressionLowering, types: TypeLowering
    ) -> None:
        self.tree = tree
        self.scope = scope
        self.expressions = expressions
        self.types = types
        clauses: dict[str, ClauseValue] = {}
        for clause in tree.clauses:
            clauses.setdefault(clause.keyword.text, clause.value)
        self.clauses: Mapping[str, ClauseValue] = clauses

    def node(self) -> SnapshotNode:
        match self.tree.kind:
            case "agent":
                return self._agent()
            case "action":
                return self._action()
            case "shell":
                return self._shell()
            case "notify":
                return self._notify()
            case "checkpoint":
                return self._checkpoint()
            case "decision":
                return self._decision()

    def _agent(self) -> AgentNode:
        output = self.clauses.get("expectedOutput")
        expected: SubmittedOutput | AssistantMessage
        if isinstance(output, AssistantOutput):
            limit = None if output.max_chars is None else self._folded(output.max_chars)
            expected = AssistantMessage(max_chars=limit)
        else:
            expected = SubmittedOutput(type=self._type("expectedOutput") or JsonType())
        nudges = self._optional("nudges")
        return AgentNode(
            label=self._label(),
            prompt=self._required("prompt"),
            expected_output=expected,
            validate_steps=self._validate(),
            examples=tuple(
                self.expressions.lower(_expression(clause.value))
                for clause in self.tree.clauses
                if clause.keyword.text == "example"
            ),
            tools=self._tools(),
            model=self._text("model"),
            timeout_ms=self._timeout(),
            nudges=None
            if isinstance(expected, AssistantMessage)
            else (DEFAULT_NUDGES if nudges is None else _whole(nudges)),
        )

    def _validate(self) -> tuple[LetStep | RequireStep, ...]:
        block = self.clauses.get("validate")
        if not isinstance(block, Validate):
            return ()
        variables = ["output"]
        steps: list[LetStep | RequireStep] = []
        for item in block.items:
            if isinstance(item, Let):
                value = self.expressions.lower(item.value, variables)
                steps.append(LetStep(let=item.name.text, value=value))
                variables.append(item.name.text)
                continue
            when = None if item.premise is None else self.expressions.lower(item.premise, variables)
            steps.append(
                RequireStep(
                    require=self.expressions.lower(item.condition, variables),
                    when=when,
                    message=self.expressions.lower(item.message, variables),
                )
            )
        return tuple(steps)

    def _tools(self) -> Literal["none", "any"] | tuple[str, ...]:
        value = self.clauses.get("tools")
        if value is None:
            return "any"
        if isinstance(value, Word):
            return "none" if value.text == "none" else "any"
        names = self.expressions.lower(_expression(value))
        assert names[0] == "const", "a list of tools is constant, which the checks report"
        return tuple(sorted(str(name) for name in names[1]))

    def _action(self) -> ActionNode:
        call = self.clauses["call"]
        assert isinstance(call, CallEffect), "an action calls something, which the checks report"
        argument = None if call.argument is None else self.expressions.lower(call.argument)
        return ActionNode(
            label=self._label(),
            call=call.action.constant or "",
            argument=argument,
            returns=self._type("returns") or JsonType(),
            idempotency_key=self._optional("idempotencyKey"),
            timeout_ms=self._timeout(),
        )

    def _shell(self) -> ShellNode:
        allow = self.clauses.get("allowNonZeroExit")
        return ShellNode(
            label=self._label(),
            run=self._required("run"),
            cwd=self._optional("cwd"),
            env=self._optional("env"),
            stdin=self._optional("stdin"),
            allow_non_zero_exit=isinstance(allow, Word)
            or (allow is not None and self._optional("allowNonZeroExit") == ["const", True]),
            returns=self._type("returns"),
            idempotency_key=self._optional("idempotencyKey"),
            timeout_ms=self._timeout(),
        )

    def _notify(self) -> NotifyNode:
        kind = self.clauses.get("kind")
        final = isinstance(kind, Word) and kind.text == "final"
        return NotifyNode(
            label=self._label(), kind="final" if final else "progress", message=self._required("message")
        )

    def _checkpoint(self) -> CheckpointNode:
        return CheckpointNode(
            label=self._label(), show=self._required("show"), answer=self._type("answer") or TextType()
        )

    def _decision(self) -> DecisionNode:
        choices = self.clauses["choices"]
        assert isinstance(choices, Choices), "a decision has choices, which the checks report"
        after = self.clauses.get("after")
        return DecisionNode(
            label=self._label(),
            audience=self._optional("audience"),
            title=self._required("title"),
            subject=self._optional("subject"),
            show=self._optional("show"),
            choices={
                choice.name.text: self._choice(choice)
                for choice in sorted(choices.items, key=lambda item: item.name.text)
            },
            after=self._after(after) if isinstance(after, After) else None,
            expires_ms=self._optional("expires"),
        )

    def _choice(self, choice: Choice) -> ChoiceModel:
        label = None if choice.label is None else self.expressions.lower(choice.label)
        if choice.ask is None:
            return ChoiceModel(label=label)
        ask = choice.ask
        return ChoiceModel(
            label=label,
            asks=ask.name.text,
            type=self._shape(ask.type),
            prompt=None if ask.prompt is None else self.expressions.lower(ask.prompt),
        )

    def _after(self, after: After) -> AfterModel:
        return AfterModel(
            delay_ms=self.expressions.lower(after.delay),
            choose=after.choice.text,
            when=None if after.premise is None else self.expressions.lower(after.premise),
        )

    # --- clauses --------------------------------------------------------------------------------------------

    def _label(self) -> Lowered | None:
        return None if self.tree.label is None else self.expressions.lower(self.tree.label)

    def _optional(self, keyword: str) -> Lowered | None:
        value = self.clauses.get(keyword)
        return None if value is None else self.expressions.lower(_expression(value))

    def _required(self, keyword: str) -> Lowered:
        lowered = self._optional(keyword)
        assert lowered is not None, f"`{keyword}` is there, which the checks report"
        return lowered

    def _text(self, keyword: str) -> str | None:
        value = self.clauses.get(keyword)
        return value.constant if isinstance(value, Text) else None

    def _type(self, keyword: str) -> TypeModel | None:
        value = self.clauses.get(keyword)
        return None if value is None else self._shape(_type_expression(value))

    def _shape(self, expr: TypeExpr) -> TypeModel:
        return self.types.type(self.scope.file.types.shape(expr))

    def _timeout(self) -> int | Lowered | Literal["none"]:
        value = self.clauses.get("timeout")
        if value is None:
            return DEFAULT_TIMEOUT_MS
        return "none" if isinstance(value, Word) else self._folded(_expression(value))

    def _folded(self, expr: Expr) -> int | Lowered:
        """The whole number where it is known before the run, else the expression."""
        lowered = self.expressions.lower(expr)
        known = lowered[1] if lowered[0] == "const" else None
        return known if isinstance(known, int) and not isinstance(known, bool) else lowered


def _whole(lowered: Lowered) -> int:
    assert lowered[0] == "const", "nudges are a constant, which the checks report"
    assert isinstance(lowered[1], int), "nudges are a whole number, which the checks report"
    return lowered[1]


_NOT_EXPRESSIONS: Final = (AssistantOutput, Validate, CallEffect, Word, Choices, After)
_TYPES: Final = (NamedType, LiteralType, ListType, MapType, RecordType, UnionType)


def _expression(value: ClauseValue) -> Expr:
    assert not isinstance(value, (*_NOT_EXPRESSIONS, *_TYPES)), "the grammar gives an expression here"
    return value  # type: ignore[return-value]


def _type_expression(value: ClauseValue) -> TypeExpr:
    assert isinstance(value, _TYPES), "the grammar gives a type here"
    return value
