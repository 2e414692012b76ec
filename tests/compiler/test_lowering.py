"""Checked workflows to snapshots: forms of expressions, mounts, folding, edges, and what leaves no mark."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from windtunnel.compiler import exprlowering, plan
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader, builtin
from windtunnel.compiler.snapshot import AgentNode, AssistantMessage, ComputeNode, Digests, Snapshot
from windtunnel.compiler.snapshotfile import snapshot_json
from windtunnel.dsl import Source, parse

CASES = Path(__file__).parent.parent / "cases" / "compiler" / "snapshots"


def compiled(text: str, name: str = "main.flow", workflow: str | None = None, **others: str) -> Snapshot:
    """The snapshot of a text that must be without errors; `others` are files by name without `.flow`."""
    texts = {name: text, **{f"{other}.flow": source for other, source in others.items()}}
    result = compile_workflow(MemoryReader(texts), name, workflow)
    assert result.snapshot is not None, [found.message for found in result.diagnostics]
    return result.snapshot


def refused(text: str) -> list[str]:
    """The codes of a text that cannot be lowered."""
    result = compile_workflow(MemoryReader({"main.flow": text}), "main.flow")
    assert result.snapshot is None
    return [found.code for found in result.diagnostics]


def workflow(body: str, head: str = "") -> str:
    """A workflow with an agent `a` that submits `{n: int, t: text, xs: [int]}`."""
    return f"""language 1
{head}
workflow w {{
  revision 1
  input {{
    i: int(1..9), j: int, r: number, d: duration, t: text, o?: text, flag: bool, xs: [int], any: json,
  }}
  agent a {{
    prompt "Do ${{input.i}}."
    expectedOutput {{ n: int, t: text, xs: [int] }}
  }}
{body}
}}
"""


def lowered(expression: str, head: str = "") -> Any:
    """The stored form of an expression of a compute node behind `a`."""
    text = workflow(
        f"  compute x = {expression}\n  edges {{\n    start -> a -> x -> exit done\n  }}", head=head
    )
    node = compiled(text).nodes["x"]
    assert isinstance(node, ComputeNode)
    return node.value


def of_input(name: str) -> list[Any]:
    return ["field", ["input", ""], name, False]


EXPRESSIONS: list[tuple[str, Any]] = [
    ("1.0", ["const", 1]),
    ("30s", ["const", 30_000]),
    ("null", ["const", None]),
    ('"a${1}b"', ["const", "a1b"]),
    ('"${input.t}"', ["text", of_input("t")]),
    ('"a${"b${input.t}c"}d"', ["text", ["const", "ab"], of_input("t"), ["const", "cd"]]),
    ("a.n", ["field", ["node", "a"], "n", False]),
    ("a?.t", ["field", ["node", "a"], "t", True]),
    ("a.xs[0]", ["index", ["field", ["node", "a"], "xs", False], ["const", 0]]),
    ("input", ["input", ""]),
    ("-input.i", ["neg", of_input("i")]),
    ("not input.flag", ["not", of_input("flag")]),
    ("input.i + input.j + 1", ["op", "+", of_input("i"), of_input("j"), ["const", 1]]),
    ("input.i / input.j", ["op", "//", of_input("i"), of_input("j")]),
    ("input.r / 2", ["op", "/", of_input("r"), ["const", 2]]),
    ("input.d / 2", ["op", "//", of_input("d"), ["const", 2]]),
    ("input.d / 1s", ["op", "/", of_input("d"), ["const", 1_000]]),
    ("input.d * input.r", ["call", "round", ["op", "*", of_input("d"), of_input("r")]]),
    ("input.d * 2", ["op", "*", of_input("d"), ["const", 2]]),
    ("7 / 2", ["const", 3]),
    (
        "input.i == 1 and input.flag and true",
        ["and", ["op", "==", of_input("i"), ["const", 1]], of_input("flag")],
    ),
    ("input.flag or true", ["const", True]),
    ("input.flag and false", ["const", False]),
    ('input.o ?? "x"', ["??", of_input("o"), ["const", "x"]]),
    ("if true then 1 else input.i", ["const", 1]),
    (
        "if input.flag then 1 else if input.i == 1 then 2 else 3",
        [
            "if",
            of_input("flag"),
            ["const", 1],
            ["op", "==", of_input("i"), ["const", 1]],
            ["const", 2],
            ["const", 3],
        ],
    ),
    ("{ b: 1, a: input.i }", ["record", ["field", "a", of_input("i")], ["field", "b", ["const", 1]]]),
    (
        "{ z: 1, ...{ y: input.i }, k?: input.o, b: 2 }",
        [
            "record",
            ["field", "z", ["const", 1]],
            ["spread", ["record", ["field", "y", of_input("i")]]],
            ["field", "b", ["const", 2]],
            ["maybe", "k", of_input("o")],
        ],
    ),
    (
        "{ a: input.i, b?: null, c?: 1 }",
        ["record", ["field", "a", of_input("i")], ["field", "c", ["const", 1]]],
    ),
    (
        "[1, ...[2, 3], ...input.xs]",
        ["list", *(["item", ["const", n]] for n in (1, 2, 3)), ["spread", of_input("xs")]],
    ),
    (
        "[x + 1 for x in input.xs if x > input.i]",
        [
            "for",
            ["op", "+", ["var", "x"], ["const", 1]],
            "x",
            of_input("xs"),
            ["op", ">", ["var", "x"], of_input("i")],
        ],
    ),
    ("[x + 1 for x in [1, 2]]", ["const", [2, 3]]),
    ("len(input.xs)", ["call", "len", of_input("xs")]),
    ('len("abc")', ["const", 3]),
    ("visits(a)", ["visits", "a", None]),
    ('visits(a, "ok")', ["visits", "a", "ok"]),
    ("result(a)?.outcome", ["field", ["result", "a"], "outcome", True]),
    ("latest(a, x)?.node", ["field", ["latest", "a", "x"], "node", True]),
]


@pytest.mark.parametrize(("expression", "form"), EXPRESSIONS)
def test_the_form_of_an_expression(expression: str, form: Any) -> None:
    assert lowered(expression) == form


def test_templates_are_written_out_with_their_constants() -> None:
    head = """
