"""The agent loop: one conversation with a model, as a pure handler.

It sends prompts when it is idle, shows what the model streams, runs tools, drains follow-ups when it would
otherwise stop, and settles once. The engine hears of each message and of the end; it never touches the loop's
state.

A deviation of the model never surprises the loop: stream items that repeat are dropped, replies to a call
that was answered are dropped, and what follows an accepted submission is neither shown nor kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from windtunnel.simulator.chat.log import Conversation
from windtunnel.simulator.events import (
    ATTEMPT,
    CURRENT,
    NO_ATTEMPT,
    Abort,
    Action,
    Append,
    Ask,
    Delivered,
    Emit,
    Escape,
    Event,
    HangUp,
    Heard,
    Prompt,
    Published,
    Repair,
    Reply,
    Row,
    Say,
    Settled,
    Step,
    StepRef,
    Submitted,
    Switch,
    Tell,
    ToLoop,
    Value,
)
from windtunnel.simulator.providers.behaviour import Act, Call, Stop, Submit, Text, Turn, Update

TOOL_RESULT: Final = "ok"
"""What every tool but the workflow tool returns here."""

CLOSED: Final = "The call was not finished."
"""The result that closes a call whose run was aborted or lost."""


class Loop(NamedTuple):
    """Volatile state. `phase` is `down`, `idle`, `asked`, `streaming`, `tools` or `stopping`.

    `own` tells the step's turn from the turn of a follow-up in the same run; `calls` wait for the one in
    front, `kept` says that their message stands in the log; `muted` since a submission was accepted;
    `frozen` is why the step's own part ended, once follow-ups run; `held` keeps the queue after an error or
    an abort; `late` counts calls after an accepted submission: after two the model is not asked again.
    """

    phase: str = "down"
    step: StepRef | None = None
    own: bool = False
    shown: str | None = None
    calls: tuple[Act, ...] = ()
    kept: bool = False
    muted: bool = False
    why: str = ""
    frozen: str = ""
    waiting: Prompt | None = None
    held: bool = False
    late: int = 0


@dataclass(frozen=True, slots=True)
class Begins:
    """Provider to loop: a message begins."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Grows:
    """Provider to loop: its visible text so far; one piece is enough."""

    text: str


@dataclass(frozen=True, slots=True)
class Ends:
    """Provider to loop: the whole message."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of a stream; `gap` is 0 for a repetition of the piece before it, else 1."""

    piece: Begins | Grows | Ends
    gap: int = 1


Result = tuple[Loop, tuple[Action, ...]]
IDLE: Final = Loop("idle")


def stream(turn: Turn) -> tuple[Item, ...]:
    """What the provider sends for one turn; nothing for one that stalls."""
    if turn.stalls:
        return ()
    text = visible(turn)
    grows = (Item(Grows(text)),) if text else ()
    return (Item(Begins(turn)), *grows, Item(Ends(turn)))


def visible(turn: Turn) -> str:
    """The visible text parts, joined with newlines; no thinking, no tool calls."""
    return "\n".join(act.text for act in turn.acts if isinstance(act, Text))


def loop(local: Loop, log: Conversation, message: ToLoop | Item) -> Result:
    """One transition of the loop."""
    match message:
        case Item():
            return _item(local, message)
        case Step():
            return _step(local, log)
        case Prompt():
            if local.phase != "idle":
                return local._replace(waiting=message), ()
            return _start(local, log, message)
        case Reply():
            return _reply(local, message)
        case Abort():
            return _abort(local, message)
        case Say():
            return _say(local, log, message)
        case Escape():
            return _close(local, "escape")
        case Switch():
            # While a turn goes on, its rows belong where it began.
            moves = (Append((Row("leaf"),)), Emit(Event("session", "branch_switched")))
            return local, moves if local.phase == "idle" else ()


def _event(type_: str, local: Loop, **payload: Value) -> Emit:
    """An event of the conversation, with the attempt that it belongs to."""
    attempt = (local.step.attempt or None) if local.step is not None and local.own else None
    return Emit(Event("agent", type_, None, attempt, tuple(sorted(payload.items()))))


