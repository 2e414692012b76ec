"""What a change means to a run depends on where it stands; in doubt the worst is assumed, and said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.compiler.test_compatibility import compiled, parent
from windtunnel.compiler import standing
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.compiler.snapshotfile import snapshot_json
from windtunnel.compiler.standing import OVER, Verdict, judge, read_runs

FLOW = """language 1
workflow review {
  revision 1
  input { topic: text }
  exits { done: { text: text }, dropped: { why: text } }
  let wish = "About ${input.topic}."
  agent write {
    prompt "${wish}"
    expectedOutput { text: text }
  }
  decision ask {
    title "Publish?"
    show write.text
    choices {
      publish "Publish"
      later "Later"
      drop "Drop"
    }
    expires 2d
  }
  action send {
    call "blog.post" with { text: write.text }
    returns { url: text }
    idempotencyKey "post-${input.topic}"
  }
  agent tell {
    prompt "Tell ${send.url}"
    expectedOutput { text: text }
  }
  compute dropped = { why: "not published" }
  edges {
    start -> write -> ask
    ask.publish -> send -> tell -> exit done
    ask.later -> write limit 3 then -> dropped
    ask.drop -> dropped
    ask on timed_out -> dropped
    dropped -> exit dropped
  }
}
"""
OLD = compiled(FLOW)


def changed(*pairs: str) -> Snapshot:
    """The flow with some texts replaced."""
    text = FLOW
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return compiled(text)


def states(*runs: dict[str, Any], old: Snapshot = OLD) -> str:
    """A file of run states."""
    whole = [
        {
            "run": f"run-{number}",
            "workflow": old.workflow,
            "revision": 1,
            "digest": old.digest,
            "status": "running",
        }
        | run
        for number, run in enumerate(runs, 1)
    ]
    snapshots = {old.digest: snapshot_json(old)}
    return json.dumps({"schema": "windtunnel.runs.v1", "snapshots": snapshots, "runs": whole})


def verdict(new: Snapshot, node: str = "", phase: str | None = "started", **more: Any) -> Verdict:
    """The verdict for a run that stands at a node, or that has not started."""
    at = [{"node": node, **({} if phase is None else {"phase": phase}), **more}] if node else []
    found = read_runs(states({"at": at}))
    assert not isinstance(found, str), found
    (only,) = judge(*found, new, {}).verdicts
    return only


def told(verdict: Verdict) -> tuple[str, list[tuple[str, bool]]]:
    """The kind, and each reason's code with whether it is met right now."""
    return verdict.kind, [(reason.code, reason.bites) for reason in verdict.reasons]


def test_the_same_behaviour_resumes() -> None:
    """A53, W17: labels and comments change nothing; all else is no resume, whatever it is."""
    assert told(verdict(changed("agent write", 'agent write "writing"'), "write")) == ("same", [])
    assert verdict(changed("not published", "no"), "tell").kind == "untouched"


def test_a_change_behind_a_run_does_not_touch_it() -> None:
    """A prompt that is never asked again, read through a `let`."""
    new = changed("About", "On")
    assert told(verdict(new, "tell")) == ("untouched", [])
    assert told(verdict(new, "dropped")) == ("untouched", [])
    assert told(verdict(new, "ask", "asked")) == ("restart", [("WT1053", False)])
    assert told(verdict(new)) == ("restart", [("WT1053", False)])
    assert told(verdict(new, "ask", "ended", outcome="ok", way="publish")) == ("untouched", [])
    assert told(verdict(new, "ask", "ended", outcome="ok", way="later")) == ("restart", [("WT1053", False)])


def test_a_removed_edge_matters_only_to_a_run_that_can_still_come_to_it() -> None:
    new = changed("    ask on timed_out -> dropped\n", "")
    assert told(verdict(new, "write")) == ("restart", [("WT1046", False)])
    assert told(verdict(new, "send")) == ("untouched", [])
    assert told(verdict(new, "ask", "ended", outcome="ok", way="publish")) == ("untouched", [])
    assert told(verdict(new, "ask", "ended", outcome="timed_out")) == ("restart", [("WT1046", False)])


def test_a_removed_choice_bites_only_a_run_that_waits_on_it() -> None:
    """Another one that can come to the decision would be asked the new question."""
    new = changed('      later "Later"\n', "", "    ask.later -> write limit 3 then -> dropped\n", "")
    assert told(verdict(new, "ask", "asked")) == ("restart", [("WT1056", True)])
    assert told(verdict(new, "write")) == ("restart", [("WT1056", False)])
    assert told(verdict(new, "tell")) == ("untouched", [])
    (reason,) = verdict(new, "ask", "asked").reasons
    assert "old definition" in reason.todo


def test_a_changed_completion_mode_bites_only_while_the_prompt_is_out() -> None:
    new = changed(
        'Tell ${send.url}"\n    expectedOutput { text: text }',
        'Tell ${send.url}"\n    expectedOutput assistant',
        "tell -> exit done",
        "tell -> told -> exit done",
        "  compute dropped",
        "  compute told = { text: tell }\n  compute dropped",
    )
    assert ("WT1050", True) in told(verdict(new, "tell", "prompt-out"))[1]
    assert ("WT1050", False) in told(verdict(new, "tell", "started"))[1]
    assert ("WT1050", False) in told(verdict(new, "send", "effect-started"))[1]


