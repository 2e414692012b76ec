"""What provider, effects and people may do in a state of the world, asked once for each situation."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

from windtunnel.simulator import outside
from windtunnel.simulator.events import Answered
from windtunnel.simulator.hosting import USUAL, Hosting
from windtunnel.simulator.moves import Beyond, Host
from windtunnel.simulator.network import CHAT, Provider
from windtunnel.simulator.providers import behaviour as providers
from windtunnel.simulator.providers.behaviour import (
    Behaviour,
    Kind,
    Menu,
    Request,
    Stop,
    Submit,
    Text,
    Turn,
    says,
    submission,
)
from windtunnel.simulator.providers.people import People
from windtunnel.simulator.run.engine import View
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.state import Scope, visit
from windtunnel.simulator.tables import UNTOLD, WAITS, Tables

TOO_LATE: Final = says("answers", "Too late.")
"""What the model says to a host that lost its claim."""

CALLS_THE_TOOL: Final = Behaviour(
    "calls the workflow tool",
    (Turn((submission(None),), Stop.TOOL_USE), Turn((Text("Noted."),))),
    "submits in a turn of the person",
)
"""What the model may do with a message of the person."""

TIMES: Final = 4
"""Messages of a model that submits twice in each; again and again, as far as anybody can tell."""

State = tuple[int, ...]
"""Numbers of pools: loop, engine, inbox, wire, provider, late, timer, log, store, outside, around, budget,
watch.
"""

LOOP, ENGINE, INBOX, WIRE, PROVIDER, LATE, TIMER, LOG, STORE, OUTSIDE, AROUND, BUDGET, WATCH = range(13)


def _twice(menu: Menu) -> tuple[Behaviour, ...]:
    """The first good submission, twice in one message, again and again."""
    calls = [act for act in menu.quiet[0].turn(0).acts if isinstance(act, Submit)] if menu.quiet else []
    if not calls:
        return ()
    turn = Turn((calls[0], calls[0]), Stop.TOOL_USE)
    return (Behaviour("submits twice", (turn,) * TIMES, "two submissions in one message"),)


class Offers(Tables):
    """The menus. `offered` and `behaved` say what was offered and done at each node, `gaps` where nothing
    good could be made.
    """

    def __init__(
        self, program: Program, provider: providers.Provider, people: People, hosting: Hosting = USUAL
    ) -> None:
        super().__init__(program, hosting)
        self.provider = provider
        self.people = people
        self.gaps: dict[str, str] = {}
        self.offered: set[tuple[str, str]] = set()
        self.behaved: set[tuple[str, str]] = set()
        self._menus: dict[tuple[int, int], Menu] = {}
        self._effects: dict[tuple[int, int], Menu] = {}
        self._answers: dict[int, tuple[tuple[str, Answered], ...]] = {}

    def menu(self, call: Provider, state: State, *, zombie: bool = False) -> Menu:
        """What the provider may do with the question that is asked; what a zombie hears does not matter."""
        asked = call.question
        if asked is None or not asked.node:
            return Menu((CHAT,), (CALLS_THE_TOOL,) if "chat-tool" in self.hosting.also else ())
        if zombie:
            return Menu((TOO_LATE,))
        view = self.narrow_view(state[STORE])
        key = (self.calls.id(call), view)
        found = self._menus.get(key)
        if found is None:
            read = self.views.values[view]
            assert isinstance(read, View), "the narrow view is the engine's"
            scope = Scope(self.program, read.run)
            request = Request(
                asked.node,
                asked.visit,
                Kind(asked.kind),
                asked.prompt,
                asked.max_chars,
                scope,
                max(0, call.sent),
            )
            found = self.provider.menu(request)
            if "twice" in self.hosting.also:
                found = replace(found, deviations=(*found.deviations, *_twice(found)))
            self._menus[key] = found
            self.offered.update((asked.node, one.name) for one in (*found.quiet, *found.deviations))
            if found.gap is not None:
                self.gaps.setdefault(asked.node, found.gap)
        return found

    def beyond(self, host: Host, state: State) -> Beyond:
        """What effects, people and notifications may do."""
        stands = self.stands(state[STORE])
        effect = self.effect_menu(state) if self.outsides.values[state[OUTSIDE]].call is not None else None
        answers: tuple[tuple[str, Answered], ...] = ()
        due = False
        if stands & WAITS and host.engine.phase == "waiting":
            answers = self.answers_to(state[STORE])
            asked = self.stores.values[state[STORE]].request
            due = asked is not None and asked.due
        notice = bool(stands & UNTOLD) and host.loop.phase != "down" and host.role.session
        return Beyond(effect, answers, due, notice)

    def effect_menu(self, state: State) -> Menu:
        """What the effect in flight may do."""
        view = self.narrow_view(state[STORE])
        key = (state[OUTSIDE], view)
        found = self._effects.get(key)
        if found is None:
            beyond = self.outsides.values[state[OUTSIDE]]
            assert beyond.call is not None, "an effect was called"
            asked = beyond.call.question
            read = cast(View, self.views.values[view])
            scope = Scope(self.program, read.run)
            request = Request(asked.node, asked.visit, Kind.EFFECT, asked.prompt, None, scope)
            found = self._effects[key] = outside.offered(beyond, self.provider.menu(request))
            self.offered.update((asked.node, one.name) for one in (*found.quiet, *found.deviations))
            if found.gap is not None:
                self.gaps.setdefault(asked.node, found.gap)
        return found

    def answers_to(self, store: int) -> tuple[tuple[str, Answered], ...]:
        """What people may answer to the open request, each with its name."""
        view = self.narrow_view(store)
        found = self._answers.get(view)
        if found is None:
            read = cast(View, self.views.values[view])
            asked, node = read.run.request, read.position.node
            assert asked is not None, "a run waits for an answer"
            answers = self.people.answers(node, visit(read.run, node), Scope(self.program, read.run))
            found = tuple((one.name, Answered(asked.digest, one.choice, one.value)) for one in answers)
            self._answers[view] = found
            self.offered.update((node, one.name) for one in answers)
        return found

    def waits_for_value(self, state: State) -> bool:
        """Whether nothing good could be made for provider or effect: a gap of ours, not of the run."""
        call = self.calls.values[state[PROVIDER]]
        if call.asked and not self.menu(call, state).quiet:
            return True
        beyond = self.outsides.values[state[OUTSIDE]]
        return beyond.call is not None and not self.effect_menu(state).quiet

    def note_answer(self, view: View, answer: Answered) -> None:
        """Which of the offered answers was given."""
        if view.run.request is not None:
            for name, one in self._answers.get(self.views.id(view), ()):
                if (one.choice, one.value) == (answer.choice, answer.value):
                    self.behaved.add((view.position.node, name))
