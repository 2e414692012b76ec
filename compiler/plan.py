"""The flat form in outline: every workflow where it is mounted, the root first, children in order of name.

A mount path is the names of the includes from the root, joined by `/`; the root's is empty. Ids of nodes are
qualified by it. An include tree may grow exponentially with its source, so its size is limited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from windtunnel.compiler.resolver import Program, Scope, WorkflowId
from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Diagnostic, Place
from windtunnel.dsl.syntax import Include

MAX_NODES: Final = 100_000
"""Nodes and mounts that one compiled workflow may have."""

MAX_MOUNT_DEPTH: Final = 50
"""Includes inside one another."""


@dataclass(frozen=True, slots=True)
class Mounted:
    """One workflow at one place. `include` is the declaration in the parent, None at the root."""

    path: str
    scope: Scope
    include: Include | None
    parent: str | None

    def qualified(self, name: str) -> str:
        """The id of a node, mount or `let` of this workflow."""
        return f"{self.path}/{name}" if self.path else name


@dataclass(frozen=True, slots=True)
class Plan:
    """All mounted workflows by mount path, parents before children, else in order of path."""

    program: Program
    mounts: dict[str, Mounted]

    @property
    def root(self) -> Mounted:
        """The workflow that is compiled."""
        return self.mounts[""]


def plan(program: Program, root: WorkflowId) -> Plan | Diagnostic:
    """Mount every include, or say which one makes the whole too large. The program must be checked."""
    mounts: dict[str, Mounted] = {}
    waiting = [Mounted("", program.scopes[root], None, None)]
    size = 0
    while waiting:
        mounted = waiting.pop()
        mounts[mounted.path] = mounted
        nodes = list(mounted.scope.nodes)
        size += len(nodes)
        if size > MAX_NODES:
            return _too_large(mounted, f"the compiled workflow has more than {MAX_NODES} nodes")
        if mounted.path.count("/") >= MAX_MOUNT_DEPTH:
            return _too_large(mounted, f"includes stand more than {MAX_MOUNT_DEPTH} deep in one another")
        for declaration in sorted(nodes, key=lambda node: node.name, reverse=True):
            child = program.child(declaration)
            if child is not None:
                assert isinstance(declaration.tree, Include), "only an include has a child"
                path = mounted.qualified(declaration.name)
                waiting.append(Mounted(path, child, declaration.tree, mounted.path))
    return Plan(program, mounts)


def _too_large(mounted: Mounted, message: str) -> Diagnostic:
    workflow = mounted.scope.workflow
    return report(
        "WT0220",
        message,
        Place(mounted.scope.id.module, workflow.name.span),
        notes=[f"counted up to `{mounted.path or workflow.name.text}`"],
        help="include fewer workflows, or fewer times",
    )
