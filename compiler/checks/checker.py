"""Every check on every workflow, and the findings of all phases in the order of the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from windtunnel.compiler.checks.agents import check_nodes
from windtunnel.compiler.checks.assistant import check_assistant
from windtunnel.compiler.checks.costs import check_costs
from windtunnel.compiler.checks.dataflow import check_dataflow
from windtunnel.compiler.checks.decisions import check_decisions
from windtunnel.compiler.checks.effects import check_effects
from windtunnel.compiler.checks.matches import check_matches
from windtunnel.compiler.checks.names import check_file_names, check_names
from windtunnel.compiler.checks.settings import check_settings
from windtunnel.compiler.checks.silences import apply_silences
from windtunnel.compiler.checks.structure import check_structure
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Program, WorkflowId
from windtunnel.dsl.diagnostics import Diagnostic

CHECKS: Final[tuple[Callable[[Typed], None], ...]] = (
    check_settings,
    check_structure,
    check_matches,
    check_dataflow,
    check_nodes,
    check_assistant,
    check_decisions,
    check_effects,
    check_names,
)
"""The checks of one workflow, by band."""


def run_checks(program: Program, workflows: Mapping[WorkflowId, Typed]) -> tuple[Diagnostic, ...]:
    """Check what is intact, and give every finding: the root file first, in each file by place."""
    for typed in workflows.values():
        for check in CHECKS:
            check(typed)
    check_costs(program, workflows)
    for file in program.files.values():
        check_file_names(file, workflows, file.module.name == program.modules.root)
    by_file: dict[str, list[Diagnostic]] = {}
    sinks = [program.modules.diagnostics, program.diagnostics]
    sinks += [tuple(file.findings.sink) for file in program.files.values()]
    for found in dict.fromkeys(diagnostic for sink in sinks for diagnostic in sink):
        by_file.setdefault(found.primary.file, []).append(found)
    ordered: list[Diagnostic] = []
    for module in reversed(program.modules.order):
        found_here = apply_silences(module, by_file.pop(module.name, []))
        ordered += sorted(found_here, key=lambda d: (d.primary.span, d.code))
    return (*(d for found_here in by_file.values() for d in found_here), *ordered)
