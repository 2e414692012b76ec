"""Texts that match a pattern, made from the pattern itself.

Reads the part of the regular syntax that types allow: literals, `.`, classes, groups, alternatives, repeats
and the usual escapes. What it cannot read gives no text; what it makes is matched before it is returned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from windtunnel.compiler.patterns import matches_pattern

MAX_PATTERN: Final = 1_000
"""Code points; a longer pattern gives no text."""

MAX_NESTING: Final = 30
"""Groups inside one another; a deeper pattern gives no text."""

MAX_MADE: Final = 20_000
"""Code points; no longer text is made."""

_DIGITS: Final = "0123456789"
_SMALL: Final = "abcdefghijklmnopqrstuvwxyz"
_ESCAPES: Final = {"d": _DIGITS, "w": f"{_SMALL}_{_DIGITS}", "s": " ", "n": "\n", "t": "\t"}
_COMPLEMENTS: Final = {"D": "x-", "W": "- ", "S": "x0-"}
_TRIED: Final = f"{_SMALL}{_DIGITS}-_ {_SMALL.upper()}.,:;/!"
_OPEN_END: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class _OneOf:
    """One code point out of `letters`."""

    letters: str


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Piece, ...]


@dataclass(frozen=True, slots=True)
class _Alternatives:
    options: tuple[_Piece, ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: _Piece
    low: int
    high: int


_Piece: TypeAlias = _OneOf | _Sequence | _Alternatives | _Repeat


class _Unreadable(Exception):
    """The pattern uses what this file does not read."""


@lru_cache(maxsize=1_000)
def matching(pattern: str, low: int, high: int, count: int) -> tuple[str, ...]:
    """Up to `count` texts of `low..high` code points that match all of `pattern`, shortest first."""
    if len(pattern) > MAX_PATTERN:
        return ()
    try:
        piece = _Reader(pattern).read()
    except _Unreadable:
        return ()
    found: dict[str, None] = {}
    extras = [*range(8), *(low + step for step in range(-3, 4)), high - 1, high]
    for extra in sorted({extra for extra in extras if 0 <= extra <= MAX_MADE}):
        if len(found) >= count:
            break
        for turn in range(count):
            text = _write(piece, extra, turn)
            if low <= len(text) <= high and matches_pattern(pattern, text):
                found[text] = None
    return tuple(sorted(found, key=lambda text: (len(text), text))[:count])


def missing(pattern: str, low: int, high: int) -> str | None:
    """A text of `low..high` code points that does not match all of `pattern`; None if none was found."""
    size = min(max(low, 1), high)
    if size > MAX_MADE:
        return None
    tried = (*(letter * size for letter in "? \nxA0"), "")
    fitting = (text for text in tried if low <= len(text) <= high)
    return next((text for text in fitting if not matches_pattern(pattern, text)), None)


def _write(piece: _Piece, extra: int, turn: int) -> str:
    """A text of the piece: repeats run `extra` times more than they must, `turn` picks a letter or option."""
    match piece:
        case _OneOf():
            return piece.letters[turn % len(piece.letters)]
        case _Sequence():
            # The first repeat that can grow takes all the extra length, so that a length can be hit exactly.
            written: list[str] = []
            for part in piece.parts:
                text = _write(part, extra, turn)
                if extra and isinstance(part, _Repeat) and part.high > part.low:
                    extra = max(0, extra - (len(text) - len(_write(part, 0, turn))))
                written.append(text)
                if sum(map(len, written)) > MAX_MADE:
                    break
            return "".join(written)
        case _Alternatives():
            return _write(piece.options[turn % len(piece.options)], extra, turn)
        case _Repeat():
            times = min(piece.low + extra, piece.high)
            inner = _write(piece.part, 0, turn)
            if inner and isinstance(piece.part, _OneOf):
                letters = piece.part.letters
                return "".join(letters[(turn + at) % len(letters)] for at in range(min(times, MAX_MADE)))
            return inner * min(times, MAX_MADE // max(1, len(inner)) + 1)


class _Reader:
    """One pass over a pattern, left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.depth = 0

    def read(self) -> _Piece:
        piece = self.alternatives()
        if self.at != len(self.pattern):
            raise _Unreadable
        return piece

    def peek(self) -> str:
        return self.pattern[self.at] if self.at < len(self.pattern) else ""

    def take(self) -> str:
        letter = self.peek()
        if not letter:
            raise _Unreadable
        self.at += 1
        return letter

    def alternatives(self) -> _Piece:
        options = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            options.append(self.sequence())
        return options[0] if len(options) == 1 else _Alternatives(tuple(options))

    def sequence(self) -> _Piece:
        parts: list[_Piece] = []
        while self.peek() not in ("", "|", ")"):
            letter = self.peek()
            if letter in "^$":  # The whole text must match, so an anchor at the edge says nothing new.
                self.at += 1
                continue
            parts.append(self.repeated(self.single()))
        return _Sequence(tuple(parts))

    def single(self) -> _Piece:
        letter = self.take()
        if letter == "(":
            return self.group()
        if letter == "[":
            return _OneOf(self.letters())
        if letter == "\\":
            return _OneOf(self.escaped(self.take()))
        if letter == ".":
            return _OneOf(_TRIED)
        if letter in "*+?{":
            raise _Unreadable
        return _OneOf(letter)

    def group(self) -> _Piece:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise _Unreadable
        if self.pattern.startswith("?:", self.at):
            self.at += 2
        elif self.peek() == "?":
            raise _Unreadable
        piece = self.alternatives()
        if self.take() != ")":
            raise _Unreadable
        self.depth -= 1
        return piece

    def escaped(self, letter: str) -> str:
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter in _COMPLEMENTS:
            return _COMPLEMENTS[letter]
        if letter.isalnum():
            raise _Unreadable
        return letter

    def letters(self) -> str:
        """The letters of a class whose `[` was taken."""
        negated = self.peek() == "^"
        self.at += negated
        found: dict[str, None] = {}
        while self.peek() != "]" or not found:
            first = self.take()
            letters = self.escaped(self.take()) if first == "\\" else first
            if (
                len(letters) == 1
                and self.peek() == "-"
                and self.pattern[self.at + 1 : self.at + 2] not in ("]", "")
            ):
                self.at += 1
                last = self.take()
                last = self.escaped(self.take()) if last == "\\" else last
                # A wide range is sampled from its start; a few letters are enough.
                top = min(ord(last[0]), ord(letters) + 40)
                letters = "".join(map(chr, range(ord(letters), top + 1)))
            found.update(dict.fromkeys(letters))
        self.at += 1
        chosen = "".join(letter for letter in _TRIED if letter not in found) if negated else "".join(found)
        if not chosen:
            raise _Unreadable
        return chosen

    def repeated(self, part: _Piece) -> _Piece:
        letter = self.peek()
        bounds = {"*": (0, _OPEN_END), "+": (1, _OPEN_END), "?": (0, 1)}.get(letter)
        if bounds is not None:
            self.at += 1
        elif letter == "{" and (
            written := re.compile(r"\{(\d{1,6})(,?)(\d{0,6})\}").match(self.pattern, self.at)
        ):
            low = int(written[1])
            bounds = (low, int(written[3]) if written[3] else _OPEN_END if written[2] else low)
            self.at = written.end()
        else:
            return part
        if self.peek() == "?":  # A lazy repeat matches the same whole texts.
            self.at += 1
        return _Repeat(part, *bounds)
