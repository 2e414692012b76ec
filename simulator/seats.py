"""The states of those who sit behind the first seat, and how a seat changes hands.

A process behind is a whole process in one number of the state. To let it move, the state is turned so that
its parts stand where those of the first seat stand; afterwards it is turned back.
"""

from __future__ import annotations

from typing import Final

from windtunnel.simulator.around import HOST, WORKER, ZOMBIE, Around, Other, Role
from windtunnel.simulator.handlers import Handlers
from windtunnel.simulator.hosting import DETACHED, DIRECT
from windtunnel.simulator.offers import AROUND, ENGINE, LATE, LOG, LOOP, OUTSIDE, STORE, TIMER, State
from windtunnel.simulator.run.state import FINAL
from windtunnel.simulator.run.transition import PARK, UNSUPPORTED, VISIBLE

GONE: Final = ("parked", "over")
"""Phases of a worker's engine in which it has nothing more to do."""


class Seats(Handlers):
    """Who sits where. A world with one host has nobody behind, and pays nothing for it."""

    def around_at_the_start(self, down: tuple[int, ...], log: int) -> int:
        """Who is there when the run is asked for."""
        if self.hosting.host != DETACHED:
            return self.alone
        others = (Other(HOST, down, log),) if self.hosting.origin else ()
        return self.arounds.id(Around(WORKER, others))

    def role(self, around: int, seat: int = 0) -> int:
        """What the process in a seat can do, as a number; 0 for the usual host."""
        here = self.arounds.values[around]
        if seat:
            kind = here.others[seat - 1].kind
            role = Role(kind, seat, VISIBLE, False, kind == HOST, kind == HOST)
        elif here.first == WORKER:
            executor = PARK if self.hosting.origin else UNSUPPORTED
            role = Role(WORKER, 0, executor, True, False, False)
        else:
            role = Role(chat=self.hosting.host != DIRECT)
        return self.roles.id(role)

    # --- turning the state ----------------------------------------------------------------------------------

    def seated(self, state: State, seat: int) -> State:
        """The state as the process in the seat sees it."""
        if not seat:
            return state
        other = self.arounds.values[state[AROUND]].others[seat - 1]
        store, outside = state[STORE], self.no_outside
        if other.kind == ZOMBIE:
            store = other.store
            called = self.outsides.values[other.call].call
            outside = self.outsides.id(self.outsides.values[state[OUTSIDE]]._replace(call=called))
        return (*other.slots, other.log, store, outside, *state[AROUND:])

    def unseated(self, state: State, seat: int, after: State) -> State:
        """The state after the process in the seat moved; `after` is as it sees it."""
        here = self.arounds.values[state[AROUND]]
        before = here.others[seat - 1]
        moved = before._replace(slots=after[: TIMER + 1], log=after[LOG])
        outside, store = state[OUTSIDE], after[STORE]
        if before.kind == ZOMBIE:
            seen = self.outsides.values[after[OUTSIDE]]
            moved = moved._replace(call=self.outsides.id(seen._replace(done=())))
            outside = self.outsides.id(self.outsides.values[outside]._replace(done=seen.done))
            store = state[STORE]
        around = self.arounds.id(here._replace(others=_with(here.others, seat, moved)))
        return (*state[:STORE], store, outside, around, *after[AROUND + 1 :])

    def without(self, state: State, seat: int) -> State:
        """The state when the process in the seat is gone."""
        here = self.arounds.values[state[AROUND]]
        around = self.arounds.id(here._replace(others=_with(here.others, seat, None)))
        return (*state[:AROUND], around, *state[AROUND + 1 :])

    def others_age(self, state: State) -> State:
        """The state when a new attempt began: sessions that others have open know of it."""
        here = self.arounds.values[state[AROUND]]
        aged = tuple(o if o.kind == ZOMBIE else o._replace(log=self.age(o.log)) for o in here.others)
        return (*state[:AROUND], self.arounds.id(here._replace(others=aged)), *state[AROUND + 1 :])

    # --- changing hands -------------------------------------------------------------------------------------

    def handed_over(self, state: State) -> State:
        """The state when a worker has left the run to its session, or has ended it: the host takes its
        seat.
        """
        here = self.arounds.values[state[AROUND]]
        position = self.stores.values[state[STORE]].position
        engine, loop = self.engines.values[state[ENGINE]], self.loops.values[state[LOOP]]
        if here.first != WORKER or not (position.parked or position.status in FINAL):
            return state
        if engine.phase not in (*GONE, "down") or loop.phase not in ("idle", "down"):
            return state
        host = next((seat for seat, other in enumerate(here.others, 1) if other.kind == HOST), None)
        if host is None:
            return state
        origin = here.others[host - 1]
        around = self.arounds.id(Around(HOST, _with(here.others, host, None)))
        return (*origin.slots, origin.log, state[STORE], state[OUTSIDE], around, *state[AROUND + 1 :])

    def can_freeze(self, state: State) -> bool:
        """Whether the process in the first seat can be paused past its lease: one at a time, while it has the
        run.
        """
        if not self.hosting.second or self.engines.values[state[ENGINE]].phase in ("down", "watching"):
            return False
        others = self.arounds.values[state[AROUND]].others
        over = self.stores.values[state[STORE]].position.status in FINAL
        return not over and all(other.kind != ZOMBIE for other in others)

    def frozen(self, state: State, fresh: tuple[int, ...]) -> State:
        """The process in the first seat is paused past its lease, and another one, `fresh`, takes its
        place.
        """
        here = self.arounds.values[state[AROUND]]
        called = self.outsides.id(self.outsides.values[state[OUTSIDE]]._replace(done=()))
        slots = (*state[:LATE], self.none_late, state[TIMER])
        zombie = Other(ZOMBIE, slots, state[LOG], state[STORE], called)
        around = self.arounds.id(here._replace(others=(*here.others, zombie)))
        outside = self.withdraw(state[OUTSIDE])
        return (*fresh, state[LOG], state[STORE], outside, around, *state[AROUND + 1 :])


def _with(others: tuple[Other, ...], seat: int, other: Other | None) -> tuple[Other, ...]:
    """The processes with another one in a seat, or without it."""
    put = () if other is None else (other,)
    return (*others[: seat - 1], *put, *others[seat:])
