"""Where everything in a snapshot stands in the text: kept beside the snapshot, never in it.

A snapshot does not change with the layout of its source; a map does, and says with its digest which snapshot
it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from windtunnel.compiler.edgelowering import arrow_key
from windtunnel.compiler.pipeline import Checked
from windtunnel.compiler.plan import Mounted, plan
from windtunnel.compiler.resolver import Kind, WorkflowId
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.dsl.diagnostics import Diagnostic
from windtunnel.dsl.syntax import Span

SCHEMA: Final = "windtunnel.map.v1"


def source_map(checked: Checked, snapshot: Snapshot, name: Callable[[str], str] = str) -> dict[str, Any]:
    """The places of all workflows, nodes, includes and arrows of a snapshot, by their names in it.

    A place is `{file, line, column, endLine, endColumn}`, lines and columns from 1, an end one past the last
    code point; `name` says how a file is written.
    """

    def place(mounted: Mounted, span: Span) -> dict[str, Any]:
        found = mounted.scope.file.findings.place(span)
        source = sources[found.file]
        line, column = source.position(found.span.start)
        end_line, end_column = source.position(found.span.end)
        return {
            "file": name(found.file),
            "line": line,
            "column": column,
            "endLine": end_line,
            "endColumn": end_column,
        }

    sources = checked.modules.sources
    outline = plan(checked.program, WorkflowId(checked.modules.root, snapshot.workflow))
    assert not isinstance(outline, Diagnostic), "what was compiled is not too large"
    nodes: dict[str, Any] = {}
    mounts: dict[str, Any] = {}
    arrows: dict[str, Any] = {}
    for path, mounted in outline.mounts.items():
        mounts[path] = place(mounted, mounted.scope.workflow.name.span)
        for declaration in mounted.scope.nodes:
            if declaration.kind is not Kind.INCLUDE:
                nodes[mounted.qualified(declaration.name)] = place(mounted, declaration.tree.name.span)
        for route in checked.graph(mounted.scope.id).routes:
            for branch in route.branches:
                arrows[arrow_key(mounted, route, branch)] = place(mounted, branch.span)
    return {
        "schema": SCHEMA,
        "workflow": snapshot.workflow,
        "digest": snapshot.digest,
        "mounts": dict(sorted(mounts.items())),
        "nodes": dict(sorted(nodes.items())),
        "arrows": dict(sorted(arrows.items())),
    }
