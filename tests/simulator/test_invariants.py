"""Each invariant can fail: a bug put in on purpose breaks it, and the explorer says so before any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.simulator.flows import ANSWER, ASK, DECIDE, LOOP, PAY, builtin, flow
from windtunnel.simulator import Exploration, explore, handlers, invariants
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.chat import loop
from windtunnel.simulator.chat.log import Answer
from windtunnel.simulator.events import ANSWER_ENTRY, Abort, Commit, Event, Record, Settled, StepRef, Tell
from windtunnel.simulator.invariants import (
    ADOPTION,
    ASKED,
    BYPASS,
    CALLS,
    CANCELLED,
    DEFINITION,
    DIGEST,
    ENDS,
    FENCE,
    FOLD,
    GOOD,
    INVARIANTS,
    INVISIBLE,
    LIMITS,
    MUTED,
    NOTICES,
    ONCE,
    OWN_TURN,
    PAUSE,
    PROMPTS,
    REFUSALS,
    RERUN,
    RESPONSES,
    ROUTES,
    SETTLED,
    STARTED,
    STUCK,
    SUBMISSION,
    TERMINAL,
    TEXT,
    TIME,
    TOOLS,
    TURN,
    TYPES,
    WINNER,
)
from windtunnel.simulator.run import completion, decisions, effects, engine, recovery, routing, state

Patch = Callable[[pytest.MonkeyPatch], None]
SHOWN = DECIDE.replace("revision 1", 'revision 1\n  presentation "Say it."', 1)
SMALL = {"answer": ANSWER, "decide": DECIDE, "loop": LOOP, "pay": PAY, "ask": ASK, "shown": SHOWN}
BY_SWITCH = {RESPONSES: "W01", SETTLED: "W04", ADOPTION: "W02", SUBMISSION: "W08", RERUN: "W12"}
BY_SWITCH |= {ASKED: "W13", WINNER: "W15", CANCELLED: "W19", NOTICES: "W22", ONCE: "W23"}
BY_SWITCH |= {TIME: "W25", FENCE: "W11", DEFINITION: "W17", REFUSALS: "W32", TYPES: "W21"}


def wrap(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, change: Callable[..., Any]) -> None:
    """Put `change(original, *arguments)` in the place of a function."""
    original = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *arguments: change(original, *arguments))


def trims_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine tidies the answer up before it stores it."""

    def change(original: Any, *arguments: Any) -> Any:
        verdict = original(*arguments)
        return verdict._replace(text=verdict.text + " ") if hasattr(verdict, "text") else verdict

    wrap(monkeypatch, completion, "judge", change)


def digests_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """The receipt's digest is not that of the text."""

    def change(original: Any, *arguments: Any) -> Record:
        fields = dict(original(*arguments).fields) | {"sha256": "0" * 64}
        return Record(tuple(sorted(fields.items())))

    wrap(monkeypatch, completion, "receipt", change)


def makes_answers_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recovery answers a step in the model's place when its prompt never went out."""

    def change(original: Any, program: Any, local: Any, view: Any) -> Any:
        node = program.nodes[view.position.node]
        if getattr(node, "completion", "") == "assistant" and not view.branch.prompted:
            return engine.finish(program, view, Answer("made up", "stop"), ANSWER_ENTRY)
        return original(program, local, view)

    wrap(monkeypatch, handlers, "recover", change)


def prompts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recovery repeats the prompt instead of resuming."""
    monkeypatch.setattr(recovery, "send_resume", engine.send_step)


def forgets_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fold passes over one kind of event."""
    monkeypatch.setitem(state._FOLDS, "run_paused", lambda program, run, event: run)


def ends_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finished step is reported a second time in the same transaction."""

    def change(original: Any, *arguments: Any) -> Any:
        local, actions = original(*arguments)
        twice = tuple(
            Commit((*action.events, *action.events)) if isinstance(action, Commit) else action
            for action in actions
        )
        return local, twice

    wrap(monkeypatch, engine, "finish", change)


def goes_on_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancelled run fails on top of it."""

    def change(original: Any, *arguments: Any) -> Any:
        local, actions = original(*arguments)
        failed = Event("run", "run_failed", payload=(("error", "late"),))
        return local, (*actions, *((Commit((failed,)),) if actions else ()))

    wrap(monkeypatch, engine, "_cancel", change)


def takes_a_short_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Routing starts another node than the one that the arrow leads to."""
    wrap(monkeypatch, routing, "start_node", lambda original, walk, node, via: original(walk, "kept", via))


def never_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrows are not counted, so no limit is ever used up."""
    monkeypatch.setattr(state, "_counted", lambda program, run, event: run)


def takes_any_settlement(monkeypatch: pytest.MonkeyPatch) -> None:
    """W29: the end of the person's own turn counts as the step's."""

    def change(original: Any, program: Any, local: Any, view: Any, message: Settled) -> Any:
        if local.phase == "sending" and message.step is None:
            own = replace(message, step=StepRef("current", local.ordinal, ""))
            local_, actions = original(program, local._replace(phase="pending"), view, own)
            return local_, actions
        return original(program, local, view, message)

    wrap(monkeypatch, engine, "_settled", change)


def leaves_the_turn_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """W26: cancelling does not reach the agent loop."""

    def change(original: Any, *arguments: Any) -> Any:
        local, actions = original(*arguments)
        return local, tuple(
            action
            for action in actions
            if not (isinstance(action, Tell) and isinstance(action.message, Abort))
        )

    wrap(monkeypatch, engine, "_cancel", change)


def waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recovery waits for a turn that no longer exists."""

    def change(original: Any, program: Any, local: Any, view: Any) -> Any:
        return local._replace(phase="pending"), ()

    wrap(monkeypatch, handlers, "recover", change)


def takes_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blank answer completes a step."""

    def change(original: Any, agent: Any, scope: Any, answer: Any, entry: Any) -> Any:
        verdict = original(agent, scope, answer, entry)
        if isinstance(verdict, completion.Rejected) and answer is not None and answer.stop == "stop":
            return completion.Completed(answer.text, (), completion.receipt(agent, answer, None, entry))
        return verdict

    wrap(monkeypatch, completion, "judge", change)


def talks_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop shows what the model says after its submission was accepted."""

    def change(original: Any, local: Any, reply: Any) -> Any:
        after, actions = original(local, reply)
        return after._replace(muted=False), actions

    wrap(monkeypatch, loop, "_reply", change)


def leaves_calls_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session is opened without closing what a lost process had asked for."""
    wrap(monkeypatch, loop, "_load", lambda original, log: original(log._replace(open=0)))


def wakes_up_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A paused run goes on after a restart though nobody let it."""

    def change(original: Any, program: Any, view: Any) -> Any:
        return original(program, view._replace(position=view.position._replace(paused=False)))

    wrap(monkeypatch, handlers, "boot", change)


def calls_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """An effect is called before the store knows."""

    def change(original: Any, *arguments: Any) -> Any:
        local, actions = original(*arguments)
        return local, actions[1:]

    wrap(monkeypatch, effects, "call", change)


def approves_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the clock chose is said to be a person's choice."""

    def change(original: Any, *arguments: Any) -> Any:
        local, actions = original(*arguments)
        if not actions:
            return local, actions
        first, *rest = actions[0].events
        claimed = replace(
            first, payload=tuple(sorted({**dict(first.payload), "provenance": "human"}.items()))
        )
        return local, (Commit((claimed, *rest)),)

    wrap(monkeypatch, decisions, "up", change)


def asks_for_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who starts again does not look whether the session was asked for its last turn."""

    def change(original: Any, *arguments: Any) -> Any:
        return original(*arguments)._replace(turned=False)

    wrap(monkeypatch, logs, "branch", change)


PATCHES: dict[str, tuple[str, Patch]] = {
    STARTED: ("pay", calls_without_a_word),
    BYPASS: ("ask", approves_by_itself),
    TEXT: ("answer", trims_the_output),
    DIGEST: ("answer", digests_something_else),
    INVISIBLE: ("answer", makes_answers_up),
    PROMPTS: ("answer", prompts_again),
    FOLD: ("answer", forgets_the_pause),
    ENDS: ("answer", ends_twice),
    TERMINAL: ("answer", goes_on_after_the_end),
    ROUTES: ("loop", takes_a_short_cut),
    LIMITS: ("loop", never_counts),
    OWN_TURN: ("answer", takes_any_settlement),
    CALLS: ("decide", leaves_the_turn_running),
    STUCK: ("answer", waits_for_ever),
    GOOD: ("answer", takes_anything),
    MUTED: ("decide", talks_on),
    TOOLS: ("decide", leaves_calls_open),
    PAUSE: ("answer", wakes_up_alone),
    TURN: ("shown", asks_for_it_again),
}


def first(found: Exploration) -> str:
    """The invariant that broke first."""
    assert found.violations, "the explorer noticed nothing"
    assert not found.complete
    return found.violations[0].invariant


def test_every_invariant_has_a_bug_that_breaks_it() -> None:
    """No invariant stands here that nothing can break."""
    assert sorted({*BY_SWITCH, *PATCHES}) == sorted(INVARIANTS)


@pytest.mark.parametrize("invariant", PATCHES)
def test_a_bug_breaks_its_invariant(invariant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortest counterexample breaks this invariant first, and no neighbour."""
    name, patch = PATCHES[invariant]
    patch(monkeypatch)
    assert first(explore(flow(SMALL[name]), faults=2)) == invariant


@pytest.mark.parametrize("invariant", BY_SWITCH)
def test_a_seeded_fault_breaks_its_invariant(invariant: str) -> None:
    """The same with the bugs that stand in the table of faults."""
    assert first(explore(fault=BY_SWITCH[invariant], faults=2)) == invariant


def test_every_premise_was_true_somewhere() -> None:
    """An invariant whose premise never holds proves nothing; that of TYPES holds in nothing that compiles."""
    tested: set[str] = set()
    for text in SMALL.values():
        found = explore(flow(text), faults=1)
        assert found.violations == ()
        tested |= set(found.tested)
    tested |= set(explore(flow(ANSWER), faults=1, second_host=True).tested)
    assert sorted({*tested, STUCK, TYPES}) == sorted(INVARIANTS)


def test_invariants_import_no_helper_of_the_engine() -> None:
    """A slip that engine and invariants share would blind them."""
    source = invariants.__file__
    assert source is not None
    with open(source, encoding="utf-8") as file:
        imports = [
            line for line in file if line.startswith(("from windtunnel.simulator", "import windtunnel"))
        ]
    assert all(".run" not in line and ".chat" not in line and ".faults" not in line for line in imports)


def test_a_large_workflow_is_watched_without_a_false_alarm() -> None:
    """The sound engine breaks nothing."""
    assert explore(builtin("plain-summary"), faults=2).violations == ()
