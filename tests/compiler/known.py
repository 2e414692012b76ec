"""A run that stands still: what has happened so far as plain data, for expressions and validators to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Accepted, accept
from windtunnel.compiler.evaluator import compile_expression, compile_validator
from windtunnel.compiler.snapshot import AgentNode, ComputeNode, Snapshot, SubmittedOutput


@dataclass
class Known:
    """An environment made by hand. `ended` holds the nodes in the order in which they ended, and how."""

    snapshot: Snapshot
    given: JsonValue
    nodes: dict[str, JsonValue] = field(default_factory=dict)
    exits: dict[tuple[str, str], JsonValue] = field(default_factory=dict)
    ended: list[tuple[str, str]] = field(default_factory=list)

    def input(self, mount: str) -> JsonValue:
        """The input of the root; children are not entered here."""
        assert mount == "", "only the root has an input here"
        return self.given

    def node(self, node: str) -> JsonValue:
        """The output of a node that has run."""
        return self.nodes.get(node)

    def exit(self, mount: str, name: str) -> JsonValue:
        """What a mount left with."""
        return self.exits.get((mount, name))

    def choice(self, node: str, choice: str) -> JsonValue:
        """Nothing was asked."""
        return None

    def way(self, node: str) -> JsonValue:
        """No way was taken."""
        return None

    def result(self, node: str) -> JsonValue:
        """The outcome of the latest end."""
        outcomes = [outcome for name, outcome in self.ended if name == node]
        return {"outcome": outcomes[-1], "error": "broken"} if outcomes else None

    def visits(self, node: str, outcome: str | None) -> JsonValue:
        """How often a node ended."""
        return sum(name == node and outcome in (None, how) for name, how in self.ended)

    def latest(self, nodes: tuple[str, ...]) -> JsonValue:
        """The node of these that ended last."""
        found = [(name, outcome) for name, outcome in self.ended if name in nodes]
        return {"node": found[-1][0], "outcome": found[-1][1]} if found else None

    def let(self, name: str) -> JsonValue:
        """The value of a `let` now."""
        return compile_expression(self.snapshot.lets[name])(self)

    def ran(self, node: str, output: Any = None, outcome: str = "ok") -> Known:
        """The same, after `node` has ended; a computed node without an output computes it."""
        declared = self.snapshot.nodes[node]
        if isinstance(declared, ComputeNode) and output is None and outcome == "ok":
            output = compile_expression(declared.value)(self)
        nodes = self.nodes if outcome != "ok" else {**self.nodes, node: output}
        return Known(self.snapshot, self.given, nodes, self.exits, [*self.ended, (node, outcome)])

    def examples(self, node: str) -> list[Any]:
        """The examples of an agent, as values here and now."""
        agent = self.snapshot.nodes[node]
        assert isinstance(agent, AgentNode), "only agents have examples"
        return [compile_expression(example)(self) for example in agent.examples]

    def refusals(self, node: str, output: Any) -> tuple[str, ...]:
        """What the type or the validator of an agent says against an output; empty when it is accepted."""
        agent = self.snapshot.nodes[node]
        assert isinstance(agent, AgentNode), "only agents submit"
        assert isinstance(agent.expected_output, SubmittedOutput), "a visible answer is not validated"
        verdict = accept(agent.expected_output.type, output, self.snapshot.types)
        if not isinstance(verdict, Accepted):
            return (str(verdict),)
        return compile_validator(agent.validate_steps)(self, verdict.value)


def started(snapshot: Snapshot, given: Mapping[str, Any]) -> Known:
    """A run that has just been given its input; defaults are filled in."""
    verdict = accept(snapshot.input, dict(given), snapshot.types)
    assert isinstance(verdict, Accepted), str(verdict)
    return Known(snapshot, verdict.value)


def changed(value: Any, **fields: Any) -> Any:
    """A record with other fields; `...` removes one."""
    merged = {**value, **fields}
    return {key: item for key, item in merged.items() if item is not ...}
