"""From text to tree: each construct, precedence, places, comments with a meaning, and items on their own."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dsl import trees
from windtunnel.dsl import Source, format_file, parse
from windtunnel.dsl import syntax as s
from windtunnel.dsl.tables import table

CASES = Path(__file__).parent.parent / "cases" / "dsl"
FLOWS = sorted((*(CASES / "parse").glob("*.flow"), *(CASES / "format").glob("*.flow")))


RESERVED = """
and or not in if then else for true false null none start match with always eventually at before after
exit on limit import from as type let workflow scenario agent compute action shell notify checkpoint
decision include edges expect require when asks expectedOutput assistant maxChars maxSteps idempotencyKey
allowNonZeroExit output template
"""


def read(text: str) -> s.File:
    """The tree of a text without problems."""
    parsed = parse(Source("x.flow", text))
    assert [each.message for each in parsed.diagnostics] == [], text
    return parsed.file


def expr(text: str) -> s.Expr:
    """The tree of an expression."""
    (node,) = read(f"workflow a {{ compute x = {text}\n}}").workflows[0].nodes
    assert isinstance(node, s.Compute)
    return node.value


def shown(text: str) -> str:
    """An expression with all brackets."""

    def brackets(tree: s.Expr) -> str:
        match tree:
            case s.Binary():
                return f"({brackets(tree.left)} {tree.operator} {brackets(tree.right)})"
            case s.Unary():
                return f"({tree.operator} {brackets(tree.operand)})"
            case s.If():
                parts = (tree.condition, tree.consequent, tree.alternative)
                return "(if {} then {} else {})".format(*(brackets(part) for part in parts))
            case s.Field():
                return f"({brackets(tree.target)}{'?.' if tree.optional else '.'}{tree.name.text})"
            case s.Index():
                return f"({brackets(tree.target)}[{brackets(tree.index)}])"
            case s.Ref():
                return tree.name
            case s.Literal():
                return str(tree.value)
            case s.ListExpr():
                return (
                    f"[{', '.join(brackets(item) for item in tree.items if not isinstance(item, s.Spread))}]"
                )
            case _:
                raise AssertionError(tree)

    return brackets(expr(text))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a or b and not c == d", "(a or (b and (not (c == d))))"),
        ("not not a", "(not (not a))"),
        ("a == b ?? c + 1", "(a == (b ?? (c + 1)))"),
        ("a ?? b ?? c", "((a ?? b) ?? c)"),
        ("a - b - c * d / e % f", "((a - b) - (((c * d) / e) % f))"),
        ("-a.b[0]?.c * -2", "((- (((a.b)[0])?.c)) * (- 2))"),
        ("(a + b) * c", "((a + b) * c)"),
        ("a in [b] and c", "((a in [b]) and c)"),
        ("if a then b else if c then d else e + 1", "(if a then b else (if c then d else (e + 1)))"),
        ("[if a then b else c, -d]", "[(if a then b else c), (- d)]"),
        ("a.if.workflow.match", "(((a.if).workflow).match)"),
        ("a\n  + b\n  - c", "((a + b) - c)"),
        ("a.not-ready - 1", "((a.not-ready) - 1)"),
        ("input - output", "(input - output)"),
    ],
)
def test_precedence(text: str, meaning: str) -> None:
    assert shown(text) == meaning


def test_numbers_and_durations() -> None:
    assert [expr(text) for text in ("1_000", "0.5", "1e3", "2.5E-1")] == [
        s.Literal(value, s.Span(25, 25 + size))
        for value, size in ((1000, 5), (0.5, 3), (1000.0, 3), (0.25, 6))
    ]
    for text, milliseconds in (
        ("250ms", 250),
        ("30s", 30_000),
        ("15m", 900_000),
        ("2h", 7_200_000),
        ("1d", 86_400_000),
    ):
        value = expr(text)
        assert isinstance(value, s.Duration)
        assert value.milliseconds == milliseconds
        assert text.endswith(value.unit)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('""', ()),
        ('"a\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\udc26"', ('a"\\/\b\f\n\r\tA\U0001f426',)),
        ('"$${x} $ $5 $$"', ("${x} $ $5 $$",)),
        ('"{ a } # no comment"', ("{ a } # no comment",)),
        ('""""""', ()),
        ('"""one line"""', ("one line",)),
        ('"""\n    a\n      b\n\n    c "d" \\n $${e}\n  """', ('a\n  b\n\nc "d" \\n ${e}',)),
        ('"""\n    a\n\n    """', ("a\n",)),
        ('"""first\n    second\n     third"""', ("first\nsecond\n third",)),
        ('"""\n\ta\n\t b\n"""', ("a\n b",)),
        ('"""\n  \n   \n"""', ("\n",)),
        ('"""\n"""', ()),
    ],
)
def test_literal_text(text: str, parts: tuple[str, ...]) -> None:
    """B12: each escape decodes; triple quotes have none, are dedented and lose the first and last newline."""
    value = expr(text)
    assert isinstance(value, s.Text)
    assert value.parts == parts
    assert value.constant == "".join(parts)
    assert value.multiline == text.startswith('"""')


