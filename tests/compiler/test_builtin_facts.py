"""The built-in workflows against the graphs they come from: nodes, edges, exits, mounts and deadlines.

`tests/cases/compiler/builtins/NAME.json` holds the facts of the original. `DIFFERENCES` is the whole list of
what was changed on the way, with its reasons; a difference that is not there any more fails as well.

An edge is written as text: `a -> b`, `a [route=x] -> b` for a case, `a.way -> b`, `a on failed -> b`,
`a over limit -> b` for where a limit points, `mount enters mount/node` for the door of an include,
`-> exit mount.name` for its way out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from windtunnel.compiler import compile_file
from windtunnel.compiler.snapshot import (
    ActionNode,
    AgentNode,
    AssistantMessage,
    EdgeModel,
    JsonType,
    ShellNode,
    Snapshot,
    SubmittedOutput,
    TargetModel,
)

CASES = Path(__file__).parent.parent / "cases" / "compiler" / "builtins"
NAMES = (
    "autodoc",
    "autoimplement",
    "autoplan",
    "monitor",
    "plain-summary",
    "plan-approval",
    "plan-change",
    "sanity-check",
)
REVISIONS = {
    "autodoc": 1,
    "autoimplement": 9,
    "autoplan": 2,
    "monitor": 11,
    "plain-summary": 1,
    "plan-approval": 4,
    "plan-change": 1,
    "sanity-check": 3,
}
DEFAULT_TIMEOUT = 15 * 60_000
MINUTE = 60_000


@dataclass(frozen=True)
class Difference:
    """One thing that is not as in the original: what is gone, what came, and why."""

    workflow: str
    reason: str
    gone_nodes: tuple[str, ...] = ()
    new_nodes: Mapping[str, str] = field(default_factory=dict)
    gone_edges: tuple[str, ...] = ()
    new_edges: tuple[str, ...] = ()
    new_mounts: Mapping[str, str] = field(default_factory=dict)
    timeouts: Mapping[str, int | str] = field(default_factory=dict)
    start: str | None = None
    max_steps: int | None = None


def _joined(step: str, path: str, cases: Mapping[str, str]) -> Difference:
    """A compute that only handed on what `step` said, gone since matches stand beside failure routes."""
    route = f"route{step[0].upper()}{step[1:]}Result"
    return Difference(
        "autoimplement",
        "the node stood there since a node could have one edge, and its step had a failure route already",
        gone_nodes=(route,),
        gone_edges=(
            f"{step} -> {route}",
            *(f"{route} [{path}={case}] -> {to}" for case, to in cases.items()),
        ),
        new_edges=tuple(f"{step} [{path}={case}] -> {to}" for case, to in cases.items()),
    )


def _limited(arrow: str, then: str, reason: str) -> Difference:
    source = arrow.partition(" -> ")[0]
    return Difference("autoimplement", reason, new_edges=(f"{source} over limit -> {then}",))


LOOP = "every loop has a bound of its own instead of the steps of the whole run"

DIFFERENCES = (
    Difference(
        "plain-summary",
        "the text is the answer: its limits belong to the agent, so nothing is checked after it was shown",
        gone_nodes=("finish",),
        new_nodes={"answer": "compute"},
        gone_edges=("summarize -> finish", "finish -> exit completed"),
        new_edges=("summarize -> answer", "answer -> exit done"),
    ),
    Difference(
        "autoplan",
        "revision 2: both ways out pass a plain summary",
        new_mounts={"summary": "plain-summary", "obstacle": "plain-summary"},
        gone_edges=("plan -> finalize", "choose [status=blocked] -> blocked"),
        new_edges=(
            "plan -> summary",
            "summary.done -> finalize",
            "choose [status=blocked] -> obstacle",
            "obstacle.done -> blocked",
        ),
        max_steps=12,
    ),
    Difference(
        "autoplan", "revision 2: two to four whole candidates take longer", timeouts={"propose": 20 * MINUTE}
    ),
    Difference("plan-approval", "a workflow without a limit has the language's", max_steps=100),
    Difference(
        "plan-change",
        "`start` is where every workflow begins, and the node did nothing",
        gone_nodes=("start",),
        gone_edges=("start -> design",),
        start="design",
    ),
    Difference(
        "plan-change",
        "a limit on the arrow instead of a node that counts steps",
        gone_nodes=("replanGuard",),
        gone_edges=(
            "approval.replan -> replanGuard",
            "replanGuard [route=design] -> design",
            "replanGuard [route=blocked] -> blocked",
        ),
        new_edges=("approval.replan -> design", "approval.replan over limit -> blocked"),
    ),
    _joined("verifyP2", "passed", {"true": "inspectComments", "false": "fix"}),
    _joined(
        "inspectComments",
        "route",
        {"redesign": "redesign", "fix": "fix", "ci": "inspectCi", "blocked": "challengeBlockerGuard"},
    ),
    _joined(
        "inspectCi",
        "route",
        {
            "green": "finalizeDelivery",
            "failed": "classifyCi",
            "pending": "trackCi",
            "unavailable": "challengeBlockerGuard",
        },
    ),
    _joined("finalizeDelivery", "status", {"completed": "finalize", "blocked": "challengeBlockerGuard"}),
    Difference(
        "autoimplement",
        "a limit on the arrow instead of a node that counts steps; the node still says what timed out",
        gone_edges=(
            "timeoutFallbackGuard [route=recover] -> timeoutFallback",
            "timeoutFallbackGuard [route=blocked] -> blocked",
        ),
        new_edges=("timeoutFallbackGuard -> timeoutFallback", "timeoutFallbackGuard over limit -> blocked"),
    ),
    Difference(
        "autoimplement",
        "a limit on the arrow instead of a node that counts steps; the node still says what is in the way",
        gone_edges=(
            "challengeBlockerGuard [route=challenge] -> challengeBlocker",
            "challengeBlockerGuard [route=blocked] -> blocked",
        ),
        new_edges=(
            "challengeBlockerGuard -> challengeBlocker",
            "challengeBlockerGuard over limit -> blocked",
        ),
    ),
    _limited("adoptPlan -> implement", "blocked", LOOP),
    _limited("fix -> planVerification", "challengeBlockerGuard", LOOP),
    _limited("repairReviewCommand [route=retry] -> runReview", "challengeBlockerGuard", LOOP),
    _limited("repairCiCommand [route=retry] -> trackCi", "challengeBlockerGuard", LOOP),
    _limited("opportunisticTest -> inspectCi", "challengeBlockerGuard", LOOP),
    Difference(
        "monitor",
        "every end of a workflow has a name",
        new_edges=("finish -> exit stopped",),
    ),
    Difference(
        "monitor",
        "one deadline a minute after the pause, where the original had that and a day for the node",
        timeouts={"sleep": "dynamic"},
    ),
    Difference(
        "sanity-check",
        "every end of a workflow has a name",
        new_edges=("report -> exit reported",),
    ),
)


@dataclass
class Facts:
    """The graph of one workflow, authored or compiled."""

    start: str
    max_steps: int
    nodes: dict[str, str]
    edges: set[str]
    mounts: dict[str, str]
    timeouts: dict[str, int | str]


def original(name: str) -> dict[str, Any]:
    """The case file of a built-in."""
    case: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return case


def facts_of_case(name: str) -> Facts:
    case = original(name)
    return Facts(
        case["start"],
        case["maxSteps"],
        dict(case["nodes"]),
        set(case["edges"]),
        dict(case["mounts"]),
        dict(case["timeouts"]),
    )


def expected(name: str) -> Facts:
    """The original with every difference applied; one that cannot be applied fails."""
    facts = facts_of_case(name)
    for difference in DIFFERENCES:
        if difference.workflow != name:
            continue
        assert set(difference.gone_nodes) <= set(facts.nodes), f"not in the original: {difference.reason}"
        assert set(difference.gone_edges) <= facts.edges, f"not in the original: {difference.reason}"
        assert not set(difference.new_edges) & facts.edges, f"in the original too: {difference.reason}"
        for gone in difference.gone_nodes:
            del facts.nodes[gone]
            facts.timeouts.pop(gone, None)
        facts.nodes.update(difference.new_nodes)
        facts.edges = (facts.edges - set(difference.gone_edges)) | set(difference.new_edges)
        facts.mounts.update(difference.new_mounts)
        facts.timeouts.update(difference.timeouts)
        facts.start = difference.start or facts.start
        facts.max_steps = difference.max_steps or facts.max_steps
    return facts


def inside(mount: str, edge: str) -> str:
    """An edge as it is called from outside the mount."""
    if " enters " in edge:
        outer, inner = edge.split(" enters ")
        return f"{mount}/{outer} enters {mount}/{inner}"
    source, target = edge.split(" -> ")
    name = target.removeprefix("exit ")
    return f"{mount}/{source} -> " + (f"{mount}/{target}" if name == target else _exit(mount, name))


def _exit(mount: str, name: str) -> str:
    return f"exit {mount}/{name}" if "." in name else f"exit {mount}.{name}"


def flattened(facts: Facts, child: Any) -> tuple[dict[str, str], set[str], dict[str, str]]:
    """Nodes, edges and mounts of a workflow and all it includes; `child` gives facts by name."""
    nodes, edges, mounts = dict(facts.nodes), set(facts.edges), dict(facts.mounts)
    for mount, name in facts.mounts.items():
        inner = child(name)
        inner_nodes, inner_edges, inner_mounts = flattened(inner, child)
        nodes.update({f"{mount}/{node}": kind for node, kind in inner_nodes.items()})
        edges |= {inside(mount, edge) for edge in inner_edges}
        edges.add(f"{mount} enters {mount}/{inner.start}")
        mounts.update({f"{mount}/{path}": name for path, name in inner_mounts.items()})
    return nodes, edges, mounts


@cache
def compiled(name: str) -> Snapshot:
    """The snapshot of a built-in."""
    made = compile_file(f"builtin:{name}")
    assert made.snapshot is not None, [f"{d.code} {d.message}" for d in made.diagnostics]
    return made.snapshot


def edges_of(snapshot: Snapshot) -> set[str]:
    """Every edge of a snapshot as text."""
    found = {f"{path} enters {mount.start_at}" for path, mount in snapshot.composition.mounts.items()}
    for edge in snapshot.edges:
        if edge.source.rpartition("/")[2] == "start":
            continue
        for arm in edge.arms:
            for case in arm.cases or (None,):
                head = _head(edge, case, arm.cases is not None)
                found.add(f"{head} -> {_target(edge.scope, arm.to)}")
                if arm.limit is not None:
                    found.add(f"{head} over limit -> {_target(edge.scope, arm.limit.then)}")
    return found


def _head(edge: EdgeModel, case: Any, matched: bool) -> str:
    head = edge.source if edge.way is None else f"{edge.source}.{edge.way}"
    if edge.on != "ok":
        return f"{head} on {edge.on}"
    if not matched:
        return head
    assert edge.subject is not None, "an arm with cases matches something"
    return f"{head} [{edge.subject[2]}={case if isinstance(case, str) else json.dumps(case)}]"


def _target(scope: str, target: TargetModel) -> str:
    if target.node is not None:
        return target.node
    return f"exit {scope}.{target.exit}" if scope else f"exit {target.exit}"


def timeout_of(node: object) -> int | str:
    """A node's deadline in milliseconds; `dynamic` when it depends on the run."""
    assert isinstance(node, AgentNode | ActionNode | ShellNode), "only these have a deadline"
    return node.timeout_ms if isinstance(node.timeout_ms, int) else "dynamic"


