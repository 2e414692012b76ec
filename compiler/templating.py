"""The shape of every template's body. A template sees only its parameters, so it has one shape for all."""

from __future__ import annotations

from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.expressions import Expressions
from windtunnel.compiler.graph import Graph
from windtunnel.compiler.resolver import FileScope, Program, Scope, WorkflowId
from windtunnel.compiler.stored import Env, Stored
from windtunnel.compiler.types import UNKNOWN, RecordShape, Shape
from windtunnel.dsl.syntax import Name, Span, Workflow, walk


def infer_templates(program: Program, whole: dict[int, bool]) -> dict[tuple[str, str], Shape]:
    """The shape of every template's body; templates that call each other in a circle are reported.

    `whole` takes what `Expressions.whole` tells of the bodies.
    """
    found: dict[tuple[str, str], Shape] = {}
    for file in program.files.values():
        scope = empty_scope(file)
        graph = Graph((), ())
        expressions = Expressions(program, scope, Stored(program, scope, graph, {}), found)
        own = {name: t for name, t in file.templates.items() if t.module == file.module.name}
        calls = Digraph(own)
        for name, template in own.items():
            for part in walk(template.tree.body):
                called = getattr(part, "function", None)
                if getattr(part, "template", False) and called is not None and called.text in own:
                    calls.add(name, called.text)
        order = {name: index for index, name in enumerate(own)}
        for group in calls.components():
            ordered = sorted(group, key=order.__getitem__)
            if len(ordered) > 1 or calls.leads(ordered[0], ordered[0]):
                chain = " → ".join([*ordered, ordered[0]])
                tree = own[ordered[0]].tree
                file.findings.add("WT0119", f"templates call each other without end: {chain}", tree.name.span)
                found.update({(file.module.name, name): UNKNOWN for name in ordered})
                continue
            template = own[ordered[0]]
            names = [parameter.name.text for parameter in template.tree.parameters]
            variables = dict(zip(names, template.parameters, strict=True))
            env = Env(None, ordered[0], variables, isolated=True)
            found[file.module.name, ordered[0]] = expressions.shape(template.tree.body, env)
        file.used.update(expressions.calls.used_templates)
        whole.update(expressions.whole)
    return found


def empty_scope(file: FileScope) -> Scope:
    """A scope without a workflow, for what sees only its own names and the templates of its file."""
    nowhere = Span(0, 0)
    workflow = Workflow(Name("", nowhere), (), (), (), (), (), (), None, nowhere)
    return Scope(WorkflowId(file.module.name, ""), file, workflow, {}, RecordShape(()), None, ())
