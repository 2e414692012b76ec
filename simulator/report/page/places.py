"""Where the nodes and includes of a workflow stand in the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from windtunnel.compiler.pipeline import Checked
from windtunnel.compiler.resolver import Kind, Scope
from windtunnel.compiler.snapshot import Snapshot


class Place(NamedTuple):
    """A file and a line of it, from 1."""

    file: str
    line: int


class Texts(NamedTuple):
    """The files of a workflow, and by qualified id where each node, include and start is declared."""

    files: Mapping[str, str] = {}
    places: Mapping[str, Place] = {}


NO_TEXTS = Texts()


def texts_of(checked: Checked, snapshot: Snapshot) -> Texts:
    """The text that a snapshot was made from; empty when the workflow is not in it."""
    scopes = checked.program.scopes
    root = checked.modules.root
    named = [scope for scope in scopes.values() if scope.id.name == snapshot.workflow]
    first = next((scope for scope in named if scope.id.module == root), next(iter(named), None))
    if first is None:
        return NO_TEXTS
    places: dict[str, Place] = {}
    files: dict[str, str] = {}
    waiting: list[tuple[str, Scope]] = [("", first)]
    while waiting:
        mount, scope = waiting.pop()
        source = scope.file.module.source
        files[source.name] = source.text
        line, _ = source.position(scope.workflow.name.span.start)
        places[f"{mount}/start" if mount else "start"] = Place(source.name, line)
        for declaration in scope.nodes:
            id = f"{mount}/{declaration.name}" if mount else declaration.name
            line, _ = source.position(declaration.tree.name.span.start)
            places[id] = Place(source.name, line)
            if declaration.kind is Kind.INCLUDE and declaration.child is not None:
                waiting.append((id, scopes[declaration.child]))
    return Texts(dict(sorted(files.items())), dict(sorted(places.items())))