def _start(local: Loop, log: Conversation, prompt: Prompt) -> Result:
    question = prompt.question
    header = (Row("session"),) if log.empty else ()
    row = Row("turn", question.prompt, prompt=question.kind)
    if prompt.step.attempt != NO_ATTEMPT:
        row = Row(
            "step",
            question.prompt,
            node=question.node,
            attempt=CURRENT,
            completion=prompt.step.completion,
            prompt=question.kind,
            max_chars=question.max_chars,
        )
    local = Loop("asked", prompt.step, own=True, held=local.held)
    return local, (
        Append((*header, row)),
        Tell("engine", Delivered(prompt)),
        _event("agent_start", local),
        _event("turn_start", local),
        _event("message_start", local, role="user", step=ATTEMPT),
        _event("message_end", local, role="user"),
        Ask(question),
    )


def _item(local: Loop, item: Item) -> Result:
    if item.gap == 0 or local.phase not in ("asked", "streaming"):
        return local, ()
    match item.piece:
        case Begins():
            local = local._replace(phase="streaming")
            return local, () if local.muted else (_event("message_start", local, role="assistant"),)
        case Grows(text):
            if local.muted:
                return local, ()
            return local._replace(shown=text), (_event("message_update", local, delta=text),)
        case Ends(turn):
            return _message(local, turn)


def _message(local: Loop, turn: Turn) -> Result:
    """A message ended: keep it, then run its tools, ask again, or stop."""
    text, stop = visible(turn), turn.stop.value
    calls = tuple(act for act in turn.acts if isinstance(act, Call | Submit | Update))
    if turn.stop is not Stop.TOOL_USE:
        calls = ()
    local = local._replace(shown=None, calls=calls, kept=not local.muted)
    actions: list[Action] = []
    if not local.muted:
        tools = tuple(_tool(call) for call in calls)
        actions.append(Append((Row("assistant", text, stop=stop, calls=tools),)))
        actions.append(_event("message_end", local, role="assistant", stop=stop, text=text))
        actions += _heard(local, "message_end", text, turn)
    if turn.stop is Stop.ERROR and turn.retryable:
        actions += (_event("turn_end", local), _event("auto_retry_start", local, error=turn.error or ""))
        return local._replace(phase="asked"), (*actions, Ask(None, again=True))
    if calls:
        return _next_call(local._replace(phase="tools"), actions)
    actions.append(_event("turn_end", local))
    actions += _heard(local, "turn_end", text, turn)
    return local._replace(phase="stopping", why=stop, late=0), tuple(actions)


def _tool(call: Act) -> str:
    return call.tool if isinstance(call, Call) else "workflow"


def _heard(local: Loop, point: str, text: str, turn: Turn) -> list[Action]:
    """The engine hears of the messages of an assistant step, since one of them is its output."""
    step = local.step
    if step is None or step.completion != "assistant" or local.muted:
        return []
    return [Tell("engine", Heard(step, point, local.own, text, turn.stop.value, turn.error))]


def _next_call(local: Loop, actions: list[Action]) -> Result:
    """Run calls until one needs the engine; after the last, ask the model again."""
    calls = local.calls
    while calls:
        call, calls = calls[0], calls[1:]
        if isinstance(call, Call):
            actions.append(_event("tool_execution_start", local, tool=call.tool))
            actions.append(_event("tool_execution_end", local, tool=call.tool, error=False))
            if local.kept:
                actions.append(Append((Row("tool", TOOL_RESULT),)))
            continue
        asked = Submitted(call) if isinstance(call, Submit) else _published(call)
        names = call.addressed.value if isinstance(call, Submit) else "update"
        actions.append(_event("tool_execution_start", local, tool="workflow", names=names))
        actions.append(Tell("engine", asked))
        return local._replace(calls=(call, *calls)), tuple(actions)
    if local.late > 1:
        # Whoever submits again after a yes and a no would only try for ever.
        actions.append(_event("turn_end", local))
        return local._replace(phase="stopping", why="stop", calls=()), (*actions, HangUp())
    actions += (_event("turn_end", local), _event("turn_start", local), Ask(None, again=True))
    return local._replace(phase="asked", calls=()), tuple(actions)


def _published(call: Act) -> Published:
    assert isinstance(call, Update), "the workflow tool takes submissions and updates"
    return Published(call.key, call.data)