@pytest.mark.parametrize("name", NAMES)
def test_facts_of_the_original_agree_with_each_other(name: str) -> None:
    """The authored graphs of the original, mounted by our rules, are its compiled graph."""
    case = original(name)
    if "compiled" not in case:
        assert not case["mounts"]
        return
    nodes, edges, mounts = flattened(facts_of_case(name), facts_of_case)
    assert sorted(nodes) == case["compiled"]["nodes"]
    assert sorted(edges) == sorted(case["compiled"]["edges"])
    assert mounts == case["compiled"]["mounts"]


@pytest.mark.parametrize("name", NAMES)
def test_authored_graph_is_the_original_but_for_the_listed_differences(name: str) -> None:
    snapshot, facts = compiled(name), expected(name)
    own = {id: node.node_type for id, node in snapshot.nodes.items() if "/" not in id}
    assert own == facts.nodes
    assert {e for e in edges_of(snapshot) if "/" not in e} == facts.edges
    assert {p: m.workflow for p, m in snapshot.composition.mounts.items() if "/" not in p} == facts.mounts
    assert snapshot.start_at == facts.start
    assert snapshot.max_steps == facts.max_steps


@pytest.mark.parametrize("name", NAMES)
def test_compiled_graph_is_the_original_but_for_the_listed_differences(name: str) -> None:
    snapshot = compiled(name)
    nodes, edges, mounts = flattened(expected(name), expected)
    assert {id: node.node_type for id, node in snapshot.nodes.items()} == nodes
    assert edges_of(snapshot) == edges
    assert {path: mount.workflow for path, mount in snapshot.composition.mounts.items()} == mounts


