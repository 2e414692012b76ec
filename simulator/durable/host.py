"""One host with one run: what is durable is read once, then the handlers of exploration do the rest.

The host drains its queue before it looks at anything from outside, in the order that `moves` gives; of two
ways on, `choices` takes one. What handlers see of store and session are the folds of both, kept beside them
and changed only after a write succeeded. A claim that is lost stops the host at once, without a trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from windtunnel.simulator import network
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.chat.log import Log
from windtunnel.simulator.chat.loop import Item, Loop, loop
from windtunnel.simulator.choices import Choices, Recorded
from windtunnel.simulator.clock import Clock, Timer
from windtunnel.simulator.durable import session as sessions
from windtunnel.simulator.durable.lines import attempts_of, line_of, state_of, written
from windtunnel.simulator.durable.session import Session
from windtunnel.simulator.events import (
    CURRENT,
    Action,
    Append,
    Arm,
    Ask,
    Cancel,
    Commit,
    Disarm,
    Emit,
    Escape,
    HangUp,
    Release,
    Repair,
    Say,
    Step,
    Tell,
    Timeout,
    ToEngine,
    ToLoop,
)
from windtunnel.simulator.moves import Draft, Links, moves
from windtunnel.simulator.moves import Host as Locals
from windtunnel.simulator.network import CHAT, Inbox, Provider, Wire
from windtunnel.simulator.providers import behaviour as providers
from windtunnel.simulator.providers.behaviour import Kind, Menu, Request
from windtunnel.simulator.providers.scripted import ScriptedProvider
from windtunnel.simulator.run.engine import Engine, View, engine
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.recovery import boot, recover
from windtunnel.simulator.run.state import OVER, Scope, fold, question
from windtunnel.simulator.store.interface import Store, StoreRefused
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


class Stuck(StoreRefused):
    """The run goes in circles, or the model has nothing to say that its step could use."""


class Host:
    """A host that has claimed a run; with `timely` a timer fires on time, else when nothing else happens.

    Raises StoreRefused where store or session cannot be used.
    """

    def __init__(
        self,
        program: Program,
        provider: providers.Provider,
        store: Store,
        session: Session,
        claim: Claim,
        *,
        clock: Clock | None = None,
        timely: bool = False,
        wall: Callable[[], int] = lambda: 0,
        choices: Choices | None = None,
        probe: Probe | None = None,
    ) -> None:
        self.program, self.provider = program, provider
        self.store, self.session, self.claim = store, session, claim
        self.wall, self.probe, self.timely = wall, probe, timely
        self.choices = choices or Recorded(())
        self.record: RunRecord = store.run(claim.run)
        self.transitions = 0
        self._load(clock or Clock())
        self.loop, self.engine = Loop(), Engine()
        self.inbox: Inbox = ()
        self.wire: Wire = ()
        self.call = Provider(sent=0) if isinstance(provider, ScriptedProvider) else Provider()
        self.timer: Timer | None = None
        self._told: list[int] = []
        self._cause = self._last = self._streamed = self._went_on = 0

    def _load(self, clock: Clock) -> None:
        """What is durable, as handlers see it, and the names that were given."""
        lines = self.store.trace(self.claim.run)
        attempts = attempts_of(lines)
        if not sessions.belongs(self.session.entries, self.claim.run, attempts):
            raise StoreRefused(f"the session log is not that of {self.claim.run}")
        self.run = state_of(self.program, self.record.input, lines)
        self.log: Log = sessions.fold(
            self.session.entries, attempts, self.program.revisited, torn=self.session.torn
        )
        self.writer = Writer(self.claim.run, clock)
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
        drafts = moves(locals_, links, self._menu() if self.call.asked else None, late=False)
        quiet = [draft for draft in (*drafts.first, *drafts.rest) if not draft.kind]
        quiet = [draft for draft in quiet if draft.source != "person"]
        if not quiet:
            return False
        self._take(quiet[self.choices.choose(len(quiet), quiet[0].label)])
        return True

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.run.position.status in OVER

    def receive(self, message: ToEngine | Say | Escape) -> None:
        """Something that a person does."""
        links = Links(self.inbox, self.wire, self.call, self.timer)
        handler = "loop" if isinstance(message, Say | Escape) else "engine"
        self._take(Draft("", "person", handler, message, links, ""))

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

    def _menu(self) -> Menu:
        """What the provider may do with the question that is asked."""
        asked = self.call.question
        if asked is None:
            return Menu((CHAT,))
        scope = Scope(self.program, question(self.program, self.run))
        kind, sent = Kind(asked.kind), max(0, self.call.sent)
        menu = self.provider.menu(
            Request(asked.node, asked.visit, kind, asked.prompt, asked.max_chars, scope, sent)
        )
        if menu.gap is not None:
            raise Stuck(f"the model has nothing to say for {asked.node}: {menu.gap}")
        return menu

    # --- one transition -------------------------------------------------------------------------------------

    def _take(self, draft: Draft) -> None:
        clock = self.writer.clock
        clock.tick()
        if draft.source == "clock" and not self._waits():
            return
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
            case "self":
                self._cause = self._went_on
            case _:
                self._cause = self._last = 0
        self.writer.causes(self._cause)

    def _handle(self, draft: Draft) -> tuple[Action, ...]:
        """Let the handler answer."""
        if draft.handler == "provider":
            return ()
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
        lines = tuple(line_of(event, said) for event, said in made)
        self.record = self.store.commit(self.claim, lines)
        for line in lines:
            self.run = fold(self.program, self.run, line.event)
            if line.event.type == "node_started":
                self.log = logs.age(self.log, self.program.revisited)
        self._last = self.writer.last

    def _append(self, action: Append) -> None:
        """One write to the session, while nobody else can claim the run."""
        before = len(self.writer.entries)
        self.writer.append(action.rows)
        with self.store.guard(self.claim):
            self.session.append(self.writer.entries[before:])
        for row in action.rows:
            self.log = logs.append(self.log, row)
