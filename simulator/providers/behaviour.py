"""What a model does with one request, as frozen data: turns of acts, each turn with the reason it stopped.

A *request* is one prompt to the model: a step prompt, a reminder, or a resume. A *turn* is one message of
the model; the agent loop asks for another after tool results and after a retryable error. Everything is
hashable, and JSON stands as its canonical text, so behaviours can be compared, stored and replayed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol, TypeAlias, runtime_checkable

from pydantic import JsonValue

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.evaluator import Environment


class Stop(StrEnum):
    """Why a message ended; `ERROR` and `ABORTED` come from the provider, not from a person."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_USE = "toolUse"
    ERROR = "error"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class Text:
    """A visible text part."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A reasoning part; never visible output."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of any tool but the workflow tool; `arguments` is canonical JSON."""

    tool: str
    arguments: str = "{}"


class Addressed(StrEnum):
    """Which step and attempt a submission names."""

    HERE = "here"
    OTHER_STEP = "other step"
    STALE_ATTEMPT = "stale attempt"


@dataclass(frozen=True, slots=True)
class Submit:
    """A call of the workflow tool that submits `output`, a canonical JSON text, to `addressed`."""

    output: str
    addressed: Addressed = Addressed.HERE


@dataclass(frozen=True, slots=True)
class Update:
    """A call of the workflow tool that publishes progress."""

    key: str
    data: str


@dataclass(frozen=True, slots=True)
class Returns:
    """An effect was applied and gives `output`, a canonical JSON text. Not said by a model."""

    output: str


@dataclass(frozen=True, slots=True)
class Fails:
    """An effect was not applied. Not said by a model."""

    error: str


Act: TypeAlias = Text | Thinking | Call | Submit | Update | Returns | Fails


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the model.

    `error` is the provider's message and goes with `Stop.ERROR`; `retryable` lets the loop ask again after a
    back-off. `stalls` means that the message never comes: only a timeout or a person ends it.
    """

    acts: tuple[Act, ...] = ()
    stop: Stop = Stop.STOP
    error: str | None = None
    retryable: bool = False
    stalls: bool = False

    def __post_init__(self) -> None:
        calls = any(isinstance(act, Call | Submit | Update) for act in self.acts)
        assert calls == (self.stop is Stop.TOOL_USE) or self.stop in (
            Stop.LENGTH,
            Stop.ERROR,
            Stop.ABORTED,
        ), "a message with a tool call stops for its use, and one without does not"
        assert (self.error is not None) == (self.stop is Stop.ERROR), "an error and its message come together"
        assert not self.retryable or self.stop is Stop.ERROR, "only an error can be retried"


SILENCE: Final = Turn()
"""What a model says when its behaviour has no turn left: nothing."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The turns of one request, in order; `deviation` names what is wrong, None for good behaviour."""

    name: str
    turns: tuple[Turn, ...]
    deviation: str | None = None

    def turn(self, number: int) -> Turn:
        """Turn `number`, counted from 0; silence past the end."""
        assert number >= 0, "turns are counted from 0"
        return self.turns[number] if number < len(self.turns) else SILENCE


@dataclass(frozen=True, slots=True)
class Menu:
    """What a provider may do with one request: good behaviour first, then deviations.

    `gap` says why no good behaviour could be made; then `quiet` holds none.
    """

    quiet: tuple[Behaviour, ...]
    deviations: tuple[Behaviour, ...] = ()
    gap: str | None = None

    def __post_init__(self) -> None:
        assert bool(self.quiet) == (self.gap is None), "a menu has good behaviour, or says why not"
        names = [behaviour.name for behaviour in (*self.quiet, *self.deviations)]
        assert len(set(names)) == len(names), "the names of a menu are unique"


class Kind(StrEnum):
    """Why the model is asked, or that an effect is called."""

    STEP = "step"
    REMINDER = "reminder"
    RESUME = "resume"
    EFFECT = "effect"


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt to the model, or one call of an effect, whose argument `prompt` is then, as canonical JSON.

    The turn of an effect holds one act, `Returns` or `Fails`; one that stalls gives no reply, but is applied
    where it returns.

    `node` is a qualified id; `visit` counts from 1 within the invocation. `max_chars` is the limit of an
    assistant answer in code points. `environment` is what the node's expressions read; it takes no part in
    the comparison of requests. `turns_taken` are the messages that the model sent in this visit before.
    """

    node: str
    visit: int
    kind: Kind
    prompt: str
    max_chars: int | None
    environment: Environment = field(compare=False, repr=False)
    turns_taken: int = 0


@runtime_checkable
class Provider(Protocol):
    """What stands in for the model. Implement it to bring your own.

    A provider is a pure function: the same request gives an equal menu, always. It keeps no state and reads
    no clock; the run chooses which behaviour happens, so that each can be explored and replayed.
    """

    def menu(self, request: Request) -> Menu:
        """What the model may do with `request`, good behaviour first."""
        ...


def submission(output: JsonValue, addressed: Addressed = Addressed.HERE) -> Submit:
    """A submission of a JSON value."""
    return Submit(canonical(output), addressed)


def submits(name: str, output: JsonValue) -> Behaviour:
    """Good behaviour of a step that a submission finishes: submit, and stop when accepted."""
    return Behaviour(name, (Turn((submission(output),), Stop.TOOL_USE), SILENCE))


def returns(name: str, output: JsonValue) -> Behaviour:
    """Good behaviour of an effect."""
    return Behaviour(name, (Turn((Returns(canonical(output)),)),))


def says(name: str, text: str) -> Behaviour:
    """Good behaviour of a step that is finished by a visible answer."""
    return Behaviour(name, (Turn((Text(text),)),))
