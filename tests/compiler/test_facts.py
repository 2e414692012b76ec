"""Facts: bounds hold in every walk, guards are on every path, and what is unrouted is all that is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windtunnel.compiler.bounds
from tests.compiler.snapshots import (
    action,
    agent,
    assistant,
    compute,
    const,
    decision,
    edge,
    mount,
    release_notes,
    shell,
    snapshot,
)
from tests.compiler.test_compatibility import CHILD, PARENT, compiled
from windtunnel.compiler.bounds import MAX_COMPUTED, Bound, bounds, usual_number
from windtunnel.compiler.facts import Facts, Guard, Unrouted, facts
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.places import START, places, reach
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import Snapshot


def one(_: str) -> int:
    """Every node weighs one."""
    return 1


def nothing(_: str) -> None:
    """No cap."""


def steps(made: Snapshot) -> Bound:
    """The bound of the root by its graph alone."""
    return bounds(made, one, nothing)[""]


def test_a_straight_line_takes_as_many_steps_as_it_has_nodes() -> None:
    made = snapshot(
        {"a": compute(), "b": compute()}, [edge("start", "a"), edge("a", "b"), edge("b", "exit done")]
    )
    assert steps(made) == Bound("a + b", 2)


def test_a_limit_lets_a_cycle_be_taken_once_more_each_time() -> None:
    """Three times back is four times through."""
    made = snapshot(
        {"a": compute(), "b": compute(), "c": compute()},
        [edge("start", "a"), edge("a", "b"), edge("b", "a", (3, "c")), edge("c", "exit done")],
    )
    assert steps(made) == Bound("(1 + 3) × (a + b) + c", 9)


def test_a_cycle_without_a_limit_is_named() -> None:
    made = snapshot({"a": compute(), "b": compute()}, [edge("start", "a"), edge("a", "b"), edge("b", "a")])
    assert steps(made) == Bound(None, None, "no limit on a → b → a")
    assert facts(made).steps.whole.value == 100
    assert facts(made).steps.whole.capped
    assert bounds(made, lambda _: 0, nothing)[""] == Bound("0", 0)


def test_a_mount_weighs_what_its_child_takes() -> None:
    """A limit is what the mount gives or the default; alone, the child's formula names the input."""
    made = compiled(PARENT, child=CHILD)
    found = bounds(made, one, nothing)
    assert found["one"] == Bound("(1 + 3) × write + dropped", 5)
    assert found["two"] == Bound("(1 + 2) × write + dropped", 4)
    assert steps(compiled(CHILD)) == Bound("(1 + input.limit) × write + dropped", 5)
    assert found[""] == Bound("one + two + done", 10)


def test_the_bound_of_a_mount_ends_at_its_own_steps() -> None:
    """`maxSteps` of a child bounds one invocation of it, so a parent need not be endless too."""
    made = snapshot(
        {"m/a": compute(), "b": compute()},
        [
            edge("start", "m"),
            edge("m.done", "b"),
            edge("b", "exit done"),
            edge("start", "m/a", scope="m"),
            edge("m/a", "m/a", scope="m"),
        ],
        mounts={"m": mount("child", "m/a", ["done"]) | {"maxSteps": 7}},
    )
    whole = facts(made).steps
    assert [(f.mounts, f.bound.value, f.bound.capped) for f in whole.formulas] == [
        (("",), 8, False),
        (("m",), 7, True),
    ]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (const(4), 4),
        (["field", ["input", ""], "n", False], 3),
        (["field", ["input", ""], "most", False], 9),
        (["field", ["input", ""], "free", False], None),
        (["op", "+", ["field", ["input", ""], "n", False], const(2)], 5),
        (["node", "a"], 1),
        (["node", "b"], None),
        (["??", ["node", "b"], const(4)], None),
        (const(True), None),
    ],
)
def test_the_usual_value_of_a_number(expression: list[Any], expected: int | None) -> None:
    """Constants and defaults are computed; else the largest value of the type; else it is not known."""
    integer = {"kind": "int", "min": 1}
    fields = {
        "n": {"type": integer | {"max": 9}, "hasDefault": True, "default": 3},
        "most": {"type": integer | {"max": 9}},
        "free": {"type": integer},
    }
    made = snapshot(
        {"a": compute(), "b": agent()},
        [edge("start", "a"), edge("a", "b"), edge("b", "exit done")],
        input={"kind": "record", "fields": fields},
    )
    assert usual_number(made, expression) == expected
    assert usual_number(made, 12) == 12


# --- cycles that a count ends -------------------------------------------------------------------------------

