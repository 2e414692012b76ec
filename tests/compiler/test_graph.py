"""Edge lines to arrows: chains, ways, failure routes, matches, limits; broken lines spoil nothing else."""

from __future__ import annotations

from tests.compiler.cases import check_text, codes
from windtunnel.compiler.graph import START, Graph
from windtunnel.compiler.inference import Typed

HEAD = """language 1
workflow w {
  input { mode: "a" | "b", most: int(1..5) = 3 }
  compute one = { text: "${input.mode} ${input.most}" }
  compute two = { text: one.text }
  shell run {
    run ["true"]
  }
  decision ask {
    title "Go on?"
    choices {
      yes "Yes"
      no "No"
    }
  }
  edges {
"""


def typed(edges: str) -> Typed:
    """The workflow with these edges."""
    checked = check_text(HEAD + edges + "\n  }\n}\n")
    return next(iter(checked.workflows.values()))


def arrows(graph: Graph) -> list[str]:
    """Every arrow in words, sorted."""
    return sorted(
        f"{a.route.words} -> {a.goal.words}{' (overflow)' if a.overflow else ''}" for a in graph.arrows
    )


def test_every_kind_of_edge_becomes_arrows() -> None:
    """One arrow for each possible transition; `any` is two routes, a limit a second arrow."""
    graph = typed("""
    start -> match input.mode {
      "a" -> one -> two
      "b" -> two limit input.most then -> exit late
    }
    two -> run -> ask
    run on any -> one limit 2 then -> exit late
    ask.yes -> exit done
    ask.no -> one
    """).graph
    assert arrows(graph) == [
        "ask.no -> one",
        "ask.yes -> exit done",
        "one -> two",
        "run (failed) -> exit late (overflow)",
        "run (failed) -> one",
        "run (timed_out) -> exit late (overflow)",
        "run (timed_out) -> one",
        "run -> ask",
        "start -> exit late (overflow)",
        "start -> one",
        "start -> two",
        "two -> run",
    ]
    assert graph.route("run", None, "failed") is not None
    assert graph.route("run", None, "ok") is not graph.route("run", None, "failed")
    assert [arrow.goal.node for arrow in graph.leaving[START]] == ["one", "two", None]
    assert sorted(graph.exits) == ["done", "late"]
    assert {arrow.source for arrow in graph.entering["two"]} == {"one", START}


def test_heads_with_commas_share_a_failure_route() -> None:
    """One line for several nodes, one route for each of them."""
    graph = typed("start -> one -> two -> run -> exit done\none, run on failed -> two").graph
    assert [a for a in arrows(graph) if "failed" in a] == ["one (failed) -> two", "run (failed) -> two"]


def test_a_broken_line_is_loose_at_its_ends_and_spoils_nothing_else() -> None:
    """`tow` is reported once; nothing is said of `two`, nor of what follows the broken line."""
    text = HEAD + "start -> one -> tow -> run -> ask\nask.yes -> exit done\nask.no -> exit done\n  }\n}\n"
    checked = check_text(text)
    assert codes(checked) == ["WT0206"]
    graph = next(iter(checked.workflows.values())).graph
    assert {"two", "run"} <= graph.loose
    assert {"one", "two"} <= graph.open


def test_ways_and_heads_that_do_not_exist() -> None:
    """Each mistake of a line has its own finding."""
    edges = """
    start -> one -> ask.yes
    one.yes -> two
    ask -> two
    ask.maybe -> two
    start.x -> two
    one, two -> exit done
    two -> start
    ask.yes -> exit done -> two
    run on cancelled -> one
    """
    found = [code for code in codes(check_text(HEAD + edges + "\n  }\n}\n")) if code.startswith("WT02")]
    assert sorted(set(found)) == ["WT0202", "WT0206", "WT0207", "WT0209", "WT0210", "WT0216"]
