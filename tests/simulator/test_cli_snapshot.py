"""A snapshot alone: run, searched, drawn and compared without its source; refused when it is not whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.simulator.test_cli import GOOD, Cli, windtunnel
from windtunnel.simulator.commands import console

__all__ = ["windtunnel"]


@pytest.fixture
def alone(windtunnel: Cli) -> Cli:
    """A folder that holds the snapshot `s.snapshot.json` and no flow."""
    Path("s.flow").write_text(GOOD)
    assert (
        windtunnel("compile", "s.flow", "-o", "s.snapshot.json", "--map", "s.map.json").code == console.CLEAN
    )
    for flow in Path().glob("*.flow"):
        flow.unlink()
    return windtunnel


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "s.snapshot.json"), "the run is completed"),
        (("explore", "s.snapshot.json", "--faults", "0"), "schedules"),
        (("crashpoints", "s.snapshot.json"), ""),
        (("graph", "s.snapshot.json", "--format", "svg"), "<svg"),
        (("graph", "s.snapshot.json", "--format", "txt"), "hello"),
        (("graph", "s.snapshot.json", "--format", "mmd"), "hello"),
        (("diff", "s.snapshot.json", "s.snapshot.json"), "nothing changed"),
        (("facts", "s.snapshot.json"), "steps: at most"),
        (("compile", "s.snapshot.json"), '"schema":"windtunnel.snapshot.v1"'),
    ],
)
def test_a_snapshot_alone_is_enough(alone: Cli, arguments: tuple[str, ...], said: str) -> None:
    """No source is needed, and none is there."""
    assert not list(Path().glob("*.flow"))
    found = alone(*arguments)
    assert found.code == console.CLEAN, found.err
    assert said in found.out


@pytest.mark.parametrize("command", ["run", "explore", "graph", "facts", "compile"])
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text.replace("snapshot.v1", "snapshot.v9"), "windtunnel.snapshot.v9"),
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: text.replace("Greet ", "Greet thee "), "digest"),
    ],
    ids=["unknown version", "truncated", "edited"],
)
def test_a_snapshot_that_is_not_whole_is_refused(alone: Cli, command: str, damage: object, said: str) -> None:
    """Wrong usage, with what is wrong about it, in whatever command it is given to."""
    assert callable(damage)
    file = Path("s.snapshot.json")
    file.write_text(damage(file.read_text()))
    found = alone(command, "s.snapshot.json")
    assert found.code == console.USAGE
    assert "s.snapshot.json is no snapshot that can be used" in found.err
    assert said in found.err


def test_the_map_stands_beside_it(alone: Cli) -> None:
    """The same digest, and the place of every node; the snapshot itself has no place in it."""
    snapshot, places = (json.loads(Path(f"s.{kind}.json").read_text()) for kind in ("snapshot", "map"))
    assert places["digest"] == snapshot["digest"]
    assert set(places["nodes"]) == set(snapshot["nodes"])
    assert {place["file"] for place in places["nodes"].values()} == {"s.flow"}
    assert '"line"' not in json.dumps(snapshot)
    refused = alone("compile", "s.snapshot.json", "--map", "again.json")
    assert refused.code == console.USAGE
    assert "the text that it was made from is not in it" in refused.err


def test_the_schema_of_snapshots_is_printed(windtunnel: Cli) -> None:
    """Without a FILE."""
    said = windtunnel("compile", "--schema")
    assert (said.code, said.err) == (console.CLEAN, "")
    assert json.loads(said.out)["$id"] == "urn:windtunnel:snapshot:v1"