def test_interpolation_nests() -> None:
    """Expressions in strings in expressions in strings, with places into the file."""
    text = '"a ${if b then "c ${d["e"]}" else ""} f"'
    value = expr(text)
    assert isinstance(value, s.Text)
    first, inner, last = value.parts
    assert (first, last) == ("a ", " f")
    assert isinstance(inner, s.If)
    source = f"workflow a {{ compute x = {text}\n}}"
    assert source[inner.span.start : inner.span.end] == 'if b then "c ${d["e"]}" else ""'
    assert isinstance(inner.consequent, s.Text)
    assert source[inner.consequent.span.start : inner.consequent.span.end] == '"c ${d["e"]}"'


def test_interpolated_lines_are_dedented_by_the_text_alone() -> None:
    """An interpolation at the beginning of a line counts as text; its own lines do not count."""
    value = expr('"""\n    ${a}\n      b ${f({\n x: 1 })} c\n    ${d}"""')
    assert isinstance(value, s.Text)
    assert [part for part in value.parts if isinstance(part, str)] == ["\n  b ", " c\n"]


def test_records() -> None:
    value = expr('{ a: 1, b?: c, d, ...e, "x-y z": 2, if: 3, }')
    assert isinstance(value, s.Record)
    keys = [
        (each.key.text, each.optional, each.shorthand) for each in value.entries if isinstance(each, s.Entry)
    ]
    assert keys == [
        ("a", False, False),
        ("b", True, False),
        ("d", False, True),
        ("x-y z", False, False),
        ("if", False, False),
    ]
    assert isinstance(value.entries[3], s.Spread)


def test_node_paths_stand_bare_in_scenarios_only() -> None:
    (scenario,) = read('scenario "s" for a {\n expect visible(b/c) == 1 / 2\n expect b/c/d -> e\n}').scenarios
    condition = scenario.expects[0].condition
    assert isinstance(condition, s.Binary)
    assert isinstance(condition.left, s.Call)
    assert isinstance(condition.left.arguments[0], s.Ref)
    assert condition.left.arguments[0].name == "b/c"
    assert [path.text for path in scenario.expects[1].order] == ["b/c/d", "e"]


def test_words_with_one_meaning_stay_free_as_names() -> None:
    """Clause keywords that are not reserved may name nodes, and every word a field."""
    words = sorted(word for word, kind in table().keywords.items() if kind not in reserved_kinds())
    assert "prompt" in words
    for word in words:
        flow = read(
            f"workflow a {{ agent {word} {{ prompt {word} timeout 1s }} compute x = {word}.{word}\n"
            f"edges {{ start -> {word} -> x\n {word} on failed -> exit {word} }} }}"
        ).workflows[0]
        assert flow.nodes[0].name.text == word
    for word in table().keywords:
        assert shown(f"a.{word}") == f"(a.{word})"
        read(f"type A = {{ {word}: text, b{word}?: int }}\nworkflow a {{ compute x = {{ {word}: 1 }} }}")


def reserved_kinds() -> set[str]:
    """The terminals that cannot stand as a name."""
    state = table().start
    after_workflow = table().actions[table().actions[state]["WORKFLOW"]]
    return set(table().keywords.values()) - set(after_workflow)


def test_reserved_words() -> None:
    """The list that the language reference gives; nothing else is reserved."""
    words = {word for word, kind in table().keywords.items() if kind in reserved_kinds()}
    assert sorted(words) == sorted(RESERVED.split())


def test_line_blocks() -> None:
    """A newline ends an entry; `->`, `|`, `then`, an open bracket and a last comma go on."""
    (flow,) = read(
        "workflow a { edges { start -> a\n  -> b\n\n # between\n\n a,\n b on failed\n | timed_out -> c"
        " limit n(\n1"
        "\n,\n2)\n  then -> d\n c -> match .x {\n 1\n | 2 -> d\n else -> e } } }"
    ).workflows
    first, second, third = flow.edges[0]
    assert [each.node.text for each in first.chain if isinstance(each, s.Endpoint)] == ["a", "b"]
    assert [each.node.text for each in second.heads] == ["a", "b"]
    assert [each.text for each in second.outcomes] == ["failed", "timed_out"]
    assert second.limit is not None
    assert third.match is not None
    assert [len(arm.patterns) for arm in third.match.arms] == [2, 0]


def test_documentation_and_silences() -> None:
    parsed = parse(
        Source(
            "x.flow",
            "# apart\n\n# First\n#second\n# allow(WT0309): on purpose\nworkflow a {\n  input {\n    # of a\n"
            "    a: text, b: int # none\n  }\n  compute x = 1 # behind\n  compute y = 2\n}\n",
        )
    )
    (flow,) = parsed.file.workflows
    assert flow.doc == "First\nsecond"
    assert [field.doc for field in flow.inputs[0].fields] == ["of a", None]
    assert [node.doc for node in flow.nodes] == [None, None]
    (allow,) = parsed.file.allows
    assert (allow.code, allow.reason, allow.line) == ("WT0309", "on purpose", 5)


