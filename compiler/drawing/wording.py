"""What is written about a node: a line under its name, a few facts, and the panel with everything."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from windtunnel.compiler.printing import (
    duration_expression_text,
    duration_text,
    expression_text,
    local_name,
    scalar_text,
    template_text,
)
from windtunnel.compiler.snapshot import (
    ActionNode,
    AgentNode,
    ArmModel,
    AssistantMessage,
    CheckpointNode,
    ComputeNode,
    DecisionNode,
    Expression,
    LetStep,
    MountModel,
    NotifyNode,
    ShellNode,
    Snapshot,
    SnapshotNode,
)
from windtunnel.compiler.typetext import words

DEFAULT_TIMEOUT_MS: Final = 15 * 60_000
"""The timeout of a node that names none; a fact of a picture is only another one."""

ASSISTANT: Final = "assistant response"
"""The marker of an agent whose visible answer is its output."""


class Place(NamedTuple):
    """The workflow at a mount path, and which ids are mounts: how names are written."""

    scope: str
    mounts: Collection[str]

    def expression(self, expression: Expression) -> str:
        """An expression in the syntax of the language."""
        return expression_text(expression, self.scope, self.mounts)

    def template(self, expression: Expression) -> str:
        """A text without its quotes."""
        return template_text(expression, self.scope, self.mounts)

    def words(self, expression: Expression) -> str:
        """A text as it stands, where it is constant, else the expression."""
        value = expression[1] if expression[0] == "const" else None
        return value if isinstance(value, str) else self.expression(expression)

    def duration(self, value: int | str | Expression) -> str:
        """A duration in milliseconds, an expression of one, or `none`."""
        if isinstance(value, str):
            return value
        if isinstance(value, int):
            return duration_text(value)
        return duration_expression_text(value, self.scope, self.mounts)

    def whole(self, value: int | Expression) -> str:
        """A whole number or an expression of one."""
        return scalar_text(value) if isinstance(value, int) else self.expression(value)


Detail = tuple[str, str]
"""A heading of the panel and the text below it."""


def caption(node: SnapshotNode, place: Place) -> str:
    """The line under the name: the author's label, else what the node does."""
    if node.label is not None:
        return place.template(node.label)
    match node:
        case AgentNode():
            return ""
        case ComputeNode():
            return "= " + place.expression(node.value)
        case ActionNode():
            return f"call {scalar_text(node.call)}"
        case ShellNode():
            return place.expression(node.run)
        case NotifyNode():
            return f"{node.kind}: {place.template(node.message)}"
        case CheckpointNode():
            return place.template(node.show)
        case DecisionNode():
            return place.template(node.title)


def facts(node: SnapshotNode, place: Place) -> tuple[str, ...]:
    """What must be seen at once: who decides by when, and deadlines that are not the usual one."""
    return tuple(_facts(node, place))


def _facts(node: SnapshotNode, place: Place) -> Iterator[str]:
    match node:
        case AgentNode() | ActionNode() | ShellNode():
            if node.timeout_ms == "none":
                yield "no deadline"
            elif node.timeout_ms != DEFAULT_TIMEOUT_MS:
                yield f"within {place.duration(node.timeout_ms)}"
        case DecisionNode():
            if node.audience is not None:
                yield f"by {place.words(node.audience)}"
            if node.after is not None:
                yield f"after {place.duration(node.after.delay_ms)}: {node.after.choose}"
                if node.after.when is not None:
                    yield f"  if {place.expression(node.after.when)}"
            if node.expires_ms is not None:
                yield f"expires after {place.duration(node.expires_ms)}"
        case _:
            return


def marker(node: SnapshotNode, place: Place) -> str | None:
    """The speech mark of an agent that answers in the chat; with its limit where it has one."""
    if not isinstance(node, AgentNode) or not isinstance(node.expected_output, AssistantMessage):
        return None
    if node.expected_output.max_chars is None:
        return ASSISTANT
    return f"{ASSISTANT} ≤ {place.whole(node.expected_output.max_chars)}"


def arm_label(arm: ArmModel, matched: bool) -> str:
    """The cases that an arm takes."""
    if not matched:
        return ""
    return "else" if arm.cases is None else ", ".join(scalar_text(case) for case in arm.cases)


def subject_text(subject: Expression, source: str, place: Place) -> str:
    """What a match looks at; the node's own output is left out: `.route`."""
    text = place.expression(subject)
    own = local_name(source, place.scope)
    return text.removeprefix(own) if text.startswith((f"{own}.", f"{own}?.")) else text


def details(node: SnapshotNode, place: Place) -> tuple[Detail, ...]:
    """Everything that can be said about a node, in the order of reading."""
    return tuple((heading, text) for heading, text in _details(node, place) if text)


