"""Expressions and types as documents: least brackets, one way to break each construct.

In a line block a newline ends the entry, so there an expression breaks only inside brackets (`tight`). Inside
a string it does not break at all (`flat`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from windtunnel.dsl import syntax as s
from windtunnel.dsl.layout import (
    HARD,
    LINE,
    SOFT,
    Break,
    Broken,
    Concat,
    Doc,
    Group,
    Indent,
    Suffix,
    concat,
    group,
    hard,
    joined,
)
from windtunnel.dsl.margins import Lead, Margins
from windtunnel.dsl.strings import CONTROL, dedent, encode, encode_lines

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*\Z")
_LEVELS: Final[dict[str, int]] = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 4),
    "??": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "%": 7,
}
_NOT: Final = 3
_COMPARE: Final = 4
_PRODUCT: Final = 7
_MINUS: Final = 8
_POSTFIX: Final = 9
_ATOM: Final = 10
_UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

Entry: TypeAlias = s.Entry | s.Spread | s.FieldType | s.ExitDecl | s.Expr


def level(expr: s.Expr) -> int:
    """How tightly an expression binds; an operand that binds less than its place asks for gets brackets."""
    match expr:
        case s.If():
            return 0
        case s.Binary():
            return _LEVELS[expr.operator]
        case s.Unary():
            return _NOT if expr.operator == "not" else _MINUS
        case s.Ref() if "/" in expr.name:
            return _PRODUCT
        case s.Field() | s.Index():
            return _POSTFIX
        case _:
            return _ATOM


def number(value: int | float) -> str:
    """A number as it is written: whole numbers in groups of three."""
    return f"{value:_}" if isinstance(value, int) else repr(value)


def literal(value: str | int | float | bool | None) -> str:
    """`"ready"`, `3`, `true`, `null`."""
    if isinstance(value, str):
        return f'"{encode(value)}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return number(value)


class Printer:
    """Makes documents of expressions and types; entries take their comments from the margins."""

    def __init__(self, margins: Margins | None) -> None:
        self.margins = margins
        self.in_text = 0

    # --- entries ------------------------------------------------------------------------------------------

    def led(self, leads: Sequence[Lead], doc: Doc) -> Doc:
        """A document with comment lines above it."""
        out: list[Doc] = []
        for lead in leads:
            for line in lead.lines:
                out.extend((line, HARD))
            if lead.apart:
                out.append(HARD)
        return concat(*out, doc) if out else doc

    def braced(
        self,
        signs: tuple[str, str],
        entries: Sequence[Entry],
        end: int,
        draw: Callable[[Entry], Doc],
        pad: Doc,
    ) -> Doc:
        """Entries between brackets, on one line or one a line with a last comma."""
        margins = None if self.in_text else self.margins
        docs: list[Doc] = []
        for place, entry in enumerate(entries):
            documented = isinstance(entry, s.FieldType | s.ExitDecl)
            leads = margins.before(entry.span.start, documented) if margins else []
            doc = draw(entry)
            if margins:
                leads = margins.with_rest(leads, entry.span, documented)
            last = place == len(entries) - 1
            doc = self.led(leads, concat(doc, Broken(",") if last else ","))
            following = end if last else entries[place + 1].span.start
            behind = margins.behind(entry.span, following) if margins else None
            docs.append(concat(doc, Suffix(behind)) if behind is not None else doc)
        rest = margins.before(end, False) if margins else []
        if not docs and not rest:
            return "".join(signs)
        left: list[Doc] = [signs[0], Indent(concat(pad, joined((LINE,), docs)))] if docs else [signs[0]]
        if rest:
            lines: list[Doc] = []
            for lead in rest:
                for line in lead.lines:
                    lines.extend((HARD, line))
            left.append(Indent(concat(*lines)))
            return group(*left, HARD, signs[1])
        return group(*left, pad, signs[1])

    # --- expressions --------------------------------------------------------------------------------------

    def expr(self, expr: s.Expr, tight: bool = False) -> Doc:
        """An expression; `tight` keeps newlines inside brackets."""
        match expr:
            case s.Literal():
                return literal(expr.value)
            case s.Duration():
                return f"{number(expr.milliseconds // _UNITS[expr.unit])}{expr.unit}"
            case s.Text():
                return self.text(expr)
            case s.Ref():
                return expr.name
            case s.Field():
                dot = "?." if expr.optional else "."
                return concat(self.operand(expr.target, _POSTFIX, tight), dot, expr.name.text)
            case s.Index():
                return concat(self.operand(expr.target, _POSTFIX, tight), "[", self.expr(expr.index), "]")
            case s.Call():
                return self.call(expr)
            case s.Unary():
                if expr.operator == "-":
                    return concat("-", self.operand(expr.operand, _MINUS, tight))
                comparison = isinstance(expr.operand, s.Binary) and level(expr.operand) == _COMPARE
                return concat("not ", self.operand(expr.operand, _ATOM if comparison else _NOT, tight))
            case s.Binary():
                return self.binary(expr, tight)
            case s.If():
                return self.conditional(expr, tight)
            case s.Record():
                return self.braced(("{", "}"), expr.entries, expr.span.end, self.entry, LINE)
            case s.ListExpr():
                return self.braced(("[", "]"), expr.items, expr.span.end, self.entry, SOFT)
            case s.Comprehension():
                return self.comprehension(expr)

    def operand(self, expr: s.Expr, need: int, tight: bool) -> Doc:
        """An operand, in brackets when it binds less tightly than its place needs."""
        if level(expr) >= need:
            return self.expr(expr, tight)
        return group("(", Indent(concat(SOFT, self.expr(expr))), SOFT, ")")

    def call(self, expr: s.Call) -> Doc:
        """`f(a, b)` or `template f(a, b)`."""
        head = f"template {expr.function.text}" if expr.template else expr.function.text
        if not expr.arguments:
            return f"{head}()"
        arguments = [self.expr(argument) for argument in expr.arguments]
        if len(arguments) == 1 and isinstance(expr.arguments[0], s.Record | s.ListExpr | s.Comprehension):
            return concat(head, "(", arguments[0], ")")
        inner = joined((",", LINE), arguments)
        return group(head, "(", Indent(concat(SOFT, inner)), SOFT, ")")

    def binary(self, expr: s.Binary, tight: bool) -> Doc:
        """`a + b + c`: operands of one level break together, before their operators."""
        here = _LEVELS[expr.operator]
        chain: list[tuple[str, s.Expr]] = []
        left: s.Expr = expr
        while (
            isinstance(left, s.Binary) and _LEVELS[left.operator] == here and not (chain and here == _COMPARE)
        ):
            chain.append((left.operator, left.right))
            left = left.left
        need = here + 1 if here == _COMPARE else here
        docs: list[Doc] = []
        first = self.operand(left, need, tight)
        for operator, right in reversed(chain):
            docs.extend((" " if tight else LINE, operator, " ", self.operand(right, here + 1, tight)))
        return concat(first, *docs) if tight else group(first, Indent(concat(*docs)))

    def conditional(self, expr: s.If, tight: bool) -> Doc:
        """`if c then a else b`, where both branches break together; a chain has one case a line."""
        cases: list[s.If] = []
        rest: s.Expr = expr
        while isinstance(rest, s.If):
            cases.append(rest)
            rest = rest.alternative
        between: Doc = " " if tight else LINE
        docs: list[Doc] = []
        for case in cases:
            condition, value = self.expr(case.condition, tight), self.expr(case.consequent, tight)
            docs.append(concat("if ", condition, Indent(concat(between, "then ", value))))
        last = concat(between, "else ", self.expr(rest, tight))
        if tight or len(cases) == 1:
            others = [concat(" else ", each) for each in docs[1:]]
            return concat(docs[0], *others, last) if tight else group(docs[0], Indent(last))
        first, *others = (group(each) for each in docs)
        return group(first, Indent(concat(*(concat(LINE, "else ", each) for each in others), last)))

    def comprehension(self, expr: s.Comprehension) -> Doc:
        """`[item for name in source if condition]`."""
        docs: list[Doc] = [
            self.expr(expr.item),
            LINE,
            f"for {expr.variable.text} in ",
            self.expr(expr.source),
        ]
        if expr.condition is not None:
            docs.extend((LINE, "if ", self.expr(expr.condition)))
        return group("[", Indent(concat(SOFT, *docs)), SOFT, "]")

    def entry(self, entry: Entry) -> Doc:
        """One entry of a record or a list."""
        match entry:
            case s.Entry():
                key = self.key(entry.key)
                if entry.shorthand:
                    return key
                return concat(key, "?: " if entry.optional else ": ", self.expr(entry.value))
            case s.Spread():
                return concat("...", self.expr(entry.value))
            case s.FieldType():
                return self.field_type(entry)
            case s.ExitDecl():
                return concat(entry.name.text, ": ", self.type(entry.type))
            case _:
                return self.expr(entry)

    def key(self, name: s.Name) -> str:
        """A key, quoted when it is no word."""
        return name.text if _NAME.match(name.text) else f'"{encode(name.text)}"'

    # --- text ---------------------------------------------------------------------------------------------

    def text(self, text: s.Text) -> Doc:
        """A string; in triple quotes when it was, unless it stands inside another string."""
        if text.multiline and not self.in_text and (lines := self.lines(text)) is not None:
            return lines
        parts: list[str] = []
        for place, part in enumerate(text.parts):
            if isinstance(part, str):
                before_value = place + 1 < len(text.parts) and not isinstance(text.parts[place + 1], str)
                parts.append(encode(part, before_value))
            else:
                edge = " " if isinstance(part, s.Record) else ""  # `${{` is for other tools
                parts.append(f"${{{edge}{self.flat(part)}{edge}}}")
        return f'"{"".join(parts)}"'

    def flat(self, expr: s.Expr) -> str:
        """An expression on one line, as it stands inside a string."""
        self.in_text += 1
        doc = self.expr(expr, True)
        self.in_text -= 1
        return flatten(doc)

    def lines(self, text: s.Text) -> Doc | None:
        """A triple-quoted string; None when its value cannot be written so."""
        parts = text.parts
        if any(_unwritable(part, *parts[place + 1 : place + 2]) for place, part in enumerate(parts)):
            return None
        raw: list[str | None] = [encode_lines(part) if isinstance(part, str) else None for part in text.parts]
        values = [part if isinstance(part, str) else None for part in text.parts]
        for opening in ("\n", ""):
            if not raw and opening:
                continue
            edged = [opening, *raw, "\n"] if raw else []
            if edged and list(_merged(dedent(_merged(edged)))) == list(_merged(values)):
                return self.triple(text, opening == "\n")
        return '""""""' if not raw else None

    def triple(self, text: s.Text, block: bool) -> Doc:
        """A triple-quoted string: its text one step in, or (not `block`) from behind the quotes.

        Newlines inside `${…}` are free, so a long interpolation breaks like any expression.
        """
        inner: list[Doc] = [HARD] if block else []
        first: list[Doc] = []
        into = inner if block else first
        self.in_text += 1
        for part in text.parts:
            if not isinstance(part, str):
                edge = " " if isinstance(part, s.Record) else ""
                into.append(group(f"${{{edge}", self.expr(part), f"{edge}}}"))
                continue
            head, *lines = encode_lines(part).split("\n")
            into.append(head)
            for line in lines:
                into = inner
                into.extend((HARD, line))
        self.in_text -= 1
        return concat('"""', *first, Indent(concat(*inner)) if inner else "", HARD, '"""')

    # --- types --------------------------------------------------------------------------------------------

    def type(self, type: s.TypeExpr) -> Doc:
        """A type."""
        match type:
            case s.NamedType():
                limits = [self.bounds(type.bounds)] if type.bounds else []
                if type.pattern is not None:
                    limits.append(literal(type.pattern))
                return f"{type.name.text}({', '.join(limits)})" if limits else type.name.text
            case s.LiteralType():
                return literal(type.value)
            case s.ListType():
                bounds = f"; {self.bounds(type.bounds)}" if type.bounds else ""
                return concat("[", self.type(type.item), f"{bounds}]")
            case s.MapType():
                bounds = f"; {self.bounds(type.bounds)}" if type.bounds else ""
                return concat("{ [", self.type(type.key), "]: ", self.type(type.value), bounds, " }")
            case s.RecordType():
                return self.braced(("{", "}"), type.fields, type.span.end, self.entry, LINE)
            case s.UnionType():
                first, *others = [self.type(member) for member in type.members]
                return group(first, Indent(concat(*(concat(LINE, "| ", each) for each in others))))

    def bounds(self, bounds: s.Bounds) -> str:
        """`low..high`."""
        low = "" if bounds.low is None else number(bounds.low)
        high = "" if bounds.high is None else number(bounds.high)
        return f"{low}..{high}"

    def field_type(self, field: s.FieldType) -> Doc:
        """`a: T`, `b?: T`, `c: T = default`."""
        doc = concat(self.key(field.name), "?: " if field.optional else ": ", self.type(field.type))
        return doc if field.default is None else concat(doc, " = ", self.expr(field.default))


def flatten(doc: Doc) -> str:
    """A document on one line; it holds no newline."""
    assert not hard(doc), "what stands inside a string holds no comment and no other string of many lines"
    out: list[str] = []
    stack = [doc]
    while stack:
        match stack.pop():
            case str() as text:
                out.append(text)
            case Break(flat):
                out.append(flat)
            case Indent(inner) | Group(inner):
                stack.append(inner)
            case Concat(docs):
                stack.extend(reversed(docs))
            case _:
                pass
    return "".join(out)


def _unwritable(part: str | s.Expr, following: str | s.Expr = "") -> bool:
    """Whether a literal piece cannot stand in triple quotes, which know no escapes."""
    if not isinstance(part, str):
        return False
    return (
        '"""' in part
        or CONTROL.search(part) is not None
        or (part.endswith("$") and not isinstance(following, str))
    )


def _merged(parts: Sequence[str | None]) -> list[str | None]:
    """Pieces with neighbouring literals joined and empty ones left out."""
    out: list[str | None] = []
    for part in parts:
        if part == "":
            continue
        if part is not None and out and out[-1] is not None:
            out[-1] += part
        else:
            out.append(part)
    return out
