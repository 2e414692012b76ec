"""The shapes of values: what a type of the language means, as frozen data that can be compared and hashed.

Typing is structural. A shape is the set of JSON values it accepts; `UnknownShape` stands for something whose
mistake has been reported already and fits everywhere, `NeverShape` is the empty set. Declared names vanish,
except that a recursive type stays a `RefShape`, and that unions and records remember their name for messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

Scalar: TypeAlias = str | int | float | bool

MAX_WEIGHT: Final = 20_000
"""Most parts one shape may have once all names are written out; types that double at each step meet it."""
MAX_DEPTH: Final = 100
"""Deepest a shape may nest once all names are written out; passes over shapes recurse no deeper."""


@dataclass(frozen=True, slots=True)
class UnknownShape:
    """Something whose mistake is reported elsewhere: fits everything, and everything fits it."""


@dataclass(frozen=True, slots=True)
class NeverShape:
    """No value at all: the items of `[]`, a branch that cannot happen."""


@dataclass(frozen=True, slots=True)
class TextShape:
    """Text of `low..high` code points whose whole matches `pattern`."""

    low: int = 0
    high: int | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class IntShape:
    """A whole number in `low..high`."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class NumberShape:
    """A number in `low..high`; every whole number is one."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class BoolShape:
    """`true` or `false`."""


@dataclass(frozen=True, slots=True)
class NullShape:
    """`null`, which is also how an absent field reads."""


@dataclass(frozen=True, slots=True)
class DurationShape:
    """Whole milliseconds in `low..high`."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class JsonShape:
    """Any JSON value, null included; its canonical form has at most `high` characters."""

    high: int | None = None


@dataclass(frozen=True, slots=True)
class LiteralShape:
    """Exactly one scalar; `kind` keeps `true` and `1` apart. Made by `literal`."""

    value: Scalar
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Composite:
    """What shapes with parts share: their weight and depth, and a hash that is computed once."""

    weight: int = field(init=False, repr=False)
    depth: int = field(init=False, repr=False)
    digest: int = field(init=False, repr=False)

    def _seal(self, parts: Iterable[Shape], key: object) -> None:
        weight, depth = 1, 0
        for part in parts:
            weight += weight_of(part)
            depth = max(depth, depth_of(part))
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "depth", depth + 1)
        object.__setattr__(self, "digest", hash(key))

    def __hash__(self) -> int:
        return self.digest


@dataclass(frozen=True, slots=True, eq=False)
class UnionShape(Composite):
    """One of two or more members, none of which includes another. Made by `union` and `join`."""

    members: tuple[Shape, ...]
    alias: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self._seal(self.members, ("union", self.members))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, UnionShape) and self.digest == other.digest and self.members == other.members
        )

    __hash__ = Composite.__hash__


@dataclass(frozen=True, slots=True, eq=False)
class ListShape(Composite):
    """A list of `low..high` items."""

    item: Shape
    low: int = 0
    high: int | None = None

    def __post_init__(self) -> None:
        self._seal((self.item,), ("list", self.item, self.low, self.high))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, ListShape)
            and self.digest == other.digest
            and (self.low, self.high) == (other.low, other.high)
            and self.item == other.item
        )

    __hash__ = Composite.__hash__


@dataclass(frozen=True, slots=True, eq=False)
class MapShape(Composite):
    """An object of `low..high` entries with free keys."""

    key: Shape
    value: Shape
    low: int = 0
    high: int | None = None

    def __post_init__(self) -> None:
        self._seal((self.key, self.value), ("map", self.key, self.value, self.low, self.high))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, MapShape)
            and self.digest == other.digest
            and (self.low, self.high) == (other.low, other.high)
            and (self.key, self.value) == (other.key, other.value)
        )

    __hash__ = Composite.__hash__


@dataclass(frozen=True, slots=True)
class FieldShape:
    """One field. `default` is JSON text, filled in on acceptance; with it the field may be left out."""

    name: str
    shape: Shape
    optional: bool = False
    default: str | None = None

    @property
    def may_be_missing(self) -> bool:
        """Whether who gives a value may leave the field out."""
        return self.optional or self.default is not None


