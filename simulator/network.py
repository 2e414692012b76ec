"""The links: the stream from the provider, the host's own queue, and messages that come a second time, late.

Everything is a frozen tuple and every function pure. A piece of a stream carries a gap instead of a number, a
late message the age of its attempt, so equal links are equal values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from windtunnel.simulator.chat.loop import Item, stream
from windtunnel.simulator.events import (
    CURRENT,
    OLDER,
    Answered,
    Ask,
    Deadline,
    Heard,
    Inside,
    Question,
    Returned,
    Settled,
    Submitted,
    Tell,
    Timeout,
)
from windtunnel.simulator.providers.behaviour import Behaviour, says

CHAT: Final = says("replies", "Noted.")
"""What the model says to a person's own message."""

Wire = tuple[Item, ...]
Inbox = tuple[Tell, ...]
Late = tuple[Inside, ...]


NOT_COUNTED: Final = -1


class Provider(NamedTuple):
    """The provider's side of a call: `asked` waits for a behaviour; `turn` is the next one to send.

    `sent` counts the messages of one visit (`of`) for a provider that follows a script; NOT_COUNTED for all
    others, whose behaviour does not depend on it. The script outlives every crash of the host.
    """

    asked: bool = False
    question: Question | None = None
    behaviour: Behaviour | None = None
    turn: int = 0
    sent: int = NOT_COUNTED
    of: tuple[str, int] | None = None


def idle(provider: Provider) -> Provider:
    """The provider when its call is over, whoever ended it."""
    return Provider(sent=provider.sent, of=provider.of)


def ask(provider: Provider, wire: Wire, call: Ask) -> tuple[Provider, Wire]:
    """A call goes out: a new one waits for a choice, the next turn of one in progress streams at once."""
    if not call.again:
        return _asked(provider, call.question), wire
    assert provider.behaviour is not None, "a next turn follows a first one"
    return _send(provider, wire)


def _asked(provider: Provider, question: Question | None) -> Provider:
    if provider.sent == NOT_COUNTED or question is None:
        return idle(provider)._replace(asked=True, question=question)
    visit = (question.node, question.visit)
    sent = provider.sent if provider.of == visit else 0
    return Provider(True, question, sent=sent, of=visit)


def answer(provider: Provider, wire: Wire, behaviour: Behaviour) -> tuple[Provider, Wire]:
    """The provider behaves so: its first turn streams."""
    return _send(provider._replace(asked=False, behaviour=behaviour, turn=0), wire)


def _send(provider: Provider, wire: Wire) -> tuple[Provider, Wire]:
    assert provider.behaviour is not None, "only a behaviour has turns"
    turn = provider.behaviour.turn(provider.turn)
    # Past its last turn a behaviour only stays silent, so the count need not grow.
    following = min(provider.turn + 1, len(provider.behaviour.turns))
    if provider.sent != NOT_COUNTED and provider.question is not None:
        provider = provider._replace(sent=provider.sent + 1)
    return provider._replace(turn=following), (*wire, *stream(turn))


def repeat_item(wire: Wire) -> Wire:
    """The piece in front comes twice."""
    return (wire[0], replace(wire[0], gap=0), *wire[1:])


Repeatable: TypeAlias = Submitted | Settled | Heard | Returned | Answered | Deadline | Timeout


def repeatable(message: Inside) -> bool:
    """Calls of the workflow tool, reports of a turn, returns of effects, and answers may come twice."""
    return isinstance(message, Repeatable) and not message.copy


def repeat_late(late: Late, message: Inside) -> Late:
    """The message comes a second time, whenever; or its rival does."""
    assert isinstance(message, Repeatable), "only repeatable messages repeat"
    if isinstance(message, Answered) and message.rival is not None:
        message = message.rival
    return tuple(sorted((*late, replace(message, copy=True)), key=repr))


def drop_late(late: Late, message: Inside) -> Late:
    """The late message has come."""
    at = late.index(message)
    return (*late[:at], *late[at + 1 :])


def age_late(late: Late) -> Late:
    """A new attempt begins: what is still under way belongs to an older one."""
    return tuple(sorted((_aged(message) for message in late), key=repr))


def _aged(message: Inside) -> Inside:
    if isinstance(message, Submitted | Returned | Answered | Deadline | Timeout):
        return replace(message, attempt=OLDER)
    if isinstance(message, Settled | Heard) and message.step is not None and message.step.attempt == CURRENT:
        return replace(message, step=replace(message.step, attempt=OLDER, ordinal=0))
    return message
