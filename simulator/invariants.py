"""What must hold in every run, as a watcher beside it: it sees what was received, written and shown, nothing
else.

The watcher keeps its own account of the run and of the rows below the current prompt, from the snapshot and
the events alone; it shares no code with the engine, so that a slip of the engine cannot blind it. Its state
is small and relative, and what a crash makes unknowable it forgets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.snapshot import AgentNode, AssistantMessage, Snapshot, TargetModel
from windtunnel.simulator.events import (
    CURRENT,
    OLDER_ENTRY,
    Action,
    Append,
    Ask,
    Commit,
    Emit,
    Event,
    Json,
    Record,
    Release,
    Row,
    Settled,
    Submitted,
)
from windtunnel.simulator.providers.behaviour import Addressed

RESPONSES: Final = "one-visible-response"
TEXT: Final = "output-is-visible-text"
SETTLED: Final = "no-advance-before-settlement"
ADOPTION: Final = "no-adoption-across-attempts"
INVISIBLE: Final = "nothing-produced-invisibly"
DIGEST: Final = "receipt-digest-matches"
PROMPTS: Final = "one-prompt-per-attempt"
SUBMISSION: Final = "submission-of-its-own-attempt"
FOLD: Final = "fold-is-state"
ENDS: Final = "one-start-and-one-end"
TERMINAL: Final = "nothing-after-the-end"
RERUN: Final = "completed-nodes-never-rerun"
ROUTES: Final = "routing-follows-the-edges"
LIMITS: Final = "limits-hold"
OWN_TURN: Final = "a-node-fails-for-its-own-turn"
CALLS: Final = "no-model-call-after-the-end"
STUCK: Final = "no-run-is-stuck"
GOOD: Final = "no-bad-answer-completes"
MUTED: Final = "nothing-shown-after-acceptance"
TOOLS: Final = "no-tool-pending-when-idle"
PAUSE: Final = "a-pause-holds"

INVARIANTS: Final[Mapping[str, str]] = {
    RESPONSES: "a completed attempt has exactly one visible response, any other at most one",
    TEXT: "the output of an assistant step is the visible text, exactly",
    SETTLED: "the run moves on only after the turn settled and the result was committed",
    ADOPTION: "an answer is adopted only by the attempt that it belongs to, on the current branch",
    INVISIBLE: "no assistant output exists without its prompt and answer in the session",
    DIGEST: "the receipt holds the digest of the text",
    PROMPTS: "the prompt of an attempt is sent at most once",
    SUBMISSION: "a submission is accepted once, for the step and attempt that it names",
    FOLD: "the state is the fold of the events",
    ENDS: "an attempt has one start and at most one end",
    TERMINAL: "nothing follows the event that ends a run, and its status is final",
    RERUN: "a completed node never runs again in the same visit",
    ROUTES: "the run goes only where an edge leads",
    LIMITS: "limits of arrows and steps hold",
    OWN_TURN: "a node fails only for its own turn",
    CALLS: "no step asks the model after the run ended",
    STUCK: "every run ends, or waits for somebody who can go on",
    GOOD: "an answer that completes a step is not blank and within its limit",
    MUTED: "what follows an accepted submission is not shown",
    TOOLS: "no tool call is left open when the agent is idle",
    PAUSE: "an escape pauses the run and fails nothing; only the person lets it go on",
}
"""Every invariant by name, as one sentence."""

DEFAULT_NUDGES: Final = 2
RESPONSE_STOPS: Final = ("stop", "length")
ENDINGS: Final = {
    f"run_{status}": status for status in ("completed", "failed", "timed_out", "cancelled", "waiting")
}


class Position(NamedTuple):
    """Where a run stands, as the store shows it to the watcher."""

    status: str
    paused: bool
    node: str
    phase: str
    outcome: str


class Violation(NamedTuple):
    """An invariant and what broke it."""

    invariant: str
    message: str


class Watch(NamedTuple):
    """The watcher's account. `live` says that the turn of the step has not settled in this process."""

    status: str = "queued"
    paused: bool = False
    node: str = ""
    phase: str = ""
    outcome: str = ""
    prompts: int = 0
    reminders: int = 0
    below: bool = False
    responses: int = 0
    text: str | None = None
    live: bool = False
    of_step: bool = False
    accepted: bool = False
    calls: int = 0
    arrows: tuple[tuple[str, int], ...] = ()
    steps: tuple[tuple[str, int], ...] = ()


