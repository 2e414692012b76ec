"""The words that tell a model how to finish a step. They go last in its prompt.

A step of the submit mode names the workflow, the step and the attempt, shows the exact call, and gives the
expected output in types and in words. A step of the assistant mode is told to answer normally; it never
hears of submitting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from windtunnel.compiler.canonical import canonical
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
from windtunnel.compiler.typetext import words

ASSISTANT_CONTRACT: Final = (
    "Reply with a normal assistant message.\n"
    "Do not call the workflow tool to complete this step.\n"
    "Your visible reply becomes the workflow step output."
)

ASSISTANT_REFUSAL: Final = (
    "This step completes with a normal assistant response. Do not submit workflow output."
)
"""What a submission or an update during an assistant step is answered with."""


def assistant_contract(max_chars: int | None) -> str:
    """The contract of an assistant step; the limit is in code points."""
    if max_chars is None:
        return ASSISTANT_CONTRACT
    return f"{ASSISTANT_CONTRACT}\nKeep it under {max_chars} characters."


def submit_contract(
    workflow: str, step: str, attempt: str, output: TypeModel, types: Mapping[str, TypeModel] | None = None
) -> str:
    """The contract of a submit step; `types` are the recursive types that `output` refers to."""
    call = f'{{"step": {canonical(step)}, "attempt": {canonical(attempt)}, "output": OUTPUT}}'
    lines = [
        f"This is step `{step}` of the workflow `{workflow}`, attempt `{attempt}`.",
        "Finish it with exactly one call of the workflow tool:",
        f"workflow submit {call}",
        f"OUTPUT is JSON of the type {words(output)}, in words:",
        *_describe("OUTPUT", output, 0),
    ]
    for name in sorted(_references(output, types or {})):
        lines += [f"{name} is:", *_describe(name, (types or {})[name], 0)]
    lines.append("Text outside that call does not complete the step.")
    return "\n".join(lines)


def prompt_with(prompt: str, contract: str) -> str:
    """The prompt with the contract last."""
    return f"{prompt}\n\n{contract}"


def _describe(name: str, type_: TypeModel, depth: int, note: str = "") -> list[str]:
    """One line for the type under a name, and the lines of its parts below it."""
    head = f"{'  ' * depth}- {name}: {_phrase(type_)}{note}"
    return [head, *_parts(type_, depth + 1)]


def _parts(type_: TypeModel, depth: int) -> list[str]:
    match type_:
        case RecordTypeModel():
            lines: list[str] = []
            for name, field in sorted(type_.fields.items()):
                lines += _describe(name, field.type, depth, _field_note(field))
            return lines
        case ListTypeModel() if _parts(type_.item, depth):
            return _describe("each item", type_.item, depth)
        case MapTypeModel() if _parts(type_.value, depth):
            return _describe("each value", type_.value, depth)
        case UnionTypeModel() if not _is_plain(type_):
            lines = []
            for member in type_.members:
                lines += _describe("either", member, depth)
            return lines
        case _:
            return []


def _field_note(field: FieldModel) -> str:
    if field.has_default:
        return f"; {canonical(field.default)} when left out"
    return "; may be left out" if field.optional else ""


def _phrase(type_: TypeModel) -> str:
    match type_:
        case TextType():
            matching = "" if type_.pattern is None else f" that matches {canonical(type_.pattern)} as a whole"
            return f"text{_range(type_.min, type_.max, ' of', 'character')}{matching}"
        case IntType():
            return f"a whole number{_range(type_.min, type_.max, '', '')}"
        case NumberType():
            return f"a number{_range(type_.min, type_.max, '', '')}"
        case SimpleType(kind="bool"):
            return "true or false"
        case SimpleType(kind="null"):
            return "null"
        case SimpleType():
            return "a duration in whole milliseconds"
        case JsonType():
            return f"any JSON{_range(None, type_.max, ' of', 'character')}"
        case LiteralValueType():
            return canonical(type_.value)
        case RefType():
            return type_.name
        case ListTypeModel():
            size = _range(type_.min, type_.max, " of", "item")
            return f"a list{size}" if _parts(type_.item, 0) else f"a list{size}, each {_phrase(type_.item)}"
        case MapTypeModel():
            size = _range(type_.min, type_.max, " of", "entr")
            each = "" if _parts(type_.value, 0) else f", each value {_phrase(type_.value)}"
            return f"a record{size} with any keys{each}"
        case RecordTypeModel():
            return "a record with exactly these fields" if type_.fields else "an empty record"
        case UnionTypeModel():
            if _is_plain(type_):
                return " or ".join(_phrase(member) for member in type_.members)
            return "one of these"


def _is_plain(union: UnionTypeModel) -> bool:
    """Whether the union can be told in one line."""
    return not any(_parts(member, 0) for member in union.members)


def _range(low: float | None, high: float | None, of: str, unit: str) -> str:
    if unit and low == 0:
        low = None
    if low is None and high is None:
        return ""
    if low is not None and high is not None:
        count = canonical(low) if low == high else f"{canonical(low)} to {canonical(high)}"
    elif high is not None:
        count = f"at most {canonical(high)}"
    else:
        count = f"at least {canonical(low)}"
    if not unit:
        return f", {count}"
    one = (low if high is None else high) == 1
    name = {"entr": "entry" if one else "entries"}.get(unit, unit if one else f"{unit}s")
    return f"{of} {count} {name}"


def _references(type_: TypeModel, types: Mapping[str, TypeModel]) -> set[str]:
    """The names of the recursive types that a type needs, through one another."""
    found: set[str] = set()
    waiting: list[TypeModel] = [type_]
    while waiting:
        match waiting.pop():
            case RefType(name=name) if name not in found:
                found.add(name)
                waiting.append(types[name])
            case ListTypeModel(item=item):
                waiting.append(item)
            case MapTypeModel(key=key, value=value):
                waiting += [key, value]
            case RecordTypeModel(fields=fields):
                waiting += [field.type for field in fields.values()]
            case UnionTypeModel(members=members):
                waiting += members
            case _:
                pass
    return found