def test_a_changed_key_bites_while_the_effect_is_unsettled() -> None:
    new = changed("post-", "blog-")
    assert told(verdict(new, "send", "effect-started")) == ("restart", [("WT1055", True)])
    assert "old key" in verdict(new, "send", "effect-started").reasons[0].todo
    assert told(verdict(new, "send", "ended", outcome="ok")) == ("untouched", [])
    assert told(verdict(new, "write")) == ("restart", [("WT1055", False)])


def test_what_is_not_known_is_the_worst_and_is_said() -> None:
    """A phase that is missing, a node nobody knows, a definition that is not there."""
    found = verdict(changed("post-", "blog-"), "send", None)
    assert told(found) == ("restart", [("WT1055", True)])
    assert found.unsure == ("how far `send` is is not said",)
    lost = verdict(changed("post-", "blog-"), "nobody")
    assert (lost.kind, lost.reasons) == ("restart", ())
    assert "`nobody`" in lost.unsure[0]
    unknown = read_runs(states({"digest": "sha256:0"}))
    assert not isinstance(unknown, str)
    (verdict_,) = judge(*unknown, OLD, {}).verdicts
    assert verdict_.kind == "restart"
    assert verdict_.unsure


def test_the_nearest_change_comes_first_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    new = changed("About", "On", "Tell", "Say", "post-", "blog-", "not published", "no")
    assert [reason.code for reason in verdict(new).reasons] == ["WT1053", "WT1053", "WT1055", "WT1011"]
    monkeypatch.setattr(standing, "MAX_REASONS", 2)
    assert (len(verdict(new).reasons), verdict(new).more) == (2, 2)


def test_all_runs_meet_a_change_of_the_whole() -> None:
    """`maxSteps` counts steps that were taken long ago."""
    new = changed("revision 1", "revision 1\n  maxSteps 20")
    assert told(verdict(new, "tell")) == ("restart", [("WT1060", False)])
    callers = changed(
        "input { topic: text }",
        "input { topic: text, tone?: text }",
        "About ${input.topic}.",
        'About ${input.topic}. ${input.tone ?? ""}',
    )
    assert told(verdict(callers, "tell")) == ("untouched", [])


def test_runs_that_are_over_or_of_others_are_counted() -> None:
    over = [{"status": status} for status in OVER]
    found = read_runs(states(*over, {"status": "waiting"}, {"workflow": "other"}))
    assert not isinstance(found, str)
    judged = judge(*found, OLD, {})
    assert (len(judged.verdicts), judged.over, judged.others) == (1, len(OVER), 1)


def test_runs_inside_includes_and_declared_renames() -> None:
    """A child's change is met where the run is inside it; a rename is followed from the old name."""
    old, new = parent(), parent("write", "draft")
    runs = (
        {"at": [{"node": "two/write", "phase": "prompt-out"}]},
        {"at": [{"node": "done", "phase": "started"}]},
    )
    found = read_runs(states(*runs, old=old))
    assert not isinstance(found, str)
    names = {old.digest: {"one/write": "one/draft", "two/write": "two/draft"}}
    first, second = judge(*found, new, names).verdicts
    assert told(first) == ("restart", [("WT1044", False)])
    assert first.reasons[0].place == "two/draft"
    assert second.kind == "untouched"
    undeclared, _ = judge(*found, new, {}).verdicts
    assert ("WT1041", "two/write") in {(reason.code, reason.place) for reason in undeclared.reasons}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "input should be"),
        ('{"schema": "windtunnel.runs.v2", "runs": []}', "/schema"),
        ('{"schema": "windtunnel.runs.v1"}', "/runs"),
        ('{"schema": "windtunnel.runs.v1", "runs": [{"run": 1}]}', "/runs/0"),
        ('{"schema": "windtunnel.runs.v1", "runs": [], "more": 1}', "/more"),
        ('{"schema": "windtunnel.runs.v1", "runs": [], "snapshots": {"x": {}}}', "/snapshots/x"),
    ],
)
def test_a_file_that_is_none(text: str, said: str) -> None:
    """Every kind of damage is named with its place."""
    assert said in str(read_runs(text))


def test_an_edited_snapshot_is_refused() -> None:
    """What is compared must be what the run was started with."""
    text = states().replace("not published", "published")
    assert "digests" in str(read_runs(text))


def test_a_file_of_runs_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "MAX_RUNS", 2)
    assert not isinstance(read_runs(states({}, {})), str)
    assert read_runs(states({}, {}, {})) == "more than 2 runs"


def test_a_run_that_is_about_to_enter_an_include() -> None:
    """It has no node yet, and all that the include can do lies before it."""
    old, new = parent(), parent("About", "On")
    for at, kind in (("two", "restart"), ("one", "restart"), ("done", "untouched")):
        found = read_runs(states({"at": [{"node": at, "phase": "started"}]}, old=old))
        assert not isinstance(found, str)
        assert judge(*found, new, {}).verdicts[0].kind == kind
    left = read_runs(
        states({"at": [{"node": "two", "phase": "ended", "outcome": "ok", "way": "done"}]}, old=old)
    )
    assert not isinstance(left, str)
    assert judge(*left, new, {}).verdicts[0].kind == "untouched"