class Seen(NamedTuple):
    """The account after something happened, what it broke, and the invariants it put to the test."""

    watch: Watch
    violations: tuple[Violation, ...]
    tested: tuple[str, ...]


class Facts:
    """What the watcher knows of the workflow: from the snapshot alone."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.assistants = frozenset(
            name
            for name, node in snapshot.nodes.items()
            if isinstance(node, AgentNode) and isinstance(node.expected_output, AssistantMessage)
        )
        self.agents = frozenset(n for n, node in snapshot.nodes.items() if isinstance(node, AgentNode))
        self.nudges: dict[str, int] = {}
        self.max_chars: dict[str, int] = {}
        for name, node in snapshot.nodes.items():
            if isinstance(node, AgentNode):
                self._note(name, node)
        self._mounts = snapshot.composition.mounts
        self._edges: dict[tuple[str, str | None, str], list[tuple[str, TargetModel]]] = {}
        self.limits: dict[str, tuple[str, int]] = {}
        self.scopes: dict[str, str] = {}
        for edge in snapshot.edges:
            source = f"{edge.scope}:start" if edge.source == "start" else edge.source
            found = self._edges.setdefault((source, edge.way, edge.on), [])
            for arm in edge.arms:
                found.append((edge.scope, arm.to))
                counter = arm.key if arm.limit is None else arm.limit.counter or arm.key
                self.scopes[counter] = edge.scope
                if arm.limit is not None:
                    found.append((edge.scope, arm.limit.then))
                    if isinstance(arm.limit.count, int):
                        self.limits[arm.key] = (counter, arm.limit.count)
        self.most_steps = {
            path: m.max_steps for path, m in self._mounts.items() if isinstance(m.max_steps, int)
        }
        if isinstance(snapshot.max_steps, int):
            self.most_steps[""] = snapshot.max_steps
        self._first = snapshot.start_at
        self._next: dict[tuple[str, str], frozenset[str]] = {}

    def _note(self, name: str, node: AgentNode) -> None:
        self.nudges[name] = DEFAULT_NUDGES if node.nudges is None else node.nudges
        output = node.expected_output
        if isinstance(output, AssistantMessage) and isinstance(output.max_chars, int):
            self.max_chars[name] = output.max_chars

    def after(self, node: str, outcome: str) -> frozenset[str]:
        """The nodes and `exit NAME`s that one routing may lead to; "" stands for the start of the run."""
        key = (node, outcome)
        if key not in self._next:
            reached: set[str] = set()
            done: set[tuple[str, str | None, str]] = set()
            if node:
                self._follow((node, None, outcome), reached, done)
            else:
                self._begin("", self._first, reached, done)
            self._next[key] = frozenset(reached)
        return self._next[key]

    def _begin(
        self, scope: str, first: str, reached: set[str], done: set[tuple[str, str | None, str]]
    ) -> None:
        if (f"{scope}:start", None, "ok") in self._edges:
            self._follow((f"{scope}:start", None, "ok"), reached, done)
        else:
            self._arrive(scope, TargetModel(node=first), reached, done)

    def _follow(
        self, source: tuple[str, str | None, str], reached: set[str], done: set[tuple[str, str | None, str]]
    ) -> None:
        if source in done:
            return
        done.add(source)
        for scope, target in self._edges.get(source, ()):
            self._arrive(scope, target, reached, done)

    def _arrive(
        self, scope: str, target: TargetModel, reached: set[str], done: set[tuple[str, str | None, str]]
    ) -> None:
        if target.exit is not None:
            if scope:
                self._follow((scope, target.exit, "ok"), reached, done)
            else:
                reached.add(f"exit {target.exit}")
        elif target.node in self._mounts:
            self._begin(target.node, self._mounts[target.node].start_at, reached, done)
        elif target.node is not None:
            reached.add(target.node)


class _Account:
    """One observation in the making."""

    def __init__(self, facts: Facts, watch: Watch, received: object) -> None:
        self.facts = facts
        self.watch = watch
        self.received = received
        self.violations: list[Violation] = []
        self.tested: list[str] = []

    def check(self, invariant: str, holds: bool, message: str) -> None:
        """Put an invariant to the test."""
        self.tested.append(invariant)
        if not holds:
            self.violations.append(Violation(invariant, message))

    def set(self, **changes: object) -> None:
        """Change the account."""
        self.watch = self.watch._replace(**changes)  # type: ignore[arg-type]


def observe(
    facts: Facts, watch: Watch, received: object, actions: tuple[Action, ...], stored: Position
) -> Seen:
    """What one transition did, up to where it got; `stored` is what the store holds now."""
    account = _Account(facts, watch, received)
    committed = False
    for action in actions:
        match action:
            case Commit(events):
                committed = True
                for event in events:
                    _run_event(account, event)
            case Append(rows):
                for row in rows:
                    _row(account, row)
            case Emit(event) if event.type in ("agent_settled", "session_loaded"):
                open_ = account.watch.calls
                account.check(TOOLS, open_ == 0, f"{open_} tool calls are left open at {event.type}")
                account.set(live=False, of_step=False, accepted=False)
            case Ask():
                if account.watch.of_step:
                    over = account.watch.status in ENDINGS.values()
                    account.check(CALLS, not over, "the model is asked for a step of a run that ended")
    if committed:
        now = account.watch
        mine = Position(now.status, now.paused, now.node, now.phase, now.outcome)
        account.check(FOLD, mine == stored, f"the events say {tuple(mine)}, the store {tuple(stored)}")
    _escaped(account, watch)
    return Seen(account.watch, tuple(account.violations), tuple(account.tested))


def _escaped(account: _Account, before: Watch) -> None:
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
    return watch._replace(live=False, of_step=False, accepted=False)


def stuck(watch: Watch) -> Violation | None:
    """A run in which nothing happens any more by itself has ended."""
    if watch.status in ENDINGS.values():
        return None
    where = f" at {watch.node}" if watch.node else ""
    return Violation(STUCK, f"nothing goes on, and the run is still {watch.status}{where}")


# --- rows of the session ------------------------------------------------------------------------------------


def _row(account: _Account, row: Row) -> None:
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
        account.set(below=False, of_step=watch.of_step and watch.live, accepted=False)
    elif row.kind == "tool":
        account.set(calls=watch.calls - 1)
    elif row.kind == "assistant":
        account.check(MUTED, not watch.accepted, f"the model goes on after {watch.node} was submitted")
        account.set(calls=len(row.calls))
        if row.stop in RESPONSE_STOPS and not row.calls:
            _response(account, row)


def _reminder(account: _Account) -> None:
    watch = account.watch
    count, most = watch.reminders + 1, account.facts.nudges.get(watch.node, 0)
    account.check(
        LIMITS, count <= most, f"{watch.node} is reminded {count} times, at most {most} are allowed"
    )
    account.set(reminders=count)


def _response(account: _Account, row: Row) -> None:
    """A finished answer that a person can see."""
    watch = account.watch
    if watch.below and watch.node in account.facts.assistants:
        count = watch.responses + 1
        account.check(RESPONSES, count == 1, f"{watch.node} answers a second time in one attempt")
        account.set(responses=min(count, 2), text=row.text)


# --- events of the run --------------------------------------------------------------------------------------


def _run_event(account: _Account, event: Event) -> None:
    watch = account.watch
    over = watch.status in ENDINGS.values()
    account.check(TERMINAL, not over, f"{event.type} follows the end of the run")
    _arrow(account, event)
    match event.type:
        case "run_started":
            account.set(status="running")
        case "node_started":
            _started(account, event)
        case "node_finished":
            _finished(account, event)
        case "node_failed":
            _failed(account, event)
        case "include_entered":
            _entered(account, str(event.get("mountPath")))
        case "run_paused":
            account.set(paused=True)
        case "run_resumed":
            by_person = isinstance(account.received, Release)
            account.check(PAUSE, by_person or not watch.paused, "a paused run goes on by itself")
            account.set(paused=False)
        case _ if event.type in ENDINGS:
            _ended(account, event)


def _arrow(account: _Account, event: Event) -> None:
    key = event.get("via")
    if not isinstance(key, str) or key not in account.facts.limits:
        return
    counter, most = account.facts.limits[key]
    counts = dict(account.watch.arrows)
    counts[counter] = counts.get(counter, 0) + 1
    message = f"the arrow {key} is taken {counts[counter]} times, its limit is {most}"
    account.check(LIMITS, counts[counter] <= most, message)
    account.set(arrows=tuple(sorted(counts.items())))


def _entered(account: _Account, mount: str) -> None:
    inside = f"{mount}/"

    def gone(scope: str) -> bool:
        return scope == mount or scope.startswith(inside)

    watch, scopes = account.watch, account.facts.scopes
    account.set(
        arrows=tuple(pair for pair in watch.arrows if not gone(scopes[pair[0]])),
        steps=tuple(pair for pair in watch.steps if not gone(pair[0])),
    )


def _started(account: _Account, event: Event) -> None:
    watch, node = account.watch, event.node or ""
    if event.get("again") is True:
        again = watch.phase == "started" and node == watch.node
        account.check(RERUN, again, f"{node} runs again though {watch.node} had {watch.phase}")
    else:
        account.check(ENDS, watch.phase != "started", f"{node} starts while {watch.node} is in flight")
        account.check(SETTLED, not watch.live, f"{node} starts before the turn of {watch.node} settled")
        allowed = account.facts.after(watch.node, watch.outcome or "ok")
        account.check(ROUTES, node in allowed, f"no edge leads from {watch.node or 'the start'} to {node}")
        _count_step(account, node)
    account.set(
        node=node, phase="started", outcome="", prompts=0, reminders=0, below=False, responses=0, text=None
    )


def _count_step(account: _Account, node: str) -> None:
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


def _one_end(account: _Account, event: Event) -> None:
    watch = account.watch
    fits = watch.phase == "started" and watch.node == event.node
    message = f"{event.type} of {event.node} while {watch.node} has {watch.phase or 'not started'}"
    account.check(ENDS, fits, message)


def _finished(account: _Account, event: Event) -> None:
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
        account.set(accepted=watch.live)
    account.set(phase="ended", outcome="ok")


def _answered(account: _Account, event: Event, node: str) -> None:
    """An assistant step is complete."""
    watch = account.watch
    receipt, output = event.get("receipt"), event.get("output")
    fields = dict(receipt.fields) if isinstance(receipt, Record) else {}
    adopted = fields.get("entryId") == OLDER_ENTRY
    account.check(ADOPTION, not adopted, f"{node} takes the answer of an older attempt for its own")
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


def _failed(account: _Account, event: Event) -> None:
    _one_end(account, event)
    message = account.received
    if isinstance(message, Settled):
        own = message.step is not None and message.step.attempt == CURRENT
        account.check(OWN_TURN, own, f"{event.node} fails for a turn that is not its own")
    account.set(phase="ended", outcome=str(event.get("outcome")))


def _ended(account: _Account, event: Event) -> None:
    watch = account.watch
    status = ENDINGS[event.type]
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
    account.set(status=status, paused=False, node="", phase="", outcome="", below=False)
