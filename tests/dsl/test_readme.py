"""The language reference: every example reads, checks without a finding, or has the value beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import windtunnel.dsl
from windtunnel.compiler.evaluator import compile_expression
from windtunnel.compiler.pipeline import check, compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.dsl import Source, format_file, parse
from windtunnel.dsl.expressions import MAX_NAME, MAX_TEXT, MAX_WHOLE
from windtunnel.dsl.source import MAX_FILE
from windtunnel.dsl.tables import table
from windtunnel.dsl.tokens import MAX_NESTING

TEXT = (Path(windtunnel.dsl.__file__).parent / "README.md").read_text(encoding="utf-8")


def blocks(kind: str) -> Iterator[str]:
    """The fenced blocks of one kind."""
    yield from re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


FLOWS = list(blocks("flow"))
PAIR = re.compile(r'("""\n.*?\n"""|[^\n]*?) → ([^\n]*)', re.DOTALL)
VALUES = [(pair[1].strip(), pair[2]) for block in blocks("values") for pair in PAIR.finditer(block)]


def named(text: str) -> str:
    found = re.search(r"^workflow ([\w-]+)", text, re.MULTILINE)
    return found[1] if found else "?"


@pytest.mark.parametrize("text", FLOWS, ids=named)
def test_examples_check_clean(text: str) -> None:
    checked = check(MemoryReader({"example.flow": text}), "example.flow")
    assert [f"{each.code} {each.message}" for each in checked.diagnostics] == []


@pytest.mark.parametrize("text", FLOWS, ids=named)
def test_examples_are_formatted(text: str) -> None:
    """The examples show the canonical form."""
    assert format_file(Source("example.flow", text)) == text


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_values(expression: str, value: str) -> None:
    edges = "edges { start -> x -> exit done }"
    text = f"workflow a {{\n  compute x = {{ value: {expression} }}\n  {edges}\n}}\n"
    compiled = compile_workflow(MemoryReader({"x.flow": text}), "x.flow")
    assert compiled.snapshot is not None, [each.message for each in compiled.diagnostics]
    node = compiled.snapshot.nodes["x"]
    got = compile_expression(node.model_dump(by_alias=True)["value"])(None)
    assert isinstance(got, dict)
    assert got.get("value") == json.loads(value)


def test_there_are_values() -> None:
    assert len(VALUES) > 30
    assert len(FLOWS) >= 8


def test_every_function_is_shown() -> None:
    from windtunnel.compiler.functions import FUNCTIONS

    shown = "".join(expression for expression, _ in VALUES)
    assert [name for name in FUNCTIONS if f"{name}(" not in shown] == []


def test_mistakes() -> None:
    """The codes beside the lines are what is found there."""
    (text,) = blocks("mistakes")
    parsed = parse(Source("x.flow", text))
    found: dict[int, set[str]] = {}
    for each in parsed.diagnostics:
        found.setdefault(parsed.source.position(each.primary.span.start)[0], set()).add(each.code)
    meant = {
        n: set(re.findall(r"WT\d{4}", line)) for n, line in enumerate(text.split("\n"), 1) if "WT" in line
    }
    assert found == meant


def test_reserved_words() -> None:
    """The list of reserved words is the grammar's."""
    (text,) = blocks("text")
    state = table().actions[table().actions[table().start]["WORKFLOW"]]
    assert sorted(text.split()) == sorted(
        word for word, kind in table().keywords.items() if kind not in state
    )


def test_limits() -> None:
    assert (MAX_FILE, MAX_NAME, MAX_TEXT, MAX_NESTING) == (4 * 2**20, 200, 2**20, 200)
    assert f"{MAX_WHOLE:,}".replace(",", " ") in TEXT
