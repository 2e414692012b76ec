"""Formatting: the tree comes back, a second pass changes nothing, no comment is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import Golden
from tests.dsl import trees
from tests.dsl.spreading import Chance, spread, uncommented
from windtunnel.dsl import Source, format_file, format_tree, parse
from windtunnel.dsl import syntax as s

CASES = Path(__file__).parent.parent / "cases" / "dsl"
FLOWS = sorted((*(CASES / "parse").glob("*.flow"), *(CASES / "format").glob("*.flow")))
calm = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@calm
@given(trees.files)
def test_what_is_printed_reads_back_as_the_same_tree(file: s.File) -> None:
    """Parse after format is the identity for every tree, and format is idempotent (S07, B12)."""
    text = format_tree(file)
    parsed = parse(Source("x.flow", text))
    assert [each.message for each in parsed.diagnostics] == [], text
    assert trees.bare(parsed.file) == trees.bare(file), text
    assert format_file(parsed.source) == text


@pytest.mark.parametrize("flow", FLOWS, ids=lambda path: path.stem)
@calm
@given(st.integers(0, 2**32).map(Chance))
def test_layout_is_no_meaning(flow: Path, chance: Chance) -> None:
    """Other white space between the same tokens gives the same text, whatever it was (S08, B09, B14, B32)."""
    source = uncommented(flow)
    other, _ = spread(source, chance, comments=False)
    assert format_file(Source(flow.name, other)) == format_file(source)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda path: path.stem)
@calm
@given(st.integers(0, 2**32).map(Chance))
def test_no_comment_is_lost_or_doubled(flow: Path, chance: Chance) -> None:
    """Comments in any place stay, once each; the tree stays; the second pass changes nothing (S07, B30)."""
    source = uncommented(flow)
    text, count = spread(source, chance, comments=True)
    before = parse(Source(flow.name, text))
    assert [each.message for each in before.diagnostics] == [], text
    done = format_file(before.source)
    after = parse(Source(flow.name, done))
    assert [each.message for each in after.diagnostics] == [], done
    assert sorted(each.text for each in after.comments) == sorted(f"# c{n}" for n in range(1, count + 1)), (
        done
    )
    assert trees.bare(after.file) == trees.bare(before.file), done
    assert format_file(after.source) == done


@pytest.mark.parametrize("flow", sorted((CASES / "format").glob("*.flow")), ids=lambda path: path.stem)
def test_canonical_text(flow: Path, golden: Golden) -> None:
    """The chosen form of each construct, and where comments go."""
    source = Source(flow.name, flow.read_text())
    assert parse(source).diagnostics == ()
    golden(f"dsl/format/{flow.stem}.formatted", format_file(source))


def test_a_file_with_errors_is_left_alone() -> None:
    text = "workflow a {\n   compute  x = = 1 }\n"
    assert format_file(Source("a.flow", text)) == text


def test_a_comment_in_an_empty_block_stays_once() -> None:
    """B30: a comment as the only thing in a block."""
    for block in ("edges", "exits", "input"):
        text = f"language 1\n\nworkflow a {{\n  {block} {{\n    # only this\n  }}\n}}\n"
        assert format_file(Source("a.flow", text)) == text
