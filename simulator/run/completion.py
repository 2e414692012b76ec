"""Whether an assistant answer completes its step, and the receipt that says so."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.canonical import CanonicalError, canonical
from windtunnel.compiler.evaluator import EvaluationError
from windtunnel.simulator.chat.log import COMPLETE, Answer
from windtunnel.simulator.events import ATTEMPT, PROMPT_ENTRY, RUN, Json, Mark, Record, Value
from windtunnel.simulator.run import words
from windtunnel.simulator.run.program import Agent
from windtunnel.simulator.run.state import Scope

RECEIPT_TEXT: Final = 2_000
"""Code points of the answer that a receipt repeats."""


class Completed(NamedTuple):
    """The exact text and its receipt."""

    text: str
    range: tuple[Value, ...]
    receipt: Record


class Rejected(NamedTuple):
    """Why the answer does not complete the step."""

    error: str


def limit_of(agent: Agent, scope: Scope) -> int | None:
    """The author's limit in code points. Raises EvaluationError when it is no positive whole number."""
    if agent.max_chars is None:
        return None
    limit = agent.max_chars(scope)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise EvaluationError(f"maxChars of {agent.id} is not a positive whole number")
    return limit


def judge(agent: Agent, scope: Scope, answer: Answer | None, entry: Mark) -> Completed | Rejected:
    """The last finalised message of an attempt, judged once its turn has settled."""
    if answer is None:
        return Rejected(words.NO_MESSAGE)
    if answer.stop == "error":
        return Rejected(words.provider_failed(answer.error or "unknown error"))
    if answer.stop == "aborted":
        return Rejected(words.ABORTED)
    if answer.stop not in COMPLETE:
        return Rejected(words.stopped(answer.stop))
    if not answer.text.strip():
        return Rejected(words.BLANK)
    try:
        limit = limit_of(agent, scope)
    except EvaluationError as error:
        return Rejected(str(error))
    if limit is not None and len(answer.text) > limit:
        return Rejected(words.too_long(len(answer.text), limit))
    return Completed(answer.text, (PROMPT_ENTRY, entry), receipt(agent, answer, limit, entry))


def receipt(agent: Agent, answer: Answer, limit: int | None, entry: Mark) -> Record:
    """What proves the answer: ids, digest, the text up to RECEIPT_TEXT, limit, and where it stands."""
    fields: list[tuple[str, Value]] = [
        ("attemptId", ATTEMPT),
        ("entryId", entry),
        ("nodeId", agent.id),
        ("range", (PROMPT_ENTRY, entry)),
        ("runId", RUN),
        ("sha256", hashlib.sha256(answer.text.encode()).hexdigest()),
        ("text", answer.text[:RECEIPT_TEXT]),
    ]
    if limit is not None:
        fields.append(("limit", limit))
    if answer.stop == "length":
        fields.append(("cut", True))
    return Record(tuple(sorted(fields, key=lambda field: field[0])))


def as_json(value: JsonValue) -> Json:
    """A value as the canonical text that the store keeps. Raises EvaluationError when it has none."""
    try:
        return Json(canonical(value))
    except CanonicalError as error:
        raise EvaluationError(f"a value cannot be written as JSON: {error}") from None
