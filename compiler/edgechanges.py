"""What changed about the arrows between two snapshots: gone, new, leading elsewhere, limited otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.changes import Change, apart, local
from windtunnel.compiler.printing import expression_text
from windtunnel.compiler.snapshot import ArmModel, EdgeModel, Snapshot, TargetModel

_End = tuple[str, str, str | None, str]
"""Scope, source, way and outcome."""


def edge_changes(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    """Every change of an arrow, in order of where it begins."""
    before, now = _by_end(old), _by_end(new)
    for end in sorted(before.keys() | now.keys(), key=lambda end: (end[0], end[1], end[2] or "", end[3])):
        a, b = before.get(end), now.get(end)
        if a is None:
            assert b is not None, "an end stands in one of the two"
            yield from (_arrow("WT1047", end, case, "", _target(arm.to)) for case, arm in _cases(b))
        elif b is None:
            yield from (_arrow("WT1046", end, case, _target(arm.to), "") for case, arm in _cases(a))
        else:
            yield from _edge(end, a, b, old, new)


def _by_end(snapshot: Snapshot) -> dict[_End, EdgeModel]:
    return {(edge.scope, edge.source, edge.way, edge.on): edge for edge in snapshot.edges}


def _edge(end: _End, a: EdgeModel, b: EdgeModel, old: Snapshot, new: Snapshot) -> Iterator[Change]:
    if a.subject != b.subject:
        texts = [
            ""
            if edge.subject is None
            else expression_text(edge.subject, end[0], snapshot.composition.mounts.keys())
            for edge, snapshot in ((a, old), (b, new))
        ]
        yield _at(end, "WT1053", f"behind {_words(end)} another value chooses the way", *apart(*texts))
    before, now = dict(_cases(a)), dict(_cases(b))
    for case in [*before, *(case for case in now if case not in before)]:
        left, right = before.get(case), now.get(case)
        if left is None:
            assert right is not None, "a case stands in one of the two"
            yield _arrow("WT1047", end, case, "", _target(right.to))
        elif right is None:
            yield _arrow("WT1046", end, case, _target(left.to), "")
        else:
            if left.to != right.to:
                moved = end[1] == "start" and not case
                yield _arrow("WT1045" if moved else "WT1048", end, case, _target(left.to), _target(right.to))
            yield from _limit(end, case, left, right)


def _cases(edge: EdgeModel) -> Iterator[tuple[str, ArmModel]]:
    """Each case by its text with the arm that takes it; empty without a match."""
    for arm in edge.arms:
        if arm.cases is None:
            yield ("" if edge.subject is None else "else"), arm
        else:
            yield from ((canonical(case), arm) for case in arm.cases)


def _limit(end: _End, case: str, a: ArmModel, b: ArmModel) -> Iterator[Change]:
    if a.limit is None and b.limit is None:
        return
    before, now = (_limit_text(arm, end[0]) for arm in (a, b))
    if before != now or _counter(a) != _counter(b):
        said = "another limit" if before != now else "a limit that counts other arrows too"
        yield _at(end, "WT1049", f"{said} on {_words(end, case)}", before or "none", now or "none")


def _counter(arm: ArmModel) -> str:
    return arm.key if arm.limit is None or arm.limit.counter is None else arm.limit.counter


def _limit_text(arm: ArmModel, scope: str) -> str:
    limit = arm.limit
    if limit is None:
        return ""
    count = str(limit.count) if isinstance(limit.count, int) else expression_text(limit.count, scope)
    return f"limit {count} then -> {_target(limit.then)}"


def _arrow(code: str, end: _End, case: str, before: str, now: str) -> Change:
    said = {
        "WT1045": f"the workflow starts at `{now}`",
        "WT1046": f"the arrow from {_words(end, case)} is gone",
        "WT1047": f"an arrow from {_words(end, case)} is new",
        "WT1048": f"the arrow from {_words(end, case)} leads elsewhere",
    }
    return _at(end, code, said[code], before, now)


def _at(end: _End, code: str, message: str, before: str = "", now: str = "") -> Change:
    scope, source, way, on = end
    place = source if source != "start" else f"{scope}/start" if scope else "start"
    return Change(code, place, message, before, now, (on, way))


def _words(end: _End, case: str = "") -> str:
    """The end as it is written, such as `approve.drop`, `release on failed`, `choose "a"`."""
    _, source, way, on = end
    name = local(source) + (f".{way}" if way is not None else "") + ("" if on == "ok" else f" on {on}")
    return f"`{name} {case}`" if case else f"`{name}`"


def _target(target: TargetModel) -> str:
    return f"exit {target.exit}" if target.node is None else local(target.node)
