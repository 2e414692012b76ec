"""What a conversation is made of: parts, rows, step references, queue items, as frozen data with a JSON form.

JSON values (tool inputs and outputs) stand as their compact text, so that rows can be compared and hashed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, TypeAlias

Json: TypeAlias = dict[str, Any]

Role: TypeAlias = Literal["user", "assistant"]
ToolState: TypeAlias = Literal[
    "input-streaming", "input-available", "output-available", "output-error", "aborted"
]
RowStatus: TypeAlias = Literal["streaming", "done", "aborted", "error"]
RunStatus: TypeAlias = Literal["ok", "error", "aborted"]

ENDED_TOOL: Final = frozenset({"output-available", "output-error", "aborted"})
"""The states of a tool call that nothing changes any more."""

MAX_DEPTH: Final = 200
"""How deep a line or a frame may be nested."""

MAX_VALUE_DEPTH: Final = 100
"""How deep an input or output of a tool may be nested; it has to fit into a line."""


class BadJson(ValueError):
    """A text is not the JSON that was expected; the message says why."""


def json_text(value: Any) -> str:
    """The compact text of a JSON value, keys sorted, ASCII only: one line, whatever the strings hold."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def refuse_constant(name: str) -> NoReturn:
    """NaN and the infinities are not JSON."""
    raise BadJson(f"{name} is not JSON")


def finite(text: str) -> float:
    """A number that is one."""
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise BadJson(f"{text} is too large")
    return number


