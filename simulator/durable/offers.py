"""What can come from outside: what the model may do, what an effect may do, what people may answer.

Nothing here is remembered between two questions: a host of a store asks each of them once or twice in a run.
"""

from __future__ import annotations

from windtunnel.simulator import outside
from windtunnel.simulator.events import Answered
from windtunnel.simulator.moves import Beyond
from windtunnel.simulator.network import CHAT, Provider
from windtunnel.simulator.outside import Outside
from windtunnel.simulator.providers import behaviour as providers
from windtunnel.simulator.providers.behaviour import Kind, Menu, Request
from windtunnel.simulator.providers.people import People
from windtunnel.simulator.run.decisions import WAITING
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.run.state import Run, Scope, question, visit
from windtunnel.simulator.store.interface import StoreRefused


class Stuck(StoreRefused):
    """The run goes in circles, or nothing could be made that a step of it could use."""


def model_menu(program: Program, provider: providers.Provider, run: Run, call: Provider) -> Menu:
    """What the model may do with the question that it is asked. Raises Stuck."""
    asked = call.question
    if asked is None:
        return Menu((CHAT,))
    scope, kind, sent = Scope(program, question(program, run)), Kind(asked.kind), max(0, call.sent)
    request = Request(asked.node, asked.visit, kind, asked.prompt, asked.max_chars, scope, sent)
    return _good(provider.menu(request), asked.node)


def beyond(
    program: Program,
    provider: providers.Provider,
    run: Run,
    effects: Outside,
    phase: str,
    *,
    people: People | None,
    late: bool,
    opened: bool,
) -> Beyond:
    """What else can happen while the engine is in `phase`. Raises Stuck.

    Without `people` nobody answers here, and a request runs out only when it is `late`; a notification is
    told once the session is `opened`.
    """
    effect = None
    if effects.call is not None:
        asked = effects.call.question
        scope = Scope(program, question(program, run))
        request = Request(asked.node, asked.visit, Kind.EFFECT, asked.prompt, None, scope)
        effect = _good(outside.offered(effects, provider.menu(request)), asked.node)
    answers: tuple[tuple[str, Answered], ...] = ()
    waits = run.position.status == WAITING and phase == WAITING and run.request is not None
    if waits and people is not None:
        answers = _answers(program, people, run)
    due = waits and run.request is not None and run.request.due and (people is not None or late)
    return Beyond(effect, answers, due, opened and bool(run.outbox))


def _good(menu: Menu, node: str) -> Menu:
    if menu.gap is not None:
        raise Stuck(f"there is nothing to say for {node}: {menu.gap}")
    return menu


def _answers(program: Program, people: People, run: Run) -> tuple[tuple[str, Answered], ...]:
    """What people may answer to the open request, each with its name."""
    node, asked = run.position.node, run.request
    assert asked is not None, "somebody asked"
    scope = Scope(program, question(program, run))
    found = people.answers(node, visit(run, node), scope)
    return tuple((one.name, Answered(asked.digest, one.choice, one.value)) for one in found)