@pytest.mark.parametrize("name", NAMES)
def test_deadlines_are_those_of_the_original(name: str) -> None:
    snapshot, facts = compiled(name), expected(name)
    timed = {
        id: timeout_of(node)
        for id, node in snapshot.nodes.items()
        if "/" not in id and isinstance(node, AgentNode | ActionNode | ShellNode)
    }
    assert {id: at for id, at in timed.items() if at != DEFAULT_TIMEOUT} == {
        id: at for id, at in facts.timeouts.items() if at != DEFAULT_TIMEOUT
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_agent_of_the_original_that_was_validated_has_a_type(name: str) -> None:
    for id in original(name)["validated"]:
        node = compiled(name).nodes.get(id)
        assert isinstance(node, AgentNode)
        assert not isinstance(node.expected_output, AssistantMessage)
        assert isinstance(node.expected_output, SubmittedOutput)
        assert not isinstance(node.expected_output.type, JsonType)


@pytest.mark.parametrize("name", NAMES)
def test_revision(name: str) -> None:
    """B618, B619, B620: the revisions that follow from what was changed."""
    assert compiled(name).revision == REVISIONS[name]


def test_every_difference_names_a_built_in_and_a_reason() -> None:
    for difference in DIFFERENCES:
        assert difference.workflow in NAMES
        assert len(difference.reason) > 20
