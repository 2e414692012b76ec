"""Which scenarios are run: files below paths, and an expression over their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from windtunnel.simulator.commands.naming import readable

SUFFIX: Final = ".flow"
HOLDS_SCENARIO: Final = re.compile(r"^\s*scenario\s*\"", re.MULTILINE)
WORD: Final = re.compile(r'"([^"]*)"|([()])|([^\s()"]+)')
MAX_EXPRESSION: Final = 1_000
"""Characters of an expression."""

MAX_NESTED: Final = 50
"""Parentheses and `not`s inside one another."""


def files_below(paths: Sequence[str]) -> list[str]:
    """The files that are named, and those with scenarios below folders that are; sorted within a folder.

    Raises click's UsageError for a path that is not there.
    """
    found: dict[str, None] = {}
    for path in paths:
        if Path(path).is_dir():
            found.update(dict.fromkeys(_in_folder(Path(path))))
        else:
            readable(path)
            found[path] = None
    return list(found)


def _in_folder(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob(f"*{SUFFIX}")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if not hidden and file.is_file() and HOLDS_SCENARIO.search(_text(file)):
            yield file.as_posix()


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return ""


class Selection:
    """`-k EXPR`: words that the name holds, with `and`, `or`, `not` and parentheses; case does not matter.

    Words beside each other stand for one phrase, and `"…"` for exactly this text. Raises click's UsageError
    for an expression that cannot be read.
    """

    def __init__(self, expression: str) -> None:
        self.expression = expression
        if len(expression) > MAX_EXPRESSION:
            raise click.UsageError(f"-k takes at most {MAX_EXPRESSION:,} characters")
        self._tokens = [match.group() for match in WORD.finditer(expression)]
        self._name = ""
        self._at = 0
        self.fits("")

    def fits(self, name: str) -> bool:
        """Whether the name is one of those that are meant."""
        if not self._tokens:
            return True
        self._name, self._at = name.lower(), 0
        result = self._either(0)
        if self._at < len(self._tokens):
            raise click.UsageError(f"-k cannot be read at {self._tokens[self._at]!r}")
        return result

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _either(self, depth: int) -> bool:
        result = self._both(depth)
        while self._peek() == "or":
            self._at += 1
            result = self._both(depth) or result
        return result

    def _both(self, depth: int) -> bool:
        result = self._one(depth)
        while self._peek() == "and":
            self._at += 1
            result = self._one(depth) and result
        return result

    def _one(self, depth: int) -> bool:
        if depth > MAX_NESTED:
            raise click.UsageError("-k nests too deep")
        token = self._peek()
        if token == "not":
            self._at += 1
            return not self._one(depth + 1)
        if token == "(":
            self._at += 1
            result = self._either(depth + 1)
            if self._peek() != ")":
                raise click.UsageError("-k lacks a `)`")
            self._at += 1
            return result
        words: list[str] = []
        while self._peek() not in ("", "and", "or", "not", "(", ")"):
            words.append(self._peek().strip('"'))
            self._at += 1
        if not words:
            raise click.UsageError("-k lacks a word" + (f" before {token!r}" if token else " at its end"))
        return " ".join(words).lower() in self._name
