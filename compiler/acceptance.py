"""A type at work: it accepts a JSON value, with defaults filled, or says what is wrong and where.

Each type becomes a pydantic validator once. What is accepted is normalised (`canonical.normalise`); a field
that may be left out and is null is dropped, so that one meaning has one digest. Problems carry a JSON pointer
(RFC 6901).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic import JsonValue
from pydantic_core import (
    CoreSchema,
    ErrorDetails,
    PydanticCustomError,
    SchemaError,
    SchemaValidator,
    ValidationError,
    core_schema,
)

from windtunnel.compiler.canonical import MAX_WHOLE, CanonicalError, canonical, normal_number, normalise
from windtunnel.compiler.snapshot import (
    FieldModel,
    IntType,
    JsonType,
    ListTypeModel,
    LiteralValueType,
    MapTypeModel,
    NumberType,
    RecordTypeModel,
    RefType,
    SimpleType,
    TextType,
    TypeModel,
    UnionTypeModel,
)
from windtunnel.compiler.typetext import (
    json_schema,
    pointer_step,
    takes_null,
    type_text,
    words,
)

MAX_PROBLEMS: Final = 20
"""Problems told of one value; the rest are only counted."""

Types: TypeAlias = Mapping[str, TypeModel]


class Problem(NamedTuple):
    """What is wrong at one place of a value; `pointer` is a JSON pointer, empty for the whole."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or '(the whole value)'}: {self.message}"


class Accepted(NamedTuple):
    """The value as it is kept: defaults filled, numbers in their one form."""

    value: JsonValue


class Refused(NamedTuple):
    """Why the value does not fit, in the order of the value; never empty."""

    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        return "; ".join(str(problem) for problem in self.problems)


Verdict: TypeAlias = Accepted | Refused


class Acceptor:
    """One type, ready to accept values. `types` holds the recursive types it refers to.

    Raises TypeModelError when the type itself is unusable (a pattern outside the linear-time engine, a
    missing reference); checked snapshots hold no such type.
    """

    def __init__(self, type_: TypeModel, types: Types | None = None) -> None:
        self.type = type_
        self.types: Types = types or {}
        try:
            self._validator = SchemaValidator(_with_definitions(type_, self.types))
        except SchemaError as error:
            raise TypeModelError(str(error).strip().splitlines()[-1]) from None

    def accept(self, value: JsonValue) -> Verdict:
        """The accepted value, or every problem. Never raises."""
        try:
            normal = normalise(value)
        except CanonicalError as error:
            return Refused((Problem("", str(error)),))
        try:
            return Accepted(self._validator.validate_python(normal))
        except ValidationError as error:
            return Refused(_problems(error, normal, self.type, self.types))

    def json_schema(self) -> dict[str, JsonValue]:
        """The JSON Schema of the values a giver may write."""
        schema: dict[str, JsonValue] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        schema.update(json_schema(self.type))
        if self.types:
            schema["$defs"] = {name: json_schema(self.types[name]) for name in sorted(self.types)}
        return schema


class TypeModelError(ValueError):
    """A type that no value can be checked against."""


def acceptor(type_: TypeModel, types: Types | None = None) -> Acceptor:
    """The acceptor of a type; equal types share one. Raises TypeModelError."""
    key = (type_text(type_), tuple(sorted((name, type_text(t)) for name, t in (types or {}).items())))
    found = _acceptors.get(key)
    if found is None:
        if len(_acceptors) >= _CACHE_SIZE:
            _acceptors.clear()
        found = _acceptors[key] = Acceptor(type_, types)
    return found


def accept(type_: TypeModel, value: JsonValue, types: Types | None = None) -> Verdict:
    """Accept one value by a type. Raises TypeModelError."""
    return acceptor(type_, types).accept(value)


_CACHE_SIZE: Final = 4_096
_acceptors: dict[tuple[str, tuple[tuple[str, str], ...]], Acceptor] = {}


# --- the validator ------------------------------------------------------------------------------------------


def _with_definitions(type_: TypeModel, types: Types) -> CoreSchema:
    if not types:
        return _schema(type_)
    definitions: list[CoreSchema] = []
    for name in sorted(types):
        definition = _schema(types[name])
        definitions.append({**definition, "ref": name})
    return core_schema.definitions_schema(_schema(type_), definitions)


