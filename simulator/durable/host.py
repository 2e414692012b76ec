"""One host with one run: what is durable is read once, then the handlers of exploration do the rest.

The host drains its queue before it looks at anything from outside, in the order that `moves` gives; of two
ways on, `choices` takes one. What handlers see of store and session are the folds of both, kept beside them
and changed only after a write succeeded. A claim that is lost stops the host at once, without a trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from windtunnel.simulator import network, outside
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.chat.log import Log
from windtunnel.simulator.chat.loop import Item, Loop, loop
from windtunnel.simulator.choices import Choices, Recorded
from windtunnel.simulator.clock import Clock, Timer
from windtunnel.simulator.durable import session as sessions
from windtunnel.simulator.durable.lines import (
    attempts_of,
    delivered,
    due_of,
    following,
    line_of,
    state_of,
    written,
)
from windtunnel.simulator.durable.offers import Stuck, beyond, model_menu
from windtunnel.simulator.durable.session import Ledger, Session
from windtunnel.simulator.events import (
    CURRENT,
    Action,
    Answered,
    Append,
    Arm,
    Ask,
    Cancel,
    Commit,
    Deadline,
    Disarm,
    Emit,
    Escape,
    Event,
    HangUp,
    Perform,
    Release,
    Repair,
    Say,
    Step,
    Tell,
    Timeout,
    ToEngine,
    ToLoop,
    Withdraw,
)
from windtunnel.simulator.moves import NOTHING, Beyond, Draft, Links, moves
from windtunnel.simulator.moves import Host as Locals
from windtunnel.simulator.network import Inbox, Provider, Wire
from windtunnel.simulator.outside import Outside
from windtunnel.simulator.providers import behaviour as providers
from windtunnel.simulator.providers.behaviour import Behaviour, Returns
from windtunnel.simulator.providers.people import People
from windtunnel.simulator.providers.scripted import ScriptedProvider
from windtunnel.simulator.run.engine import Engine, View, engine
from windtunnel.simulator.run.notifications import Outbox, deliver
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.recovery import boot, recover
from windtunnel.simulator.run.state import FINAL, fold, question
from windtunnel.simulator.store.interface import Store
from windtunnel.simulator.store.records import Claim, RunRecord
from windtunnel.simulator.trace import Writer

LEASE_MS: Final = 10_000
"""How long a claim lasts that nobody renews."""

MAX_TRANSITIONS: Final = 1_000_000
"""Transitions of one host; a run that takes more goes in circles."""

CANCEL: Final = "cancel"
"""What somebody outside may ask for."""

PEOPLE: Final[dict[str, type[Cancel] | type[Release]]] = {CANCEL: Cancel, "release": Release}

Probe = Callable[[int, int, Action | None], None]
"""Called with the number of the transition, how many of its actions are done, and the next one: the windows
in which a test may kill the process.
"""


class Host:
    """A host that has claimed a run. Raises StoreRefused where store or session cannot be used.

    With `timely` a timer fires on time, else when nothing else happens. `people` answer requests; without
    them a run that waits waits. `following` names the run that continues another. A `blind` host does not
    hold the session against the store: enough to cancel a run whose log is gone.
    """

    def __init__(
        self,
        program: Program,
        provider: providers.Provider,
        store: Store,
        session: Session,
        ledger: Ledger,
        claim: Claim,
        *,
        clock: Clock | None = None,
        timely: bool = False,
        wall: Callable[[], int] = lambda: 0,
        choices: Choices | None = None,
        people: People | None = None,
        following: Callable[[str], str] = following,
        probe: Probe | None = None,
        blind: bool = False,
    ) -> None:
        self.program, self.provider, self.people = program, provider, people
        self.store, self.session, self.ledger, self.claim = store, session, ledger, claim
        self.wall, self.probe, self.timely = wall, probe, timely
        self.choices = choices or Recorded(())
        self.record: RunRecord = store.run(claim.run)
        self.transitions = 0
        self._load(Writer(claim.run, clock, following), blind)
        self.loop, self.engine = Loop(), Engine()
        self.inbox: Inbox = ()
        self.wire: Wire = ()
        self.call = Provider(sent=0) if isinstance(provider, ScriptedProvider) else Provider()
        self.timer: Timer | None = None
        self._told: list[int] = []
        self._cause = self._last = self._streamed = self._effected = self._went_on = 0

    def _load(self, writer: Writer, blind: bool) -> None:
        """What is durable, as handlers see it, and the names that were given."""
        lines = self.store.trace(self.claim.run)
        attempts = attempts_of(lines)
        names = {self.claim.run, *(line.name for line in lines)}
        if not blind:
            sessions.refuse_foreign(self.session, self.claim.run, names, lines)
        self.run = state_of(self.program, self.record.input, lines)
        self.log: Log = sessions.fold(
            self.session.entries,
            attempts,
            self.program.revisited,
            delivered=delivered(lines),
            torn=self.session.torn,
        )
        self.outside = Outside(done=sessions.remembered(self.ledger.done))
        self.writer = writer
        self.writer.clock.due_ms = due_of(lines)
        self.writer.take_up(written(self.claim.run, lines), map(dict, self.session.entries))

    # --- going on -------------------------------------------------------------------------------------------

    def work(self) -> RunRecord:
        """Go on until nothing happens by itself. Raises ClaimLost, Stuck and StoreRefused."""
        for _ in range(MAX_TRANSITIONS):
            if not self.advance():
                return self.record
        raise Stuck(f"{self.claim.run} goes in circles: {MAX_TRANSITIONS:,} transitions and no end")

    def advance(self) -> bool:
        """One transition; False when nothing happens by itself any more."""
        self._renew()
        if not self.inbox and self._hears():
            return True
        links = Links(self.inbox, self.wire, self.call, self.timer)
        if self._is_late():
            self._take(Draft("", "clock", "engine", Timeout(CURRENT), links._replace(timer=None), ""))
            return True
        locals_ = Locals(self.loop, self.engine, self.over)
        menu = None
        if self.call.asked and not self.inbox:
            menu = model_menu(self.program, self.provider, self.run, self.call)
        drafts = moves(locals_, links, menu, NOTHING if self.inbox else self._beyond(), late=False)
        quiet = [draft for draft in (*drafts.first, *drafts.rest) if not draft.kind]
        quiet = [draft for draft in quiet if draft.source != "person"]
        if not quiet:
            return False
        self._take(quiet[self.choices.choose(len(quiet), quiet[0].label)])
        return True

    @property
    def over(self) -> bool:
        """Whether the run has ended, and nobody can continue it."""
        return self.run.position.status in FINAL

    @property
    def overdue(self) -> bool:
        """Whether the time to answer the open request is up."""
        clock = self.writer.clock
        clock.tick()
        return clock.due_ms is not None and clock.now_ms >= clock.due_ms

    def receive(self, message: ToEngine | Say | Escape) -> tuple[Event, ...]:
        """Something that a person does; what was said to it that no store keeps."""
        links = Links(self.inbox, self.wire, self.call, self.timer)
        handler = "loop" if isinstance(message, Say | Escape) else "engine"
        source = "answer" if isinstance(message, Answered) else "person"
        actions = self._take(Draft("", source, handler, message, links, ""))
        return tuple(action.event for action in actions if isinstance(action, Emit))

    def _beyond(self) -> Beyond:
        """What effects, people and notifications may do."""
        late = self.timely and self.run.request is not None and self.overdue
        return beyond(
            self.program,
            self.provider,
            self.run,
            self.outside,
            self.engine.phase,
            people=self.people,
            late=late,
            opened=self.loop.phase != "down",
        )

    def _hears(self) -> bool:
        """Take what somebody asked for."""
        if self.over:
            return False
        for asked in self.store.asked(self.claim.run):
            message = PEOPLE.get(asked.what)
            if message is not None:
                self.receive(message())
            self.store.settle(self.claim, asked)
            return True
        return False

    def _is_late(self) -> bool:
        """Whether the time of the step is up although other things could happen."""
        deadline = self.writer.clock.deadline_ms
        if self.inbox or self.timer is None or deadline is None or not self.timely:
            return False
        self.writer.clock.tick()
        return self.writer.clock.now_ms >= deadline

    def _renew(self) -> None:
        """Renew the claim before it has used up half of its time."""
        now = self.wall()
        if self.claim.expires_ms - now <= LEASE_MS // 2:
            self.claim = self.store.renew(self.claim, now, LEASE_MS)

    # --- one transition -------------------------------------------------------------------------------------

    def _take(self, draft: Draft) -> tuple[Action, ...]:
        clock = self.writer.clock
        clock.tick()
        if isinstance(draft.message, Deadline):
            clock.wait()
        elif draft.source == "clock" and not self._waits():
            return ()
        self.inbox, self.wire, self.call, self.timer = draft.links
        self._causes(draft)
        number, self.transitions = self.transitions, self.transitions + 1
        actions = self._handle(draft)
        for done, action in enumerate(actions):
            if self.probe is not None:
                self.probe(number, done, action)
            self._do(action)
        if self.probe is not None:
            self.probe(number, len(actions), None)
        if draft.source == "wire":
            self._streamed = self._last
        self._went_on = self._last
        return actions

    def _waits(self) -> bool:
        """Wait for the timer; False when somebody asks for something before it fires."""
        clock = self.writer.clock
        while clock.deadline_ms is not None and clock.now_ms < clock.deadline_ms:
            clock.jump()
            self._renew()
            if self.store.asked(self.claim.run):
                return False
        return True

    def _causes(self, draft: Draft) -> None:
        """The line of the store that led to the message."""
        match draft.source:
            case "queue":
                self._cause = self._told.pop(0)
            case "wire":
                self._cause = self._streamed
            case "provider":
                self._cause = self._last = self._streamed
            case "outside":
                self._cause = self._last = self._effected
            case "self":
                self._cause = self._went_on
            case _:
                self._cause = self._last = 0
        self.writer.causes(self._cause)

    def _handle(self, draft: Draft) -> tuple[Action, ...]:
        """Let the handler answer."""
        if draft.handler == "provider":
            return ()
        if draft.handler == "outside":
            return self._effect(cast("Behaviour", draft.message))
        if draft.handler == "outbox":
            return deliver(self.program, Outbox(self.run.outbox[0], self.log.noticed, self.log.empty))
        if draft.handler == "loop":
            message = cast("ToLoop | Item", draft.message)
            self.loop, actions = loop(self.loop, logs.conversation(self.log), message)
            return actions
        self.engine, actions = self._engine(cast("ToEngine", draft.message))
        return actions

    def _engine(self, message: ToEngine) -> tuple[Engine, tuple[Action, ...]]:
        """The engine, with the view that its message lets it have."""
        position = self.run.position
        if not isinstance(message, Step):
            view = View(position, question(self.program, self.run))
            return engine(self.program, self.engine, view, message)
        if self.engine.phase == "down":
            return boot(self.program, View(position, self.run))
        if self.engine.phase == "recover":
            branch = logs.branch(self.log, position.node)
            return recover(self.program, self.engine, View(position, self.run, branch))
        return engine(self.program, self.engine, View(position, self.run), message)

    def _effect(self, behaviour: Behaviour) -> tuple[Action, ...]:
        """The world outside does what was chosen; what it applies it remembers."""
        call = self.outside.call
        assert call is not None, "only a call has an outcome"
        self.outside, actions = outside.settle(self.outside, behaviour)
        if any(isinstance(action, Emit) for action in actions):
            act = behaviour.turn(0).acts[0]
            assert isinstance(act, Returns), "what is applied returns something"
            key = {} if call.key is None else {"key": call.key}
            self.ledger.apply({"name": call.name, "output": act.output, **key})
        return actions

    # --- effects --------------------------------------------------------------------------------------------

    def _do(self, action: Action) -> None:
        match action:
            case Commit():
                self._commit(action)
            case Append():
                self._append(action)
            case Repair():
                with self.store.guard(self.claim):
                    self.session.repair()
                self.log = logs.repair(self.log)
            case Emit():
                self._last = self._cause
            case Tell():
                self.inbox = (*self.inbox, action)
                self._told.append(self._last)
            case Ask():
                self.call, self.wire = network.ask(self.call, self.wire, action)
                self._streamed = self._last
            case Perform():
                self.outside = self.outside._replace(call=action)
                self._effected = self._last
            case Withdraw():
                self.outside = outside.dropped(self.outside)
            case HangUp():
                self.call, self.wire = network.idle(self.call), ()
            case Arm(timeout_ms):
                self.timer = Timer(timeout_ms)
                self.writer.clock.arm(timeout_ms)
            case Disarm(held):
                self.timer = None
                self.writer.clock.disarm(held=held)

    def _commit(self, action: Commit) -> None:
        """One transaction; the fold follows only when it is in the store."""
        before = len(self.writer.events)
        for event in action.events:
            self.writer.write("host", event)
        made = zip(action.events, self.writer.events[before:], strict=True)
        lines = tuple(line_of(event, said, self.claim.run) for event, said in made)
        self.record = self.store.commit(self.claim, lines)
        for line in lines:
            self.run = fold(self.program, self.run, line.event)
            if line.event.type == "node_started":
                self.log = logs.age(self.log, self.program.revisited)
            elif line.event.type == "notification_delivered":
                self.log = logs.told(self.log)
            elif line.event.type == "decision_requested":
                self.writer.clock.due_ms = due_of((line,))
        self._last = self.writer.last

    def _append(self, action: Append) -> None:
        """One write to the session, while nobody else can claim the run."""
        before = len(self.writer.entries)
        self.writer.append(action.rows)
        with self.store.guard(self.claim):
            self.session.append(self.writer.entries[before:])
        for row in action.rows:
            self.log = logs.append(self.log, row)
