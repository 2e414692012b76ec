"""Band 05: clauses that a node lacks, has twice or does not know; prompts; timeouts."""

from __future__ import annotations

import re
from typing import Final

from windtunnel.compiler.clauses import CLAUSES, clause
from windtunnel.compiler.constants import constant
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.types import DurationShape, Shape, members
from windtunnel.dsl.syntax import (
    After,
    AssistantOutput,
    CallEffect,
    Choices,
    Clause,
    ListExpr,
    ListType,
    LiteralType,
    MapType,
    NamedType,
    Node,
    RecordType,
    Text,
    UnionType,
    Validate,
    Word,
)

WORDS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("agent", "tools"): ("none", "any"),
    ("agent", "timeout"): ("none",),
    ("action", "timeout"): ("none",),
    ("shell", "timeout"): ("none",),
    ("notify", "kind"): ("progress", "final"),
    ("shell", "allowNonZeroExit"): ("",),
}
"""Bare words that a clause may hold."""

_RETRY: Final = "a failure route tries again: `{name} on failed -> {name} limit 3 then -> …`"
_ROUTE: Final = "a failure is routed in the edges: `{name} on failed -> …`"
ELSEWHERE: Final = {
    **dict.fromkeys(("retry", "retries", "maxRetries", "attempts"), _RETRY),
    **dict.fromkeys(("onError", "onFailure", "catch", "fallback"), _ROUTE),
    **dict.fromkeys(("next", "goto", "to", "then"), "what follows stands in the edges: `{name} -> …`"),
    "system": "all that a model is told stands in its `prompt`",
    "maxTokens": "a visible answer has `expectedOutput assistant {{ maxChars n }}`",
}
"""Clauses of other tools, and where what they say stands here."""

BRACES: Final = re.compile(r"(?<!\$)\{([A-Za-z_]\w*)(?:\??\.[A-Za-z_][\w-]*)+\}")
"""What looks like an insertion whose dollar was forgotten."""

TYPES: Final = (NamedType, LiteralType, ListType, MapType, RecordType, UnionType)
HOLDERS: Final[dict[str, tuple[type, ...]]] = {
    "expectedOutput": (*TYPES, AssistantOutput),
    "returns": TYPES,
    "answer": TYPES,
    "validate": (Validate,),
    "choices": (Choices,),
    "after": (After,),
    "call": (CallEffect,),
}
"""What a clause that takes no plain expression holds instead."""


def check_nodes(typed: Typed) -> None:
    """Report what is wrong with the clauses of each node."""
    for declaration in typed.scope.nodes:
        tree = declaration.tree
        if isinstance(tree, Node):
            _check_clauses(typed, tree)
            _check_prompt(typed, tree)
            _check_durations(typed, tree)


# --- clauses ------------------------------------------------------------------------------------------------


def _check_clauses(typed: Typed, node: Node) -> None:
    findings = typed.scope.file.findings
    rules = CLAUSES[node.kind]
    first: dict[str, Clause] = {}
    for part in node.clauses:
        keyword = part.keyword.text
        rule = rules.get(keyword)
        if rule is None:
            _report_unknown(typed, node, part)
            continue
        known = first.setdefault(keyword, part)
        if known is not part and not rule.repeats:
            findings.add(
                "WT0502",
                f"`{keyword}` stands here a second time",
                part.keyword.span,
                secondary=[(known.keyword.span, "the first one")],
            )
            continue
        _check_value(typed, node, part)
    missing = [word for word, rule in rules.items() if rule.required and word not in first]
    if missing and not typed.scope.file.module.has_hole(node.span):
        listed = ", ".join(f"`{word}`" for word in missing)
        findings.add("WT0501", f"{node.kind} `{node.name.text}` has no {listed}", node.name.span)