template cited(name: text, value: json) = "<${name}>${json(value)}</${name}>"
template twice(value: json) = "${template cited("v", value)} ${template cited("w", [value, value])}"
"""
    assert lowered('template cited("n", 1)', head) == ["const", "<n>1</n>"]
    assert lowered("template twice(input.any)", head) == [
        "bind",
        "1.0",
        of_input("any"),
        [
            "text",
            [
                "bind",
                "2.1",
                ["var", "1.0"],
                ["text", ["const", "<v>"], ["call", "json", ["var", "2.1"]], ["const", "</v>"]],
            ],
            ["const", " "],
            [
                "bind",
                "2.1",
                ["list", ["item", ["var", "1.0"]], ["item", ["var", "1.0"]]],
                ["text", ["const", "<w>"], ["call", "json", ["var", "2.1"]], ["const", "</w>"]],
            ],
        ],
    ]


def test_whole_numbers_inside_templates_divide_like_outside() -> None:
    head = 'template half(n: int) = "${n / 2}"'
    assert lowered("template half(7)", head) == ["const", "3"]


@pytest.mark.parametrize("case", sorted(path.stem for path in CASES.glob("*.flow")))
def test_golden_snapshots(case: str, golden: Any) -> None:
    snapshot = compiled((CASES / f"{case}.flow").read_text(encoding="utf-8"), f"{case}.flow")
    stable = json.dumps(snapshot_json(snapshot), indent=1, ensure_ascii=False, sort_keys=True)
    # Built-ins change for their own reasons; their digests are no part of the case.
    stable = re.sub(r'"sha256": "[0-9a-f]+"', '"sha256": "…"', stable)
    golden(CASES / f"{case}.json", re.sub(r"sha256:[0-9a-f]+", "sha256:…", stable) + "\n")


# --- mounts -------------------------------------------------------------------------------------------------

CHILD = """language 1
workflow child {
  revision 4
  input { limit: int(1..9) = 3, words: [text] = [], who?: text, deep: { n: int = 1 } = {} }
  agent say {
    prompt "${input.limit} ${len(input.words)} ${input.who ?? "nobody"} ${input.deep.n} ${json(input)}"
    expectedOutput assistant { maxChars input.limit }
    timeout input.limit * 1s
  }
  edges {
    start -> say -> exit done
  }
}
"""
ALL: Any = ["call", "json", ["input", "c"]]


def mounted(given_input: str) -> Snapshot:
    text = f"""language 1
