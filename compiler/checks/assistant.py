"""Band 06: agents whose visible answer is their output. It is shown once, so nothing may ask for it again."""

from __future__ import annotations

import re
from typing import Final

from windtunnel.compiler.clauses import clause
from windtunnel.compiler.description import describe
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Kind
from windtunnel.compiler.types import IntShape, LiteralShape, Shape, UnknownShape, members
from windtunnel.dsl.syntax import AssistantOutput, Node, Ref, Text

ASKS: Final = re.compile(
    r"\b(?:answer|reply|respond|return|output|write)\b[^.\n]*\bJSON\b|\bsubmit (?:your|the|a)\b",
    re.IGNORECASE,
)
"""What asks a model for a submission."""
DENIES: Final = re.compile(r"\b(?:not|never|no|without|don't)\b", re.IGNORECASE)


def check_assistant(typed: Typed) -> None:
    """Report what does not go with a visible answer."""
    for declaration in typed.scope.nodes:
        tree = declaration.tree
        if isinstance(tree, Node) and declaration.kind is Kind.AGENT:
            output = clause(tree, "expectedOutput")
            if output is not None and isinstance(output.value, AssistantOutput):
                _check_node(typed, tree, output.value)


def _check_node(typed: Typed, node: Node, output: AssistantOutput) -> None:
    findings = typed.scope.file.findings
    for part in node.clauses:
        if part.keyword.text in ("validate", "nudges"):
            code = "WT0601" if part.keyword.text == "validate" else "WT0605"
            findings.add(
                code,
                f"`{node.name.text}` answers in the chat, so `{part.keyword.text}` cannot ask it again",
                part.keyword.span,
                secondary=[(output.span, "the answer is visible as it comes")],
                help="remove the clause, or let the agent submit its output",
            )
    _check_limit(typed, node, output)
    _check_retry(typed, node)
    _check_prompt(typed, node)
    _check_presentation(typed, node)
    _check_repeats(typed, node)


def _check_limit(typed: Typed, node: Node, output: AssistantOutput) -> None:
    shape = typed.max_chars.get(node.name.text)
    if shape is None or output.max_chars is None or _is_positive_whole(shape):
        return
    typed.scope.file.findings.add(
        "WT0602",
        f"`maxChars` is surely a positive whole number, which {describe(shape)} is not",
        output.max_chars.span,
        help="write a number, or bound the type, as in `int(1..10_000)`; without a limit leave it out",
    )


def _is_positive_whole(shape: Shape) -> bool:
    return all(
        isinstance(member, UnknownShape)
        or (isinstance(member, IntShape) and member.low is not None and member.low >= 1)
        or (isinstance(member, LiteralShape) and member.kind == "int" and int(member.value) >= 1)
        for member in members(shape)
    )


def _check_retry(typed: Typed, node: Node) -> None:
    for outcome in ("failed", "timed_out"):
        route = typed.graph.route(node.name.text, None, outcome)
        if route is not None and any(branch.goal.node == node.name.text for branch in route.branches):
            typed.scope.file.findings.add(
                "WT0605",
                f"`{node.name.text}` answers in the chat; after `{outcome}` it would answer a second time",
                route.span,
                help="lead the failure to a node that does without the answer",
            )


def _check_prompt(typed: Typed, node: Node) -> None:
    prompt = clause(node, "prompt")
    if prompt is None or not isinstance(prompt.value, Text):
        return
    for part in prompt.value.parts:
        for sentence in re.split(r"[.\n]", part) if isinstance(part, str) else ():
            if ASKS.search(sentence) and not DENIES.search(sentence):
                typed.scope.file.findings.add(
                    "WT0606",
                    f"the prompt of `{node.name.text}` asks for a submission; its answer is shown as it is",
                    prompt.keyword.span,
                    notes=[f"it says: {sentence.strip()}"],
                )
                return


def _check_presentation(typed: Typed, node: Node) -> None:
    presentation = typed.scope.setting("presentation")
    if presentation is not None:
        typed.scope.file.findings.add(
            "WT0603",
            f"`presentation` is a second visible answer beside the one of `{node.name.text}`",
            presentation.keyword.span,
            secondary=[(node.name.span, "the visible answer")],
            help="remove `presentation`",
        )


def _check_repeats(typed: Typed, node: Node) -> None:
    for declaration in typed.scope.nodes:
        if declaration.kind is not Kind.NOTIFY or not isinstance(declaration.tree, Node):
            continue
        message = clause(declaration.tree, "message")
        value = None if message is None else message.value
        if isinstance(value, Text) and len(value.parts) == 1 and not isinstance(value.parts[0], str):
            value = value.parts[0]
        if message is not None and isinstance(value, Ref) and value.name == node.name.text:
            typed.scope.file.findings.add(
                "WT0604",
                f"`{declaration.name}` says again what `{node.name.text}` has shown",
                message.span,
            )