def _report_unknown(typed: Typed, node: Node, part: Clause) -> None:
    findings = typed.scope.file.findings
    keyword = part.keyword
    owners = [kind for kind, rules in CLAUSES.items() if keyword.text in rules]
    rules = CLAUSES[node.kind]
    mend = findings.did_you_mean(keyword, rules)
    if owners:
        message = f"`{keyword.text}` belongs to {' and '.join(owners)}, not to {node.kind}"
    else:
        message = f"{node.kind} has no clause `{keyword.text}`"
    if keyword.text in ELSEWHERE:
        mend["help"] = ELSEWHERE[keyword.text].format(name=node.name.text)
    if mend["help"] is None:
        mend["help"] = f"its clauses: {', '.join(f'`{word}`' for word in rules)}"
    findings.add("WT0503", message, keyword.span, **mend)


def _check_value(typed: Typed, node: Node, part: Clause) -> None:
    findings = typed.scope.file.findings
    keyword = part.keyword.text
    words = WORDS.get((node.kind, keyword), ())
    rule = CLAUSES[node.kind][keyword]
    if isinstance(part.value, Word):
        if part.value.text not in words:
            listed = " or ".join(f"`{word}`" for word in words if word) or "a value"
            findings.add("WT0504", f"`{keyword}` takes {listed}, not `{part.value.text}`", part.value.span)
        return
    if rule.wanted is None:
        if not isinstance(part.value, HOLDERS.get(keyword, ())):
            wanted = "`progress` or `final`" if keyword == "kind" else "something else"
            findings.add("WT0504", f"`{keyword}` takes {wanted}, not a value", part.keyword.span)
        return
    if rule.constant and not _is_constant(part.value):
        findings.add(
            "WT0504", f"`{keyword}` is known before the run: it takes a plain value", part.keyword.span
        )


def _is_constant(value: object) -> bool:
    return (isinstance(value, Text | ListExpr) and constant(value) is not None) or _is_plain(value)


def _is_plain(value: object) -> bool:
    known = getattr(value, "value", None)
    return isinstance(known, int | float | str | bool)


# --- prompts and durations ----------------------------------------------------------------------------------


def _check_prompt(typed: Typed, node: Node) -> None:
    prompt = clause(node, "prompt")
    if prompt is None or not isinstance(prompt.value, Text):
        return
    findings = typed.scope.file.findings
    text = prompt.value.constant
    if _check_braces(typed, prompt, prompt.value) or text is None:
        return
    if not text.strip():
        findings.add("WT0506", f"the prompt of `{node.name.text}` is empty", prompt.value.span)
    else:
        findings.add(
            "WT0507",
            f"the prompt of `{node.name.text}` uses neither the input nor any output",
            prompt.keyword.span,
            help="insert what it is about with `${…}`",
        )


def _check_braces(typed: Typed, prompt: Clause, text: Text) -> bool:
    """Whether a prompt holds `{input.topic}`, an insertion that lacks its dollar; that is reported."""
    for part in text.parts:
        for found in BRACES.finditer(part) if isinstance(part, str) else ():
            root = found[1]
            if root == "input" or typed.scope.lookup(root) is not None:
                typed.scope.file.findings.add(
                    "WT0505",
                    f"the prompt holds `{found[0]}` as it stands; nothing is inserted",
                    prompt.keyword.span,
                    help=f"write `${found[0]}` to insert the value",
                )
                return True
    return False


def _check_durations(typed: Typed, node: Node) -> None:
    for keyword in ("timeout", "expires"):
        shape = typed.clauses.get((node.name.text, keyword))
        part = clause(node, keyword)
        if part is None or shape is None or not _is_never_positive(shape):
            continue
        typed.scope.file.findings.add(
            "WT0511",
            f"the {keyword} of `{node.name.text}` is never more than zero",
            part.span,
            help="`timeout none` takes the deadline away" if keyword == "timeout" else None,
        )


def _is_never_positive(shape: Shape) -> bool:
    return all(
        isinstance(member, DurationShape) and member.high is not None and member.high <= 0
        for member in members(shape)
    )