import child from "./child.flow"
workflow w {{
  revision 1
  input {{ n: int(1..9), w: text }}
  include c = child {given_input}
  edges {{
    start -> c
    c.done -> exit done
  }}
}}
"""
    return compiled(text, child=CHILD)


def say(snapshot: Snapshot) -> AgentNode:
    node = snapshot.nodes["c/say"]
    assert isinstance(node, AgentNode)
    return node


def test_literals_and_defaults_of_a_mount_are_folded_into_the_child() -> None:
    node = say(mounted('{ limit: 5, words: ["a", "b"], deep: {} }'))
    assert node.prompt == ["text", ["const", "5 2 nobody 1 "], ALL]
    assert node.expected_output == AssistantMessage(max_chars=5)
    assert node.timeout_ms == 5_000
    assert say(mounted("{}")).prompt == ["text", ["const", "3 0 nobody 1 "], ALL]


def test_what_is_not_a_literal_stays_an_expression() -> None:
    node = say(mounted("{ limit: input.n, who: input.w }"))
    limit: Any = ["field", ["input", "c"], "limit", False]
    who = ["??", ["field", ["input", "c"], "who", False], ["const", "nobody"]]
    assert node.prompt == ["text", limit, ["const", " 0 "], who, ["const", " 1 "], ALL]
    assert node.expected_output == AssistantMessage(max_chars=limit)
    assert node.timeout_ms == ["op", "*", limit, ["const", 1_000]]


def test_a_spread_hides_what_stands_before_it() -> None:
    node = say(mounted('{ limit: 5, who: "me", ...{ limit: input.n } }'))
    assert isinstance(node.expected_output, AssistantMessage)
    assert node.expected_output.max_chars == ["field", ["input", "c"], "limit", False]
    assert ["const", " me "] not in node.prompt
    assert say(mounted("{ ...{ limit: input.n }, limit: 5 }")).expected_output == AssistantMessage(
        max_chars=5
    )


def test_a_mount_keeps_what_a_run_needs_to_enter_it() -> None:
    snapshot = mounted("{ limit: input.n }")
    mount = snapshot.composition.mounts["c"]
    assert (mount.workflow, mount.revision, mount.start_at, mount.max_steps) == ("child", 4, "c/say", 100)
    assert mount.input == ["record", ["field", "limit", of_input("n")]]
    assert sorted(mount.exits) == ["done"]
    assert snapshot.start_at == "c"
    assert {(edge.scope, edge.source, edge.way) for edge in snapshot.edges} == {
        ("", "start", None),
        ("", "c", "done"),
        ("c", "start", None),
        ("c", "c/say", None),
    }
    assert {name: source.mounts for name, source in snapshot.sources.items()} == {
        "child.flow": ("c",),
        "main.flow": ("",),
    }


def test_defaults_of_a_node() -> None:
    node = compiled(workflow("  edges {\n    start -> a -> exit done\n  }")).nodes["a"]
    assert isinstance(node, AgentNode)
    assert (node.timeout_ms, node.nudges, node.tools, node.model) == (900_000, 2, "any", None)
    never = say(mounted("{}"))
    assert never.nudges is None


def test_no_limit_stays_absent() -> None:
    """B129, B609: an omitted `maxChars` is not in the snapshot."""
    text = workflow("""
  agent b {
    prompt "Say ${input.t}."
    expectedOutput assistant
  }
  edges {
    start -> a -> b -> exit done
  }""")
    stored: Any = snapshot_json(compiled(text))["nodes"]
    assert stored["b"]["nodeType"] == "agent"
    assert stored["b"]["expectedOutput"] == {"kind": "assistant-message"}


# --- edges --------------------------------------------------------------------------------------------------


def test_edges_have_one_arm_for_each_way_on() -> None:
    text = workflow("""
  compute kind = if a.n > 1 then "many" else if a.n == 1 then "one" else "none"
  compute left = 1
  compute right = 2
  edges {
    start -> match input.flag {
      true -> a
      false -> left
    }
    a -> kind -> match kind {
      "one" | "many" -> left limit 3 then -> exit done
      else -> right
    }
    a on any -> a limit input.i then -> left
    left -> exit done
    right -> exit done
  }""")
    snapshot = compiled(text)
    arms = {arm.key: arm for edge in snapshot.edges for arm in edge.arms}
    assert snapshot.start_at == "start"
    assert sorted(arms) == [
        "a",
        "a on failed",
        "a on timed_out",
        'kind "many" | "one"',
        "kind else",
        "left",
        "right",
        "start false",
        "start true",
    ]
    limit = arms['kind "many" | "one"'].limit
    assert limit is not None
    assert (limit.count, limit.then.exit, limit.counter) == (3, "done", None)
    failed, timed_out = arms["a on failed"].limit, arms["a on timed_out"].limit
    assert failed is not None
    assert timed_out is not None
    assert (failed.count, failed.counter) == (of_input("i"), None)
    assert (timed_out.count, timed_out.counter) == (of_input("i"), "a on failed")


def test_every_change_of_an_edge_changes_the_shape() -> None:
    shapes = set()
    for line in (
        "a -> exit done",
        "a -> exit other",
        "a -> exit done limit 2 then -> exit other",
        "a -> exit done limit 3 then -> exit other",
        "a -> exit done\n    a on failed -> a limit 2 then -> exit done",
        "a -> exit done\n    a on timed_out -> a limit 2 then -> exit done",
        "a -> exit done\n    a on any -> a limit 2 then -> exit done",
        'a -> match .t {\n      "x" -> exit done\n      else -> exit other\n    }',
        'a -> match .t {\n      "y" -> exit done\n      else -> exit other\n    }',
    ):
        shapes.add(compiled(workflow(f"  edges {{\n    start -> a\n    {line}\n  }}")).digests.shape)
    assert len(shapes) == 9


# --- what leaves a mark -------------------------------------------------------------------------------------


def shipped(name: str) -> str:
    """The text of a built-in."""
    source = builtin(name)
    assert isinstance(source, Source)
    return source.text


PLAIN = shipped("plain-summary")
AUTOPLAN = shipped("autoplan")


def autoplan(text: str, plain: str = PLAIN, name: str = "autoplan.flow") -> Snapshot:
    """autoplan from another text, with its child from a file beside it."""
    return compiled(text.replace('"builtin:plain-summary"', '"./child.flow"'), name, child=plain)


BASE = autoplan(AUTOPLAN)


def changed(text: str, plain: str = PLAIN) -> list[str]:
    """Which of the three digests another text changes."""
    other = autoplan(text, plain).digests
    return [kind for kind in Digests.model_fields if getattr(other, kind) != getattr(BASE.digests, kind)]


def reordered(text: str, seed: int) -> str:
    """The text with its types, and the declarations and edge lines of its workflow, in another order."""
    tree = parse(Source("x", text)).file
    flow = tree.workflows[0]
    groups = [
        [item.span for item in tree.types],
        [item.span for item in (*flow.lets, *flow.nodes)],
        [line.span for block in flow.edges for line in block],
    ]
    pieces: list[tuple[int, int, str]] = []
    for spans in groups:
        spans = sorted(spans)
        turn = seed % len(spans) if spans else 0
        order = spans[turn:] + spans[:turn]
        if seed % 2:
            order.reverse()
        pieces += [
            (old.start, old.end, text[new.start : new.end]) for old, new in zip(spans, order, strict=True)
        ]
    for start, end, piece in sorted(pieces, reverse=True):
        text = text[:start] + piece + text[end:]
    return text


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.integers(1, 40))
def test_order_of_declarations_changes_no_digest(seed: int) -> None:
    text = reordered(AUTOPLAN, seed)
    assert text != AUTOPLAN
    assert changed(text) == []


WITHOUT_A_MARK: list[tuple[str, str, str]] = [
    ("line ends", "\n", "\r\n"),
    ("comments", "\n  exits {", "\n\n  # what comes out\n  exits {"),
    ("blank lines", "\n  agent ", "\n\n\n  agent "),
    ("revision", "revision 2", "revision 3"),
    ("names of types", "Rejection", "Refusal"),
    ("an unused let", "  let considered", "  let unused = 1\n  let considered"),
    ("examples", "The nightly build is slow.", "The nightly build is very slow."),
    ("budget", "budget turns 18", "budget turns 19"),
    ("digits", "2_500", "2500"),
    ("text in pieces", "Explain what blocks", 'Explain ${"what"} blocks'),
    ("constants computed", "maxSentences: 12", "maxSentences: 6 * 2"),
    ("order of fields", "maxChars: 2_500,\n    maxSentences: 12,", "maxSentences: 12,\n    maxChars: 2_500,"),
]


@pytest.mark.parametrize(("what", "old", "new"), WITHOUT_A_MARK)
def test_what_leaves_no_mark(what: str, old: str, new: str) -> None:
    assert old in AUTOPLAN, what
    assert changed(AUTOPLAN.replace(old, new)) == []


def test_a_byte_order_mark_and_the_place_of_the_file_leave_no_mark() -> None:
    assert changed("\ufeff" + AUTOPLAN) == []
    elsewhere = compile_workflow(MemoryReader({"deep/a.flow": AUTOPLAN}), "deep/a.flow").snapshot
    assert elsewhere is not None
    assert elsewhere.digests == BASE.digests
    assert set(elsewhere.sources) == {"a.flow", "builtin:plain-summary"}


MARKS: list[tuple[str, str, str, list[str]]] = [
    ("one letter of a prompt", "Frame this problem", "Frame thy problem", ["behaviour"]),
    ("a validator", "candidate ids must be unique", "candidate ids must differ", ["behaviour"]),
    ("a timeout", "timeout 20m", "timeout 21m", ["behaviour"]),
    (
        "what a mount is given",
        "maxChars: 2_500,\n    maxSentences: 12",
        "maxChars: 2_400,\n    maxSentences: 12",
        ["behaviour"],
    ),
    (
        "an expected output",
        "title: text(1..120),\n  gist",
        "title: text(1..121),\n  gist",
        ["shape", "behaviour"],
    ),
    ("a limit of steps", "maxSteps 12", "maxSteps 13", ["behaviour"]),
    ("a label", '"framing the problem"', '"framing"', ["presentation"]),
    ("the label of a mount", '"explaining the blocker"', '"explaining"', ["presentation"]),
    ("the title of the run", 'title "autoplan: ', 'title "plan: ', ["presentation"]),
    ("the contract", "windtunnel.autoplan.v1", "windtunnel.autoplan.v2", ["shape", "behaviour"]),
]


@pytest.mark.parametrize(("what", "old", "new", "kinds"), MARKS)
def test_what_leaves_a_mark(what: str, old: str, new: str, kinds: list[str]) -> None:
    assert old in AUTOPLAN, what
    assert changed(AUTOPLAN.replace(old, new)) == kinds


def test_a_mount_takes_in_its_child() -> None:
    """B602, B620: a letter in the child's prompt reaches the mount and the root, and no sibling."""
    other = autoplan(AUTOPLAN, PLAIN.replace("Start with the main point", "Begin with the main point"))
    assert other.digest != BASE.digest
    assert other.digests.shape == BASE.digests.shape
    for path in ("summary", "obstacle"):
        ours, theirs = BASE.composition.mounts[path].digests, other.composition.mounts[path].digests
        assert ours is not None
        assert theirs is not None
        assert ours.behaviour != theirs.behaviour
        assert ours.shape == theirs.shape
    assert {name for name in BASE.nodes if BASE.nodes[name].digests != other.nodes[name].digests} == {
        "obstacle/summarize",
        "summary/summarize",
    }


