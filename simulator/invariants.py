"""What must hold in every run, as a watcher beside it: it sees what was received, written and shown, nothing
else.

The watcher keeps its own account of the run and of the rows below the current prompt, from the snapshot and
the events alone; it shares no code with the engine, so that a slip of the engine cannot blind it. Its state
is small and relative, and what a crash makes unknowable it forgets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from windtunnel.compiler.canonical import canonical
from windtunnel.simulator import conduct, promises
from windtunnel.simulator.account import (
    ADOPTION,
    ASKED,
    BYPASS,
    CALLS,
    CANCELLED,
    DEFINITION,
    DIGEST,
    ENDINGS,
    ENDS,
    FENCE,
    FOLD,
    GOOD,
    INVARIANTS,
    INVISIBLE,
    LIMITS,
    MUTED,
    NOTICES,
    ONCE,
    OWN_TURN,
    PAUSE,
    PROMPTS,
    REFUSALS,
    RERUN,
    RESPONSE_STOPS,
    RESPONSES,
    ROUTES,
    SETTLED,
    STARTED,
    STUCK,
    SUBMISSION,
    TERMINAL,
    TEXT,
    TIME,
    TOOLS,
    TURN,
    TYPES,
    WINNER,
    Account,
    Position,
    Seen,
    Violation,
    Watch,
)
from windtunnel.simulator.events import (
    CURRENT,
    OLDER_ENTRY,
    Action,
    Append,
    Arm,
    Ask,
    Cancel,
    Commit,
    Disarm,
    Emit,
    Event,
    HangUp,
    Json,
    Perform,
    Record,
    Release,
    Reply,
    Row,
    Settled,
    Submitted,
    Tell,
    Timeout,
)
from windtunnel.simulator.facts import Facts
from windtunnel.simulator.providers.behaviour import Addressed

__all__ = [
    "ADOPTION",
    "ASKED",
    "BYPASS",
    "CALLS",
    "CANCELLED",
    "DEFINITION",
    "DIGEST",
    "ENDINGS",
    "ENDS",
    "FENCE",
    "FOLD",
    "GOOD",
    "INVARIANTS",
    "INVISIBLE",
    "LIMITS",
    "MUTED",
    "NOTICES",
    "ONCE",
    "OWN_TURN",
    "PAUSE",
    "PROMPTS",
    "REFUSALS",
    "RERUN",
    "RESPONSES",
    "ROUTES",
    "SETTLED",
    "STARTED",
    "STUCK",
    "SUBMISSION",
    "TERMINAL",
    "TEXT",
    "TIME",
    "TOOLS",
    "TURN",
    "TYPES",
    "WINNER",
    "Account",
    "Facts",
    "Position",
    "Seen",
    "Violation",
    "Watch",
    "crashed",
    "observe",
    "stuck",
]


def observe(
    facts: Facts,
    watch: Watch,
    received: object,
    actions: tuple[Action, ...],
    stored: Position,
    by: str = "host",
) -> Seen:
    """What one transition did, up to where it got; `stored` is what the store holds now.

    `by` is who did it: the `host` or a `worker`, who works on the run, a `bystander` with the session that
    the run belongs to, or a `zombie`, which lost its claim.
    """
    account = Account(facts, watch, received)
    if by in ("bystander", "zombie"):
        conduct.beside(account, actions, by)
        return Seen(account.watch, tuple(account.violations), tuple(account.tested))
    conduct.time(account)
    conduct.definition(account)
    committed = False
    for action in actions:
        if by == "worker":
            conduct.unseen(account, action)
        match action:
            case Commit(events):
                committed = True
                conduct.committed(account, events)
                for event in events:
                    _run_event(account, event)
            case Append(rows):
                for row in rows:
                    _row(account, row)
            case Emit(event) if event.type in ("agent_settled", "session_loaded"):
                open_ = account.watch.calls
                account.check(TOOLS, open_ == 0, f"{open_} tool calls are left open at {event.type}")
                account.set(live=False, of_step=False, accepted=False, refusals=0)
            case Emit(event) if event.type == "effect_applied":
                promises.effect_applied(account, event)
            case Perform():
                promises.effect_called(account)
            case HangUp():
                account.set(refusals=0)
            case Tell(_, Reply() as reply):
                conduct.replied(account, reply)
            case Arm() | Disarm():
                account.set(timer=isinstance(action, Arm))
            case Ask():
                if account.watch.of_step:
                    over = account.watch.status in ENDINGS.values()
                    account.check(CALLS, not over, "the model is asked for a step of a run that ended")
    if committed:
        now = account.watch
        mine = Position(now.status, now.paused, now.node, now.phase, now.outcome, now.pausing, now.parked)
        account.check(FOLD, mine == stored, f"the events say {tuple(mine)}, the store {tuple(stored)}")
    _escaped(account, watch)
    return Seen(account.watch, tuple(account.violations), tuple(account.tested))


def _escaped(account: Account, before: Watch) -> None:
    """The person's escape ended the turn of the step in flight."""
    message = account.received
    if not isinstance(message, Settled) or message.copy or message.why != "escape":
        return
    own = message.step is not None and message.step.attempt == CURRENT
    if own and before.status == "running" and before.phase == "started":
        held = account.watch.paused and account.watch.phase == "started"
        account.check(PAUSE, held, f"an escape did not hold {before.node}")


