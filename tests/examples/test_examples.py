"""Every example and every port checks clean, compiles, and says the truth about itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from windtunnel.compiler import check_file, compile_file
from windtunnel.dsl import Diagnostic, Source, format_file, parse

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
FLOWS = sorted(p.name for p in EXAMPLES.glob("*.flow") if not p.name.endswith(".scenarios.flow"))
SCENARIOS = sorted(p.name for p in EXAMPLES.glob("*.scenarios.flow"))
PORTS = sorted(p.name for p in (EXAMPLES / "ports").glob("*.flow"))
MISTAKE = re.compile(r"^#   (WT\d{4}(?: \(\d+ times\))?)  \S", re.MULTILINE)
FAITHFUL = ROOT / "tests" / "cases" / "ports"


def workflows(file: Path) -> list[str]:
    """The names of the workflows in a file."""
    parsed = parse(Source(file.name, file.read_text(encoding="utf-8")))
    assert not parsed.diagnostics
    return [workflow.name.text for workflow in parsed.file.workflows]


@pytest.mark.parametrize("name", [*FLOWS, *SCENARIOS, *(f"ports/{name}" for name in PORTS)])
def test_checks_clean(name: str) -> None:
    """Nothing is found, not even a hint."""
    assert [f"{d.code} {d.message}" for d in check_file(str(EXAMPLES / name)).diagnostics] == []


@pytest.mark.parametrize("name", [*FLOWS, *(f"ports/{name}" for name in PORTS)])
def test_compiles(name: str) -> None:
    for workflow in workflows(EXAMPLES / name):
        made = compile_file(str(EXAMPLES / name), workflow=workflow)
        assert made.snapshot is not None
        assert made.snapshot.workflow == workflow
        assert made.snapshot.title is not None, "a run of an example has a title"
        assert made.snapshot.exits, "an example ends somewhere"


def test_every_example_is_a_stop_of_the_tour() -> None:
    tour = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([^)]+\.flow)\)", tour))
    assert linked == {*FLOWS, *SCENARIOS, *(f"ports/{name}" for name in PORTS)}


def test_every_example_has_scenarios_for_itself() -> None:
    """B406: examples are shown with what should happen."""
    assert [name.replace(".flow", ".scenarios.flow") for name in FLOWS] == SCENARIOS
    for name in SCENARIOS:
        file = EXAMPLES / name
        parsed = parse(Source(name, file.read_text(encoding="utf-8")))
        (own,) = workflows(EXAMPLES / name.replace(".scenarios.flow", ".flow"))
        scenarios = parsed.file.scenarios
        assert scenarios
        assert {scenario.workflow.text for scenario in scenarios} == {own}
        assert all(scenario.expects for scenario in scenarios)


def test_every_port_has_its_faithful_form() -> None:
    assert sorted(p.name for p in FAITHFUL.glob("*.flow")) == PORTS


def told(diagnostics: Sequence[Diagnostic]) -> str:
    """What was found in a faithful port, as the comment on top of the mended one tells it."""
    groups: dict[str, list[Diagnostic]] = {}
    for found in diagnostics:
        groups.setdefault(found.code, []).append(found)
    if not groups:
        return "# The checker says nothing about the faithful port.\n"
    lines = ["# What the checker says about the faithful port:"]
    for code, group in sorted(groups.items()):
        times = f" ({len(group)} times)" if len(group) > 1 else ""
        lines.append(f"#   {code}{times}  {group[0].message}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", PORTS)
def test_a_port_tells_what_was_found_in_it(name: str, request: pytest.FixtureRequest) -> None:
    """The comment on top lists what is found in the faithful port; `--update-golden` writes it anew."""
    port = EXAMPLES / "ports" / name
    text = port.read_text(encoding="utf-8")
    block = re.search(
        r"^# (?:What the checker says|The checker says nothing).*\n(?:#   .*\n)*", text, re.MULTILINE
    )
    assert block is not None, "a port says on top what was found in it"
    wanted = told(check_file(str(FAITHFUL / name)).diagnostics)
    if request.config.getoption("--update-golden"):
        port.write_text(text.replace(block.group(), wanted), encoding="utf-8")
        return
    # The words of a message may change; which mistakes are found may not.
    assert MISTAKE.findall(block.group()) == MISTAKE.findall(wanted)


@pytest.mark.parametrize("name", [*FLOWS, *SCENARIOS])
def test_comments_of_examples_are_short_lines(name: str) -> None:
    """A newcomer reads them in a narrow window."""
    for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines():
        assert len(line) <= 120


@pytest.mark.parametrize("name", [*FLOWS, *SCENARIOS, *(f"ports/{name}" for name in PORTS)])
def test_is_formatted(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert format_file(Source(name, text)) == text
