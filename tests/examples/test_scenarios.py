"""The scenarios of examples and built-ins speak of what is there: nodes, choices, values that fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from windtunnel.compiler import check_file, compile_file
from windtunnel.compiler.acceptance import Accepted, accept
from windtunnel.compiler.constants import constant
from windtunnel.compiler.snapshot import (
    ActionNode,
    AgentNode,
    AssistantMessage,
    DecisionNode,
    ShellNode,
    Snapshot,
    SubmittedOutput,
)
from windtunnel.dsl import Source, format_file, parse
from windtunnel.dsl.syntax import Act, Expr, File, NodePath, PersonLine, Scenario

ROOT = Path(__file__).parent.parent.parent
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("examples", "tests/cases/builtins")
    for path in (ROOT / folder).glob("*.scenarios.flow")
)
BUILTINS = ROOT / "compiler" / "builtins"


def read(name: str) -> File:
    parsed = parse(Source(name, (ROOT / name).read_text(encoding="utf-8")))
    assert not parsed.diagnostics
    return parsed.file


def snapshot_of(name: str, file: File) -> Snapshot:
    """The workflow that the scenarios of a file are for."""
    (line,) = file.imports
    assert line.path is not None
    target = line.path.constant
    assert isinstance(target, str)
    path = target if target.startswith("builtin:") else str((ROOT / name).parent / target)
    made = compile_file(path, workflow=line.names[0].name.text)
    assert made.snapshot is not None
    return made.snapshot


def value_of(expr: Expr) -> Any:
    """A value written in a scenario; they are all constants."""
    found = constant(expr)
    assert found is not None
    return found[0]


def named(path: NodePath) -> str:
    return "/".join(part.text for part in path.parts)


def check_act(snapshot: Snapshot, node: str, act: Act) -> str | None:
    """What is wrong with an act; a validator may refuse what is submitted, its type may not."""
    declared = snapshot.nodes[node]
    verb = act.verb.text
    if verb in ("stalls", "fails", "thinks", "calls"):
        return None
    assert act.argument is not None
    value = value_of(act.argument)
    if verb == "says":
        return (
            None if isinstance(declared, AgentNode) and isinstance(value, str) else "says text, an agent only"
        )
    if verb == "submits":
        if not isinstance(declared, AgentNode):
            return "only an agent submits"
        if isinstance(declared.expected_output, AssistantMessage):
            return None
        assert isinstance(declared.expected_output, SubmittedOutput)
        verdict = accept(declared.expected_output.type, value, snapshot.types)
        return None if isinstance(verdict, Accepted) else str(verdict)
    assert verb == "returns", verb
    if isinstance(declared, ActionNode):
        verdict = accept(declared.returns, value, snapshot.types)
        return None if isinstance(verdict, Accepted) else str(verdict)
    return None if isinstance(declared, ShellNode) else "only an effect returns"


def check_person(snapshot: Snapshot, line: PersonLine) -> str | None:
    """What is wrong with a line of a person."""
    if line.node is None:
        return None
    declared = snapshot.nodes.get(named(line.node))
    if not isinstance(declared, DecisionNode) or line.choice is None:
        return f"there is no decision {named(line.node)}"
    choice = declared.choices.get(line.choice.text)
    if choice is None:
        return f"there is no choice {line.choice.text}"
    asked = set() if choice.asks is None else {choice.asks}
    given = set() if line.argument is None else set(value_of(line.argument))
    return None if asked == given else f"{line.choice.text} asks {asked}, given {given}"


def places_of(scenario: Scenario) -> list[NodePath]:
    """Every node that a scenario names by its path."""
    found = [line.node for line in scenario.provider]
    found += [line.node for line in scenario.person if line.node is not None]
    moments = [*(line.moment for line in scenario.person), *(line.moment for line in scenario.faults)]
    events = [moment.event for moment in moments if moment is not None and moment.event is not None]
    found += [event.node for event in events if event.node is not None]
    for expect in scenario.expects:
        found += expect.order
    return found


@pytest.mark.parametrize("name", FILES)
def test_scenarios_speak_of_what_is_there(name: str) -> None:
    file = read(name)
    snapshot = snapshot_of(name, file)
    known = {*snapshot.nodes, *snapshot.composition.mounts}
    for scenario in file.scenarios:
        title = scenario.title.constant
        given = {} if scenario.input is None else value_of(scenario.input)
        verdict = accept(snapshot.input, given, snapshot.types)
        assert isinstance(verdict, Accepted), (title, str(verdict))
        for path in places_of(scenario):
            assert named(path) in known, (title, named(path))
        for line in scenario.provider:
            for turn in line.turns:
                for act in turn:
                    assert check_act(snapshot, named(line.node), act) is None, (title, named(line.node))
        for person in scenario.person:
            assert check_person(snapshot, person) is None, title


@pytest.mark.parametrize("name", FILES)
def test_scenarios_check_clean_and_have_a_title_of_their_own(name: str) -> None:
    assert check_file(str(ROOT / name)).diagnostics == ()
    titles = [scenario.title.constant for scenario in read(name).scenarios]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", FILES)
def test_scenarios_are_formatted(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert format_file(Source(name, text)) == text


def test_every_built_in_has_scenarios() -> None:
    """B413, B421, B589, B590: what a built-in must do is written down beside it."""
    shipped = sorted(path.stem for path in BUILTINS.glob("*.flow"))
    written = sorted(Path(name).name.removesuffix(".scenarios.flow") for name in FILES if "builtins" in name)
    assert written == shipped
