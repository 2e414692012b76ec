"""Documents that know where they may break, and the layout that breaks them when they must.

The classic scheme of Wadler and Lindig: a group stands on one line when it fits, else all its own breaks
become newlines. Layout is iterative, and each group looks ahead no further than one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

WIDTH: Final = 110
STEP: Final = 2


@dataclass(frozen=True, slots=True)
class Break:
    """A place to break: `flat` when its group stands on one line."""

    flat: str


@dataclass(frozen=True, slots=True)
class Newline:
    """A newline in any case."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Text that appears only when the group around it is broken, such as a last comma."""

    text: str


@dataclass(frozen=True, slots=True)
class Suffix:
    """Text that moves to the end of its line: a comment. It does not count as width."""

    text: str


@dataclass(frozen=True, slots=True)
class Indent:
    """A document one step further in."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """A document that breaks as one; `hard` when it holds a newline and so always breaks."""

    doc: Doc
    hard: bool


@dataclass(frozen=True, slots=True)
class Concat:
    """Documents one after the other."""

    docs: tuple[Doc, ...]
    hard: bool


Doc: TypeAlias = str | Break | Newline | Broken | Suffix | Indent | Group | Concat

LINE: Final = Break(" ")
SOFT: Final = Break("")
HARD: Final = Newline()


def hard(doc: Doc) -> bool:
    """Whether a document holds a newline that must be one."""
    match doc:
        case Newline() | Suffix():
            return True
        case Group() | Concat():
            return doc.hard
        case Indent():
            return hard(doc.doc)
        case _:
            return False


def concat(*docs: Doc) -> Doc:
    """Documents one after the other."""
    return docs[0] if len(docs) == 1 else Concat(docs, any(hard(doc) for doc in docs))


def group(*docs: Doc) -> Doc:
    """A document that stands on one line when it fits."""
    whole = concat(*docs)
    return Group(whole, hard(whole))


def joined(separator: Sequence[Doc], docs: Iterable[Doc]) -> Doc:
    """Documents with a separator between."""
    out: list[Doc] = []
    for number, doc in enumerate(docs):
        if number:
            out.extend(separator)
        out.append(doc)
    return concat(*out) if out else ""


def lay_out(doc: Doc, width: int = WIDTH) -> list[str]:
    """The lines of a document in a column of this width."""
    lines: list[str] = []
    line: list[str] = []
    column = 0
    suffixes: list[str] = []
    stack: list[tuple[int, bool, Doc]] = [(0, True, doc)]
    while stack:
        depth, broken, top = stack.pop()
        match top:
            case str():
                line.append(top)
                column += len(top)
            case Break() if not broken:
                line.append(top.flat)
                column += len(top.flat)
            case Newline() | Break():
                lines.append(_ended(line, suffixes))
                line, column = [" " * depth], depth
            case Broken():
                if broken:
                    line.append(top.text)
                    column += len(top.text)
            case Suffix():
                suffixes.append(top.text)
            case Indent():
                stack.append((depth + STEP, broken, top.doc))
            case Group():
                open_ = top.hard or not _fits(width - column, top.doc, stack)
                stack.append((depth, open_, top.doc))
            case Concat():
                stack.extend((depth, broken, each) for each in reversed(top.docs))
    lines.append(_ended(line, suffixes))
    return lines


def _ended(line: list[str], suffixes: list[str]) -> str:
    """A finished line with its comments; a line of nothing but its indentation is empty."""
    text = "".join(line)
    if text.isspace():
        text = ""
    if suffixes:
        text = f"{text}{'  ' if text else ''}{' '.join(suffixes)}"
        suffixes.clear()
    return text


def _fits(room: int, doc: Doc, rest: Sequence[tuple[int, bool, Doc]]) -> bool:
    """Whether a document fits on the rest of the line when flat, with what follows up to the next break."""
    stack: list[tuple[bool, Doc]] = [(False, doc)]
    following = len(rest)
    while room >= 0:
        if not stack:
            if not following:
                return True
            following -= 1
            _, broken, after = rest[following]
            stack.append((broken, after))
            continue
        broken, top = stack.pop()
        match top:
            case str():
                room -= len(top)
            case Newline():
                return True
            case Break():
                if broken:
                    return True
                room -= len(top.flat)
            case Broken():
                room -= len(top.text) if broken else 0
            case Suffix():
                pass
            case Indent():
                stack.append((broken, top.doc))
            case Group():
                stack.append((broken and top.hard, top.doc))
            case Concat():
                stack.extend((broken, each) for each in reversed(top.docs))
    return False
