"""The map beside a snapshot: everything in the snapshot has a place, where its name stands."""

from __future__ import annotations

import pytest

from tests.compiler.test_checks import BUILT_IN
from windtunnel.compiler import compile_file
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.compiler.sourcemap import source_map


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name != "monitor"])
def test_everything_in_a_snapshot_has_its_place(name: str) -> None:
    """The same names as in the snapshot, each at the text that made it, through all includes."""
    compiled = compile_file(f"builtin:{name}")
    snapshot = compiled.snapshot
    assert isinstance(snapshot, Snapshot)
    found = source_map(compiled.checked, snapshot)
    assert found["digest"] == snapshot.digest
    assert set(found["nodes"]) == set(snapshot.nodes)
    assert set(found["mounts"]) == {"", *snapshot.composition.mounts}
    assert set(found["arrows"]) == {arm.key for edge in snapshot.edges for arm in edge.arms}
    for id, place in found["nodes"].items():
        source = compiled.checked.modules.sources[place["file"]]
        line = source.line(place["line"])
        assert line[place["column"] - 1 : place["endColumn"] - 1] == id.rpartition("/")[2]


def test_files_are_named_as_the_reader_wants() -> None:
    compiled = compile_file("builtin:autoplan")
    assert compiled.snapshot is not None
    found = source_map(compiled.checked, compiled.snapshot, lambda file: f"at/{file}")
    assert found["nodes"]["frame"]["file"] == "at/builtin:autoplan"
    assert found["nodes"]["summary/summarize"]["file"] == "at/builtin:plain-summary"
