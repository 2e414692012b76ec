"""What effects do that nobody wrote: every route that their output can decide, and the ways they go wrong.

Nothing is run for real: an action returns a value of its type, a shell an exit code and some output.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Accepted, acceptor
from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.snapshot import ActionNode, ShellNode, Snapshot, TypeModel
from windtunnel.simulator.providers.behaviour import Behaviour, Fails, Menu, Returns, Turn, returns
from windtunnel.simulator.providers.routing import FieldPath, signature
from windtunnel.simulator.providers.sides import cases_named, spread
from windtunnel.simulator.providers.thresholds import Routes, routes_of
from windtunnel.simulator.providers.values import WORDS, Source, invalid

MAX_TRIED: Final = 400
"""Values that are tried before a route counts as one that nothing valid takes."""

MAX_RETURNED: Final = 8
"""Good returns of one effect: one for each route that they can decide, up to this many."""

FAILED: Final = "The call failed."
SAID: Final = "Done."
"""What a command says that nobody knows."""


def effect_menu(snapshot: Snapshot, node: str) -> Menu:
    """What an effect may do, good behaviour first."""
    found = snapshot.nodes[node]
    assert isinstance(found, ActionNode | ShellNode), "only actions and shells have effects"
    routes = routes_of(snapshot, node)
    returned = _returned(found, snapshot, routes)
    if not returned:
        return Menu((), gap="no value of its type could be made")
    names = _names(returned, routes.paths)
    quiet = tuple(returns(name, output) for name, output in zip(names, returned, strict=True))
    return Menu(quiet, (*_deviations(found, snapshot, quiet[0]),))


def _returned(node: ActionNode | ShellNode, snapshot: Snapshot, routes: Routes) -> list[JsonValue]:
    values = [] if node.returns is None else distinct(node.returns, snapshot, routes)
    if isinstance(node, ActionNode):
        return values
    codes = (0, 1) if node.allow_non_zero_exit else (0,)
    said = [SAID] if node.returns is None else [canonical(value) for value in values]
    return [_ended(code, text) for code in codes for text in said]


def _ended(code: int, stdout: str, stderr: str = "") -> JsonValue:
    """How a command ended."""
    return {"durationMs": 0, "exitCode": code, "stderr": stderr, "stdout": stdout}


def distinct(of: TypeModel, snapshot: Snapshot, routes: Routes) -> list[JsonValue]:
    """The first value of the type for each route that it decides."""
    source = Source(snapshot.types, WORDS)
    accepts = acceptor(of, snapshot.types)
    exact = {*WORDS[:2]} | cases_named(of, source)
    found: dict[tuple[str, ...], JsonValue] = {}
    for value in islice(spread(of, routes.paths, routes.met, source), MAX_TRIED):
        route = routes.side(value, exact)
        if route not in found and isinstance(accepts.accept(value), Accepted):
            found[route] = value
        if len(found) == (MAX_RETURNED if routes.paths else 1):
            break
    return list(found.values())


def _names(returned: Sequence[JsonValue], paths: Sequence[FieldPath]) -> list[str]:
    if len(returned) == 1:
        return ["returns"]
    shown = [", ".join(signature(output, paths)) for output in returned]
    names = [f"returns {text}" if len(text) <= 60 else "" for text in shown]
    unique = len(set(names)) == len(names) and "" not in names
    return names if unique else [f"returns case {number}" for number in range(1, len(returned) + 1)]


def _deviations(node: ActionNode | ShellNode, snapshot: Snapshot, good: Behaviour) -> list[Behaviour]:
    """The ways an effect goes wrong; one without a deadline always replies, or nothing would go on."""
    found = [_deviation("fails", Turn((Fails(FAILED),)))]
    if isinstance(node, ShellNode):
        if not node.allow_non_zero_exit:
            found.append(_deviation("exits with 1", Turn((Returns(canonical(_ended(1, "", "No."))),))))
        if node.returns is not None:
            found.append(_deviation("prints something else", Turn((Returns(canonical(_ended(0, "?"))),))))
    else:
        wrong = invalid(node.returns, Source(snapshot.types, WORDS))
        found += [
            _deviation("returns something else", Turn((Returns(canonical(w.value)),))) for w in wrong[:1]
        ]
    if node.timeout_ms != "none":
        found.append(_deviation("does nothing and never replies", Turn(stalls=True)))
        found.append(_deviation("is applied, but never replies", Turn(good.turns[0].acts, stalls=True)))
    return found


def _deviation(name: str, turn: Turn) -> Behaviour:
    return Behaviour(name, (turn,), deviation=name)
