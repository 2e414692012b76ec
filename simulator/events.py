"""What can happen, as frozen data: events of the trace, messages between processes, effects of handlers.

Names are relative while a run goes on: an attempt is `current` or `older`, an entry of the session log is the
`prompt` or the `answer` of the current attempt. A `Mark` stands for such a name; `trace` puts the absolute
one in its place when a path is printed. So equal situations are equal values, whatever came before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias, Union

from windtunnel.simulator.providers.behaviour import Submit

CURRENT: Final = "current"
"""The attempt of the node that is in flight, or that ended last."""

NO_ATTEMPT: Final = ""
"""Of a turn that no step asked for."""

OLDER: Final = "older"
"""Any attempt before the current one."""


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON value as its canonical text."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A relative name or a measure that only a printed path has."""

    what: str


@dataclass(frozen=True, slots=True)
class Record:
    """A record inside a payload."""

    fields: Payload


Value: TypeAlias = Union[str, int, bool, Json, Mark, Record, "tuple[Value, ...]", None]
Payload: TypeAlias = tuple[tuple[str, Value], ...]

ATTEMPT: Final = Mark("attempt")
OLDER_ATTEMPT: Final = Mark("older attempt")
RUN: Final = Mark("run")
ANSWER_ENTRY: Final = Mark("answer entry")
OLDER_ENTRY: Final = Mark("older entry")
PROMPT_ENTRY: Final = Mark("prompt entry")
ELAPSED: Final = Mark("elapsed")
INVOCATION: Final = Mark("invocation")
CONTINUED: Final = Mark("continued run")
NOTICE: Final = Mark("notice")
THIS_NOTICE: Final = Mark("this notice")
THIS_INVOCATION: Final = Mark("this invocation")
REPLAYED: Final = Mark("replayed steps")

ATTEMPT_TEXT: Final = "\ue000attempt\ue001"
"""Stands in a prompt for the id of the current attempt."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the trace. `attempt` is None where no attempt is meant."""

    scope: str
    type: str
    node: str | None = None
    attempt: str | None = None
    payload: Payload = ()

    def get(self, key: str) -> Value:
        """A value of the payload; None if there is none."""
        for name, value in self.payload:
            if name == key:
                return value
        return None

    def text(self, key: str) -> str:
        """A text of the payload that must be there."""
        value = self.get(key)
        assert isinstance(value, str), f"{self.type} carries the text {key}"
        return value


@dataclass(frozen=True, slots=True)
class Row:
    """One entry of the session log.

    `kind` is `session`, `step` (a prompt of the engine), `user`, `queued` (an accepted follow-up),
    `assistant`, `tool`, `notice` (a notification of `node`), `leaf` (another branch is the current one) or
    `turn` (a prompt of the engine that no step asked for).
    `prompt` tells step prompts apart: `step`, `reminder`, `resume`. `stop` is an assistant row's stop reason,
    `calls` the tools that it calls.
    """

    kind: str
    text: str = ""
    node: str | None = None
    attempt: str | None = None
    completion: str | None = None
    prompt: str | None = None
    max_chars: int | None = None
    stop: str | None = None
    calls: tuple[str, ...] = ()
    consumes: bool = False


# --- messages inside the host -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepRef:
    """Which prompt a message belongs to; `ordinal` counts the prompts of one attempt in one process."""

    attempt: str
    ordinal: int
    completion: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the model: everything of a provider's request but the environment."""

    node: str
    visit: int
    kind: str
    prompt: str
    max_chars: int | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """Engine to loop: deliver this prompt as soon as the loop is idle."""

    step: StepRef
    question: Question


@dataclass(frozen=True, slots=True)
class Reply:
    """Engine to loop: the result of a call of the workflow tool.

    `verdict` is `accepted` (the step is complete), `noted` (progress), `refused`, or `late` (refused, since
    another one was accepted); `copy` names a call that was repeated.
    """

    verdict: str
    text: str
    copy: bool


@dataclass(frozen=True, slots=True)
class Abort:
    """Engine to loop: end the turn of this attempt and withdraw a prompt of it that was not sent."""

    attempt: str


@dataclass(frozen=True, slots=True)
class Say:
    """Person to loop: a message."""

    text: str


