"""Every limit of the language, at the limit and one past it; nothing overflows, nothing hangs."""

from __future__ import annotations

import pytest

from windtunnel.dsl import Parsed, Source, format_file, parse, read_source
from windtunnel.dsl.brackets import MAX_REPORTED, mend
from windtunnel.dsl.expressions import MAX_NAME, MAX_TEXT, MAX_WHOLE
from windtunnel.dsl.lexer import MAX_ODD, MAX_RESTARTS, lex
from windtunnel.dsl.recovery import MAX_FINDINGS, MAX_REPAIRS
from windtunnel.dsl.source import MAX_FILE
from windtunnel.dsl.tokens import MAX_NESTING


def codes(text: str) -> list[str]:
    return [each.code for each in parse(Source("x.flow", text)).diagnostics]


def compute(expr: str) -> str:
    return f"language 1\n\nworkflow a {{\n  compute x = {expr}\n}}\n"


def test_file_size() -> None:
    head = b"language 1\nworkflow a {}\n#"
    full = head + b"x" * (MAX_FILE - len(head))
    source = read_source("x.flow", full)
    assert isinstance(source, Source)
    assert parse(source).diagnostics == ()
    more = read_source("x.flow", full + b"x")
    assert not isinstance(more, Source)
    assert more.code == "WT0012"
    assert "4_194_305" in more.message
    assert codes((full + b"x").decode()) == ["WT0012"]


def test_name_length() -> None:
    assert codes(f"workflow {'n' * MAX_NAME} {{}}\n") == []
    assert codes(f"workflow {'n' * (MAX_NAME + 1)} {{}}\n") == ["WT0011"]


def test_string_length() -> None:
    assert codes(compute(f'"{"s" * MAX_TEXT}"')) == []
    assert codes(compute(f'"{"s" * (MAX_TEXT + 1)}"')) == ["WT0014"]


@pytest.mark.parametrize(
    ("left", "right"), [("[", "]"), ("(", ")"), ("{ a: ", " }"), ("f(", ")"), ('"${', '}"')]
)
def test_nesting_of_brackets(left: str, right: str) -> None:
    """S12, B28: too deep a nesting has its own message, at any depth."""
    per_level = 2 if left == '"${' else 1
    most = (MAX_NESTING - 1) // per_level
    assert codes(compute(left * most + "1" + right * most)) in ([], ["WT0013"] if left == "f(" else [])
    for depth in (MAX_NESTING + 1, 3 * MAX_NESTING, 20_000):
        assert codes(compute(left * depth + "1" + right * depth)) == ["WT0013"]
        assert "WT0013" in codes(compute(left * depth))


@pytest.mark.parametrize(
    "form", ["not {}", "-{}", "{} + a", "{}.a", "if a then b else {}", "{}[0]", "a and ({})"]
)
def test_nesting_without_brackets(form: str) -> None:
    """The tree is never deeper than the limit, however it is written, so that later passes may recurse."""

    def nested(levels: int) -> str:
        head, tail = form.split("{}")
        return compute(head * levels + "a" + tail * levels)

    assert codes(nested(MAX_NESTING - 2)) == []
    assert codes(nested(MAX_NESTING)) == ["WT0013"]
    assert codes(nested(20_000)) == ["WT0013"]


def test_nesting_at_the_limit_can_be_formatted() -> None:
    for head, tail in (("[", "]"), ("{ a: ", " }"), ("not ", ""), ("(1 + ", ")")):
        text = compute(head * (MAX_NESTING - 3) + "a" + tail * (MAX_NESTING - 3))
        once = format_file(Source("x.flow", text))
        assert codes(once) == []
        assert format_file(Source("x.flow", once)) == once


def test_nesting_of_types() -> None:
    deep = "[" * (MAX_NESTING - 2) + "text" + "]" * (MAX_NESTING - 2)
    assert codes(f"type A = {deep}\n") == []
    assert codes(f"type A = [[[{deep}]]]\n") == ["WT0013"]
    assert codes(f"workflow a {{ input {{ a: [{deep}] }} }}\n") == ["WT0013"]


def test_numbers() -> None:
    """S12: a huge number is a finding."""
    assert codes(compute(f"[{MAX_WHOLE}, {MAX_WHOLE}ms, 1e308]")) == []
    assert codes(compute(f"{MAX_WHOLE + 1}")) == ["WT0018"]
    assert codes(compute(f"{MAX_WHOLE + 1}ms")) == ["WT0018"]
    assert codes(compute("1e309")) == ["WT0018"]
    assert codes(compute("9" * 100_000)) == ["WT0018"]
    assert codes(compute("9" * 100_000 + "d")) == ["WT0018"]


