"""Every scenario of the project runs as it is written. The titles name the rows that they prove."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

from windtunnel.compiler import stage_file
from windtunnel.compiler.scenario import Scenario
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.dsl import Source, format_file, parse
from windtunnel.simulator.report.verdicts import text
from windtunnel.simulator.scenario.running import run_scenario

ROOT = Path(__file__).parent.parent.parent
OURS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/scenarios").glob("*.flow"))
FILES = [
    *OURS,
    *(
        path.relative_to(ROOT).as_posix()
        for folder in ("examples", "tests/cases/builtins")
        for path in sorted((ROOT / folder).glob("*.scenarios.flow"))
    ),
]


class Case(NamedTuple):
    """A scenario by its file and title."""

    file: str
    title: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}::{self.title}"


def cases() -> Iterator[Case]:
    """Every scenario, found without compiling anything."""
    for file in FILES:
        parsed = parse(Source(file, (ROOT / file).read_text(encoding="utf-8")))
        for scenario in parsed.file.scenarios:
            assert scenario.title.constant is not None
            yield Case(file, scenario.title.constant)


@lru_cache(maxsize=4)
def staged(file: str) -> dict[str, tuple[Scenario, Snapshot]]:
    """The scenarios of a file by title."""
    found = stage_file(str(ROOT / file))
    assert found.diagnostics == ()
    return {scenario.title: (scenario, snapshot) for scenario, snapshot in found.scenarios}


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_scenario_runs_as_it_is_written(case: Case) -> None:
    """Nothing of it is refused, and everything is as it expects."""
    scenario, snapshot = staged(case.file)[case.title]
    verdict = run_scenario(scenario, snapshot)
    assert verdict.passed, text(verdict)


@pytest.mark.parametrize("file", OURS)
def test_scenario_files_are_formatted(file: str) -> None:
    """They are read by people, so they look like everything else."""
    source = (ROOT / file).read_text(encoding="utf-8")
    assert format_file(Source(file, source)) == source


LISTS = {
    "assistant-capture.flow": "B223 B224 B225 B226 B227 B228 B229 B230 B231 B232 B233 B234 B235",
    "crash-points.flow": "B279 B280 B281 B282 B283 B284 B285 B286 B289",
    "plain-summary.flow": "B413 B414 B415 B416 B417 B418 B420 B421 B422 B423",
    "autoplan.flow": "B489a B489b B489c B489d B489e B489f B489g B489h B551 B552 B556 B557",
}
"""The rows of each verification list that a scenario can prove. Input that is too large (B419) never becomes
a run; a lost claim (B287) and a stale branch (B288) need a second runner and a second branch.
"""


@pytest.mark.parametrize("file", LISTS)
def test_each_row_of_a_list_has_a_scenario(file: str) -> None:
    """The verification lists are complete."""
    titles = " ".join(case.title for case in CASES if Path(case.file).name == file)
    named = set(titles.replace(":", " ").split())
    assert [row for row in LISTS[file].split() if row not in named] == []


NOTICED = {
    "W01": ("crash-points.flow", "B282"),
    "W02": ("crash-points.flow", "B289"),
    "W04": ("assistant-capture.flow", "B223"),
    "W05": ("assistant-capture.flow", "B226"),
    "W06": ("assistant-capture.flow", "B31"),
    "W12": ("crash-points.flow", "B284"),
    "W18": ("assistant-capture.flow", "B233"),
    "W26": ("assistant-capture.flow", "B233 B422"),
    "W34": ("assistant-capture.flow", "B198: tools"),
}
"""Bugs that are put back, and a scenario that no longer passes then."""


@pytest.mark.parametrize("fault", NOTICED)
def test_scenarios_notice_bugs(fault: str) -> None:
    """A scenario that passes whatever the engine does would prove nothing."""
    name, begin = NOTICED[fault]
    found = staged(f"tests/scenarios/{name}")
    scenario, snapshot = next(found[title] for title in found if title.startswith(begin))
    assert not run_scenario(scenario, snapshot, switches=frozenset({fault})).passed
