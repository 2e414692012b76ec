"""Cycles: what bounds one, what only looks as if it did, and limits that come too late."""

from __future__ import annotations

import pytest

from tests.compiler.cases import check_text, concise
from windtunnel.compiler import rounds
from windtunnel.compiler.checks.counting import MAX_FOLLOWED
from windtunnel.compiler.facts import facts
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader

LOOP = """language 1
workflow w {
  input { topic: text, most: int(1..5) = 3, mode: "once" | "often" = "once" }
  maxSteps 50
  agent write {
    prompt "Write about ${input.topic}, round ${visits(write)}."
    expectedOutput { good: bool, text: text }
  }
  compute check = CHECK
  edges {
    start -> write -> check -> match .way {
      "again" -> write
      "done" -> exit done
    }
  }
}
"""


def found(text: str, *codes: str) -> list[str]:
    """The first lines of the findings with these codes."""
    lines = [line for line in concise(check_text(text)).splitlines() if not line.startswith(" ")]
    return [line.partition(" ")[2] for line in lines if line.split(" ")[2] in codes]


@pytest.mark.parametrize(
    "check",
    [
        '{ way: if visits(write) >= 3 then "done" else "again" }',
        '{ way: if visits(check) < 3 then "again" else "done" }',
        '{ way: if write.good or visits(write) >= input.most then "done" else "again" }',
        '{ way: if write.good then "done" else if 3 <= visits(write, "ok") then "done" else "again" }',
        '{ way: if not (visits(write) < input.most) then "done" else "again" }',
        '{ way: if input.most - visits(write) <= 0 then "done" else "again" }',
        '{ way: if visits(write) == 3 then "done" else "again" }',
    ],
)
def test_a_match_that_leaves_by_a_count_bounds_a_cycle(check: str) -> None:
    """However the comparison is written, and whatever else may end it earlier."""
    assert found(LOOP.replace("CHECK", check), "WT0309", "WT0312") == []


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ('{ way: if write.good then "done" else "again" }', "warning WT0309"),
        ('{ way: if write.good and visits(write) >= 3 then "done" else "again" }', "warning WT0309"),
        ('{ way: if visits(write) >= 3 then "again" else "done" }', "warning WT0309"),
        ('{ way: if write.good then "done" else "again", rounds: visits(write) }', "warning WT0309"),
        (
            '{ way: if visits(write) > 3 and input.mode == "once" then "done" else "again" }',
            "warning WT0309",
        ),
    ],
)
def test_a_count_that_need_not_end_a_cycle_is_no_bound(check: str, said: str) -> None:
    """A count in a prompt, beside another condition, or that keeps the cycle going, bounds nothing."""
    lines = found(LOOP.replace("CHECK", check), "WT0309", "WT0312")
    assert [line[: len(said)] for line in lines] == [said]


def test_a_count_that_need_not_end_it_is_named() -> None:
    check = '{ way: if write.good and visits(write) >= 3 then "done" else "again" }'
    text = concise(check_text(LOOP.replace("CHECK", check)))
    assert "note: a match reads `visits(write)`, but it need not leave the cycle by it" in text


INNER = """language 1
workflow w {
  input { topic: text }
  agent a { prompt "${input.topic}" expectedOutput { ok: bool } }
  agent b { prompt "${input.topic}" expectedOutput { ok: bool } }
  let enough = visits(a) > 3
  edges {
    start -> a -> match .ok {
      true -> b
      false -> a
    }
    b -> match enough {
      true -> exit done
      false -> a
    }
  }
}
"""


def test_a_bound_on_one_cycle_is_none_on_the_one_inside_it() -> None:
    """`a` alone can go round without ever reaching the match that counts."""
    assert found(INNER, "WT0309") == ["warning WT0309 nothing bounds the cycle a → a"]
    counted = INNER.replace("visits(a) > 3", "visits(b) > 3").replace(
        "false -> a\n    }\n    b", "false -> b\n    }\n    b"
    )
    assert found(counted, "WT0309") == []


def test_a_count_of_ends_does_not_count_failures() -> None:
    """A retry of the node that is counted goes round without being counted."""
    text = LOOP.replace("    start ->", "    write on failed -> check\n    start ->")
    check = '{ way: if visits(write, "ok") >= 3 then "done" else "again" }'
    assert len(found(text.replace("CHECK", check), "WT0309")) == 1
    check = '{ way: if visits(write) >= 3 then "done" else "again" }'
    assert found(text.replace("CHECK", check), "WT0309") == []


# --- progress -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    [
        '{ way: if len(input.topic) > 3 then "done" else "again" }',
        '{ way: if input.most > 1 and input.mode == "once" then "done" else "again" }',
    ],
)
def test_a_condition_that_the_cycle_cannot_change(check: str) -> None:
    """One cause, one message: that there is no bound either is left out."""
    lines = found(LOOP.replace("CHECK", check), "WT0309", "WT0312")
    assert lines == ["warning WT0312 `check` is the same each time round, so the cycle goes on as it began"]


