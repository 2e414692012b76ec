"""Escapes, margins and `$${`, both ways."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from windtunnel.dsl.strings import BadEscape, decode, dedent, encode, encode_lines

texts = st.text(
    st.one_of(st.sampled_from('ab$${}"\\\n\t\x00\u2028\U0001f426'), st.characters(exclude_categories=["Cs"]))
)


@given(texts)
@example("$")
@example("a$")
def test_encoding_is_undone_by_decoding(value: str) -> None:
    for before_value in (False, True):
        raw = encode(value, before_value)
        assert decode(raw) == (value, ())
        assert "\n" not in raw
        assert all(letter.isprintable() for letter in raw)
        if before_value:
            assert not raw.endswith("$")


def test_plain_text_stays_as_it_is() -> None:
    for value in ("", "a", "é漢", "/path", "$5 {a} 'b'"):
        assert encode(value) == value


def test_bad_escapes_are_kept_and_placed() -> None:
    """B12: never silently raw: each other escape is reported at its place."""
    assert decode("a\\x1b\\q") == ("a\\x1b\\q", (BadEscape(1, 3, "\\x"), BadEscape(5, 7, "\\q")))
    assert decode("\\ud800") == ("\\ud800", (BadEscape(0, 6, "\\ud800"),))
    assert decode("\\udc00\\ud800")[1] == (BadEscape(0, 6, "\\udc00"), BadEscape(6, 12, "\\ud800"))
    assert decode("\\u12") == ("\\u12", (BadEscape(0, 2, "\\u"),))
    assert decode("\\ud83d\\udc26") == ("\U0001f426", ())


def test_margins() -> None:
    assert dedent(()) == ()
    assert dedent(["\n  a\n    b\n  "]) == ("a\n  b",)
    assert dedent(["a\n  b\n   c"]) == ("a\nb\n c",)
    assert dedent(["\n\ta\n  b\n"]) == ("\ta\n  b",)
    assert dedent(["\n  ", None, " x\n    y ", None, "\n\n  "]) == ("", None, " x\n  y ", None, "\n")
    assert dedent([None, "\n   a"]) == (None, "\na")
    assert dedent(["\n  a\n   \n  b\n"]) == ("a\n\nb",)
    assert dedent(["\n  $${a}\n"]) == ("${a}",)


@given(st.text(st.sampled_from("ab \n\t"), max_size=20), st.integers(0, 6))
def test_a_common_margin_does_not_matter(text: str, margin: int) -> None:
    """However far a whole string is indented, it means the same."""

    def indented(by: str) -> str:
        return "\n" + "\n".join(f"{by}{line}" if line.strip() else line for line in text.split("\n")) + "\n"

    assert dedent([indented(" " * margin)]) == dedent([indented("")])


@given(texts)
def test_lines_keep_their_dollars(value: str) -> None:
    value = value.replace("\n", " ").strip() or "a"
    assert dedent(["\n" + encode_lines(value) + "\n"]) == (value,)
