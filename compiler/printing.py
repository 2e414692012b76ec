"""An expression in the list form of `expression`, written in the syntax of the language.

Made for messages, pictures and diffs: names stand as the workflow at `scope` would write them, and what
the list form no longer knows (which template was called, whether a whole number was a duration) is written
in the nearest way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.snapshot import Expression

MAX_DEPTH: Final = 100
"""Expressions inside one another; what lies deeper is written `…`."""

_IF, _OR, _AND, _NOT, _COMPARE, _ELSE, _SUM, _PRODUCT, _PREFIX, _POSTFIX = range(10)
_OPERATORS: Final = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), _COMPARE),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "//", "%"), _PRODUCT),
}
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000))
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class _Place(NamedTuple):
    """Where an expression stands: the mount path of its workflow, and the ids that are mounts."""

    scope: str
    mounts: Collection[str]


def expression_text(expression: Expression, scope: str = "", mounts: Collection[str] = ()) -> str:
    """The expression as the workflow at mount path `scope` would write it; `mounts` are the ids of mounts."""
    return _write(expression, _Place(scope, mounts), _IF, 0)


def duration_expression_text(expression: Expression, scope: str = "", mounts: Collection[str] = ()) -> str:
    """As `expression_text`, for an expression of type duration: its constants are milliseconds."""
    return _duration(expression, _Place(scope, mounts), _IF, 0)


def template_text(expression: Expression, scope: str = "", mounts: Collection[str] = ()) -> str:
    """What stands between the quotes of a text, without escapes: `notes of ${input.tag}`."""
    place = _Place(scope, mounts)
    parts = expression[1:] if expression[0] == "text" else [expression]
    return "".join(_raw_piece(part, place, 0) for part in parts)


def duration_text(milliseconds: int) -> str:
    """A duration in its largest whole unit: `30s`, `90s`, `2d`, `250ms`."""
    for unit, size in _UNITS:
        if milliseconds and milliseconds % size == 0:
            return f"{milliseconds // size:_}{unit}"
    return f"{milliseconds:_}ms"


def scalar_text(value: JsonValue) -> str:
    """A JSON value as a literal of the language."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, list):
        return "[" + ", ".join(scalar_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return _braced([f"{_key(key)}: {scalar_text(item)}" for key, item in value.items()])
    return json.dumps(value, ensure_ascii=False).replace("${", "$${")


def local_name(identifier: str, scope: str) -> str:
    """A qualified id as the workflow at `scope` names it; whole where it lies outside."""
    return identifier.removeprefix(f"{scope}/") if scope else identifier


def _raw_piece(part: JsonValue, place: _Place, depth: int) -> str:
    if isinstance(part, list) and part[0] == "const":
        return part[1] if isinstance(part[1], str) else scalar_text(part[1])
    return "${" + _write(part, place, _IF, depth) + "}"


def _write(expression: JsonValue, place: _Place, level: int, depth: int) -> str:
    """The text, in parentheses where its own level of binding is looser than `level`."""
    assert isinstance(expression, list), "an expression is a list"
    if depth > MAX_DEPTH:
        return "…"
    own, text = _form(expression, place, depth + 1)
    return f"({text})" if own < level else text


def _form(expression: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    """How tightly the form binds, and its text."""
    head = expression[0]
    assert isinstance(head, str), "an expression begins with the name of its form"
    if head in ("op", "and", "or", "??"):
        return _binary(expression, place, depth)
    writer = _WRITERS.get(head)
    assert writer is not None, f"{head} is no form of an expression"
    return writer(expression, place, depth)


def _split(expression: list[JsonValue]) -> tuple[str, int, JsonValue, JsonValue]:
    """Operator, level and sides of a binary form; of a chain, its last side and all before it."""
    least = 4 if expression[0] == "op" else 3
    left = expression[:-1] if len(expression) > least else expression[-2]
    if expression[0] == "op":
        operator = str(expression[1])
        # Division of whole numbers is stored under a name of its own and written like any other.
        return operator.replace("//", "/"), _OPERATORS[operator], left, expression[-1]
    level = {"and": _AND, "or": _OR, "??": _ELSE}[str(expression[0])]
    return str(expression[0]), level, left, expression[-1]


def _binary(expression: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    """A chain of one level is walked, not recursed into: `a + b + c …` may be long."""
    operator, level, left, right = _split(expression)
    tail: list[str] = []
    while True:
        tail.append(f" {operator} {_write(right, place, level + 1, depth)}")
        if level == _COMPARE or not isinstance(left, list) or left[0] not in ("op", "and", "or", "??"):
            break
        inner, inner_level, inner_left, inner_right = _split(left)
        if inner_level != level:
            break
        operator, left, right = inner, inner_left, inner_right
    side = level + 1 if level == _COMPARE else level
    return level, _write(left, place, side, depth) + "".join(reversed(tail))


def _duration(expression: JsonValue, place: _Place, level: int, depth: int) -> str:
    assert isinstance(expression, list), "an expression is a list"
    match expression:
        case ["const", int(value)] if not isinstance(value, bool):
            return duration_text(value)
        case ["op", ("+" | "-") as sign, left, right]:
            sides = (
                _duration(left, place, _SUM, depth + 1),
                _duration(right, place, _SUM + 1, depth + 1),
            )
            text = f"{sides[0]} {sign} {sides[1]}"
            return f"({text})" if level > _SUM else text
        case ["op", "*", left, ["const", int(value)]] if not _is_constant(left):
            text = f"{_write(left, place, _PRODUCT, depth + 1)} * {duration_text(value)}"
            return f"({text})" if level > _PRODUCT else text
        case ["op", "*", ["const", int(value)], right] if not _is_constant(right):
            text = f"{duration_text(value)} * {_write(right, place, _PRODUCT + 1, depth + 1)}"
            return f"({text})" if level > _PRODUCT else text
        case ["if", condition, yes, no] if depth < MAX_DEPTH:
            chosen = _duration(yes, place, _IF, depth + 1), _duration(no, place, _IF, depth + 1)
            text = f"if {_write(condition, place, _IF, depth + 1)} then {chosen[0]} else {chosen[1]}"
            return f"({text})" if level > _IF else text
        case _:
            return _write(expression, place, level, depth)


def _is_constant(expression: JsonValue) -> bool:
    return isinstance(expression, list) and expression[0] == "const"


# --- one writer for each form ----------------------------------------------------------------------------

_Writer = Callable[[list[JsonValue], _Place, int], tuple[int, str]]


def _const(e: list[JsonValue], _place: _Place, _depth: int) -> tuple[int, str]:
    negative = isinstance(e[1], int | float) and not isinstance(e[1], bool) and e[1] < 0
    return (_PREFIX if negative else _POSTFIX), scalar_text(e[1])


def _text(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    pieces: list[str] = []
    for part in e[1:]:
        if isinstance(part, list) and part[0] == "const" and isinstance(part[1], str):
            pieces.append(scalar_text(part[1])[1:-1])
        else:
            pieces.append(_raw_piece(part, place, depth))
    return _POSTFIX, '"' + "".join(pieces) + '"'


def _input(e: list[JsonValue], place: _Place, _depth: int) -> tuple[int, str]:
    return _POSTFIX, "input" if e[1] == place.scope else f"input of {e[1] or 'the root'}"


def _named(e: list[JsonValue], place: _Place, _depth: int) -> tuple[int, str]:
    """A node or a `let`, then the exit or choice where there is one."""
    names = [local_name(str(e[1]), place.scope), *(str(way) for way in e[2:])]
    return _POSTFIX, ".".join(names)


def _way(e: list[JsonValue], place: _Place, _depth: int) -> tuple[int, str]:
    word = "exit" if e[1] in place.mounts else "choice"
    return _POSTFIX, f"{local_name(str(e[1]), place.scope)}.{word}"


def _about_nodes(e: list[JsonValue], place: _Place, _depth: int) -> tuple[int, str]:
    """`result(n)`, `visits(n, "ok")`, `latest(a, b)`."""
    names = e[1:2] if e[0] == "visits" else e[1:]
    arguments = [local_name(str(name), place.scope) for name in names]
    if e[0] == "visits" and e[2] is not None:
        arguments.append(scalar_text(e[2]))
    return _POSTFIX, f"{e[0]}({', '.join(arguments)})"


def _bind(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    value, body = _write(e[2], place, _IF, depth), _write(e[3], place, _IF, depth)
    return _IF, f"let {e[1]} = {value}; {body}"


def _field(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    """A path is walked, not recursed into."""
    tail: list[str] = []
    while e[0] == "field" and isinstance(e[1], list):
        tail.append(("?." if e[3] else ".") + str(e[2]))
        e = e[1]
    return _POSTFIX, _write(e, place, _POSTFIX, depth) + "".join(reversed(tail))


def _index(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    return _POSTFIX, f"{_write(e[1], place, _POSTFIX, depth)}[{_write(e[2], place, _IF, depth)}]"


def _record(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    entries: list[str] = []
    for part in e[1:]:
        assert isinstance(part, list), "a part of a record is a list"
        if part[0] == "spread":
            entries.append("..." + _write(part[1], place, _IF, depth))
            continue
        key, value = _key(str(part[1])), _write(part[2], place, _IF, depth)
        maybe = "?" if part[0] == "maybe" else ""
        entries.append(key if key == value and not maybe else f"{key}{maybe}: {value}")
    return _POSTFIX, _braced(entries)


def _list(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    items: list[str] = []
    for part in e[1:]:
        assert isinstance(part, list), "a part of a list is a list"
        items.append(("..." if part[0] == "spread" else "") + _write(part[1], place, _IF, depth))
    return _POSTFIX, "[" + ", ".join(items) + "]"


def _for(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    condition = "" if e[4] is None else f" if {_write(e[4], place, _IF, depth)}"
    item, source = _write(e[1], place, _IF, depth), _write(e[3], place, _OR, depth)
    return _POSTFIX, f"[{item} for {e[2]} in {source}{condition}]"


def _if(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    """A ladder of `else if` is walked, not recursed into."""
    steps: list[str] = []
    rest: JsonValue = e
    while isinstance(rest, list) and rest[0] == "if":
        for condition, value in zip(rest[1:-1:2], rest[2:-1:2], strict=True):
            steps.append(f"if {_write(condition, place, _IF, depth)} then {_write(value, place, _IF, depth)}")
        rest = rest[-1]
    return _IF, " else ".join([*steps, _write(rest, place, _IF, depth)])


def _not(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    return _NOT, f"not {_write(e[1], place, _NOT, depth)}"


def _negative(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    return _PREFIX, f"-{_write(e[1], place, _PREFIX, depth)}"


def _call(e: list[JsonValue], place: _Place, depth: int) -> tuple[int, str]:
    return _POSTFIX, f"{e[1]}({', '.join(_write(item, place, _IF, depth) for item in e[2:])})"


def _key(key: str) -> str:
    return key if _WORD.match(key) else scalar_text(key)


def _braced(entries: Sequence[str]) -> str:
    return "{ " + ", ".join(entries) + " }" if entries else "{}"


_WRITERS: Final[dict[str, _Writer]] = {
    "const": _const,
    "text": _text,
    "input": _input,
    **dict.fromkeys(("node", "exit", "choice", "let"), _named),
    "way": _way,
    **dict.fromkeys(("result", "visits", "latest"), _about_nodes),
    "var": lambda e, _place, _depth: (_POSTFIX, str(e[1])),
    "bind": _bind,
    "field": _field,
    "index": _index,
    "record": _record,
    "list": _list,
    "for": _for,
    "if": _if,
    "not": _not,
    "neg": _negative,
    "call": _call,
}
