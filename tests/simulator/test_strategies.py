"""What the strategies make is usable: values are accepted, workflows compile, scenarios run."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from windtunnel.compiler.acceptance import Accepted, accept
from windtunnel.compiler.pipeline import check, compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.operations import simulate
from windtunnel.simulator.scenario.running import run_scenario
from windtunnel.simulator.scenario.verdict import Cause
from windtunnel.simulator.strategies import fault_plans, flow_texts, flows, scenarios, schedules, values

FEW = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))

TYPES = """language 1
type Tree = { name: text(1..4), under: [Tree; ..2] }
workflow w {
  input {
    id: text(1..8, "[a-z][a-z0-9-]*"),
    count: int(3..5),
    share: number(0..1),
    mode: "a" | "b" = "a",
    note?: text,
    wait: duration,
    tags: { [text(1..3)]: bool; ..2 },
    tree: Tree,
    any: json(..200),
  }
  compute out = input
  edges { start -> out -> exit done }
}
"""


def snapshot_of(text: str) -> Snapshot:
    made = compile_workflow(MemoryReader({"main.flow": text}), "main.flow")
    assert made.snapshot is not None
    return made.snapshot


TYPED = snapshot_of(TYPES)


@FEW
@given(values(TYPED.input, TYPED.types))
def test_values_are_accepted(value: Any) -> None:
    """Every kind of type has values, recursive ones too, and none is refused."""
    assert isinstance(accept(TYPED.input, value, TYPED.types), Accepted)


def test_values_shrink_to_the_least() -> None:
    """The simplest value of a type is its smallest."""
    small = find(
        values(TYPED.input, TYPED.types),
        lambda value: True,
        settings=settings(database=None, max_examples=10),
    )
    assert isinstance(small, dict)
    assert (small["count"], small["tags"], "note" in small) == (3, {}, False)


@FEW
@given(flow_texts())
def test_workflows_have_no_findings_that_stop_them(text: str) -> None:
    """What is generated compiles, whatever is drawn."""
    assert check(MemoryReader({"main.flow": text}), "main.flow").ok


@FEW
@given(st.data())
def test_invariants_hold_in_generated_scenarios_of_generated_workflows(data: Any) -> None:
    """Whatever a model, a person and crashes do, no run breaks an invariant, and none is refused."""
    snapshot = data.draw(flows())
    scenario = data.draw(scenarios(snapshot))
    verdict = run_scenario(scenario, snapshot)
    causes = {broken.cause for broken in verdict.broken}
    assert causes <= {Cause.SCRIPT, Cause.PERSON, Cause.FAULT}, verdict.broken


@FEW
@given(st.data())
def test_schedules_drive_a_run(data: Any) -> None:
    """A schedule takes any run to an end without breaking an invariant; the same one gives the same run."""
    snapshot = data.draw(flows())
    schedule = data.draw(schedules())
    answers = schedule.answers
    run = simulate(snapshot, choices=schedule)
    assert run.violations == ()
    again = simulate(snapshot, choices=type(schedule)(answers))
    assert again.trace == run.trace


@FEW
@given(st.data())
def test_plans_of_faults_name_what_is_there(data: Any) -> None:
    """Each fault names an agent of the workflow; the simplest plan has none."""
    snapshot = data.draw(flows())
    for fault in data.draw(fault_plans(snapshot)):
        event = fault.event if fault.moment is None else fault.moment.event
        assert event is not None
        assert event.node in snapshot.nodes


def test_the_simplest_of_all_is_quiet() -> None:
    """Shrinking ends at one node, no fault, and the quiet schedule."""
    only = settings(database=None, max_examples=10)
    flow = find(flows(), lambda snapshot: True, settings=only)
    assert sorted(flow.nodes) == ["last", "n0"]
    assert find(fault_plans(flow), lambda plan: True, settings=only) == ()
    assert find(schedules(), lambda schedule: True, settings=only).answers == ()


def least(strategy: Any, wanted: Any) -> Any:
    """What shrinking ends at."""
    thorough = settings(FEW, database=None, max_examples=60, derandomize=True)
    return find(strategy, wanted, settings=thorough)


TALK = """language 1
workflow talk {
  input { topic: text(..20) }
  agent say { prompt "Talk about ${input.topic}." expectedOutput assistant }
  edges { start -> say -> exit done }
}
"""


def test_workflows_shrink_to_what_was_asked_for() -> None:
    """A loop is one node that goes back to itself once; a failure route one node with one."""
    loop = least(flow_texts(), lambda text: "limit" in text)
    assert loop.count("agent ") == 1
    assert "true -> n0 limit 1 then -> last" in loop
    route = least(flow_texts(), lambda text: "on failed" in text)
    assert route.count("agent ") == 1
    assert "n0 on failed -> last" in route


def test_scenarios_and_plans_shrink_to_one_line() -> None:
    """One act, one message or one fault is left, with the smallest input."""
    talk = snapshot_of(TALK)
    crash = least(fault_plans(talk), lambda plan: any(fault.kind == "crash" for fault in plan))
    assert [(fault.kind, fault.moment.relation, fault.for_ms) for fault in crash] == [
        ("crash", "after", None)
    ]
    scripted = least(scenarios(talk), lambda scenario: bool(scenario.provider))
    assert scripted.input == {"topic": ""}
    assert [[act.verb for act in turn] for line in scripted.provider for turn in line.turns] == [["says"]]
    assert (scripted.person, scripted.faults) == ((), ())
    person = least(scenarios(talk), lambda scenario: bool(scenario.person)).person
    assert [line.verb for line in person] == ["sends"]


def test_a_schedule_shrinks_to_the_one_choice_that_matters() -> None:
    """The shortest way to a crash is one answer that is not the quiet one."""
    talk = snapshot_of(TALK)

    def crashes(schedule: Any) -> bool:
        run = simulate(talk, choices=type(schedule)(schedule.answers))
        return any(event["type"] == "crashed" for event in run.events)

    assert len([answer for answer in least(schedules(), crashes).answers if answer]) == 1