def _schema(type_: TypeModel) -> CoreSchema:
    match type_:
        case TextType():
            pattern = None if type_.pattern is None else rf"\A(?:{type_.pattern})\z"
            return core_schema.str_schema(
                strict=True,
                min_length=type_.min,
                max_length=type_.max,
                pattern=pattern,
                regex_engine="rust-regex",
            )
        case IntType():
            low = -MAX_WHOLE if type_.min is None else type_.min
            high = MAX_WHOLE if type_.max is None else type_.max
            return core_schema.int_schema(strict=True, ge=low, le=high)
        case NumberType():
            number = core_schema.float_schema(strict=True, ge=type_.min, le=type_.max, allow_inf_nan=False)
            return core_schema.no_info_after_validator_function(normal_number, number)
        case SimpleType(kind="bool"):
            return core_schema.bool_schema(strict=True)
        case SimpleType(kind="null"):
            return core_schema.none_schema()
        case SimpleType():
            return core_schema.int_schema(strict=True, ge=0, le=MAX_WHOLE)
        case JsonType():
            if type_.max is None:
                return core_schema.any_schema()
            return core_schema.no_info_plain_validator_function(_json_within(type_.max))
        case LiteralValueType():
            return _literal_schema(type_.value)
        case ListTypeModel():
            return core_schema.list_schema(
                _schema(type_.item), strict=True, min_length=type_.min, max_length=type_.max
            )
        case MapTypeModel():
            return core_schema.dict_schema(
                _schema(type_.key),
                _schema(type_.value),
                strict=True,
                min_length=type_.min,
                max_length=type_.max,
            )
        case RecordTypeModel():
            return _record_schema(type_)
        case UnionTypeModel():
            return _union_schema(type_)
        case RefType():
            return core_schema.definition_reference_schema(type_.name)


def _literal_schema(literal: str | int | float | bool) -> CoreSchema:
    if isinstance(literal, str):
        return core_schema.literal_schema([literal])

    def check(value: Any) -> Any:
        # To Python `True == 1`; to JSON they differ.
        if isinstance(value, bool) is isinstance(literal, bool) and value == literal:
            return value
        raise PydanticCustomError("literal_error", "another literal")

    return core_schema.no_info_plain_validator_function(check)


def _json_within(limit: int) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        size = len(canonical(value))
        if size > limit:
            raise ValueError(f"has {size} characters as JSON; at most {limit} are allowed")
        return value

    return check


def _record_schema(type_: RecordTypeModel) -> CoreSchema:
    fields: dict[str, core_schema.TypedDictField] = {}
    for name, field in sorted(type_.fields.items()):
        schema = _schema(field.type)
        if field.has_default:
            schema = core_schema.with_default_schema(schema, default=field.default, validate_default=True)
        fields[name] = core_schema.typed_dict_field(
            schema, required=not (field.optional or field.has_default)
        )
    record = core_schema.typed_dict_schema(fields, strict=True, extra_behavior="forbid")
    droppable = frozenset(
        name for name, field in sorted(type_.fields.items()) if field.optional or _null_takes_default(field)
    )
    if not droppable:
        return record

    def drop_nulls(value: Any) -> Any:
        if not isinstance(value, dict) or not any(value.get(name, 0) is None for name in droppable):
            return value
        return {key: item for key, item in value.items() if item is not None or key not in droppable}

    return core_schema.no_info_before_validator_function(drop_nulls, record)


def _null_takes_default(field: FieldModel) -> bool:
    """Absent and null read alike, so a null takes the default, unless the type says that null is a value."""
    return field.has_default and not takes_null(field.type)


def _union_schema(type_: UnionTypeModel) -> CoreSchema:
    tags = _tags(type_)
    if tags is not None:
        name, by_tag = tags
        return core_schema.tagged_union_schema(
            {value: _schema(member) for value, member in by_tag.items()}, discriminator=name
        )
    choices: list[tuple[CoreSchema, str]] = [
        (_schema(member), str(index)) for index, member in enumerate(type_.members)
    ]
    return core_schema.union_schema(list(choices), mode="left_to_right")


def _tags(union: UnionTypeModel) -> tuple[str, dict[str, TypeModel]] | None:
    """The field whose text literals tell the members apart, and the member of each literal."""
    records = [member for member in union.members if isinstance(member, RecordTypeModel)]
    if len(records) != len(union.members) or len(records) < 2:
        return None
    for name in sorted(records[0].fields):
        by_tag: dict[str, TypeModel] = {}
        for record in records:
            literals = _required_literals(record.fields.get(name))
            if not literals or any(literal in by_tag for literal in literals):
                break
            by_tag.update(dict.fromkeys(literals, record))
        else:
            return name, by_tag
    return None


def _required_literals(field: FieldModel | None) -> list[str]:
    if field is None or field.optional or field.has_default:
        return []
    members = field.type.members if isinstance(field.type, UnionTypeModel) else (field.type,)
    literals = [m.value for m in members if isinstance(m, LiteralValueType) and isinstance(m.value, str)]
    return literals if len(literals) == len(members) else []


# --- the problems -------------------------------------------------------------------------------------------


def _problems(
    error: ValidationError, value: JsonValue, type_: TypeModel, types: Types
) -> tuple[Problem, ...]:
    found: dict[str, Problem] = {}
    for detail in error.errors(include_url=False):
        problem = _Walk(value, type_, types).problem(detail)
        # Members of a union each report at its place: one problem is enough there.
        if problem is not None:
            found.setdefault(problem.pointer, problem)
    problems = tuple(found.values())
    if len(problems) > MAX_PROBLEMS:
        rest = len(problems) - MAX_PROBLEMS
        return (*problems[:MAX_PROBLEMS], Problem("", f"and {rest} more problems"))
    return problems


