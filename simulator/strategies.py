"""Strategies for Hypothesis: workflows, scenarios, plans of faults, schedules and values of types.

They shrink towards what is quiet and small: fewer nodes, no fault, the first choice, the shortest value.
Hypothesis is needed here and nowhere else, so nothing of windtunnel imports this file by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from pydantic import JsonValue

from windtunnel.compiler.acceptance import Accepted, acceptor
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.scenario import (
    Act,
    EventName,
    FaultLine,
    Moment,
    PersonLine,
    Scenario,
    ScriptLine,
    Where,
)
from windtunnel.compiler.snapshot import (
    AgentNode,
    AssistantMessage,
    IntType,
    JsonType,
    ListTypeModel,
    LiteralValueType,
    MapTypeModel,
    NumberType,
    RecordTypeModel,
    RefType,
    SimpleType,
    Snapshot,
    TextType,
    TypeModel,
    UnionTypeModel,
)
from windtunnel.simulator.scenario.refusing import REPEATABLE

Types = Mapping[str, TypeModel]
Relation = Literal["after", "before", "during"]

MAX_WHOLE: Final = 2**53 - 1
MAX_LENGTH: Final = 12
"""Code points, items or entries beyond the least that a type wants."""

MAX_NODES: Final = 5
MAX_FAULTS: Final = 3
MAX_SCHEDULE: Final = 60
MAX_OPTION: Final = 12
NOWHERE: Final = Where("generated", 1, 1)


# --- values -------------------------------------------------------------------------------------------------


def values(type_: TypeModel, types: Types | None = None) -> SearchStrategy[JsonValue]:
    """Values that a type accepts, as a giver writes them: what has a default may be left out."""
    known = types or {}
    accepts = acceptor(type_, known)
    return _values(type_, known, 0).filter(lambda value: isinstance(accepts.accept(value), Accepted))


def _values(type_: TypeModel, types: Types, depth: int) -> SearchStrategy[Any]:
    match type_:
        case TextType():
            return _texts(type_)
        case IntType():
            return st.integers(_or(type_.min, -MAX_WHOLE), _or(type_.max, MAX_WHOLE))
        case NumberType():
            return st.floats(type_.min, type_.max, allow_nan=False, allow_infinity=False)
        case SimpleType(kind="bool"):
            return st.booleans()
        case SimpleType(kind="null"):
            return st.none()
        case SimpleType():
            return st.integers(0, 86_400_000)
        case JsonType():
            return _json()
        case LiteralValueType():
            return st.just(type_.value)
        case UnionTypeModel():
            return st.one_of(*(_values(member, types, depth) for member in type_.members))
        case ListTypeModel():
            return _lists(type_, types, depth)
        case MapTypeModel():
            least = type_.min or 0
            most = min(_or(type_.max, least + MAX_LENGTH), least + MAX_LENGTH)
            key, value = _values(type_.key, types, depth + 1), _values(type_.value, types, depth + 1)
            return st.dictionaries(key, value, min_size=least, max_size=max(least, most if depth < 4 else 0))
        case RecordTypeModel():
            return _records(type_, types, depth)
        case RefType():
            name = type_.name
            return st.deferred(lambda: _values(types[name], types, depth + 1))
    raise AssertionError(f"{type(type_).__name__} is no type of a snapshot")


def _or(bound: int | None, otherwise: int) -> int:
    return otherwise if bound is None else bound


def _texts(type_: TextType) -> SearchStrategy[str]:
    least = type_.min or 0
    if type_.pattern is not None:
        most = _or(type_.max, 10**6)
        return st.from_regex(type_.pattern, fullmatch=True).filter(lambda text: least <= len(text) <= most)
    most = min(_or(type_.max, least + MAX_LENGTH), least + MAX_LENGTH)
    return st.text(st.characters(codec="utf-8"), min_size=least, max_size=most)


def _json() -> SearchStrategy[Any]:
    scalars = st.none() | st.booleans() | st.integers(-1_000, 1_000) | st.text(max_size=8)
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    )


def _lists(type_: ListTypeModel, types: Types, depth: int) -> SearchStrategy[Any]:
    least = type_.min or 0
    most = min(_or(type_.max, least + MAX_LENGTH), least + MAX_LENGTH)
    # Deep inside a recursive type lists stay as short as they may be, so that values end.
    return st.lists(
        _values(type_.item, types, depth + 1), min_size=least, max_size=most if depth < 4 else least
    )


def _records(type_: RecordTypeModel, types: Types, depth: int) -> SearchStrategy[Any]:
    required: dict[str, SearchStrategy[Any]] = {}
    optional: dict[str, SearchStrategy[Any]] = {}
    for name, field in type_.fields.items():
        may_miss = field.optional or field.has_default
        (optional if may_miss else required)[name] = _values(field.type, types, depth + 1)
    return st.fixed_dictionaries(required, optional=optional if depth < 4 else {})


# --- schedules ----------------------------------------------------------------------------------------------


class Schedule:
    """Answers for one run: numbers that are taken around the number of options, then the quiet choice."""

    def __init__(self, answers: Sequence[int]) -> None:
        self.answers = tuple(answers)
        self._asked = 0

    def __repr__(self) -> str:
        return f"Schedule({list(self.answers)})"

    def choose(self, n: int, label: str) -> int:
        """The next answer, 0 once there is none left."""
        answer = self.answers[self._asked] if self._asked < len(self.answers) else 0
        self._asked += 1
        return answer % n


def schedules() -> SearchStrategy[Schedule]:
    """Schedules for `simulate(snapshot, choices=…)`; the simplest is the quiet one. Use each for one run."""
    quiet_or_any = st.one_of(st.just(0), st.just(0), st.integers(0, MAX_OPTION))
    return st.lists(quiet_or_any, max_size=MAX_SCHEDULE).map(Schedule)


# --- scenarios ----------------------------------------------------------------------------------------------

AGENT_EVENTS: Final = (
    "node_started",
    "agent_prompt_sent",
    "turn_start",
    "message_start",
    "message_update",
    "message_end",
    "turn_end",
    "agent_settled",
    "node_finished",
)
ROW_EVENTS: Final = ("message_end",)
"""Events whose row can be torn."""


def fault_plans(snapshot: Snapshot) -> SearchStrategy[tuple[FaultLine, ...]]:
    """Up to MAX_FAULTS faults that the world has: crashes around events of agents, and repetitions."""
    agents = _agents(snapshot)
    if not agents:
        return st.just(())
    return st.lists(_crashes(agents) | _repetitions(agents), max_size=MAX_FAULTS).map(tuple)


def _agents(snapshot: Snapshot) -> list[str]:
    return [name for name, node in snapshot.nodes.items() if isinstance(node, AgentNode)]


@st.composite
def _crashes(draw: DrawFn, agents: Sequence[str]) -> FaultLine:
    relations: tuple[Relation, ...] = ("after", "before", "during")
    relation = draw(st.sampled_from(relations))
    event = draw(st.sampled_from(ROW_EVENTS if relation == "during" else AGENT_EVENTS))
    moment = Moment(relation, None, EventName(event, draw(st.sampled_from(agents))))
    away = draw(st.none() | st.integers(1, 60_000))
    return FaultLine("crash", "host", None, moment, away, NOWHERE)


@st.composite
def _repetitions(draw: DrawFn, agents: Sequence[str]) -> FaultLine:
    event = EventName(draw(st.sampled_from(REPEATABLE)), draw(st.sampled_from(agents)))
    return FaultLine("duplicate", None, event, None, None, NOWHERE)


def scenarios(snapshot: Snapshot) -> SearchStrategy[Scenario]:
    """Scenarios of a workflow without expectations: an input, what is said, what a person does, faults.

    What is not written down is made up, and some lines may never be used; what such a scenario tests are the
    invariants.
    """
    return _scenarios(snapshot)


@st.composite
def _scenarios(draw: DrawFn, snapshot: Snapshot) -> Scenario:
    lines = tuple(line for name in _agents(snapshot) for line in draw(_scripts(snapshot, name)))
    return Scenario(
        "generated",
        snapshot.workflow,
        draw(values(snapshot.input, snapshot.types)),
        ("interactive",),
        lines,
        bool(lines),
        draw(_people(snapshot)),
        draw(fault_plans(snapshot)),
        (),
        NOWHERE,
    )


@st.composite
def _scripts(draw: DrawFn, snapshot: Snapshot, name: str) -> tuple[ScriptLine, ...]:
    """A line for an agent, or none: then its behaviour is made up."""
    if not draw(st.booleans()):
        return ()
    node = snapshot.nodes[name]
    assert isinstance(node, AgentNode), "only agents have scripts here"
    output = node.expected_output
    if isinstance(output, AssistantMessage):
        acts = st.text(min_size=1, max_size=8).map(lambda text: Act("says", text, None, NOWHERE))
    else:
        right = values(output.type, snapshot.types)
        acts = right.map(lambda value: Act("submits", value, None, NOWHERE))
    others = st.sampled_from(
        (
            Act("settles", None, None, NOWHERE),
            Act("retries", "overloaded", None, NOWHERE),
            Act("fails", "overloaded", None, NOWHERE),
            Act("calls", {}, "read", NOWHERE),
        )
    )
    turns = draw(st.lists((acts | others).map(lambda act: (act,)), min_size=1, max_size=6))
    return (ScriptLine(name, None, tuple(turns), NOWHERE),)


def _people(snapshot: Snapshot) -> SearchStrategy[tuple[PersonLine, ...]]:
    agents = _agents(snapshot)
    if not agents:
        return st.just(())
    return st.lists(_acts(agents), max_size=2).map(tuple)


@st.composite
def _acts(draw: DrawFn, agents: Sequence[str]) -> PersonLine:
    verb = draw(st.sampled_from(("sends", "presses", "cancels", "resumes")))
    value = {"sends": "Any news?", "presses": "escape"}.get(verb)
    event = EventName(draw(st.sampled_from(AGENT_EVENTS)), draw(st.sampled_from(agents)))
    timed = st.integers(0, 60_000).map(lambda at: Moment("at", at, None))
    moment = draw(st.just(Moment("after", None, event)) | timed)
    return PersonLine(verb, None, None, value, moment, NOWHERE)


# --- workflows ----------------------------------------------------------------------------------------------


def flow_texts() -> SearchStrategy[str]:
    """Workflows as text, without errors: chains of agents and computed values, with branches, loops and
    failure routes.
    """
    return _flow_texts()


def flows() -> SearchStrategy[Snapshot]:
    """The snapshots of such workflows."""
    return flow_texts().map(_compiled)


def _compiled(text: str) -> Snapshot:
    made = compile_workflow(MemoryReader({"generated.flow": text}), "generated.flow")
    assert made.snapshot is not None, "what is generated has no errors"
    return made.snapshot


@st.composite
def _flow_texts(draw: DrawFn) -> str:
    kinds = draw(
        st.lists(st.sampled_from(("says", "submits", "computes", "decides")), min_size=1, max_size=MAX_NODES)
    )
    nodes: list[str] = []
    edges: list[str] = ["start -> n0"]
    for at, kind in enumerate(kinds):
        nodes += [f"  {line}" for line in _node(at, kind)]
        onward = f"n{at + 1}" if at + 1 < len(kinds) else "last"
        edges += draw(_edges(at, kind, onward))
    edges.append("last -> exit done")
    lines = [
        "language 1",
        "workflow generated {",
        "  input { topic: text(..20), loud: bool = false }",
        *nodes,
        "  compute last = { topic: input.topic, loud: input.loud }",
        "  edges {",
        *(f"    {edge}" for edge in edges),
        "  }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _node(at: int, kind: str) -> Iterator[str]:
    if kind == "computes":
        yield f"compute n{at} = {{ topic: input.topic }}"
        return
    output = {"says": "assistant", "submits": "{ text: text(..30) }", "decides": "{ again: bool }"}[kind]
    yield f"agent n{at} {{"
    yield '  prompt "Go on with ${input.topic}."'
    yield f"  expectedOutput {output}"
    yield "}"


@st.composite
def _edges(draw: DrawFn, at: int, kind: str, onward: str) -> list[str]:
    found = [f"n{at} -> {onward}"]
    if kind == "decides":
        back = draw(st.integers(0, at))
        limit = draw(st.integers(1, 2))
        found = [
            f"n{at} -> match .again {{",
            f"  true -> n{back} limit {limit} then -> {onward}",
            f"  false -> {onward}",
            "}",
        ]
    if kind != "computes" and draw(st.booleans()):
        found.append(f"n{at} on failed -> {onward}")
    return found