def crashed(watch: Watch) -> Watch:
    """A crash ends every turn without a word."""
    return watch._replace(live=False, of_step=False, accepted=False, refusals=0, timer=False, edited=False)


def stuck(watch: Watch) -> Violation | None:
    """A run in which nothing happens any more by itself has ended."""
    if watch.status in ENDINGS.values():
        if watch.owed and watch.status != "cancelled":
            return Violation(TURN, "the turn that is due never came")
        untold = promises.left_untold(watch.queued)
        return None if untold is None else Violation(NOTICES, untold)
    where = f" at {watch.node}" if watch.node else ""
    return Violation(STUCK, f"nothing goes on, and the run is still {watch.status}{where}")


# --- rows of the session ------------------------------------------------------------------------------------


def _row(account: Account, row: Row) -> None:
    watch = account.watch
    if row.kind == "step":
        if row.prompt == "step":
            name = watch.node
            account.check(PROMPTS, watch.prompts == 0, f"the prompt of {name} is sent twice in one attempt")
            account.set(prompts=1)
        elif row.prompt == "reminder":
            _reminder(account)
        account.set(below=True, live=True, of_step=True)
    elif row.kind == "user":
        account.set(below=False, of_step=watch.of_step and watch.live, accepted=False, refusals=0)
    elif row.kind == "notice":
        promises.notice_shown(account, row)
    elif row.kind == "turn":
        conduct.turn_begins(account)
    elif row.kind == "leaf":
        prompts, responses, text = watch.aside
        account.set(aside=(watch.prompts, watch.responses, watch.text), below=False)
        account.set(prompts=prompts, responses=responses, text=text)
    elif row.kind == "tool":
        account.set(calls=watch.calls - 1)
    elif row.kind == "assistant":
        late = watch.of_step and watch.live and watch.status == "cancelled" and row.stop in RESPONSE_STOPS
        account.check(CALLS, not late, "the model goes on with a step of a run that was cancelled")
        account.check(MUTED, not watch.accepted, f"the model goes on after {watch.node} was submitted")
        account.set(calls=len(row.calls))
        if row.stop in RESPONSE_STOPS and not row.calls:
            _response(account, row)


def _reminder(account: Account) -> None:
    watch = account.watch
    count, most = watch.reminders + 1, account.facts.nudges.get(watch.node, 0)
    account.check(
        LIMITS, count <= most, f"{watch.node} is reminded {count} times, at most {most} are allowed"
    )
    account.set(reminders=count)


def _response(account: Account, row: Row) -> None:
    """A finished answer that a person can see."""
    watch = account.watch
    if watch.below and watch.node in account.facts.assistants:
        count = watch.responses + 1
        account.check(RESPONSES, count == 1, f"{watch.node} answers a second time in one attempt")
        account.set(responses=min(count, 2), text=row.text)


# --- events of the run --------------------------------------------------------------------------------------


