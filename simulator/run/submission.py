"""Whether a submission is accepted, in words that the model can act on when it is not."""

from __future__ import annotations

from typing import NamedTuple

from windtunnel.compiler.acceptance import Refused
from windtunnel.compiler.canonical import CanonicalError, canonical, parse_json
from windtunnel.compiler.evaluator import EvaluationError
from windtunnel.simulator.events import CURRENT, Submitted
from windtunnel.simulator.providers.behaviour import Addressed
from windtunnel.simulator.run import words
from windtunnel.simulator.run.program import Agent, Program
from windtunnel.simulator.run.state import Scope


class Output(NamedTuple):
    """The accepted output as canonical text, defaults filled."""

    text: str


class Refusal(NamedTuple):
    """Why not."""

    reason: str


def judge(program: Program, agent: Agent, scope: Scope, message: Submitted) -> Output | Refusal:
    """A submission while `agent` awaits one."""
    if agent.type is None:
        return Refusal(words.NOT_SUBMITTED)
    call = message.call
    if call.addressed is Addressed.OTHER_STEP:
        return Refusal(words.wrong_step(f"{agent.id}-other", agent.id))
    stale = call.addressed is Addressed.STALE_ATTEMPT or message.attempt != CURRENT
    if stale and "W08" not in program.switches:
        return Refusal(words.STALE)
    try:
        value = parse_json(call.output)
    except CanonicalError as error:
        return Refusal(words.refused(str(error)))
    verdict = agent.type.accept(value)
    if isinstance(verdict, Refused):
        return Refusal(words.refused(str(verdict)))
    if agent.validator is not None:
        try:
            broken = agent.validator(scope, verdict.value)
        except EvaluationError as error:
            return Refusal(words.refused(str(error)))
        if broken:
            return Refusal(words.refused("; ".join(broken)))
    return Output(canonical(verdict.value))
