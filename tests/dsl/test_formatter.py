"""Formatting: the tree comes back, a second pass changes nothing, no comment is lost."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings

from tests.dsl import trees
from windtunnel.dsl import Source, format_file, format_tree, parse
from windtunnel.dsl import syntax as s

calm = settings(max_examples=150, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


@calm
@given(trees.files)
def test_what_is_printed_reads_back_as_the_same_tree(file: s.File) -> None:
    """Parse after format is the identity, for every tree; and format after that changes nothing (S07, B12)."""
    text = format_tree(file)
    parsed = parse(Source("x.flow", text))
    assert [each.message for each in parsed.diagnostics] == [], text
    assert trees.bare(parsed.file) == trees.bare(file), text
    assert format_file(parsed.source) == text
