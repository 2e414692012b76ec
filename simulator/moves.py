"""What can happen next, in words of values: the quiet moves in their fixed order, then every fault.

The host drains its own queue before anything from outside reaches it, so a move of a person, of the provider
or of the clock is listed only while the queue is empty. What may be late stays late as long as it likes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from windtunnel.simulator import network
from windtunnel.simulator.around import Role
from windtunnel.simulator.chat.loop import Begins, Grows, Item, Loop
from windtunnel.simulator.clock import Timer
from windtunnel.simulator.events import (
    CURRENT,
    Answered,
    Cancel,
    Deadline,
    Delivered,
    Edit,
    Escape,
    Heard,
    Pause,
    Prompt,
    PutBack,
    Release,
    Reply,
    Returned,
    Say,
    Settled,
    Step,
    Submitted,
    Switch,
    Tell,
    Timeout,
    ToEngine,
    ToLoop,
)
from windtunnel.simulator.network import Inbox, Late, Provider, Wire
from windtunnel.simulator.providers.behaviour import Behaviour, Menu
from windtunnel.simulator.run.engine import Engine

THE_HOST: Final = Role()

FOLLOW_UP: Final = "Any news?"
"""What a person says in exploration."""


class Links(NamedTuple):
    """What is under way, but for late messages."""

    inbox: Inbox
    wire: Wire
    provider: Provider
    timer: Timer | None


class Beyond(NamedTuple):
    """What else can happen: `effect` is what the effect in flight may do, `answers` what people may answer,
    each with its name; `due` says that the time to answer can run out, `notice` that one is queued.
    """

    effect: Menu | None = None
    answers: tuple[tuple[str, Answered], ...] = ()
    due: bool = False
    notice: bool = False


NOTHING: Final = Beyond()


class Draft(NamedTuple):
    """A move: who gets what, and the links without it.

    `kind` is the fault it costs, "" for none; `source` is where the message comes from: `queue`, `wire`,
    `provider`, `outside`, `late`, `self`, `answer`, `person` or `clock`. `again` says that the message will
    come once more, late.
    """

    kind: str
    source: str
    handler: str
    message: ToLoop | ToEngine | Item | Behaviour
    links: Links
    label: str
    again: bool = False


class Drafts(NamedTuple):
    """Every move but those of late messages, which stand between the two: `first` is quiet, `rest` begins
    with it.
    """

    first: tuple[Draft, ...]
    rest: tuple[Draft, ...]


class Host(NamedTuple):
    """A host's local state, whether its run is over, whether the person may pause it, and who it is.

    `branches` says that the session is one with branches, and that a step is in flight; `also` is that of the
    hosting; `owed` says that a turn is due.
    """

    loop: Loop
    engine: Engine
    over: bool
    pausable: bool = False
    role: Role = THE_HOST
    branches: bool = False
    also: tuple[str, ...] = ()
    owed: bool = False


def moves(host: Host, links: Links, menu: Menu | None, beyond: Beyond = NOTHING, *, late: bool) -> Drafts:
    """Every move. `menu` is what the provider may do, where it is asked; `late` whether a late message can
    come.
    """
    if links.inbox:
        return Drafts(_queue(host, links), ())
    first = (
        *_steps(host, links, beyond),
        *_stream(links),
        *_behaviours(links, menu, good=True),
        *_effects(links, beyond, good=True),
        *_answers(links, beyond),
    )
    rest: list[Draft] = []
    if host.engine.phase == "held":
        rest.append(Draft("", "person", "engine", Release(), links, "the person lets the run go on"))
    if host.engine.phase == "refused":
        rest.append(Draft("", "person", "engine", PutBack(), links, "the workflow is put back as it was"))
    faults = [*_behaviours(links, menu, good=False), *_effects(links, beyond, good=False)]
    faults += [*_repeats(links), *_more_answers(links, beyond), *_people(host, links)]
    if links.timer is not None:
        label = "the time of the step is up"
        up = Draft("", "clock", "engine", Timeout(CURRENT), links._replace(timer=None), label)
        if "late-timer" in host.also:
            label = f"{label}, and the word of it comes late"
            faults.append(up._replace(kind="timeout", handler="later", again=True, label=label))
        if first or rest or late:
            faults.append(up._replace(kind="timeout"))
        else:
            rest.append(up)
    return Drafts(first, (*rest, *faults))


def late_moves(late: Late, links: Links) -> tuple[Draft, ...]:
    """The late messages, each of which may come next."""
    found = []
    for message in late:
        assert isinstance(message, network.Repeatable), "only what repeats comes late"
        label = f"engine gets {describe(Tell('engine', message))} again"
        found.append(Draft("", "late", "engine", message, links, label))
    return tuple(found)


def _queue(host: Host, links: Links) -> tuple[Draft, ...]:
    """The message in front of the host's queue; a report of the loop may also come once more, later."""
    told = links.inbox[0]
    rest = links._replace(inbox=links.inbox[1:])
    label = f"{told.to} gets {describe(told)}"
    found = [Draft("", "queue", told.to, told.message, rest, label)]
    if network.repeatable(told.message):
        label = f"{label}, which will come again"
        found.append(Draft("duplicate", "queue", told.to, told.message, rest, label, again=True))
    if "hang" in host.also and isinstance(told.message, Submitted) and links.timer is not None:
        hangs = replace(told.message, hangs=True)
        found.append(Draft("provider", "queue", told.to, hangs, rest, "the check of a submission hangs"))
    return tuple(found)


