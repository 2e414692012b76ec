"""JSON Schema, as much of it as the published schemas use; a keyword that is not known here fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

TYPES: Final[dict[str, Any]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
NOTES: Final = {"$schema", "$id", "$defs", "title", "description", "default", "discriminator"}
"""Keywords that ask for nothing."""


def problems(value: Any, schema: Any, root: Any, at: str = "") -> Iterator[str]:
    """What is wrong with a value, each with the JSON pointer of its place."""
    if schema is True or schema == {}:
        return
    for keyword, wanted in schema.items():
        yield from _keyword(value, keyword, wanted, schema, root, at)


def _keyword(value: Any, keyword: str, wanted: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    match keyword:
        case "$ref":
            assert wanted.startswith("#/$defs/"), wanted
            yield from problems(value, root["$defs"][wanted.removeprefix("#/$defs/")], root, at)
        case "type":
            named = TYPES[wanted]
            if wanted == "integer" and isinstance(value, float) and value.is_integer():
                return
            if not isinstance(value, named) or (isinstance(value, bool) and wanted in ("integer", "number")):
                yield f"{at}: not {wanted}"
        case "const":
            if value != wanted or isinstance(value, bool) != isinstance(wanted, bool):
                yield f"{at}: not {wanted!r}"
        case "enum":
            equal = [each for each in wanted if value == each]
            if not any(isinstance(value, bool) == isinstance(each, bool) for each in equal):
                yield f"{at}: none of {wanted!r}"
        case "anyOf" | "oneOf":
            fitting = sum(not list(problems(value, each, root, at)) for each in wanted)
            if fitting == 0 or (keyword == "oneOf" and fitting > 1):
                yield f"{at}: fits {fitting} of {keyword}"
        case "items":
            for index, item in enumerate(value if isinstance(value, list) else ()):
                yield from problems(item, wanted, root, f"{at}/{index}")
        case "required":
            yield from (
                f"{at}: lacks {name}" for name in wanted if isinstance(value, dict) and name not in value
            )
        case "properties":
            for name, each in wanted.items():
                if isinstance(value, dict) and name in value:
                    yield from problems(value[name], each, root, f"{at}/{name}")
        case "additionalProperties":
            for name in value if isinstance(value, dict) else ():
                if name in schema.get("properties", {}):
                    continue
                if wanted is False:
                    yield f"{at}: has {name}"
                else:
                    yield from problems(value[name], wanted, root, f"{at}/{name}")
        case "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties":
            sized = {"Length": str, "Items": list, "Properties": dict}[keyword[3:]]
            if isinstance(value, sized):
                size = len(value)
                if size < wanted if keyword.startswith("min") else size > wanted:
                    yield f"{at}: {keyword} is {wanted}"
        case "minimum" | "maximum":
            number = value if isinstance(value, int | float) and not isinstance(value, bool) else wanted
            if number < wanted if keyword == "minimum" else number > wanted:
                yield f"{at}: {keyword} is {wanted}"
        case "pattern":
            # In ECMA 262 `$` is the end alone; in Python it also stands before a last newline.
            if isinstance(value, str) and re.search(re.sub(r"\$\Z", r"\\Z", wanted), value) is None:
                yield f"{at}: does not match {wanted}"
        case "propertyNames":
            for name in value if isinstance(value, dict) else ():
                yield from problems(name, wanted, root, f"{at}/{name}")
        case _:
            assert keyword in NOTES, f"{keyword} is not known here"
