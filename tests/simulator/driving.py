"""Steering one run through the world: quiet all along, but for the moves that a test asks for, in order."""

from __future__ import annotations

from collections.abc import Callable

from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.budget import Budget, budget
from windtunnel.simulator.events import Action, Append, Commit, Event
from windtunnel.simulator.providers.behaviour import Provider
from windtunnel.simulator.search.exploration import Setup
from windtunnel.simulator.simulation import Run, Teller, finish
from windtunnel.simulator.world import ENGINE, LOOP, STORE, Option, State, World

Wanted = Callable[[World, State, Option], bool]
MANY: Budget = budget(99)


def drive(
    snapshot: Snapshot,
    *wanted: Wanted,
    provider: Provider | None = None,
    fault: str | None = None,
    setup: Setup | None = None,
) -> Run:
    """Take each wanted option as soon as it is there, else the quiet one; all of them must come."""
    ready = setup or Setup(snapshot, provider=provider, fault=fault, visit_cap=1_000)
    world = ready.world
    teller = Teller(world, world.start(MANY))
    taken: list[int] = []
    left = list(wanted)
    while not teller.violations:
        options = world.options(teller.state)
        at = next(
            (n for n, option in enumerate(options) if left and left[0](world, teller.state, option)), None
        )
        if at is not None:
            left.pop(0)
        elif not options or options[0].move.kind or options[0].cut is not None:
            break
        taken.append(at or 0)
        teller.take(options[at or 0])
        assert len(taken) < 5_000, "the run comes to an end"
    assert not left or teller.violations, f"{len(left)} of the wanted moves never came"
    return finish(teller, taken)


def _actions(world: World, option: Option) -> tuple[Action, ...]:
    return world.outcomes[option.outcome].actions


def _node(world: World, state: State) -> str:
    return world.stores.values[state[STORE]].position.node


def crash_after(type_: str, node: str | None = None) -> Wanted:
    """A crash right after the transaction that holds such an event."""

    def fits(event: Event) -> bool:
        return event.type == type_ and node in (None, event.node)

    def wanted(world: World, state: State, option: Option) -> bool:
        if option.cut is None or option.cut.torn or option.cut.done == 0:
            return False
        action = _actions(world, option)[option.cut.done - 1]
        return not option.move.kind and isinstance(action, Commit) and any(map(fits, action.events))

    return wanted


def crash_after_row(kind: str, node: str | None = None, torn: bool = False) -> Wanted:
    """A crash right after an entry of that kind was appended, or inside the append."""

    def wanted(world: World, state: State, option: Option) -> bool:
        cut = option.cut
        if cut is None or cut.torn != torn or option.move.kind or (cut.done == 0 and not torn):
            return False
        action = _actions(world, option)[cut.done if torn else cut.done - 1]
        at_node = node is None or _node(world, state) == node
        return at_node and isinstance(action, Append) and action.rows[-1].kind == kind

    return wanted


def move(kind: str, *, engine: str | None = None, loop: str | None = None, node: str | None = None) -> Wanted:
    """A move that costs that kind of fault, while engine and loop are in these phases."""

    def wanted(world: World, state: State, option: Option) -> bool:
        return (
            option.cut is None
            and option.move.kind == kind
            and engine in (None, world.engines.values[state[ENGINE]].phase)
            and loop in (None, world.loops.values[state[LOOP]].phase)
            and node in (None, _node(world, state))
        )

    return wanted


def labelled(text: str, node: str | None = None) -> Wanted:
    """An option whose label holds the text."""

    def wanted(world: World, state: State, option: Option) -> bool:
        return option.cut is None and text in option.move.label and node in (None, _node(world, state))

    return wanted


def behaves(name: str, node: str | None = None) -> Wanted:
    """The model behaves so."""

    def wanted(world: World, state: State, option: Option) -> bool:
        fits = option.cut is None and option.move.label == f"the model: {name}"
        return fits and node in (None, _node(world, state))

    return wanted
