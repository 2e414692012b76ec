"""What a watcher knows of a workflow: from the snapshot alone, by its own reading of it."""

from __future__ import annotations

import json

from windtunnel.compiler.clauses import DEFAULT_NUDGES
from windtunnel.compiler.snapshot import (
    ActionNode,
    AgentNode,
    AssistantMessage,
    CheckpointNode,
    DecisionNode,
    ShellNode,
    Snapshot,
    TargetModel,
    TypeModel,
    UnionTypeModel,
)


def nullable(type_: TypeModel) -> bool:
    """Whether null may be a value of the type."""
    if isinstance(type_, UnionTypeModel):
        return any(nullable(member) for member in type_.members)
    return type_.kind in ("null", "json", "ref", "literal")


class Facts:
    """What the watcher knows of the workflow: from the snapshot alone."""

    def __init__(self, snapshot: Snapshot, *, told: bool = True) -> None:
        self.told = told
        """Whether there is a session that notifications are shown in."""
        self.assistants = frozenset(
            name
            for name, node in snapshot.nodes.items()
            if isinstance(node, AgentNode) and isinstance(node.expected_output, AssistantMessage)
        )
        self.agents = frozenset(n for n, node in snapshot.nodes.items() if isinstance(node, AgentNode))
        self.nudges: dict[str, int] = {}
        self.max_chars: dict[str, int] = {}
        for name, node in snapshot.nodes.items():
            if isinstance(node, AgentNode):
                self._note(name, node)
        self._mounts = snapshot.composition.mounts
        self._edges: dict[tuple[str, str | None, str], list[tuple[str, TargetModel]]] = {}
        self.limits: dict[str, tuple[str, int]] = {}
        self.scopes: dict[str, str] = {}
        for edge in snapshot.edges:
            source = f"{edge.scope}:start" if edge.source == "start" else edge.source
            # A decision is left by its choice; which one, only the store knows.
            way = None if edge.source in snapshot.nodes else edge.way
            found = self._edges.setdefault((source, way, edge.on), [])
            for arm in edge.arms:
                found.append((edge.scope, arm.to))
                counter = arm.key if arm.limit is None else arm.limit.counter or arm.key
                self.scopes[counter] = edge.scope
                if arm.limit is not None:
                    found.append((edge.scope, arm.limit.then))
                    if isinstance(arm.limit.count, int):
                        self.limits[arm.key] = (counter, arm.limit.count)
        self.most_steps = {
            path: m.max_steps for path, m in self._mounts.items() if isinstance(m.max_steps, int)
        }
        if isinstance(snapshot.max_steps, int):
            self.most_steps[""] = snapshot.max_steps
        self._first = snapshot.start_at
        keyed = {
            name: node.call if isinstance(node, ActionNode) else "shell"
            for name, node in snapshot.nodes.items()
            if isinstance(node, ActionNode | ShellNode) and node.idempotency_key is not None
        }
        self.effects = frozenset(
            n for n, x in snapshot.nodes.items() if isinstance(x, ActionNode | ShellNode)
        )
        self.keyed = keyed
        """Effects with an idempotency key, by their nodes."""
        self.asking = frozenset(
            n for n, x in snapshot.nodes.items() if isinstance(x, DecisionNode | CheckpointNode)
        )
        """The nodes that only a person, or the clock, can complete."""
        self._nodes = tuple(snapshot.nodes)
        self._ahead: dict[str, frozenset[str]] = {}
        self._next: dict[tuple[str, str], frozenset[str]] = {}

    def missing(self, mount: str, given: str) -> list[str]:
        """The fields that a mount must be given and that are not there, or null."""
        value = json.loads(given)
        fields = self._mounts[mount].input_type.fields
        needed = [name for name, field in fields.items() if not field.optional and not field.has_default]
        return [
            name for name in sorted(needed) if value.get(name) is None and not nullable(fields[name].type)
        ]

    def _note(self, name: str, node: AgentNode) -> None:
        self.nudges[name] = DEFAULT_NUDGES if node.nudges is None else node.nudges
        output = node.expected_output
        if isinstance(output, AssistantMessage) and isinstance(output.max_chars, int):
            self.max_chars[name] = output.max_chars

    def after(self, node: str, outcome: str) -> frozenset[str]:
        """The nodes and `exit NAME`s that one routing may lead to; "" stands for the start of the run."""
        key = (node, outcome)
        if key not in self._next:
            reached: set[str] = set()
            done: set[tuple[str, str | None, str]] = set()
            if node:
                self._follow((node, None, outcome), reached, done)
            else:
                self._begin("", self._first, reached, done)
            self._next[key] = frozenset(reached)
        return self._next[key]

    def ahead(self, node: str) -> frozenset[str]:
        """The names of the keyed effects that a run at the node may still call."""
        if not self._ahead:
            self._look_ahead()
        return self._ahead.get(node, frozenset())

    def _look_ahead(self) -> None:
        """For each node whatever lies on some way from it."""
        for name in self._nodes:
            met, waiting = {name}, [name]
            while waiting:
                at = waiting.pop()
                for outcome in ("ok", "failed", "timed_out"):
                    for after in self.after(at, outcome):
                        if after not in met and not after.startswith("exit "):
                            met.add(after)
                            waiting.append(after)
            self._ahead[name] = frozenset(self.keyed[each] for each in met if each in self.keyed)

    def _begin(
        self, scope: str, first: str, reached: set[str], done: set[tuple[str, str | None, str]]
    ) -> None:
        if (f"{scope}:start", None, "ok") in self._edges:
            self._follow((f"{scope}:start", None, "ok"), reached, done)
        else:
            self._arrive(scope, TargetModel(node=first), reached, done)

    def _follow(
        self, source: tuple[str, str | None, str], reached: set[str], done: set[tuple[str, str | None, str]]
    ) -> None:
        if source in done:
            return
        done.add(source)
        for scope, target in self._edges.get(source, ()):
            self._arrive(scope, target, reached, done)

    def _arrive(
        self, scope: str, target: TargetModel, reached: set[str], done: set[tuple[str, str | None, str]]
    ) -> None:
        if target.exit is not None:
            if scope:
                self._follow((scope, target.exit, "ok"), reached, done)
            else:
                reached.add(f"exit {target.exit}")
        elif target.node in self._mounts:
            self._begin(target.node, self._mounts[target.node].start_at, reached, done)
        elif target.node is not None:
            reached.add(target.node)