def test_matching_what_lies_outside_repeats_on_purpose() -> None:
    """`match input.mode` with a limit says: so many times in this mode."""
    text = LOOP.replace("compute check = CHECK", "").replace(
        "write -> check -> match .way", "write -> match input.mode"
    )
    text = text.replace('"again" -> write', '"often" -> write limit 3 then -> exit done').replace(
        '"done"', '"once"'
    )
    assert found(text, "WT0309", "WT0312") == []


@pytest.mark.parametrize(
    "check",
    [
        '{ way: if len(write.text) > 3 then "done" else "again" }',
        '{ way: if (check?.round ?? 0) > 3 then "done" else "again", round: (check?.round ?? 0) + 1 }',
        '{ way: if (result(write)?.attempts ?? 0) > 1 then "done" else "again" }',
    ],
)
def test_what_changes_in_the_cycle_is_progress(check: str) -> None:
    """Outputs of agents, own earlier outputs, and what is told of the run."""
    assert found(LOOP.replace("CHECK", check), "WT0312") == []


# --- limits that come too late ------------------------------------------------------------------------------

LIMITED = """language 1
workflow w {
  input { topic: text, rounds: int(1..90) = 2, few: int(5..9) = 5 }
  STEPS
  agent write { prompt "${input.topic}" expectedOutput { good: bool } }
  agent judge { prompt "${write.good}" expectedOutput { good: bool } }
  edges {
    start -> write -> judge LIMIT1
    judge -> match .good {
      true -> exit done
      false -> write limit LIMIT2 then -> exit done
    }
  }
}
"""


def limited(steps: str, first: str, second: str) -> list[str]:
    """The findings about limits."""
    text = LIMITED.replace("STEPS", steps).replace("LIMIT1", first).replace("LIMIT2", second)
    return found(text, "WT0311")


@pytest.mark.parametrize(
    ("steps", "limit", "said"),
    [
        ("maxSteps 10", "4", ""),
        ("maxSteps 10", "5", "it needs 2 + 5 × 2 = 12 steps, and `maxSteps` is 10"),
        ("", "49", ""),
        ("", "50", "it needs 2 + 50 × 2 = 102 steps, and `maxSteps` is 100 where nothing is set"),
        ("maxSteps 10", "input.rounds", ""),
        ("maxSteps 10", "input.few", "it needs 2 + 5 × 2 = 12 steps, and `maxSteps` is 10"),
        ("maxSteps input.rounds", "5", ""),
    ],
)
def test_steps_that_run_out_first(steps: str, limit: str, said: str) -> None:
    """With the arithmetic; a limit that may be small enough is left alone."""
    expected = [f"warning WT0311 this limit is never reached: {said}"] if said else []
    assert limited(steps, "", limit) == expected


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("3", "3", "every way back to it takes `write -> judge`, at most 3 times"),
        ("2", "8", "every way back to it takes `write -> judge`, at most 2 times"),
        ("4", "3", "every way back to it takes `judge -> write`, at most 3 times"),
        ("10", "input.few", "every way back to it takes `judge -> write`, at most 9 times"),
        ("9", "input.few", ""),
    ],
)
def test_a_smaller_limit_on_the_only_way_back(first: str, second: str, said: str) -> None:
    """Both arrows lie on each round, so one of the limits ends it; the first arrow is taken once more."""
    lines = limited("", f"limit {first} then -> exit done", second)
    assert lines == ([f"warning WT0311 this limit is never reached: {said}"] if said else [])


def test_a_limit_on_an_arrow_that_is_taken_once() -> None:
    text = LIMITED.replace("STEPS", "").replace("false -> write limit LIMIT2 then", "false")
    lines = found(text.replace("LIMIT1", "limit 2 then -> exit done"), "WT0311")
    assert lines == ["warning WT0311 this limit is never reached: the way does not come back to it"]


def test_a_search_for_smaller_limits_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is used up nothing is said."""
    assert len(limited("", "limit 3 then -> exit done", "3")) == 1
    monkeypatch.setattr("windtunnel.compiler.checks.limits.MAX_WORK", 0)
    assert limited("", "limit 3 then -> exit done", "3") == []


def chain(length: int) -> str:
    """A cycle of computed nodes, each reading the one before it twice; the first one counts."""
    nodes = "  compute c0 = { a: visits(c0) > 3 }\n"
    nodes += "".join(f"  compute c{i} = {{ a: c{i - 1}.a or c{i - 1}.a }}\n" for i in range(1, length))
    edges = " -> ".join(f"c{i}" for i in range(length))
    return f"""language 1
workflow w {{
{nodes}  edges {{
    start -> {edges}
    c{length - 1} -> match .a {{
      true -> exit done
      false -> c0
    }}
  }}
}}
"""


@pytest.mark.parametrize(("length", "count"), [(MAX_FOLLOWED, 0), (MAX_FOLLOWED + 1, 1), (600, 1)])
def test_what_counts_is_followed_only_so_far(length: int, count: int) -> None:
    """However often each reads the one before it; a check and the facts of a workflow agree."""
    assert rounds.MAX_FOLLOWED == MAX_FOLLOWED
    text = chain(length)
    assert len(found(text, "WT0309")) == count
    snapshot = compile_workflow(MemoryReader({"w.flow": text}), "w.flow").snapshot
    assert snapshot is not None
    assert (facts(snapshot).steps.whole.formula is None) == bool(count)
