"""Every check on every workflow, and the findings of all phases in the order of the text."""

from __future__ import annotations

from collections.abc import Mapping

from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Program, WorkflowId
from windtunnel.dsl.diagnostics import Diagnostic


def run_checks(program: Program, workflows: Mapping[WorkflowId, Typed]) -> tuple[Diagnostic, ...]:
    """Check what is intact and give every finding: root file first, then the imported ones, each by place."""
    sinks: list[Diagnostic] = [*program.modules.diagnostics]
    for file in program.files.values():
        sinks.extend(d for d in file.findings.sink if d.primary.file == file.module.name)
    order = {module.name: -index for index, module in enumerate(program.modules.order)}
    unique = dict.fromkeys(sinks)
    return tuple(sorted(unique, key=lambda d: (order.get(d.primary.file, 0), d.primary.span, d.code)))
