"""Shapes to the types of a snapshot: unions in order, recursive types by name."""

from __future__ import annotations

import json

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
from windtunnel.compiler.types import (
    BoolShape,
    Definition,
    DurationShape,
    FieldShape,
    IntShape,
    JsonShape,
    ListShape,
    LiteralShape,
    MapShape,
    NeverShape,
    NullShape,
    NumberShape,
    RecordShape,
    RefShape,
    Shape,
    TextShape,
    UnionShape,
    UnknownShape,
)
from windtunnel.compiler.typetext import type_text


class TypeLowering:
    """Turns shapes into types and collects the recursive ones under `types`.

    Two recursive types of one name from different files get `Name` and `Name~2`, in the order they are met.
    """

    def __init__(self) -> None:
        self.types: dict[str, TypeModel] = {}
        self._names: dict[Definition, str] = {}
        self._memo: dict[int, tuple[Shape, TypeModel]] = {}

    def type(self, shape: Shape) -> TypeModel:
        """The type of a shape of a checked program."""
        known = self._memo.get(id(shape))
        if known is not None:
            return known[1]
        made = self._type(shape)
        # The shape is kept beside its type so that its identity stays its own.
        self._memo[id(shape)] = (shape, made)
        return made

    def record(self, shape: RecordShape) -> RecordTypeModel:
        """The type of a record."""
        made = self.type(shape)
        assert isinstance(made, RecordTypeModel), "a record stays a record"
        return made

    def _type(self, shape: Shape) -> TypeModel:
        match shape:
            case TextShape():
                return TextType(min=shape.low or None, max=shape.high, pattern=shape.pattern)
            case IntShape():
                return IntType(min=shape.low, max=shape.high)
            case NumberShape():
                return NumberType(min=shape.low, max=shape.high)
            case BoolShape():
                return SimpleType(kind="bool")
            case NullShape():
                return SimpleType(kind="null")
            case DurationShape():
                return SimpleType(kind="duration")
            case JsonShape():
                return JsonType(max=shape.high)
            case LiteralShape():
                return LiteralValueType(value=shape.value)
            case ListShape():
                return ListTypeModel(item=self.type(shape.item), min=shape.low or None, max=shape.high)
            case MapShape():
                key, value = self.type(shape.key), self.type(shape.value)
                return MapTypeModel(key=key, value=value, min=shape.low or None, max=shape.high)
            case RecordShape():
                fields = sorted(shape.fields, key=lambda field: field.name)
                return RecordTypeModel(fields={field.name: self._field(field) for field in fields})
            case UnionShape():
                members = sorted((self.type(member) for member in shape.members), key=type_text)
                return UnionTypeModel(members=tuple(members))
            case RefShape():
                return self._reference(shape)
            case UnknownShape() | NeverShape():
                return JsonType()

    def _field(self, field: FieldShape) -> FieldModel:
        made = self.type(field.shape)
        if field.default is None:
            return FieldModel(type=made, optional=field.optional)
        return FieldModel(type=made, has_default=True, default=json.loads(field.default))

    def _reference(self, shape: RefShape) -> TypeModel:
        name = self._names.get(shape.definition)
        if name is None:
            taken = set(self._names.values())
            name = shape.name
            count = 1
            while name in taken:
                count += 1
                name = f"{shape.name}~{count}"
            self._names[shape.definition] = name
            self.types[name] = self.type(shape.definition.shape)
        return RefType(name=name)
