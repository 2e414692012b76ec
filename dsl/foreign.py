"""What is no token of the language: spellings of other languages, odd characters, words that are no names."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Any, Final, NamedTuple

from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Place
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tokens import Token

LONGEST_SHOWN: Final = 60
NAME_RULE: Final = "a name is letters A to Z, digits and `_`, and begins with a letter or `_`"

# In the order in which they are tried; each is tried before the signs of the language.
PATTERN: Final = "|".join(
    [
        r"(?m:^(?:<{7}|={7}|>{7})(?= |$)[^\n]*)",
        r"=>|-{1,5}->|[–—] ?>|[→⇒⟶]|&&|\|\||={3,}|!={2,}|<>|[≠≤≥–—]",
        r"//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?",
        r"'(?:[^'\\\n]|\\[^\n])*'|[“”„][^“”\n]*[“”]|[‘’‚][^‘’\n]*[‘’]|(?<!`)`[^`\n]+`(?!`)",
        r"!(?!=)",
        r"(?<![\w)\]}\"?.])\.[0-9][0-9_]*",
    ]
)
_DOUBLED: Final = {'"': re.compile(r'\$\{\{[^{}"\n]*\}\}'), '"""': re.compile(r"\$\{\{[^{}\n]*\}\}")}
_SIGNS: Final = {
    "→": "->",
    "⇒": "->",
    "⟶": "->",
    "&&": "and",
    "<>": "!=",
    "≠": "!=",
    "≤": "<=",
    "≥": ">=",
    "!": "not",
    "–": "-",
    "—": "-",
}
_MERGE: Final = re.compile(r"<{7}|={7}|>{7}")
_POINT: Final = re.compile(r"\.[0-9]")
_NUMBER_WITH_UNIT: Final = re.compile(r"([0-9][0-9_]*)(\.[0-9]+)?([A-Za-z]+)\Z")
UNITS: Final = {
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "m"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
}
_SMALLER: Final = {"d": ("h", 24), "h": ("m", 60), "m": ("s", 60), "s": ("ms", 1000)}


class Odd(NamedTuple):
    """What an odd stretch of text was read as: tokens (perhaps none) and the finding."""

    tokens: tuple[Token, ...]
    finding: Diagnostic


