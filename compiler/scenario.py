"""A scenario as data: what a run is given, what model, people and faults do in it, and what is expected.

Values are plain JSON, node paths are qualified ids, expressions stand in the list form of `expression` over
the free variables that `Expectation.reads` names. A scenario and the snapshot of its workflow are enough to
run it; no source is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from pydantic import JsonValue


class Where(NamedTuple):
    """A place in a source file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Act:
    """One act of a provider. `tool` is set for `calls`; `value` is None for a verb that takes none."""

    verb: str
    value: JsonValue
    tool: str | None
    where: Where


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """What happens at a node, turn by turn; `visit` None stands for every visit without a line of its own."""

    node: str
    visit: int | None
    turns: tuple[tuple[Act, ...], ...]
    where: Where


@dataclass(frozen=True, slots=True)
class EventName:
    """An event of the trace, at any node and visit where these are None."""

    event: str
    node: str | None = None
    visit: int | None = None

    def __str__(self) -> str:
        node = f" of {self.node}" if self.node is not None else ""
        return f"{self.event}{node}{'' if self.visit is None else f' visit {self.visit}'}"


@dataclass(frozen=True, slots=True)
class Moment:
    """`at` a time since the start, or `before`, `during` or `after` an event."""

    relation: Literal["at", "after", "before", "during"]
    at_ms: int | None = None
    event: EventName | None = None

    def __str__(self) -> str:
        return f"at {self.at_ms}ms" if self.event is None else f"{self.relation} {self.event}"


@dataclass(frozen=True, slots=True)
class PersonLine:
    """What a person does: once at its moment, or whenever it can be done where no moment is given."""

    verb: str
    node: str | None
    choice: str | None
    value: JsonValue
    moment: Moment | None
    where: Where


@dataclass(frozen=True, slots=True)
class FaultLine:
    """What goes wrong. `process` is set for crashes and their like, `event` for faults of messages."""

    kind: str
    process: str | None
    event: EventName | None
    moment: Moment | None
    for_ms: int | None
    where: Where


class WorldRead(NamedTuple):
    """One thing of the world that an expectation reads.

    `name` is a world name (`run`, `clock`, …) without arguments, or a function (`visits`, `visible`, …) of
    a node and texts.
    """

    name: str
    arguments: tuple[str, ...] = ()


class Part(NamedTuple):
    """A part of an expectation that is worth showing: as it is written, and its expression."""

    text: str
    expression: list[Any]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must hold at the end, always, or at least once; or the order in which nodes start.

    `reads` names the free variables of `expression` in order; `parts` are shown with their values when it
    does not hold.
    """

    mode: Literal["end", "always", "eventually", "order"]
    text: str
    expression: list[Any] | None
    reads: tuple[tuple[str, WorldRead], ...]
    parts: tuple[Part, ...]
    order: tuple[str, ...]
    where: Where


@dataclass(frozen=True, slots=True)
class Scenario:
    """A test of one workflow. `input` None lets the simulator make one up; `host` are the words of its kind.

    `has_provider` is False where no behaviour is written down at all.
    """

    title: str
    workflow: str
    input: JsonValue
    host: tuple[str, ...]
    provider: tuple[ScriptLine, ...]
    has_provider: bool
    person: tuple[PersonLine, ...]
    faults: tuple[FaultLine, ...]
    expects: tuple[Expectation, ...]
    where: Where


def under(scenario: Scenario, file: str) -> Scenario:
    """The scenario with its places in a file of that name."""

    def here(where: Where) -> Where:
        return where._replace(file=file)

    return replace(
        scenario,
        where=here(scenario.where),
        provider=tuple(
            replace(
                line,
                where=here(line.where),
                turns=tuple(
                    tuple(replace(act, where=here(act.where)) for act in turn) for turn in line.turns
                ),
            )
            for line in scenario.provider
        ),
        person=tuple(replace(line, where=here(line.where)) for line in scenario.person),
        faults=tuple(replace(line, where=here(line.where)) for line in scenario.faults),
        expects=tuple(replace(expect, where=here(expect.where)) for expect in scenario.expects),
    )
