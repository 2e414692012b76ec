"""Replay tokens: everything a run depends on, in one line of text that can be pasted anywhere.

`wt1.BODY.SUM`: BODY is URL-safe base64 of canonical JSON `{c, d, f?, h?, i, n, w}`; choices are run-length
pairs `[zeros, choice, zeros, choice, …]`, since most of them are 0. SUM guards against damage.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from windtunnel.compiler.canonical import CanonicalError, canonical, parse_json
from windtunnel.simulator.budget import FIRST_KINDS, KINDS, UNCAPPED, Budget
from windtunnel.simulator.hosting import USUAL, Hosting, HostingRefused, from_json

PREFIX: Final = "wt1"
SUM_LENGTH: Final = 8
MAX_TOKEN: Final = 4 * 2**20
"""Characters of a token that is read at all."""

MAX_CHOICES: Final = 1_000_000


class TokenError(ValueError):
    """The token cannot be used; the message says why, in words for a person."""


@dataclass(frozen=True, slots=True)
class Token:
    """What is replayed. `workflow` is the reference under which it was read, `fault` a seeded fault that was
    on.
    """

    workflow: str
    digest: str
    input: JsonValue
    budget: Budget
    choices: tuple[int, ...]
    fault: str | None = None
    hosting: Hosting = USUAL


def encode(token: Token) -> str:
    """The token as text."""
    body: dict[str, JsonValue] = {
        "c": list(_squeezed(token.choices)),
        "d": token.digest,
        "i": token.input,
        "n": [token.budget.total, *_capped(token.budget.kinds)],
        "w": token.workflow,
    }
    if token.fault is not None:
        body["f"] = token.fault
    if token.hosting != USUAL:
        body["h"] = token.hosting.to_json()
    text = base64.urlsafe_b64encode(canonical(body).encode()).decode().rstrip("=")
    return f"{PREFIX}.{text}.{_sum(text)}"


def decode(text: str) -> Token:
    """The token in a text. Raises TokenError when it is no token, damaged, or of another version."""
    parts = text.strip().split(".")
    if len(text) > MAX_TOKEN or len(parts) != 3:
        raise TokenError("This is not a replay token; one looks like wt1.….….")
    prefix, body, check = parts
    if prefix != PREFIX:
        raise TokenError(f"This token was made by another version ({prefix}); this one reads {PREFIX}.")
    if check != _sum(body):
        raise TokenError("This token is damaged; copy it again, whole.")
    try:
        value = parse_json(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return _read(value)
    except HostingRefused as error:
        raise TokenError(f"This token needs another version: {error}") from None
    except (CanonicalError, binascii.Error, ValueError, KeyError, TypeError) as error:
        if isinstance(error, TokenError):
            raise
        raise TokenError("This token is damaged inside.") from None


def _read(value: Any) -> Token:
    numbers = value["n"]
    if not isinstance(value["w"], str) or not isinstance(value["d"], str):
        raise TypeError("names are texts")
    if not FIRST_KINDS < len(numbers) <= 1 + len(KINDS) or any(type(number) is not int for number in numbers):
        raise TypeError("a budget is a total and a cap for each kind of fault")
    return Token(
        value["w"],
        value["d"],
        value["i"],
        Budget(numbers[0], (*numbers[1:], *(UNCAPPED for _ in KINDS[len(numbers) - 1 :]))),
        _stretched(value["c"]),
        value.get("f"),
        from_json(value["h"]) if "h" in value else USUAL,
    )


def _capped(kinds: tuple[int, ...]) -> tuple[int, ...]:
    """The caps without those of newer kinds that cap nothing, which no older token has."""
    most = len(kinds)
    while most > FIRST_KINDS and kinds[most - 1] == UNCAPPED:
        most -= 1
    return kinds[:most]


def _sum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:SUM_LENGTH]


def _squeezed(choices: tuple[int, ...]) -> tuple[int, ...]:
    found: list[int] = []
    zeros = 0
    for choice in choices:
        if choice == 0:
            zeros += 1
        else:
            found += (zeros, choice)
            zeros = 0
    return tuple(found)


def _stretched(pairs: list[int]) -> tuple[int, ...]:
    found: list[int] = []
    for zeros, choice in zip(pairs[::2], pairs[1::2], strict=True):
        if zeros < 0 or len(found) + zeros >= MAX_CHOICES:
            raise TokenError("This token is damaged inside.")
        found += [0] * zeros
        found.append(choice)
    return tuple(found)