def test_header() -> None:
    """A missing header is no mistake; a newer one is told in one message, whatever else the file holds."""
    assert read("workflow a {}").language is None
    assert read("# c\nlanguage 1\nworkflow a {}").language == 1
    parsed = parse(Source("x.flow", 'language 7\nparallel § {{{ "\n'))
    (found,) = parsed.diagnostics
    assert found.code == "WT0020"
    assert "language 7" in found.message
    assert "language 1" in found.message


def nodes_of(tree: Any) -> Iterator[Any]:
    """Every part of a tree that has a place."""
    if isinstance(tree, tuple):
        for each in tree:
            yield from nodes_of(each)
    elif dataclasses.is_dataclass(tree) and not isinstance(tree, s.Span):
        yield tree
        for field in dataclasses.fields(tree):
            yield from nodes_of(getattr(tree, field.name))


@pytest.mark.parametrize("flow", FLOWS, ids=lambda path: path.stem)
def test_places(flow: Path) -> None:
    """A part lies inside the whole, a name's place spells it, an expression's place reads as the same one."""
    parsed = parse(Source(flow.name, flow.read_text()))
    text = parsed.source.text
    assert parsed.diagnostics == ()
    seen = 0
    for node in nodes_of(parsed.file):
        if not hasattr(node, "span"):
            continue
        piece = text[node.span.start : node.span.end]
        if isinstance(node, s.Name) and node.text != "budget turns":
            assert piece.strip('"') == node.text
        for part in nodes_of(tuple(getattr(node, field.name) for field in dataclasses.fields(node))):
            if hasattr(part, "span") and not isinstance(node, s.File) and not isinstance(part, s.Block):
                assert node.span.start <= part.span.start <= part.span.end <= node.span.end
        if (
            isinstance(node, s.Expr)
            and not isinstance(node, s.Ref | s.Text)
            and "/" not in piece
            and piece[0] != "."
        ):
            assert trees.bare(expr(piece)) == trees.bare(node)
            seen += 1
    assert seen > 50


def test_items_can_be_read_on_their_own() -> None:
    """A cache can keep items: each gives the same tree alone as in its file."""
    for flow in FLOWS:
        parsed = parse(Source(flow.name, flow.read_text()))
        for item in parsed.file.items:
            (alone,) = read(parsed.source.text[item.span.start : item.span.end]).items
            assert trees.bare(alone, docs=False) == trees.bare(item, docs=False)


def test_the_grammar_has_no_conflicts() -> None:
    """One LALR(1) grammar: Lark says so, with shift/reduce conflicts counted too."""
    program = (
        "import logging\nfrom pathlib import Path\nfrom lark import Lark, logger\n"
        "logger.setLevel(logging.DEBUG)\n"
        "import windtunnel.dsl as dsl\n"
        "text = Path(dsl.__file__).with_name('grammar.lark').read_text()\n"
        "Lark(text, parser='lalr', lexer='basic', start='item', debug=True, maybe_placeholders=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "onflict" not in done.stderr + done.stdout


def test_parsing_does_not_load_lark() -> None:
    program = "import sys\nfrom windtunnel.dsl import Source, parse\nparse(Source('x', 'workflow a {}'))\n"
    subprocess.run([sys.executable, "-c", f"{program}assert 'lark' not in sys.modules"], check=True)


def test_growth_is_linear() -> None:
    """S10: ten times the nodes take ten times the steps of the machine, not more."""

    def steps(nodes: int) -> int:
        text = (
            "workflow a {\n"
            + "".join(f"  compute n{n} = {{ a: {n}, b: [n{n}.a] }}\n" for n in range(nodes))
            + "}\n"
        )
        calls = 0

        def count(*_: Any) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            parsed = parse(Source("x.flow", text))
        finally:
            sys.setprofile(None)
        assert len(parsed.file.workflows[0].nodes) == nodes
        return calls

    steps(1)
    small, large = steps(100), steps(1000)
    assert large < 11 * small


def test_every_rule_has_a_builder() -> None:
    """The tables name a method for each rule, and no builder is left over."""
    from windtunnel.dsl.scenarios import Builder

    named = {each.builder for each in table().productions if each.builder is not None}
    made = {name for name in dir(Builder) if name.startswith("make_")}
    assert named <= made
    assert made - named <= {"make_word", "make_seq_same"}


def test_formatting_the_cases_changes_no_tree() -> None:
    for flow in FLOWS:
        source = Source(flow.name, flow.read_text())
        assert trees.bare(read(format_file(source))) == trees.bare(read(source.text))
