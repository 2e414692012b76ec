"""`windtunnel faults` lists what `explore --fault` can put back."""

from __future__ import annotations

import json

from click.testing import CliRunner

from windtunnel.simulator.commands.faults import command
from windtunnel.simulator.operations import explore, seeded_faults


def told(*arguments: str) -> str:
    done = CliRunner().invoke(command, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def test_every_fault_stands_in_the_list_with_its_story() -> None:
    lines = told().splitlines()
    for fault in seeded_faults():
        assert any(line.split() == [fault.id, *fault.story.split()] for line in lines)


def test_one_fault_is_told_in_full() -> None:
    """The command it names finds it by the invariant it names."""
    text = told("W01")
    fault = next(one for one in seeded_faults() if one.id == "W01")
    assert fault.holds in text
    assert "windtunnel explore --fault W01" in text
    assert explore(fault="W01", faults=1).violations[0].invariant == fault.invariant
    assert fault.invariant in text
    assert "workflow answer {" in text


def test_the_list_as_json() -> None:
    listed = json.loads(told("--json", "W01", "C01", "W01"))
    assert listed["schema"] == "windtunnel.faults.v1"
    assert [one["id"] for one in listed["faults"]] == ["W01", "C01"]
    assert listed["faults"][1] == {
        "id": "C01",
        "part": "conversation",
        "story": "the transport owns the first turn, the projection the later ones",
    }


def test_an_unknown_fault_is_refused_by_name() -> None:
    done = CliRunner().invoke(command, ["W99"])
    assert done.exit_code == 2
    assert "there is no seeded fault W99; there are W01, " in done.output
