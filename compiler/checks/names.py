"""Band 01: names that nothing uses, and names that hide others."""

from __future__ import annotations

from collections.abc import Mapping

from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import FileScope, WorkflowId
from windtunnel.dsl.diagnostics import Fix
from windtunnel.dsl.syntax import Comprehension, Import, ImportName, Let, Name, Node, Span, Validate


def check_names(typed: Typed) -> None:
    """Report unused `let`s and input fields of a workflow, and variables that hide a name of it."""
    scope = typed.scope
    findings = scope.file.findings
    if scope.file.module.has_hole(scope.workflow.span) or not typed.graph.nodes:
        return
    for declaration in scope.lets:
        if declaration.name not in typed.expressions.accesses.used_lets:
            findings.add(
                "WT0116", f"nothing reads `{declaration.name}`", declaration.tree.name.span, help="remove it"
            )
    _check_input(typed)
    _check_hiding(typed)


def _check_input(typed: Typed) -> None:
    used = typed.expressions.accesses.input_fields
    if None in used or not typed.scope.workflow.inputs:
        return
    for field in typed.scope.workflow.inputs[0].fields:
        if field.name.text not in used:
            typed.scope.file.findings.add(
                "WT0121", f"nothing reads `input.{field.name.text}`", field.name.span
            )


def _check_hiding(typed: Typed) -> None:
    for declaration in typed.scope.declarations.values():
        for part in declaration.parts:
            if isinstance(part, Comprehension):
                _check_variable(typed, part.variable)
        if isinstance(declaration.tree, Node):
            for clause in declaration.tree.clauses:
                if isinstance(clause.value, Validate):
                    for item in clause.value.items:
                        if isinstance(item, Let):
                            _check_variable(typed, item.name)


def _check_variable(typed: Typed, name: Name) -> None:
    findings = typed.scope.file.findings
    if name.text in ("input", "output"):
        findings.add("WT0111", f"`{name.text}` has a meaning of its own", name.span)
        return
    hidden = typed.scope.lookup(name.text)
    if hidden is not None:
        findings.add(
            "WT0117",
            f"`{name.text}` hides the {hidden.kind} of that name",
            name.span,
            secondary=[(hidden.tree.name.span, "hidden here")],
        )


def check_file_names(file: FileScope, workflows: Mapping[WorkflowId, Typed], is_root: bool) -> None:
    """Report imports, types and templates of a file that nothing in this check uses."""
    if file.module.holes:
        return
    used = set(file.used)
    for scope_id, typed in workflows.items():
        if scope_id.module == file.module.name:
            used |= typed.expressions.calls.used_templates
    tree = file.module.file
    for line in tree.imports:
        if file.module.target(line) is None:
            continue
        for imported in line.names:
            name = imported.local
            if name.text not in used and name.text not in file.types.used:
                fixes = _without(file, line, imported)
                file.findings.add(
                    "WT0114", f"nothing uses `{name.text}`", name.span, help="remove it", fixes=fixes
                )
    exports = not is_root
    for declared in () if exports else tree.types:
        if declared.name.text not in file.types.used:
            file.findings.add("WT0115", f"nothing uses type `{declared.name.text}`", declared.name.span)
    for template in () if exports else tree.templates:
        if template.name.text not in used:
            message = f"nothing uses template `{template.name.text}`"
            file.findings.add("WT0120", message, template.name.span)


def _without(file: FileScope, line: Import, imported: ImportName) -> tuple[Fix, ...]:
    """Take a name out of its import, or the whole import where it is the only one."""
    if len(line.names) == 1:
        return file.findings.without("take it out", file.module.source.text, line.span)
    spans = [each.name.span.to(each.local.span) for each in line.names]
    at = line.names.index(imported)
    if at == 0:
        gone = Span(spans[0].start, spans[1].start)
    else:
        gone = Span(spans[at - 1].end, spans[at].end)
    return (file.findings.replacing("take it out", gone, "", safe=True),)
