"""A counterexample is written down as a scenario that breaks the same way, and only with the fault on."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from windtunnel.compiler.pipeline import compile_scenarios, compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.budget import budget
from windtunnel.simulator.commands.replay import command
from windtunnel.simulator.faults import BY_ID
from windtunnel.simulator.operations import SEEDED_FAULTS, explore, scenario_of, simulate
from windtunnel.simulator.scenario.running import run_scenario
from windtunnel.simulator.scenario.verdict import Cause
from windtunnel.simulator.scenario.writing import Unwritable
from windtunnel.simulator.search.token import Token, encode

SAYABLE = (
    "W01",
    "W02",
    "W04",
    "W05",
    "W06",
    "W07",
    "W10",
    "W12",
    "W13",
    "W15",
    "W19",
    "W22",
    "W23",
    "W26",
    "W29",
    "W31",
    "W34",
)


def nothing(reference: str) -> Snapshot:
    raise AssertionError(f"{reference} is a small world, so nothing is loaded")


@pytest.mark.parametrize("id", SAYABLE)
def test_a_counterexample_is_a_scenario(id: str) -> None:
    """The text compiles beside its workflow; with the fault it breaks what broke, without it all is well."""
    found = explore(fault=id, faults=1).violations or explore(fault=id, faults=2).violations
    text = scenario_of(found[0].token, nothing)
    assert f"# With the seeded fault {id}." in text
    fault = BY_ID[id]
    compiled = compile_scenarios(MemoryReader({fault.world: f"{fault.source}\n{text}"}), fault.world)
    assert [finding.message for finding in compiled.diagnostics if finding.severity == "error"] == []
    [(scenario, snapshot)] = compiled.scenarios
    broken = run_scenario(scenario, snapshot, switches=frozenset({id}))
    said = [each.message.partition(":")[0] for each in broken.broken if each.cause is Cause.INVARIANT]
    assert said[:1] == [found[0].invariant]
    sound = run_scenario(scenario, snapshot)
    assert not [each for each in sound.broken if each.cause is Cause.INVARIANT]


FLOW = """language 1
workflow pick {
  revision 1
  input { topic: text(1..100) }
  exits { done: { said: text }, lost: { why: text } }
  agent a "picking" {
    prompt "Pick for ${input.topic}"
    expectedOutput { word: text(1..5) }
  }
  compute said = { said: a.word }
  compute lost = { why: "nothing came" }
  edges {
    start -> a -> said -> exit done
    a on failed -> lost -> exit lost
  }
}
"""


def pick() -> Snapshot:
    compiled = compile_workflow(MemoryReader({"pick.flow": FLOW}), "pick.flow")
    assert compiled.snapshot is not None
    return compiled.snapshot


@pytest.mark.parametrize("id", ["W03", "W11"])
def test_what_no_scenario_can_stage_is_refused_by_name(id: str) -> None:
    """A second host, and what may happen beside the usual, but for pauses."""
    found = explore(fault=id).violations
    with pytest.raises(Unwritable, match="branch" if id == "W03" else "a second host"):
        scenario_of(found[0].token, nothing)


def test_runs_with_faults_are_written_down_or_refused_by_name() -> None:
    """Whatever is given out passes as it stands: the run ends as it was said, and each line is used."""
    flow, given = pick(), 0
    for seed in range(40):
        run = simulate(flow, {"topic": "tea"}, seed=seed)
        left = budget(SEEDED_FAULTS)
        token = encode(Token("pick.flow", flow.digest, {"topic": "tea"}, left, run.choices, None))
        try:
            text = scenario_of(token, lambda _: flow)
        except Unwritable:
            continue
        given += 1
        compiled = compile_scenarios(MemoryReader({"pick.flow": f"{FLOW}\n{text}"}), "pick.flow")
        [(scenario, snapshot)] = compiled.scenarios
        verdict = run_scenario(scenario, snapshot)
        assert verdict.passed, [each.message for each in verdict.broken]
        assert (verdict.run_status, verdict.exit) == (run.status, run.exit)
    assert given >= 20


def test_the_command_prints_it_and_says_when_it_cannot() -> None:
    token = explore(fault="W01", faults=1).violations[0].token
    done = CliRunner().invoke(command, [token, "--scenario"])
    assert done.exit_code == 0
    assert done.stdout == scenario_of(token, nothing)
    assert "crash host before message_end of say visit 1" in done.stdout
    both = CliRunner().invoke(command, [token, "--scenario", "--json"])
    assert both.exit_code == 2
    stale = explore(fault="W08", faults=2).violations[0].token
    with pytest.raises(Unwritable, match="another step or attempt"):
        scenario_of(stale, nothing)
