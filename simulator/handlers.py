"""Handler calls: each distinct one is made once, remembered, and now and then made again and compared.

A handler gets its local state, a view and a message. The view is the narrowest that the message allows: only
a step by itself reads the run, only recovery reads the branch.
"""

from __future__ import annotations

from typing import Final, NamedTuple, cast

from windtunnel.simulator import outside
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.chat.loop import Item, loop
from windtunnel.simulator.events import (
    DURABLE,
    Action,
    Answered,
    Append,
    Arm,
    Ask,
    Commit,
    Disarm,
    Emit,
    HangUp,
    Perform,
    Repair,
    Step,
    Tell,
    ToEngine,
    ToLoop,
    Withdraw,
)
from windtunnel.simulator.hosting import USUAL, Hosting
from windtunnel.simulator.offers import ENGINE, LOG, LOOP, OUTSIDE, STORE, Offers, State
from windtunnel.simulator.providers import behaviour as providers
from windtunnel.simulator.providers.behaviour import Behaviour
from windtunnel.simulator.providers.people import People
from windtunnel.simulator.run.engine import View, engine
from windtunnel.simulator.run.notifications import Outbox, deliver
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.recovery import boot, recover
from windtunnel.simulator.tables import Cut

RECHECK_EVERY: Final = 101
"""One in so many remembered handler calls is made again and compared."""

TELL, ASK, HANG, ARM, DISARM, APPEND, COMMIT, REPAIR, PERFORM, WITHDRAW = range(10)
CODES: Final[dict[type, int]] = {
    Tell: TELL,
    Ask: ASK,
    HangUp: HANG,
    Arm: ARM,
    Disarm: DISARM,
    Append: APPEND,
    Commit: COMMIT,
    Repair: REPAIR,
    Perform: PERFORM,
    Withdraw: WITHDRAW,
}


class Move(NamedTuple):
    """A draft of `moves`, interned: `handler` gets `message`, the other fields are the links without it.

    `seat` is the place of the process that moves, 0 for whoever works on the run; `role` what it can do.
    """

    kind: str
    source: str
    handler: str
    message: int
    inbox: int
    wire: int
    provider: int
    timer: int
    again: bool
    label: str
    seat: int = 0
    role: int = 0


class Outcome(NamedTuple):
    """What a handler call gave: the new local state, all actions, where a crash can fall, and the effects.

    `message` is what was handled; `effects` are (code, number of the action) for what changes the world.
    """

    local: int
    message: int
    actions: tuple[Action, ...]
    cuts: tuple[Cut, ...]
    effects: tuple[tuple[int, int], ...]


class Handlers(Offers):
    """The handlers of one world. `outcomes` are what they gave, by number."""

    def __init__(
        self, program: Program, provider: providers.Provider, people: People, hosting: Hosting = USUAL
    ) -> None:
        super().__init__(program, provider, people, hosting)
        self.outcomes: list[Outcome] = []
        self._called: dict[tuple[str, int, int, int], int] = {}
        self._hits = 0
        self._step = self.messages.id(Step())

    @property
    def distinct_calls(self) -> int:
        """How many different handler calls were made."""
        return len(self._called)

    def _call(self, move: Move, state: State) -> int:
        """The number of the outcome; each distinct (handler, state, view, message) is computed once.

        `state` is as the process in the seat of the move sees it.
        """
        handler, message = move.handler, move.message
        if handler == "loop":
            local, view = state[LOOP], self.conversation(state[LOG])
        elif handler == "engine":
            local = state[ENGINE]
            view = self._engine_view(local, message, state, move.role)
        elif handler == "outside":
            local, view = state[OUTSIDE], 0
        elif handler == "outbox":
            local, view = 0, self.outbox_view(state[STORE], state[LOG])
        else:
            local, view = move.provider, 0
        key = (handler, local, view, message)
        found = self._called.get(key)
        if found is None:
            found = self._called[key] = len(self.outcomes)
            self.outcomes.append(self._run(handler, local, view, message))
        else:
            self._hits += 1
            if self._hits % RECHECK_EVERY == 0:
                again = self._run(handler, local, view, message)
                assert again == self.outcomes[found], f"the {handler} is not pure: equal calls, two outcomes"
        return found

    def _engine_view(self, local: int, message: int, state: State, role: int) -> int:
        """The narrowest view for a message: only a step by itself reads the run, only recovery the branch."""
        if message != self._step:
            return self.narrow_view(state[STORE], role)
        recovers = self.engines.values[local].phase in ("recover", "over", "waiting")
        return self.wide_view(state[STORE], state[LOG] if recovers else -1, role)

    def _run(self, handler: str, local: int, view: int, message: int) -> Outcome:
        event = self.messages.values[message]
        if handler == "provider":
            asked = self.calls.values[local].question
            self.behaved.add((asked.node if asked is not None else "", cast(Behaviour, event).name))
            return Outcome(0, message, (), (), ())
        if handler == "outside":
            return self._outside(local, message, cast(Behaviour, event))
        if handler in ("freeze", "later"):
            return Outcome(0, message, (), (), ())
        read = self.views.values[view]
        if handler == "loop":
            assert isinstance(read, logs.Conversation), "the loop reads the conversation"
            after, actions = loop(self.loops.values[local], read, cast("ToLoop | Item", event))
            return self._outcome(self.loops.id(after), message, actions)
        if handler == "outbox":
            assert isinstance(read, Outbox), "notifications are read from the outbox"
            return self._outcome(0, message, deliver(self.program, read))
        assert isinstance(read, View), "the engine reads its own view"
        if isinstance(event, Answered):
            self.note_answer(read, event)
        state = self.engines.values[local]
        if isinstance(event, Step) and state.phase in ("down", "watching"):
            result = boot(self.program, read._replace(edited=True) if state.edited else read)
        elif isinstance(event, Step) and state.phase == "recover":
            result = recover(self.program, state, read)
        else:
            result = engine(self.program, state, read, cast(ToEngine, event))
        return self._outcome(self.engines.id(result[0]), message, result[1])

    def _outside(self, local: int, message: int, behaviour: Behaviour) -> Outcome:
        """An effect is applied, or not; a crash can fall right after that."""
        before = self.outsides.values[local]
        assert before.call is not None, "an effect was called"
        self.behaved.add((before.call.question.node, behaviour.name))
        after, actions = outside.settle(before, behaviour)
        outcome = self._outcome(self.outsides.id(after), message, actions)
        applied = any(isinstance(action, Emit) for action in actions)
        return outcome._replace(cuts=(Cut(1),)) if applied else outcome

    def _outcome(self, local: int, message: int, actions: tuple[Action, ...]) -> Outcome:
        cuts: list[Cut] = []
        effects: list[tuple[int, int]] = []
        for at, action in enumerate(actions):
            code = CODES.get(type(action))
            if code is not None:
                effects.append((code, self.pieces.id(action)))
            if isinstance(action, Append):
                cuts += [Cut(at, rows, True) for rows in range(len(action.rows))]
            if isinstance(action, DURABLE):
                cuts.append(Cut(at + 1))
        return Outcome(local, message, actions, tuple(cuts), tuple(effects))
