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
from windtunnel.compiler.checks.limits import check_reached_limits
from windtunnel.compiler.checks.loops import check_loops
from windtunnel.compiler.checks.matches import check_matches
from windtunnel.compiler.checks.names import check_file_names, check_names
from windtunnel.compiler.checks.scenarios import check_scenarios
from windtunnel.compiler.checks.settings import check_settings
from windtunnel.compiler.checks.silences import apply_silences, start_in
from windtunnel.compiler.checks.staleness import check_staleness
from windtunnel.compiler.checks.structure import check_structure
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.modules import Module
from windtunnel.compiler.resolver import Program, WorkflowId
from windtunnel.dsl.diagnostics import Diagnostic, Severity

SYNTAX: Final = "WT00"
"""The band of lexing and syntax."""
NAMES: Final = "WT01"
"""The band of names: where one of them is wrong, it may have been meant for what seems unused."""
USES: Final = ("WT0404", "WT0512")
"""A field that is not there may have been meant for another; an unusable prompt may have used anything."""
UNUSED: Final = ("WT0114", "WT0115", "WT0116", "WT0120", "WT0121", "WT0418")
"""Findings that something is unused."""

CHECKS: Final[tuple[Callable[[Typed], None], ...]] = (
    check_settings,
    check_structure,
    check_matches,
    check_loops,
    check_dataflow,
    check_staleness,
    check_nodes,
    check_assistant,
    check_decisions,
    check_effects,
    check_names,
)
"""The checks of one workflow, by band."""


def _intact(module: Module, found: list[Diagnostic]) -> list[Diagnostic]:
    """One cause, one message: nothing of later phases where syntax is broken, nothing unused by mistake."""

    def line_of(diagnostic: Diagnostic) -> int:
        return module.source.position(start_in(module, diagnostic))[0]

    broken = {line_of(d) for d in found if d.code.startswith(SYNTAX) and d.severity is Severity.ERROR}
    unsure = bool(broken) or any(
        (d.code.startswith(NAMES) or d.code in USES) and d.severity is Severity.ERROR for d in found
    )
    missed = {d.primary.span for d in found if d.code in ("WT0401", "WT0402")}
    found = [d for d in found if not (unsure and d.code in UNUSED)]
    found = [d for d in found if not (d.code == "WT0421" and d.primary.span in missed)]
    return [d for d in found if d.code.startswith(SYNTAX) or line_of(d) not in broken]


def run_checks(program: Program, workflows: Mapping[WorkflowId, Typed]) -> tuple[Diagnostic, ...]:
    """Check what is intact, and give every finding: the root file first, in each file by place."""
    for typed in workflows.values():
        for check in CHECKS:
            check(typed)
    check_reached_limits(workflows, check_costs(workflows))
    check_scenarios(program, workflows)
    for file in program.files.values():
        check_file_names(file, workflows, file.module.name == program.modules.root)
    by_file: dict[str, list[Diagnostic]] = {}
    sinks = [program.modules.diagnostics, program.diagnostics]
    sinks += [tuple(file.findings.sink) for file in program.files.values()]
    for found in dict.fromkeys(diagnostic for sink in sinks for diagnostic in sink):
        by_file.setdefault(found.primary.file, []).append(found)
    ordered: list[Diagnostic] = []
    for module in reversed(program.modules.order):
        names = dict.fromkeys([module.name, *(prompt.source.name for prompt in module.prompts)])
        found_here = _intact(module, [d for name in names for d in by_file.pop(name, [])])
        found_here = apply_silences(module, found_here)
        ordered += sorted(found_here, key=lambda d: (start_in(module, d), d.primary.span, d.code))
    return (*(d for found_here in by_file.values() for d in found_here), *ordered)
