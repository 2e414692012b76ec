"""Source to snapshot, one line per phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from windtunnel.compiler.checks.checker import run_checks
from windtunnel.compiler.graph import Graph
from windtunnel.compiler.inference import Typed, infer
from windtunnel.compiler.modules import Modules, Parse, load
from windtunnel.compiler.reader import Reader
from windtunnel.compiler.resolver import Program, WorkflowId, resolve
from windtunnel.compiler.routing import build
from windtunnel.compiler.templating import infer_templates
from windtunnel.compiler.types import Shape
from windtunnel.dsl.codes import report
from windtunnel.dsl.collecting import uncollected
from windtunnel.dsl.diagnostics import Diagnostic, Place, Severity
from windtunnel.dsl.parser import parse
from windtunnel.dsl.spelling import nearest, suggestion
from windtunnel.dsl.syntax import Expr, Include, Span

if TYPE_CHECKING:
    from windtunnel.compiler.scenario import Scenario
    from windtunnel.compiler.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Checked:
    """A root file and all it needs, with everything that was found; `ok` tells whether it may be lowered."""

    modules: Modules
    program: Program
    workflows: Mapping[WorkflowId, Typed]
    diagnostics: tuple[Diagnostic, ...]
    template_whole: Mapping[int, bool]
    """By identity of a `/`, a `*` or a side of one in a template: whether it is whole."""

    @property
    def ok(self) -> bool:
        """Whether no error was found; warnings and hints do not stop compilation."""
        return not any(found.severity is Severity.ERROR for found in self.diagnostics)

    def graph(self, workflow: WorkflowId) -> Graph:
        """The graph of its edges."""
        return self.workflows[workflow].graph

    def exits(self, workflow: WorkflowId) -> Mapping[str, Shape]:
        """The shape of what each exit gives, declared or inferred."""
        return self.workflows[workflow].exits

    def is_whole(self, workflow: WorkflowId, expr: Expr) -> bool:
        """Whether a `/`, a `*` or a side of one is a whole number or a duration."""
        return self.template_whole.get(id(expr), False) or self.workflows[workflow].is_whole(expr)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What compiling gives: the check, and the snapshot of the workflow where nothing stood in the way.

    `diagnostics` are those of the check, or what lowering refuses, such as a workflow that is too large.
    """

    checked: Checked
    snapshot: Snapshot | None
    diagnostics: tuple[Diagnostic, ...]


@uncollected
def compile_workflow(reader: Reader, root: str, workflow: str | None = None) -> Compiled:
    """Check `root` and lower one of its workflows: the named one, else the one that the others lead to."""
    from windtunnel.compiler.lowering import lower

    checked = check(reader, root)
    if not checked.ok:
        return Compiled(checked, None, checked.diagnostics)
    wanted = _wanted(checked, workflow)
    lowered = (wanted,) if isinstance(wanted, Diagnostic) else lower(checked.program, wanted, checked)
    if not isinstance(lowered, tuple):
        return Compiled(checked, lowered, checked.diagnostics)
    return Compiled(checked, None, (*checked.diagnostics, *lowered))


@dataclass(frozen=True, slots=True)
class Staged:
    """The scenarios of a file, each with the snapshot of its workflow; none where the file has errors.

    `diagnostics` are those of the check, and what lowering refuses.
    """

    checked: Checked
    scenarios: tuple[tuple[Scenario, Snapshot], ...]
    diagnostics: tuple[Diagnostic, ...]


@uncollected
def compile_scenarios(reader: Reader, root: str) -> Staged:
    """Check `root` and lower its scenarios with the workflows that they are for."""
    from windtunnel.compiler.lowering import lower
    from windtunnel.compiler.scenariolowering import lower_scenarios

    checked = check(reader, root)
    if not checked.ok:
        return Staged(checked, (), checked.diagnostics)
    program = checked.program
    found: list[tuple[Scenario, Snapshot]] = []
    snapshots: dict[WorkflowId, Snapshot | tuple[Diagnostic, ...]] = {}
    lowered = lower_scenarios(program, checked.workflows, program.files[checked.modules.root])
    for workflow, scenario in lowered.scenarios:
        if workflow not in snapshots:
            snapshots[workflow] = lower(program, workflow, checked)
        snapshot = snapshots[workflow]
        if not isinstance(snapshot, tuple):
            found.append((scenario, snapshot))
    refused = [lowered.diagnostics, *(each for each in snapshots.values() if isinstance(each, tuple))]
    diagnostics = (*checked.diagnostics, *(problem for each in refused for problem in each))
    return Staged(checked, () if lowered.diagnostics else tuple(found), diagnostics)


def _wanted(checked: Checked, workflow: str | None) -> WorkflowId | Diagnostic:
    """The workflow to lower: the named one, else the one that the others lead to."""
    root = checked.modules.root
    trees = {tree.name.text: tree for tree in checked.program.files[root].module.file.workflows}
    leading = [workflow] if workflow is not None else _leading(checked)
    if len(leading) > 1:
        listed = f"{', '.join(f'`{name}`' for name in leading[:-1])} and `{leading[-1]}`"
        message = f"`{root}` declares {listed}: which one is meant?"
        help = f"name it behind the file: `{root}#{leading[-1]}`"
        return report("WT0106", message, Place(root, trees[leading[-1]].name.span), help=help)
    if leading and leading[0] in trees:
        return WorkflowId(root, leading[0])
    missing = "no workflow" if workflow is None else f"no workflow `{workflow}`"
    known = suggestion(nearest(workflow or "", list(trees)))
    return report("WT0106", f"`{root}` declares {missing}", Place(root, Span(0, 0)), help=known)


def _leading(checked: Checked) -> list[str]:
    """What no other workflow of the root includes; of several of them the only one that includes others."""
    root = checked.modules.root
    scope = checked.program.files[root]
    mounts = {
        tree.name.text: {scope.workflows.get(n.workflow.text) for n in tree.nodes if isinstance(n, Include)}
        for tree in scope.module.file.workflows
    }
    included = {workflow for each in mounts.values() for workflow in each}
    own = {WorkflowId(root, name) for name in mounts}
    tops = [name for name in mounts if WorkflowId(root, name) not in included]
    above = [name for name in tops if mounts[name] & own]
    return above if len(above) == 1 else tops


@uncollected
def check(reader: Reader, root: str, parse: Parse = parse) -> Checked:
    """Read `root` and all it imports, and find everything that is wrong with it, in all files at once."""
    modules = load(reader, root, parse)
    program = resolve(modules)
    whole: dict[int, bool] = {}
    templates = infer_templates(program, whole)
    workflows: dict[WorkflowId, Typed] = {}
    for scope in program.scopes.values():
        workflows[scope.id] = infer(program, scope, build(program, scope), workflows, templates)
    found = run_checks(program, workflows)
    return Checked(modules, program, workflows, found, whole)