COUNTED = """language 1
workflow w {
  input { topic: text, most: int(1..9) = 4 }
  compute known = { most: input.most }
  agent write { prompt "${input.topic}" expectedOutput { good: bool } }
  compute check = { way: WAY, most: known.most }
  edges {
    start -> known -> write -> check -> match .way {
      "again" -> write
      "done" -> exit done
    }
  }
}
"""


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("visits(write) >= 3", Bound("known + 3 × (write + check)", 7)),
        ("visits(write) > 3", Bound("known + (1 + 3) × (write + check)", 9)),
        ("3 <= visits(check)", Bound("known + 3 × (write + check)", 7)),
        ("write.good or visits(write) >= input.most", Bound("known + input.most × (write + check)", 9)),
        ('visits(write, "ok") >= known.most', Bound("known + known.most × (write + check)", 9)),
        ("not (visits(write) < 2)", Bound("known + 2 × (write + check)", 5)),
        ("write.good and visits(write) >= 3", None),
        ("visits(known) >= 3", None),
        ("visits(write) < 3", None),
    ],
)
def test_a_count_that_surely_ends_a_cycle_bounds_it(way: str, expected: Bound | None) -> None:
    """With the usual value of what it is compared with, also where that is computed before."""
    made = compiled(COUNTED.replace("WAY", f'if {way} then "done" else "again"'))
    found = steps(made)
    if expected is None:
        assert (found.formula, found.value) == (None, None)
        assert found.reason.startswith("no limit on ")
    else:
        assert found == expected


def test_a_count_bounds_only_the_cycles_that_it_counts() -> None:
    """A retry of the node goes round without reaching the match."""
    text = COUNTED.replace("WAY", 'if visits(write) >= 3 then "done" else "again"')
    retried = text.replace("    start ->", "    write on failed -> write\n    start ->")
    assert steps(compiled(retried)).value is None
    limited = text.replace("    start ->", "    write on failed -> write limit 2 then -> check\n    start ->")
    assert steps(compiled(limited)) == Bound("known + (2 + 3) × (write + check)", 11)


ARROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([None, 1, 2])),
    min_size=1,
    max_size=8,
    unique_by=lambda arrow: arrow[:2],
)


def graph_of(arrows: list[tuple[int, int, int | None]]) -> Snapshot:
    """A workflow of four nodes with these arrows; 4 is the exit, and so is what follows a used-up limit."""
    edges: dict[int, dict[str, Any]] = {}
    for number, (source, goal, limit) in enumerate(arrows):
        arm: dict[str, Any] = {"key": f"n{source} {number}", "cases": [number]}
        arm["to"] = {"exit": "done"} if goal == 4 else {"node": f"n{goal}"}
        if limit is not None:
            arm["limit"] = {"count": limit, "then": {"exit": "done"}}
        made = edges.setdefault(source, {"scope": "", "from": f"n{source}", "subject": const(0), "arms": []})
        made["arms"].append(arm)
    nodes = {f"n{number}": compute() for number in range(4)}
    return snapshot(nodes, [edge("start", "n0"), *edges.values()])


def longest_walk(arrows: list[tuple[int, int, int | None]], most: int) -> int:
    """The steps of the longest run, tried out; `most` ends an endless one."""
    best = 0
    waiting = [(0, 1, tuple(limit or 0 for *_, limit in arrows))]
    seen = set()
    while waiting:
        node, taken, left = waiting.pop()
        best = max(best, taken)
        if taken >= most or (node, taken, left) in seen:
            continue
        seen.add((node, taken, left))
        for number, (source, goal, limit) in enumerate(arrows):
            if source == node and goal != 4 and (limit is None or left[number]):
                rest = left if limit is None else (*left[:number], left[number] - 1, *left[number + 1 :])
                waiting.append((goal, taken + 1, rest))
    return best


@settings(max_examples=120, deadline=None)
@given(ARROWS)
def test_no_run_takes_more_than_the_bound(arrows: list[tuple[int, int, int | None]]) -> None:
    """Tried out on small graphs: a bound holds, and without one there is a run without an end."""
    bound = steps(graph_of(arrows))
    if bound.value is None:
        assert longest_walk(arrows, 60) == 60
    else:
        assert longest_walk(arrows, bound.value + 2) <= bound.value


def test_the_facts_of_a_workflow_with_everything() -> None:
    """Turns count nudges; a decision guards what not all its ways lead to; routes for `any` are found."""
    found = facts(release_notes())
    assert found.turns.whole == Bound("(1 + 4) × 3 draft + tell", 16)
    assert (found.visible_least, found.visible.whole.value) == (0, 1)
    assert found.guards == (Guard("log", ()), Guard("release", (("approve", ("publish",)),)))
    assert found.unrouted == (
        Unrouted("draft", ("failed", "timed_out")),
        Unrouted("log", ("failed", "timed_out")),
        Unrouted("release", ("timed_out",)),
        Unrouted("tell/summarize", ("failed", "timed_out")),
    )


