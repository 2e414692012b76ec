"""Patterns of text types: matched in linear time, always against the whole text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator


@lru_cache(maxsize=1_000)
def pattern_validator(pattern: str) -> SchemaValidator | str:
    """A matcher of whole texts in linear time, or why the pattern is refused (such as look-around)."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(
            core_schema.str_schema(pattern=rf"\A(?:{pattern})\z", regex_engine="rust-regex")
        )
    except SchemaError as problem:
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        return lines[-1].removeprefix("error: ") if lines else "not a pattern"


def matches_pattern(pattern: str, text: str) -> bool:
    """Whether the whole text matches; a refused pattern matches everything."""
    from pydantic_core import ValidationError

    validator = pattern_validator(pattern)
    if isinstance(validator, str):
        return True
    try:
        validator.validate_python(text)
    except ValidationError:
        return False
    return True
