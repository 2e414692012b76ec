"""Every sentence that the engine says: to the model in prompts and replies, to the person in errors."""

from __future__ import annotations

from typing import Final

from windtunnel.compiler.contract import (
    ASSISTANT_REFUSAL,
    assistant_contract,
    prompt_with,
    submit_contract,
)
from windtunnel.simulator.events import ATTEMPT_TEXT
from windtunnel.simulator.run.program import Agent, Program

NOT_SUBMITTED: Final = ASSISTANT_REFUSAL
NOTHING_AWAITED: Final = "No workflow step is awaiting output."
STALE: Final = "This attempt of the step is over; its submissions are refused."
ACCEPTED: Final = "Accepted. The workflow goes on."
PUBLISHED: Final = "Published."

RESUME: Final = "The workflow was interrupted during this step; please go on with it."

EDITED: Final = "The workflow is not the one that this run was begun with; nothing was done."
NO_ORIGIN: Final = "Assistant completion requires an origin session."
NO_MESSAGE: Final = "The turn ended without a final message."
BLANK: Final = "The final message has no visible text."
ABORTED: Final = "The provider aborted the turn."
EXPIRED: Final = "Nobody answered in time."
NOTHING_ASKED: Final = "Nothing waits for this answer."
OTHER_REQUEST: Final = "This answers another request."
TOO_LATE: Final = "The time to answer was up."
CANCELLED: Final = "Cancelled."


def prompt(program: Program, agent: Agent, text: str, max_chars: int | None) -> str:
    """A step's prompt with its contract last."""
    return prompt_with(text, _contract(program, agent, max_chars))


def reminder(program: Program, agent: Agent) -> str:
    """What a model is told that stopped without submitting."""
    return prompt_with(f"The step {agent.id} still waits for its output.", _contract(program, agent, None))


def _contract(program: Program, agent: Agent, max_chars: int | None) -> str:
    if agent.type is None:
        return assistant_contract(max_chars)
    snapshot = program.snapshot
    return submit_contract(snapshot.workflow, agent.id, ATTEMPT_TEXT, agent.type.type, snapshot.types)


def wrong_step(named: str, pending: str) -> str:
    """A submission for a step that does not wait."""
    return f"The step {named} is not awaiting output; {pending} is."


def refused(problems: str) -> str:
    """A submission that does not fit."""
    return f"The output was refused: {problems}"


def not_submitted(prompts: int) -> str:
    """The error of a step that settled without a submission after every reminder."""
    return f"The model settled {prompts} times without submitting the output of this step."


def fallback(workflow: str, status: str, error: str) -> str:
    """What a model is told of a run that ended badly, so that it can tell the person."""
    return f"The workflow {workflow} ended as {status}: {error} Tell the person so, in a sentence."


def too_long(length: int, limit: int) -> str:
    """The error of an answer over its limit."""
    return f"The answer has {length} characters; the limit is {limit}."


def stopped(reason: str) -> str:
    """The error of an answer that stopped for no good reason."""
    return f"The answer ended with the stop reason {reason}."


def provider_failed(error: str) -> str:
    """The error of a provider."""
    return f"The provider failed: {error}"


def timed_out(timeout_ms: int) -> str:
    """The error of an attempt that used up its time."""
    return f"Timed out after {timeout_ms} ms."


def no_arm(subject: str) -> str:
    """The error of a match that takes no arm."""
    return f"No arm takes the value {subject}."


def max_steps(limit: int) -> str:
    """The error of a run that took too many steps."""
    return f"The run reached maxSteps={limit}."


def exit_code(code: object, stderr: str) -> str:
    """The error of a command that failed."""
    return f"The command ended with exit code {code}{f': {stderr}' if stderr else '.'}"


def not_returned(problems: str) -> str:
    """The error of an effect that returned what does not fit."""
    return f"What came back does not fit: {problems}"


def no_choice(id: str) -> str:
    """An answer with a choice that there is not."""
    return f"There is no choice {id}."


def not_asked(id: str) -> str:
    """An answer that says more than its choice asks for."""
    return f"The choice {id} asks for nothing."
