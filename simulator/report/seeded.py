"""Seeded faults as a list, and one of them in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from windtunnel.simulator.report.columns import table

if TYPE_CHECKING:
    from windtunnel.simulator.operations import SeededFault

_HEADINGS: Final = {"run": "Workflow runs", "conversation": "The conversation and its projection"}


def fault_list(faults: Sequence[SeededFault]) -> str:
    """Every fault in a line, by the part of the system that had it."""
    lines: list[str] = []
    for part, heading in _HEADINGS.items():
        rows = [(one.id, one.story) for one in faults if one.part == part]
        lines += ["", heading, *(f"  {line}" for line in table(rows))] if rows else []
    lines += ["", "Put one back: windtunnel explore --fault ID"]
    return "\n".join(lines[1:]) + "\n"


def fault_entry(fault: SeededFault) -> str:
    """One fault in full."""
    lines = [f"{fault.id}  {fault.story}"]
    if fault.holds:
        lines.append(f"  what must hold  {fault.holds}")
    if fault.invariant:
        lines.append(f"  noticed by      {fault.invariant}")
    lines.append(f"  see it found    windtunnel explore --fault {fault.id}")
    if fault.world:
        lines += [
            "",
            "  its small world:",
            "",
            *(f"  | {line}".rstrip() for line in fault.world.splitlines()),
        ]
    return "\n".join(lines) + "\n"
