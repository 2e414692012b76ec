"""What an outcome holds, event by event, each with the node and the visit that it belongs to.

Visits are counted over the whole run: a node inside an include goes on counting when the include is entered
again. Messages of the user's side count as prompts, not as messages, so `message_end of a` is the model's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from windtunnel.compiler.scenario import EventName
from windtunnel.simulator.events import Action, Append, Commit, Emit, Event


class Place(NamedTuple):
    """Where a run stands: the node in flight, and how often each node and include was entered."""

    node: str = ""
    visits: Mapping[str, int] = {}

    def visit(self, node: str) -> int:
        """How often the node or include was entered."""
        return self.visits.get(node, 0)


class Happening(NamedTuple):
    """One event: its type, node and visit, and the number of the action that holds it."""

    event: str
    node: str | None
    visit: int
    at: int
    place: Place


def happenings(actions: Sequence[Action], place: Place) -> Iterator[Happening]:
    """Every event of the actions, in order; each carries the place as it is after it."""
    for at, action in enumerate(actions):
        match action:
            case Commit(events):
                found = events
            case Emit(event):
                found = (event,)
            case _:
                continue
        for event in found:
            place = _after(event, place)
            if event.get("role") == "user":
                continue
            node = _node_of(event, place)
            yield Happening(event.type, node, 0 if node is None else place.visit(node), at, place)


def _after(event: Event, place: Place) -> Place:
    if event.type == "node_started" and event.node is not None:
        node = event.node
        return Place(node, place.visits if event.get("again") is True else _plus(place.visits, node))
    if event.type == "include_entered":
        return place._replace(visits=_plus(place.visits, event.text("mountPath")))
    return place


def _plus(visits: Mapping[str, int], node: str) -> dict[str, int]:
    return {**visits, node: visits.get(node, 0) + 1}


def _node_of(event: Event, place: Place) -> str | None:
    if event.node is not None:
        return event.node
    mount = event.get("mountPath")
    if isinstance(mount, str):
        return mount
    return place.node if event.attempt is not None else None


def fits(happening: Happening, wanted: EventName) -> bool:
    """Whether this is the event that is meant."""
    return (
        happening.event == wanted.event
        and wanted.node in (None, happening.node)
        and wanted.visit in (None, happening.visit)
    )


def append_before(actions: Sequence[Action], at: int) -> int | None:
    """The number of the last append at or before an action: what an event's row was written with."""
    found = [number for number in range(at + 1) if isinstance(actions[number], Append)]
    return found[-1] if found else None
