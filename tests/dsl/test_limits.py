"""Every limit of the language, at the limit and one past it; nothing overflows, nothing hangs."""

from __future__ import annotations

import pytest

from windtunnel.dsl import Source, format_file, parse, read_source
from windtunnel.dsl.expressions import MAX_NAME, MAX_TEXT, MAX_WHOLE
from windtunnel.dsl.recovery import MAX_FINDINGS
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
