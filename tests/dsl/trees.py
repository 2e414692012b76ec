"""Trees made at random for properties, and trees without their places for comparison."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

from windtunnel.dsl import syntax as s
from windtunnel.dsl.strings import dedent

NOWHERE = s.Span(0, 0)


def bare(tree: Any, docs: bool = True) -> Any:
    """A tree with every span at the same place and without `blocks`; without documentation unless `docs`."""
    if isinstance(tree, s.Span):
        return NOWHERE
    if isinstance(tree, tuple):
        return tuple(bare(each, docs) for each in tree)
    if not dataclasses.is_dataclass(tree) or isinstance(tree, type):
        return tree
    changed = {field.name: bare(getattr(tree, field.name), docs) for field in dataclasses.fields(tree)}
    if "blocks" in changed:
        changed["blocks"] = ()
    if "doc" in changed and not docs:
        changed["doc"] = None
    return dataclasses.replace(tree, **changed)


SOFT_WORDS = [
    "input",
    "prompt",
    "answer",
    "file",
    "visit",
    "of",
    "call",
    "host",
    "budget",
    "returns",
    "language",
]
RESERVED_WORDS = [
    "if",
    "match",
    "for",
    "type",
    "exit",
    "null",
    "start",
    "workflow",
    "when",
    "output",
    "template",
]

idents = st.one_of(
    st.from_regex(r"[a-z][A-Za-z0-9_]{0,6}x", fullmatch=True),
    st.sampled_from(["a", "b1", "draft", "Result"]),
    st.sampled_from(SOFT_WORDS),
)
plain_names = st.from_regex(r"[a-z][a-z0-9]{0,5}q", fullmatch=True)
dashed = st.one_of(plain_names, st.from_regex(r"[a-z]{1,4}q-[a-z0-9]{1,4}q", fullmatch=True))
words = st.one_of(idents, dashed, st.sampled_from(RESERVED_WORDS))
texts = st.text(
    st.one_of(st.sampled_from('ab "\\${}#\n\t/é漢\U0001f426'), st.characters(exclude_categories=["Cs"])),
    max_size=8,
)


def names(of: st.SearchStrategy[str]) -> st.SearchStrategy[s.Name]:
    return of.map(lambda text: s.Name(text, NOWHERE))


def several(of: st.SearchStrategy[Any], least: int = 0, most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, min_size=least, max_size=most).map(tuple)


def line_text(expr: st.SearchStrategy[Any]) -> st.SearchStrategy[s.Text]:
    """A one-line string."""

    def made(parts: list[Any]) -> s.Text:
        return s.Text(tuple(joined(parts)), False, NOWHERE)

    return st.lists(st.one_of(texts, expr), max_size=3).map(made)


def joined(parts: list[Any]) -> list[Any]:
    """Parts with neighbouring pieces joined and empty ones left out, as the parser gives them."""
    out: list[Any] = []
    for part in parts:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        elif part != "":
            out.append(part)
    return [part for part in out if part != ""]


def block_text(expr: st.SearchStrategy[Any]) -> st.SearchStrategy[s.Text]:
    """A triple-quoted string; its value is one that such a string can have."""
    pieces = st.text(st.sampled_from('ab "\\{}#\n\n   é漢'), max_size=12).map(
        lambda text: text.replace('"""', "'")
    )

    def made(parts: list[Any]) -> s.Text:
        whole = joined(["\n", *parts, "\n"])
        whole = [part.replace('"""', "'") if isinstance(part, str) else part for part in whole]
        values = dedent([part if isinstance(part, str) else None for part in whole])
        meant = [value if isinstance(part, str) else part for part, value in zip(whole, values, strict=True)]
        return s.Text(tuple(joined(meant)), True, NOWHERE)

    return st.lists(st.one_of(pieces, expr), max_size=4).map(made)


