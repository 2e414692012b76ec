"""Prompts in files of their own: what `prompt file "x.md"` names is put in the tree as if it stood there.

The text of the file is a template like any other: `${…}` inserts, `$${` is a plain `${`. Its expressions get
the place of the clause, which is where findings about them are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from windtunnel.compiler.findings import Findings
from windtunnel.compiler.reader import Reader, Refused, relative
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Clause, File, Node, PromptFile, Span, Text, Workflow

QUOTES: Final = '"""'
HIDDEN: Final = "\ue000\ue001\ue002"
"""Stands for three quotes while the text is parsed; private characters, which no prompt holds."""
BEFORE: Final = 'language 1\nworkflow w {\n  agent a {\n    prompt """\n'
AFTER: Final = '\n"""\n  }\n}\n'


def with_prompts(file: File, reader: Reader, parse: Callable[[Source], Any], findings: Findings) -> File:
    """The file with every prompt file in place; one that cannot be used is reported and stays as it is."""

    def settle(clause: Clause) -> Clause:
        if not isinstance(clause.value, PromptFile):
            return clause
        text = _prompt(clause.value, reader, parse, findings)
        return clause if text is None else replace(clause, value=text)

    def node(tree: Any) -> Any:
        has = isinstance(tree, Node) and any(isinstance(c.value, PromptFile) for c in tree.clauses)
        return replace(tree, clauses=tuple(map(settle, tree.clauses))) if has else tree

    items = tuple(
        replace(item, nodes=tuple(map(node, item.nodes))) if isinstance(item, Workflow) else item
        for item in file.items
    )
    return replace(file, items=items)


def _prompt(
    clause: PromptFile, reader: Reader, parse: Callable[[Source], Any], findings: Findings
) -> Text | None:
    path = clause.path.constant
    if path is None:
        findings.add("WT0113", "the path of a prompt is a plain string", clause.path.span)
        return None
    found = reader.read(relative(findings.file, path))
    if isinstance(found, Refused):
        findings.add(found.code, found.reason, clause.path.span, help=found.help)
        return None
    wrapped = Source(found.name, BEFORE + found.text.replace(QUOTES, HIDDEN) + AFTER)
    parsed = parse(wrapped)
    if parsed.diagnostics:
        first = parsed.diagnostics[0]
        line, column = wrapped.position(first.primary.span.start)
        findings.add(
            "WT0512",
            f"`{found.name}` is no usable prompt: {first.message} (line {line - 4}, column {column})",
            clause.path.span,
        )
        return None
    text = parsed.file.workflows[0].nodes[0].clauses[0].value
    assert isinstance(text, Text), "what stands between three quotes is a text"
    return _settled(text, clause.span)


def _settled(text: Text, span: Span) -> Text:
    """The text with the quotes back in it, everything in it at one place."""
    parts = tuple(
        part.replace(HIDDEN, QUOTES) if isinstance(part, str) else _placed(part, span) for part in text.parts
    )
    return Text(parts, text.multiline, span)


def _placed(tree: Any, span: Span) -> Any:
    """A tree with every span replaced; as deep as the parser lets expressions nest."""
    if isinstance(tree, Span):
        return span
    if isinstance(tree, tuple):
        return tuple(_placed(part, span) for part in tree)
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    return replace(tree, **{f.name: _placed(getattr(tree, f.name), span) for f in fields(tree)})
