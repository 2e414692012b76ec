"""Band 08: effects that may happen twice, or never a second time; commands built by a model."""

from __future__ import annotations

import posixpath
from typing import Final

from windtunnel.compiler.checks.counting import Count, count_of, parts_of
from windtunnel.compiler.clauses import clause
from windtunnel.compiler.digraph import Digraph
from windtunnel.compiler.graph import Route
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import Declaration, Kind
from windtunnel.dsl.syntax import Call, CallEffect, Clause, Expr, Let, ListExpr, Node, Ref, Spread, Text, walk

SHELLS: Final = ("sh", "bash", "dash", "zsh", "fish", "ksh", "cmd", "powershell", "pwsh")
"""Programs that read a command from a text, in which inserted text can become another command."""


def check_effects(typed: Typed) -> None:
    """Report effects in loops without a key, keys that never or wrongly change, and risky commands."""
    effects = [d for d in typed.scope.nodes if d.kind in (Kind.ACTION, Kind.SHELL)]
    if not effects:
        return
    looping = _on_cycles(typed.graph.digraph)
    onward = _on_cycles(_without_failures(typed, {d.name for d in effects}))
    for declaration in effects:
        assert isinstance(declaration.tree, Node), "actions and shells are nodes with clauses"
        key = clause(declaration.tree, "idempotencyKey")
        if declaration.name in looping and key is None:
            _report_no_key(typed, declaration, declaration.name in onward)
        if key is not None:
            _check_retried_key(typed, declaration, key)
        if declaration.name in onward and key is not None:
            _check_constant_key(typed, declaration, key, onward[declaration.name])
        if declaration.kind is Kind.SHELL:
            _check_command(typed, declaration.tree)
    _check_shared_keys(typed, effects)


def _on_cycles(graph: Digraph) -> dict[str, set[str]]:
    """The vertices that can be entered again, each with those on its cycles."""
    found: dict[str, set[str]] = {}
    for component in graph.loops():
        found.update(dict.fromkeys(component, component))
    return found


def _without_failures(typed: Typed, effects: set[str]) -> Digraph:
    """The graph without the failure routes of effects: cycles on which an effect was done before."""
    graph = Digraph(typed.graph.nodes)
    for arrow in typed.graph.arrows:
        failed = arrow.route.outcome != "ok" and arrow.source in effects
        if arrow.goal.node is not None and not failed:
            graph.add(arrow.source, arrow.goal.node)
    return graph


def _report_no_key(typed: Typed, declaration: Declaration, again: bool) -> None:
    """A retry after a failure needs the key of the first try; only a new round needs a new one."""
    name = declaration.name
    retry = _retry(typed, name)
    if not again:
        help = f'a key that stays the same keeps a retry from doing it twice: `idempotencyKey "{name}-…"`'
    elif retry is None:
        help = (
            "a key tells a repetition after a crash from a new effect: "
            f'`idempotencyKey "{name}-${{visits({name})}}"`'
        )
    else:
        help = (
            "make the key of what the round made, so that a new round has a new key and a retry the same; "
            f"`visits({name})` would change with each retry"
        )
    typed.scope.file.findings.add(
        "WT0801",
        f"`{name}` can run several times in one run and has no `idempotencyKey`",
        declaration.tree.name.span,
        secondary=[] if retry is None else [(retry.span, "it is tried again here")],
        help=help,
    )


def _retry(typed: Typed, name: str) -> Route | None:
    """The failure route that leads an effect straight back to itself."""
    routes = (typed.graph.route(name, None, outcome) for outcome in ("failed", "timed_out"))
    return next((r for r in routes if r is not None and any(b.goal.node == name for b in r.branches)), None)


def _check_retried_key(typed: Typed, declaration: Declaration, key: Clause) -> None:
    """Report a key that counts the very tries that it should hold together."""
    retry = _retry(typed, declaration.name)
    if retry is None or not isinstance(key.value, Text):
        return
    for part in parts_of(typed, key.value, declaration.name):
        if count_of(part) == Count(declaration.name, None):
            typed.scope.file.findings.add(
                "WT0805",
                f"each retry of `{declaration.name}` gets another key, so what failed late happens twice",
                part.span,
                secondary=[(retry.span, "it is tried again here")],
                help=f'count what succeeded, as in `visits({declaration.name}, "ok")`, '
                "or make the key of what the round made",
            )
            return


def _check_constant_key(typed: Typed, declaration: Declaration, key: Clause, cycle: set[str]) -> None:
    if not isinstance(key.value, Text) or _changes(typed, key.value, cycle):
        return
    typed.scope.file.findings.add(
        "WT0802",
        f"each time round the key of `{declaration.name}` is the same, so the effect happens only once",
        key.span,
        help=f"put `${{visits({declaration.name})}}` or an output of the loop into it",
    )


def _changes(typed: Typed, expr: Expr, cycle: set[str]) -> bool:
    """Whether an expression reads something that the cycle makes anew, also through `let`s."""
    seen: set[str] = set()
    stack = [expr]
    while stack:
        for part in walk(stack.pop()):
            if isinstance(part, Call) and part.function.text in ("visits", "result", "latest"):
                return True
            if not isinstance(part, Ref) or part.name in seen:
                continue
            seen.add(part.name)
            if part.name in cycle:
                return True
            declaration = typed.scope.lookup(part.name)
            if declaration is not None and isinstance(declaration.tree, Let):
                stack.append(declaration.tree.value)
    return False


def _check_shared_keys(typed: Typed, effects: list[Declaration]) -> None:
    text = typed.scope.file.module.source.text
    first: dict[tuple[str, str], Declaration] = {}
    for declaration in effects:
        assert isinstance(declaration.tree, Node), "actions and shells are nodes with clauses"
        key = clause(declaration.tree, "idempotencyKey")
        if key is None or not isinstance(key.value, Text):
            continue
        call = clause(declaration.tree, "call")
        name = call.value.action.constant if call is not None and isinstance(call.value, CallEffect) else None
        written = text[key.value.span.start : key.value.span.end]
        known = first.setdefault((name or "", written), declaration)
        if known is not declaration:
            typed.scope.file.findings.add(
                "WT0803",
                f"`{declaration.name}` and `{known.name}` share one key, so only one of them happens",
                key.span,
                secondary=[(known.tree.name.span, "the other one")],
            )


def _check_command(typed: Typed, node: Node) -> None:
    run = clause(node, "run")
    if run is None or not isinstance(run.value, ListExpr) or not run.value.items:
        return
    program = run.value.items[0]
    name = program.constant if isinstance(program, Text) else None
    if name is None or posixpath.basename(name).removesuffix(".exe").lower() not in SHELLS:
        return
    for argument in run.value.items[1:]:
        value = argument.value if isinstance(argument, Spread) else argument
        made = _made_by_model(typed, value)
        if made is not None:
            typed.scope.file.findings.add(
                "WT0804",
                f"what `{made}` answers becomes part of a command that `{name}` reads",
                value.span,
                help="run the program itself with a list of arguments, or give the text on `stdin`",
            )
            return


def _made_by_model(typed: Typed, expr: Expr) -> str | None:
    for part in walk(expr):
        if isinstance(part, Ref):
            declaration = typed.scope.lookup(part.name)
            if declaration is not None and declaration.kind is Kind.AGENT:
                return declaration.name
    return None
