"""The provider of a scenario: every way on that its lines hold, and which of them comes next.

A provider is a pure function of the request, so the menu of a node holds all of its lines from every message
on; the script, which follows one run, says which is taken. Visits are counted over the whole run, also of a
node that lies in an include. A node without any line behaves as the simulator makes it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from windtunnel.compiler.scenario import ScriptLine, Where
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.compiler.vocabulary import ACTS
from windtunnel.simulator.providers.behaviour import (
    Behaviour,
    Call,
    Fails,
    Menu,
    Provider,
    Request,
    Returns,
    Stop,
    Submit,
    Text,
    Thinking,
    Turn,
    Update,
)
from windtunnel.simulator.scenario.messages import messages
from windtunnel.simulator.scenario.returns import is_effect, returns

MAX_TOLD: Final = 80
"""Code points of a message's name."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A line with its messages. One that ends by failing, stalling or settling goes on doing so."""

    line: ScriptLine
    turns: tuple[Turn, ...]

    @property
    def goes_on(self) -> bool:
        """Whether the last message stands for all that follow."""
        return any(ACTS[act.verb].ends for act in self.line.turns[-1])

    def name(self, number: int, at: int) -> str:
        """How the way on from message `at` is called; `number` is the line's."""
        return f"{told(self.turns[at])} (script {number}.{at + 1})"


def told(turn: Turn) -> str:
    """A message in a few words."""
    said: list[str] = ["stalls"] if turn.stalls and not turn.acts else []
    for act in turn.acts:
        match act:
            case Text(text):
                said.append(f"says “{text}”")
            case Thinking():
                said.append("thinks")
            case Call(tool):
                said.append(f"calls {tool}")
            case Submit(output):
                said.append(f"submits {output}")
            case Update():
                said.append("publishes progress")
            case Returns(output):
                said.append(f"returns {output}")
            case Fails(error):
                said.append(f"fails: {error}")
    if turn.stalls and turn.acts:
        said.append("never replies")
    if turn.error is not None:
        said.append(f"fails, to be asked again: {turn.error}" if turn.retryable else f"fails: {turn.error}")
    elif turn.stop in (Stop.LENGTH, Stop.ABORTED):
        said.append(f"stops ({turn.stop})")
    words = " ".join(", ".join(said or ["settles"]).split())
    return words if len(words) <= MAX_TOLD else words[: MAX_TOLD - 1] + "…"


class ScriptedMenus:
    """A provider that offers what the lines of a node hold, from every message on.

    A model goes on by itself from one message to the next; an effect is called anew for each.
    """

    def __init__(self, snapshot: Snapshot, lines: Sequence[ScriptLine], otherwise: Provider) -> None:
        self.snapshot = snapshot
        self.lines = tuple(self._prepared(line) for line in lines)
        self.otherwise = otherwise

    def _prepared(self, line: ScriptLine) -> Prepared:
        if is_effect(self.snapshot, line.node):
            return Prepared(line, returns(self.snapshot, line.node, line.turns))
        return Prepared(line, messages(line.turns))

    def menu(self, request: Request) -> Menu:
        """Every way on; what `otherwise` offers for a node that has no line."""
        alone = is_effect(self.snapshot, request.node)
        found = tuple(
            Behaviour(
                prepared.name(number, at), prepared.turns[at : at + 1] if alone else prepared.turns[at:]
            )
            for number, prepared in enumerate(self.lines, 1)
            if prepared.line.node == request.node
            for at in range(len(prepared.turns))
        )
        return Menu(found) if found else self.otherwise.menu(request)

    def answers(self, node: str) -> bool:
        """Whether the node has a line."""
        return any(prepared.line.node == node for prepared in self.lines)


class Script:
    """How far the lines have come in one run."""

    def __init__(self, menus: ScriptedMenus) -> None:
        self.menus = menus
        self._visit: tuple[str, int] | None = None
        self._number = 0
        self._sent = 0
        self._most: dict[int, int] = {}

    def begin(self, node: str, visit: int) -> None:
        """A visit begins: its line starts with its first message. A new attempt goes on where it was."""
        if self._visit != (node, visit):
            self._visit = (node, visit)
            self._number, self._sent = self._line_for(node, visit), 0

    def _line_for(self, node: str, visit: int) -> int:
        """The number of the line that answers a visit, 0 for none: its own one first."""
        lines = list(enumerate(self.menus.lines, 1))
        own = [number for number, each in lines if each.line.node == node and each.line.visit == visit]
        general = [number for number, each in lines if each.line.node == node and each.line.visit is None]
        return next(iter([*own, *general]), 0)

    def wanted(self) -> str | None:
        """The name of the way on that comes next; None when the script has none."""
        if not self._number:
            return None
        prepared = self.menus.lines[self._number - 1]
        last = len(prepared.turns) - 1
        if self._sent > last and not prepared.goes_on:
            return None
        return prepared.name(self._number, min(self._sent, last))

    def sent(self) -> bool:
        """One message more was sent; False when the script had none left."""
        if not self._number:
            return False
        self._sent += 1
        whole = len(self.menus.lines[self._number - 1].turns)
        self._most[self._number] = max(self._most.get(self._number, 0), min(self._sent, whole))
        return self._sent <= whole

    def missing(self) -> str:
        """Why the script has no answer."""
        assert self._visit is not None, "a model is asked at a node"
        node, visit = self._visit
        if not self._number:
            return f"no line of the script answers visit {visit} of {node}"
        count = len(self.menus.lines[self._number - 1].turns)
        only = "only one message" if count == 1 else f"only {count} messages"
        return f"the script of {node} has {only} for visit {visit}, and the model is asked for one more"

    def where(self, otherwise: Where) -> Where:
        """Where the line of the visit stands."""
        return self.menus.lines[self._number - 1].line.where if self._number else otherwise

    def unused(self) -> list[tuple[ScriptLine, int, int]]:
        """Every line of which something was never used, with how many of how many messages were."""
        return [
            (prepared.line, self._most.get(number, 0), len(prepared.turns))
            for number, prepared in enumerate(self.menus.lines, 1)
            if self._most.get(number, 0) < len(prepared.turns)
        ]