@dataclass(frozen=True, slots=True)
class Escape:
    """Person to loop: stop the turn that is running."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Person to loop: go to the branch of the session before the last prompt, or back to the one below it."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """Loop to engine: the prompt stands in the session log."""

    prompt: Prompt


@dataclass(frozen=True, slots=True)
class Submitted:
    """Loop to engine: the model submitted. `attempt` ages when the call is late.

    `hangs` says that its check never ends.
    """

    call: Submit
    attempt: str = CURRENT
    copy: bool = False
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Published:
    """Loop to engine: the model published progress."""

    key: str
    data: str
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """Loop to engine: a message of a turn ended; `point` is `message_end` or `turn_end`.

    `text` joins the visible parts with newlines; `own` tells the step's turn from a follow-up's in the same
    run.
    """

    step: StepRef
    point: str
    own: bool
    text: str
    stop: str
    error: str | None = None
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """Loop to engine: the agent run is over; `step` is None for a run that the user began.

    `why` is the last stop reason, or `escape`, `aborted` (by the engine), `withdrawn`.
    """

    step: StepRef | None
    why: str
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Cancel:
    """Person to engine: end the run."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Person to engine: hold the run as soon as the step in flight has ended."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Person to engine: the definition that its host is about to load is not the one of the run."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """Person to engine: the definition of the run is there again."""


@dataclass(frozen=True, slots=True)
class Release:
    """Person to engine: go on after a pause or an escape, or do not pause after all."""


@dataclass(frozen=True, slots=True)
class Timeout:
    """Clock to engine: the attempt used up its time."""

    attempt: str
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """Outside to engine: an effect came back, with `output` as canonical JSON, or failed with `error`."""

    output: str | None
    error: str = ""
    attempt: str = CURRENT
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """Person to engine: an answer to the request with that digest.

    `choice` is None for a checkpoint; `value` is canonical JSON: what the choice asks for, or the answer.
    `overdue` says that it arrives when the time is up; `rival` is another answer that will come later.
    """

    digest: str
    choice: str | None
    value: str | None = None
    attempt: str = CURRENT
    overdue: bool = False
    copy: bool = False
    rival: Answered | None = None


@dataclass(frozen=True, slots=True)
class Deadline:
    """Clock to engine: the time to answer the request of the attempt is up."""

    attempt: str = CURRENT
    copy: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A process goes on by itself."""


ToLoop: TypeAlias = Prompt | Reply | Abort | Say | Escape | Switch | Step
FromOutside: TypeAlias = Returned | Answered | Deadline | Timeout
ToEngine: TypeAlias = (
    Delivered
    | Submitted
    | Published
    | Heard
    | Settled
    | Cancel
    | Edit
    | Pause
    | PutBack
    | Release
    | FromOutside
    | Step
)
Inside: TypeAlias = Prompt | Reply | Abort | Delivered | Submitted | Published | Heard | Settled | FromOutside


# --- effects ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Commit:
    """One transaction of the store: these run events, all or none."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Append:
    """Entries handed to the session log in one write; a crash inside may leave the first few and a torn
    line.
    """

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """Cut a torn last line off the session log."""


@dataclass(frozen=True, slots=True)
class Emit:
    """An event that nothing durable holds."""

    event: Event


@dataclass(frozen=True, slots=True)
class Tell:
    """Put a message into the host's own queue; `to` is `loop` or `engine`."""

    to: str
    message: Inside


@dataclass(frozen=True, slots=True)
class Ask:
    """Call the provider: with a question, None for a message of the person, or `again` for the next turn."""

    question: Question | None
    again: bool = False


@dataclass(frozen=True, slots=True)
class HangUp:
    """Abort the call of the provider; what it still sends is dropped."""


@dataclass(frozen=True, slots=True)
class Perform:
    """Call an effect outside; the question's prompt is what it is given, as canonical JSON.

    With a `key` the outside applies it once for all calls of that `name` and key.
    """

    question: Question
    name: str
    key: str | None


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Nobody waits for the effect that was called any more."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Start the timer of the current attempt, or let it run on with what was left."""

    timeout_ms: int


@dataclass(frozen=True, slots=True)
class Disarm:
    """Stop the timer; one that is `held` runs on later with what is left."""

    held: bool = False


Action: TypeAlias = Commit | Append | Repair | Emit | Tell | Ask | HangUp | Perform | Withdraw | Arm | Disarm
DURABLE: Final = (Commit, Append, Repair)
"""The actions that a crash cannot undo."""
