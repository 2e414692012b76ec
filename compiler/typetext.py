"""A type written down: in the words of the language, as the JSON of a snapshot, as JSON Schema."""

from __future__ import annotations

import re
from typing import Final

from pydantic import JsonValue, TypeAdapter

from windtunnel.compiler.canonical import MAX_STORED_DEPTH, canonical, normal_number
from windtunnel.compiler.printing import duration_text
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

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPE: Final[TypeAdapter[TypeModel]] = TypeAdapter(TypeModel)


def type_from_json(value: JsonValue) -> TypeModel:
    """The type of its JSON form. Raises pydantic's ValidationError."""
    return _TYPE.validate_python(value)


def type_to_json(type_: TypeModel) -> JsonValue:
    """The JSON form of a type, as it stands in a snapshot."""
    value: JsonValue = type_.model_dump(mode="json", by_alias=True, exclude_defaults=False, exclude_none=True)
    return value


def type_text(type_: TypeModel) -> str:
    """The canonical JSON text of a type: equal types have equal text."""
    return canonical(type_to_json(type_), MAX_STORED_DEPTH)


def words(type_: TypeModel) -> str:
    """The type in the words of the language, e.g. `text(1..64)`, `"a" | "b"`, `[int; 2..4]`."""
    match type_:
        case TextType(pattern=pattern):
            bounds = _range(type_.min or None, type_.max)
            if pattern is not None:
                return f"text({bounds or '0..'}, {canonical(pattern)})"
            return f"text({bounds})" if bounds else "text"
        case IntType() | NumberType():
            bounds = _range(type_.min, type_.max)
            return f"{type_.kind}({bounds})" if bounds else type_.kind
        case SimpleType():
            return type_.kind
        case JsonType():
            return "json" if type_.max is None else f"json(..{type_.max})"
        case LiteralValueType():
            return canonical(type_.value)
        case RefType():
            return type_.name
        case UnionTypeModel():
            return " | ".join(words(member) for member in type_.members)
        case ListTypeModel():
            bounds = _range(type_.min or None, type_.max)
            return f"[{words(type_.item)}{'; ' + bounds if bounds else ''}]"
        case MapTypeModel():
            bounds = _range(type_.min or None, type_.max)
            inside = f"[{words(type_.key)}]: {words(type_.value)}"
            return f"{{ {inside}{'; ' + bounds if bounds else ''} }}"
        case RecordTypeModel():
            if not type_.fields:
                return "{}"
            return "{ " + ", ".join(_field_words(name, f) for name, f in sorted(type_.fields.items())) + " }"


def _field_words(name: str, field: FieldModel) -> str:
    mark = "?" if field.optional else ""
    default = f" = {_default_words(field.type, field.default)}" if field.has_default else ""
    key = name if _WORD.fullmatch(name) else canonical(name)
    return f"{key}{mark}: {words(field.type)}{default}"


def _default_words(type_: TypeModel, value: JsonValue) -> str:
    """A default as its author writes it: of a duration JSON holds the milliseconds, the language a unit."""
    match type_, value:
        case SimpleType(kind="duration"), int():
            return duration_text(value)
        case ListTypeModel(item=item), list():
            return f"[{', '.join(_default_words(item, each) for each in value)}]"
        case RecordTypeModel(fields=fields), dict() if set(value) <= set(fields):
            parts = (
                f"{canonical(key)}: {_default_words(fields[key].type, value[key])}" for key in sorted(value)
            )
            return f"{{{', '.join(parts)}}}"
        case _:
            return canonical(value).replace("${", "$${")


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    return f"{'' if low is None else canonical(low)}..{'' if high is None else canonical(high)}"


def takes_null(type_: TypeModel) -> bool:
    """Whether null is one of the values of the type."""
    match type_:
        case SimpleType(kind="null") | JsonType():
            return True
        case UnionTypeModel():
            return any(takes_null(member) for member in type_.members)
        case _:
            return False


def json_schema(type_: TypeModel) -> dict[str, JsonValue]:
    """The JSON Schema of what a giver may write; recursive types refer to `#/$defs/NAME`."""
    match type_:
        case TextType():
            pattern = None if type_.pattern is None else f"^(?:{type_.pattern})$"
            return _present(type="string", minLength=type_.min, maxLength=type_.max, pattern=pattern)
        case IntType():
            return _present(type="integer", minimum=type_.min, maximum=type_.max)
        case NumberType():
            return _present(type="number", minimum=_plain(type_.min), maximum=_plain(type_.max))
        case SimpleType(kind="bool"):
            return {"type": "boolean"}
        case SimpleType(kind="null"):
            return {"type": "null"}
        case SimpleType():
            return {"type": "integer", "minimum": 0, "description": "whole milliseconds"}
        case JsonType():
            limit = None if type_.max is None else f"any JSON of at most {type_.max} characters"
            return _present(description=limit)
        case LiteralValueType():
            return {"const": type_.value}
        case UnionTypeModel():
            if all(isinstance(member, LiteralValueType) for member in type_.members):
                return {"enum": [m.value for m in type_.members if isinstance(m, LiteralValueType)]}
            return {"anyOf": [json_schema(member) for member in type_.members]}
        case ListTypeModel():
            items = json_schema(type_.item)
            return _present(type="array", items=items, minItems=type_.min, maxItems=type_.max)
        case MapTypeModel():
            return _present(
                type="object",
                propertyNames=json_schema(type_.key),
                additionalProperties=json_schema(type_.value),
                minProperties=type_.min,
                maxProperties=type_.max,
            )
        case RecordTypeModel():
            return _record_schema(type_)
        case RefType():
            return {"$ref": f"#/$defs/{pointer_step(type_.name)}"}


def _record_schema(type_: RecordTypeModel) -> dict[str, JsonValue]:
    properties: dict[str, JsonValue] = {}
    required: list[JsonValue] = []
    for name, field in sorted(type_.fields.items()):
        schema = json_schema(field.type)
        if (field.optional or field.has_default) and not takes_null(field.type):
            schema = {"anyOf": [schema, {"type": "null"}]}
        if field.has_default:
            schema["default"] = field.default
        if not field.optional and not field.has_default:
            required.append(name)
        properties[name] = schema
    return _present(
        type="object", properties=properties, required=required or None, additionalProperties=False
    )


def _present(**entries: JsonValue) -> dict[str, JsonValue]:
    return {key: value for key, value in entries.items() if value is not None}


def _plain(number: float | None) -> JsonValue:
    return None if number is None else normal_number(number)


def pointer_step(step: int | str) -> str:
    """One step of a JSON pointer, escaped."""
    return str(step).replace("~", "~0").replace("/", "~1")
