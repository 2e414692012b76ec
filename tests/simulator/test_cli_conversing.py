"""`windtunnel explore --fault Cxx`: a known bug of the conversation, hunted in its own small world."""

from __future__ import annotations

import json

import pytest

from windtunnel.simulator import cli
from windtunnel.simulator.chat.faults import CHAT_FAULTS
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.hunting import follow
from windtunnel.simulator.chat.small_worlds import SMALL_WORLDS


@pytest.mark.parametrize("fault", CHAT_FAULTS)
def test_each_bug_of_the_conversation_is_hunted_by_name(
    fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Found with the way to it, and gone without the bug."""
    assert cli.run(("explore", "--fault", fault)) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"{fault}: {CHAT_FAULTS[fault]}\n\n✗ ")
    assert "\n    1  tab 0: " in said
    assert "✓ without the bug the whole world holds" in said
    small = SMALL_WORLDS[fault]
    marked = [line for line in said.splitlines() if line.startswith("! ")]
    assert len(marked) <= small.budget


def test_as_json_the_choices_lead_there_again(capsys: pytest.CaptureFixture[str]) -> None:
    """The violation, and what was seen."""
    assert cli.run(("explore", "--fault", "C08", "--json")) == 1
    said = json.loads(capsys.readouterr().out)
    small = SMALL_WORLDS["C08"]
    setting = replace(small.setting, faults=frozenset({"C08"}))
    again = follow(setting, tuple(said["found"]["violation"]["choices"]), small.budget)
    assert again is not None
    assert again.problem.message == said["found"]["violation"]["message"]
    assert (said["sound"]["complete"], said["sound"]["violation"]) == (True, None)


def test_a_search_that_is_cut_short_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """With fewer states nothing is found, and nothing is claimed."""
    assert cli.run(("explore", "--fault", "C13", "--states", "5")) == 0
    assert "nothing broke in the" in capsys.readouterr().out


def test_a_file_does_not_go_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The bug has its own world."""
    assert cli.run(("explore", "builtin:plain-summary", "--fault", "C08")) == 2
    assert "leave the FILE out" in capsys.readouterr().err
