"""Whatever is thrown at the command line: an answer with an exit code, never a traceback or an apology."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windtunnel.simulator import cli
from windtunnel.simulator.commands import console

BUILTINS = {
    name: files("windtunnel.compiler.builtins").joinpath(f"{name}.flow").read_text(encoding="utf-8")
    for name in ("plain-summary", "autoplan")
}
PIECES = (
    *(
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        '"',
        '"""',
        "${",
        "->",
        "=>",
        ",",
        ":",
        "|",
        "#",
        "\n",
        "\t",
        "\x00",
        "é",
    ),
    *("agent", "compute", "match", "exit", "start", "include", "workflow", "input", "limit 0 then"),
    *(
        "text(9..1)",
        "0x",
        "1e999",
        "9" * 40,
        "null",
        "output",
        "not",
        "..",
        "??",
        "?.",
        "maxChars -1",
        "\ufeff",
    ),
)
INPUTS = ("[" * 5_000, "1" * 5_000, '{"source":1,"source":2}', '"\\ud800"', "@", "@-x", "NaN")
WORDS = (*cli.COMMANDS, *BUILTINS, "--json", "--faults", "2", "-", "--", "", "-o", "x")


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """A built-in with some random edits: its name and the new text."""
    name = draw(st.sampled_from(sorted(BUILTINS)))
    text = BUILTINS[name]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 30))
        text = text[:at] + draw(st.sampled_from(("", *PIECES))) + text[at + cut :]
    return name, text


def outcome_of(*arguments: str) -> tuple[int, str]:
    """Exit code and messages of one command line."""
    errors = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(errors):
        code = cli.run(arguments)
    return code, errors.getvalue()


@pytest.fixture(autouse=True, scope="module")
def folder() -> object:
    """All of it happens in a folder of its own."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        yield
        os.chdir(before)


@settings(max_examples=25, deadline=None)
@given(edited())
def test_random_edits_of_the_built_ins_never_surprise_us(case: tuple[str, str]) -> None:
    """Checked, compiled and, where they still compile, run and explored."""
    name, text = case
    Path(f"{name}.flow").write_bytes(text.encode("utf-8", "surrogatepass"))
    commands = [("check", "--format", "concise"), ("compile",)]
    for command in commands:
        code, errors = outcome_of(command[0], f"{name}.flow", *command[1:])
        assert code in (console.CLEAN, console.FINDINGS), errors
    if code == console.CLEAN:
        for command in (("run", "--seed", "5"), ("explore", "--faults", "1")):
            code, errors = outcome_of(command[0], f"{name}.flow", *command[1:])
            assert code in (console.CLEAN, console.FINDINGS, console.USAGE), errors


@settings(max_examples=80, deadline=None)
@given(st.text() | st.sampled_from(INPUTS))
def test_any_text_may_stand_as_input(text: str) -> None:
    code, errors = outcome_of("run", "builtin:plain-summary", f"--input={text}")
    assert code == console.USAGE, errors


@settings(max_examples=80, deadline=None)
@given(st.text().filter(lambda text: not text.startswith("-")) | st.text("wt1.aQ_=").map("wt1.".__add__))
def test_any_text_may_stand_as_token(text: str) -> None:
    code, errors = outcome_of("replay", text)
    assert code == console.USAGE, errors


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=4))
def test_any_words_may_stand_as_arguments(words: list[str]) -> None:
    code, errors = outcome_of(*words)
    assert code in (console.CLEAN, console.FINDINGS, console.USAGE), errors
    assert "sorry" not in errors


def test_the_tests_reach_standard_output() -> None:
    """The redirection above shows what a command prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert cli.run(["--version"]) == console.CLEAN
    assert out.getvalue().startswith("windtunnel ")
    assert sys.stdout is not out