def _details(node: SnapshotNode, place: Place) -> Iterator[Detail]:
    if node.label is not None:
        yield "Label", place.template(node.label)
    match node:
        case AgentNode():
            yield from _agent(node, place)
        case ComputeNode():
            yield "Value", place.expression(node.value)
        case ActionNode():
            yield "Calls", node.call
            yield "With", place.expression(node.argument) if node.argument is not None else ""
            yield "Returns", words(node.returns)
            yield from _effect(node, place)
        case ShellNode():
            yield from _shell(node, place)
        case NotifyNode():
            yield "Kind", node.kind
            yield "Message", place.template(node.message)
        case CheckpointNode():
            yield "Shows", place.template(node.show)
            yield "Answer", words(node.answer)
        case DecisionNode():
            yield from _decision(node, place)


def _agent(node: AgentNode, place: Place) -> Iterator[Detail]:
    expected = node.expected_output
    if isinstance(expected, AssistantMessage):
        limit = (
            "no limit"
            if expected.max_chars is None
            else f"at most {place.whole(expected.max_chars)} characters"
        )
        yield "Output", f"{ASSISTANT}: the visible answer itself, {limit}"
    else:
        yield "Output", words(expected.type)
    yield "Prompt", place.template(node.prompt)
    lines: list[str] = []
    for step in node.validate_steps:
        if isinstance(step, LetStep):
            lines.append(f"let {step.let} = {place.expression(step.value)}")
            continue
        when = "" if step.when is None else f" when {place.expression(step.when)}"
        lines.append(f"require {place.expression(step.require)}{when} else {place.expression(step.message)}")
    yield "Validate", "\n".join(lines)
    yield "Tools", node.tools if isinstance(node.tools, str) else ", ".join(node.tools)
    yield "Model", node.model or ""
    yield "Timeout", place.duration(node.timeout_ms)
    yield "Nudges", "" if node.nudges is None else str(node.nudges)


def _shell(node: ShellNode, place: Place) -> Iterator[Detail]:
    yield "Runs", place.expression(node.run)
    for heading, value in (("In folder", node.cwd), ("Environment", node.env), ("Input", node.stdin)):
        if value is not None:
            yield heading, place.expression(value)
    yield "Exit code", "may be other than zero" if node.allow_non_zero_exit else ""
    yield "Returns", "" if node.returns is None else words(node.returns)
    yield from _effect(node, place)


def _effect(node: ActionNode | ShellNode, place: Place) -> Iterator[Detail]:
    if node.idempotency_key is not None:
        yield "Idempotency key", place.expression(node.idempotency_key)
    yield "Timeout", place.duration(node.timeout_ms)


def _decision(node: DecisionNode, place: Place) -> Iterator[Detail]:
    yield "Title", place.template(node.title)
    yield "Audience", "" if node.audience is None else place.words(node.audience)
    yield "Subject", "" if node.subject is None else place.expression(node.subject)
    yield "Shows", "" if node.show is None else place.template(node.show)
    lines: list[str] = []
    for choice, model in sorted(node.choices.items()):
        label = "" if model.label is None else f" “{place.template(model.label)}”"
        asks = "" if model.asks is None or model.type is None else f" asks {model.asks}: {words(model.type)}"
        lines.append(f"{choice}{label}{asks}")
    yield "Choices", "\n".join(lines)
    if node.after is not None:
        when = "" if node.after.when is None else f" when {place.expression(node.after.when)}"
        yield "Default", f"after {place.duration(node.after.delay_ms)} choose {node.after.choose}{when}"
    if node.expires_ms is not None:
        yield "Expires", f"after {place.duration(node.expires_ms)}"


def mount_details(mount: MountModel, place: Place) -> tuple[Detail, ...]:
    """What can be said about an include, seen from the workflow at `place`."""
    found: list[Detail] = [("Workflow", f"{mount.workflow}, revision {mount.revision}")]
    if mount.contract is not None:
        found.append(("Contract", mount.contract))
    if mount.label is not None:
        found.append(("Label", place.template(mount.label)))
    found.append(("Input", place.expression(mount.input)))
    found += [(f"Exit {name}", words(type_)) for name, type_ in sorted(mount.exits.items())]
    found.append(("Steps", f"at most {place.whole(mount.max_steps)} in one invocation"))
    return tuple(found)


def workflow_details(snapshot: Snapshot, place: Place) -> tuple[Detail, ...]:
    """What can be said about the whole."""
    found: list[Detail] = []
    if snapshot.title is not None:
        found.append(("Title", place.template(snapshot.title)))
    if snapshot.contract is not None:
        found.append(("Contract", snapshot.contract))
    found.append(("Input", words(snapshot.input)))
    found.append(("Steps", f"at most {place.whole(snapshot.max_steps)}"))
    if snapshot.budget_turns is not None:
        found.append(("Budget", f"at most {snapshot.budget_turns} turns of the model"))
    if snapshot.presentation is not None:
        found.append(("Presentation", place.template(snapshot.presentation)))
    found.append(("Digest", snapshot.digest))
    return tuple(found)
