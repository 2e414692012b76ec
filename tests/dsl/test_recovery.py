"""Going on after errors: one cause one message, one broken line one line, and nothing ever fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.dsl import trees
from windtunnel.dsl import Diagnostic, Source, parse, render
from windtunnel.dsl import syntax as s

CASES = Path(__file__).parent.parent / "cases" / "dsl"
FLOWS = [
    path.read_text()
    for path in sorted((*(CASES / "parse").glob("*.flow"), *(CASES / "format").glob("*.flow")))
]
FRAGMENTS = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    '"',
    '"""',
    "${",
    "'",
    "#",
    "->",
    "|",
    ",",
    ":",
    "=",
    "\\",
    "\0",
    "\ufeff",
]
FRAGMENTS += [
    "agent x {",
    "edges {",
    "match .a {",
    "if ",
    "then ",
    "exit ",
    "workflow a {\n",
    "\nlanguage 1\n",
    "é",
    "1x",
]
calm = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@calm
@given(
    st.sampled_from(FLOWS),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 60), st.sampled_from(FRAGMENTS)), max_size=8),
)
def test_no_edit_makes_it_fail(text: str, edits: list[tuple[int, int, str]]) -> None:
    """Any text gives a tree and findings that can be drawn, in the order of the text."""
    for at, length, new in edits:
        at %= len(text) + 1
        text = text[:at] + new + text[at + length :]
    parsed = parse(Source("x.flow", text))
    starts = [each.primary.span for each in parsed.diagnostics]
    assert starts == sorted(starts)
    for each in parsed.diagnostics:
        assert render(each, {"x.flow": parsed.source}).startswith(("error[WT00", "warning[WT00"))
    for hole in parsed.holes:
        assert 0 <= hole.start <= hole.end <= len(text)


@calm
@given(st.text(st.one_of(st.sampled_from(FRAGMENTS).map(lambda text: text[0]), st.characters()), max_size=40))
def test_no_text_makes_it_fail(text: str) -> None:
    parsed = parse(Source("x.flow", text))
    assert parsed.diagnostics or parsed.file.items


def flow_of_300_lines() -> list[str]:
    """A file without mistakes: thirty agents in a row, each with a note, and the edges between."""
    lines = [
        "language 1",
        "",
        "workflow long {",
        "  input { topic: text }",
        "  exits { done: { text: text } }",
    ]
    for n in range(30):
        lines += [
            f'  agent step{n} "step {n}" {{',
            '    prompt """',
            f"      Do step {n} about ${{input.topic}}.",
            '    """',
            "    expectedOutput { text: text(1..200), sure: bool }",
            "    timeout 5m",
            "  }",
            f"  compute note{n} = {{ text: step{n}.text }}",
        ]
    lines += ["  edges {", "    start -> step0"]
    lines += [f"    step{n} -> note{n} -> step{n + 1}" for n in range(29)]
    lines += ["    step29 -> note29 -> exit done", "  }", "}"]
    return lines


PROMPT = (
    'about ${input.topic}.\n    """\n    expectedOutput { text: text(1..200)%s sure: bool }\n    timeout 5m\n'
)
FAULTS = [
    ("agent step2 ", "agnet step2 "),
    ("note4 = { text: step4.text }", "note4 = { text step4.text }"),
    ("  compute note7 =", "  compute note7"),
    ("step9.text }", "step9.text"),
    ('"step 12" {', '"step 12 {'),
    (f"{PROMPT % ','}  }}\n  compute note15", f"{PROMPT % ';'}  }}\n  compute note15"),
    ("timeout 5m\n  }\n  compute note18", "timeout 5minutes\n  }\n  compute note18"),
    ("step20 -> note20", "step20 => note20"),
    ("step22 -> note22 -> step23", "step22 -> note22 step23"),
    ("-> exit done", "-> exitt done"),
]


def planted() -> tuple[str, str, list[int]]:
    """The sound text, the text with ten faults, and the lines of the faults."""
    sound = "\n".join(flow_of_300_lines()) + "\n"
    text = sound
    lines = []
    for good, bad in FAULTS:
        assert text.count(good) == 1, good
        at = text.index(good)
        text = text.replace(good, bad)
        first = (
            next(n for n, (a, b) in enumerate(zip(good, bad, strict=False)) if a != b)
            if good[: len(bad)] != bad
            else len(bad)
        )
        lines.append(text[: at + first].count("\n") + 1)
    return sound, text, sorted(lines)


def mended(source: Source, findings: tuple[Diagnostic, ...]) -> str:
    text = source.text
    edits = [edit for each in findings for fix in each.fixes[:1] for edit in fix.edits]
    for edit in sorted(edits, key=lambda edit: edit.place.span, reverse=True):
        text = text[: edit.place.span.start] + edit.text + text[edit.place.span.end :]
    return text


