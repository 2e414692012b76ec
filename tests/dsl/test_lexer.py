"""Tokens: their kinds and places, the newlines that count, where items begin, and what is no token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.dsl import Source
from windtunnel.dsl.lexer import lex


def kinds(text: str) -> list[str]:
    return [token.kind for token in lex(Source("x", text)).tokens]


def texts(text: str) -> list[str]:
    return [token.text for token in lex(Source("x", text)).tokens]


@given(st.text(st.one_of(st.sampled_from("ab {}[]()\"'$#\n\t.:;=->|?!/\\1_é"), st.characters()), max_size=60))
def test_tokens_lie_in_order_and_spell_the_text(text: str) -> None:
    source = Source("x", text)
    lexed = lex(source)
    end = 0
    for token in lexed.tokens:
        assert end <= token.start <= token.end <= len(source.text)
        end = token.end
    assert all(0 <= item < len(lexed.tokens) for item in lexed.items)
    assert lexed.items == sorted(set(lexed.items))
    for comment in lexed.comments:
        assert source.text[comment.start] == "#"


def test_numbers_names_and_signs() -> None:
    assert kinds("a a-b a - b 1 1_0 0.5 1e3 5m 1..2 1.. ..2") == (
        [
            "NAME",
            "NAME",
            "NAME",
            "MINUS",
            "NAME",
            "NUMBER",
            "NUMBER",
            "NUMBER",
            "NUMBER",
            "DURATION",
            "NUMBER",
            "RANGE",
            "NUMBER",
            "NUMBER",
            "RANGE",
            "RANGE",
            "NUMBER",
        ]
    )
    assert texts("a?.b ?? c?: d ...e -> <= >= == !=") == (
        ["a", "?.", "b", "??", "c", "?", ":", "d", "...", "e", "->", "<=", ">=", "==", "!="]
    )


def test_slashes() -> None:
    assert kinds("a/b a / b a /b 1/b a/1 f()/b") == (
        [
            "NAME",
            "TIGHT_SLASH",
            "NAME",
            "NAME",
            "SLASH",
            "NAME",
            "NAME",
            "SLASH",
            "NAME",
            "NUMBER",
            "SLASH",
            "NAME",
            "NAME",
            "SLASH",
            "NUMBER",
            "NAME",
            "LPAR",
            "RPAR",
            "SLASH",
            "NAME",
        ]
    )


def test_strings_are_cut_at_interpolations() -> None:
    assert kinds('"" "a" "a${b}c" "${"${d}"}"') == (
        [
            "TEXT_OPEN",
            "TEXT_CLOSE",
            "TEXT_OPEN",
            "TEXT_PIECE",
            "TEXT_CLOSE",
            "TEXT_OPEN",
            "TEXT_PIECE",
            "INTERPOLATION_OPEN",
            "NAME",
            "INTERPOLATION_CLOSE",
            "TEXT_PIECE",
            "TEXT_CLOSE",
            "TEXT_OPEN",
            "INTERPOLATION_OPEN",
            "TEXT_OPEN",
            "INTERPOLATION_OPEN",
            "NAME",
            "INTERPOLATION_CLOSE",
            "TEXT_CLOSE",
            "INTERPOLATION_CLOSE",
            "TEXT_CLOSE",
        ]
    )
    assert texts('"""a "b" ""c""" x') == ['"""', 'a "b" ""c', '"""', "x"]
    assert texts('"${ { a: "}" } }"') == ['"', "${", "{", "a", ":", '"', "}", '"', "}", "}", '"']


def test_newlines_count_in_line_blocks_only() -> None:
    def newlines(text: str) -> int:
        return kinds(text).count("NEWLINE")

    assert newlines("workflow a {\n x 1\n y 2\n}\n") == 0
    assert newlines("edges {\n a -> b\n c -> d\n}") == 1
    assert newlines("edges {\n\n # c\n a -> b # c\n\n\n # c\n c -> d # c\n}") == 1
    assert newlines("edges {\n a\n -> b\n then x\n | y,\n z (\n 1\n )\n}") == 0
    assert newlines("edges { start -> match .a {\n 1 -> b\n else -> c\n }\n d -> e }") == 2
    assert newlines("agent edges {\n a b\n c d\n}") == 0
    assert newlines("include choices = faults {\n a: 1,\n b: 2\n}") == 0
    assert newlines("choices {\n a { x\n y }\n b\n}") == 1


def test_items_begin_outside_brackets() -> None:
    def items(text: str) -> int:
        return len(lex(Source("x", text)).items)

    assert (
        items("language 1 import a from 'x' type A = text type B = int workflow a {} scenario \"s\" for a {}")
        == 6
    )
    assert items("template a() = template b()\ntemplate c() = language\n") == 2
    assert items("workflow a { agent x { prompt template f() } }") == 1
    assert items("workflow a {\n compute x = {\ntype: 1, workflow: 2\n}\n}") == 1
    assert items("workflow a {\n agent b {\n\nworkflow c {}") == 2
    assert items("junk workflow a {}") == 2


@pytest.mark.parametrize(
    ("text", "kind", "meant", "code"),
    [
        ("=>", "AT_LEAST", ">=", "WT0005"),
        ("-->", "ARROW", "->", "WT0005"),
        ("→", "ARROW", "->", "WT0005"),
        ("&&", "AND", "and", "WT0005"),
        ("||", "OR", "or", "WT0005"),
        ("===", "EQUAL_TO", "==", "WT0005"),
        ("!==", "UNEQUAL_TO", "!=", "WT0005"),
        ("!", "NOT", "not", "WT0005"),
        ("≤", "AT_MOST", "<=", "WT0005"),
        ("90sec", "DURATION", "90s", "WT0025"),
        ("1.5h", "DURATION", "90m", "WT0025"),
        ("0.0001ms", "DURATION", "0ms", "WT0025"),
        ("1st", "NAME", "1st", "WT0009"),
        ("naïve", "NAME", "naïve", "WT0009"),
    ],
)
def test_what_is_no_token_is_read_as_what_was_meant(text: str, kind: str, meant: str, code: str) -> None:
    lexed = lex(Source("x", f"a {text} b"))
    token = lexed.tokens[1]
    assert (token.kind, token.text) == (kind, meant)
    assert [each.code for each in lexed.diagnostics] == [code]


def test_arrows_of_other_languages_in_edges() -> None:
    assert kinds("edges {\n a => b\n c || d\n}")[2:] == [
        "NAME",
        "ARROW",
        "NAME",
        "NEWLINE",
        "NAME",
        "VBAR",
        "NAME",
        "RBRACE",
    ]


def test_other_quotes() -> None:
    (fix,) = lex(Source("x", "'it is \"so\" ${x}'")).diagnostics[0].fixes
    assert fix.edits[0].text == '"it is \\"so\\" $${x}"'
