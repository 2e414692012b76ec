"""The tokens of a file with other white space, newlines and comments between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from windtunnel.dsl import Source
from windtunnel.dsl.lexer import lex
from windtunnel.dsl.tokens import Token, opens_lines

GOES_ON = ("ARROW", "VBAR", "THEN", "LBRACE", "LSQB", "LPAR", "RBRACE", "RSQB", "RPAR")


class Chance:
    """Numbers that look random, from a seed; cheaper than to ask Hypothesis for each."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, end: int) -> int:
        """A whole number from 0 to `end`, without it."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end

    def among(self, choices: Sequence[str]) -> str:
        """One of several."""
        return choices[self.below(len(choices))]


def uncommented(flow: Path) -> Source:
    """A file without its comments."""
    text = flow.read_text()
    for comment in reversed(lex(Source(flow.name, text)).comments):
        text = text[: comment.start] + text[comment.end :]
    return Source(flow.name, text)


def spread(source: Source, chance: Chance, comments: bool) -> tuple[str, int]:
    """The same tokens with other white space and, if wanted, comments between; and how many comments."""
    tokens = lex(source).tokens
    out: list[str] = []
    blocks: list[str] = []
    made = 0
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.kind == "NEWLINE":
            blanks = chance.below(3)
            if comments and chance.below(5) == 0:
                made += 1
                out.append(f" # c{made}")
            out.append("\n" + "\n" * blanks + " " * chance.below(5))
            continue
        out.append(token.text)
        if token.kind in ("TEXT_OPEN", "LBRACE", "LSQB", "LPAR", "INTERPOLATION_OPEN"):
            blocks.append("lines" if _opens_lines(tokens, place) else token.text)
        elif token.kind in ("TEXT_CLOSE", "RBRACE", "RSQB", "RPAR", "INTERPOLATION_CLOSE"):
            blocks.pop()
        if following is None or (blocks and blocks[-1] in ('"', '"""')):
            continue
        if token.kind == "INTERPOLATION_CLOSE" or "TIGHT_SLASH" in (token.kind, following.kind):
            continue
        inner = any(block in ('"', '"""') for block in blocks)
        free = not inner and (
            not blocks or blocks[-1] != "lines" or following.kind in GOES_ON or token.kind == "COMMA"
        )
        free = free or (not inner and bool(blocks) and blocks[-1] == "lines" and token.kind == "LBRACE")
        if not free:
            out.append(" " * (1 + chance.below(2)))
        elif comments and chance.below(10) == 0:
            made += 1
            out.append(f"{chance.among([' ', chr(10)])}# c{made}{chr(10) * (1 + chance.below(2))}")
        else:
            out.append(chance.among([" ", "\n", "  ", "\t", "\n\n   "]))
    return "".join(out), made


def _opens_lines(tokens: Sequence[Token], place: int) -> bool:
    """Whether the token at `place` opens a block of one entry a line."""
    if tokens[place].kind != "LBRACE":
        return False
    back = place - 1
    while back > 0 and tokens[back].kind not in ("ARROW", "NEWLINE", "LBRACE", "RBRACE", "EQUAL", "COLON"):
        back -= 1
    return tokens[back + 1].kind == "MATCH" or opens_lines(tokens[:place])