def test_ten_faults_in_a_file_of_300_lines() -> None:
    """Ten faults give ten findings on their lines, most with the right fix; the rest is still read."""
    sound, broken, lines = planted()
    assert 250 <= sound.count("\n") <= 350
    assert parse(Source("x.flow", sound)).diagnostics == ()
    parsed = parse(Source("x.flow", broken))
    assert [parsed.source.position(each.primary.span.start)[0] for each in parsed.diagnostics] == lines
    (flow,) = parsed.file.workflows
    assert len(flow.nodes) >= 58
    assert sum(len(block) for block in flow.edges) == 31
    good = 0
    for each in parsed.diagnostics:
        text = mended(parsed.source, (each,))
        line = parsed.source.position(each.primary.span.start)[0]
        good += text.split("\n")[line - 1].split() == sound.split("\n")[line - 1].split()
    assert good >= 7
    healed = parse(Source("x.flow", mended(parsed.source, parsed.diagnostics)))
    assert healed.diagnostics == ()
    assert trees.bare(healed.file) == trees.bare(parse(Source("x.flow", sound)).file)


def test_one_typo_is_one_message() -> None:
    """S11: a keyword misspelt anywhere gives one finding, at the word."""
    text = "\n".join(flow_of_300_lines()) + "\n"
    for word, wrong in (
        ("workflow", "worflow"),
        ("edges", "egdes"),
        ("agent step0", "agant step0"),
        ("compute note0", "compte note0"),
    ):
        parsed = parse(Source("x.flow", text.replace(word, wrong, 1)))
        assert [each.code for each in parsed.diagnostics] == ["WT0006"], word
        assert len(parsed.file.workflows[0].nodes) == 60


@pytest.mark.parametrize("broken", ["x y z", "a b -> c", "a ->", "3", "= b", "match .x", '"x" -> b'])
def test_a_broken_line_costs_one_line(broken: str) -> None:
    lines = f"    start -> a\n    {broken}\n    b -> exit done\n"
    text = f"workflow a {{\n  edges {{\n{lines}  }}\n  compute c = 1\n}}\n"
    parsed = parse(Source("x.flow", text))
    assert len(parsed.diagnostics) == 1
    assert parsed.source.position(parsed.diagnostics[0].primary.span.start)[0] == 4
    (flow,) = parsed.file.workflows
    assert len(flow.nodes) == 1
    kept = [line.span.start for line in flow.edges[0]]
    assert text.index("start ->") in kept
    assert text.index("b -> exit") in kept


@pytest.mark.parametrize(
    "broken", ["timeout", "timeout =", "prompt § a", "validate 3", "call with x", "after 3 x", ") )"]
)
def test_a_broken_clause_costs_one_clause(broken: str) -> None:
    text = (
        f'workflow a {{\n  agent a {{\n    model "m"\n    {broken}\n    nudges 1\n  }}\n  compute c = 1\n}}\n'
    )
    parsed = parse(Source("x.flow", text))
    assert parsed.diagnostics
    assert {parsed.source.position(each.primary.span.start)[0] for each in parsed.diagnostics} == {4}
    (flow,) = parsed.file.workflows
    node = flow.nodes[0]
    assert isinstance(node, s.Node)
    assert [clause.keyword.text for clause in node.clauses if clause.keyword.text in ("model", "nudges")] == [
        "model",
        "nudges",
    ]
    assert len(flow.nodes) == 2


def test_a_broken_item_leaves_the_others() -> None:
    text = (
        'type A = text\ntype = = 3\nworkflow a { compute x = 1 }\nimport\nscenario "s" for a { expect x }\n'
    )
    parsed = parse(Source("x.flow", text))
    assert [type(item).__name__ for item in parsed.file.items] == ["TypeDecl", "Workflow", "Scenario"]
    assert [parsed.source.position(each.primary.span.start)[0] for each in parsed.diagnostics] == [2, 4]


def test_holes_say_what_was_skipped() -> None:
    text = "workflow a {\n  agent a {\n    prompt\n    nudges 1\n  }\n}\n"
    parsed = parse(Source("x.flow", text))
    assert len(parsed.diagnostics) == 1
    assert " ".join(text[hole.start : hole.end] for hole in parsed.holes) == "prompt"


def test_an_unterminated_string_is_reported_where_it_begins() -> None:
    """B01: three prompts of ten lines, then a string without its end on line 44."""
    prompt = (
        '  agent p{0} {{\n    prompt """\n' + '      Line of text with a " quote.\n' * 9 + '    """\n  }}\n'
    )
    lines = ["workflow a {"] + [line for n in range(3) for line in prompt.format(n).splitlines()]
    lines += ["  compute x = 1"] * (43 - len(lines))
    lines += ['  compute y = "never closed', "  compute z = 2", "}"]
    (found,) = parse(Source("x.flow", "\n".join(lines))).diagnostics
    assert found.code == "WT0002"
    assert Source("x.flow", "\n".join(lines)).position(found.primary.span.start) == (44, 15)