def operators(expr: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Expressions over other expressions, without text and brackets."""
    binary = st.sampled_from(
        ["==", "!=", "<", "<=", ">", ">=", "and", "or", "+", "-", "*", "/", "%", "in", "??"]
    )
    return st.one_of(
        st.builds(s.Field, expr, names(words), st.booleans(), st.just(NOWHERE)),
        st.builds(s.Index, expr, expr, st.just(NOWHERE)),
        st.builds(s.Call, names(idents), several(expr), st.just(False), st.just(NOWHERE)),
        st.builds(s.Call, names(idents), several(expr), st.just(True), st.just(NOWHERE)),
        st.builds(s.Unary, st.sampled_from(["not", "-"]), expr, st.just(NOWHERE)),
        st.builds(s.Binary, binary, expr, expr, st.just(NOWHERE)),
        st.builds(s.If, expr, expr, expr, st.just(NOWHERE)),
        st.builds(
            s.Comprehension, expr, names(plain_names), expr, st.one_of(st.none(), expr), st.just(NOWHERE)
        ),
    )


def entries(expr: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def short(name: str) -> s.Entry:
        return s.Entry(s.Name(name, NOWHERE), False, s.Ref(name, NOWHERE), True, NOWHERE)

    keys = names(st.one_of(words, texts))
    return st.one_of(
        st.builds(s.Entry, keys, st.booleans(), expr, st.just(False), st.just(NOWHERE)),
        idents.map(short),
        st.builds(s.Spread, expr, st.just(NOWHERE)),
    )


leaves = st.one_of(
    st.builds(s.Literal, st.one_of(st.integers(0, 2**53 - 1), st.booleans(), st.none()), st.just(NOWHERE)),
    st.floats(0, 1e20, allow_nan=False).map(lambda value: s.Literal(value, NOWHERE)),
    st.builds(
        lambda amount, unit: s.Duration(amount * {"ms": 1, "s": 1000, "h": 3_600_000}[unit], unit, NOWHERE),
        st.integers(0, 10_000),
        st.sampled_from(["ms", "s", "h"]),
    ),
    st.one_of(idents, st.just("output")).map(lambda name: s.Ref(name, NOWHERE)),
)


def grown(expr: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        operators(expr),
        line_text(expr),
        st.builds(s.Record, several(entries(expr)), st.just(NOWHERE)),
        st.builds(
            s.ListExpr,
            several(st.one_of(expr, st.builds(s.Spread, expr, st.just(NOWHERE)))),
            st.just(NOWHERE),
        ),
    )


inner_exprs = st.recursive(leaves, grown, max_leaves=6)
"""Expressions as they stand inside a string: there is no triple-quoted text in them."""

exprs = st.recursive(
    st.one_of(leaves, inner_exprs, block_text(inner_exprs)),
    lambda expr: st.one_of(
        operators(expr),
        st.builds(s.Record, several(entries(expr)), st.just(NOWHERE)),
        st.builds(s.ListExpr, several(expr), st.just(NOWHERE)),
    ),
    max_leaves=8,
)
fixed_texts = texts.map(lambda text: s.Text((text,) if text else (), False, NOWHERE))
labels = st.one_of(st.none(), line_text(inner_exprs))

numbers = st.one_of(
    st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6).filter(lambda value: str(value) != "-0.0")
)
bounds = st.one_of(
    st.builds(s.Bounds, numbers, st.one_of(st.none(), numbers), st.just(NOWHERE)),
    st.builds(s.Bounds, st.none(), numbers, st.just(NOWHERE)),
)
some_bounds = st.one_of(st.none(), bounds)
named_types = st.builds(
    s.NamedType, names(idents), some_bounds, st.one_of(st.none(), texts), st.just(NOWHERE)
)
literal_types = st.builds(
    s.LiteralType, st.one_of(texts, numbers, st.booleans(), st.none()), st.just(NOWHERE)
)


def field_types(type: st.SearchStrategy[Any]) -> st.SearchStrategy[s.FieldType]:
    keys = names(st.one_of(words, texts))
    none = st.none()
    return st.one_of(
        st.builds(s.FieldType, keys, type, st.booleans(), none, none, st.just(NOWHERE)),
        st.builds(s.FieldType, keys, type, st.just(False), inner_exprs, none, st.just(NOWHERE)),
    )


def grown_types(type: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    single = type.filter(lambda made: not isinstance(made, s.UnionType))
    return st.one_of(
        st.builds(s.ListType, type, some_bounds, st.just(NOWHERE)),
        st.builds(s.MapType, type, type, some_bounds, st.just(NOWHERE)),
        st.builds(s.RecordType, several(field_types(type)), st.just(NOWHERE)),
        st.builds(s.UnionType, several(single, 2), st.just(NOWHERE)),
    )


types = st.recursive(st.one_of(named_types, literal_types), grown_types, max_leaves=5)
record_types = st.builds(s.RecordType, several(field_types(types)), st.just(NOWHERE))

lets = st.builds(s.Let, names(plain_names), exprs, st.just(NOWHERE))
requires = st.builds(s.Require, exprs, st.one_of(st.none(), exprs), exprs, st.just(NOWHERE))
asks = st.builds(s.Ask, names(idents), types, st.one_of(st.none(), line_text(inner_exprs)), st.just(NOWHERE))
choices = st.builds(
    s.Choice,
    names(st.one_of(idents, dashed)),
    labels,
    st.one_of(st.none(), asks),
    st.none(),
    st.just(NOWHERE),
)
clause_words = st.sampled_from(["title", "audience", "timeout", "run", "env", "idempotencyKey", "madeUp"])


def clause(words: st.SearchStrategy[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[s.Clause]:
    return st.builds(s.Clause, names(words), values, st.just(NOWHERE))


clauses = st.one_of(
    clause(clause_words, exprs),
    clause(st.sampled_from(["timeout", "tools"]), st.just(s.Word("none", NOWHERE))),
    clause(st.just("tools"), st.just(s.Word("any", NOWHERE))),
    clause(st.just("kind"), idents.map(lambda word: s.Word(word, NOWHERE))),
    clause(st.just("prompt"), st.one_of(exprs, st.builds(s.PromptFile, fixed_texts, st.just(NOWHERE)))),
    clause(st.sampled_from(["expectedOutput", "returns", "answer"]), types),
    clause(
        st.just("expectedOutput"),
        st.builds(s.AssistantOutput, st.one_of(st.none(), exprs), st.just(NOWHERE)),
    ),
    clause(st.just("validate"), st.builds(s.Validate, several(st.one_of(lets, requires)), st.just(NOWHERE))),
    clause(
        st.just("call"),
        st.builds(s.CallEffect, line_text(inner_exprs), st.one_of(st.none(), exprs), st.just(NOWHERE)),
    ),
    clause(st.just("choices"), st.builds(s.Choices, several(choices), st.just(NOWHERE))),
    clause(
        st.just("after"),
        st.builds(s.After, exprs, names(dashed), st.one_of(st.none(), exprs), st.just(NOWHERE)),
    ),
    clause(st.just("allowNonZeroExit"), st.one_of(st.just(s.Word("", NOWHERE)), exprs)),
)
kinds = st.sampled_from(["agent", "action", "shell", "notify", "checkpoint", "decision"])
nodes = st.one_of(
    st.builds(s.Node, kinds, names(plain_names), labels, several(clauses), st.none(), st.just(NOWHERE)),
    st.builds(s.Compute, names(plain_names), exprs, st.none(), st.just(NOWHERE)),
    st.builds(
        s.Include,
        names(plain_names),
        labels,
        names(dashed),
        st.builds(s.Record, several(entries(inner_exprs)), st.just(NOWHERE)),
        st.none(),
        st.just(NOWHERE),
    ),
)

endpoints = st.builds(
    s.Endpoint, names(st.one_of(idents)), st.one_of(st.none(), names(words)), st.just(NOWHERE)
)
targets = st.one_of(endpoints, st.builds(s.ExitEnd, names(dashed), st.just(NOWHERE)))
limits = st.one_of(st.none(), st.builds(s.Limit, inner_exprs, targets, st.just(NOWHERE)))
arms = st.builds(s.Arm, several(literal_types), several(targets, 1), limits, st.just(NOWHERE))
outcomes = several(names(idents))


def path_of(first: str, fields: tuple[tuple[s.Name, bool], ...]) -> Any:
    made: Any = s.Ref(first, NOWHERE)
    for place, (name, optional) in enumerate(fields):
        made = s.Field(made, name, optional and place > 0, NOWHERE)
    return made


paths = several(st.tuples(names(words), st.booleans()), 1)
matches = st.one_of(
    st.builds(
        s.Match,
        paths.map(lambda path: path_of("output", path)),
        st.just(True),
        several(arms),
        st.just(NOWHERE),
    ),
    st.builds(
        s.Match,
        paths.map(lambda path: path_of("input", path)),
        st.just(False),
        several(arms),
        st.just(NOWHERE),
    ),
)
start = st.just((s.Endpoint(s.Name("start", NOWHERE), None, NOWHERE),))
heads = st.one_of(several(endpoints, 1), start)
edge_lines = st.one_of(
    st.builds(s.EdgeLine, heads, outcomes, several(targets, 1), st.none(), limits, st.just(NOWHERE)),
    st.builds(s.EdgeLine, heads, outcomes, several(targets), matches, st.none(), st.just(NOWHERE)),
)

settings = st.builds(
    s.Setting,
    names(st.sampled_from(["revision", "title", "contract", "maxSteps", "budget turns", "presentation"])),
    exprs,
    st.just(NOWHERE),
)
exit_decls = st.builds(s.ExitDecl, names(dashed), types, st.none(), st.just(NOWHERE))
workflows = st.builds(
    s.Workflow,
    names(dashed),
    several(settings, most=2),
    several(record_types, most=1),
    several(several(exit_decls), most=1),
    several(lets, most=2),
    several(nodes),
    several(several(edge_lines), most=2),
    st.none(),
    st.just(NOWHERE),
)

node_paths = several(names(plain_names), 1).map(lambda parts: s.NodePath(parts, NOWHERE))
some_path = st.one_of(st.none(), node_paths)
some_visit = st.one_of(st.none(), st.integers(1, 9999))
event_names = st.one_of(
    st.from_regex(r"[a-z]{1,4}_ended", fullmatch=True), st.sampled_from(["answer", "prompt"])
)
events = st.builds(s.EventRef, names(event_names), some_path, some_visit, st.just(NOWHERE))
moments = st.one_of(
    st.none(),
    st.builds(s.Moment, st.just("at"), inner_exprs, st.none(), st.just(NOWHERE)),
    st.builds(s.Moment, st.sampled_from(["after", "before", "during"]), st.none(), events, st.just(NOWHERE)),
)
acts = st.one_of(
    st.builds(
        s.Act,
        names(st.sampled_from(["says", "submits", "thinks", "fails", "stalls", "returns"])),
        st.none(),
        st.one_of(st.none(), exprs),
        st.just(NOWHERE),
    ),
    st.builds(s.Act, names(st.just("calls")), names(idents), st.one_of(st.none(), exprs), st.just(NOWHERE)),
)
provider_lines = st.builds(
    s.ProviderLine, node_paths, some_visit, several(several(acts, 1, 2), 1, 2), st.just(NOWHERE)
)
records = st.builds(s.Record, several(entries(inner_exprs)), st.just(NOWHERE))
person_lines = st.one_of(
    st.builds(
        s.PersonLine,
        names(st.sampled_from(["cancels", "pauses"])),
        st.none(),
        st.none(),
        st.none(),
        moments,
        st.just(NOWHERE),
    ),
    st.builds(
        s.PersonLine,
        names(st.sampled_from(["sends", "presses"])),
        st.none(),
        st.none(),
        inner_exprs,
        moments,
        st.just(NOWHERE),
    ),
    st.builds(
        s.PersonLine,
        names(st.just("answers")),
        node_paths,
        names(dashed),
        st.one_of(st.none(), records),
        moments,
        st.just(NOWHERE),
    ),
    st.builds(
        s.PersonLine, names(st.just("answers")), node_paths, st.none(), records, moments, st.just(NOWHERE)
    ),
)
processes = st.sampled_from(["host", "client"]).map(lambda text: s.Name(text, NOWHERE))
some_duration = st.one_of(st.none(), inner_exprs)
fault_lines = st.one_of(
    st.builds(
        s.FaultLine,
        names(st.sampled_from(["crash", "power-loss"])),
        processes,
        st.none(),
        moments,
        some_duration,
        st.just(NOWHERE),
    ),
    st.builds(
        s.FaultLine,
        names(st.sampled_from(["drop", "delay", "reorder"])),
        st.none(),
        st.one_of(st.none(), events),
        moments,
        some_duration,
        st.just(NOWHERE),
    ),
)
expects = st.one_of(
    st.builds(
        s.Expect, st.sampled_from(["end", "always", "eventually"]), exprs, st.just(()), st.just(NOWHERE)
    ),
    st.builds(s.Expect, st.just("order"), st.none(), several(node_paths, 2), st.just(NOWHERE)),
)


def scenario(
    title: s.Text,
    workflow: s.Name,
    given: s.Record | None,
    host: tuple[str, ...],
    provider: tuple[Any, ...],
    person: tuple[Any, ...],
    faults: tuple[Any, ...],
    expected: tuple[Any, ...],
) -> s.Scenario:
    words = tuple(s.Word(word, NOWHERE) for word in host)
    return s.Scenario(
        title, workflow, given, words, provider, bool(provider), person, faults, expected, None, NOWHERE
    )


scenarios = st.builds(
    scenario,
    line_text(inner_exprs),
    names(dashed),
    st.one_of(st.none(), records),
    st.sampled_from(
        [(), ("interactive",), ("detached", "with", "origin"), ("detached", "without", "origin")]
    ),
    several(provider_lines, most=2),
    several(person_lines, most=2),
    several(fault_lines, most=2),
    several(expects, most=2),
)

import_names = st.builds(s.ImportName, names(dashed), st.one_of(st.none(), names(dashed)))
imports = st.one_of(
    st.builds(
        s.Import, several(import_names, 1), fixed_texts, st.one_of(st.none(), fixed_texts), st.just(NOWHERE)
    ),
    st.builds(s.Import, several(import_names, 1), st.none(), fixed_texts, st.just(NOWHERE)),
)
parameters = st.builds(s.Parameter, names(plain_names), types, st.just(NOWHERE))
items = st.one_of(
    imports,
    st.builds(s.TypeDecl, names(plain_names), types, st.none(), st.just(NOWHERE)),
    st.builds(s.TemplateDecl, names(plain_names), several(parameters), exprs, st.none(), st.just(NOWHERE)),
    workflows,
    scenarios,
)
files = st.builds(s.File, st.just(1), several(items, 1), st.just(()), st.just(NOWHERE))
