"""Each seeded fault is noticed in its small world, by the property it is about; the sound system passes
them all.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from windtunnel.simulator import chat
from windtunnel.simulator.chat import endings, happenings, hunting, network, properties
from windtunnel.simulator.chat.faults import CHAT_FAULTS
from windtunnel.simulator.chat.hunting import follow
from windtunnel.simulator.chat.network import Setting
from windtunnel.simulator.chat.small_worlds import SMALL_WORLDS, hunt_fault

NOTICED = {
    "C01": "readers agree",
    "C02": "readers agree",
    "C03": "readers agree",
    "C04": "readers agree",
    "C05": "readers agree",
    "C06": "ids are unique",
    "C08": "one post at a time",
    "C09": "nothing said is lost",
    "C10": "readers agree",
    "C11": "nothing said is lost",
    "C12": "incremental is whole",
    "C13": "each message once",
    "C14": "readers agree",
    "C15": "readers agree",
    "C17": "nothing is stuck",
    "C18": "ids are unique",
    "C19": "removed stays removed",
    "C23": "ids are unique",
    "C24": "view never empties",
    "C25": "readers agree",
    "C26": "answers are prompt",
    "C27": "each message once",
    "C28": "failures are told",
    "C30": "idle is closed",
    "C32": "readers agree",
    "C33": "readers agree",
    "C34": "failures are told",
    "C35": "nothing is stuck",
    "C36": "removed stays removed",
    "C37": "readers agree",
    "C38": "log is in order",
    "C40": "nothing is stuck",
    "C41": "nothing accepted is lost",
}
"""The property that notices each fault first."""


@pytest.mark.parametrize("fault", CHAT_FAULTS)
def test_a_fault_is_noticed_and_the_sound_system_passes(fault: str) -> None:
    """Law 5: put back, the bug is found; with the same bounds the sound system has no violation, searched
    whole.
    """
    sound = hunt_fault(None, fault)
    assert (sound.finding, sound.complete) == (None, True)
    broken = hunt_fault(fault, fault)
    assert broken.finding is not None
    assert broken.finding.problem.property == NOTICED[fault]
    small = SMALL_WORLDS[fault]
    deviations = sum(move.kind is not None for move in broken.finding.path)
    assert deviations <= small.budget
    setting = Setting(
        **{name: getattr(small.setting, name) for name in small.setting.__slots__ if name != "faults"},
        faults=frozenset({fault}),
    )
    again = follow(setting, broken.finding.choices, small.budget)
    assert again is not None
    assert again.problem == broken.finding.problem


def test_every_fault_has_its_world() -> None:
    """No switch without a world, no world without a switch."""
    assert set(SMALL_WORLDS) == set(CHAT_FAULTS) == set(NOTICED)


@pytest.mark.parametrize("module", [properties, endings, hunting])
def test_what_judges_reads_no_switch(module: object) -> None:
    """The properties and the search never ask which fault is on."""
    tree = ast.parse(Path(str(getattr(module, "__file__", ""))).read_text(encoding="utf-8"))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "faults" not in names
    assert not any(name.endswith("chat.faults") for name in imported)


def test_the_world_asks_no_switch() -> None:
    """Moves and links do the same whatever is put back: only host and client ask."""
    for module in (network, happenings):
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        assert '" in ' not in text.replace('"reorder" in ', "")


def test_nothing_in_the_conversation_runs_by_itself() -> None:
    """Law 3: no coroutine and no deep copy in any file of the conversation; no handler yields."""
    folder = Path(str(chat.__file__)).parent
    for file in sorted(folder.glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            assert not isinstance(node, ast.AsyncFunctionDef | ast.Await), file.name
            if isinstance(node, ast.ImportFrom | ast.Import):
                assert "copy" not in [alias.name for alias in node.names], file.name
