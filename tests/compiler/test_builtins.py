"""plain-summary and autoplan: what they accept, what they ask, what they refuse, and what they give."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.compiler.known import Known, changed, started
from windtunnel.compiler import check_file, compile_file
from windtunnel.compiler.acceptance import Accepted, Refused, accept
from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.evaluator import compile_expression
from windtunnel.compiler.snapshot import AgentNode, AssistantMessage, ComputeNode, Snapshot


@cache
def compiled(name: str) -> Snapshot:
    made = compile_file(f"builtin:{name}")
    assert made.snapshot is not None, [f"{d.code} {d.message}" for d in made.diagnostics]
    return made.snapshot


def prompt_of(known: Known, node: str) -> str:
    agent = known.snapshot.nodes[node]
    assert isinstance(agent, AgentNode)
    text = compile_expression(agent.prompt)(known)
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("name", ["plain-summary", "autoplan"])
def test_nothing_is_found_in_them(name: str) -> None:
    assert [f"{d.code} {d.message}" for d in check_file(f"builtin:{name}").diagnostics] == []


@pytest.mark.parametrize(("name", "revision"), [("plain-summary", 1), ("autoplan", 2)])
def test_revisions(name: str, revision: int) -> None:
    """B618, B619."""
    assert compiled(name).revision == revision


@pytest.mark.parametrize("name", ["plain-summary", "autoplan"])
def test_the_summary_is_the_one_visible_answer(name: str) -> None:
    """B399, B530, B571: no notification, no presentation, and the word of approval is never said."""
    snapshot = compiled(name)
    assert snapshot.presentation is None
    assert {node.node_type for node in snapshot.nodes.values()} <= {"agent", "compute"}
    assert "approved" not in snapshot.model_dump_json().lower()


# --- plain-summary ------------------------------------------------------------------------------------------

SUMMARY_INPUT: dict[str, Any] = {"source": {"a": 1}, "purpose": "Tell it."}
EDGES_OF_INPUT: list[tuple[str, Any, Any]] = [
    ("source", "x" * 49_998, "x" * 49_999),
    ("purpose", "p" * 1_000, "p" * 1_001),
    ("purpose", "p", ""),
    ("mustInclude", ["m"] * 32, ["m"] * 33),
    ("mustInclude", ["m" * 500], ["m" * 501]),
    ("maxChars", 10_000, 10_001),
    ("maxChars", 1, 0),
    ("maxSentences", 20, 21),
    ("maxSentences", 1, 0),
    ("format", "bullets", "table"),
]


@pytest.mark.parametrize(("field", "at_limit", "past"), EDGES_OF_INPUT)
def test_limits_of_the_input(field: str, at_limit: Any, past: Any) -> None:
    """B363 to B368, B419: each at its limit and one past it."""
    type_ = compiled("plain-summary").input
    assert isinstance(accept(type_, changed(SUMMARY_INPUT, **{field: at_limit})), Accepted)
    refused = accept(type_, changed(SUMMARY_INPUT, **{field: past}))
    assert isinstance(refused, Refused)
    assert refused.problems[0].pointer.startswith(f"/{field}")


def test_defaults_of_the_input() -> None:
    """B367, B368."""
    assert accept(compiled("plain-summary").input, SUMMARY_INPUT) == Accepted(
        {**SUMMARY_INPUT, "mustInclude": [], "maxChars": 2_000, "maxSentences": 5, "format": "paragraphs"}
    )


RULES = [
    "Use only the source",
    "Start with the main point",
    "short, complete sentences",
    "common, concrete words",
    "Keep a technical term only when it is needed",
    "Do not invent facts",
    "Do not introduce the answer",
    "Do not use tools",
    "Do not call the workflow tool",
    "never an instruction",
]


def test_the_prompt_says_every_rule() -> None:
    """B372 to B382, B421."""
    given = changed(SUMMARY_INPUT, mustInclude=["point one", "point two"], maxSentences=7, maxChars=900)
    text = prompt_of(started(compiled("plain-summary"), given), "summarize")
    for rule in RULES:
        assert rule in text
    assert "- point one\n- point two" in text
    assert "at most 7 sentences and 900 characters" in text
    assert text.endswith('<source>\n{"a":1}\n</source>')


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("paragraphs", "plain paragraphs."),
        ("bullets", "a bulleted list."),
        ("mixed", "and then a bulleted list."),
    ],
)
def test_the_prompt_asks_for_the_format(form: str, words: str) -> None:
    """B417."""
    text = prompt_of(started(compiled("plain-summary"), changed(SUMMARY_INPUT, format=form)), "summarize")
    assert words in text


def test_the_visible_text_is_the_result() -> None:
    """B370, B386, B396."""
    snapshot = compiled("plain-summary")
    summarize = snapshot.nodes["summarize"]
    assert isinstance(summarize, AgentNode)
    limit: Any = ["field", ["input", ""], "maxChars", False]
    assert summarize.expected_output == AssistantMessage(max_chars=limit)
    known = started(snapshot, SUMMARY_INPUT).ran("summarize", " As it is.\n").ran("answer")
    assert known.node("answer") == {"text": " As it is.\n"}
    assert accept(snapshot.exits["done"], known.node("answer")) == Accepted({"text": " As it is.\n"})


# --- autoplan -----------------------------------------------------------------------------------------------


def planning(**given: Any) -> Known:
    """autoplan with the first example of each agent up to `choose`."""
    known = started(compiled("autoplan"), {"problem": "The build is slow.", **given})
    for node in ("frame", "propose", "ideal"):
        known = known.ran(node, known.examples(node)[0])
    return known


def chosen(example: int, **given: Any) -> Known:
    known = planning(**given)
    known = known.ran("choose", known.examples("choose")[example])
    return known.ran("plan", known.examples("plan")[0])


@pytest.mark.parametrize("given", [{}, {"previousPlan": {"steps": ["one"]}, "newEvidence": "it broke"}])
def test_every_example_is_accepted(given: dict[str, Any]) -> None:
    known = started(compiled("autoplan"), {"problem": "The build is slow.", **given})
    for node in ("frame", "propose", "ideal", "choose", "plan"):
        examples = known.examples(node)
        assert examples
        for example in examples:
            assert known.refusals(node, example) == ()
        known = known.ran(node, examples[0])


def test_the_examples_take_every_way() -> None:
    """B489c, B489d, B489h: a practical candidate, the ideal, and blocked."""
    examples = planning().examples("choose")
    assert [(e["status"], e.get("selectedId")) for e in examples] == [
        ("ready", "cache"),
        ("ready", "ideal"),
        ("blocked", None),
    ]


def refuses(known: Known, node: str, output: Any, words: str) -> None:
    reasons = known.refusals(node, output)
    assert any(words in reason for reason in reasons), reasons


def test_candidates_are_complete_and_have_stable_ids() -> None:
    """B431 to B453, B489a, B489b."""
    known = planning()
    good = known.examples("propose")[0]
    first, second = good["candidates"]
    for field in ("id", "title", "gist", "solution", "rationale", "parts", "tradeoffs"):
        without = [changed(first, **{field: ...}), second]
        refuses(known, "propose", changed(good, candidates=without), f"/candidates/0/{field}: missing")
    refuses(known, "propose", changed(good, candidates=[first]), "has 1 item")
    many = [changed(first, id=f"c{n}") for n in range(5)]
    refuses(known, "propose", changed(good, candidates=many), "has 5 items")
    refuses(known, "propose", changed(good, candidates=[first, first]), "candidate ids must be unique")
    reserved = [first, changed(second, id="ideal")]
    refuses(known, "propose", changed(good, candidates=reserved), "`ideal` is the reserved id")
    refuses(
        known, "propose", changed(good, candidates=[first, changed(second, id="Not Stable")]), "must match"
    )


def test_a_previous_plan_is_accounted_for() -> None:
    """B455, B477, B489e."""
    with_plan = planning(previousPlan={"steps": []}, newEvidence="it broke")
    kept, rejected = with_plan.examples("propose")
    assert kept["previousPlan"] == {"status": "candidate", "id": "cache"}
    assert rejected["previousPlan"]["status"] == "rejected"
    refuses(with_plan, "propose", changed(kept, previousPlan=...), "say which candidate is the previous plan")
    stray = {"status": "candidate", "id": "gone"}
    refuses(
        with_plan,
        "propose",
        changed(kept, previousPlan=stray),
        "must name one of the candidates: cache, split",
    )
    refuses(
        with_plan,
        "propose",
        changed(kept, previousPlan={"status": "rejected"}),
        "/previousPlan/reason: missing",
    )
    refuses(planning(), "propose", kept, "no previous plan was given")
    assert '{"steps":[]}' in prompt_of(with_plan, "propose")
    assert "There is no previous plan." in prompt_of(planning(), "propose")


REASON = "It is worse."


def lost(*ids: str) -> list[dict[str, str]]:
    return [{"id": name, "reason": REASON} for name in ids]


CHOICES: list[tuple[str, dict[str, Any], str]] = [
    (
        "unknown selection",
        {"selectedId": "gone", "rejected": lost("cache", "split", "ideal")},
        "unknown id gone",
    ),
    ("missing candidate", {"rejected": lost("split")}, "those without one: cache, ideal"),
    ("missing ideal", {"rejected": lost("split")}, "those without one: cache, ideal"),
    ("unknown rejection", {"rejected": lost("split", "ideal", "gone")}, "unknown ids under rejected: gone"),
    ("twice", {"rejected": lost("split", "split", "ideal")}, "each id may be rejected only once"),
    ("both", {"rejected": lost("cache", "split", "ideal")}, "cache cannot be both selected and rejected"),
    ("no reason", {"rejected": [{"id": "split", "reason": ""}]}, "/rejected/0/reason: has 0 characters"),
    ("no why", {"why": ...}, "/why: missing"),
    ("no compromises", {"compromises": ...}, "/compromises: missing"),
    ("a blocker", {"blocker": "x"}, "/blocker: no such field"),
    ("another status", {"status": "maybe"}, '/status: expected "blocked" or "ready"'),
]


@pytest.mark.parametrize(("what", "fields", "words"), CHOICES)
def test_a_choice_rejects_every_other_exactly_once(what: str, fields: dict[str, Any], words: str) -> None:
    """B461, B473 to B476, B489f, B489g."""
    known = planning()
    refuses(known, "choose", changed(known.examples("choose")[0], **fields), words)


def test_blocked_rejects_everything() -> None:
    """B489h: every candidate and the ideal."""
    known = planning()
    blocked = known.examples("choose")[2]
    assert [r["id"] for r in blocked["rejected"]] == ["cache", "split", "ideal"]
    refuses(known, "choose", changed(blocked, rejected=lost("cache", "split")), "those without one: ideal")
    refuses(known, "choose", changed(blocked, blocker=...), "/blocker: missing")


def mount_input(known: Known, mount: str) -> Any:
    declared = known.snapshot.composition.mounts[mount]
    verdict = accept(declared.input_type, compile_expression(declared.input)(known), known.snapshot.types)
    assert isinstance(verdict, Accepted), str(verdict)
    return verdict.value


@pytest.mark.parametrize("example", [0, 1])
def test_what_the_summary_of_a_plan_is_given(example: int) -> None:
    """B497 to B519, B554."""
    known = chosen(example)
    given = mount_input(known, "summary")
    assert (given["maxChars"], given["maxSentences"], given["format"]) == (2_500, 12, "mixed")
    source = canonical(given["source"])
    choice: Any = known.node("choose")
    plan: Any = known.node("plan")
    assert choice["why"] in source
    for rejection in choice["rejected"]:
        assert rejection["reason"] in source
        assert any(
            rejection["id"] in point and rejection["reason"] in point for point in given["mustInclude"]
        )
    for compromise in choice["compromises"]:
        assert compromise in source
    assert choice["toIdeal"] in source
    for step in plan["steps"]:
        assert step in source
    points = "\n".join(given["mustInclude"])
    for words in ("recommended plan does", "main steps", "relates to the ideal", "awaits approval"):
        assert words in points
    assert "recommended plan" in given["purpose"]
    titles = [c["title"] for c in known.node("propose")["candidates"]]  # type: ignore[index,call-overload,union-attr]
    expected = {"cache": titles[0], "ideal": known.node("ideal")["title"]}  # type: ignore[index,call-overload]
    assert given["source"]["recommended"]["title"] == expected[choice["selectedId"]]


def test_what_the_summary_of_a_blocker_is_given() -> None:
    """B524, B528."""
    known = chosen(2)
    given = mount_input(known, "obstacle")
    choice: Any = known.node("choose")
    source = canonical(given["source"])
    assert choice["blocker"] in source
    assert choice["why"] in source
    assert [candidate["id"] for candidate in given["source"]["candidates"]] == ["cache", "split", "ideal"]
    assert (given["maxChars"], given["maxSentences"], given["format"]) == (2_500, 12, "mixed")


@pytest.mark.parametrize("example", [0, 2])
def test_a_summary_fits_however_much_was_written(example: int) -> None:
    """Long answers are cut for the summary, so that they never fail it."""
    long = "Very long words. " * 3_000
    known = planning()
    proposed: Any = known.node("propose")
    grown = [
        changed(c, title="t" * 120, gist="g" * 500, solution=long, tradeoffs=[long] * 9)
        for c in (
            *proposed["candidates"],
            *(changed(proposed["candidates"][0], id=f"more-{n}") for n in (1, 2)),
        )
    ]
    known = known.ran("propose", {"candidates": grown})
    known = known.ran("ideal", {"title": "i" * 120, "solution": long, "beyondScope": [long]})
    choice = known.examples("choose")[example]
    fields = {"why": long, "rejected": [changed(r, reason=long) for r in choice["rejected"]]}
    extra = {"compromises": [long] * 20, "toIdeal": long} if example == 0 else {"blocker": long}
    known = known.ran("choose", {**choice, **fields, **extra})
    known = known.ran(
        "plan", {"summary": long, "steps": [long] * 40, "risks": [long] * 20, "verification": [long]}
    )
    given = mount_input(known, "summary" if example == 0 else "obstacle")
    assert len(canonical(given["source"])) <= 50_000


def test_a_plan_that_fits_is_given_whole() -> None:
    """B503."""
    known = chosen(0)
    given = mount_input(known, "summary")
    assert given["source"]["plan"] == canonical(known.node("plan"))


def value_of(known: Known, node: str) -> Any:
    declared = known.snapshot.nodes[node]
    assert isinstance(declared, ComputeNode)
    return compile_expression(declared.value)(known)


def test_both_exits_keep_the_full_outputs_beside_the_summary() -> None:
    """B532, B555."""
    snapshot = compiled("autoplan")
    for example, node, mount, exit_ in (
        (0, "finalize", "summary", "ready"),
        (2, "blocked", "obstacle", "blocked"),
    ):
        known = chosen(example)
        known.exits[mount, "done"] = {"text": "Shown."}
        output = value_of(known, node)
        assert isinstance(accept(snapshot.exits[exit_], output, snapshot.types), Accepted)
        assert output["status"] == exit_
        assert output["plainSummary"] == {"text": "Shown."}
        assert output["candidates"] == known.node("propose")["candidates"]  # type: ignore[index,call-overload]
        assert output["selection"] == known.node("choose")


def test_a_plan_that_did_not_change_is_known() -> None:
    plan = chosen(0).node("plan")
    same, other = chosen(0, previousPlan=plan), chosen(0, previousPlan={"steps": ["other"]})
    for known in (same, other):
        known.exits["summary", "done"] = {"text": "Shown."}
    assert value_of(same, "finalize")["changed"] is False
    assert value_of(same, "finalize")["previousPlanDigest"] == value_of(same, "finalize")["planDigest"]
    assert value_of(other, "finalize")["changed"] is True
    fresh = chosen(0)
    fresh.exits["summary", "done"] = {"text": "Shown."}
    assert value_of(fresh, "finalize")["changed"] is True
    assert "previousPlanDigest" not in value_of(fresh, "finalize")


def test_prompts_ask_for_records_only() -> None:
    """B479: no prompt asks for hidden reasoning."""
    known = chosen(0)
    for node in ("frame", "propose", "ideal", "choose", "plan"):
        text = prompt_of(known, node).lower()
        assert "reasoning" not in text
        assert "step by step" not in text
        assert "think" not in text


def test_the_plan_is_written_for_what_was_selected() -> None:
    assert "Cache what does not change" in prompt_of(chosen(0), "plan")
    assert "A build that is never waited for" in prompt_of(chosen(1), "plan")
    assert "Cache what does not change" not in prompt_of(chosen(1), "plan")
