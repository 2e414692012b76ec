"""Everything wired together: a state is a flat tuple of small numbers, a transition is one handler call.

The host is one process with two handlers, loop and engine, and a queue between them that it drains before it
looks at anything from outside, as a single-threaded host does. `options` lists what can happen next, the
quiet one first: the host's queue, a notification, the loop, the engine, the stream, good behaviours of the
provider and of effects, answers of people, late messages, a release, the timer; then everything that costs a
fault. A crash comes after each durable effect of an option and inside each append.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Refused
from windtunnel.compiler.canonical import canonical
from windtunnel.simulator import handlers as code_of
from windtunnel.simulator import invariants
from windtunnel.simulator.around import ZOMBIE
from windtunnel.simulator.budget import Budget
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.chat.loop import Loop
from windtunnel.simulator.events import DURABLE, Append, Commit, Repair, Step
from windtunnel.simulator.handlers import Move, Outcome
from windtunnel.simulator.hosting import INTERACTIVE, USUAL, Hosting
from windtunnel.simulator.invariants import Facts, Violation, Watch
from windtunnel.simulator.moves import NOTHING, THE_HOST, Draft, Host, Links, late_moves, moves
from windtunnel.simulator.network import Provider
from windtunnel.simulator.offers import (
    AROUND,
    BUDGET,
    ENGINE,
    INBOX,
    LATE,
    LOG,
    LOOP,
    OUTSIDE,
    PROVIDER,
    STORE,
    TIMER,
    WATCH,
    WIRE,
    State,
)
from windtunnel.simulator.pool import Pool
from windtunnel.simulator.providers import behaviour as providers
from windtunnel.simulator.providers.people import GeneratedPeople, People
from windtunnel.simulator.run import claims
from windtunnel.simulator.run.engine import Engine
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.state import FINAL
from windtunnel.simulator.seats import Seats
from windtunnel.simulator.store.memory import created
from windtunnel.simulator.tables import AGES, BRANCHES, ENDED, OWED, PAUSABLE, WAITS, Cut, until

__all__ = [
    "AROUND",
    "BUDGET",
    "ENGINE",
    "INBOX",
    "LATE",
    "LOG",
    "LOOP",
    "OUTSIDE",
    "PROVIDER",
    "STORE",
    "TIMER",
    "WATCH",
    "WIRE",
    "Cut",
    "InputRefused",
    "Move",
    "Option",
    "Outcome",
    "State",
    "World",
    "until",
]


class Option(NamedTuple):
    """A way on: the next state, what it broke, and how it came about.

    `refused` is how many actions were done when a write of a host without a claim was refused, -1 where
    none was.
    """

    state: State
    violations: tuple[Violation, ...]
    move: Move
    cut: Cut | None
    outcome: int
    refused: int = -1


LAST: Final = ("clock", "person")
"""Where quiet moves come from that are made when nothing else happens."""


class InputRefused(ValueError):
    """The input of the run does not fit the workflow; the message says where."""


class World(Seats):
    """One workflow with one input and one provider; a `scripted` one is told how far a visit has come.

    `people` answer its requests; by default they give every answer that there is. `hosting` says which hosts
    there are and what else may happen. Raises InputRefused when the input does not fit.
    """

    def __init__(
        self,
        program: Program,
        provider: providers.Provider,
        input: JsonValue,
        *,
        scripted: bool = False,
        people: People | None = None,
        hosting: Hosting = USUAL,
    ) -> None:
        verdict = program.accepts.accept(input)
        if isinstance(verdict, Refused):
            raise InputRefused(str(verdict))
        super().__init__(program, provider, people or GeneratedPeople(program.snapshot), hosting)
        self.input = verdict.value
        self.facts = Facts(program.snapshot, told=hosting.origin)
        self.roles.id(THE_HOST)
        self.watches: Pool[Watch] = Pool()
        self.tested: Counter[str] = Counter()
        self._moves: dict[tuple[int, ...], tuple[tuple[Move, ...], tuple[Move, ...]]] = {}
        self._lates_moves: dict[tuple[int, ...], tuple[Move, ...]] = {}
        self._seen: dict[tuple[int, int, Cut | None, int, int], tuple[int, tuple[Violation, ...]]] = {}
        self._down = (
            self.loops.id(Loop()),
            self.engines.id(Engine()),
            self.inboxes.id(()),
            self.wires.id(()),
            self.calls.id(Provider(sent=0) if scripted else Provider()),
            self.lates.id(()),
            self.timers.id(None),
        )
        self._durable = (self.logs.id(logs.NEW), self.stores.id(created(canonical(self.input))))
        self._fresh: set[tuple[int, ...]] = {self._durable}

    def start(self, budget: Budget, input: JsonValue = None) -> State:
        """A run that was asked for, before the host looks at it; by default with the world's own input.

        Raises InputRefused when another input does not fit.
        """
        durable = self._durable
        if input is not None:
            verdict = self.program.accepts.accept(input)
            if isinstance(verdict, Refused):
                raise InputRefused(str(verdict))
            durable = (durable[0], self.stores.id(created(canonical(verdict.value))))
            self._fresh.add(durable)
        around = self.around_at_the_start(self._down, self._durable[0])
        fresh = (self.no_outside, around, self.budgets.id(budget), self.watches.id(Watch()))
        return (*self._down, *durable, *fresh)

    # --- what can happen ------------------------------------------------------------------------------------

    def options(self, state: State) -> list[Option]:
        """Every way on, the quiet ones first; empty when nothing happens by itself and nothing may go
        wrong.
        """
        found: list[Option] = []
        crashes: list[Option] = []
        budget = state[BUDGET]
        crash_budget = self.spend(budget, "crash")
        for move in self.moves(state):
            left = budget if not move.kind else self.spend(budget, move.kind)
            if left < 0:
                continue
            option = self._option(state, move, left)
            found.append(option)
            crash_left = crash_budget if left == budget else self.spend(left, "crash")
            if crash_left >= 0 and option.refused < 0:
                for cut in self.outcomes[option.outcome].cuts:
                    crashes.append(self._crash(state, move, option.outcome, cut, crash_left))
        if crash_budget >= 0 and state[LOG : STORE + 1] in self._fresh and found:
            # Nothing was written yet, so no write's crash stands for this one.
            first = found[0]
            crashes.append(self._crash(state, first.move, first.outcome, Cut(0), crash_budget))
        return found + crashes

    def moves(self, state: State) -> tuple[Move, ...]:
        """Everything enabled, whatever the budget: of each kind first what a host does that looks on, then
        whoever works on the run, then a zombie.
        """
        around = state[AROUND]
        if around == self.alone and not self.hosting.second:
            return self._moves_in(state, self.role(around) if self.hosting.host != INTERACTIVE else 0)
        found = [self._moves_in(state, self.role(around))]
        for seat, other in enumerate(self.arounds.values[around].others, 1):
            moves_ = self._moves_in(self.seated(state, seat), self.role(around, seat))
            if other.kind == ZOMBIE:
                found.append(tuple(m for m in moves_ if not m.kind and m.source not in ("person", "answer")))
            else:
                found.insert(0, moves_)
        quiet = [move for moves_ in found for move in moves_ if not move.kind]
        by_itself = [move for move in quiet if move.source not in LAST]
        waits = [move for move in quiet if move.source in LAST]
        faults = [move for moves_ in found for move in moves_ if move.kind]
        if self.can_freeze(state):
            links, label = self._links(state), "the host is paused past its lease, and another one takes over"
            faults.append(self._intern(Draft("zombie", "world", "freeze", Step(), links, label)))
        return (*by_itself, *waits, *faults)

    def _moves_in(self, state: State, role: int) -> tuple[Move, ...]:
        """What a process in one seat may do; `state` is as it sees it."""
        provider, store, late = state[PROVIDER], state[STORE], state[LATE]
        stands = self.stands(store)
        comes = (
            late != self._down[LATE]
            and (not stands & ENDED or self.lasts(late))
            and state[INBOX] == self._down[INBOX]
        )
        # What a provider may do, and what can be answered, depends on what the node reads, too.
        asked = provider in self.open_calls or state[OUTSIDE] != self.no_outside or stands & WAITS
        read = self.narrow_view(store) if asked else -1
        key = (*state[:LATE], state[TIMER], state[OUTSIDE], read, stands, comes, role)
        found = self._moves.get(key)
        if found is None:
            found = self._moves[key] = self._draft(state, comes, role)
        if not comes:
            return found[1]
        return (*found[0], *self._late_moves(state, role), *found[1])

    def _draft(self, state: State, comes: bool, role: int) -> tuple[tuple[Move, ...], tuple[Move, ...]]:
        """The moves before and after those of late messages; all of them after, where there are none."""
        links, who = self._links(state), self.roles.values[role]
        loop, engine, stands = state[LOOP], state[ENGINE], self.stands(state[STORE])
        may = (bool(stands & PAUSABLE), who, bool(stands & BRANCHES), self.hosting.also, bool(stands & OWED))
        host = Host(self.loops.values[loop], self.engines.values[engine], self.over(state), *may)
        # While the host drains its queue nobody outside is looked at.
        menu = None
        if links.provider.asked and not links.inbox:
            menu = self.menu(links.provider, state, zombie=who.kind == ZOMBIE)
        beyond = NOTHING if links.inbox else self.beyond(host, state)
        drafts = moves(host, links, menu, beyond, late=comes)
        first = tuple(self._intern(draft, role) for draft in drafts.first)
        rest = tuple(self._intern(draft, role) for draft in drafts.rest)
        return (first, rest) if comes else ((), first + rest)

    def _late_moves(self, state: State, role: int) -> tuple[Move, ...]:
        key = (state[LATE], state[WIRE], state[PROVIDER], state[TIMER], role)
        found = self._lates_moves.get(key)
        if found is None:
            drafts = late_moves(self.lates.values[state[LATE]], self._links(state))
            found = self._lates_moves[key] = tuple(self._intern(draft, role) for draft in drafts)
        return found

    def _links(self, state: State) -> Links:
        return Links(
            self.inboxes.values[state[INBOX]],
            self.wires.values[state[WIRE]],
            self.calls.values[state[PROVIDER]],
            self.timers.values[state[TIMER]],
        )

    def _intern(self, draft: Draft, role: int = 0) -> Move:
        links = draft.links
        return Move(
            draft.kind,
            draft.source,
            draft.handler,
            self.messages.id(draft.message),
            self.inboxes.id(links.inbox),
            self.wires.id(links.wire),
            self.calls.id(links.provider),
            self.timers.id(links.timer),
            draft.again,
            draft.label,
            self.roles.values[role].seat,
            role,
        )

    def over(self, state: State) -> bool:
        """Whether the run has ended, and nobody can continue it."""
        return self.stores.values[state[STORE]].position.status in FINAL

    def waits_for_value(self, state: State) -> bool:
        """Whether nothing good could be made for provider or effect: a gap of ours, not of the run."""
        others = self.arounds.values[state[AROUND]].others
        return super().waits_for_value(state) or any(
            super(World, self).waits_for_value(self.seated(state, seat))
            for seat, other in enumerate(others, 1)
            if other.kind != ZOMBIE
        )

    # --- one way on -----------------------------------------------------------------------------------------

    def _option(self, state: State, move: Move, budget: int) -> Option:
        """Where a move leads."""
        if not move.seat and state[AROUND] == self.alone and move.handler != "freeze":
            return self._apply(state, move, self._call(move, state), budget)
        if move.handler == "freeze":
            return self._freeze(state, move, budget)
        seen = self.seated(state, move.seat)
        number = self._call(move, seen)
        if not move.seat:
            option = self._apply(state, move, number, budget)
            return self._left(option, number, None)
        if self.roles.values[move.role].kind == ZOMBIE:
            actions = self.outcomes[number].actions
            at = next((n for n, action in enumerate(actions) if isinstance(action, DURABLE)), -1)
            if at >= 0 and not claims.writes(self.program, held=False):
                watch, violations = self._watch(state[WATCH], number, Cut(at), state[STORE], move.role)
                left = (*self.without(state, move.seat)[:BUDGET], budget, watch)
                return Option(left, violations, move, None, number, at)
            seen = (*seen[:LOG], *state[LOG : STORE + 1], *seen[OUTSIDE:])
        option = self._apply(seen, move, number, budget)
        return option._replace(state=self.unseated(state, move.seat, option.state))

    def _freeze(self, state: State, move: Move, budget: int) -> Option:
        number = self._call(move, state)
        fresh = (*self._down[:PROVIDER], self.idle(state[PROVIDER]), *self._down[LATE:])
        watch, violations = self._watch(state[WATCH], number, Cut(0), state[STORE], move.role)
        after = (*self.frozen(state, fresh)[:BUDGET], budget, watch)
        return Option(after, violations, move, None, number)

    # --- its effects ----------------------------------------------------------------------------------------

    def _apply(self, state: State, move: Move, number: int, budget: int) -> Option:
        inbox, wire, provider, timer = move[4:8]
        late = state[LATE]
        if move.again or move.source == "late":
            late = self.move_late(late, move.message, move.again)
        outcome = self.outcomes[number]
        log, store = state[LOG], state[STORE]
        beyond = outcome.local if move.handler == "outside" else state[OUTSIDE]
        for code, piece in outcome.effects:
            if code == code_of.TELL:
                inbox = self.push(inbox, piece)
            elif code == code_of.COMMIT:
                store, follows = self.commit(store, piece)
                if follows:
                    log = self.follow_up(log, follows)
                    late = self.age_late(late) if follows == AGES else late
                beyond = self.keep(beyond, store)
            elif code == code_of.APPEND:
                log = self.append(log, piece)
            elif code == code_of.ASK:
                provider, wire = self.ask(provider, wire, piece)
            elif code == code_of.HANG:
                provider, wire = self.idle(provider), self._down[WIRE]
            elif code == code_of.ARM:
                timer = self.armed(piece)
            elif code == code_of.DISARM:
                timer = self._down[TIMER]
            elif code == code_of.PERFORM:
                beyond = self.perform(beyond, piece)
            elif code == code_of.WITHDRAW:
                beyond = self.withdraw(beyond)
            else:
                log = self.repair(log)
        watch, violations = self._watch(state[WATCH], number, None, store, move.role)
        if move.handler == "loop":
            locals_ = (outcome.local, state[ENGINE])
        elif move.handler == "engine":
            locals_ = (state[LOOP], outcome.local)
        else:
            locals_ = (state[LOOP], state[ENGINE])
        left = (log, store, beyond, state[AROUND], budget, watch)
        after = (*locals_, inbox, wire, provider, late, timer, *left)
        return Option(after, violations, move, None, number)

    def follow(self, state: State, move: Move) -> Option:
        """Where a move leads, whatever the budget; it costs nothing here."""
        return self._option(state, move, state[BUDGET])

    def crash(self, state: State, option: Option, cut: Cut) -> Option:
        """What a crash leaves when it falls at `cut` of the option's outcome; it costs nothing here."""
        return self._crash(state, option.move, option.outcome, cut, state[BUDGET])

    def _crash(self, state: State, move: Move, number: int, cut: Cut, budget: int) -> Option:
        """The state after a crash of the process that moves: what is durable, and nothing else."""
        if not move.seat:
            option = self._died(state, move, number, cut, budget)
            return option if state[AROUND] == self.alone else self._left(option, number, cut)
        option = self._died(self.seated(state, move.seat), move, number, cut, budget)
        return option._replace(state=self.unseated(state, move.seat, option.state))

    def _left(self, option: Option, number: int, cut: Cut | None) -> Option:
        """What the others find after a move, or a crash, of whoever works on the run."""
        actions = self.outcomes[number].actions
        began = any(
            event.type == "node_started"
            for action in (actions if cut is None else until(actions, cut))
            if isinstance(action, Commit)
            for event in action.events
        )
        after = self.others_age(option.state) if began else option.state
        return option._replace(state=self.handed_over(after))

    def _died(self, state: State, move: Move, number: int, cut: Cut, budget: int) -> Option:
        """The state after a crash as the process sees it when it starts again."""
        log, store = state[LOG], state[STORE]
        actions = self.outcomes[number].actions
        happened = move.handler == "outside" and cut.done > 0
        beyond = self.outcomes[number].local if happened else state[OUTSIDE]
        for action in actions[: cut.done]:
            if isinstance(action, Commit):
                store, follows = self.commit(store, self.pieces.id(action))
                log = self.follow_up(log, follows)
            elif isinstance(action, Append):
                log = self.append(log, self.pieces.id(action))
            elif isinstance(action, Repair):
                log = self.repair(log)
        if cut.torn:
            log = self.tear(log, self.pieces.id(actions[cut.done]), cut.rows)
        watch, violations = self._watch(state[WATCH], number, cut, store, move.role)
        down = (*self._down[:PROVIDER], self.idle(state[PROVIDER]), *self._down[LATE:])
        beyond = self.keep(self.withdraw(beyond), store)
        after = (*down, log, store, beyond, state[AROUND], budget, watch)
        return Option(after, violations, move, cut, number)

    def _watch(
        self, watch: int, number: int, cut: Cut | None, store: int, role: int
    ) -> tuple[int, tuple[Violation, ...]]:
        """The watcher after an outcome, or after what a crash left of it."""
        key = (watch, number, cut, store, role)
        found = self._seen.get(key)
        if found is None:
            outcome = self.outcomes[number]
            actions = outcome.actions if cut is None else until(outcome.actions, cut)
            position = invariants.Position(*self.stores.values[store].position)
            received = self.messages.values[outcome.message]
            who, before = self.roles.values[role], self.watches.values[watch]
            seen = invariants.observe(self.facts, before, received, actions, position, who.by)
            after = invariants.crashed(seen.watch) if cut is not None and who.works else seen.watch
            self.tested.update(seen.tested)
            found = self._seen[key] = (self.watches.id(after), seen.violations)
        return found