def json_value(text: str, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a JSON text; raises BadJson for anything else, also for nesting beyond `max_depth`."""
    try:
        value = json.loads(text, parse_constant=refuse_constant, parse_float=finite)
    except RecursionError:
        raise BadJson(f"nested deeper than {max_depth}") from None
    except ValueError as problem:
        raise BadJson(str(problem)) from None
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > max_depth:
            raise BadJson(f"nested deeper than {max_depth}")
        held: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                held += each.values()
            elif isinstance(each, list):
                held += each
        level = held
    return value


def sound_json(text: str) -> str:
    """What a model or a tool gave for JSON, in its one compact form; as a string of JSON if it is none."""
    try:
        return json_text(json_value(text, MAX_VALUE_DEPTH))
    except BadJson:
        return json_text(text)


@dataclass(frozen=True, slots=True)
class TextPart:
    """Visible text."""

    id: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """Reasoning; `state` is `streaming` or `done`."""

    id: str
    text: str = ""
    state: str = "streaming"


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A tool call and, once it ended, its result. `id` is the call's id; `partial` is the input while it
    streams.

    `input` and `output` are JSON texts, None until they are there.
    """

    id: str
    name: str
    state: ToolState = "input-streaming"
    input: str | None = None
    partial: str = ""
    output: str | None = None
    error: str | None = None


Part: TypeAlias = TextPart | ReasoningPart | ToolPart


@dataclass(frozen=True, slots=True)
class Step:
    """The workflow step whose prompt a user row is, or that tells people something.

    `kind` is `step`, `reminder`, `resume` or `notice`.
    """

    run: str
    node: str
    attempt: str
    completion: str
    kind: str = "step"
    max_output_chars: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One message as a reader sees it; `turn` is the turn it belongs to, `nonce` the one it was sent with."""

    id: str
    role: Role
    turn: str | None = None
    parts: tuple[Part, ...] = ()
    status: RowStatus = "done"
    nonce: str | None = None
    step: Step | None = None
    at: int = 0

    @property
    def text(self) -> str:
        """The visible text parts, joined with newlines."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def pending(self) -> tuple[str, ...]:
        """The ids of its tool calls that have not ended."""
        return tuple(
            part.id for part in self.parts if isinstance(part, ToolPart) and part.state not in ENDED_TOOL
        )


@dataclass(frozen=True, slots=True)
class Item:
    """A message that waits in the queue; `kind` is `prompt`, `followup` or `steer`.

    `nonce`, `client` and `number` are its identity; an old server may leave them out.
    """

    text: str
    nonce: str | None = None
    client: str | None = None
    number: int | None = None
    kind: str = "followup"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something went wrong, and in which turn."""

    message: str
    turn: str | None = None
    code: str = "run_failed"


def close_part(part: Part, state: ToolState, why: str | None = None) -> Part:
    """The part as it is when its message will not go on: reasoning done, an unfinished tool in `state`."""
    if isinstance(part, ToolPart) and part.state not in ENDED_TOOL:
        return ToolPart(part.id, part.name, state, part.input, "", None, why)
    if isinstance(part, ReasoningPart) and part.state != "done":
        return ReasoningPart(part.id, part.text, "done")
    return part


# --- JSON ---------------------------------------------------------------------------------------------------


def without_none(fields: Json) -> Json:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value is not None}


def part_json(part: Part) -> Json:
    """A part as JSON."""
    if isinstance(part, TextPart):
        return {"type": "text", "id": part.id, "text": part.text}
    if isinstance(part, ReasoningPart):
        return {"type": "reasoning", "id": part.id, "text": part.text, "state": part.state}
    data = {"type": "tool-call", "id": part.id, "toolName": part.name, "state": part.state}
    if part.input is not None:
        data["input"] = json_value(part.input)
    if part.output is not None:
        data["output"] = json_value(part.output)
    return data | without_none({"partial": part.partial or None, "errorText": part.error})


def text_at(data: Json, key: str) -> str | None:
    """The JSON text of a field; None where the field is missing, which is not the same as null."""
    return json_text(data[key]) if key in data else None


def part_of(data: Json) -> Part:
    """The part that JSON holds; raises BadJson for another kind, KeyError or TypeError for another shape."""
    kind = data["type"]
    if kind == "text":
        return TextPart(data["id"], data["text"])
    if kind == "reasoning":
        return ReasoningPart(data["id"], data["text"], data.get("state", "done"))
    if kind != "tool-call":
        raise BadJson(f"no part of kind {kind}")
    return ToolPart(
        data["id"],
        data["toolName"],
        data["state"],
        text_at(data, "input"),
        data.get("partial", ""),
        text_at(data, "output"),
        data.get("errorText"),
    )


def step_json(step: Step) -> Json:
    """A step reference as JSON."""
    return without_none(
        {
            "runId": step.run,
            "nodeId": step.node,
            "attemptId": step.attempt,
            "completion": step.completion,
            "kind": step.kind,
            "maxOutputChars": step.max_output_chars,
        }
    )


def step_of(data: Json) -> Step:
    """The step reference that JSON holds."""
    return Step(
        data["runId"],
        data["nodeId"],
        data["attemptId"],
        data["completion"],
        data.get("kind", "step"),
        data.get("maxOutputChars"),
    )


def row_json(row: Row) -> Json:
    """A row as JSON."""
    return without_none(
        {
            "id": row.id,
            "role": row.role,
            "turnId": row.turn,
            "parts": [part_json(part) for part in row.parts],
            "status": row.status,
            "clientNonce": row.nonce,
            "step": None if row.step is None else step_json(row.step),
            "at": row.at,
        }
    )


def row_of(data: Json) -> Row:
    """The row that JSON holds."""
    step = data.get("step")
    return Row(
        data["id"],
        data["role"],
        data.get("turnId"),
        tuple(part_of(part) for part in data["parts"]),
        data.get("status", "done"),
        data.get("clientNonce"),
        None if step is None else step_of(step),
        data.get("at", 0),
    )


def item_json(item: Item) -> Json:
    """A queue item as JSON."""
    return without_none(
        {
            "text": item.text,
            "clientNonce": item.nonce,
            "clientId": item.client,
            "clientSeq": item.number,
            "kind": item.kind,
        }
    )


def item_of(data: Json) -> Item:
    """The queue item that JSON holds."""
    return Item(
        data["text"],
        data.get("clientNonce"),
        data.get("clientId"),
        data.get("clientSeq"),
        data.get("kind", "followup"),
    )
