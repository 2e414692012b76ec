"""Payloads to text and back, without loss: plain JSON for a reader, and beside it what each value is.

A payload tells texts from JSON values and records, JSON does not; `kinds` lists the paths where that matters:
`json` a JSON value, `mark` a mark, `text` a text. A path with a `+` behind its kind holds, instead of a large
value, the SHA-256 of its text, which the store keeps once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.canonical import MAX_DEPTH, canonical
from windtunnel.simulator.events import Event, Json, Mark, Payload, Record, Value

INLINE: Final = 1_024
"""Characters of the largest value that stands in the payload itself."""

ROOM: Final = MAX_DEPTH + 8
"""A value may be as deep as any, and stands a few levels down in its payload."""


class Packed(NamedTuple):
    """A payload as text. `contents` are the large texts by their SHA-256."""

    payload: str
    kinds: str
    contents: dict[str, str]


def sha256(text: str) -> str:
    """The address of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def checksum(row: Iterable[object]) -> str:
    """Sixteen digits that tell whether any value of a row was changed since."""
    return sha256(json.dumps(list(row)))[:16]


def sorted_event(event: Event) -> Event:
    """The event with its payload, and every record in it, sorted by key."""
    return Event(event.scope, event.type, event.node, event.attempt, _sorted(event.payload))


def _sorted(payload: Payload) -> Payload:
    return tuple(sorted((key, _sorted_value(value)) for key, value in payload))


def _sorted_value(value: Value) -> Value:
    if isinstance(value, Record):
        return Record(_sorted(value.fields))
    return tuple(_sorted_value(item) for item in value) if isinstance(value, tuple) else value


def pack(payload: Payload) -> Packed:
    """The payload as text."""
    packer = _Packer()
    plain = {key: packer.plain(value, (key,)) for key, value in payload}
    return Packed(canonical(plain, ROOM), canonical(packer.kinds), packer.contents)


class _Packer:
    """Collects kinds and contents on the way down."""

    def __init__(self) -> None:
        self.kinds: list[JsonValue] = []
        self.contents: dict[str, str] = {}

    def plain(self, value: Value, path: tuple[str | int, ...]) -> JsonValue:
        match value:
            case Json(text):
                if len(text) > INLINE:
                    return self.large("json+", text, path)
                self.note("json", path)
                parsed: JsonValue = json.loads(text)
                return parsed
            case Mark(what):
                self.note("mark", path)
                return what
            case Record(fields):
                return {key: self.plain(item, (*path, key)) for key, item in fields}
            case tuple():
                return [self.plain(item, (*path, at)) for at, item in enumerate(value)]
            case str() if len(value) > INLINE:
                return self.large("text+", value, path)
            case _:
                return value

    def large(self, kind: str, text: str, path: tuple[str | int, ...]) -> str:
        self.note(kind, path)
        address = sha256(text)
        self.contents[address] = text
        return address

    def note(self, kind: str, path: tuple[str | int, ...]) -> None:
        self.kinds.append([kind, *path])


def unpack(payload: str, kinds: str, content: Callable[[str], str]) -> Payload:
    """The payload in a text; `content` gives the text of an address."""
    noted = {tuple(entry[1:]): entry[0] for entry in json.loads(kinds)}
    return _fields(json.loads(payload), (), noted, content)


Noted = dict[tuple[str | int, ...], str]


def _fields(
    plain: dict[str, Any], path: tuple[str | int, ...], noted: Noted, content: Callable[[str], str]
) -> Payload:
    return tuple((key, _value(plain[key], (*path, key), noted, content)) for key in sorted(plain))


def _value(plain: Any, path: tuple[str | int, ...], noted: Noted, content: Callable[[str], str]) -> Value:
    match noted.get(path):
        case "json":
            return Json(canonical(plain))
        case "json+":
            return Json(content(plain))
        case "text+":
            return content(plain)
        case "mark":
            return Mark(plain)
    if isinstance(plain, dict):
        return Record(_fields(plain, path, noted, content))
    if isinstance(plain, list):
        return tuple(_value(item, (*path, at), noted, content) for at, item in enumerate(plain))
    assert plain is None or isinstance(plain, str | int), (
        "a payload holds texts, whole numbers and truth values"
    )
    return plain


def payload_json(payload: Payload) -> dict[str, JsonValue]:
    """The payload as the JSON that a reader of the trace sees."""
    return {key: _value_json(value) for key, value in payload}


def _value_json(value: Value) -> JsonValue:
    match value:
        case Json(text):
            parsed: JsonValue = json.loads(text)
            return parsed
        case Mark(what):
            return what
        case Record(fields):
            return payload_json(fields)
        case tuple():
            return [_value_json(item) for item in value]
        case _:
            return value
