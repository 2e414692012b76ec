"""What is told in the panel beside what the snapshot says: findings that are given, and facts of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from windtunnel.compiler.bounds import Bound
from windtunnel.compiler.drawing.picture import Box, Picture
from windtunnel.compiler.drawing.wording import Detail
from windtunnel.compiler.facts import Facts
from windtunnel.compiler.facts import facts as facts_of
from windtunnel.compiler.snapshot import Snapshot

Remarks: TypeAlias = Mapping[str, Sequence[Detail]]
"""Headings with texts by the id of a box; those of the whole picture stand at the empty id."""

MAX_LISTED: Final = 40
"""Nodes named in one list."""


def with_remarks(picture: Picture, first: Remarks, last: Remarks) -> Picture:
    """The picture with some remarks before and some after what its panel says."""

    def told(box: Box) -> Box:
        found = (*first.get(box.id, ()), *box.details, *last.get(box.id, ()))
        return box if found == box.details else replace(box, details=found)

    sheets = tuple(replace(sheet, boxes=tuple(map(told, sheet.boxes))) for sheet in picture.sheets)
    details = (*first.get("", ()), *picture.details, *last.get("", ()))
    return replace(picture, sheets=sheets, details=details)


def fact_remarks(snapshot: Snapshot) -> Remarks:
    """What can be told before a run: what it costs at most, what guards an effect, what ends the run."""
    found = facts_of(snapshot)
    remarks: dict[str, list[Detail]] = {"": list(_whole(found))}
    for guard in found.guards:
        said = " and ".join(f"{name} ({' or '.join(ways)})" for name, ways in guard.decisions)
        text = f"only after {said}" if said else "no decision guards it"
        remarks.setdefault(guard.effect, []).append(("Guard", text))
    for each in found.unrouted:
        ends = f"{' or '.join(_words(outcome) for outcome in each.outcomes)}: the whole run ends"
        remarks.setdefault(each.node, []).append(("Without a route", ends))
    return remarks


def _whole(found: Facts) -> Iterator[Detail]:
    yield "Steps of a run", _most(found.steps.whole)
    yield "Turns of the model", _most(found.turns.whole)
    visible = found.visible.whole.value
    if visible is not None:
        visible += found.presented
    least = found.visible_least
    most = " or more" if visible is None else "" if least == visible else f" to {visible:_}"
    yield "Visible answers", f"{least}{most}"
    if found.unrouted:
        names = [each.node for each in found.unrouted[:MAX_LISTED]]
        rest = len(found.unrouted) - len(names)
        more = [f"and {rest} more"] if rest else []
        yield "Ends the run where it fails", "\n".join((*names, *more))


def _most(bound: Bound) -> str:
    if bound.value is None:
        return "without an end"
    return f"at most {bound.value:_}" + (", by maxSteps" if bound.capped else "")


def _words(outcome: str) -> str:
    return outcome.replace("_", " ")
