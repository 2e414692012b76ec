"""Canonical JSON against the published vectors of RFC 8785, and the one form of numbers."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from windtunnel.compiler.canonical import (
    MAX_DEPTH,
    MAX_WHOLE,
    CanonicalError,
    canonical,
    digest,
    normalise,
    number_text,
    parse_json,
)

NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]
"""Appendix B of RFC 8785: IEEE 754 bits and their text."""

STRUCTURES: list[tuple[str, str]] = [
    (
        r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
         "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}""",
        (
            r"""{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"""
            r""""string":"€$\u000f\nA'B\"\\\\\"/"}"""
        ),
    ),
    (
        r"""{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
         "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
         "\u00f6": "Latin Small Letter O With Diaeresis"}""",
        (
            '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",'
            '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}'
        ),
    ),
    ('[56, {"d": true, "10": null, "1": [ ]}]', '[56,{"1":[],"10":null,"d":true}]'),
]
"""Section 3.2 of RFC 8785 and one of its test files."""


@pytest.mark.parametrize(("bits", "expected"), NUMBERS)
def test_numbers_of_the_rfc(bits: str, expected: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert number_text(number) == expected


@pytest.mark.parametrize(("text", "expected"), STRUCTURES)
def test_structures_of_the_rfc(text: str, expected: str) -> None:
    assert canonical(parse_json(text)) == expected


def test_a_digest_is_sha256_over_the_canonical_text() -> None:
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert digest({"b": 1.0, "a": 2}) == digest({"a": 2.0, "b": 1})


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 2**53 + 1, 10**400, "\ud800", {"\udc00": 1}]
)
def test_what_has_no_canonical_text_is_refused(value: JsonValue) -> None:
    with pytest.raises(CanonicalError):
        canonical(value)
    with pytest.raises(CanonicalError):
        normalise(value)


@pytest.mark.parametrize("value", [{1: 2}, b"x", {"a": {1, 2}}])
def test_what_is_no_json_value_is_refused(value: JsonValue) -> None:
    with pytest.raises(CanonicalError):
        canonical(value)


def nested(depth: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(depth):
        value = [value]
    return value


def test_depth_is_limited() -> None:
    assert canonical(nested(MAX_DEPTH)).startswith("[[")
    for call in (canonical, normalise):
        with pytest.raises(CanonicalError, match="nested too deep"):
            call(nested(MAX_DEPTH + 1))
    with pytest.raises(CanonicalError, match="nested too deep"):
        parse_json("[" * 100_000)


def test_numbers_have_one_form() -> None:
    assert normalise([1.0, -0.0, 2**53, 1.5, True]) == [1, 0, float(2**53), 1.5, True]
    assert [type(item) for item in normalise([1.0, float(2**53), float(MAX_WHOLE)])] == [int, float, int]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', 'the key "a" stands twice'),
        ("NaN", "finite"),
        ("[1,", "not JSON"),
        (b"\xff", "not UTF-8"),
        ("9007199254740993", "give it as text"),
        ("1" * 5_000, "give it as text"),
    ],
)
def test_a_text_is_read_with_care(text: str, message: str) -> None:
    with pytest.raises(CanonicalError, match=message):
        parse_json(text)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_WHOLE, MAX_WHOLE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_what_is_read_back_is_what_was_written(value: JsonValue) -> None:
    text = canonical(value)
    assert parse_json(text) == normalise(value)
    assert canonical(parse_json(text)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_survives(number: float) -> None:
    assert float(number_text(number)) == number