@dataclass(frozen=True, slots=True, eq=False)
class RecordShape(Composite):
    """A closed record; fields in source order, which does not matter when shapes are compared."""

    fields: tuple[FieldShape, ...]
    alias: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self._seal((f.shape for f in self.fields), ("record", frozenset(self.fields)))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, RecordShape)
            and self.digest == other.digest
            and (self.fields == other.fields or frozenset(self.fields) == frozenset(other.fields))
        )

    __hash__ = Composite.__hash__

    def field(self, name: str) -> FieldShape | None:
        """The field of that name."""
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        return None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields in source order."""
        return tuple(f.name for f in self.fields)


class Definition:
    """What stands behind a recursive name; the knot is tied once, by whoever resolves the declarations."""

    __slots__ = ("_shape",)

    def __init__(self) -> None:
        self._shape: Shape | None = None

    @property
    def shape(self) -> Shape:
        """The declared shape, in which the name stands as a `RefShape`."""
        assert self._shape is not None, "a recursive type is read only after its file's types are resolved"
        return self._shape

    def tie(self, shape: Shape) -> None:
        """Set the shape, once."""
        assert self._shape is None, "a recursive type is declared once"
        self._shape = shape


@dataclass(frozen=True, slots=True)
class RefShape:
    """A recursive type by the module and the name of its declaration."""

    module: str
    name: str
    definition: Definition = field(compare=False, repr=False)


Shape: TypeAlias = (
    UnknownShape
    | NeverShape
    | TextShape
    | IntShape
    | NumberShape
    | BoolShape
    | NullShape
    | DurationShape
    | JsonShape
    | LiteralShape
    | UnionShape
    | ListShape
    | MapShape
    | RecordShape
    | RefShape
)

UNKNOWN: Final = UnknownShape()
NEVER: Final = NeverShape()
TEXT: Final = TextShape()
INT: Final = IntShape()
NUMBER: Final = NumberShape()
BOOL: Final = BoolShape()
NULL: Final = NullShape()
DURATION: Final = DurationShape()
JSON: Final = JsonShape()


def weight_of(shape: Shape) -> int:
    """How many parts the shape has when it is written out."""
    return shape.weight if isinstance(shape, Composite) else 1


def depth_of(shape: Shape) -> int:
    """How deep the shape nests when it is written out."""
    return shape.depth if isinstance(shape, Composite) else 0


def literal(value: Scalar) -> LiteralShape:
    """The shape of one scalar; a number without a fraction is a whole number."""
    if isinstance(value, bool):
        return LiteralShape(value, "bool")
    if isinstance(value, str):
        return LiteralShape(value, "text")
    if isinstance(value, float) and value.is_integer():
        return LiteralShape(int(value), "int")
    return LiteralShape(value, "int" if isinstance(value, int) else "number")


def record(**fields: Shape) -> RecordShape:
    """A record of required fields."""
    return RecordShape(tuple(FieldShape(name, shape) for name, shape in fields.items()))


def named(shape: Shape, alias: str) -> Shape:
    """The same shape under a name for messages, when it has none yet."""
    if isinstance(shape, UnionShape | RecordShape) and shape.alias is None:
        return replace(shape, alias=alias)
    return shape


def expand(shape: Shape) -> Shape:
    """The shape behind a recursive name, else the shape itself."""
    seen = 0
    while isinstance(shape, RefShape):
        shape = shape.definition.shape
        seen += 1
        assert seen <= MAX_DEPTH, (
            "a recursive name that is only another name was refused when it was declared"
        )
    return shape


def members(shape: Shape) -> tuple[Shape, ...]:
    """The members of a union, through recursive names; other shapes are their only member."""
    if isinstance(shape, RefShape):
        shape = expand(shape)
    if not isinstance(shape, UnionShape):
        return (shape,)
    for member in shape.members:
        if isinstance(member, RefShape):
            break
    else:
        return shape.members
    return tuple(inner for member in shape.members for inner in members(member))
