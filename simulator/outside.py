"""The world outside, where effects happen: it applies an effect with a key once, and remembers.

What was applied outlives every process; a call that is under way is forgotten with the process that made it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from windtunnel.simulator.events import CURRENT, Action, Emit, Event, Payload, Perform, Returned, Tell
from windtunnel.simulator.providers.behaviour import Behaviour, Fails, Menu, Returns, Turn


class Applied(NamedTuple):
    """An effect with a key that was applied, and what it returned."""

    name: str
    key: str
    output: str


class Outside(NamedTuple):
    """`call` waits for a choice of what happens; `done` holds what another call could meet, sorted."""

    call: Perform | None = None
    done: tuple[Applied, ...] = ()


NOTHING = Outside()


def found(outside: Outside) -> Applied | None:
    """What the call in flight meets: the same effect, applied before."""
    call = outside.call
    if call is None or call.key is None:
        return None
    return next((one for one in outside.done if (one.name, one.key) == (call.name, call.key)), None)


def offered(outside: Outside, menu: Menu) -> Menu:
    """The menu of a call; one that was applied before only repeats its answer, or is lost on the way."""
    before = found(outside)
    if before is None:
        return menu
    again = Behaviour("returns what it did", (Turn((Returns(before.output),)),))
    lost = tuple(one for one in menu.deviations if not _applies(one.turn(0)))
    return Menu((again,), lost)


def _applies(turn: Turn) -> bool:
    return any(isinstance(act, Returns) for act in turn.acts)


def settle(outside: Outside, behaviour: Behaviour) -> tuple[Outside, tuple[Action, ...]]:
    """The call does what was chosen: it is applied or not, and replies or not."""
    call, turn = outside.call, behaviour.turn(0)
    assert call is not None, "only a call has an outcome"
    actions: list[Action] = []
    done = outside.done
    act = turn.acts[0] if turn.acts else None
    if isinstance(act, Returns) and found(outside) is None:
        actions.append(Emit(_applied(call)))
        if call.key is not None:
            done = tuple(sorted((*done, Applied(call.name, call.key, act.output))))
    if not turn.stalls:
        actions.append(Tell("engine", _reply(act)))
    return Outside(None, done), tuple(actions)


def _reply(act: object) -> Returned:
    if isinstance(act, Returns):
        return Returned(act.output)
    return Returned(None, act.error if isinstance(act, Fails) else "Nothing came back.")


def _applied(call: Perform) -> Event:
    payload: Payload = (("call", call.name),)
    payload = payload if call.key is None else (*payload, ("key", call.key))
    return Event("effect", "effect_applied", call.question.node, CURRENT, payload)


def kept(outside: Outside, names: Collection[str]) -> Outside:
    """Without what no call that can still come will meet."""
    return outside._replace(done=tuple(one for one in outside.done if one.name in names))


def dropped(outside: Outside) -> Outside:
    """Without the call that is under way."""
    return outside._replace(call=None)
