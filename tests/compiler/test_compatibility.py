"""Two versions compared: every rule fires on its change, nothing goes unsaid, one cause is said once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.conftest import CASES
from windtunnel.compiler.changes import ORDER, Rank, grouped, heaviest, rank_of
from windtunnel.compiler.compatibility import compare
from windtunnel.compiler.edgechanges import edge_changes
from windtunnel.compiler.explanation import texts_of
from windtunnel.compiler.nodechanges import _ELSEWHERE, FIELDS
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.renaming import renamed
from windtunnel.compiler.snapshot import (
    ActionNode,
    AgentNode,
    ArmModel,
    CheckpointNode,
    ComputeNode,
    DecisionNode,
    EdgeModel,
    LimitModel,
    MountModel,
    NotifyNode,
    ShellNode,
    Snapshot,
)
from windtunnel.dsl.codes import CODES

BUILT_IN = ("autoimplement", "autoplan", "monitor", "plain-summary", "plan-approval", "plan-change")


def compiled(text: str, **others: str) -> Snapshot:
    """The snapshot of a text; `others` are files that it imports."""
    texts = {"main.flow": text, **{f"{name}.flow": other for name, other in others.items()}}
    made = compile_workflow(MemoryReader(texts), "main.flow")
    assert made.snapshot is not None, made.diagnostics
    return made.snapshot


def built_in(name: str) -> Snapshot:
    """The snapshot of a built-in."""
    made = compile_workflow(MemoryReader({}), f"builtin:{name}")
    assert made.snapshot is not None
    return made.snapshot


CHILD = """language 1
workflow child {
  revision 1
  input { topic: text, limit: int(1..9) = 3 }
  exits { done: { text: text }, dropped: {} }
  let wish = "About ${input.topic}"
  agent write "writing" {
    prompt "${wish}, please."
    expectedOutput { text: text, mark: "good" | "bad" }
  }
  compute done = { text: write.text }
  compute dropped = {}
  edges {
    start -> write -> match .mark {
      "good" -> done
      "bad" -> write limit input.limit then -> dropped
    }
    done -> exit done
    dropped -> exit dropped
  }
}
"""
PARENT = """language 1
import child from "./child.flow"
workflow parent {
  revision 1
  input { topic: text }
  exits { done: { text: text } }
  include one = child { topic: input.topic }
  include two = child { topic: one.done.text, limit: 2 }
  compute done = { text: two.done?.text ?? one.done?.text ?? "" }
  edges {
    start -> one
    one.done -> two
    one.dropped -> done
    two.done -> done
    two.dropped -> done
    done -> exit done
  }
}
"""


def parent(*pairs: str) -> Snapshot:
    """The parent over a child with some texts replaced."""
    child = CHILD
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in child
        child = child.replace(old, new)
    return compiled(PARENT, child=child)


def test_the_same_is_the_same() -> None:
    """B32: comments, layout, order and revisions change nothing."""
    moved = CHILD.replace("revision 1", "# once more\n  revision 7").replace(
        "  compute done = { text: write.text }\n  compute dropped = {}\n",
        "  compute dropped = {}\n\n\n  compute done = {\n    text: write.text\n  }\n",
    )
    assert compare(compiled(CHILD), compiled(moved)) == ()


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_does_not_differ_from_itself(name: str) -> None:
    snapshot = built_in(name)
    assert compare(snapshot, snapshot) == ()


def test_built_ins_differ_from_each_other_without_an_end() -> None:
    """Two workflows that share nothing are compared like any other two, both ways."""
    a, b = built_in("monitor"), built_in("plan-change")
    assert {change.code for change in compare(a, b)} > {"WT1030", "WT1041", "WT1042"}
    assert heaviest(compare(b, a)) is Rank.RUNS


def test_a_change_of_a_child_is_said_at_every_mount_once() -> None:
    """One workflow that is mounted twice gives one group with two places."""
    old, new = parent(), parent("About", "Not about", "int(1..9)", "int(1..8)")
    changes = compare(old, new)
    assert [(c.code, c.place) for c in changes] == [
        ("WT1023", "one"),
        ("WT1053", "one/wish"),
        ("WT1023", "two"),
        ("WT1053", "two/wish"),
    ]
    groups = grouped(changes, lambda path: new.composition.mounts[path].workflow if path else "")
    assert [(g.change.code, g.places) for g in groups if g.change.code == "WT1053"] == [
        ("WT1053", ("one/wish", "two/wish"))
    ]


def test_what_a_mount_gives_is_folded_into_the_child() -> None:
    """A constant that the parent gives is a change of the mount, and of what it becomes inside."""
    old = compiled(PARENT, child=CHILD)
    new = compiled(PARENT.replace("limit: 2", "limit: 4"), child=CHILD)
    assert [(c.code, c.place) for c in compare(old, new)] == [("WT1053", "two"), ("WT1049", "two/write")]


def test_one_cause_gives_one_message() -> None:
    """What comes or goes with a mount, a node, a choice or an exit is not said again."""
    alone = PARENT.replace("include two = child { topic: one.done.text, limit: 2 }\n", "")
    alone = alone.replace("one.done -> two", "one.done -> done").replace(
        "    two.done -> done\n    two.dropped -> done\n", ""
    )
    alone = alone.replace("two.done?.text ?? ", "")
    old, new = compiled(PARENT, child=CHILD), compiled(alone, child=CHILD)
    assert [(c.code, c.place) for c in compare(old, new)] == [
        ("WT1053", "done"),
        ("WT1048", "one"),
        ("WT1041", "two"),
    ]
    assert [(c.code, c.place) for c in compare(new, old)] == [
        ("WT1053", "done"),
        ("WT1048", "one"),
        ("WT1042", "two"),
    ]


def test_declared_renames_are_one_change_at_every_depth() -> None:
    """A node or a mount that only has another name is compared under it, with all that reads it."""
    old = parent()
    inside = parent("write", "draft")
    names = {"one/write": "one/draft", "two/write": "two/draft"}
    assert {c.code for c in compare(old, inside)} > {"WT1041", "WT1042"}
    assert [(c.code, c.place) for c in compare(old, inside, names)] == [
        ("WT1044", "one/draft"),
        ("WT1044", "two/draft"),
    ]
    mount = compiled(re.sub(r"\bone\b", "first", PARENT), child=CHILD)
    assert [(c.code, c.place) for c in compare(old, mount, {"one": "first"})] == [("WT1044", "first")]


def test_a_rename_that_did_not_happen_is_left_out_of_account() -> None:
    """It is declared by a person, who may be wrong."""
    old = parent()
    assert compare(old, old, {"one/write": "one/nobody", "nobody": "one"}) == ()
    assert renamed(old, {}) == old


def test_ranks_are_nested_by_band() -> None:
    """B1021: text, then callers, then runs; the heaviest counts."""
    ranks = {code: rank_of(code) for code in CODES if "WT1011" <= code < "WT1100"}
    by_rank = {rank: [code for code in ranks if ranks[code] is rank] for rank in ORDER}
    assert max(by_rank[Rank.TEXT]) < min(by_rank[Rank.CALLERS])
    assert max(by_rank[Rank.CALLERS]) < min(by_rank[Rank.RUNS])
    assert heaviest(()) is None
    changes = compare(parent(), parent("please", "now", "int(1..9)", "int(1..8)"))
    assert heaviest(changes) is Rank.CALLERS


NODES: tuple[type[BaseModel], ...] = (
    AgentNode,
    ComputeNode,
    ActionNode,
    ShellNode,
    NotifyNode,
    CheckpointNode,
    DecisionNode,
)
COMPARED: dict[type[BaseModel], str] = {
    Snapshot: "schema_ workflow revision contract digest digests title presentation input exits max_steps "
    "budget_turns start_at nodes edges lets types composition sources",
    MountModel: "workflow revision contract label input input_type max_steps start_at exits digests",
    EdgeModel: "scope source way on subject arms",
    ArmModel: "key cases to limit",
    LimitModel: "count then counter",
}
"""The fields that the rules know. A new field needs a rule, or a word on why it needs none."""


def test_no_field_of_a_snapshot_is_without_a_rule() -> None:
    for node in NODES:
        assert set(node.model_fields) <= FIELDS.keys() | _ELSEWHERE, node.__name__
    for model, fields in COMPARED.items():
        assert set(model.model_fields) == set(fields.split()), model.__name__
    assert {code for code, _ in FIELDS.values()} <= CODES.keys()


def test_what_no_rule_names_is_said_to_be_unknown() -> None:
    """Arms written one by one and as one: nobody has shown that it makes no difference."""
    one = CHILD.replace('"good" | "bad"', '"good" | "fair" | "bad"')
    together = one.replace('"good" -> done', '"good" | "fair" -> done')
    apart = one.replace('"good" -> done', '"good" -> done\n      "fair" -> done')
    changes = compare(compiled(together), compiled(apart))
    assert [c.code for c in changes] == ["WT1069"]
    assert "nobody can say" in changes[0].message


def test_arms_that_share_a_count() -> None:
    """Two arms with a limit of their own count apart; written as one they count together."""
    one = CHILD.replace('"good" | "bad"', '"good" | "fair" | "bad"')
    limited = "write limit input.limit then -> dropped"
    together = one.replace('"bad" -> write', '"bad" | "fair" -> write')
    apart = one.replace('"bad" -> write', f'"fair" -> {limited}\n      "bad" -> write')
    found = list(edge_changes(compiled(together), compiled(apart)))
    assert {c.code for c in found} == {"WT1049"}
    assert all("counts other arrows" in c.message for c in found)


def test_long_texts_are_cut_to_where_they_part() -> None:
    """A message about a prompt of a page shows the place, not the page."""
    long = CHILD.replace("please.", "please. " + "word " * 200 + "END")
    (change,) = (c for c in compare(compiled(long), compiled(long.replace("END", "STOP"))))
    assert change.code == "WT1011"
    assert len(change.before) < 130
    assert change.before.endswith("END")
    assert change.now.endswith("STOP")
    assert change.before.startswith("…")


PAGES = CASES.parent.parent / "compiler" / "pages"
SUBJECTS = (texts_of((PAGES / "WT1014.ok.flow").read_text("utf-8"))["main.flow"], CHILD)
TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
QUIET = frozenset({"WT1012", "WT1013", "WT1015"})
"""Rules about what is in no behaviour digest: labels, titles, examples."""


@settings(max_examples=120, deadline=None)
@given(text=st.sampled_from(SUBJECTS), way=st.integers(0, 3), first=st.integers(0), second=st.integers(0))
def test_a_change_is_said_if_and_only_if_the_behaviour_is_another(
    text: str, way: int, first: int, second: int
) -> None:
    """Lines that go or change places, other words: what still compiles is compared."""
    lines = text.split("\n")
    i, j = first % len(lines), second % len(lines)
    if way == 0:
        del lines[i]
    elif way == 1:
        lines[i], lines[j] = lines[j], lines[i]
    edited = "\n".join(lines)
    if way > 1:
        tokens = list(TOKEN.finditer(text))
        old, new = tokens[first % len(tokens)], tokens[second % len(tokens)][0]
        edited = text[: old.start()] + (new if way == 2 else f"{new}1") + text[old.end() :]
    made = compile_workflow(MemoryReader({"main.flow": edited}), "main.flow").snapshot
    if made is None:
        return
    before = compiled(text)
    told = {change.code for change in compare(before, made)} - QUIET
    assert bool(told) == (before.digests.behaviour != made.digests.behaviour)