def shortened(text: str) -> str:
    """A word for a message, cut when it is long."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _finding(
    file: str, code: str, message: str, start: int, end: int, fix: str | None = None, **more: Any
) -> Diagnostic:
    """A finding over a stretch of text; `fix` is a safe replacement."""
    place = Place(file, Span(start, end))
    if fix is not None:
        title = f"write `{fix}`" if fix.strip() else "replace it by a space" if fix else "remove it"
        more["fixes"] = [Fix(title, (Edit(place, fix),), Applicability.SAFE)]
    return report(code, message, place, **more)


def read_foreign(file: str, text: str, start: int, in_lines: bool, keywords: dict[str, str]) -> Odd:
    """A foreign spelling as what it means here; `in_lines` is true in a block of one entry a line."""
    end = start + len(text)
    if text.startswith(("//", "/*")):
        lines = "\n".join(f"# {line.strip(' */')}".rstrip() for line in text.strip("/*").strip().split("\n"))
        message = "a comment begins with `#`"
        return Odd((), _finding(file, "WT0005", message, start, end, lines if text[1] == "/" else None))
    if _MERGE.match(text):
        message = f"this line was left behind when git merged: `{shortened(text)}`"
        help = "keep one of the two sides, and remove the three lines with marks"
        return Odd((), _finding(file, "WT0005", message, start, end, help=help))
    if text[0] in "'“”„‘’‚`":
        return _quoted(file, text, start, end)
    if _POINT.match(text):
        message = f"a number has a digit before its point: `0{text}`"
        return Odd(
            (Token("NUMBER", f"0{text}", start, end),),
            _finding(file, "WT0005", message, start, end, f"0{text}"),
        )
    if text == "||":
        meant = "|" if in_lines else "or"
    elif text == "=>":
        if not in_lines:
            message = "`=>` has no meaning here: write `>=` to compare; there are no functions to write"
            return Odd(
                (Token(keywords[">="], ">=", start, end),), _finding(file, "WT0005", message, start, end)
            )
        meant = "->"
    else:
        arrow, equal = text.endswith(">") and text not in _SIGNS, text.endswith("==")
        meant = "->" if arrow else text[0] + "=" if equal else _SIGNS[text]
    kind = keywords[meant]
    return Odd(
        (Token(kind, meant, start, end),),
        _finding(file, "WT0005", f"`{text}` is written `{meant}` here", start, end, meant),
    )


def _quoted(file: str, text: str, start: int, end: int) -> Odd:
    """A string in other quotes."""
    inner = text[1:-1].replace("\\'", "'")
    if text[0] == "'":
        inner = inner.replace("${", "$${")
    inner = re.sub(r'(?<!\\)"', lambda _: '\\"', inner)
    tokens = [Token("TEXT_OPEN", '"', start, start + 1), Token("TEXT_CLOSE", '"', end - 1, end)]
    if inner:
        tokens.insert(1, Token("TEXT_PIECE", inner, start + 1, end - 1))
    return Odd(tuple(tokens), _finding(file, "WT0005", 'a string stands in `"…"`', start, end, f'"{inner}"'))


def read_doubled(file: str, text: str, start: int, quote: str) -> Odd | None:
    """`${{ … }}` in a string between these quotes, which is text for another tool; None when there is none.

    A record alone is nothing that a string could insert, so that it is never meant as one.
    """
    found = _DOUBLED[quote].match(text, start)
    if found is None:
        return None
    end = found.end()
    finding = _finding(
        file,
        "WT0005",
        f"`{shortened(found[0])}` is no value of this language: write `$${{{{` for the text itself",
        start,
        end,
        help="a value is inserted by `${…}` with one pair of braces",
    )
    edit = Edit(Place(file, Span(start, start)), "$")
    finding = replace(finding, fixes=(Fix("write `$${{`", (edit,), Applicability.MAYBE),))
    return Odd((Token("TEXT_PIECE", f"${found[0]}", start, end),), finding)


def read_odd_number(file: str, text: str, start: int) -> Odd:
    """Something that begins with a digit and is neither a number nor a duration."""
    end = start + len(text)
    found = _NUMBER_WITH_UNIT.match(text)
    unit = UNITS.get(found[3].lower()) if found else None
    if text[:2] in ("0x", "0X", "0b", "0B", "0o", "0O") and (whole := _whole(text)) is not None:
        message = f"`{shortened(text)}` is written `{whole}` here: numbers are decimal"
        number = Token("NUMBER", str(whole), start, end)
        return Odd((number,), _finding(file, "WT0005", message, start, end, str(whole)))
    if found is None or unit is None:
        message = f"`{shortened(text)}` is not a name: it begins with a digit"
        return Odd(
            (Token("NAME", text, start, end),), _finding(file, "WT0009", message, start, end, help=NAME_RULE)
        )
    amount = float(found[1].replace("_", "") + (found[2] or ""))
    while not amount.is_integer() and unit in _SMALLER:
        unit, factor = _SMALLER[unit]
        amount *= factor
    meant = f"{int(amount)}{unit}"
    message = f"`{shortened(text)}` is no duration: write a whole number and `ms`, `s`, `m`, `h` or `d`"
    return Odd((Token("DURATION", meant, start, end),), _finding(file, "WT0025", message, start, end, meant))


def _whole(text: str) -> int | None:
    """The value of a number that is not decimal."""
    try:
        return int(text, 0) if len(text) <= LONGEST_SHOWN else None
    except ValueError:
        return None


def read_odd_word(file: str, text: str, start: int) -> Odd:
    """A word with letters outside A to Z."""
    end = start + len(text)
    strange = next(letter for letter in text if not letter.isascii())
    message = f"`{shortened(text)}` is not a name: it holds {described(strange)}"
    return Odd(
        (Token("NAME", text, start, end),), _finding(file, "WT0009", message, start, end, help=NAME_RULE)
    )


def read_odd_character(file: str, text: str, start: int) -> Odd:
    """A run of one character that nothing begins with."""
    end = start + len(text)
    letter = text[0]
    category = unicodedata.category(letter)
    if letter == "\ufeff":
        message = "a byte order mark (U+FEFF) may stand at the beginning of a file only"
        return Odd((), _finding(file, "WT0016", message, start, end, ""))
    if category == "Zs" or letter in "\f\v":
        message = f"this white space is {described(letter)}"
        return Odd((), _finding(file, "WT0001", message, start, end, " "))
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        message = f"{described(letter)} cannot stand in a file"
        return Odd((), _finding(file, "WT0017", message, start, end, ""))
    help = None
    if letter == "\\":
        help = "a line needs no mark to go on; begin the next one with `->`"
    elif letter == "$":
        help = 'in a string between `"` write `\\"` for a quote; between `"""` quotes are free'
    message = f"`{shortened(text)}` is not part of the language"
    return Odd((), _finding(file, "WT0001", message, start, end, help=help))


def described(letter: str) -> str:
    """`é` (U+00E9), or only the number for what cannot be seen."""
    number = f"U+{ord(letter):04X}"
    name = unicodedata.name(letter, "")
    if letter.isprintable() and not letter.isspace():
        return f"`{letter}` ({number})"
    return f"{name.lower()} ({number})" if name else f"the control character {number}"
