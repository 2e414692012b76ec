"""The findings of a file at the boxes that they are about, for a picture of it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from windtunnel.compiler.drawing.remarks import Remarks
from windtunnel.compiler.resolver import Scope
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.dsl import Diagnostic
from windtunnel.simulator.commands.loading import check_files, named


def pinned(file: str, snapshot: Snapshot, allow_outside: bool) -> Remarks:
    """Every finding under the node that it stands in, wherever that is mounted; else under its workflow.

    A file that holds a snapshot has none.
    """
    path = file if os.path.exists(file) or "#" not in file else file.rpartition("#")[0]
    if path.endswith(".json"):
        return {}
    (checked,) = check_files([path], allow_outside).programs
    shown = named(path, checked)
    remarks: dict[str, list[tuple[str, str]]] = {}
    for inner, outer in zip(checked.diagnostics, shown.diagnostics, strict=True):
        place = outer.primary
        line, _column = shown.sources[place.file].position(place.span.start)
        said = (f"{outer.severity} {outer.code}", f"{outer.message}\n{place.file}:{line}")
        for box in _boxes(inner, tuple(checked.program.scopes.values()), snapshot):
            remarks.setdefault(box, []).append(said)
    return remarks


def _boxes(found: Diagnostic, scopes: tuple[Scope, ...], snapshot: Snapshot) -> Iterator[str]:
    """The ids of the boxes that a finding is about; the empty one is the whole picture."""
    at = found.primary.span
    for scope in scopes:
        span = scope.workflow.span
        if scope.id.module != found.primary.file or not span.start <= at.start < span.end:
            continue
        inside = (each for each in scope.nodes if each.tree.span.start <= at.start < each.tree.span.end)
        node = next(inside, None)
        mounts = snapshot.composition.mounts
        places = [path for path in sorted(mounts) if mounts[path].workflow == scope.id.name]
        if snapshot.workflow == scope.id.name:
            places.insert(0, "")
        for path in places:
            yield path if node is None else f"{path}/{node.name}" if path else node.name
