"""Type expressions to shapes: the declared and imported types of one file, and every type written in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from windtunnel.compiler.assignability import mismatch
from windtunnel.compiler.constants import constant
from windtunnel.compiler.description import describe
from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.findings import Findings
from windtunnel.compiler.patterns import pattern_validator
from windtunnel.compiler.types import (
    BOOL,
    DURATION,
    MAX_DEPTH,
    MAX_WEIGHT,
    NULL,
    UNKNOWN,
    Definition,
    FieldShape,
    IntShape,
    JsonShape,
    ListShape,
    LiteralShape,
    MapShape,
    NumberShape,
    RecordShape,
    RefShape,
    Shape,
    TextShape,
    UnknownShape,
    depth_of,
    literal,
    members,
    named,
    weight_of,
)
from windtunnel.compiler.unions import includes, union
from windtunnel.dsl.syntax import (
    Bounds,
    FieldType,
    ListType,
    LiteralType,
    MapType,
    NamedType,
    RecordType,
    Span,
    TypeDecl,
    TypeExpr,
    UnionType,
)

BUILT_IN: Final = ("text", "int", "number", "bool", "null", "duration", "json")
"""The names of types that need no declaration."""

MAX_EXPRESSION_DEPTH: Final = 200
"""Deepest a written type may nest; the parser refuses more before."""


class TypeScope:
    """The types one file knows by name, its own and imported ones, and how to read a written type with
    them.

    Mistakes go to `findings`; what is broken becomes `UNKNOWN`. `used` collects the names that were asked
    for.
    """

    def __init__(self, module: str, imported: Mapping[str, Shape], findings: Findings) -> None:
        self.module = module
        self.names: dict[str, Shape] = dict(imported)
        self.used: set[str] = set()
        self.findings = findings

    def declare(self, declarations: tuple[TypeDecl, ...]) -> None:
        """Resolve the file's own declarations, which may name each other in any order and recurse through
        fields.
        """
        own: dict[str, TypeDecl] = {}
        for declaration in declarations:
            own.setdefault(declaration.name.text, declaration)
        graph, direct = Digraph(own), Digraph(own)
        for name, declaration in own.items():
            for used, is_direct in _names_in(declaration.type):
                if used in own:
                    graph.add(name, used)
                    if is_direct:
                        direct.add(name, used)
        endless = set().union(*direct.loops())
        for name in own:
            if name in endless:
                self._report_endless(own[name])
                self.names[name] = UNKNOWN
        order = {name: index for index, name in enumerate(own)}
        for group in graph.components():
            ordered = sorted(group - endless, key=lambda name: order[name])
            looping = len(group) > 1 or any(graph.leads(name, name) for name in ordered)
            self._declare_group([own[name] for name in ordered], looping)

    def _declare_group(self, group: list[TypeDecl], looping: bool) -> None:
        if not looping:
            for declaration in group:
                shape = self.shape(declaration.type)
                self.names[declaration.name.text] = named(shape, declaration.name.text)
            return
        definitions = {declaration.name.text: Definition() for declaration in group}
        for name, definition in definitions.items():
            self.names[name] = RefShape(self.module, name, definition)
        for declaration in group:
            shape = self.shape(declaration.type)
            definitions[declaration.name.text].tie(named(shape, declaration.name.text))
        for declaration in group:
            self._check_base_case(declaration, definitions)
            self._check_defaults(declaration, definitions)

    def _report_endless(self, declaration: TypeDecl) -> None:
        self.findings.add(
            "WT0413",
            f"type `{declaration.name.text}` stands only for itself",
            declaration.name.span,
            help="a type may contain itself only inside a field, a list or a map",
        )

    def _check_base_case(self, declaration: TypeDecl, definitions: Mapping[str, Definition]) -> None:
        inhabited: set[str] = set()
        grown = True
        while grown:
            grown = False
            for name, definition in definitions.items():
                if name not in inhabited and _inhabited(definition.shape, inhabited):
                    inhabited.add(name)
                    grown = True
        name = declaration.name.text
        if name not in inhabited:
            self.findings.add(
                "WT0413",
                f"no value of type `{name}` can ever end: each one needs another one inside",
                declaration.name.span,
                help="make a field on the way back optional, or put it in a list",
            )
            self.names[name] = UNKNOWN

    def _check_defaults(self, declaration: TypeDecl, definitions: Mapping[str, Definition]) -> None:
        for part in _types_in(declaration.type):
            if not isinstance(part, RecordType):
                continue
            for field in part.fields:
                if field.default is None or not any(n in definitions for n, _ in _names_in(field.type)):
                    continue
                value = constant(field.default)
                if value is not None and "{" in json.dumps(value[0]):
                    self.findings.add(
                        "WT0413",
                        f"the default of `{field.name.text}` is filled in without end",
                        field.default.span,
                        help="the default of a recursive type may not hold a record",
                    )

    # --- written types --------------------------------------------------------------------------------------

    def shape(self, expr: TypeExpr, nesting: int = 0) -> Shape:
        """The shape of a written type."""
        if nesting > MAX_EXPRESSION_DEPTH:
            return self._too_large(expr.span)
        match expr:
            case LiteralType(value=None):
                return NULL
            case LiteralType(value=value) if value is not None:
                return literal(value)
            case NamedType():
                return self._named(expr)
            case ListType():
                low, high = self._whole_bounds(expr.bounds)
                item = self.shape(expr.item, nesting + 1)
                return self._sized(ListShape(item, low or 0, high), expr.span)
            case MapType():
                return self._map(expr, nesting)
            case UnionType():
                return self._union(expr, nesting)
            case RecordType():
                return self.record(expr, nesting)
        raise AssertionError(f"{type(expr).__name__} is no type expression")

    def record(self, expr: RecordType, nesting: int = 0) -> Shape:
        """The shape of a written record."""
        fields: dict[str, FieldShape] = {}
        first: dict[str, Span] = {}
        for field in expr.fields:
            name = field.name.text
            if name in first:
                self.findings.add(
                    "WT0102",
                    f"field `{name}` is declared twice",
                    field.name.span,
                    secondary=[(first[name], "first declared here")],
                )
                continue
            first[name] = field.name.span
            shape = self.shape(field.type, nesting + 1)
            fields[name] = FieldShape(name, shape, field.optional, self._default(field, shape))
        return self._sized(RecordShape(tuple(fields.values())), expr.span)

    def _default(self, field: FieldType, shape: Shape) -> str | None:
        if field.default is None:
            return None
        if field.optional:
            self.findings.add(
                "WT0414",
                f"`{field.name.text}` has `?` and a default, which exclude each other",
                field.span,
                help="a default makes the field optional for the giver and present for the reader",
            )
            return None
        value = constant(field.default)
        if value is None:
            self.findings.add(
                "WT0414", f"the default of `{field.name.text}` is not a constant", field.default.span
            )
            return "null"
        self._check_default(field, value[1], shape)
        return json.dumps(value[0], ensure_ascii=False)

    def _check_default(self, field: FieldType, given: Shape, wanted: Shape) -> None:
        assert field.default is not None, "only a field with a default is asked"
        if any(isinstance(part, RefShape) for part in members_unexpanded(wanted)):
            return
        parted = mismatch(given, wanted)
        if parted is not None:
            self.findings.add(
                "WT0414",
                f"the default of `{field.name.text}` is {describe(given)}, which is not {describe(wanted)}"
                + (f"; they part at `{parted.path}`" if parted.path else ""),
                field.default.span,
                secondary=[(field.type.span, "the type of the field")],
            )

    def _map(self, expr: MapType, nesting: int) -> Shape:
        key = self.shape(expr.key, nesting + 1)
        if not all(
            isinstance(m, TextShape | UnknownShape) or (isinstance(m, LiteralShape) and m.kind == "text")
            for m in members_unexpanded(key)
        ):
            self.findings.add("WT0415", f"the keys of a map are text, not {describe(key)}", expr.key.span)
            key = TextShape()
        low, high = self._whole_bounds(expr.bounds)
        value = self.shape(expr.value, nesting + 1)
        return self._sized(MapShape(key, value, low or 0, high), expr.span)

    def _union(self, expr: UnionType, nesting: int) -> Shape:
        shapes: list[Shape] = []
        literals: dict[Shape, int] = {}
        wide: list[tuple[int, Shape]] = []
        for index, member in enumerate(expr.members):
            shape = self.shape(member, nesting + 1)
            # A literal covers nothing but itself, so thousands of them need not be compared with each other.
            covering = literals.get(shape)
            if covering is None:
                covering = next((i for i, s in wide if includes(s, shape)), None)
            if isinstance(shape, LiteralShape):
                literals.setdefault(shape, index)
            elif not isinstance(shape, UnknownShape):
                wide.append((index, shape))
            if covering is not None and not isinstance(shape, UnknownShape):
                self.findings.add(
                    "WT0416",
                    f"{describe(shape)} is already part of this union",
                    member.span,
                    secondary=[(expr.members[covering].span, "covered by this member")],
                )
            shapes.append(shape)
        return self._sized(union(shapes), expr.span)

    def _named(self, expr: NamedType) -> Shape:
        name = expr.name.text
        if name not in BUILT_IN:
            return self._declared(expr)
        if name not in ("text",) and expr.pattern is not None:
            self.findings.add("WT0415", f"`{name}` takes no pattern", expr.span)
        match name:
            case "text":
                low, high = self._whole_bounds(expr.bounds)
                return TextShape(low or 0, high, self._pattern(expr))
            case "int":
                return IntShape(*self._int_bounds(expr.bounds))
            case "number":
                bounds = expr.bounds
                self._ordered(bounds)
                return NumberShape(None, None) if bounds is None else NumberShape(bounds.low, bounds.high)
            case "json":
                low, high = self._whole_bounds(expr.bounds)
                if low is not None:
                    self.findings.add("WT0415", "`json` takes only an upper bound", expr.span)
                return JsonShape(high)
        if expr.bounds is not None:
            self.findings.add("WT0415", f"`{name}` takes no bounds", expr.bounds.span)
        plain: dict[str, Shape] = {"bool": BOOL, "null": NULL, "duration": DURATION}
        return plain[name]

    def _declared(self, expr: NamedType) -> Shape:
        name = expr.name.text
        self.used.add(name)
        shape = self.names.get(name)
        if shape is None and name in self.findings.maybe:
            return UNKNOWN
        if shape is None:
            self.findings.add(
                "WT0105",
                f"there is no type `{name}`",
                expr.name.span,
                **self.findings.did_you_mean(expr.name, (*self.names, *BUILT_IN)),
            )
            return UNKNOWN
        if expr.bounds is not None or expr.pattern is not None:
            self.findings.add("WT0415", f"`{name}` is a declared type and takes no bounds", expr.span)
        return shape

    def _pattern(self, expr: NamedType) -> str | None:
        if expr.pattern is None:
            return None
        validator = pattern_validator(expr.pattern)
        if isinstance(validator, str):
            self.findings.add("WT0415", f"the pattern cannot be used: {validator}", expr.span)
            return None
        return expr.pattern

    def _whole_bounds(self, bounds: Bounds | None) -> tuple[int | None, int | None]:
        low, high = self._int_bounds(bounds)
        if bounds is not None and ((low is not None and low < 0) or (high is not None and high < 0)):
            self.findings.add("WT0415", "a length is never negative", bounds.span)
            return None, None
        return low, high

    def _int_bounds(self, bounds: Bounds | None) -> tuple[int | None, int | None]:
        if bounds is None or not self._ordered(bounds):
            return None, None
        if isinstance(bounds.low, float) or isinstance(bounds.high, float):
            self.findings.add("WT0415", "these bounds are whole numbers", bounds.span)
            return None, None
        return bounds.low, bounds.high

    def _ordered(self, bounds: Bounds | None) -> bool:
        if bounds is None or bounds.low is None or bounds.high is None or bounds.low <= bounds.high:
            return True
        self.findings.add("WT0415", f"nothing lies between {bounds.low} and {bounds.high}", bounds.span)
        return False

    def _sized(self, shape: Shape, span: Span) -> Shape:
        if weight_of(shape) > MAX_WEIGHT or depth_of(shape) > MAX_DEPTH:
            return self._too_large(span)
        return shape

    def _too_large(self, span: Span) -> Shape:
        self.findings.add(
            "WT0417",
            f"written out, this type has more than {MAX_WEIGHT} parts or {MAX_DEPTH} levels",
            span,
        )
        return UNKNOWN


def members_unexpanded(shape: Shape) -> tuple[Shape, ...]:
    """The members of a union without looking behind recursive names, which may not be tied yet."""
    if isinstance(shape, RefShape):
        return (shape,)
    return members(shape) if not _holds_ref(shape) else getattr(shape, "members", (shape,))


def _holds_ref(shape: Shape) -> bool:
    return any(isinstance(member, RefShape) for member in getattr(shape, "members", ()))


def _parts(expr: TypeExpr) -> Iterator[tuple[TypeExpr, bool]]:
    """The direct parts of a type expression, each with whether it stands for the whole value."""
    match expr:
        case ListType():
            yield expr.item, False
        case MapType():
            yield expr.key, False
            yield expr.value, False
        case RecordType():
            yield from ((field.type, False) for field in expr.fields)
        case UnionType():
            yield from ((member, True) for member in expr.members)


def _types_in(expr: TypeExpr) -> Iterator[TypeExpr]:
    stack = [expr]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(inner for inner, _ in _parts(part))


def _names_in(expr: TypeExpr) -> Iterator[tuple[str, bool]]:
    """Every name a type expression uses, and whether it stands for the whole value."""
    stack = [(expr, True)]
    while stack:
        part, direct = stack.pop()
        if isinstance(part, NamedType):
            yield part.name.text, direct
        stack.extend((inner, direct and whole) for inner, whole in _parts(part))


def _inhabited(shape: Shape, known: set[str]) -> bool:
    match shape:
        case RefShape():
            return shape.name in known
        case ListShape():
            return shape.low == 0 or _inhabited(shape.item, known)
        case MapShape():
            return shape.low == 0 or _inhabited(shape.value, known)
        case RecordShape():
            return all(f.optional or _inhabited(f.shape, known) for f in shape.fields)
    parts = members_unexpanded(shape)
    return parts == (shape,) or any(_inhabited(part, known) for part in parts)