def _run_event(account: Account, event: Event) -> None:
    watch = account.watch
    account.check(TERMINAL, _may_follow(watch.status, event), f"{event.type} follows the end of the run")
    _arrow(account, event)
    promise = _PROMISES.get(event.type)
    if promise is not None:
        promise(account, event)
    match event.type:
        case "run_started":
            if event.get("continuedFrom") is not None:
                promises.continued(account)
            account.set(status="running", owed=False, turned=False)
        case "run_waiting":
            account.set(status="waiting")
        case "node_started":
            _started(account, event)
            promises.node_starts(account, event.node or "", event.get("again") is True)
        case "node_finished":
            _finished(account, event)
        case "node_failed":
            _failed(account, event)
        case "include_entered":
            _entered(account, str(event.get("mountPath")))
        case "pause_requested":
            account.set(pausing=True)
        case "pause_withdrawn":
            by_person = isinstance(account.received, Release)
            account.check(PAUSE, by_person, "a pause that was asked for is forgotten")
            account.set(pausing=False)
        case "run_paused":
            account.set(paused=True, pausing=False)
        case "run_resumed":
            by_person = isinstance(account.received, Release)
            account.check(PAUSE, by_person or not watch.paused, "a paused run goes on by itself")
            account.set(paused=False, parked=False)
        case "run_parked":
            account.set(parked=True)
        case _ if event.type in ENDINGS:
            _ended(account, event)


def _may_follow(status: str, event: Event) -> bool:
    """Whether anything may follow: after the end what was queued before, after waiting the answer too."""
    if status == "waiting":
        return event.type in promises.AFTER_WAITING
    return status not in ENDINGS.values() or event.type in ("notification_delivered", "turn_given")


_PROMISES: Final[dict[str, Callable[[Account, Event], None]]] = {
    "effect_started": promises.effect_started,
    "turn_deferred": conduct.turn_is_due,
    "turn_given": conduct.turn_recorded,
    "notification_queued": promises.notice_queued,
    "notification_delivered": promises.notice_recorded,
    "decision_requested": promises.requested,
    "decision_answered": promises.decided,
    "decision_defaulted": promises.decided,
    "decision_cancelled": promises.withdrawn,
    "node_finished": promises.ended_by,
    "node_failed": promises.ended_by,
}


def _arrow(account: Account, event: Event) -> None:
    key = event.get("via")
    if not isinstance(key, str) or key not in account.facts.limits:
        return
    counter, most = account.facts.limits[key]
    counts = dict(account.watch.arrows)
    counts[counter] = counts.get(counter, 0) + 1
    message = f"the arrow {key} is taken {counts[counter]} times, its limit is {most}"
    account.check(LIMITS, counts[counter] <= most, message)
    account.set(arrows=tuple(sorted(counts.items())))


def _entered(account: Account, mount: str) -> None:
    inside = f"{mount}/"

    def gone(scope: str) -> bool:
        return scope == mount or scope.startswith(inside)

    watch, scopes = account.watch, account.facts.scopes
    account.set(
        arrows=tuple(pair for pair in watch.arrows if not gone(scopes[pair[0]])),
        steps=tuple(pair for pair in watch.steps if not gone(pair[0])),
    )


def _started(account: Account, event: Event) -> None:
    watch, node = account.watch, event.node or ""
    if event.get("again") is True:
        again = watch.phase == "started" and node == watch.node
        account.check(RERUN, again, f"{node} runs again though {watch.node} had {watch.phase}")
    else:
        account.check(ENDS, watch.phase != "started", f"{node} starts while {watch.node} is in flight")
        account.check(SETTLED, not watch.live, f"{node} starts before the turn of {watch.node} settled")
        if watch.pausing or watch.paused:
            account.check(PAUSE, False, f"{node} starts though the run was to pause")
        allowed = account.facts.after(watch.node, watch.outcome or "ok")
        account.check(ROUTES, node in allowed, f"no edge leads from {watch.node or 'the start'} to {node}")
        _count_step(account, node)
    account.set(
        node=node, phase="started", outcome="", prompts=0, reminders=0, below=False, responses=0, text=None
    )
    account.set(aside=(0, 0, None))


def _count_step(account: Account, node: str) -> None:
    counts = dict(account.watch.steps)
    scope = node
    while scope:
        scope = scope.rpartition("/")[0]
        most = account.facts.most_steps.get(scope)
        if most is not None:
            counts[scope] = counts.get(scope, 0) + 1
            account.check(
                LIMITS, counts[scope] <= most, f"step {counts[scope]} of at most {most} starts {node}"
            )
    account.set(steps=tuple(sorted(counts.items())))


