"""Expectations, held against each moment of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import JsonValue

from windtunnel.compiler.evaluator import Compiled, Environment, EvaluationError, compile_expression
from windtunnel.compiler.scenario import Expectation, WorldRead
from windtunnel.simulator.scenario.verdict import Broken, Cause
from windtunnel.simulator.scenario.watching import World

NOTHING = cast(Environment, None)
"""Expectations read variables only."""


class Expecting:
    """The expectations of one scenario, and what became of each so far."""

    def __init__(self, expects: Sequence[Expectation]) -> None:
        self.checks = tuple(_Check(expect) for expect in expects)
        self._starts: list[tuple[str, int]] = []

    def moment(self, world: World) -> None:
        """Look at a moment of the run."""
        values: dict[WorldRead, JsonValue] = {}
        for check in self.checks:
            if check.expect.mode in ("always", "eventually"):
                check.look(world, values)

    def end(self, world: World, starts: Sequence[tuple[str, int]]) -> list[Broken]:
        """What was not as expected; `starts` are nodes and includes with the lines where they began."""
        values: dict[WorldRead, JsonValue] = {}
        found: list[Broken] = []
        for check in self.checks:
            broken = check.order(starts) if check.expect.mode == "order" else check.end(world, values)
            found += [] if broken is None else [broken]
        return found


class _Check:
    """One expectation. `met` says that an `eventually` has held."""

    def __init__(self, expect: Expectation) -> None:
        self.expect = expect
        self.met = False
        self.broken: Broken | None = None
        names = tuple(name for name, _ in expect.reads)
        self._condition = None if expect.expression is None else compile_expression(expect.expression, names)
        self._parts = [(part.text, compile_expression(part.expression, names)) for part in expect.parts]

    def look(self, world: World, values: dict[WorldRead, JsonValue]) -> None:
        if self.met or self.broken is not None:
            return
        holds = self._holds(world, values)
        if self.expect.mode == "eventually":
            self.met = holds is True
        elif holds is not True:
            self.broken = self._because(holds, "does not hold here", world, values)

    def end(self, world: World, values: dict[WorldRead, JsonValue]) -> Broken | None:
        mode = self.expect.mode
        if mode == "always":
            return self.broken
        holds = self._holds(world, values)
        if self.met or holds is True:
            return None
        said = "never held" if mode == "eventually" else "does not hold at the end"
        return self._because(holds, said, world, values)

    def order(self, starts: Sequence[tuple[str, int]]) -> Broken | None:
        at, seq = 0, 0
        for index, node in enumerate(self.expect.order):
            found = next((n for n in range(at, len(starts)) if starts[n][0] == node), None)
            if found is None:
                return self._out_of_order(index, seq, starts)
            at, seq = found + 1, starts[found][1]
        return None

    def _out_of_order(self, index: int, seq: int, starts: Sequence[tuple[str, int]]) -> Broken:
        node = self.expect.order[index]
        before = self.expect.order[index - 1] if index else None
        earlier = any(name == node for name, _ in starts)
        never = f"{node} never started" if not earlier else f"{node} did not start again"
        message = never if before is None else f"{never} after {before}"
        return Broken(Cause.EXPECTATION, self.expect.text, message, self.expect.where, seq)

    def _values(self, world: World, values: dict[WorldRead, JsonValue]) -> list[JsonValue]:
        for _, read in self.expect.reads:
            if read not in values:
                values[read] = world.read(read)
        return [values[read] for _, read in self.expect.reads]

    def _holds(self, world: World, values: dict[WorldRead, JsonValue]) -> JsonValue:
        assert self._condition is not None, "only an order has no condition"
        return _evaluated(self._condition, self._values(world, values))

    def _because(
        self, holds: JsonValue, said: str, world: World, values: dict[WorldRead, JsonValue]
    ) -> Broken:
        given = self._values(world, values)
        shown = tuple((text, _evaluated(part, given)) for text, part in self._parts)
        why = said if isinstance(holds, bool) else f"{said}: it is {holds}, neither true nor false"
        if isinstance(holds, str):
            why = f"{said}: {holds}"
        seq = len(world.events)
        return Broken(Cause.EXPECTATION, self.expect.text, why, self.expect.where, seq, shown)


def _evaluated(expression: Compiled, values: Sequence[JsonValue]) -> JsonValue:
    """The value, or in words why there is none."""
    try:
        return expression(NOTHING, *values)
    except EvaluationError as error:
        return str(error)


def starts_of(events: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Every node and include with the number of the line where it began, in order."""
    found: list[tuple[str, int]] = []
    for event in events:
        if event["type"] == "node_started":
            found.append((event["nodeId"], event["seq"]))
        elif event["type"] == "include_entered":
            found.append((event["payload"]["mountPath"], event["seq"]))
    return found
