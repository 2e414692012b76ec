"""A snapshot as a file: written as canonical JSON, read with a clear word about what is wrong.

Reading checks the schema, that every part a snapshot speaks of is there, that every expression and type can
be used, and that the digests are those of the content: what is read can be run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, JsonValue, ValidationError

from windtunnel.compiler.acceptance import TypeModelError, acceptor
from windtunnel.compiler.canonical import MAX_STORED_DEPTH, CanonicalError, canonical, parse_json
from windtunnel.compiler.digests import with_digests
from windtunnel.compiler.evaluator import ExpressionError, check_expression
from windtunnel.compiler.reading import Read, reads
from windtunnel.compiler.snapshot import (
    SCHEMA,
    DecisionNode,
    Expression,
    LetStep,
    RecordTypeModel,
    RefType,
    RequireStep,
    Snapshot,
    TargetModel,
    TypeModel,
)
from windtunnel.compiler.typetext import pointer_step

MAX_SNAPSHOT_BYTES: Final = 256 * 1024 * 1024
"""Largest snapshot that is read."""

_FAMILY: Final = "windtunnel.snapshot."


@dataclass(frozen=True, slots=True)
class SnapshotRefused:
    """Why a text is no usable snapshot; `pointer` is the JSON pointer of the place, empty for the whole."""

    message: str
    pointer: str = ""

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


def write_snapshot(snapshot: Snapshot) -> str:
    """The canonical JSON of a snapshot, with a newline at the end."""
    return canonical(snapshot_json(snapshot), max_depth=MAX_STORED_DEPTH) + "\n"


def snapshot_json(snapshot: Snapshot) -> dict[str, JsonValue]:
    """A snapshot as a JSON value; absent fields are left out."""
    value: dict[str, JsonValue] = snapshot.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value


def snapshot_schema() -> dict[str, Any]:
    """The JSON Schema of a snapshot; expressions are lists in the forms that `expression` tells.

    It stands beside this file as `snapshot-v1.schema.json`.
    """
    schema = Snapshot.model_json_schema(by_alias=True, mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('.', ':')}",
        **schema,
        "title": "The snapshot of a workflow",
        "required": ["schema", *schema["required"]],
    }


def read_snapshot(text: str | bytes) -> Snapshot | SnapshotRefused:
    """The snapshot in a JSON text, or why it cannot be used. Never raises."""
    if len(text) > MAX_SNAPSHOT_BYTES:
        return SnapshotRefused(f"larger than {MAX_SNAPSHOT_BYTES} bytes")
    try:
        value = parse_json(text, max_depth=MAX_STORED_DEPTH)
    except CanonicalError as error:
        return SnapshotRefused(str(error))
    refused = _refuse_schema(value)
    if refused is not None:
        return refused
    try:
        snapshot = Snapshot.model_validate(value)
    except ValidationError as error:
        return _from_pydantic(error, value)
    except RecursionError:
        return SnapshotRefused("nested too deep")
    for problem in _problems(snapshot):
        return problem
    stored, computed = snapshot.digest, with_digests(snapshot)
    if stored != snapshot.digests.behaviour or computed != snapshot:
        return SnapshotRefused(
            "the digests are not those of the content; compile the workflow again", "/digest"
        )
    return snapshot


def _refuse_schema(value: JsonValue) -> SnapshotRefused | None:
    if not isinstance(value, dict) or not isinstance(value.get("schema"), str):
        return SnapshotRefused("not a snapshot: it has no `schema`")
    schema = str(value["schema"])
    if schema == SCHEMA:
        return None
    if schema.startswith(_FAMILY):
        return SnapshotRefused(f"written in the form {schema}; this version reads {SCHEMA}", "/schema")
    return SnapshotRefused(f"not a snapshot: its schema is {schema}", "/schema")


def _from_pydantic(error: ValidationError, value: JsonValue) -> SnapshotRefused:
    detail = error.errors(include_url=False, include_input=False)[0]
    pointer = ""
    here: Any = value
    for index, step in enumerate(detail["loc"]):
        # A location also names the models that were tried; those are no keys of the file.
        known = step in here if isinstance(here, dict) else isinstance(here, list) and isinstance(step, int)
        if known or (detail["type"] == "missing" and index == len(detail["loc"]) - 1):
            pointer += f"/{pointer_step(step)}"
            here = here[step] if known else None
    message = detail["msg"][:1].lower() + detail["msg"][1:]
    more = error.error_count() - 1
    return SnapshotRefused(message + (f" (and {more} more problems)" if more else ""), pointer)


# --- what a snapshot speaks of must be there ----------------------------------------------------------------


def _problems(snapshot: Snapshot) -> Iterator[SnapshotRefused]:
    yield from _edge_problems(snapshot)
    yield from _expression_problems(snapshot)
    yield from _type_problems(snapshot)


def _edge_problems(snapshot: Snapshot) -> Iterator[SnapshotRefused]:
    mounts = snapshot.composition.mounts
    places = snapshot.nodes.keys() | mounts.keys()
    starts = {"": snapshot.start_at, **{path: mount.start_at for path, mount in mounts.items()}}
    for scope, start in sorted(starts.items()):
        if start != "start" and start not in places:
            yield SnapshotRefused(f"`startAt` of `{scope}` is `{start}`, which is no node", "/startAt")
        if not any(edge.scope == scope and edge.source == "start" for edge in snapshot.edges):
            yield SnapshotRefused(f"no edge leaves the start of `{scope}`", "/edges")
    for index, edge in enumerate(snapshot.edges):
        pointer = f"/edges/{index}"
        if edge.scope not in starts:
            yield SnapshotRefused(f"there is no mount `{edge.scope}`", f"{pointer}/scope")
            continue
        if edge.source != "start" and edge.source not in places:
            yield SnapshotRefused(f"there is no node `{edge.source}`", f"{pointer}/from")
        exits = snapshot.exits if edge.scope == "" else mounts[edge.scope].exits
        targets = [arm.to for arm in edge.arms] + [arm.limit.then for arm in edge.arms if arm.limit]
        for target in targets:
            problem = _target_problem(target, places, exits.keys())
            if problem is not None:
                yield SnapshotRefused(problem, f"{pointer}/arms")


def _target_problem(target: TargetModel, places: Any, exits: Any) -> str | None:
    if (target.node is None) == (target.exit is None):
        return "an arm leads either to a node or to an exit"
    if target.node is not None and target.node not in places:
        return f"there is no node `{target.node}`"
    if target.exit is not None and target.exit not in exits:
        return f"there is no exit `{target.exit}`"
    return None


def _expression_problems(snapshot: Snapshot) -> Iterator[SnapshotRefused]:
    known = _Known(snapshot)
    for pointer, expression, free in expressions_of(snapshot):
        try:
            check_expression(expression, free)
        except ExpressionError as error:
            yield SnapshotRefused(str(error), pointer)
            continue
        for read in sorted(reads(expression)):
            if not known.has(read):
                yield SnapshotRefused(f"there is no {read.kind} `{read.name}`", pointer)


class _Known:
    """What the expressions of a snapshot may read."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.mounts = snapshot.composition.mounts
        self.places = snapshot.nodes.keys() | self.mounts.keys()
        self.nodes = snapshot.nodes
        self.lets = snapshot.lets.keys()

    def has(self, read: Read) -> bool:
        match read.kind:
            case "input":
                return read.name == "" or read.name in self.mounts
            case "let":
                return read.name in self.lets
            case "exit":
                return read.name in self.mounts and read.detail in self.mounts[read.name].exits
            case "choice":
                node = self.nodes.get(read.name)
                return isinstance(node, DecisionNode) and read.detail in node.choices
            case _:
                return read.name in self.places


