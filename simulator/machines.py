"""The conversation as a stateful machine of Hypothesis: tabs, links, server, disk and model, move by move.

    class TestConversation(conversation_machine().TestCase): ...

The machine draws what the person wants and what the model says, then which move comes next. After each move
it holds the world to its properties, and wherever a reader has everything to the law: live == snapshot ==
cold. At the end of each run everything quiet happens, and what must hold then is looked at. A failure shrinks
to the fewest moves, each of which is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from hypothesis.strategies import SearchStrategy

from windtunnel.simulator.chat.chances import moves
from windtunnel.simulator.chat.endings import end_problems
from windtunnel.simulator.chat.faults import SOUND, Faults
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.happenings import after_move
from windtunnel.simulator.chat.hunting import MAX_STEPS
from windtunnel.simulator.chat.network import Act, Kind, Script, Setting, When, World, first_world, says
from windtunnel.simulator.chat.properties import readers_agree, step_problems
from windtunnel.simulator.chat.small_worlds import breaks, calls_tool, thinks
from windtunnel.simulator.chat.turns import Settings

MAX_ACTS: Final = 4
MAX_SCRIPTS: Final = 3
MAX_DEVIATIONS: Final = 3
MAX_CHOICE: Final = 12

WHENS: Final[tuple[When, ...]] = ("quiet", "now", "streaming", "tools", "queued", "retrying", "compacting")
KINDS: Final[tuple[Kind, ...]] = (
    "reorder",
    "drop",
    "delay",
    "duplicate",
    "disconnect",
    "crash",
    "append",
    "reload",
    "timeout",
)
SENDS: Final = ("prompt", "send", "steer")
TEXTS: Final = ("first", "same", "same", "")


def conversations() -> SearchStrategy[Setting]:
    """Settings of a conversation: what the person does and when, what the model says, what may go wrong.

    They shrink to one prompt, a model with its usual answer, and nothing that goes wrong.
    """
    sends = st.builds(Act, st.sampled_from(SENDS), st.sampled_from(TEXTS), _whens())
    picks = st.builds(
        Act, st.sampled_from(("remove", "reload")), st.just(""), _whens(), pick=st.integers(0, 2)
    )
    commands = st.builds(Act, st.sampled_from(("stop", "interrupt")), st.just(""), _whens())
    rest = st.lists(st.one_of(sends, picks, commands), max_size=MAX_ACTS - 1)
    acts = rest.map(_acts)
    scripts = st.lists(st.sampled_from(_scripts()), max_size=MAX_SCRIPTS).map(tuple)
    kinds = st.lists(st.sampled_from(KINDS), max_size=4).map(frozenset)
    settings = st.sampled_from((Settings(), Settings(compact_at=1)))
    return st.builds(Setting, acts, scripts, kinds, settings, st.integers(1, 2))


def _acts(more: Sequence[Act]) -> tuple[Act, ...]:
    """A prompt and more; what is removed was sent before."""
    found = [Act("prompt", "first")]
    for act in more:
        sent = sum(each.what in SENDS for each in found)
        found.append(replace(act, pick=min(act.pick, sent - 1)) if act.what == "remove" else act)
    return tuple(found)


def _whens() -> SearchStrategy[When]:
    return st.sampled_from(WHENS)


def _scripts() -> tuple[Script, ...]:
    return (
        says("Hel", "lo"),
        thinks("hm", "yes"),
        calls_tool("look"),
        calls_tool("look", "find", before="let me see"),
        breaks("let", " me"),
        breaks("it", retryable=True),
        says("ha", "ha"),
    )


class ConversationMachine(RuleBasedStateMachine):
    """One run through a conversation; `faults` are put back in all of it."""

    faults: Faults = SOUND

    def __init__(self) -> None:
        super().__init__()
        self.world: World | None = None
        self.left = MAX_DEVIATIONS

    @initialize(setting=conversations())
    def begin(self, setting: Setting) -> None:
        """The tabs are opened."""
        self.world = first_world(replace(setting, faults=self.faults))

    @rule(choice=st.integers(0, MAX_CHOICE))
    def move(self, choice: int) -> None:
        """Something happens, where anything still can; 0 is the quiet way."""
        self._take(choice)

    @rule(count=st.integers(1, 30))
    def quiet(self, count: int) -> None:
        """For a while only what happens anyway, oldest first."""
        for _ in range(count):
            self._take(0)

    def _take(self, choice: int) -> bool:
        """Whether anything could happen."""
        assert self.world is not None, "the machine has begun"
        possible = moves(self.world, self.left)
        if not possible:
            return False
        move = possible[choice % len(possible)]
        note(f"  {move}")
        after = after_move(self.world, move)
        broken = next(step_problems(self.world, after), None)
        # Where something is broken nothing more is looked at.
        self.world, self.left = None if broken else after, self.left - (move.kind is not None)
        assert broken is None, f"after {move}: {broken.property}: {broken.message}"
        return True

    @invariant()
    def readers_see_the_same(self) -> None:
        """The law: live == snapshot == cold."""
        if self.world is not None:
            assert readers_agree(self.world, self.world) is None

    def teardown(self) -> None:
        """Everything quiet happens; then nothing is left open, lost or twice."""
        if self.world is None:
            return
        note("to the end:")
        self.left = 0
        for _ in range(MAX_STEPS):
            if not self._take(0):
                break
        assert not moves(self.world, 0), "the conversation comes to rest"
        broken = next(end_problems(self.world), None)
        assert broken is None, f"at the end: {broken.property}: {broken.message}"


def conversation_machine(faults: Faults = SOUND) -> type[ConversationMachine]:
    """The machine, with seeded faults of the conversation put back; its `TestCase` is a test for pytest."""
    return type("ConversationMachine", (ConversationMachine,), {"faults": faults})