def two_decisions(*more: Any) -> Facts:
    """`first.yes` leads to `second`, `second.yes` to an effect."""
    return facts(
        snapshot(
            {
                "first": decision("?", {"yes": "Yes", "no": "No"}),
                "second": decision("?", {"yes": "Yes", "no": "No"}),
                "effect": action("x"),
                "end": compute(),
            },
            [
                edge("start", "first"),
                edge("first.yes", "second"),
                edge("first.no", "end"),
                edge("second.yes", "effect"),
                *(more or [edge("second.no", "end")]),
                edge("effect", "exit done"),
                edge("end", "exit done"),
            ],
        )
    )


def test_guards_are_on_every_path() -> None:
    """Both decisions are passed, in that order; one whose ways all lead to the effect guards nothing."""
    assert two_decisions().guards == (Guard("effect", (("first", ("yes",)), ("second", ("yes",)))),)
    assert two_decisions(edge("second.no", "effect")).guards == (Guard("effect", (("first", ("yes",)),)),)


def test_a_way_around_a_decision_is_no_guard() -> None:
    made = snapshot(
        {"a": agent(), "ask": decision("?", {"yes": "Y", "no": "N"}), "effect": shell("x")},
        [
            edge("start", "a"),
            edge("a", "ask"),
            edge("a", "effect", on="failed"),
            edge("ask.yes", "effect"),
            edge("ask.no", "exit done"),
            edge("effect", "exit done"),
        ],
    )
    assert facts(made).guards == (Guard("effect", ()),)


def test_visible_answers_are_counted_from_the_least_to_the_most() -> None:
    """The least is the path to an exit with the fewest; a presentation is one more."""
    made = snapshot(
        {"a": assistant(), "b": assistant()},
        [
            edge("start", "a"),
            edge("a", "b"),
            edge("a", "exit done", on="failed"),
            edge("b", "a", (1, "exit done")),
        ],
        presentation=const("Tell."),
    )
    found = facts(made)
    assert (found.visible_least, found.visible.whole.value, found.presented) == (2, 4, True)


def test_places_go_through_includes() -> None:
    """A mount is entered, and left by the end that its exit is."""
    graph = places(compiled(PARENT, child=CHILD))
    assert graph[START] == ("one>",)
    assert graph["one>"] == ("one:start",)
    assert graph["one/done!ok"] == ("one!ok.done",)
    assert graph["one!ok.done"] == ("two>",)
    assert set(reach(graph, ["two!ok.done"])) == {"two!ok.done", "done", "done!ok", ":exit done"}
    assert ":exit done" not in reach(graph, [START], without="done")


@pytest.mark.parametrize("name", ["autoimplement", "autoplan", "monitor", "plan-approval", "plan-change"])
def test_every_built_in_has_facts(name: str) -> None:
    """B126: its own `maxSteps` is enough for what its limits allow, or caps it."""
    made = compile_workflow(MemoryReader({}), f"builtin:{name}").snapshot
    assert made is not None
    found = facts(made)
    assert found.steps.whole.value is not None
    assert isinstance(made.max_steps, int)
    assert found.steps.whole.value <= made.max_steps
    assert found.turns.whole.value is not None


def test_a_long_formula_names_its_first_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum is whole; the names are as many as a line can take."""
    nodes = {f"n{number}": compute() for number in range(4)}
    arrows = [edge(f"n{number}", f"n{number + 1}") for number in range(3)]
    made = snapshot(nodes, [edge("start", "n0"), *arrows, edge("n3", "exit done")])
    monkeypatch.setattr(windtunnel.compiler.bounds, "MAX_TERMS", 4)
    assert steps(made) == Bound("n0 + n1 + n2 + n3", 4)
    monkeypatch.setattr(windtunnel.compiler.bounds, "MAX_TERMS", 3)
    assert steps(made) == Bound("n0 + n1 + n2 + 1 more", 4)


@pytest.mark.parametrize(("depth", "expected"), [(MAX_COMPUTED, 3), (MAX_COMPUTED + 1, None)])
def test_computed_numbers_are_followed_only_so_far(depth: int, expected: int | None) -> None:
    """Each reads the one before it; the first is a constant."""
    names = [f"c{at}" for at in range(depth)]
    nodes = {names[0]: compute(3)}
    nodes |= {name: {"nodeType": "compute", "value": ["node", before]} for before, name in pairwise(names)}
    edges = [edge("start", names[0]), *(edge(a, b) for a, b in pairwise(names)), edge(names[-1], "exit done")]
    assert usual_number(snapshot(nodes, edges), ["node", names[-1]]) == expected
