"""No text makes the compiler raise: random edits of the built-ins, and pieces of them put together anew."""

from __future__ import annotations

import re
from importlib.resources import files

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader

NAMES = ("plain-summary", "autoplan", "plan-approval", "plan-change", "sanity-check")
TEXTS = tuple(
    files("windtunnel.compiler.builtins").joinpath(f"{name}.flow").read_text(encoding="utf-8")
    for name in NAMES
)
WORDS = sorted({word for text in TEXTS for word in re.findall(r"\w+|[^\w\s]", text)})


@st.composite
def edited(draw: st.DrawFn) -> str:
    """A built-in with a few pieces deleted, doubled, moved or replaced by words of the language."""
    text = draw(st.sampled_from(TEXTS))
    tokens = re.findall(r"\s+|\w+|[^\w\s]", text)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(tokens) - 1))
        length = draw(st.integers(0, 8))
        match draw(st.sampled_from(("delete", "double", "replace", "insert", "move"))):
            case "delete":
                del tokens[at : at + length]
            case "double":
                tokens[at:at] = tokens[at : at + length]
            case "replace":
                tokens[at : at + 1] = [draw(st.sampled_from(WORDS))]
            case "insert":
                tokens.insert(at, draw(st.sampled_from(WORDS)))
            case _:
                piece = tokens[at : at + length]
                del tokens[at : at + length]
                other = draw(st.integers(0, len(tokens)))
                tokens[other:other] = piece
        if not tokens:
            break
    return "".join(tokens)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edited())
def test_random_edits_never_raise(text: str) -> None:
    """Every edit is compiled or gives findings whose places lie in the text."""
    compiled = compile_workflow(MemoryReader({"main.flow": text}), "main.flow")
    assert compiled.snapshot is not None or compiled.diagnostics
    for found in compiled.diagnostics:
        if found.primary.file == "main.flow":
            assert 0 <= found.primary.span.start <= found.primary.span.end <= len(text)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_words_in_any_order_never_raise(words: list[str]) -> None:
    """Words of the language without any sense."""
    text = "workflow w { " + " ".join(words) + "\n}"
    compiled = compile_workflow(MemoryReader({"main.flow": text}), "main.flow")
    assert compiled.snapshot is not None or compiled.diagnostics