def _one_end(account: Account, event: Event) -> None:
    watch = account.watch
    fits = watch.phase == "started" and watch.node == event.node
    message = f"{event.type} of {event.node} while {watch.node} has {watch.phase or 'not started'}"
    account.check(ENDS, fits, message)


def _finished(account: Account, event: Event) -> None:
    _one_end(account, event)
    watch, node = account.watch, event.node or ""
    if node in account.facts.assistants:
        _answered(account, event, node)
    elif node in account.facts.agents:
        message = account.received
        fits = (
            isinstance(message, Submitted)
            and message.call.addressed is Addressed.HERE
            and message.attempt == CURRENT
        )
        account.check(SUBMISSION, fits, f"{node} accepts a submission that names another attempt or step")
        account.set(accepted=watch.live, refusals=0)
    account.set(phase="ended", outcome="ok")


def _answered(account: Account, event: Event, node: str) -> None:
    """An assistant step is complete."""
    watch = account.watch
    receipt, output = event.get("receipt"), event.get("output")
    fields = dict(receipt.fields) if isinstance(receipt, Record) else {}
    adopted = fields.get("entryId") == OLDER_ENTRY
    account.check(ADOPTION, not adopted, f"{node} takes the answer of an older attempt for its own")
    left = watch.responses == 0 and watch.aside[1] > 0
    account.check(ADOPTION, not left, f"{node} takes an answer of a branch that was left")
    account.check(
        INVISIBLE, watch.prompts > 0, f"{node} has an output, but its prompt was never in the session"
    )
    account.check(
        RESPONSES, watch.responses == 1, f"{node} completed with {watch.responses} visible responses"
    )
    account.check(SETTLED, not watch.live, f"{node} is complete before its turn settled")
    if watch.text is not None:
        most = account.facts.max_chars.get(node)
        fits = bool(watch.text.strip()) and (most is None or len(watch.text) <= most)
        account.check(GOOD, fits, f"{node} completes with an answer that is blank or too long")
    if watch.text is not None and isinstance(output, Json):
        account.check(TEXT, output == _as_json(watch.text), f"the output of {node} is not its visible text")
        digest = hashlib.sha256(watch.text.encode()).hexdigest()
        account.check(DIGEST, fields.get("sha256") == digest, f"the receipt of {node} has another digest")


def _as_json(text: str) -> Json:
    return Json(canonical(text))


def _failed(account: Account, event: Event) -> None:
    _one_end(account, event)
    message = account.received
    if isinstance(message, Settled):
        own = message.step is not None and message.step.attempt == CURRENT
        account.check(OWN_TURN, own, f"{event.node} fails for a turn that is not its own")
    elif isinstance(message, Timeout):
        own = message.attempt == CURRENT
        account.check(OWN_TURN, own, f"{event.node} fails for the time of another attempt")
    account.set(phase="ended", outcome=str(event.get("outcome")))


def _ended(account: Account, event: Event) -> None:
    watch = account.watch
    status = ENDINGS[event.type]
    conduct.passed_on(account, event)
    if status == "cancelled":
        asked = isinstance(account.received, Cancel)
        account.check(CANCELLED, asked, "the run is cancelled, and nobody asked for it")
    left = watch.phase == "started"
    account.check(ENDS, not left, f"the run ends while {watch.node} is in flight")
    if status == "completed":
        allowed = account.facts.after(watch.node, watch.outcome or "ok")
        exit = f"exit {event.get('exit')}"
        account.check(ROUTES, exit in allowed, f"no edge leads from {watch.node} to {exit}")
        account.check(SETTLED, not watch.live, f"the run completes before the turn of {watch.node} settled")
    if (
        watch.phase == "ended"
        and watch.outcome == "timed_out"
        and not account.facts.after(watch.node, "timed_out")
    ):
        fits = status in ("timed_out", "cancelled")
        account.check(ROUTES, fits, f"{watch.node} timed out without a route, but the run {status}")
    account.set(
        status=status, paused=False, pausing=False, parked=False, node="", phase="", outcome="", below=False
    )
    account.set(called=False, applied=False, done=(), request="", digest="")
