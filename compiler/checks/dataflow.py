"""Band 04: outputs that are made and never read. What is read wrongly is found while shapes are inferred."""

from __future__ import annotations

from windtunnel.compiler.checks.structure import reachable
from windtunnel.compiler.clauses import clause
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Declaration, Kind
from windtunnel.dsl.syntax import AssistantOutput, Node, Word


def check_dataflow(typed: Typed) -> None:
    """Report computed and submitted outputs that nothing reads; what acts or waits is worth it without."""
    if typed.graph.open or typed.scope.file.module.has_hole(typed.scope.workflow.span):
        return
    read = typed.expressions.stored.read
    reached = reachable(typed)
    for declaration in typed.scope.nodes:
        goes_on = typed.graph.leaving[declaration.name] and declaration.name in reached
        if goes_on and declaration.name not in read and _is_made_to_be_read(declaration):
            typed.scope.file.findings.add(
                "WT0418",
                f"nothing reads what `{declaration.name}` gives",
                declaration.tree.name.span,
                help="read it, match it, or lead it to an exit",
            )


def _is_made_to_be_read(declaration: Declaration) -> bool:
    if declaration.kind is Kind.COMPUTE:
        return True
    if declaration.kind is not Kind.AGENT or not isinstance(declaration.tree, Node):
        return False
    output, tools = clause(declaration.tree, "expectedOutput"), clause(declaration.tree, "tools")
    submits = output is not None and not isinstance(output.value, AssistantOutput)
    acts = tools is None or not isinstance(tools.value, Word) or tools.value.text != "none"
    return submits and not acts
