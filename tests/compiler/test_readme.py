"""The reference of the compiler names every code, and only codes there are."""

from __future__ import annotations

import re
from pathlib import Path

import windtunnel.compiler
from windtunnel.compiler.changes import ORDER, rank_of
from windtunnel.dsl.codes import CODES
from windtunnel.simulator.cli import COMMANDS
from windtunnel.simulator.commands.check import FORMATS

TEXT = (Path(windtunnel.compiler.__file__).parent / "README.md").read_text("utf-8")
RANGE = re.compile(r"(WT\d{4})(?:–| to )(WT\d{4})")


def section(title: str) -> str:
    """The text under a heading."""
    return TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]


def codes_in(text: str) -> set[str]:
    """Every code that is written out, and all of the table that lie in a range."""
    named = set(re.findall(r"WT\d{4}", text))
    for first, last in RANGE.findall(text):
        named |= {code for code in CODES if first <= code <= last}
    return named


def test_every_code_stands_in_it_and_no_other() -> None:
    """The table of checks and the table of codes know each other; the bands are whole."""
    bands, _, checks = section("What is checked").partition("Against the checks")
    assert codes_in(bands) == set(CODES)
    assert codes_in(checks.partition("Left out")[0]) == set(CODES)
    assert codes_in(TEXT) == set(CODES)


def test_the_ranks_are_those_of_the_rules() -> None:
    rows = re.findall(r"^\| (text|callers|runs) \|.*\|(.*)\|$", section("What a change breaks"), re.MULTILINE)
    assert [rank for rank, _ in rows] == [rank.value for rank in ORDER]
    listed: set[str] = set()
    for rank, codes in rows:
        for code in codes_in(codes):
            assert rank_of(code) == rank, code
            listed.add(code)
    assert listed == {code for code in CODES if "WT1011" <= code <= "WT1066"}


def test_the_commands_it_shows_are_there() -> None:
    for command in set(re.findall(r"windtunnel ([a-z][a-z-]+)", TEXT)):
        assert command in COMMANDS, command
    assert all(form in section("Checking") for form in FORMATS)
