"""Brackets that do not pair: where the indentation says the mistake is."""

from __future__ import annotations

import pytest

from windtunnel.dsl import Source, parse

FLOW = """workflow a {
  input { x: text }
  agent one "label" {
    prompt "p"
    example { a: [1, 2] }
  }
  compute two = {
    a: f(1, 2),
    b: { c: 1 },
  }
  edges {
    start -> one -> match .a {
      1 -> two limit (3 + 1) then -> exit b
      else -> exit c
    }
    two -> exit d
  }
}
"""


@pytest.mark.parametrize("place", [n for n, letter in enumerate(FLOW) if letter in "{}()[]"])
def test_one_bracket_too_few(place: int) -> None:
    """Any one bracket left out: few findings, one of them near, and most of the workflow is read."""
    text = FLOW[:place] + FLOW[place + 1 :]
    parsed = parse(Source("x.flow", text))
    assert 1 <= len(parsed.diagnostics) <= 3, [each.message for each in parsed.diagnostics]
    (flow,) = parsed.file.workflows
    assert len(flow.nodes) >= 1 or len(flow.edges) == 1


@pytest.mark.parametrize("bracket", ["{", "}", "(", ")", "[", "]"])
@pytest.mark.parametrize("line", range(1, 17))
def test_one_bracket_too_many(bracket: str, line: int) -> None:
    lines = FLOW.split("\n")
    lines[line] = f"{lines[line]} {bracket}"
    parsed = parse(Source("x.flow", "\n".join(lines)))
    assert 1 <= len(parsed.diagnostics) <= 4, [each.message for each in parsed.diagnostics]
    near = [parsed.source.position(each.primary.span.start)[0] for each in parsed.diagnostics]
    assert min(abs(found - line - 1) for found in near) <= 3
    assert len(parsed.file.workflows) == 1


def test_an_unclosed_block_is_told_at_its_brace() -> None:
    text = FLOW.replace("    example { a: [1, 2] }\n  }\n", "    example { a: [1, 2] }\n")
    (found,) = parse(Source("x.flow", text)).diagnostics
    assert found.code == "WT0008"
    assert text[found.primary.span.start - 8 : found.primary.span.end] == '"label" {'
    assert len(found.secondary) == 1
    assert text[found.secondary[0].place.span.start :].startswith("compute two")


def test_all_at_the_margin_still_ends() -> None:
    """Text without any indentation gives the heuristic nothing; it still reads what it can."""
    flat = "\n".join(line.strip() for line in FLOW.split("\n"))
    assert parse(Source("x.flow", flat)).diagnostics == ()
    for place in [n for n, letter in enumerate(flat) if letter in "{}()[]"]:
        assert parse(Source("x.flow", flat[:place] + flat[place + 1 :])).diagnostics
