"""The budget of turns against what a run may take: limits, counts of visits, includes."""

from __future__ import annotations

import pytest

from tests.compiler.cases import check_text, concise

FLOW = """language 1
workflow w {
  input { topic: text, most: int(1..9) = 4, free: int = 2 }
  budget turns BUDGET
  agent write { prompt "${input.topic}" expectedOutput { good: bool } }
  compute check = { way: if COUNT then "done" else "again" }
  compute rest = { free: input.free, most: input.most }
  edges {
    start -> write -> check -> match .way {
      "again" -> write
      "done" -> rest
    }
    rest -> exit done
  }
}
"""


def found(count: str, budget: int) -> list[str]:
    """What is said of the budget."""
    text = concise(check_text(FLOW.replace("COUNT", count).replace("BUDGET", str(budget))))
    return [line.partition("WT0903 ")[2] for line in text.splitlines() if "WT0903" in line]


@pytest.mark.parametrize(
    ("count", "turns"),
    [
        ("visits(write) >= 3", 9),
        ("write.good or visits(write) >= input.most", 12),
        ('visits(write, "ok") > 2', 9),
        ("2 < visits(check)", 9),
        ("3 <= visits(check)", 9),
        ("not (visits(write) < 2)", 6),
    ],
)
def test_a_count_of_visits_bounds_the_turns(count: str, turns: int) -> None:
    """Three turns a round, nudges included."""
    assert found(count, turns) == []
    assert found(count, turns - 1) == [
        f"a run may take {turns} turns of the model, more than the budget of {turns - 1}"
    ]


def test_a_count_that_has_no_number_yet_says_nothing() -> None:
    """The budget may be kept; `facts` shows the formula, and the run counts."""
    assert found("visits(write) >= rest?.free ?? 3", 3) == []


@pytest.mark.parametrize("count", ["write.good", "write.good and visits(write) > 3"])
def test_what_bounds_nothing_keeps_no_budget(count: str) -> None:
    assert found(count, 1_000) == ["the budget cannot be kept: nothing bounds a cycle with an agent in it"]
