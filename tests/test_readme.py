"""The README's own files, commands and pictures: each block is run, and its printed output compared.

A block fenced as `flow NAME` is a file, one fenced as `console` holds commands behind `$ ` and what they
print. `--update-golden` writes the outputs anew. Figures of a clock are compared by their label.
"""

from __future__ import annotations

import io
import os
import re
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from windtunnel.simulator.cli import run

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
FENCE = re.compile(r"^```(\S+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLOCKED = re.compile(r"^(  (?:seconds|states per second)) +[\d.,]+$", re.MULTILINE)


def blocks(language: str) -> list[re.Match[str]]:
    """Every fenced block of a language, in order."""
    found = [match for match in FENCE.finditer(README.read_text("utf-8")) if match[1] == language]
    assert found, f"the README has a block of {language}"
    return found


def printed(command: str) -> str:
    """What a command line of the README prints; both streams, as a terminal shows them."""
    words = shlex.split(command)
    assert words[0] == "windtunnel", f"the README runs windtunnel, not {words[0]}"
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        run(words[1:])
    return out.getvalue()


def rerun(body: str) -> str:
    """The block with every output replaced by what is printed now."""
    commands = [line.removeprefix("$ ") for line in body.splitlines() if line.startswith("$ ")]
    assert commands, f"a console block begins with a command: {body}"
    return "".join(f"$ {command}\n{printed(command).rstrip()}\n" for command in commands)


def timeless(text: str) -> str:
    """The text with every figure of a clock replaced, and without the widths of columns that they decide."""
    return re.sub(r"(?<=\S) {2,}", "  ", CLOCKED.sub(r"\1 …", text))


def test_console_blocks_print_what_they_show(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Every command of the README gives the output that stands below it."""
    for match in blocks("flow"):
        (tmp_path / match[2]).write_text(match[3], "utf-8")
    text = README.read_text("utf-8")
    with chdir(tmp_path):
        again = {match[3]: rerun(match[3]) for match in blocks("console")}
    stale = {old: new for old, new in again.items() if timeless(old) != timeless(new)}
    if request.config.getoption("--update-golden"):
        for old, new in stale.items():
            text = text.replace(f"```console\n{old}", f"```console\n{new}")
        README.write_text(text, "utf-8")
        return
    for old, new in stale.items():
        assert timeless(new) == timeless(old)


def test_the_two_commands_are_the_ones_that_ci_runs() -> None:
    """The first installs and explores autoplan, the second installs the extra `test` and runs the tests."""
    explore, test = (match[3].strip() for match in blocks("sh"))
    assert explore.startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert explore.endswith("&& .venv/bin/windtunnel explore builtin:autoplan")
    assert "'.[test]'" in test
    assert test.endswith("&& .venv/bin/pytest")
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "$(printed explore)" in ci
    assert "$(printed test)" in ci


PAGES = ("README.md", "examples/README.md")
PICTURE = re.compile(r"<!-- picture: windtunnel (graph .*?) -->")


@pytest.mark.parametrize("page", PAGES)
def test_pictures_are_what_the_tool_draws_today(page: str, request: pytest.FixtureRequest) -> None:
    """Each picture named in a `picture:` comment of a page is drawn again, byte for byte."""
    named = PICTURE.findall((ROOT / page).read_text("utf-8"))
    assert named, "the page shows a picture"
    for command in named:
        words = shlex.split(command)
        target = ROOT / words[words.index("-o") + 1]
        before = target.read_bytes() if target.exists() else b""
        with chdir(ROOT):
            fresh = target.with_name(f".fresh-{os.getpid()}{target.suffix}")
            words[words.index("-o") + 1] = str(fresh)
            try:
                assert run(words) == 0
                drawn = fresh.read_bytes()
            finally:
                fresh.unlink(missing_ok=True)
        if request.config.getoption("--update-golden"):
            target.write_bytes(drawn)
        else:
            assert drawn == before, f"{target.name} is stale; draw it anew with --update-golden"


def test_every_picture_that_is_shown_is_drawn_in_light_and_dark() -> None:
    """Nothing is shown that no command draws, and nothing is drawn that no page shows."""
    drawn: set[Path] = set()
    for page in PAGES:
        text = (ROOT / page).read_text("utf-8")
        made = {ROOT / shlex.split(command)[-1] for command in PICTURE.findall(text)}
        sources = re.findall(r'(?:src|srcset)="([^"]+)"|!\[[^\]]*\]\(([^)]+\.svg)\)', text)
        shown = {(ROOT / page).parent / (one or other) for one, other in sources}
        assert shown == made
        light = {path for path in made if not path.stem.endswith("-dark")}
        assert made == light | {path.with_stem(f"{path.stem}-dark") for path in light}
        drawn |= made
    assert drawn == {path for path in (ROOT / "examples" / "pictures").iterdir() if path.name[0] != "."}
