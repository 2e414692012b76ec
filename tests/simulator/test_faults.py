"""Seeded faults: each is one guarded line, found in its own small world, and unknown to whoever judges."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.dsl import Severity
from windtunnel.simulator import explore, replay
from windtunnel.simulator.faults import BY_ID, FAULTS, Fault
from windtunnel.simulator.hosting import Hosting
from windtunnel.simulator.operations import world_of
from windtunnel.simulator.search import exploration
from windtunnel.simulator.search.exploration import Setup

ROOT = Path(__file__).parent.parent.parent / "simulator"
JUDGES = (
    *("account.py", "conduct.py", "promises.py", "invariants.py", "world.py", "tables.py", "moves.py"),
    *("handlers.py", "seats.py", "offers.py", "search/*.py", "chat/loop.py", "chat/log.py"),
)
GUARDED = ("run/*.py",)


def files(*patterns: str) -> list[Path]:
    """The files of some patterns."""
    return [file for pattern in patterns for file in sorted(ROOT.glob(pattern))]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_is_found_in_its_own_world(fault: Fault) -> None:
    """By default settings, with the invariant that it is about and a token that shows it again."""
    found = explore(fault=fault.id)
    assert found.violations[0].invariant == fault.invariant
    run = replay(found.violations[0].token, lambda name: pytest.fail(f"{name} is not needed"))
    assert run.violations[0].invariant == fault.invariant


WORLDS = sorted({(fault.world, fault.hosting) for fault in FAULTS if fault.unchecked is None})


@pytest.mark.parametrize(("world", "around"), WORLDS)
def test_the_sound_engine_passes_the_same_bounds(world: str, around: Hosting) -> None:
    """Nothing breaks without the switch, and nothing is left out."""
    fault = next(fault for fault in FAULTS if fault.world == world)
    found = exploration.explore(Setup(world_of(fault), hosting=around))
    assert found.violations == ()
    assert found.complete
    assert found.crash_points.missed == found.edges.missed == found.exits.missed == ()


def test_whoever_judges_reads_no_switch() -> None:
    """Invariants, world and search neither import the faults nor name a switch."""
    for file in files(*JUDGES):
        source = file.read_text(encoding="utf-8")
        assert "switches" not in source.replace("switches = frozenset() if fault is None", "").replace(
            "switches=switches", ""
        ), file.name
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom):
                assert node.module != "windtunnel.simulator.faults", file.name


def test_each_switch_guards_one_line() -> None:
    """One line of the engine asks for each of them."""
    asked = [
        found
        for file in files(*GUARDED)
        for found in re.findall(r'"(W\d\d)" (?:not )?in program\.switches', file.read_text(encoding="utf-8"))
    ]
    assert sorted(asked) == [fault.id for fault in FAULTS if fault.unchecked is None]


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.unchecked], ids=lambda fault: fault.id)
def test_the_sound_compiler_refuses_the_world(fault: Fault) -> None:
    """A fault of the compiler: what it should find is the only thing that is wrong there."""
    compiled = compile_workflow(MemoryReader({fault.world: fault.source}), fault.world)
    errors = {found.code for found in compiled.diagnostics if found.severity is Severity.ERROR}
    assert (compiled.snapshot, errors) == (None, {fault.unchecked})


def test_every_run_fault_of_a_real_system_that_can_be_put_back_is_here() -> None:
    """W27 and W28 are no switches: nothing here answers for a person, and an unreachable end is a finding."""
    numbers = {f"W{number:02}" for number in range(1, 35)} - {"W27", "W28"}
    assert set(BY_ID) == numbers
