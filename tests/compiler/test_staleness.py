"""Reads in a cycle: what an earlier round left, and what is fed back on purpose."""

from __future__ import annotations

import pytest

from tests.compiler.cases import check_text, codes
from windtunnel.compiler.checks import staleness

FLOW = """language 1
workflow w {
  input { task: text }
  agent triage { prompt "${input.task} NOTE" expectedOutput { size: "large" | "small" } }
  agent plan { prompt "${input.task}" expectedOutput { steps: text } }
  agent step { prompt "${input.task} ${READ}" expectedOutput { finished: bool } }
  edges {
    start -> triage -> match .size {
      "large" -> plan
      "small" -> step
    }
    plan -> step -> match .finished {
      true -> exit done
      false -> BACK limit 5 then -> exit done
    }
  }
}
"""


def found(read: str, back: str = "triage", note: str = "") -> list[str]:
    """The codes of the flow with these parts."""
    text = FLOW.replace("READ", read).replace("BACK", back).replace("NOTE", note)
    return codes(check_text(text))


@pytest.mark.parametrize(
    "read",
    [
        'plan?.steps ?? "none"',
        'if plan == null then "none" else plan.steps',
        'if defined(plan) then "one" else "none"',
        'lines(plan?.steps ?? "")[0] ?? "none"',
    ],
)
def test_null_that_is_taken_for_not_in_this_round(read: str) -> None:
    """A51: the second round prints what the first one made."""
    assert found(read) == ["WT0426"]


def test_a_null_that_is_only_passed_on_says_nothing_of_rounds() -> None:
    """All that there is, as evidence, whatever round made it."""
    assert found("json(plan)") == []


def test_without_a_cycle_there_is_one_round() -> None:
    text = FLOW.replace("READ", 'plan?.steps ?? "none"').replace("NOTE", "")
    text = text.replace("false -> BACK limit 5 then -> exit done", "false -> exit done")
    assert "WT0426" not in codes(check_text(text))


def test_a_cycle_that_does_not_choose_again_keeps_its_choice() -> None:
    """Going back behind the choice, a plan that was made stays the plan."""
    assert found('plan?.steps ?? "none"', back="step") == []


def test_what_is_fed_back_is_read_on_purpose() -> None:
    """A node that only ever runs after its reader."""
    assert found("json(triage)", note='${plan?.steps ?? "none"}') == []


def test_a_search_that_is_cut_short_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """At its limit the search is silent; one search more would do."""
    needed = 6 * len(["start", "triage", "plan", "step"])
    monkeypatch.setattr(staleness, "MAX_WORK", needed)
    assert found('plan?.steps ?? "none"') == []
    monkeypatch.setattr(staleness, "MAX_WORK", needed + 4)
    assert found('plan?.steps ?? "none"') == ["WT0426"]