def _steps(host: Host, links: Links, beyond: Beyond) -> list[Draft]:
    """What loop, engine and the delivery of notifications do by themselves."""
    loop, engine, found = host.loop, host.engine, list[Draft]()
    if loop.phase == "down":
        return [Draft("", "self", "loop", Step(), links, "the host opens the session")]
    if loop.phase == "stopping" or (loop.phase == "idle" and loop.waiting is not None):
        found.append(Draft("", "self", "loop", Step(), links, "the agent loop goes on"))
    goes_on = ("down", "recover", "ready", "watching") if host.role.works else ("down",)
    if host.engine.phase in goes_on:
        found.append(Draft("", "self", "engine", Step(), links, "the engine goes on"))
    if host.owed and host.role.session and engine.phase in ("over", "waiting") and not engine.telling:
        found.append(Draft("", "self", "engine", Step(), links, "the engine asks for the turn that is due"))
    if beyond.notice:
        found.insert(0, Draft("", "self", "outbox", Step(), links, "a notification is delivered"))
    return found


def _stream(links: Links) -> list[Draft]:
    if not links.wire:
        return []
    item = links.wire[0]
    rest = links._replace(wire=links.wire[1:])
    return [Draft("", "wire", "loop", item, rest, f"the loop gets {_piece(item)}")]


def _behaviours(links: Links, menu: Menu | None, *, good: bool) -> list[Draft]:
    if menu is None:
        return []
    found = []
    for behaviour in menu.quiet if good else menu.deviations:
        provider, wire = network.answer(links.provider, links.wire, behaviour)
        after = links._replace(provider=provider, wire=wire)
        kind = "" if good else "provider"
        found.append(Draft(kind, "provider", "provider", behaviour, after, f"the model: {behaviour.name}"))
    return found


def _effects(links: Links, beyond: Beyond, *, good: bool) -> list[Draft]:
    if beyond.effect is None:
        return []
    kind = "" if good else "provider"
    may = beyond.effect.quiet if good else beyond.effect.deviations
    return [Draft(kind, "outside", "outside", one, links, f"the effect: {one.name}") for one in may]


def _answers(links: Links, beyond: Beyond) -> list[Draft]:
    """A person answers, or nobody does until the time is up."""
    found = [
        Draft("", "answer", "engine", answer, links, f"the person {name}") for name, answer in beyond.answers
    ]
    if beyond.due:
        found.append(Draft("", "clock", "engine", Deadline(), links, "the time to answer is up"))
    return found


def _more_answers(links: Links, beyond: Beyond) -> list[Draft]:
    """Answers that come twice, or against another one, or too late; and a deadline that fires twice."""
    found: list[Draft] = []
    for name, answer in beyond.answers:
        label = f"the person {name}, and it will come again"
        found.append(Draft("duplicate", "answer", "engine", answer, links, label, again=True))
        other = next(((word, rival) for word, rival in beyond.answers if rival != answer), None)
        if other is not None:
            both = replace(answer, rival=other[1])
            label = f"the person {name}; another one, who {other[0]}, is later"
            found.append(Draft("duplicate", "answer", "engine", both, links, label, again=True))
    if beyond.due:
        label = "the time to answer is up, twice"
        found.append(Draft("duplicate", "clock", "engine", Deadline(), links, label, again=True))
        for name, answer in beyond.answers[:1]:
            label = f"the person {name} when the time is up"
            found.append(Draft("timeout", "answer", "engine", replace(answer, overdue=True), links, label))
    return found


def _repeats(links: Links) -> list[Draft]:
    if not links.wire or links.wire[0].gap == 0:
        return []
    item = links.wire[0]
    twice = links._replace(wire=network.repeat_item(links.wire)[1:])
    return [Draft("duplicate", "wire", "loop", item, twice, f"the loop gets {_piece(item)} twice")]


def _people(host: Host, links: Links) -> list[Draft]:
    loop, engine, role, found = host.loop, host.engine, host.role, list[Draft]()
    if role.chat and loop.phase in ("asked", "streaming", "tools", "stopping") and loop.why != "escape":
        found.append(Draft("escape", "person", "loop", Escape(), links, "the person presses Escape"))
    if host.branches and role.chat and loop.phase == "idle" and engine.phase in ("down", "recover", "held"):
        label = "the person goes to another branch of the session"
        found.append(Draft("branch", "person", "loop", Switch(), links, label))
    if "edit" in host.also and engine.phase == "down" and not engine.edited and not host.over:
        found.append(Draft("edit", "person", "engine", Edit(), links, "somebody edits the workflow"))
    if host.pausable and role.works:
        found.append(Draft("pause", "person", "engine", Pause(), links, "the person pauses the run"))
    if host.over or loop.phase == "down" or engine.phase == "down":
        return found
    if role.works:
        found.append(Draft("cancel", "person", "engine", Cancel(), links, "the person cancels the run"))
    if role.chat:
        found.append(Draft("followup", "person", "loop", Say(FOLLOW_UP), links, "the person sends a message"))
    return found


def describe(told: Tell) -> str:
    """A message of the host's queue in a few words."""
    match told.message:
        case Prompt(_, question):
            return f"the {question.kind} prompt of {question.node}"
        case Reply(verdict):
            return f"the reply to its call ({verdict})"
        case Delivered():
            return "the delivery of its prompt"
        case Submitted():
            return "a submission"
        case Timeout():
            return "the word of a timer"
        case Heard(point=point):
            return "a message that ended" if point == "message_end" else "a turn that ended"
        case Returned(output=output):
            return "the failure of its effect" if output is None else "what its effect returned"
        case Answered():
            return "an answer"
        case Deadline():
            return "the end of the time to answer"
        case Settled(why=why):
            return f"the settlement ({why})"
        case _:
            return type(told.message).__name__.lower()


def _piece(item: Item) -> str:
    if isinstance(item.piece, Begins):
        return "the beginning of a message"
    return "a piece of a message" if isinstance(item.piece, Grows) else "the end of a message"
