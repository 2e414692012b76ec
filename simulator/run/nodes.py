"""Nodes made ready to run: their expressions compiled, and what asking and judging each of them reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Acceptor, acceptor
from windtunnel.compiler.evaluator import (
    Compiled,
    Environment,
    Read,
    compile_expression,
    compile_validator,
    reads,
)
from windtunnel.compiler.snapshot import (
    ActionNode,
    AgentNode,
    AssistantMessage,
    CheckpointNode,
    ComputeNode,
    DecisionNode,
    Expression,
    NotifyNode,
    ShellNode,
    Snapshot,
    SnapshotNode,
)
from windtunnel.simulator.run.liveness import asking, checking

DEFAULT_NUDGES: Final = 2
"""Reminders of a submit step before it fails."""

SHELL: Final = "shell"
"""The name that effects of shell nodes go by."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent node. `type` is None for an assistant agent; `max_chars` and `timeout` read the
    environment.
    """

    id: str
    prompt: Compiled
    completion: str
    type: Acceptor | None
    max_chars: Compiled | None
    validator: Callable[[Environment, JsonValue], tuple[str, ...]] | None
    timeout: Compiled | None
    nudges: int
    reads: frozenset[Read]
    kind: str = "agent"


@dataclass(frozen=True, slots=True)
class Compute:
    """A compute node."""

    id: str
    value: Compiled
    kind: str = "compute"


@dataclass(frozen=True, slots=True)
class Effect:
    """An action or a shell node. `argument` is what the effect is given, as one value.

    `type` is what an action returns, or what a shell's standard output holds; None for a shell that gives
    its exit code and its output as they are.
    """

    id: str
    call: str
    argument: Compiled
    type: Acceptor | None
    key: Compiled | None
    timeout: Compiled | None
    any_exit: bool
    reads: frozenset[Read]
    kind: str


@dataclass(frozen=True, slots=True)
class Notify:
    """A message to the origin session; `urgency` is `progress` or `final`."""

    id: str
    urgency: str
    message: Compiled
    kind: str = "notify"


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a decision: what it asks for, if anything, and of which type."""

    id: str
    asks: str | None
    type: Acceptor | None
    label: Compiled | None
    prompt: Compiled | None


@dataclass(frozen=True, slots=True)
class Default:
    """What is chosen when nobody answers in time, where the premise holds."""

    choice: str
    delay: Compiled
    when: Compiled | None


@dataclass(frozen=True, slots=True)
class Decision:
    """A question for a person: a decision by its choices, or a checkpoint by the type of its `answer`."""

    id: str
    kind: str
    audience: Compiled | None
    title: Compiled | None
    subject: Compiled | None
    show: Compiled | None
    choices: tuple[Choice, ...]
    default: Default | None
    expires: Compiled | None
    answer: Acceptor | None

    def choice(self, id: str | None) -> Choice | None:
        """The choice of that id."""
        return next((choice for choice in self.choices if choice.id == id), None)


Node: TypeAlias = Agent | Compute | Effect | Notify | Decision


def node_of(name: str, node: SnapshotNode, snapshot: Snapshot) -> Node:
    """A node of the snapshot, ready to run."""
    match node:
        case AgentNode():
            return _agent(name, node, snapshot)
        case ComputeNode():
            return Compute(name, compile_expression(node.value))
        case ActionNode() | ShellNode():
            return _effect(name, node, snapshot)
        case NotifyNode():
            return Notify(name, node.kind, compile_expression(node.message))
        case DecisionNode():
            return _decision(name, node, snapshot)
        case CheckpointNode():
            answer = acceptor(node.answer, snapshot.types)
            show = compile_expression(node.show)
            return Decision(name, "checkpoint", None, None, None, show, (), None, None, answer)


def number(value: int | Expression) -> Compiled:
    """A whole number, or the expression that gives one."""
    return compile_expression(["const", value] if isinstance(value, int) else value)


def _agent(name: str, node: AgentNode, snapshot: Snapshot) -> Agent:
    output = node.expected_output
    limit = None
    if isinstance(output, AssistantMessage) and output.max_chars is not None:
        limit = number(output.max_chars)
    return Agent(
        name,
        compile_expression(node.prompt),
        "assistant" if isinstance(output, AssistantMessage) else "submit",
        None if isinstance(output, AssistantMessage) else acceptor(output.type, snapshot.types),
        limit,
        compile_validator(node.validate_steps) if node.validate_steps else None,
        None if node.timeout_ms == "none" else number(node.timeout_ms),
        DEFAULT_NUDGES if node.nudges is None else node.nudges,
        _reads((*asking(node), *checking(node)), snapshot),
    )


def _effect(name: str, node: ActionNode | ShellNode, snapshot: Snapshot) -> Effect:
    if isinstance(node, ActionNode):
        call, any_exit = node.call, False
        argument: Expression = ["const", None] if node.argument is None else node.argument
    else:
        call, any_exit = SHELL, node.allow_non_zero_exit
        parts = [("run", node.run), ("cwd", node.cwd), ("env", node.env), ("stdin", node.stdin)]
        argument = ["record"]
        argument += [["field", key, part] for key, part in parts if part is not None]
    timeout = node.timeout_ms
    return Effect(
        name,
        call,
        compile_expression(argument),
        None if node.returns is None else acceptor(node.returns, snapshot.types),
        _optional(node.idempotency_key),
        None if timeout == "none" else number(timeout),
        any_exit,
        _reads([timeout] if isinstance(timeout, list) else (), snapshot),
        node.node_type,
    )


def _decision(name: str, node: DecisionNode, snapshot: Snapshot) -> Decision:
    after = node.after
    return Decision(
        name,
        "decision",
        _optional(node.audience),
        compile_expression(node.title),
        _optional(node.subject),
        _optional(node.show),
        tuple(
            Choice(
                id,
                choice.asks,
                None if choice.type is None else acceptor(choice.type, snapshot.types),
                _optional(choice.label),
                _optional(choice.prompt),
            )
            for id, choice in sorted(node.choices.items())
        ),
        None
        if after is None
        else Default(after.choose, compile_expression(after.delay_ms), _optional(after.when)),
        _optional(node.expires_ms),
        None,
    )


def _optional(expression: Expression | None) -> Compiled | None:
    return None if expression is None else compile_expression(expression)


def _reads(expressions: Iterable[Expression], snapshot: Snapshot) -> frozenset[Read]:
    return frozenset[Read]().union(*(reads(expression, snapshot.lets) for expression in expressions))
