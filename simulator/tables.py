"""The components of the world as numbers, and every change of one, remembered.

A change is a pure function of values; here it becomes a look-up of numbers, so that a transition that was
seen before costs next to nothing. Views are made here too, and nowhere else.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from windtunnel.simulator import network, outside
from windtunnel.simulator.around import ALONE, Around, Role
from windtunnel.simulator.budget import Budget, spend
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.chat.loop import Item, Loop
from windtunnel.simulator.clock import Timer
from windtunnel.simulator.events import (
    Action,
    Answered,
    Append,
    Arm,
    Ask,
    Commit,
    Inside,
    Perform,
    Row,
    Tell,
    ToEngine,
    ToLoop,
)
from windtunnel.simulator.hosting import USUAL, Hosting
from windtunnel.simulator.network import Inbox, Late, Provider, Wire
from windtunnel.simulator.outside import NOTHING, Outside
from windtunnel.simulator.pool import Pool
from windtunnel.simulator.providers.behaviour import Behaviour
from windtunnel.simulator.run.engine import Engine, View
from windtunnel.simulator.run.notifications import Outbox
from windtunnel.simulator.run.program import NONE, Program
from windtunnel.simulator.run.recovery import mended
from windtunnel.simulator.run.state import FINAL, OVER, Run, question
from windtunnel.simulator.store.memory import commit

AGES, TOLD, GIVEN = 1, 2, 3
ENDED, WAITS, UNTOLD, PAUSABLE, BRANCHES, OWED = 1, 2, 4, 8, 16, 32


class Cut(NamedTuple):
    """Where a crash falls inside an outcome: after `done` actions, `rows` rows into the next, torn or not."""

    done: int
    rows: int = 0
    torn: bool = False


def until(actions: tuple[Action, ...], cut: Cut) -> tuple[Action, ...]:
    """What had happened when the crash fell."""
    done = actions[: cut.done]
    if cut.torn and cut.rows:
        return (*done, Append(cast(Append, actions[cut.done]).rows[: cut.rows]))
    return done


class Tables:
    """The pools of one world and the changes that were made in it."""

    def __init__(self, program: Program, hosting: Hosting = USUAL) -> None:
        self.program = program
        self.hosting = hosting
        self.pauses = "pause" in hosting.also
        self.branches = "branch" in hosting.also
        self.loops: Pool[Loop] = Pool()
        self.engines: Pool[Engine] = Pool()
        self.inboxes: Pool[Inbox] = Pool()
        self.wires: Pool[Wire] = Pool()
        self.calls: Pool[Provider] = Pool()
        self.lates: Pool[Late] = Pool()
        self.timers: Pool[Timer | None] = Pool()
        self.logs: Pool[logs.Log] = Pool()
        self.stores: Pool[Run] = Pool()
        self.outsides: Pool[Outside] = Pool()
        self.budgets: Pool[Budget] = Pool()
        self.messages: Pool[ToLoop | ToEngine | Item | Behaviour] = Pool()
        self.views: Pool[View | logs.Conversation | Outbox] = Pool()
        self.pieces: Pool[Action] = Pool()
        self.arounds: Pool[Around] = Pool()
        self.roles: Pool[Role] = Pool()
        self.open_calls: set[int] = set()
        self._lates_after: dict[tuple[int, int, bool], int] = {}
        self._conversations: dict[int, int] = {}
        self._narrow: dict[tuple[int, int], int] = {}
        self._wide: dict[tuple[int, int, int], int] = {}
        self._stands: dict[int, int] = {}
        self._lasting: dict[int, bool] = {}
        self._outboxes: dict[tuple[int, int], int] = {}
        self._kept: dict[tuple[int, int], int] = {}
        self._pushed: dict[tuple[int, int], int] = {}
        self._asked: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._idled: dict[int, int] = {}
        self._appended: dict[tuple[int, int], int] = {}
        self._committed: dict[tuple[int, int], tuple[int, int]] = {}
        self._aged: dict[int, int] = {}
        self._spent: dict[tuple[int, str], int] = {}
        self.none_late = self.lates.id(())
        self.no_outside = self.outsides.id(NOTHING)
        self.alone = self.arounds.id(ALONE)

    # --- links ----------------------------------------------------------------------------------------------

    def push(self, inbox: int, piece: int) -> int:
        key = (inbox, piece)
        found = self._pushed.get(key)
        if found is None:
            told = cast(Tell, self.pieces.values[piece])
            found = self._pushed[key] = self.inboxes.id((*self.inboxes.values[inbox], told))
        return found

    def ask(self, provider: int, wire: int, piece: int) -> tuple[int, int]:
        key = (provider, wire, piece)
        found = self._asked.get(key)
        if found is None:
            ask = cast(Ask, self.pieces.values[piece])
            call, items = network.ask(self.calls.values[provider], self.wires.values[wire], ask)
            found = self._asked[key] = (self.calls.id(call), self.wires.id(items))
            if call.asked and call.question is not None:
                self.open_calls.add(found[0])
        return found

    def idle(self, provider: int) -> int:
        found = self._idled.get(provider)
        if found is None:
            found = self._idled[provider] = self.calls.id(network.idle(self.calls.values[provider]))
        return found

    def armed(self, piece: int) -> int:
        return self.timers.id(Timer(cast(Arm, self.pieces.values[piece]).timeout_ms))

    def perform(self, number: int, piece: int) -> int:
        """The outside with a call under way."""
        call = cast(Perform, self.pieces.values[piece])
        return self.outsides.id(self.outsides.values[number]._replace(call=call))

    def withdraw(self, number: int) -> int:
        """The outside without a call under way."""
        if number == self.no_outside:
            return number
        return self.outsides.id(outside.dropped(self.outsides.values[number]))

    def keep(self, number: int, store: int) -> int:
        """The outside without what no call that can still come will meet.

        Where a host may come back that lost its claim, a call of it can always come.
        """
        if number == self.no_outside or self.hosting.second:
            return number
        key = (number, store)
        found = self._kept.get(key)
        if found is None:
            position = self.stores.values[store].position
            names = self.program.ahead.get(position.node, NONE) if position.status not in FINAL else NONE
            found = self._kept[key] = self.outsides.id(outside.kept(self.outsides.values[number], names))
        return found

    # --- what is durable ------------------------------------------------------------------------------------

    def commit(self, store: int, piece: int) -> tuple[int, int]:
        """The store after a transaction, and what the log follows it by: AGES, TOLD, GIVEN or 0."""
        key = (store, piece)
        found = self._committed.get(key)
        if found is None:
            events = cast(Commit, self.pieces.values[piece]).events
            after = commit(self.program, self.stores.values[store], events)
            kinds = {event.type for event in events}
            follows = AGES if "node_started" in kinds else TOLD if "notification_delivered" in kinds else 0
            follows = GIVEN if kinds & {"turn_deferred", "turn_given"} else follows
            found = self._committed[key] = (self.stores.id(after), follows)
        return found

    def follow_up(self, log: int, follows: int) -> int:
        """The log after a transaction that it follows."""
        if follows == AGES:
            return self.age(log)
        if follows == GIVEN:
            return self.logs.id(logs.given(self.logs.values[log]))
        return self.logs.id(logs.told(self.logs.values[log])) if follows == TOLD else log

    def append(self, log: int, piece: int) -> int:
        key = (log, piece)
        found = self._appended.get(key)
        if found is None:
            found = self._appended[key] = self.rows(log, cast(Append, self.pieces.values[piece]).rows)
        return found

    def rows(self, log: int, rows: tuple[Row, ...]) -> int:
        value = self.logs.values[log]
        for row in rows:
            value = logs.append(value, row)
        return self.logs.id(value)

    def tear(self, log: int, piece: int, rows: int) -> int:
        whole = self.rows(log, cast(Append, self.pieces.values[piece]).rows[:rows])
        return self.logs.id(logs.tear(self.logs.values[whole]))

    def repair(self, log: int) -> int:
        return self.logs.id(mended(self.program, self.logs.values[log]))

    def age(self, log: int) -> int:
        found = self._aged.get(log)
        if found is None:
            aged = logs.age(self.logs.values[log], self.program.revisited)
            found = self._aged[log] = self.logs.id(aged)
        return found

    def move_late(self, late: int, number: int, again: bool) -> int:
        """Late messages after a message that will come again, or after one that has come."""
        key = (late, number, again)
        found = self._lates_after.get(key)
        if found is None:
            message = cast(Inside, self.messages.values[number])
            change = network.repeat_late if again else network.drop_late
            found = self._lates_after[key] = self.lates.id(change(self.lates.values[late], message))
        return found

    def age_late(self, late: int) -> int:
        return self.lates.id(network.age_late(self.lates.values[late])) if late != self.none_late else late

    # --- views ----------------------------------------------------------------------------------------------

    def conversation(self, log: int) -> int:
        found = self._conversations.get(log)
        if found is None:
            found = self._conversations[log] = self.views.id(logs.conversation(self.logs.values[log]))
        return found

    def wide_view(self, store: int, log: int, role: int = 0) -> int:
        """What the engine reads that goes on by itself: the whole run, and the branch of `log` if it is
        one.
        """
        key = (store, log, role)
        found = self._wide.get(key)
        if found is None:
            run, who = self.stores.values[store], self.roles.values[role]
            seen = None if log < 0 else logs.branch(self.logs.values[log], run.position.node)
            found = self._wide[key] = self.views.id(View(run.position, run, seen, who.executor, who.works))
        return found

    def narrow_view(self, store: int, role: int = 0) -> int:
        key = (store, role)
        found = self._narrow.get(key)
        if found is None:
            run, who = self.stores.values[store], self.roles.values[role]
            view = View(run.position, question(self.program, run), None, who.executor, who.works)
            found = self._narrow[key] = self.views.id(view)
        return found

    def outbox_view(self, store: int, log: int) -> int:
        """What delivering a notification reads."""
        key = (store, log)
        found = self._outboxes.get(key)
        if found is None:
            seen = self.logs.values[log]
            view = Outbox(self.stores.values[store].outbox[0], seen.noticed, seen.empty)
            found = self._outboxes[key] = self.views.id(view)
        return found

    def stands(self, store: int) -> int:
        """How the run stands: ENDED, WAITS, PAUSABLE, BRANCHES, and UNTOLD where a notification is queued."""
        found = self._stands.get(store)
        if found is None:
            run = self.stores.values[store]
            status, paused = run.position.status, run.position.paused or run.position.pausing
            found = ENDED if status in FINAL else WAITS if status == "waiting" else 0
            if self.pauses and not found and not paused:
                found = PAUSABLE
            if self.branches and not found & ENDED and run.position.phase == "started":
                found |= BRANCHES
            found |= OWED if run.owed is not None and run.position.status in OVER else 0
            found = self._stands[store] = found | (UNTOLD if run.outbox else 0)
        return found

    def lasts(self, late: int) -> bool:
        """Whether something is late that still comes when the run is over: a person knows no better."""
        found = self._lasting.get(late)
        if found is None:
            found = any(isinstance(message, Answered) for message in self.lates.values[late])
            self._lasting[late] = found
        return found

    def spend(self, budget: int, kind: str) -> int:
        """The budget after one fault of the kind, -1 if it cannot be afforded."""
        key = (budget, kind)
        found = self._spent.get(key)
        if found is None:
            left = spend(self.budgets.values[budget], kind)
            found = self._spent[key] = -1 if left is None else self.budgets.id(left)
        return found