# --- limits -------------------------------------------------------------------------------------------------


def doubling(levels: int) -> str:
    """Workflows that each include the one before twice."""
    text = """language 1
workflow w0 {
  revision 1
  compute a = 1
  edges {
    start -> a -> exit done
  }
}
"""
    for level in range(1, levels + 1):
        text += f"""
workflow w{level} {{
  revision 1
  include a = w{level - 1} {{}}
  include b = w{level - 1} {{}}
  edges {{
    start -> a
    a.done -> b
    b.done -> exit done
  }}
}}
"""
    return text


def test_the_size_of_the_whole_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = compiled(doubling(3))
    size = len(snapshot.nodes) + len(snapshot.composition.mounts)
    monkeypatch.setattr(plan, "MAX_NODES", size)
    assert len(compiled(doubling(3)).nodes) == 8
    monkeypatch.setattr(plan, "MAX_NODES", size - 1)
    assert refused(doubling(3))[-1] == "WT0220"


def test_the_depth_of_includes_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "MAX_MOUNT_DEPTH", 3)
    assert compiled(doubling(3)).nodes
    assert refused(doubling(4))[-1] == "WT0220"


def test_the_depth_of_stored_expressions_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exprlowering, "MAX_EXPRESSION_DEPTH", 12)
    assert lowered("[" * 3 + "input.i" + "]" * 3)
    text = workflow(
        f"  compute x = {'[' * 9}input.i{']' * 9}\n  edges {{\n    start -> a -> x -> exit done\n  }}"
    )
    assert refused(text)[-1] == "WT0013"


def test_long_chains_are_flat() -> None:
    form = lowered(" + ".join(["input.i"] * 150))
    assert form[:2] == ["op", "+"]
    assert len(form) == 152
    ladder = "".join(f"if input.i == {n} then {n} else " for n in range(150)) + "0"
    assert len(lowered(ladder)) == 302
