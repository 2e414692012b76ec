"""Generated values take both sides of everything that a route is compared with."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.operations import explore
from windtunnel.simulator.providers.generated import MAX_INPUTS, run_inputs
from windtunnel.simulator.providers.thresholds import MAX_CONSTANTS, Compared, compared, kinds

FLOW = """language 1
workflow judged {{
  revision 1
  input {{ topic: text(1..100){input} }}
  exits {{ yes: {{ said: text }}, no: {{ said: text }} }}
  agent a "judging" {{
    prompt "Judge ${{input.topic}}"
    expectedOutput {{ {fields} }}
    {validate}
  }}
  compute word = if {condition} then "yes" else "no"
  compute yes = {{ said: word }}
  compute no = {{ said: word }}
  edges {{
    start -> a -> word
    word -> match word {{
      "yes" -> yes
      "no" -> no
    }}
    yes -> exit yes
    no -> exit no
  }}
}}
"""


def compiled(condition: str, fields: str, *, input: str = "", validate: str = "") -> Snapshot:
    source = FLOW.format(condition=condition, fields=fields, input=input, validate=validate)
    found = compile_workflow(MemoryReader({"judged.flow": source}), "judged.flow")
    assert found.snapshot is not None, [str(finding) for finding in found.diagnostics]
    return found.snapshot


@pytest.mark.parametrize(
    ("condition", "fields"),
    [
        ("a.v >= 7", "v: int(1..10)"),
        ("a.v == 0", "v: int(0..10)"),
        ("a.v == 10", "v: int(0..10)"),
        ("a.v > 0.5", "v: number(0..1)"),
        ('a.v == "stop"', "v: text(1..50)"),
        ('a.v == ""', "v: text(0..50)"),
        ('contains(a.v, "LGTM")', "v: text(1..50)"),
        ("len(a.v) > 20", "v: text(1..50)"),
        ("len(a.v) >= 3", "v: [text(1..20); 1..3]"),
        ('any([x == "bug" for x in a.v])', "v: [text(1..20); 1..3]"),
        ("any([x.score > 8 for x in a.v])", "v: [{ score: int(1..10) }; 1..3]"),
        ("a.v == null", "v: json"),
        ("a.v.deep.score < 3", "v: { deep: { score: int(1..10) } }"),
        ('a.v >= 7 and a.w == "done"', "v: int(1..10), w: text(1..20)"),
        ("a.v != null and a.v >= 7", "v?: int(1..10)"),
        ("a.v and not a.w", "v: bool, w: bool"),
        ("a.v + a.w > 12", "v: int(0..10), w: int(0..10)"),
    ],
)
def test_both_sides_of_a_condition_are_taken(condition: str, fields: str) -> None:
    found = explore(compiled(condition, fields), input={"topic": "tea"}, faults=0)
    assert found.exits.missed == ()
    assert found.edges.missed == ()
    assert found.complete


def test_a_threshold_and_a_validator_together() -> None:
    """A low score is only accepted with a remark, so both must be given at once."""
    validate = 'validate { require output.remark != null when output.score < 7 else "say why" }'
    flow = compiled("a.score >= 7", "score: int(1..10), remark?: text(1..200)", validate=validate)
    assert explore(flow, input={"topic": "tea"}, faults=0).exits.missed == ()


OTHERS = {
    "action": """action a "scoring" {
    call "score" with { topic: input.topic }
    idempotencyKey "score-${input.topic}"
    returns { v: int(1..10) }
  }""",
    "shell": """shell a "scoring" {
    run ["score", input.topic]
    returns { v: int(1..10) }
  }""",
    "checkpoint": """checkpoint a {
    show input.topic
    answer { v: int(1..10) }
  }""",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_effects_and_people_take_both_sides_as_well(kind: str) -> None:
    """Whatever gives the value: a call that returns 7, a command that prints it, a person who answers it."""
    start = FLOW.index('  agent a "judging"')
    end = FLOW.index("  compute word")
    other = OTHERS[kind].replace("{", "{{").replace("}", "}}")
    source = (FLOW[:start] + f"  {other}\n" + FLOW[end:]).format(condition="a.v >= 7", input="")
    found = compile_workflow(MemoryReader({"judged.flow": source}), "judged.flow")
    assert found.snapshot is not None, [finding.message for finding in found.diagnostics]
    assert explore(found.snapshot, input={"topic": "tea"}, faults=0).exits.missed == ()


@pytest.mark.parametrize(
    ("condition", "input"),
    [("input.size >= 7", "size: int(1..10)"), ('input.size == "large"', "size: text(1..10)")],
)
def test_inputs_take_both_sides_as_well(condition: str, input: str) -> None:
    flow = compiled(condition, "v: text(1..9)", input=f", {input}")
    assert explore(flow, faults=0).exits.missed == ()
    assert len(run_inputs(flow)) <= MAX_INPUTS


def test_only_what_leads_from_the_value_to_a_route_counts() -> None:
    """Constants of expressions that do not read the value say nothing about it."""
    flow = compiled('a.v >= 7 and input.topic != "off"', "v: int(1..10), w: text(1..9)")
    assert compared(flow, "node", "a").numbers == (7,)
    assert compared(flow, "node", "nobody") == Compared()
    many = " or ".join(f"a.v == {number}" for number in range(MAX_CONSTANTS + 1))
    assert len(compared(compiled(many, "v: int(0..99)"), "node", "a").numbers) == MAX_CONSTANTS
    fewer = " or ".join(f"a.v == {number}" for number in range(MAX_CONSTANTS))
    assert compared(compiled(fewer, "v: int(0..99)"), "node", "a").numbers == tuple(range(MAX_CONSTANTS))


def test_values_of_one_kind_lie_on_one_side_of_everything() -> None:
    met = Compared(("stop",), (3, 7))
    same: list[tuple[JsonValue, JsonValue]] = [
        (1, 2),
        (4, 6.5),
        (8, 100),
        ("a", "b"),
        ("a stop", "stop b"),
        ([1], [2]),
    ]
    for left, right in same:
        assert kinds({"v": left}, [("v",)], met) == kinds({"v": right}, [("v",)], met)
    other: list[tuple[JsonValue, JsonValue]] = [
        (2, 3),
        (3, 4),
        (7, 8),
        ("a", "stop"),
        ("a", ""),
        ("a", "stop!"),
        (None, False),
        ([], [1]),
        ([1], [3]),
    ]
    for left, right in other:
        assert kinds({"v": left}, [("v",)], met) != kinds({"v": right}, [("v",)], met)
    assert kinds({"v": "a"}, [("v",)], met, {"a"}) != kinds({"v": "b"}, [("v",)], met, {"a"})