class _Walk:
    """From the whole value to the place of one problem, along the type.

    The location that pydantic gives also names members of unions, which are not part of a pointer.
    """

    def __init__(self, value: JsonValue, type_: TypeModel, types: Types) -> None:
        self.value: Any = value
        self.type = type_
        self.types = types
        self.pointer = ""

    def problem(self, detail: ErrorDetails) -> Problem | None:
        """The problem in our words; None for one that another problem at the same place covers."""
        kind, steps = detail["type"], list(detail["loc"])
        while True:
            while isinstance(self.type, RefType):
                self.type = self.types[self.type.name]
            if isinstance(self.type, UnionTypeModel):
                member = self._member(self.type, kind, steps)
                if not isinstance(member, _TYPES):
                    return member
                self.type = member
            elif not steps:
                message = _message(kind, self.value, detail.get("ctx", {}), self.type)
                return Problem(self.pointer, message)
            else:
                refused = self._descend(kind, steps)
                if refused is not None:
                    return refused

    def _member(self, union: UnionTypeModel, kind: str, steps: list[int | str]) -> TypeModel | Problem | None:
        tags = _tags(union)
        if tags is None:
            fitting = [m for m in union.members if _fits_kind(m, self.value, self.types)]
            if len(fitting) != 1:
                return Problem(self.pointer, f"expected {words(union)}, got {_shown(self.value)}")
            member = union.members[int(steps.pop(0))] if steps else None
            return member if member is fitting[0] else None
        name, by_tag = tags
        if steps:
            return by_tag[str(steps.pop(0))]
        place = f"{self.pointer}/{pointer_step(name)}"
        if kind == "union_tag_invalid":
            return Problem(place, f"expected {_one_of(sorted(by_tag))}, got {_shown(self.value[name])}")
        if kind == "union_tag_not_found":
            return Problem(place, f"missing; expected {_one_of(sorted(by_tag))}")
        return Problem(self.pointer, f"expected a record, got {_kind(self.value)}")

    def _descend(self, kind: str, steps: list[int | str]) -> Problem | None:
        step = steps.pop(0)
        self.pointer = f"{self.pointer}/{pointer_step(step)}"
        if isinstance(self.type, ListTypeModel):
            self.type, self.value = self.type.item, self.value[step]
        elif isinstance(self.type, MapTypeModel):
            if steps[:1] == ["[key]"]:
                steps.pop(0)
                self.type, self.value = self.type.key, step
            else:
                self.type, self.value = self.type.value, self.value[step]
        else:
            assert isinstance(self.type, RecordTypeModel), "only lists, maps and records have parts"
            field = self.type.fields.get(str(step))
            if field is None:
                known = ", ".join(sorted(self.type.fields)) or "none"
                return Problem(self.pointer, f"no such field; known are {known}")
            if kind == "missing" and not steps:
                return Problem(self.pointer, f"missing; expected {words(field.type)}")
            self.type, self.value = field.type, self.value[step]
        return None


_TYPES: Final = (
    TextType,
    IntType,
    NumberType,
    SimpleType,
    JsonType,
    LiteralValueType,
    UnionTypeModel,
    ListTypeModel,
    MapTypeModel,
    RecordTypeModel,
    RefType,
)


def _fits_kind(type_: TypeModel, value: JsonValue, types: Types) -> bool:
    """Whether the value is at least of the kind of JSON that the type asks for."""
    match type_:
        case TextType():
            return isinstance(value, str)
        case IntType() | NumberType() | SimpleType(kind="duration"):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case SimpleType(kind="bool"):
            return isinstance(value, bool)
        case SimpleType():
            return value is None
        case JsonType():
            return True
        case LiteralValueType():
            return type(type_.value) is type(value)
        case ListTypeModel():
            return isinstance(value, list)
        case MapTypeModel() | RecordTypeModel():
            return isinstance(value, dict)
        case UnionTypeModel():
            return any(_fits_kind(member, value, types) for member in type_.members)
        case RefType():
            return _fits_kind(types[type_.name], value, types)


def _message(kind: str, value: Any, context: Mapping[str, Any], type_: TypeModel) -> str:
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        assert isinstance(type_, TextType), "only text has a pattern"
        return f"must match {canonical(type_.pattern)}"
    if kind in ("string_too_short", "string_too_long"):
        return f"has {_count(len(value), 'character')}; expected {words(type_)}"
    if kind in ("too_short", "too_long"):
        unit = "item" if isinstance(type_, ListTypeModel) else "entry"
        return f"has {_count(len(value), unit)}; expected {words(type_)}"
    if kind in ("greater_than_equal", "less_than_equal", "literal_error"):
        return f"expected {words(type_)}, got {_shown(value)}"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    wants_number = isinstance(type_, (IntType, NumberType))
    return f"expected {words(type_)}, got {_shown(value) if is_number and wants_number else _kind(value)}"


def _count(number: int, unit: str) -> str:
    if number == 1:
        return f"1 {unit}"
    return f"{number} {unit.removesuffix('y') + 'ies' if unit.endswith('y') else unit + 's'}"


def _shown(value: Any) -> str:
    text = canonical(value)
    return text if len(text) <= 60 else f"{_kind(value)} of {len(text)} characters"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a bool"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a record"


def _one_of(literals: Sequence[str]) -> str:
    return " or ".join(canonical(literal) for literal in literals)
