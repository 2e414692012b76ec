"""The defects that any tool for workflows should find: each in one run, with its place."""

from __future__ import annotations

import pytest

from tests.compiler.cases import check_text, concise

GOOD = """language 1
import helper from "./helper.flow"
workflow review {
  input { topic: text, tone?: text }
  exits { done: { text: text }, given_up: { why: text } }
  agent write {
    prompt "Write about ${input.topic} in a ${input.tone ?? "plain"} tone."
    expectedOutput { text: text }
    timeout 10m
  }
  agent judge {
    prompt "Judge ${write.text}."
    expectedOutput { verdict: "good" | "bad" | "unclear" }
  }
  include polish = helper { topic: write.text }
  compute given_up = { why: "judged ${judge.verdict}" }
  edges {
    start -> write -> judge
    judge -> match .verdict {
      "good" -> polish
      "bad" | "unclear" -> write limit 3 then -> given_up
    }
    polish.done -> exit done
    given_up -> exit given_up
  }
}
# === helper.flow
language 1
workflow helper {
  input { topic: text }
  exits { done: { text: text } }
  compute answer = { text: input.topic }
  edges { start -> answer -> exit done }
}
"""


def findings(*changes: tuple[str, str]) -> list[str]:
    """The findings after some changes, as `place code`, without those of lesser weight."""
    text = GOOD
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    lines = [line for line in concise(check_text(text)).splitlines() if not line.startswith(" ")]
    return [f"{line.split(' ')[0]} {line.split(' ')[2]}" for line in lines]


def test_the_workflow_itself_is_clean() -> None:
    """What the defects are put into has none."""
    assert findings() == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        pytest.param(
            "start -> write -> judge",
            "start -> write -> jugde",
            ["main.flow:18:23 WT0206"],
            id="edge to nowhere",
        ),
        pytest.param(
            "  edges {",
            '  compute lone = { text: "" }\n  edges {\n    lone -> exit done',
            ["main.flow:17:11 WT0202"],
            id="unreachable node",
        ),
        pytest.param(
            "    given_up -> exit given_up\n",
            "",
            ["main.flow:5:33 WT0205", "main.flow:16:11 WT0203"],
            id="dead end",
        ),
        pytest.param(
            "given_up -> exit given_up",
            "given_up -> match .why {\n      else -> given_up\n    }",
            ["main.flow:5:33 WT0205", "main.flow:16:11 WT0204"],
            id="cycle without an exit",
        ),
        pytest.param('"bad" | "unclear" ->', '"bad" ->', ["main.flow:19:20 WT0301"], id="missing case"),
        pytest.param(
            '      "bad" |',
            '      "god" -> polish\n      "bad" |',
            ["main.flow:21:7 WT0302"],
            id="unknown branch",
        ),
        pytest.param(
            "  include", "  compute judge = 1\n  include", ["main.flow:15:11 WT0102"], id="duplicate node"
        ),
        pytest.param(
            '"bad" | "unclear" ->',
            '"bad" | "good" | "unclear" ->',
            ["main.flow:21:15 WT0303"],
            id="duplicate case",
        ),
        pytest.param("timeout 10m", "tiemout 10m", ["main.flow:9:5 WT0503"], id="misspelt option"),
        pytest.param("topic: write.text }", "topic: 3 }", ["main.flow:15:36 WT0403"], id="type mismatch"),
        pytest.param(
            "{ topic: write.text }", "{}", ["main.flow:15:20 WT0405"], id="required input not given"
        ),
        pytest.param(
            "Write about ${input.topic}",
            "Write about ${input.topic} ${judge.verdict}",
            ["main.flow:7:42 WT0401"],
            id="read too early",
        ),
        pytest.param("${input.topic}", "${input.topik}", ["main.flow:7:33 WT0404"], id="unknown input"),
        pytest.param("${write.text}", "${write.txt}", ["main.flow:12:27 WT0404"], id="unknown output field"),
        pytest.param("timeout 10m", "timeout -10m", ["main.flow:9:5 WT0511"], id="negative timeout"),
    ],
)
def test_each_defect_is_found_at_its_place(old: str, new: str, found: list[str]) -> None:
    """One defect, and what it alone causes."""
    assert findings((old, new)) == found


def test_an_output_at_an_exit_that_may_not_exist() -> None:
    """The exit is entered on a path that never ran the node."""
    changes = [
        ("compute given_up = { why:", "compute given_up = { why: polish.done.text + "),
        ('"judged', ' "judged'),
    ]
    assert findings(*changes) == ["main.flow:16:29 WT0401"]


def test_no_exit_at_all() -> None:
    """Every way ends in a circle."""
    text = """language 1
workflow w {
  compute one = 1
  compute two = 2
  edges {
    start -> one -> two
    two -> one
  }
}
"""
    lines = [line for line in concise(check_text(text)).splitlines() if "error" in line]
    assert lines == ["main.flow:2:10 error WT0212 no arrow of workflow `w` leads to an exit"]


def test_several_defects_in_one_run() -> None:
    """Five of them, in five places."""
    found = findings(
        ("${write.text}", "${write.txt}"),
        ("timeout 10m", "timeout -10m"),
        ('"bad" | "unclear" ->', '"bad" ->'),
        ("topic: write.text }", "topic: 3 }"),
        ("polish.done -> exit done", "polish.dun -> exit done"),
    )
    assert [line.split(" ")[1] for line in found] == ["WT0511", "WT0404", "WT0403", "WT0301", "WT0209"]


def test_a_guard_that_counts_inside_a_child_can_never_fire() -> None:
    """The original plan-change counts visits of a node inside its approval, which stays 0 for the parent."""
    text = GOOD.replace('why: "judged ${judge.verdict}"', 'why: "after ${visits(answer)} rounds"')
    found = concise(check_text(text))
    assert (
        "main.flow:16:45 error WT0112 `answer` is a node inside the include `polish`; "
        "seen from here a count of it would stay 0" in found
    )


def test_an_optional_field_passed_on_as_a_required_one() -> None:
    """The original plan-change passes what may be absent to a workflow that needs it."""
    found = concise(check_text(GOOD.replace("topic: write.text }", "topic: input.tone }")))
    assert (
        "main.flow:15:36 error WT0402 `input.tone` may be null, and `topic` of `polish` needs text" in found
    )
