"""Behaviour that somebody wrote: for each node, and for a visit of it where that matters, the turns in order.

The turns of a line are used up over the whole visit: a reminder gets the next one, as a tool result does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from windtunnel.simulator.providers.behaviour import Behaviour, Menu, Provider, Request, Turn


@dataclass(frozen=True, slots=True)
class Line:
    """What the model does at a node; `visit` None stands for every visit that has no line of its own."""

    node: str
    turns: tuple[Turn, ...]
    visit: int | None = None


@dataclass(frozen=True, slots=True)
class ScriptedProvider:
    """Answers from lines; a request that no line answers goes to `otherwise`, or is a gap.

    The first line that names the visit wins, then the first that names none.
    """

    lines: tuple[Line, ...]
    otherwise: Provider | None = None

    def menu(self, request: Request) -> Menu:
        """The one behaviour of the script."""
        line = line_for(self.lines, request.node, request.visit)
        if line is None and self.otherwise is not None:
            return self.otherwise.menu(request)
        if line is None:
            return Menu((), gap=f"no line of the script answers visit {request.visit} of {request.node}")
        left = line.turns[request.turns_taken :]
        if not left:
            said = f"{len(line.turns)} turn{'' if len(line.turns) == 1 else 's'}"
            return Menu((), gap=f"the script of {request.node} has only {said} for visit {request.visit}")
        return Menu((Behaviour("script", left),))


def line_for(lines: Sequence[Line], node: str, visit: int) -> Line | None:
    """The line that answers a visit of a node."""
    own = (line for line in lines if line.node == node and line.visit == visit)
    general = (line for line in lines if line.node == node and line.visit is None)
    return next(own, None) or next(general, None)


def unused(lines: Sequence[Line], visits: Iterable[tuple[str, int]]) -> tuple[Line, ...]:
    """The lines that answered none of the visits (node, number) of a run."""
    used = [line_for(lines, node, visit) for node, visit in visits]
    return tuple(line for line in lines if not any(line is other for other in used))
