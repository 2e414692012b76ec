"""What the built-in workflows accept and refuse: every rule of the originals that the language can say."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.compiler.known import Known, changed, started
from windtunnel.compiler import compile_file
from windtunnel.compiler.acceptance import Accepted, accept
from windtunnel.compiler.evaluator import compile_expression
from windtunnel.compiler.snapshot import ActionNode, AgentNode, ComputeNode, Snapshot, SubmittedOutput


@cache
def compiled(name: str) -> Snapshot:
    made = compile_file(f"builtin:{name}")
    assert made.snapshot is not None, [f"{d.code} {d.message}" for d in made.diagnostics]
    return made.snapshot


def refuses(known: Known, node: str, output: Any, words: str) -> None:
    """The output is refused, and one of the reasons says `words`."""
    reasons = known.refusals(node, output)
    assert any(words in reason for reason in reasons), (node, words, reasons)


def value_of(known: Known, node: str) -> Any:
    """What a computed node gives here."""
    declared = known.snapshot.nodes[node]
    assert isinstance(declared, ComputeNode)
    return compile_expression(declared.value)(known)


# --- inputs -------------------------------------------------------------------------------------------------

ACCEPTED_INPUTS: dict[str, list[dict[str, Any]]] = {
    "plain-summary": [{"source": "x" * 49_998, "purpose": "p"}, {"source": None, "purpose": "p"}],
    "autodoc": [{"task": "t"}, {"task": "t", "plan": {"steps": []}, "documents": ["a.md"], "evidence": 1}],
    "plan-approval": [
        {"task": "t", "plan": None, "planDigest": "d"},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"mode": "auto", "timeoutMinutes": 1_440}},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"timeoutMinutes": 1, "maxReplans": 20}},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"mode": "skip"}, "revision": 2},
    ],
    "plan-change": [{"task": "t"}, {"task": "t", "approval": {"mode": "required", "audience": "team.a"}}],
    "autoimplement": [
        {"task": "t"},
        {"task": "t", "concurrency": {"reviewer": 8, "verification": 1}},
        {"task": "t", "plan": 1, "documentation": {"status": "current", "planDigest": "d", "documents": []}},
    ],
    "monitor": [{"task": "t"}, {"task": "t", "everyMinutes": 1_440, "maxChecks": 1}],
    "sanity-check": [{}, {"mode": "parallel", "baseRef": "origin/main"}],
}
REFUSED_INPUTS: dict[str, list[dict[str, Any]]] = {
    "plain-summary": [
        {"source": "x" * 49_999, "purpose": "p"},
        {"source": 1, "purpose": ""},
        {"source": 1, "purpose": "p", "format": "prose"},
        {"source": 1, "purpose": "p", "maxChars": 10_001},
        {"source": 1, "purpose": "p", "mustInclude": ["x"] * 33},
    ],
    "autodoc": [{}, {"task": ""}, {"task": "t", "unknown": 1}, {"task": "t", "documents": [1]}],
    "plan-approval": [
        {"task": "t", "plan": 1},
        {"task": "t", "plan": 1, "planDigest": "d", "revision": 0},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"mode": "skip", "timeoutMinutes": 5}},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"mode": "required", "timeoutMinutes": 5}},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"timeoutMinutes": 0}},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"timeoutMinutes": 1_441}},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"maxReplans": 21}},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"audience": "Team A"}},
        {"task": "t", "plan": 1, "planDigest": "d", "approval": {"mode": "maybe"}},
    ],
    "plan-change": [{}, {"task": "t", "plan": 1}],
    "autoimplement": [
        {"task": "t", "concurrency": {"reviewer": 9}},
        {"task": "t", "concurrency": {"reviewer": 0}},
        {"task": "t", "concurrency": {"writers": 2}},
        {"task": "t", "merge": "yes"},
        {"task": "t", "documentation": {"status": "stale", "planDigest": "d", "documents": []}},
    ],
    "monitor": [
        {"task": "t" * 8_001},
        {"task": "t", "everyMinutes": 0},
        {"task": "t", "everyMinutes": 1_441},
        {"task": "t", "maxChecks": 1_001},
        {"task": "t", "stopWhen": ""},
    ],
    "sanity-check": [{"mode": "both"}, {"baseRef": "-x"}, {"baseRef": "a" * 257}, {"base": "main"}],
}


@pytest.mark.parametrize("name", sorted(ACCEPTED_INPUTS))
def test_inputs(name: str) -> None:
    """Exact keys, limits at the limit and one past it; unknown keys are refused everywhere."""
    snapshot = compiled(name)
    for given in ACCEPTED_INPUTS[name]:
        verdict = accept(snapshot.input, given, snapshot.types)
        assert isinstance(verdict, Accepted), (given, str(verdict))
    for given in REFUSED_INPUTS[name]:
        assert not isinstance(accept(snapshot.input, given, snapshot.types), Accepted), given


def test_a_policy_that_is_left_out_is_the_automatic_one() -> None:
    for name, given in (
        ("plan-approval", {"task": "t", "plan": 1, "planDigest": "d"}),
        ("plan-change", {"task": "t"}),
        ("autoimplement", {"task": "t"}),
    ):
        known = started(compiled(name), given)
        assert isinstance(known.given, dict)
        assert known.given["approval"] == {
            "mode": "auto",
            "audience": "operator",
            "timeoutMinutes": 10,
            "maxReplans": 3,
        }


# --- autodoc ------------------------------------------------------------------------------------------------


def test_autodoc() -> None:
    known = started(compiled("autodoc"), {"task": "t"})
    assert value_of(known, "prepare") == {"route": "locate"}
    assert value_of(started(known.snapshot, {"task": "t", "plan": {"a": 1}}), "prepare") == {
        "route": "inspect"
    }
    refuses(known, "locatePlan", {"route": "found", "reason": "r"}, "carries the plan")
    refuses(known, "locatePlan", {"route": "blocked"}, "reason")
    refuses(known, "inspectDocumentation", {"route": "other", "files": [], "reason": "r"}, "current")
    refuses(known, "updateDocumentation", {"updated": False, "files": [], "summary": "s"}, "updated")
    located = known.ran("locatePlan", {"route": "found", "plan": {"a": 1}, "reason": "r"})
    inspected = located.ran(
        "inspectDocumentation", {"route": "update", "files": ["a"], "digests": {}, "reason": "r"}
    )
    final = value_of(inspected, "finalize")
    assert final["documentation"]["state"] == "current"
    assert final["plan"] == {"a": 1}
    updated = inspected.ran(
        "updateDocumentation", {"updated": True, "files": ["b"], "digests": {}, "summary": "s"}
    )
    assert value_of(updated, "finalize")["documentation"] == {
        "state": "updated",
        "files": ["b"],
        "digests": {},
    }
    failed = updated.ran("verifyDocumentation", {"passed": False, "checked": [], "reason": "half"})
    assert "half" in value_of(failed, "blocked")["reason"]
    assert (
        value_of(known.ran("locatePlan", {"route": "blocked", "reason": "two"}), "blocked")["reason"] == "two"
    )


# --- autoimplement ------------------------------------------------------------------------------------------


@cache
def implementing(merge: bool = False) -> Known:
    """A run that has published one repository and selected it for review."""
    known = started(compiled("autoimplement"), {"task": "t", "plan": {"steps": [1]}, "merge": merge})
    known = known.ran("implement", {"summary": "s", "repositories": ["/a"], "files": [], "open": []})
    known = known.ran("planVerification", known.examples("planVerification")[0])
    known = known.ran("runVerification", {"results": []})
    known = known.ran("verify", {"passed": True, "summary": "s", "failures": []})
    known = known.ran("publish", known.examples("publish")[0])
    return known.ran("selectReviewCommands").ran("runReview", {"route": "assess", "results": []})


def published(known: Known) -> Any:
    return known.let("published")


def test_autoimplement_starts_where_the_documents_are() -> None:
    snapshot = compiled("autoimplement")
    assert value_of(started(snapshot, {"task": "t"}), "prepare") == {"route": "find"}
    plain = started(snapshot, {"task": "t", "plan": {"a": 1}})
    assert value_of(plain, "prepare") == {"route": "document"}
    digest = compile_expression(["call", "digest", ["const", {"a": 1}]])(plain)
    for claimed, route in ((digest, "ready"), ("sha256:0", "document")):
        told = {"status": "current", "planDigest": claimed, "documents": []}
        given = {"task": "t", "plan": {"a": 1}, "documentation": told}
        assert value_of(started(snapshot, given), "prepare") == {"route": route}


VERIFICATION_COMMANDS: list[tuple[dict[str, Any], str]] = [
    ({"cwd": "/b"}, "exactly the repositories"),
    ({"cwd": "a"}, "must match"),
    ({"run": ["/bin/bash", "-c", "make"]}, "starts none of"),
    ({"run": ["git", "status"]}, "starts none of"),
    ({"run": ["gh", "pr", "view"]}, "starts none of"),
    ({"run": ["rm", "-r", "x"]}, "starts none of"),
    ({"run": ["npm", "run", "release"]}, "does not publish"),
    ({"run": ["npm", "run", "deploy:test"]}, "does not publish"),
    ({"run": ["make", "pre-push"]}, "does not publish"),
    ({"run": []}, "item"),
    ({"timeoutMinutes": 46}, "45"),
]


@pytest.mark.parametrize(("fields", "words"), VERIFICATION_COMMANDS)
def test_commands_of_a_verification(fields: dict[str, Any], words: str) -> None:
    known = implementing()
    good = known.examples("planVerification")[0]
    assert known.refusals("planVerification", good) == ()
    bad = changed(good, commands=[changed(good["commands"][0], **fields)])
    refuses(known, "planVerification", bad, words)


def test_a_word_that_only_holds_a_forbidden_one_is_fine() -> None:
    known = implementing()
    good = known.examples("planVerification")[0]
    quiet = changed(good, commands=[changed(good["commands"][0], run=["make", "check-pushes"])])
    assert known.refusals("planVerification", quiet) == ()


def test_one_command_for_each_directory() -> None:
    known = implementing()
    good = known.examples("planVerification")[0]
    refuses(known, "planVerification", changed(good, commands=good["commands"] * 2), "one command for each")


def test_only_verified_work_is_published() -> None:
    known = implementing().ran("verify", {"passed": False, "summary": "s", "failures": ["f"]})
    refuses(known, "classifyVerification", {"route": "publish", "reason": "r"}, "verification passed")
    refuses(known, "verify", {"passed": False, "summary": "s"}, "name what failed")


def test_publication() -> None:
    known = implementing()
    good = known.examples("publish")[0]
    refuses(known, "publish", changed(good, repositories=good["repositories"] * 2), "once")
    refuses(known, "publish", changed(good, repositories=[]), "item")
    lazy = [changed(good["repositories"][0], pushed=False)]
    refuses(known, "publish", changed(good, repositories=lazy), "pushed")


def test_review() -> None:
    """Exactly the selected jobs; the route is the most urgent of what was found."""
    known = implementing()
    assert value_of(implementing(), "selectReviewCommands")["route"] == "run"
    routes = set()
    for example in known.examples("assessReview"):
        assert known.refusals("assessReview", example) == ()
        routes.add(example["route"])
        wrong = "p2" if example["route"] == "clean" else "clean"
        refuses(known, "assessReview", changed(example, route=wrong), "the findings say")
    assert routes == {"command_error", "critical", "p2", "clean"}
    clean = known.examples("assessReview")[-1]
    refuses(known, "assessReview", changed(clean, reviews=[]), "exactly the selected jobs")
    refuses(known, "assessReview", changed(clean, reviews=clean["reviews"] * 2), "exactly the selected jobs")
    other = [changed(clean["reviews"][0], headRevision="other")]
    refuses(known, "assessReview", changed(clean, reviews=other), "exactly the selected jobs")
    assert value_of(known.ran("assessReview", clean), "selectReviewCommands")["route"] == "reuse"


def test_triage_of_critical_findings() -> None:
    known = implementing()
    kinds = [
        value_of(known.ran("assessReview", e), "triageReview")["route"]
        for e in known.examples("assessReview")
    ]
    assert kinds == ["fix", "fix", "redesign", "fix", "fix"]


def test_minor_findings_are_checked_in_the_same_repositories() -> None:
    known = implementing()
    for example in known.examples("verifyP2"):
        assert known.refusals("verifyP2", example) == ()
    refuses(known, "verifyP2", {"passed": True, "repositories": [], "reason": "r"}, "exactly the published")
    again = known.ran("verifyP2", known.examples("verifyP2")[0])
    assert [p["headRevision"] for p in published(again)] != [p["headRevision"] for p in published(known)]
    assert published(known.ran("verifyP2", None, "timed_out")) == published(known)


def test_ci() -> None:
    """Exactly the published revisions; the most urgent status decides; only two commands may wait."""
    known = implementing()
    routes = set()
    for example in known.examples("inspectCi"):
        assert known.refusals("inspectCi", example) == ()
        routes.add(example["route"])
        wrong = "green" if example["route"] != "green" else "failed"
        refuses(known, "inspectCi", changed(example, route=wrong), "the statuses say")
        refuses(known, "inspectCi", changed(example, repositories=[]), "exactly the published revisions")
    assert routes == {"failed", "pending", "unavailable", "green"}
    pending = known.examples("inspectCi")[2]
    row = pending["repositories"][0]
    for watch in (
        ["gh", "pr", "checks", "7"],
        ["gh", "pr", "merge", "7"],
        ["gh", "run", "watch", "7", "-R", "x"],
    ):
        bad = changed(pending, repositories=[changed(row, watch=watch)])
        refuses(known, "inspectCi", bad, "wait with")
    unwatched = changed(pending, repositories=[changed(row, watch=...)])
    refuses(known, "inspectCi", unwatched, "wait with")
    green = known.examples("inspectCi")[0]
    early = [changed(green["repositories"][0], watch=row["watch"])]
    refuses(known, "inspectCi", changed(green, repositories=early), "only a pending repository")


def test_waiting_for_ci() -> None:
    known = implementing()
    known = known.ran("inspectCi", known.examples("inspectCi")[2])
    for node in ("assessTrackedCi", "repairCiCommand"):
        for example in known.examples(node):
            assert known.refusals(node, example) == ()
    refuses(known, "assessTrackedCi", {"route": "green", "repositories": [], "reason": "r"}, "waited for")
    retry = known.examples("repairCiCommand")[0]
    refuses(known, "repairCiCommand", changed(retry, commands=[]), "one command for each")
    bad = [changed(retry["commands"][0], run=["curl", "-s", "x", "y"])]
    refuses(known, "repairCiCommand", changed(retry, commands=bad), "wait with")
    repaired = known.ran("repairCiCommand", retry)
    assert repaired.let("watches") == retry["commands"]


@pytest.mark.parametrize("merge", [False, True])
def test_delivery(merge: bool) -> None:
    """Every published repository, merged exactly when that is authorised."""
    known = implementing(merge)
    good, blocked = known.examples("finalizeDelivery")
    assert known.refusals("finalizeDelivery", good) == ()
    assert known.refusals("finalizeDelivery", blocked) == ()
    assert good["merged"] is merge
    other = [changed(good["results"][0], merged=not merge)]
    words = "every pull request is to be merged" if merge else "merging is not authorised"
    refuses(known, "finalizeDelivery", changed(good, merged=not merge, results=other), words)
    refuses(known, "finalizeDelivery", changed(good, results=[]), "exactly the published")
    refuses(known, "finalizeDelivery", changed(good, results=good["results"] * 2), "exactly the published")
    refuses(known, "finalizeDelivery", changed(good, headRevision="x"), "repeat the first result")


BLOCKERS: list[tuple[str, dict[str, Any], str]] = [
    ("continue", {"canProceed": False}, "can proceed, and how"),
    ("continue", {"nextAction": " "}, "can proceed, and how"),
    ("blocked", {"canProceed": True}, "blocks now"),
    ("blocked", {"blockingNow": False}, "blocks now"),
    ("blocked", {"outsideAuthority": False}, "blocks now"),
    ("blocked", {"nextAction": "go on"}, "no next action"),
    ("blocked", {"alternatives": []}, "alternatives"),
    ("blocked", {"evidence": []}, "alternatives"),
    ("blocked", {"evidence": ["e"] * 6}, "5"),
    ("blocked", {"reason": "r" * 501}, "500"),
]


@pytest.mark.parametrize(("route", "fields", "words"), BLOCKERS)
def test_a_blocker_is_doubted(route: str, fields: dict[str, Any], words: str) -> None:
    known = implementing()
    good = next(e for e in known.examples("challengeBlocker") if e["route"] == route)
    assert known.refusals("challengeBlocker", good) == ()
    refuses(known, "challengeBlocker", changed(good, **fields), words)


def timed_out(step: str) -> Known:
    """A run whose comments and CI are green when `step` runs out of time."""
    known = implementing().ran("inspectComments", {"route": "ci", "open": [], "reason": "r"})
    known = known.ran("inspectCi", known.examples("inspectCi")[0])
    return known.ran(step, None, "timed_out").ran("timeoutFallbackGuard")


STEPS = (
    "implement",
    "planVerification",
    "verify",
    "fix",
    "publish",
    "addressP2",
    "verifyP2",
    "inspectComments",
    "inspectCi",
    "opportunisticTest",
    "finalizeDelivery",
)


@pytest.mark.parametrize("step", STEPS)
def test_where_a_timeout_may_go_on(step: str) -> None:
    """Each of the eleven steps has its own table; `blocked` always stands in it."""
    known = timed_out(step)
    assert value_of(known, "timeoutFallbackGuard") == {"source": step}
    accepted = {
        e["route"] for e in known.examples("timeoutFallback") if not known.refusals("timeoutFallback", e)
    }
    assert "blocked" in accepted
    allowed = known.let("allowed")
    assert isinstance(allowed, list)
    assert accepted <= set(allowed)
    assert accepted - {"blocked"}, "there is always something to try"
    refuses(known, "timeoutFallback", {"route": "blocked", "evidence": [], "reason": "r"}, "item")


def test_every_route_of_a_timeout_is_possible_somewhere() -> None:
    accepted: set[str] = set()
    for step in STEPS:
        known = timed_out(step)
        accepted |= {
            e["route"] for e in known.examples("timeoutFallback") if not known.refusals("timeoutFallback", e)
        }
    node = compiled("autoimplement").nodes["timeoutFallback"]
    assert isinstance(node, AgentNode)
    assert isinstance(node.expected_output, SubmittedOutput)
    assert accepted >= {*STEPS, "blocked", "redesign"} - {"verify"}


def test_a_timeout_goes_nowhere_that_the_work_has_not_reached() -> None:
    early = started(compiled("autoimplement"), {"task": "t", "plan": 1})
    early = early.ran("implement", None, "timed_out").ran("timeoutFallbackGuard")
    refuses(early, "timeoutFallback", {"route": "publish", "evidence": ["e"], "reason": "r"}, "may go to")
    stale = implementing().ran("fix", {"summary": "s", "files": [], "open": []})
    stale = stale.ran("addressP2", None, "timed_out").ran("timeoutFallbackGuard")
    refuses(
        stale, "timeoutFallback", {"route": "verifyP2", "evidence": ["e"], "reason": "r"}, "has changed since"
    )
    waiting = implementing().ran("inspectComments", None, "timed_out").ran("timeoutFallbackGuard")
    refuses(
        waiting, "timeoutFallback", {"route": "inspectCi", "evidence": ["e"], "reason": "r"}, "comments come"
    )
    red = timed_out("finalizeDelivery")
    red = red.ran("inspectCi", red.examples("inspectCi")[1]).ran("finalizeDelivery", None, "timed_out")
    red = red.ran("timeoutFallbackGuard")
    refuses(
        red, "timeoutFallback", {"route": "finalizeDelivery", "evidence": ["e"], "reason": "r"}, "CI has not"
    )


def test_why_the_work_is_blocked() -> None:
    known = implementing()
    assert (
        value_of(known.ran("findPlan", {"route": "blocked", "reason": "no plan"}), "blocked")["reason"]
        == "no plan"
    )
    failed = known.ran("publish", None, "failed").ran("propagateSupportedFailure")
    assert value_of(failed, "blocked")["reason"] == "The step `publish` failed: broken"
    doubted = known.ran("classifyVerification", {"route": "blocked", "reason": "no account"})
    guard = value_of(doubted, "challengeBlockerGuard")
    assert guard == {"source": "classifyVerification", "reason": "no account"}


def milliseconds(known: Known, node: str) -> Any:
    action = known.snapshot.nodes[node]
    assert isinstance(action, ActionNode)
    assert isinstance(action.timeout_ms, list)
    return compile_expression(action.timeout_ms)(known)


@pytest.mark.parametrize(
    ("count", "at_once", "rounds"), [(1, 2, 1), (2, 2, 1), (3, 2, 2), (5, 1, 5), (8, 8, 1)]
)
def test_a_batch_has_time_for_all_its_rounds(count: int, at_once: int, rounds: int) -> None:
    """Rounds of the longest command, and ten seconds."""
    given = {"task": "t", "concurrency": {"verification": at_once}}
    known = started(compiled("autoimplement"), given)
    commands = [{"cwd": f"/{n}", "run": ["x"], "timeoutMinutes": n + 1, "purpose": "p"} for n in range(count)]
    known = known.ran("planVerification", {"commands": commands, "reason": "r"})
    assert milliseconds(known, "runVerification") == rounds * count * 60_000 + 10_000


# --- monitor ------------------------------------------------------------------------------------------------


def looking() -> Known:
    return started(compiled("monitor"), {"task": "t", "maxChecks": 3}).ran("prepare")


def test_every_example_of_a_look_is_accepted() -> None:
    known = looking()
    examples = known.examples("observe")
    assert [known.refusals("observe", e) for e in examples] == [()] * len(examples)
    kinds = {(e["route"], e.get("action", {}).get("kind")) for e in examples}
    assert kinds == {
        ("wait", None),
        ("stop", None),
        ("act", "advance"),
        ("act", "recover"),
        ("act", "repair"),
    }


LOOKS: list[tuple[int, dict[str, Any], str]] = [
    (0, {"workState": "idle"}, "wait only"),
    (0, {"goalState": "complete"}, "stop: the goal is complete"),
    (0, {"goalState": "blocked"}, "stop: the goal is blocked"),
    (2, {"workState": "running"}, "act only"),
    (2, {"action": ...}, "needs an action"),
    (2, {"targetStateId": "other"}, "for the state that was observed"),
    (0, {"report": "r" * 4_001}, "4000"),
    (0, {"unknown": 1}, "no such field"),
]


@pytest.mark.parametrize(("example", "fields", "words"), LOOKS)
def test_a_look_that_contradicts_itself(example: int, fields: dict[str, Any], words: str) -> None:
    known = looking()
    refuses(known, "observe", changed(known.examples("observe")[example], **fields), words)


def test_an_action_only_with_act() -> None:
    known = looking()
    wait, act = known.examples("observe")[0], known.examples("observe")[2]
    refuses(known, "observe", changed(wait, action=act["action"]), "only `act` carries")


def test_an_action_costs_only_what_is_allowed() -> None:
    known = looking()
    act = known.examples("observe")[2]
    for cost in (
        {"paidAction": True, "status": "missing", "evidence": "e"},
        {"paidAction": True, "status": "exceeded", "evidence": "e"},
        {"paidAction": True, "status": "not-applicable", "evidence": "e"},
        {"paidAction": False, "status": "within-limit", "evidence": "e"},
    ):
        assert known.refusals("observe", changed(act, action=changed(act["action"], cost=cost)))
    within = {"paidAction": True, "status": "within-limit", "evidence": "e"}
    assert known.refusals("observe", changed(act, action=changed(act["action"], cost=within))) == ()


def test_an_action_needs_authority() -> None:
    known = looking()
    act = known.examples("observe")[2]
    authority = act["action"]["authority"]
    for wrong in (changed(authority, status="outside"), changed(authority, allowedMutations=[])):
        assert known.refusals("observe", changed(act, action=changed(act["action"], authority=wrong)))


def test_shared_code_is_not_repaired_under_running_workers() -> None:
    known = looking()
    repair = known.examples("observe")[4]
    defect = {"sharedCodeOrDataDefect": True, "paidWorkers": "running", "evidence": "e"}
    bad = changed(repair, action=changed(repair["action"], defect=defect))
    refuses(known, "observe", bad, "stop the paid workers")
    stopped = changed(bad, action=changed(bad["action"], defect=changed(defect, paidWorkers="stopped")))
    assert known.refusals("observe", stopped) == ()


def test_a_track_has_one_entry() -> None:
    known = looking()
    wait = known.examples("observe")[0]
    refuses(known, "observe", changed(wait, progress=wait["progress"] * 2), "one entry")


def test_where_a_monitor_goes() -> None:
    known = looking()
    routes = []
    for example in known.examples("observe"):
        seen = known.ran("observe", example).ran("guard")
        routes.append(value_of(seen, "decide")["route"])
    assert routes == ["wait", "stop", "advance", "recover", "repair"]


def test_a_monitor_stops_at_its_last_look() -> None:
    known = looking()
    wait = known.examples("observe")[0]
    for _ in range(3):
        known = known.ran("observe", wait).ran("guard")
    assert value_of(known, "decide") == {"route": "stop", "reason": "Reached the 3-observation safety limit."}


def test_the_same_repair_is_not_made_twice() -> None:
    known = looking()
    repair = known.examples("observe")[4]
    known = known.ran("observe", repair).ran("guard")
    assert value_of(known, "decide")["route"] == "repair"
    known.exits["implementation", "completed"] = {"delivery": {}}
    known = known.ran("repairComplete").ran("observe", repair).ran("guard")
    assert value_of(known, "guard") == {"repeated": True}
    assert value_of(known, "decide")["route"] == "stop"
    other = changed(repair, action=changed(repair["action"], failureId="another"))
    assert value_of(known.ran("observe", other), "guard") == {"repeated": False}


def test_an_action_keeps_its_ids() -> None:
    known = looking()
    known = known.ran("observe", known.examples("observe")[2])
    (good,) = known.examples("act")
    assert known.refusals("act", good) == ()
    refuses(known, "act", changed(good, failureId="x"), "keep the failure id")
    refuses(known, "act", changed(good, targetStateId="x"), "keep the target state id")
    refuses(known, "act", changed(good, summary="s" * 4_001), "4000")


# --- sanity-check -------------------------------------------------------------------------------------------


def reviewed(areas: Any) -> bool:
    """Whether the reviewers may answer this."""
    review = compiled("sanity-check").nodes["review"]
    assert isinstance(review, ActionNode)
    answer: Any = {"areas": areas, "reviewers": 1}
    return isinstance(accept(review.returns, answer), Accepted)


def test_each_area_is_reviewed_exactly_once() -> None:
    unclear: dict[str, Any] = {"assessment": "unclear", "summary": "s", "evidence": []}
    areas: dict[str, Any] = dict.fromkeys(("necessity", "duplication", "contracts", "scope_tests"), unclear)
    assert reviewed(areas)
    for wrong in (
        changed(areas, necessity=...),
        changed(areas, style=unclear),
        changed(areas, contracts=changed(unclear, assessment="pass")),
        changed(areas, contracts=changed(unclear, assessment="concern")),
        changed(areas, contracts=changed(unclear, assessment="fine", evidence=["e"])),
        changed(areas, contracts=changed(unclear, evidence=["e"] * 41)),
    ):
        assert not reviewed(wrong)


@pytest.mark.parametrize(("mode", "reviewers"), [("serial", 1), ("parallel", 4)])
def test_one_reviewer_or_four(mode: str, reviewers: int) -> None:
    known = started(compiled("sanity-check"), {"mode": mode})
    areas = value_of(known, "prepare")["reviewers"]
    assert len(areas) == reviewers
    assert sorted(area for each in areas for area in each) == [
        "contracts",
        "duplication",
        "necessity",
        "scope_tests",
    ]
