"""Formatting: the tree comes back, a second pass changes nothing, no comment is lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import Golden
from tests.dsl import trees
from windtunnel.dsl import Source, format_file, format_tree, parse
from windtunnel.dsl import syntax as s
from windtunnel.dsl.lexer import lex
from windtunnel.dsl.tokens import Token, opens_lines

CASES = Path(__file__).parent.parent / "cases" / "dsl"
FLOWS = sorted((*(CASES / "parse").glob("*.flow"), *(CASES / "format").glob("*.flow")))
calm = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
GOES_ON = ("ARROW", "VBAR", "THEN", "LBRACE", "LSQB", "LPAR", "RBRACE", "RSQB", "RPAR")


@calm
@given(trees.files)
def test_what_is_printed_reads_back_as_the_same_tree(file: s.File) -> None:
    """Parse after format is the identity for every tree, and format is idempotent (S07, B12)."""
    text = format_tree(file)
    parsed = parse(Source("x.flow", text))
    assert [each.message for each in parsed.diagnostics] == [], text
    assert trees.bare(parsed.file) == trees.bare(file), text
    assert format_file(parsed.source) == text


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


@pytest.mark.parametrize("flow", FLOWS, ids=lambda path: path.stem)
@calm
@given(st.integers(0, 2**32).map(Chance))
def test_layout_is_no_meaning(flow: Path, chance: Chance) -> None:
    """Other white space between the same tokens gives the same text, whatever it was (S08, B09, B14, B32)."""
    source = uncommented(flow)
    other, _ = spread(source, chance, comments=False)
    assert format_file(Source(flow.name, other)) == format_file(source)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda path: path.stem)
@calm
@given(st.integers(0, 2**32).map(Chance))
def test_no_comment_is_lost_or_doubled(flow: Path, chance: Chance) -> None:
    """Comments in any place stay, once each; the tree stays; the second pass changes nothing (S07, B30)."""
    source = uncommented(flow)
    text, count = spread(source, chance, comments=True)
    before = parse(Source(flow.name, text))
    assert [each.message for each in before.diagnostics] == [], text
    done = format_file(before.source)
    after = parse(Source(flow.name, done))
    assert [each.message for each in after.diagnostics] == [], done
    assert sorted(each.text for each in after.comments) == sorted(f"# c{n}" for n in range(1, count + 1)), (
        done
    )
    assert trees.bare(after.file) == trees.bare(before.file), done
    assert format_file(after.source) == done


@pytest.mark.parametrize("flow", sorted((CASES / "format").glob("*.flow")), ids=lambda path: path.stem)
def test_canonical_text(flow: Path, golden: Golden) -> None:
    """The chosen form of each construct, and where comments go."""
    source = Source(flow.name, flow.read_text())
    assert parse(source).diagnostics == ()
    golden(f"dsl/format/{flow.stem}.formatted", format_file(source))


def test_a_file_with_errors_is_left_alone() -> None:
    text = "workflow a {\n   compute  x = = 1 }\n"
    assert format_file(Source("a.flow", text)) == text


def test_a_comment_in_an_empty_block_stays_once() -> None:
    """B30: a comment as the only thing in a block."""
    for block in ("edges", "exits", "input"):
        text = f"language 1\n\nworkflow a {{\n  {block} {{\n    # only this\n  }}\n}}\n"
        assert format_file(Source("a.flow", text)) == text
