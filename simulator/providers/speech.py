"""A request as one line of JSON, and a line of JSON as what a model did: how a program of yours is asked.

A request is `{"node", "visit", "kind", "prompt", "maxChars", "turnsTaken"}`. An answer is one message, or
`{"turns": [message, …]}`. A message has any of

    "thinks": text    "says": text    "calls": {"tool": name, "arguments": …}    "submits": output

in this order, or `"fails": text`, alone. `"calls"` may be a list. After the last message the model is silent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from windtunnel.compiler.canonical import canonical
from windtunnel.simulator.providers.behaviour import (
    Act,
    Behaviour,
    Call,
    Request,
    Stop,
    Text,
    Thinking,
    Turn,
    submission,
)

MAX_TURNS: Final = 100
"""Messages of one answer."""

MAX_CALLS: Final = 100
"""Tools that one message calls."""

WORDS: Final = ("thinks", "says", "calls", "submits", "fails")


class NotUnderstood(ValueError):
    """A line that is no answer; the message says why."""


def request_line(request: Request) -> str:
    """The request as canonical JSON, without a newline."""
    return canonical(
        {
            "node": request.node,
            "visit": request.visit,
            "kind": request.kind.value,
            "prompt": request.prompt,
            "maxChars": request.max_chars,
            "turnsTaken": request.turns_taken,
        }
    )


def answer(line: str) -> Behaviour:
    """What the line says that the model does. Raises NotUnderstood."""
    try:
        said = json.loads(line, parse_constant=_refuse)
        # Half a surrogate pair has no place in a file.
        line.encode("utf-8")
        json.dumps(said, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise NotUnderstood(f"it is no JSON: {_shown(line)}") from None
    if not isinstance(said, dict):
        raise NotUnderstood(f"it is no JSON object: {_shown(line)}")
    listed = said["turns"] if set(said) == {"turns"} else [said]
    if not isinstance(listed, list) or not listed or len(listed) > MAX_TURNS:
        raise NotUnderstood(f"`turns` is a list of 1 to {MAX_TURNS} messages")
    return Behaviour("answers", tuple(_turn(message) for message in listed))


def _refuse(name: str) -> None:
    raise ValueError(name)


def _turn(message: Any) -> Turn:
    if not isinstance(message, dict) or not message:
        raise NotUnderstood("a message is an object with at least one word")
    unknown = sorted(set(message) - set(WORDS))
    if unknown:
        raise NotUnderstood(f"a message has no `{_shown(unknown[0])}`; it has {', '.join(WORDS)}")
    if "fails" in message:
        if len(message) > 1:
            raise NotUnderstood("`fails` stands alone")
        return Turn((), Stop.ERROR, error=_text(message, "fails"))
    acts: list[Act] = []
    if "thinks" in message:
        acts.append(Thinking(_text(message, "thinks")))
    if "says" in message:
        acts.append(Text(_text(message, "says")))
    acts += _calls(message)
    if "submits" in message:
        acts.append(submission(message["submits"]))
    uses = "submits" in message or "calls" in message
    return Turn(tuple(acts), Stop.TOOL_USE if uses else Stop.STOP)


def _text(message: Mapping[str, Any], word: str) -> str:
    said = message[word]
    if not isinstance(said, str):
        raise NotUnderstood(f"`{word}` takes a text")
    return said


def _calls(message: Mapping[str, Any]) -> list[Act]:
    if "calls" not in message:
        return []
    asked = message["calls"] if isinstance(message["calls"], list) else [message["calls"]]
    if not asked or len(asked) > MAX_CALLS:
        raise NotUnderstood(f"`calls` takes 1 to {MAX_CALLS} calls")
    found: list[Act] = []
    for call in asked:
        if (
            not isinstance(call, dict)
            or not isinstance(call.get("tool"), str)
            or set(call) - {"tool", "arguments"}
        ):
            raise NotUnderstood('a call is {"tool": name, "arguments": …}')
        found.append(Call(call["tool"], canonical(call.get("arguments", {}))))
    return found


def _shown(line: str) -> str:
    """The beginning of a line, for a message on one line."""
    text = " ".join(line.split())
    return (text if len(text) <= 80 else text[:79] + "…").encode("utf-8", "backslashreplace").decode()
