"""What a scenario asks for that is not simulated: refused by name and place before anything runs.

Each table below lists what *is* acted out; whoever teaches the simulator more adds a line here and its
handler in `directing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from windtunnel.compiler.scenario import Expectation, FaultLine, PersonLine, Scenario, Where
from windtunnel.simulator.scenario.verdict import Broken, Cause

VERBS: Final = ("sends", "answers", "presses", "cancels", "pauses", "resumes")
PROCESS_FAULTS: Final = (("crash", "host"),)
REPEATABLE: Final = (
    "message_start",
    "message_update",
    "message_end",
    "turn_end",
    "agent_settled",
    "submission",
    "effect_applied",
    "answer",
)
"""What can come a second time: pieces of the model's stream, what is reported to the engine, and answers."""

MESSAGE_FAULTS: Final = {"duplicate": REPEATABLE, "delay": ("answer",), "drop": ("answer",)}
"""What can befall which messages."""

WORLD_NAMES: Final = ("client",)
"""World names that nothing simulated stands behind."""


def refusals(scenario: Scenario) -> tuple[Broken, ...]:
    """Everything in the scenario that is not simulated, in the order of the text; nodes refuse themselves."""
    found: list[Broken] = []
    for person in scenario.person:
        found += _person(person)
    for fault in scenario.faults:
        found += _fault(fault)
    for expect in scenario.expects:
        found += _expect(expect)
    return tuple(found)


def _not(what: str, where: Where) -> Broken:
    return Broken(Cause.NOT_SIMULATED, "", f"not simulated yet: {what}", where)


def _person(line: PersonLine) -> Iterator[Broken]:
    if line.verb not in VERBS:
        yield _not(f"a person who {line.verb}", line.where)


def _fault(line: FaultLine) -> Iterator[Broken]:
    if line.process is not None:
        if (line.kind, line.process) not in PROCESS_FAULTS:
            yield _not(f"`{line.kind} {line.process}`", line.where)
        return
    named = "" if line.event is None else f" {line.event}"
    possible = MESSAGE_FAULTS.get(line.kind, ())
    if line.event is None or line.event.event not in possible:
        yield _not(f"`{line.kind}{named}`", line.where)
    elif line.moment is not None or (line.for_ms is not None) != (line.kind == "delay"):
        yield _not(f"a moment for `{line.kind}{named}`", line.where)


def _expect(expect: Expectation) -> Iterator[Broken]:
    for _, read in expect.reads:
        if read.name in WORLD_NAMES:
            yield _not(f"`{read.name}`, the browser of a person", expect.where)
    if "transcript.client" in expect.text:
        yield _not("`transcript.client`, what the browser shows", expect.where)
