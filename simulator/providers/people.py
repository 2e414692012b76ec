"""What people answer: each choice of a decision, and answers of a checkpoint that take each route."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.evaluator import Environment
from windtunnel.compiler.snapshot import CheckpointNode, DecisionNode, Snapshot
from windtunnel.simulator.providers.effects import distinct
from windtunnel.simulator.providers.thresholds import NOWHERE, routes_of


class Answer(NamedTuple):
    """One answer: the choice, None for a checkpoint, and what is said with it as canonical JSON."""

    name: str
    choice: str | None
    value: str | None


class People(Protocol):
    """Who answers requests. Pure: the same request always gives equal answers."""

    def answers(self, node: str, visit: int, environment: Environment) -> tuple[Answer, ...]:
        """Every answer that a person may give at a node; the first is the usual one."""
        ...


class GeneratedPeople:
    """People who give every answer that there is."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._found: dict[str, tuple[Answer, ...]] = {}

    def answers(self, node: str, visit: int, environment: Environment) -> tuple[Answer, ...]:
        """The same answers at each visit."""
        if node not in self._found:
            self._found[node] = self._make(node)
        return self._found[node]

    def _make(self, name: str) -> tuple[Answer, ...]:
        node = self.snapshot.nodes[name]
        if isinstance(node, CheckpointNode):
            values = distinct(node.answer, self.snapshot, routes_of(self.snapshot, name))
            texts = [canonical(value) for value in values]
            return tuple(Answer(f"answers {text[:60]}", None, text) for text in texts)
        assert isinstance(node, DecisionNode), "a person is asked by decisions and checkpoints"
        found = []
        for id, choice in sorted(node.choices.items()):
            if choice.type is None:
                found.append(Answer(f"answers {id}", id, None))
                continue
            values = distinct(choice.type, self.snapshot, NOWHERE)
            found += [Answer(f"answers {id}", id, canonical(value)) for value in values]
        return tuple(found)
