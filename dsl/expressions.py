"""Builders for names, expressions and types: one method per rule of the grammar, one argument per symbol.

A builder sees its children finished, from left to right, and never looks into the text; spans come from them.
What is wrong but readable becomes a diagnostic here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from windtunnel.dsl import syntax as s
from windtunnel.dsl.codes import report
from windtunnel.dsl.comments import Comments
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Place
from windtunnel.dsl.foreign import NAME_RULE, described, shortened
from windtunnel.dsl.strings import CONTROL, decode, dedent
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.syntax.spans import span_at
from windtunnel.dsl.tokens import MAX_NESTING, Token

MAX_WHOLE: Final = 2**53 - 1
UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
MAX_NAME: Final = 200
MAX_TEXT: Final = 1024 * 1024

Piece = Token | s.Expr


class Expressions:
    """Builds the small parts.

    `tight` and `dashed` hold what is right in some places only, until the item is known; `with_dash` are the
    names that were declared with a dash, and which finding says so.
    """

    def __init__(self, file: str, comments: Comments) -> None:
        self.file = file
        self.comments = comments
        self.diagnostics: list[Diagnostic] = []
        self.tight: list[s.Binary | s.Ref] = []
        self.dashed: list[s.Ref | s.Name] = []
        self.with_dash: dict[str, int] = {}

    def report(self, code: str, message: str, span: Span, **more: Any) -> None:
        """Add a finding about a span of this file."""
        self.diagnostics.append(report(code, message, Place(self.file, span), **more))

    def fix(self, title: str, span: Span, text: str, safe: bool = True) -> list[Fix]:
        """One fix with one edit."""
        how = Applicability.SAFE if safe else Applicability.MAYBE
        return [Fix(title, (Edit(Place(self.file, span), text),), how)]

    def settle(self) -> None:
        """At the end of an item: report what would have been right in another place only."""
        for each in self.tight:
            spaced = "a / b" if isinstance(each, s.Binary) else each.name.replace("/", " / ")
            fixes = [] if isinstance(each, s.Binary) else self.fix(f"write `{spaced}`", each.span, spaced)
            message = "a `/` between names needs spaces; without them it joins a node path"
            self.report("WT0004", message, each.span, help=f"write `{spaced}` to divide", fixes=fixes)
        for ref in self.dashed:
            if self.also_named(ref) or isinstance(ref, s.Name):
                continue
            spaced = ref.name.replace("-", " - ")
            message = f"`{ref.name}` is read as one name; a `-` between names needs spaces"
            self.report("WT0009", message, ref.span, fixes=self.fix(f"write `{spaced}`", ref.span, spaced))
        self.tight.clear()
        self.dashed.clear()
        self.with_dash.clear()

    def also_named(self, ref: s.Ref | s.Name) -> bool:
        """Whether this is a name that was declared with a dash; the fix there then mends this place too."""
        number = self.with_dash.get(ref.name if isinstance(ref, s.Ref) else ref.text)
        if number is None:
            return False
        told = self.diagnostics[number]
        (fix,) = told.fixes
        edits = (*fix.edits, Edit(Place(self.file, ref.span), fix.edits[0].text))
        title = f"call it `{fix.edits[0].text}` at all {len(edits)} places"
        self.diagnostics[number] = replace(told, fixes=(Fix(title, edits, fix.applicability),))
        return True

    # --- repetition -----------------------------------------------------------------------------------------

    def make_seq_none(self) -> list[Any]:
        return []

    def make_seq_first(self, first: Any) -> list[Any]:
        return [first]

    def make_seq_more(self, items: list[Any], item: Any) -> list[Any]:
        items.append(item)
        return items

    def make_seq_next(self, items: list[Any], _: Token, item: Any) -> list[Any]:
        items.append(item)
        return items

    def make_seq_same(self, items: list[Any], *_: Any) -> list[Any]:
        return items

    def make_seq_hole(self, _: Any) -> list[Any]:
        return []

    def make_line(self, _: Token | None = None) -> None:
        return None

    # --- names ----------------------------------------------------------------------------------------------

    def make_name(self, token: Token) -> s.Name:
        span = span_at(token[2:])
        if len(token.text) > MAX_NAME:
            self.report(
                "WT0011", f"this name has {len(token.text)} characters; at most {MAX_NAME} are allowed", span
            )
        if token.text.startswith("__"):
            self.report(
                "WT0009",
                f"`{shortened(token.text)}` begins with `__`, which is kept for the tool",
                span,
                help=NAME_RULE,
            )
        return s.Name(token.text, span)

    def make_field(self, token: Token) -> s.Name:
        return s.Name(token.text, span_at(token[2:]))

    make_word = make_field

    def make_text_key(self, text: s.Text) -> s.Name:
        if text.constant is None:
            self.report("WT0004", "a key is fixed text and cannot hold `${…}`", text.span)
        return s.Name(text.constant or "", text.span)

    def plain(self, name: s.Name, what: str) -> s.Name:
        """Check a name that stands in expressions, where a dash would be a minus."""
        if "-" in name.text and name.text[0].isidentifier() and name.text.isascii():
            better = "".join(
                part[:1].upper() + part[1:] if n else part for n, part in enumerate(name.text.split("-"))
            )
            message = f"{what} `{name.text}` has a dash, which would read as a minus in expressions"
            fixes = self.fix(f"call it `{better}`", name.span, better, safe=False)
            self.with_dash.setdefault(name.text, len(self.diagnostics))
            self.report(
                "WT0009", message, name.span, help="only workflows, exits and choices may", fixes=fixes
            )
        return name

    # --- expressions ----------------------------------------------------------------------------------------

    def make_value(self, expr: s.Expr) -> s.Expr:
        """A whole expression; the tree below it is bounded, so that later passes may recurse."""
        if expr.span.end - expr.span.start > MAX_NESTING:
            deep = too_deep(expr)
            if deep is not None:
                self.report("WT0013", f"this expression is nested more than {MAX_NESTING} deep", deep)
                return s.Literal(None, expr.span)
        return expr

    def make_ref(self, token: Token) -> s.Ref:
        ref = s.Ref(token.text, span_at(token[2:]))
        if "-" in token.text and token.text[0].isidentifier() and token.text.isascii():
            self.dashed.append(ref)
        return ref

    def make_number(self, token: Token) -> s.Literal:
        return s.Literal(self.number(token), span_at(token[2:]))

    def make_negative(self, minus: Token, token: Token) -> s.Literal:
        value = self.number(token)
        return s.Literal(-value, Span(minus.start, token.end))

    def number(self, token: Token) -> int | float:
        """The value of a number; out of range is reported and read as 0."""
        text = token.text.replace("_", "") if "_" in token.text else token.text
        if text.isdigit():
            value: int | float = int(text) if len(text) <= 16 else MAX_WHOLE + 1
            fits = value <= MAX_WHOLE
        else:
            value = float(text)
            fits = value != float("inf")
        if fits:
            return value
        limit = f"whole numbers end at {MAX_WHOLE:_}" if text.isdigit() else "numbers end at about 1.8e308"
        self.report("WT0018", "this number is too large", span_at(token[2:]), help=limit)
        return 0

    def make_duration(self, token: Token) -> s.Duration:
        text = token.text.replace("_", "")
        unit = text.lstrip("0123456789")
        digits = text[: -len(unit)]
        whole = int(digits) * UNITS[unit] if len(digits) <= 16 else MAX_WHOLE + 1
        span = span_at(token[2:])
        if whole > MAX_WHOLE:
            self.report("WT0018", "this duration is too long", span, help=f"durations end at {MAX_WHOLE:_}ms")
            whole = 0
        return s.Duration(whole, unit, span)  # type: ignore[arg-type]

    def make_true(self, token: Token) -> s.Literal:
        return s.Literal(True, span_at(token[2:]))

    def make_false(self, token: Token) -> s.Literal:
        return s.Literal(False, span_at(token[2:]))

    def make_null(self, token: Token) -> s.Literal:
        return s.Literal(None, span_at(token[2:]))

    def make_parens(self, left: Token, expr: s.Expr, right: Token) -> s.Expr:
        return replace(expr, span=Span(left.start, right.end))

    def make_if_expr(
        self,
        word: Token,
        condition: s.Expr,
        _then: Token,
        consequent: s.Expr,
        _else: Token,
        alternative: s.Expr,
    ) -> s.If:
        return s.If(condition, consequent, alternative, Span(word.start, alternative.span.end))

    def make_binary(self, left: s.Expr, sign: Token, right: s.Expr) -> s.Binary:
        return s.Binary(sign.text, left, right, span_at((left.span[0], right.span[1])))  # type: ignore[arg-type]

    def make_tight_slash(self, left: s.Expr, _: Token, right: s.Expr) -> s.Expr:
        span = Span(left.span.start, right.span.end)
        if isinstance(left, s.Ref) and isinstance(right, s.Ref):
            path = s.Ref(f"{left.name}/{right.name}", span)
            self.tight.append(path)
            return path
        divided = s.Binary("/", left, right, span)
        self.tight.append(divided)
        return divided

    def make_unary(self, sign: Token, operand: s.Expr) -> s.Unary:
        return s.Unary(sign.text, operand, Span(sign.start, operand.span.end))  # type: ignore[arg-type]

    def make_field_of(self, target: s.Expr, _: Token, name: s.Name) -> s.Field:
        return s.Field(target, name, False, span_at((target.span[0], name.span[1])))

    def make_field_maybe(self, target: s.Expr, _: Token, name: s.Name) -> s.Field:
        return s.Field(target, name, True, Span(target.span.start, name.span.end))

    def make_index(self, target: s.Expr, _: Token, index: s.Expr, right: Token) -> s.Index:
        return s.Index(target, index, Span(target.span.start, right.end))

    def make_call(self, function: Token, _: Token, arguments: list[s.Expr], right: Token) -> s.Call:
        name = s.Name(function.text, span_at(function[2:]))
        return s.Call(name, tuple(arguments), False, span_at((function.start, right.end)))

    def make_call_template(
        self, word: Token, name: s.Name, _: Token, arguments: list[s.Expr], right: Token
    ) -> s.Call:
        return s.Call(name, tuple(arguments), True, Span(word.start, right.end))

    def make_list_expr(self, left: Token, items: list[s.Expr | s.Spread], right: Token) -> s.ListExpr:
        return s.ListExpr(tuple(items), Span(left.start, right.end))

    def make_comprehension(
        self,
        left: Token,
        item: s.Expr,
        _for: Token,
        variable: s.Name,
        _in: Token,
        source: s.Expr,
        condition: s.Expr | None,
        right: Token,
    ) -> s.Comprehension:
        variable = self.plain(variable, "the variable")
        return s.Comprehension(item, variable, source, condition, Span(left.start, right.end))

    def make_condition(self, _: Token, expr: s.Expr) -> s.Expr:
        return expr

    def make_spread(self, dots: Token, expr: s.Expr) -> s.Spread:
        return s.Spread(expr, Span(dots.start, expr.span.end))

    def make_record(self, left: Token, entries: list[s.Entry | s.Spread], right: Token) -> s.Record:
        return s.Record(tuple(entries), Span(left.start, right.end))

    def make_entry_short(self, key: s.Name) -> s.Entry:
        return s.Entry(key, False, s.Ref(key.text, key.span), True, key.span)

    def make_entry(self, key: s.Name, _: Token, value: s.Expr) -> s.Entry:
        return s.Entry(key, False, value, False, Span(key.span.start, value.span.end))

    def make_entry_optional(self, key: s.Name, _q: Token, _c: Token, value: s.Expr) -> s.Entry:
        return s.Entry(key, True, value, False, Span(key.span.start, value.span.end))

    # --- text -----------------------------------------------------------------------------------------------

    def make_interpolation(self, _open: Token, expr: s.Expr, _close: Token) -> s.Expr:
        return expr

    def make_text(self, left: Token, pieces: list[Piece], right: Token) -> s.Text:
        span = span_at((left.start, right.end))
        if right.start - left.end > MAX_TEXT:
            self.report("WT0014", f"this string is longer than {MAX_TEXT:_} characters", span)
            return s.Text((), left.text != '"', span)
        one_line = left.text == '"'
        self.control_characters(pieces, one_line)
        if one_line:
            decoded = [self.decoded(piece) if isinstance(piece, Token) else piece for piece in pieces]
            return s.Text(tuple(decoded), False, span)
        values = dedent([piece.text if isinstance(piece, Token) else None for piece in pieces])
        parts = [
            value if isinstance(piece, Token) else piece for piece, value in zip(pieces, values, strict=True)
        ]
        return s.Text(tuple([part for part in parts if part is not None and part != ""]), True, span)

    def control_characters(self, pieces: Sequence[Piece], one_line: bool) -> None:
        """Report the control characters of a string together; in one line they can be written as escapes."""
        edits: list[Edit] = []
        letter = ""
        for piece in pieces:
            if not isinstance(piece, Token) or piece.text.isprintable():
                continue
            if len(piece.text) != piece.end - piece.start:  # read from other quotes: it does not stand so
                continue
            for found in CONTROL.finditer(piece.text):
                letter = letter or found[0]
                at = Span(piece.start + found.start(), piece.start + found.end())
                edits.append(Edit(Place(self.file, at), f"\\u{ord(found[0]):04x}" if one_line else ""))
        if not edits:
            return
        title = "write it as an escape" if one_line else "remove it"
        how = Applicability.SAFE if one_line else Applicability.MAYBE
        message = f"this string holds {described(letter)}"
        self.report("WT0017", message, edits[0].place.span, fixes=[Fix(title, tuple(edits), how)])

    def decoded(self, piece: Token) -> str:
        """A literal piece of a one-line string with its escapes resolved."""
        value, bad = decode(piece.text)
        for escape in bad:
            self.report(
                "WT0003",
                f"`{escape.text}` is no escape",
                Span(piece.start + escape.start, piece.start + escape.end),
                help='escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits',
            )
        return value

    # --- types ----------------------------------------------------------------------------------------------

    def make_whole_type(self, type: s.TypeExpr) -> s.TypeExpr:
        if type.span.end - type.span.start > MAX_NESTING and type_depth(type) > MAX_NESTING:
            self.report("WT0013", f"this type is nested more than {MAX_NESTING} deep", type.span)
            return s.NamedType(s.Name("json", type.span), None, None, type.span)
        return type

    def make_type(self, members: list[s.TypeExpr]) -> s.TypeExpr:
        if len(members) == 1:
            return members[0]
        flat: list[s.TypeExpr] = []
        for member in members:
            flat.extend(member.members if isinstance(member, s.UnionType) else (member,))
        return s.UnionType(tuple(flat), Span(members[0].span.start, members[-1].span.end))

    def make_parens_type(self, left: Token, type: s.TypeExpr, right: Token) -> s.TypeExpr:
        return replace(type, span=Span(left.start, right.end))

    def make_literal_text_type(self, text: s.Text) -> s.LiteralType:
        if text.constant is None:
            self.report("WT0004", "a case is fixed text and cannot hold `${…}`", text.span)
        return s.LiteralType(text.constant or "", text.span)

    def make_literal_number_type(self, token: Token) -> s.LiteralType:
        return s.LiteralType(self.number(token), span_at(token[2:]))

    def make_literal_negative_type(self, minus: Token, token: Token) -> s.LiteralType:
        return s.LiteralType(-self.number(token), Span(minus.start, token.end))

    def make_literal_true_type(self, token: Token) -> s.LiteralType:
        return s.LiteralType(True, span_at(token[2:]))

    def make_literal_false_type(self, token: Token) -> s.LiteralType:
        return s.LiteralType(False, span_at(token[2:]))

    def make_literal_null_type(self, token: Token) -> s.LiteralType:
        return s.LiteralType(None, span_at(token[2:]))

    def make_named_type(self, token: Token) -> s.NamedType:
        name = self.make_field(token)
        return s.NamedType(name, None, None, name.span)

    def make_bounded_type(self, token: Token, _: Token, bounds: s.Bounds, right: Token) -> s.NamedType:
        return s.NamedType(self.make_field(token), bounds, None, span_at((token.start, right.end)))

    def make_pattern_type(
        self, token: Token, _l: Token, bounds: s.Bounds, _c: Token, pattern: s.Text, right: Token
    ) -> s.NamedType:
        return s.NamedType(
            self.make_field(token), bounds, self.pattern(pattern), Span(token.start, right.end)
        )

    def make_only_pattern_type(self, token: Token, _: Token, pattern: s.Text, right: Token) -> s.NamedType:
        return s.NamedType(self.make_field(token), None, self.pattern(pattern), Span(token.start, right.end))

    def pattern(self, text: s.Text) -> str:
        """The fixed text of a pattern."""
        if text.constant is None:
            self.report("WT0004", "a pattern is fixed text and cannot hold `${…}`", text.span)
        return text.constant or ""

    def make_list_type(
        self, left: Token, item: s.TypeExpr, bounds: s.Bounds | None, right: Token
    ) -> s.ListType:
        return s.ListType(item, bounds, Span(left.start, right.end))

    def make_map_type(
        self,
        left: Token,
        _open: Token,
        key: s.TypeExpr,
        _close: Token,
        _colon: Token,
        value: s.TypeExpr,
        bounds: s.Bounds | None,
        right: Token,
    ) -> s.MapType:
        return s.MapType(key, value, bounds, Span(left.start, right.end))

    def make_record_type(self, left: Token, fields: list[s.FieldType], right: Token) -> s.RecordType:
        return s.RecordType(tuple(fields), Span(left.start, right.end))

    def make_type_bounds(self, _: Token, bounds: s.Bounds) -> s.Bounds:
        return bounds

    def make_bounds(self, low: s.Literal, _: Token, high: s.Literal) -> s.Bounds:
        return s.Bounds(low.value, high.value, Span(low.span.start, high.span.end))

    def make_bounds_low(self, low: s.Literal, dots: Token) -> s.Bounds:
        return s.Bounds(low.value, None, Span(low.span.start, dots.end))

    def make_bounds_high(self, dots: Token, high: s.Literal) -> s.Bounds:
        return s.Bounds(None, high.value, Span(dots.start, high.span.end))

    def make_field_type(self, key: s.Name, _: Token, type: s.TypeExpr, default: s.Expr | None) -> s.FieldType:
        end = type if default is None else default
        doc = self.comments.doc_above(key.span.start)
        return s.FieldType(key, type, False, default, doc, Span(key.span.start, end.span.end))

    def make_field_type_optional(
        self, key: s.Name, _q: Token, colon: Token, type: s.TypeExpr, default: s.Expr | None
    ) -> s.FieldType:
        if default is not None:
            self.report(
                "WT0004",
                f"`{key.text}` has both `?` and a default; a default already makes it optional for the giver",
                Span(key.span.start, default.span.end),
                fixes=self.fix("drop the `?`", Span(key.span.end, colon.start), ""),
            )
            return self.make_field_type(key, colon, type, default)
        doc = self.comments.doc_above(key.span.start)
        return s.FieldType(key, type, True, None, doc, Span(key.span.start, type.span.end))

    def make_default(self, _: Token, value: s.Expr) -> s.Expr:
        return value


def too_deep(expr: s.Expr) -> Span | None:
    """The span of an expression that lies deeper than allowed; iterative."""
    stack = [(expr, 1)]
    while stack:
        top, depth = stack.pop()
        if depth > MAX_NESTING:
            return top.span
        stack.extend((child, depth + 1) for child in s.children(top))
    return None


def type_depth(type: s.TypeExpr) -> int:
    """How deep a type is nested; iterative, and it stops counting past the limit."""
    deepest = 0
    stack = [(type, 1)]
    while stack:
        top, depth = stack.pop()
        deepest = max(deepest, depth)
        if depth > MAX_NESTING:
            break
        match top:
            case s.ListType():
                stack.append((top.item, depth + 1))
            case s.MapType():
                stack.extend(((top.key, depth + 1), (top.value, depth + 1)))
            case s.RecordType():
                stack.extend((each.type, depth + 1) for each in top.fields)
            case s.UnionType():
                stack.extend((each, depth + 1) for each in top.members)
            case _:
                pass
    return deepest