def _reply(local: Loop, reply: Reply) -> Result:
    if local.phase != "tools" or reply.copy:
        return local, ()
    refused = reply.verdict in ("refused", "late")
    actions: list[Action] = [
        _event("tool_execution_end", local, tool="workflow", error=refused, text=reply.text)
    ]
    if local.kept:
        actions.insert(0, Append((Row("tool", reply.text),)))
    late = min(2, local.late + 1) if reply.verdict == "late" else local.late
    muted = local.muted or reply.verdict == "accepted"
    return _next_call(local._replace(calls=local.calls[1:], muted=muted, late=late), actions)


def _step(local: Loop, log: Conversation) -> Result:
    if local.phase == "down":
        return _load(log)
    if local.phase == "stopping":
        return _stop(local, log)
    assert local.waiting is not None, "an idle loop goes on with a waiting prompt"
    return _start(local, log, local.waiting)


def _load(log: Conversation) -> Result:
    """Open the session: cut a torn line, close what the last process left open."""
    actions: list[Action] = [Repair()] if log.torn else []
    if log.open:
        actions.append(Append(tuple(Row("tool", CLOSED) for _ in range(log.open))))
    actions.append(Emit(Event("session", "session_loaded")))
    return IDLE._replace(held=log.queue > 0), tuple(actions)


def _stop(local: Loop, log: Conversation) -> Result:
    """The run would end here: a follow-up goes on in it, else it settles, once."""
    quiet = local.why in ("stop", "length", "toolUse")
    if quiet and log.queue and not local.held:
        frozen = local.frozen or local.why
        local = local._replace(phase="asked", own=False, muted=False, late=0, frozen=frozen)
        return local, (
            Append((Row("user", consumes=True),)),
            _event("turn_start", local),
            _event("message_start", local, role="user"),
            _event("message_end", local, role="user"),
            Ask(None),
        )
    settled = (
        _event("agent_end", local._replace(own=True), status=local.why),
        _event("agent_settled", local._replace(own=True)),
        Tell("engine", Settled(local.step, local.frozen or local.why)),
    )
    return Loop("idle", waiting=local.waiting, held=local.held or (not quiet and log.queue > 0)), settled


def _say(local: Loop, log: Conversation, message: Say) -> Result:
    """A message of the person: a prompt of their own while idle, else a follow-up that waits in the log."""
    if local.phase != "idle":
        return local, (
            Append((Row("queued", message.text),)),
            Emit(Event("session", "queue_updated")),
        )
    local = Loop("asked", waiting=local.waiting)
    header = (Row("session"),) if log.empty else ()
    if log.queue:
        rows = (*header, Row("queued", message.text), Row("user", consumes=True))
    else:
        rows = (*header, Row("user", message.text))
    return local, (
        Append(rows),
        _event("agent_start", local),
        _event("turn_start", local),
        _event("message_start", local, role="user"),
        _event("message_end", local, role="user"),
        Ask(None),
    )


def _abort(local: Loop, message: Abort) -> Result:
    """End the attempt's turn, or take back its prompt; the engine hears of the end either way."""
    if local.waiting is not None and local.waiting.step.attempt == message.attempt:
        step = local.waiting.step
        return local._replace(waiting=None), (Tell("engine", Settled(step, "withdrawn")),)
    if local.step is None or local.step.attempt != message.attempt:
        return local, ()
    return _close(local, "aborted")


def _close(local: Loop, why: str) -> Result:
    """Break off: every open row is closed in one append, then the run settles."""
    if local.phase == "idle" or (local.phase == "stopping" and local.why in ("escape", "aborted")):
        return local, ()
    actions: list[Action] = [HangUp()]
    rows: list[Row] = []
    if local.phase == "streaming" and local.shown is not None:
        rows.append(Row("assistant", local.shown, stop="aborted"))
        actions.append(_event("message_end", local, role="assistant", stop="aborted", text=local.shown))
    if local.phase == "tools" and local.kept:
        rows += [Row("tool", CLOSED) for _ in local.calls]
    if rows:
        actions.insert(1, Append(tuple(rows)))
    if local.phase != "stopping":
        actions.append(_event("turn_end", local))
    return local._replace(phase="stopping", why=why, shown=None, calls=(), late=0), tuple(actions)
