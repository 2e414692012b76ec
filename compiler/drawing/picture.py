"""The picture before it has places: sheets of boxes and arrows, one sheet for each workflow that is shown.

A sheet is one workflow at its mount path. An include is one box of its parent's sheet with a port for each
exit; when it is open its own sheet is drawn inside that box. So arrows never cross the border of a sheet,
each sheet can be laid out on its own, and the arrows of a sheet are exactly the edges that its workflow
writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from windtunnel.compiler.drawing.lettering import whole
from windtunnel.compiler.drawing.style import (
    FLOW_WORDS,
    KIND_WORDS,
    STATUS_WORDS,
    WRITTEN,
    Flow,
    Kind,
    Status,
)
from windtunnel.compiler.drawing.wording import Detail

Expand = int | Literal["all"]


class DrawingError(Exception):
    """The picture cannot be made as asked; the message says why and what to do instead."""


@dataclass(frozen=True, slots=True)
class Port:
    """A way out of an include or a decision; `text` says more than the name, or is empty."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Box:
    """One thing with a name. `id` is a node's qualified id, a mount path, `SCOPE/start` or `SCOPE/exit/NAME`.

    `marker` is the speech mark of an agent that answers in the chat. `opens` is the mount path of an include.
    """

    id: str
    kind: Kind
    name: str
    caption: str = ""
    marker: str | None = None
    facts: tuple[str, ...] = ()
    ports: tuple[Port, ...] = ()
    details: tuple[Detail, ...] = ()
    opens: str | None = None
    status: Status = ""


@dataclass(frozen=True, slots=True)
class Arrow:
    """One arrow. `keys` are those of the snapshot's arms: several when a failure and a timeout go one way.

    `port` is the way out of the source; `label` has one entry a line. One that is `written` is not drawn
    as a line but stands in its source's box: many failure routes to one place would hide everything else.
    """

    keys: tuple[str, ...]
    source: str
    port: str | None
    target: str
    flow: Flow
    label: tuple[str, ...] = ()
    written: bool = False
    status: Status = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One workflow at a mount path (`""` is the root); boxes in the order of reading."""

    scope: str
    workflow: str
    revision: int
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """The sheets that are shown, the root's first, then in the order of their mount paths.

    `folded` counts the nodes inside includes that are not open. `notes` stand under the title.
    """

    title: str
    notes: tuple[str, ...]
    sheets: tuple[Sheet, ...]
    folded: int
    details: tuple[Detail, ...]

    def sheet(self, scope: str) -> Sheet | None:
        """The sheet of a mount path, if it is shown."""
        return next((sheet for sheet in self.sheets if sheet.scope == scope), None)

    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of boxes that occur, in the order of the legend."""
        found = {box.kind for sheet in self.sheets for box in sheet.boxes}
        return tuple(kind for kind in KIND_WORDS if kind in found)

    def flows(self) -> tuple[Flow, ...]:
        """The kinds of arrows that occur, in the order of the legend."""
        found = {arrow.flow for sheet in self.sheets for arrow in sheet.arrows}
        return tuple(flow for flow in FLOW_WORDS if flow in found)

    def marks_answers(self) -> bool:
        """Whether any agent answers in the chat."""
        return any(box.marker is not None for sheet in self.sheets for box in sheet.boxes)

    def statuses(self) -> tuple[Status, ...]:
        """The statuses that occur, in the order of the legend."""
        found = {box.status for sheet in self.sheets for box in sheet.boxes}
        found |= {arrow.status for sheet in self.sheets for arrow in sheet.arrows}
        return tuple(status for status in STATUS_WORDS if status and status in found)


def told(status: Status) -> tuple[str, ...]:
    """The word for a status that is not told by its line, which is written beside what has it."""
    return (STATUS_WORDS[status],) if status in WRITTEN else ()


MAX_TITLE: Final = 12_000
"""Characters of a tooltip."""


def sheet_names(sheet: Sheet) -> dict[str, str]:
    """What the boxes of a sheet are called in a sentence, by id."""
    return {box.id: f"exit {box.name}" if box.kind == "exit" else box.name for box in sheet.boxes}


def box_title(box: Box) -> str:
    """The whole text of a box, for a tooltip."""
    lines = [f"{box.name} ({box.kind})", box.caption, box.marker or "", *box.facts]
    lines += [f"{port.name}: {port.text}" for port in box.ports if port.text]
    return whole("\n".join(line for line in lines if line))[:MAX_TITLE]


def arrow_title(names: Mapping[str, str], arrow: Arrow) -> str:
    """The whole text of an arrow, for a tooltip; `names` are those of `sheet_names`."""
    source = names[arrow.source] + (f".{arrow.port}" if arrow.port else "")
    return whole("\n".join([f"{source} → {names[arrow.target]}", *arrow.label]))[:MAX_TITLE]


def sheet_ends(picture: Picture) -> dict[tuple[str, str | None], str]:
    """For the includes that are open, where arrows really begin and end: at the exits and the start inside.

    Keys are the id of the include with a port (an arrow that leaves) or None (one that enters).
    """
    ends: dict[tuple[str, str | None], str] = {}
    for sheet in picture.sheets:
        if not sheet.scope:
            continue
        ends[(sheet.scope, None)] = f"{sheet.scope}/start"
        for box in sheet.boxes:
            if box.kind == "exit":
                ends[(sheet.scope, box.name)] = box.id
    return ends
