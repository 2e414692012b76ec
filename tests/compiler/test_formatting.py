"""The formatter and the meaning: digests do not depend on layout or comments."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.dsl.spreading import Chance, spread, uncommented
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.dsl import Source, format_file, parse

ROOT = Path(__file__).parent.parent.parent
FLOWS = [
    *sorted((ROOT / "compiler" / "builtins").glob("*.flow")),
    *sorted(p for p in (ROOT / "examples").glob("*.flow") if "scenarios" not in p.name),
    *sorted((ROOT / "examples" / "ports").glob("*.flow")),
]
LARGE = 10_000
SMALL = [path for path in FLOWS if path.stat().st_size < LARGE]
calm = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))


def digests(file: Path, text: str) -> dict[str, object] | None:
    """The three digests of the last workflow and those of its nodes; None where it does not compile."""
    folder = file.parent
    others = {each.name: each.read_text("utf-8") for each in sorted(folder.iterdir()) if each.is_file()}
    last = parse(Source(file.name, text)).file.workflows[-1].name.text
    snapshot = compile_workflow(MemoryReader({**others, file.name: text}), file.name, last).snapshot
    if snapshot is None:
        return None
    nodes = {name: node.digests for name, node in snapshot.nodes.items()}
    return {"all": snapshot.digest, "parts": snapshot.digests, "nodes": nodes}


@pytest.mark.parametrize("flow", SMALL, ids=lambda path: path.stem)
@calm
@given(st.integers(0, 2**32).map(Chance))
def test_layout_and_comments_leave_every_digest_as_it_is(flow: Path, chance: Chance) -> None:
    """S08, B32: blank lines and comments anywhere, then the formatter: no digest changes, not of a node."""
    source = uncommented(flow)
    text, _ = spread(source, chance, comments=True)
    assert parse(Source(flow.name, text)).diagnostics == ()
    wanted = digests(flow, flow.read_text("utf-8"))
    assert wanted is not None
    assert digests(flow, text) == wanted
    assert digests(flow, format_file(Source(flow.name, text))) == wanted


@pytest.mark.parametrize("flow", FLOWS, ids=lambda path: path.stem)
def test_what_was_spread_is_formatted_as_before(flow: Path) -> None:
    """Every flow of the project comes back from other white space: one form for one meaning."""
    source = uncommented(flow)
    text, _ = spread(source, Chance(7), comments=False)
    assert format_file(Source(flow.name, text)) == format_file(source)