def test_number_of_findings() -> None:
    """A file of nothing but mistakes ends with one word about the rest."""
    lines = "".join(f"  compute c{n} = = {n}\n" for n in range(MAX_FINDINGS))
    text = f"workflow a {{\n{lines}}}\n"
    assert codes(text) == ["WT0004"] * MAX_FINDINGS
    found = codes(text.replace("compute c0", "compute = =\n  compute c0"))
    assert found[-1] == "WT0024"
    assert len(found) == MAX_FINDINGS + 1


def broken(count: int) -> Parsed:
    """A workflow with so many broken lines, and a sound one behind it."""
    lines = "".join(f"  compute c{n} = = {n}\n" for n in range(count))
    return parse(Source("x.flow", f"workflow a {{\n{lines}}}\nworkflow b {{\n  compute d = 1\n}}\n"))


def test_number_of_repairs() -> None:
    """So many changes are tried and no more; the rest of the file then counts as skipped, not as missing."""
    most = broken(MAX_REPAIRS)
    assert [(flow.name.text, len(flow.nodes)) for flow in most.file.workflows] == [
        ("a", MAX_REPAIRS),
        ("b", 1),
    ]
    assert most.holes == ()
    more = broken(MAX_REPAIRS + 1)
    assert more.file.workflows == ()
    text = more.source.text
    assert {text[hole.start : hole.start + 10] for hole in more.holes} == {"workflow a", "workflow b"}
    for parsed in (most, more):
        assert parsed.diagnostics[-1].code == "WT0024"


def test_number_of_odd_characters() -> None:
    """What is no token is kept count of up to a limit; past it, it is passed over in silence."""

    def odd(count: int) -> tuple[int, int]:
        lines = "".join(f"  compute c{n} = § {n}\n" for n in range(count))
        source = Source("x.flow", f"workflow a {{\n{lines}}}\n")
        return len(lex(source).diagnostics), len(parse(source).file.workflows[0].nodes)

    assert odd(MAX_ODD) == (MAX_ODD, MAX_ODD)
    assert odd(MAX_ODD + 1) == (MAX_ODD, MAX_ODD + 1)


@pytest.mark.parametrize("line", ["compute c{n} = {n})", "compute c{n} = ({n}"])
def test_number_of_odd_brackets(line: str) -> None:
    """Brackets without a partner are all mended; the findings about them end at a limit."""

    def odd(count: int) -> tuple[int, int]:
        lines = "".join(f"  {line.format(n=n)}\n" for n in range(count))
        source = Source("x.flow", f"workflow a {{\n{lines}}}\n")
        found = mend(source, lex(source).tokens).diagnostics
        return len(found), len(parse(source).file.workflows[0].nodes)

    assert odd(MAX_REPORTED) == (MAX_REPORTED, MAX_REPORTED)
    assert odd(MAX_REPORTED + 1) == (MAX_REPORTED, MAX_REPORTED + 1)


def test_number_of_restarts() -> None:
    """So many strings are told apart that lack their end, or whose `${` does; then the rest is one string."""

    def agents(count: int, prompt: str) -> tuple[list[str], int]:
        lines = "".join(f"  agent c{n} {{\n    prompt {prompt}\n  }}\n" for n in range(count))
        parsed = parse(Source("x.flow", f"workflow a {{\n{lines}}}\n"))
        return [each.code for each in parsed.diagnostics], len(parsed.file.workflows[0].nodes)

    unclosed, unfinished = '"""\n      Say it.', '"""\n      Say ${ it.\n    """'
    assert agents(MAX_RESTARTS, unclosed) == (["WT0002"] * MAX_RESTARTS, MAX_RESTARTS)
    assert agents(MAX_RESTARTS, unfinished) == (["WT0019"] * MAX_RESTARTS, MAX_RESTARTS)
    for prompt, code in ((unclosed, "WT0002"), (unfinished, "WT0019")):
        codes, nodes = agents(MAX_RESTARTS + 2, prompt)
        assert codes[-1] != code
        assert codes.count(code) <= MAX_RESTARTS + 1
        assert nodes == MAX_RESTARTS + 1


def test_hopeless_files_end_soon() -> None:
    """Megabytes of brackets, quotes, dollars or words are read once, not again and again."""
    for piece in (
        "{",
        "}",
        '"',
        '"""',
        "${",
        '"${',
        "a ",
        "-> ",
        "workflow a {\n",
        "\n",
        "'",
        "(]",
        "if ",
        "= ",
    ):
        text = piece * (60_000 // len(piece))
        assert codes(text)
