"""A scenario and the snapshot of its workflow, to a verdict."""

from __future__ import annotations

from pydantic import JsonValue

from windtunnel.compiler.scenario import Scenario
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.hosting import Hosting, hosting
from windtunnel.simulator.providers.behaviour import Provider
from windtunnel.simulator.providers.generated import GeneratedProvider, run_inputs
from windtunnel.simulator.run.program import NotSimulated, Program
from windtunnel.simulator.scenario.directing import Director
from windtunnel.simulator.scenario.refusing import refusals
from windtunnel.simulator.scenario.script import ScriptedMenus
from windtunnel.simulator.scenario.verdict import Broken, Cause, Status, Verdict
from windtunnel.simulator.world import InputRefused, World

VISITS = 1_000_000
"""Where the counts of visits saturate: a scenario counts them all."""


def run_scenario(
    scenario: Scenario,
    snapshot: Snapshot,
    provider: Provider | None = None,
    *,
    switches: frozenset[str] = frozenset(),
) -> Verdict:
    """Run a scenario once; the same scenario and snapshot give the same verdict, always.

    `provider` stands in for nodes that the scenario has no line for; without it their behaviour is made up.
    `switches` put seeded faults back, to see that the scenario notices.
    """
    refused = list(refusals(scenario))
    try:
        program = Program(snapshot, switches=switches, visit_cap=VISITS, presents=True)
    except NotSimulated as problem:
        refused.append(Broken(Cause.NOT_SIMULATED, "", str(problem), scenario.where))
    if refused:
        return Verdict(scenario, Status.REFUSED, tuple(refused))
    menus = ScriptedMenus(snapshot, scenario.provider, provider or GeneratedProvider(snapshot))
    try:
        around = _hosting(scenario)
        world = World(program, menus, _input(scenario, snapshot), hosting=around)
    except InputRefused as problem:
        broken = Broken(Cause.INPUT, "", f"the input does not fit: {problem}", scenario.where)
        return Verdict(scenario, Status.FAILED, (broken,))
    director = Director(scenario, world, menus)
    director.run()
    return _verdict(director)


def _hosting(scenario: Scenario) -> Hosting:
    """The hosts that a scenario names, and pauses where its person makes one."""
    also = ("pause",) if any(line.verb == "pauses" for line in scenario.person) else ()
    host, *origin = scenario.host
    return hosting(host, origin="without" not in origin, also=also)


def _input(scenario: Scenario, snapshot: Snapshot) -> JsonValue:
    """The input that is written down, or one that was made up."""
    if scenario.input is not None:
        return scenario.input
    made = run_inputs(snapshot)
    if not made:
        raise InputRefused("none could be made up; write one down")
    return made[0]


def _verdict(director: Director) -> Verdict:
    run = director.watched().run()
    assert isinstance(run, dict), "a run reads as a record"
    writer = director.teller.writer
    return Verdict(
        director.scenario,
        Status.FAILED if director.broken else Status.PASSED,
        tuple(director.broken),
        str(run["status"]),
        run["exit"] if isinstance(run["exit"], str) else None,
        run["output"],
        writer.lines,
        tuple(writer.events),
        tuple(writer.entries),
        director.teller.film,
    )
