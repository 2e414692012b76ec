"""Band 02: what a graph lacks: a start, arrows to a node, arrows from it, a way to an exit."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from windtunnel.compiler.flow import MAX_SHOWN, path_words
from windtunnel.compiler.graph import START
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Declaration, Kind
from windtunnel.compiler.routing import has_ways, outcomes_of
from windtunnel.dsl.syntax import Span


def check_structure(typed: Typed) -> None:
    """Report what is missing in the graph; nothing is said of what a broken line may have held."""
    if not typed.graph.nodes:
        _check_empty(typed)
        return
    _check_contract(typed)
    _check_ends(typed)
    _check_dead_routes(typed)
    if typed.graph.route(START, None, "ok") is None:
        _check_start(typed)
        return
    reached = reachable(typed)
    _check_unreachable(typed, reached)
    _check_exits(typed, reached)


def _check_empty(typed: Typed) -> None:
    workflow = typed.scope.workflow
    if not workflow.nodes and not typed.scope.file.module.has_hole(workflow.span):
        typed.scope.file.findings.add(
            "WT0219", f"workflow `{workflow.name.text}` has no nodes", workflow.name.span
        )


def _check_contract(typed: Typed) -> None:
    contract = typed.scope.setting("contract")
    if contract is not None and typed.scope.exits is None and not typed.graph.open:
        listed = ", ".join(f"{name}: …" for name in typed.scope.exit_names)
        typed.scope.file.findings.add(
            "WT0214",
            "a workflow with a contract declares its exits",
            contract.span,
            help=f"add `exits {{ {listed} }}` after `input`",
        )


def _check_start(typed: Typed) -> None:
    if START in typed.graph.open:
        return
    workflow = typed.scope.workflow
    first = typed.graph.nodes[0]
    typed.scope.file.findings.add(
        "WT0201",
        f"workflow `{workflow.name.text}` says nowhere where it starts",
        workflow.name.span,
        help=f"add a line `start -> {first}` to its edges",
    )


# --- ends ---------------------------------------------------------------------------------------------------


def _check_ends(typed: Typed) -> None:
    for declaration in typed.scope.nodes:
        if declaration.name in typed.graph.open:
            continue
        if has_ways(declaration):
            _check_ways(typed, declaration)
        elif typed.graph.route(declaration.name, None, "ok") is None:
            typed.scope.file.findings.add(
                "WT0203",
                f"nothing follows `{declaration.name}`, and it is no exit",
                declaration.tree.name.span,
                help=f"add `{declaration.name} -> exit {_likely_exit(typed, declaration)}` to the edges",
            )


def _likely_exit(typed: Typed, declaration: Declaration) -> str:
    names = typed.scope.exit_names
    if declaration.name in names or not names:
        return declaration.name.replace("_", "-")
    return names[0]


def _check_ways(typed: Typed, declaration: Declaration) -> None:
    ways = typed.expressions.stored.ways.get(declaration.name)
    missing = [w for w in ways or () if typed.graph.route(declaration.name, w, "ok") is None]
    if not missing:
        return
    is_include = declaration.kind is Kind.INCLUDE
    word = "exit" if is_include else "choice"
    listed = ", ".join(f"`{declaration.name}.{way}`" for way in missing)
    typed.scope.file.findings.add(
        "WT0208" if is_include else "WT0702",
        f"{listed} {'has' if len(missing) == 1 else 'have'} no route",
        declaration.tree.name.span,
        secondary=[] if is_include else _choice_spans(declaration, missing),
        help=f"every {word} needs one: add `{declaration.name}.{missing[0]} -> …` to the edges",
    )


def _choice_spans(declaration: Declaration, missing: list[str]) -> list[tuple[Span, str]]:
    choices = declaration.choices
    items = choices.items if choices is not None else ()
    return [(choice.name.span, "no route") for choice in items if choice.name.text in missing]


def _check_dead_routes(typed: Typed) -> None:
    for route in typed.graph.routes:
        declaration = typed.scope.lookup(route.source)
        if declaration is None or route.outcome in outcomes_of(declaration):
            continue
        why = {
            Kind.DECISION: "it has no `expires`",
            Kind.CHECKPOINT: "it waits without end",
            Kind.COMPUTE: "it only computes",
            Kind.NOTIFY: "it has no deadline",
        }.get(declaration.kind, "its timeout is `none`")
        typed.scope.file.findings.add(
            "WT0215",
            f"`{route.source}` never ends as `{route.outcome}`: {why}",
            route.span,
        )


# --- reachability -------------------------------------------------------------------------------------------


def reachable(typed: Typed) -> set[str]:
    """What can be reached from `start`, or from where a broken line may have led."""
    return _closure(typed.graph.digraph.successors, [START, *sorted(typed.graph.loose)])


def _closure(step: Callable[[str], Iterable[str]], roots: Iterable[str]) -> set[str]:
    seen = set(roots)
    stack = sorted(seen)
    while stack:
        for following in step(stack.pop()):
            if following not in seen:
                seen.add(following)
                stack.append(following)
    return seen


def _check_unreachable(typed: Typed, reached: set[str]) -> None:
    left = [node for node in typed.graph.nodes if node not in reached]
    if not left:
        return
    graph = typed.graph.digraph
    inside = graph.within(set(left))
    order = {node: index for index, node in enumerate(left)}
    components = inside.components()
    entries = [
        min(component, key=lambda node: order[node])
        for component in components
        if not any(before not in component for node in component for before in inside.predecessors(node))
    ]
    told: set[str] = set()
    for entry in sorted(entries, key=lambda node: order[node]):
        below = _closure(lambda node: (n for n in inside.successors(node) if n not in told), [entry])
        region = sorted(below - told, key=lambda node: order[node])
        told.update(region)
        others = [node for node in region if node != entry]
        declaration = typed.scope.lookup(entry)
        assert declaration is not None, "vertices of the graph are declared"
        arrows = list(graph.predecessors(entry))
        cause = "no arrow leads to it" if not arrows else "only nodes that are not reached lead to it"
        typed.scope.file.findings.add(
            "WT0202",
            f"`{entry}` is never reached: {cause}",
            declaration.tree.name.span,
            notes=[f"nor is what follows it: {_listed(others)}"] if others else [],
        )


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:MAX_SHOWN])
    return shown if len(names) <= MAX_SHOWN else f"{shown} and {len(names) - MAX_SHOWN} more"


def _check_exits(typed: Typed, reached: set[str]) -> None:
    scope, graph = typed.scope, typed.graph
    entered = {name for name, arrows in graph.exits.items() if any(a.source in reached for a in arrows)}
    if not graph.exits and not graph.open:
        scope.file.findings.add(
            "WT0212",
            f"no arrow of workflow `{scope.workflow.name.text}` leads to an exit",
            scope.workflow.name.span,
            help="end with `-> exit NAME`",
        )
        return
    if not graph.open and scope.exits is not None:
        for declared in scope.workflow.exits[0]:
            if declared.name.text not in entered and declared.name.text in scope.exits:
                message = f"no path leads to exit `{declared.name.text}`"
                scope.file.findings.add("WT0205", message, declared.name.span)
    _check_traps(typed, reached)


def trapped(typed: Typed) -> list[str]:
    """The vertices from which no exit can be reached, dead ends aside."""
    graph = typed.graph
    ends = {arrow.source for arrows in graph.exits.values() for arrow in arrows} | set(graph.open)
    ends |= {node for node in graph.nodes if not graph.leaving[node]}
    back = _closure(graph.digraph.predecessors, ends)
    return [node for node in graph.nodes if node not in back]


def _check_traps(typed: Typed, reached: set[str]) -> None:
    """Report each cycle that is reached and never left; dead ends are findings of their own."""
    graph = typed.graph
    caught = [node for node in trapped(typed) if node in reached]
    if not caught:
        return
    inside = graph.digraph.within(set(caught))
    order = {node: index for index, node in enumerate(caught)}
    for component in sorted(inside.components(), key=lambda part: min(order[node] for node in part)):
        if any(after not in component for node in component for after in inside.successors(node)):
            continue
        first = min(component, key=lambda node: order[node])
        declaration = typed.scope.lookup(first)
        assert declaration is not None, "vertices of the graph are declared"
        arrows = typed.flow.shortest(first)
        members = sorted(component, key=lambda node: order[node])
        typed.scope.file.findings.add(
            "WT0204",
            f"once `{first}` is reached, no exit can be reached any more",
            declaration.tree.name.span,
            notes=[
                *([f"a way in: {path_words(arrows, first)}"] if arrows is not None else []),
                f"the cycle: {_listed(members)}",
            ],
            help="add an arrow out of the cycle, or `limit n then -> …` on one of its arrows",
        )
