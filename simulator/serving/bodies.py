"""Requests of a browser and answers to it, as JSON.

A body that is not what it should be is refused with a code and a sentence; nothing of it is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, get_args

from windtunnel.simulator.chat.parts import BadJson, Item, Json, json_value
from windtunnel.simulator.chat.requests import Answer, CommandName, PostCommand, PostMessage
from windtunnel.simulator.chat.rows import snapshot_json
from windtunnel.simulator.chat.window import Cursor

MAX_BODY: Final = 1024 * 1024
"""Bytes of a request."""

MAX_TEXT: Final = 100_000
"""Code points of a message."""

MAX_NAME: Final = 200
"""Characters of a nonce, a client id or a receipt."""

MAX_NONCES: Final = 1_000
"""Items that one command may name."""

MAX_NUMBER: Final = 2**53 - 1
"""The highest number and position; browsers know no higher whole number exactly."""

KINDS: Final = ("prompt", "followup", "steer")
CURSOR: Final = re.compile(r"([0-9]{1,15})\.([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class Refused(Exception):
    """A request that cannot be used: its HTTP status, a stable code, and why."""

    status: int
    code: str
    why: str

    def json(self) -> Json:
        """The body of the answer."""
        return {"code": self.code, "error": self.why}


def bad(why: str) -> Refused:
    """The refusal of a body."""
    return Refused(400, "bad_request", why)


def object_of(body: bytes) -> Json:
    """The JSON object of a request. Raises Refused."""
    if len(body) > MAX_BODY:
        raise Refused(413, "too_large", f"a request has at most {MAX_BODY:,} bytes")
    try:
        data = json_value(body.decode())
    except (BadJson, UnicodeDecodeError) as problem:
        raise bad(f"the body is no JSON: {problem}") from None
    if not isinstance(data, dict):
        raise bad("the body is no JSON object")
    return data


def text_in(data: Json, key: str, most: int = MAX_NAME, least: int = 1) -> str:
    """A text of a request. Raises Refused."""
    value = data.get(key)
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise bad(f"`{key}` is a text of {least} to {most:,} characters")
    return value


def number_in(data: Json, key: str) -> int:
    """A number of a request, from 1 on. Raises Refused."""
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_NUMBER:
        raise bad(f"`{key}` is a whole number from 1 on")
    return value


def choice_in(data: Json, key: str, choices: tuple[str, ...]) -> Any:
    """One of several words. Raises Refused."""
    value = data.get(key)
    if value not in choices:
        raise bad(f"`{key}` is one of {', '.join(choices)}")
    return value


def message_of(request: str, session: str, data: Json) -> PostMessage:
    """A message of the person; an empty text is a message too. Raises Refused."""
    kind = choice_in({"kind": "followup"} | data, "kind", KINDS)
    text = text_in(data, "text", MAX_TEXT, 0)
    nonce, client = text_in(data, "clientNonce"), text_in(data, "clientId")
    return PostMessage(request, session, Item(text, nonce, client, number_in(data, "clientSeq"), kind))


def command_of(request: str, session: str, data: Json) -> PostCommand:
    """A wish of the person. Raises Refused."""
    what: CommandName = choice_in(data, "what", get_args(CommandName))
    nonces = data.get("nonces", [])
    if not isinstance(nonces, list) or len(nonces) > MAX_NONCES:
        raise bad(f"`nonces` is a list of at most {MAX_NONCES:,} texts")
    if not all(isinstance(nonce, str) and len(nonce) <= MAX_NAME for nonce in nonces):
        raise bad("`nonces` is a list of texts")
    return PostCommand(request, session, what, text_in(data, "receipt"), tuple(nonces))


def cursor_of(text: str) -> Cursor:
    """A position as `epoch.seq`. Raises Refused."""
    found = CURSOR.fullmatch(text)
    if found is None:
        raise bad("a position is `epoch.seq`, as in 1.42")
    return Cursor(int(found[1]), int(found[2]))


def answer_json(answer: Answer) -> Json:
    """An answer as JSON; `duplicate` and `deleted` say of an accepted post that nothing changed."""
    data: Json = {"code": answer.code}
    if answer.expected is not None:
        data["expected"] = answer.expected
    if answer.position is not None:
        data["position"] = {"epoch": answer.position.epoch, "seq": answer.position.seq}
    if answer.snapshot is not None:
        data["snapshot"] = snapshot_json(answer.snapshot)
    if answer.cleared:
        data["cleared"] = list(answer.cleared)
    if answer.code in ("duplicate", "deleted"):
        data[answer.code] = True
    if answer.code == "followup_out_of_order":
        data["retryable"] = True
    return data
