"""Snapshots as files: one text for one content, and a clear word about every file that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import windtunnel.compiler
from tests.compiler.jsonschema import problems
from tests.compiler.test_checks import BUILT_IN
from windtunnel.compiler import compile_file, load_snapshot, snapshot_text
from windtunnel.compiler.canonical import canonical, parse_json
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.compiler.snapshotfile import SnapshotRefused, expressions_of, snapshot_json, snapshot_schema


def built_in(name: str) -> Snapshot:
    snapshot = compile_file(f"builtin:{name}").snapshot
    assert snapshot is not None
    return snapshot


AUTOPLAN = built_in("autoplan")


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_snapshot_is_read_back_as_it_was(name: str) -> None:
    snapshot = built_in(name)
    text = snapshot_text(snapshot)
    assert load_snapshot(text) == snapshot
    assert load_snapshot(text.encode()) == snapshot
    assert text == canonical(parse_json(text)) + "\n"


def test_the_assistant_nodes_of_autoplan_word_for_word() -> None:
    """B602: what a snapshot says of an assistant node, its limit folded from the mount."""
    nodes: Any = snapshot_json(AUTOPLAN)["nodes"]
    for mount in ("summary", "obstacle"):
        node = nodes[f"{mount}/summarize"]
        assert node["nodeType"] == "agent"
        assert node["expectedOutput"] == {"kind": "assistant-message", "maxChars": 2500}


def test_no_new_kind_of_node() -> None:
    """B131."""
    kinds = {node.node_type for node in AUTOPLAN.nodes.values()}
    assert kinds == {"agent", "compute"}


def test_the_digest_is_the_behaviour() -> None:
    assert AUTOPLAN.digest == AUTOPLAN.digests.behaviour
    assert all(node.digests is not None for node in AUTOPLAN.nodes.values())
    assert all(mount.digests is not None for mount in AUTOPLAN.composition.mounts.values())


def test_sources_carry_their_hash_and_mounts_outside_the_digest() -> None:
    assert {name: source.mounts for name, source in AUTOPLAN.sources.items()} == {
        "builtin:autoplan": ("",),
        "builtin:plain-summary": ("obstacle", "summary"),
    }
    stored = snapshot_json(AUTOPLAN)
    stored["sources"] = {}
    again = load_snapshot(json.dumps(stored))
    assert isinstance(again, Snapshot)
    assert again.digest == AUTOPLAN.digest


def test_every_expression_is_found_with_its_pointer() -> None:
    found = {pointer: free for pointer, _, free in expressions_of(AUTOPLAN)}
    assert found["/title"] == ()
    assert found["/nodes/choose/validate/0/value"] == ("output",)
    assert "lost" in found["/nodes/choose/validate/3/require"]
    assert "/composition/mounts/summary/input" in found
    assert "/edges/1/subject" in found
    assert "/lets/considered" in found


Change = Callable[[dict[str, Any]], None]


def change(path: str, value: Any) -> Change:
    """Set the value at a slash-separated path."""

    def apply(stored: dict[str, Any]) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
        target: Any = stored
        for step in steps:
            target = target[step]
        target[last] = value

    return apply


BROKEN: list[tuple[Change, str, str]] = [
    (change("schema", "windtunnel.snapshot.v2"), "/schema", "written in the form windtunnel.snapshot.v2"),
    (change("schema", "other"), "/schema", "not a snapshot: its schema is other"),
    (change("schema", 1), "", "not a snapshot: it has no `schema`"),
    (change("surprise", 1), "/surprise", "extra inputs are not permitted"),
    (change("revision", "x"), "/revision", "valid integer"),
    (change("startAt", "nowhere"), "/startAt", "`nowhere`, which is no node"),
    (change("edges/0/scope", "nowhere"), "/edges/0/scope", "no mount `nowhere`"),
    (change("edges/0/from", "nowhere"), "/edges/0/from", "no node `nowhere`"),
    (change("edges/0/arms/0/to", {"node": "nowhere"}), "/edges/0/arms", "no node `nowhere`"),
    (change("edges/0/arms/0/to", {"exit": "nowhere"}), "/edges/0/arms", "no exit `nowhere`"),
    (change("edges/0/arms/0/to", {}), "/edges/0/arms", "either to a node or to an exit"),
    (change("title", ["nonsense"]), "/title", "'nonsense' is no form"),
    (change("title", ["node", "nowhere"]), "/title", "no node `nowhere`"),
    (change("title", ["input", "nowhere"]), "/title", "no input `nowhere`"),
    (change("title", ["let", "nowhere"]), "/title", "no let `nowhere`"),
    (change("title", ["exit", "summary", "nowhere"]), "/title", "no exit `summary`"),
    (change("title", ["choice", "plan", "x"]), "/title", "no choice `plan`"),
    (change("title", ["var", "output"]), "/title", "bound nowhere"),
    (
        change("nodes/choose/validate/3/message", ["var", "gone"]),
        "/nodes/choose/validate/3/message",
        "bound nowhere",
    ),
    (
        change("nodes/ideal/expectedOutput/type", {"kind": "text", "pattern": "(?=a)"}),
        "/nodes/ideal/expectedOutput/type",
        "a type that cannot be used",
    ),
    (change("exits/ready", {"kind": "ref", "name": "Gone"}), "/exits/ready", "a type that cannot be used"),
    (change("nodes/frame/prompt", ["const", "Other."]), "/digest", "not those of the content"),
    (change("digest", "sha256:0"), "/digest", "not those of the content"),
    (change("nodes/frame/digests/shape", "sha256:0"), "/digest", "not those of the content"),
    (change("edges/0/arms/0/key", "other"), "/digest", "not those of the content"),
]


@pytest.mark.parametrize(("apply", "pointer", "message"), BROKEN)
def test_a_broken_snapshot_is_refused_at_its_place(apply: Change, pointer: str, message: str) -> None:
    stored: Any = json.loads(snapshot_text(AUTOPLAN))
    apply(stored)
    refused = load_snapshot(json.dumps(stored))
    assert isinstance(refused, SnapshotRefused)
    assert refused.pointer == pointer
    assert message in refused.message
    assert str(refused).endswith(refused.message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[]", "not a snapshot"),
        ("[" * 100_000, "nested too deep"),
        (b"\xff\xfe", "not UTF-8"),
        ('{"schema": "windtunnel.snapshot.v1", "schema": 1}', "twice"),
        ('{"schema": "windtunnel.snapshot.v1"}', "field required"),
    ],
)
def test_what_is_no_snapshot_is_refused(text: str | bytes, message: str) -> None:
    refused = load_snapshot(text)
    assert isinstance(refused, SnapshotRefused)
    assert message in refused.message


def test_the_size_of_a_snapshot_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    text = snapshot_text(AUTOPLAN)
    monkeypatch.setattr("windtunnel.compiler.snapshotfile.MAX_SNAPSHOT_BYTES", len(text))
    assert load_snapshot(text) == AUTOPLAN
    refused = load_snapshot(text + " ")
    assert isinstance(refused, SnapshotRefused)
    assert "larger than" in refused.message


PUBLISHED = Path(windtunnel.compiler.__file__).parent / "snapshot-v1.schema.json"


def test_the_json_schema_is_published() -> None:
    """As `windtunnel compile --schema` prints it; that is also how the file is written anew."""
    assert PUBLISHED.read_text("utf-8") == json.dumps(snapshot_schema(), indent=1, sort_keys=True) + "\n"


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_ins_are_as_the_published_schema_says(name: str) -> None:
    """What is written is what others are told to read."""
    schema = json.loads(PUBLISHED.read_text("utf-8"))
    assert list(problems(snapshot_json(built_in(name)), schema, schema)) == []


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("schema",), "windtunnel.snapshot.v2", "/schema: not 'windtunnel.snapshot.v1'"),
        (("schema",), None, ": lacks schema"),
        (("nodes",), None, ": lacks nodes"),
        (("more",), 1, ": has more"),
        (("revision",), "1", "/revision: not integer"),
        (("nodes", "frame", "nodeType"), "agents", "/nodes/frame: fits 0 of oneOf"),
        (("nodes", "frame", "prompt"), None, "/nodes/frame: fits 0 of oneOf"),
    ],
)
def test_the_published_schema_refuses_what_is_none(path: tuple[str, ...], value: Any, said: str) -> None:
    """A part that is gone, one too many, and one of another kind."""
    schema = json.loads(PUBLISHED.read_text("utf-8"))
    made: Any = snapshot_json(AUTOPLAN)
    inner = made
    for name in path[:-1]:
        inner = inner[name]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    assert list(problems(made, schema, schema)) == [said]


def test_deep_types_survive() -> None:
    """A type as deep as the language allows is written and read."""
    from windtunnel.compiler.pipeline import compile_workflow
    from windtunnel.compiler.reader import MemoryReader

    deep = "{ a: " * 99 + "int" + " }" * 99
    text = f"""language 1
workflow w {{
  revision 1
  agent a {{
    prompt "Answer."
    expectedOutput {deep}
  }}
  edges {{
    start -> a -> exit done
  }}
}}
"""
    snapshot = compile_workflow(MemoryReader({"w.flow": text}), "w.flow").snapshot
    assert snapshot is not None
    assert load_snapshot(snapshot_text(snapshot)) == snapshot
