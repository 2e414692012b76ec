"""Prompts in files of their own: what `prompt file "x.md"` names is put in the tree as if it stood there.

The text of the file is a template like any other: `${…}` inserts, `$${` is a plain `${`. Its expressions get
spans behind the end of the flow, one text after the other, so that each place is told apart from all others;
findings are shown where they stand in the file of the prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from windtunnel.compiler.findings import Elsewhere, Findings
from windtunnel.compiler.reader import Reader, Refused, relative
from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Label, Place
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Clause, File, Node, PromptFile, Span, Text, Workflow

QUOTES: Final = '"""'
HIDDEN: Final = "\ue000\ue001\ue002"
"""Stands for three quotes while the text is parsed; private characters, which no prompt holds."""
BEFORE: Final = 'language 1\nworkflow w {\n  agent a {\n    prompt """\n'
AFTER: Final = '\n"""\n  }\n}\n'


def with_prompts(
    file: File, reader: Reader, parse: Callable[[Source], Any], findings: Findings, length: int
) -> tuple[File, tuple[Elsewhere, ...]]:
    """The file with every prompt file in place, and the texts of those; `length` is that of the flow.

    A prompt file that cannot be used is reported, and its clause stays as it is.
    """
    texts: list[Elsewhere] = []

    def settle(clause: Clause) -> Clause:
        if not isinstance(clause.value, PromptFile):
            return clause
        source = _source(clause.value, reader, findings)
        if source is None:
            return clause
        base = texts[-1].base + len(texts[-1].source.text) + 1 if texts else length + 1
        texts.append(Elsewhere(base, source, clause.span))
        text = _prompt(clause, texts[-1], parse, findings)
        return clause if text is None else replace(clause, value=text)

    def node(tree: Any) -> Any:
        has = isinstance(tree, Node) and any(isinstance(c.value, PromptFile) for c in tree.clauses)
        return replace(tree, clauses=tuple(map(settle, tree.clauses))) if has else tree

    items = tuple(
        replace(item, nodes=tuple(map(node, item.nodes))) if isinstance(item, Workflow) else item
        for item in file.items
    )
    return replace(file, items=items), tuple(texts)


def _source(clause: PromptFile, reader: Reader, findings: Findings) -> Source | None:
    path = clause.path.constant
    if path is None:
        findings.add("WT0113", "the path of a prompt is a plain string", clause.path.span)
        return None
    found = reader.read(relative(findings.file, path))
    if isinstance(found, Refused):
        findings.add(found.code, found.reason, clause.path.span, help=found.help)
        return None
    return found


def _prompt(
    clause: Clause, found: Elsewhere, parse: Callable[[Source], Any], findings: Findings
) -> Text | None:
    name = found.source.name
    parsed = parse(Source(name, BEFORE + found.source.text.replace(QUOTES, HIDDEN) + AFTER))
    shift = found.base - len(BEFORE)
    if parsed.diagnostics:
        first = parsed.diagnostics[0]
        start, end = (
            min(max(at - len(BEFORE), 0), len(found.source.text))
            for at in (first.primary.span.start, first.primary.span.end)
        )
        findings.sink.append(
            report(
                "WT0512",
                f"`{name}` is no usable prompt: {first.message}",
                Place(name, Span(start, end)),
                secondary=[Label(findings.place(clause.span), "the prompt is used here")],
                help=first.help,
            )
        )
        return None
    text = parsed.file.workflows[0].nodes[0].clauses[0].value
    assert isinstance(text, Text), "what stands between three quotes is a text"
    return _settled(text, clause.span, shift)


def _settled(text: Text, span: Span, shift: int) -> Text:
    """The text with the quotes back in it, which are as long as what stood for them, and all spans moved."""
    parts = tuple(
        part.replace(HIDDEN, QUOTES) if isinstance(part, str) else _moved(part, shift) for part in text.parts
    )
    return Text(parts, text.multiline, span)


def _moved(tree: Any, shift: int) -> Any:
    """A tree with every span moved; as deep as the parser lets expressions nest."""
    if isinstance(tree, Span):
        return Span(tree.start + shift, tree.end + shift)
    if isinstance(tree, tuple):
        return tuple(_moved(part, shift) for part in tree)
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    return replace(tree, **{f.name: _moved(getattr(tree, f.name), shift) for f in fields(tree)})