def expressions_of(snapshot: Snapshot) -> Iterator[tuple[str, Expression, tuple[str, ...]]]:
    """Every stored expression with its JSON pointer and its free variables.

    In a `validate` block the earlier `let`s are free in the later steps.
    """
    yield from _walk(snapshot, "", ())


def _walk(
    value: Any, pointer: str, free: tuple[str, ...]
) -> Iterator[tuple[str, Expression, tuple[str, ...]]]:
    if isinstance(value, (RecordTypeModel, RefType)):
        return
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            step = pointer_step(field.serialization_alias or field.alias or name)
            item = getattr(value, name)
            if name == "validate_steps":
                yield from _walk_validate(item, f"{pointer}/{step}")
            else:
                yield from _walk(item, f"{pointer}/{step}", free)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(item, f"{pointer}/{pointer_step(key)}", free)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _walk(item, f"{pointer}/{index}", free)
    elif isinstance(value, list):
        # Only expressions are lists in a snapshot: its own sequences are tuples.
        yield pointer, value, free


def _walk_validate(
    steps: tuple[LetStep | RequireStep, ...], pointer: str
) -> Iterator[tuple[str, Expression, tuple[str, ...]]]:
    free: tuple[str, ...] = ("output",)
    for index, step in enumerate(steps):
        yield from _walk(step, f"{pointer}/{index}", free)
        if isinstance(step, LetStep):
            free = (*free, step.let)


def _type_problems(snapshot: Snapshot) -> Iterator[SnapshotRefused]:
    for pointer, type_ in _types_of(snapshot, ""):
        try:
            acceptor(type_, snapshot.types)
        except (TypeModelError, KeyError) as error:
            yield SnapshotRefused(f"a type that cannot be used: {error}", pointer)


def _types_of(value: Any, pointer: str) -> Iterator[tuple[str, TypeModel]]:
    """The outermost types of a snapshot with their JSON pointers."""
    if isinstance(value, BaseModel) and "kind" in type(value).model_fields and _is_type(value):
        yield pointer, value  # type: ignore[misc]
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            step = pointer_step(field.serialization_alias or field.alias or name)
            yield from _types_of(getattr(value, name), f"{pointer}/{step}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _types_of(item, f"{pointer}/{pointer_step(key)}")
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _types_of(item, f"{pointer}/{index}")


def _is_type(value: BaseModel) -> bool:
    return type(value).__name__.endswith(("Type", "TypeModel"))
