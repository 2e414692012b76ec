"""A small part of the honesty check: real processes on a real store, really killed; and that it can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.simulator.durable.test_host import ASK, PAY
from tests.simulator.flows import ANSWER, DECIDE, builtin, flow
from windtunnel.simulator import crashpoints
from windtunnel.simulator.budget import budget
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.durable import killing
from windtunnel.simulator.durable.driving import VISITS
from windtunnel.simulator.durable.expected import crashes, durable, is_kept, simulated
from windtunnel.simulator.durable.killing import difference
from windtunnel.simulator.durable.torture import torture
from windtunnel.simulator.events import Commit, Emit
from windtunnel.simulator.search.crashpoints import Point
from windtunnel.simulator.search.exploration import Setup
from windtunnel.simulator.store import sqlite
from windtunnel.simulator.store.records import Line

FAST = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
"""A kill leaves the same on any file system; this one does not wait for a disk."""


def setup(text: str = ANSWER) -> Setup:
    """A workflow to torture."""
    return Setup(flow(text), visit_cap=VISITS)


def test_every_crash_is_survived_as_simulated() -> None:
    """Trace, state and session log are the very ones, at every point of a flow with both kinds of writes."""
    seen: list[tuple[int, int]] = []
    found = torture(setup(), folder=FAST, progress=lambda done, total: seen.append((done, total))).survived
    assert [one for one in found if one.difference is not None] == []
    assert len(found) == crashpoints(flow(ANSWER)).total == 27
    assert {"before the step prompt", "inside the step prompt", "after node_finished"} <= {
        one.place for one in found
    }
    assert seen == [(done, 27) for done in range(1, 28)]


def test_two_processes_race_for_a_claim() -> None:
    """A40, A41: one of them goes on, the other is held off or comes too late; nothing is done twice."""
    wanted = (
        "after agent_prompt_sent",
        "after node_finished",
        "before run_completed",
        "inside the step prompt",
    )
    found = torture(setup(DECIDE), only=lambda point: point.place in wanted, race=True, folder=FAST).survived
    assert len(found) >= 5
    assert [one for one in found if one.difference is not None] == []


def test_autoplan_is_killed_at_its_visible_answer() -> None:
    """The points of one mounted assistant node, from its prompt to its routing."""

    def near(point: Point) -> bool:
        return point.node == "summary/summarize" and len(point.choices) % 3 == 0

    found = torture(Setup(builtin("autoplan"), visit_cap=VISITS), only=near, folder=FAST).survived
    assert len(found) >= 4
    assert [one for one in found if one.difference is not None] == []


@pytest.mark.parametrize("name", ["ask", "pay"])
def test_requests_effects_and_notifications_survive(name: str) -> None:
    """W13, W22, W23: one live request, an effect with a key applied once, each notification shown once."""
    texts = {"ask": ASK, "pay": PAY}
    wanted = {
        "ask": (
            "after node_started",
            "before decision_requested and run_waiting",
            "before the notice row",
            "after the notice row",
            "after notification_delivered",
        ),
        "pay": (
            "after effect_started",
            "before effect_started",
            "after effect_applied",
            "before node_finished",
        ),
    }
    found = torture(setup(texts[name]), only=lambda point: point.place in wanted[name], folder=FAST).survived
    assert len(found) >= 6
    assert [one for one in found if one.difference is not None] == []


# --- it can fail --------------------------------------------------------------------------------------------


def some(point: Point) -> bool:
    """A few points are enough to see a broken store."""
    return point.place in ("after node_finished", "after the assistant row", "inside the step prompt")


def broken(**changes: Any) -> list[str]:
    """What the differences say."""
    return [
        one.difference
        for one in torture(setup(), only=some, folder=FAST, **changes).survived
        if one.difference is not None
    ]


def test_a_commit_that_is_none_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that loses what it said it kept."""
    real = sqlite.SqliteStore._add

    def forgetful(self: sqlite.SqliteStore, run: str, line: Line) -> None:
        if line.event.type != "agent_prompt_sent":
            real(self, run, line)

    monkeypatch.setattr(sqlite.SqliteStore, "_add", forgetful)
    assert any("lines of run-1 are missing" in said for said in broken())


def test_a_session_that_is_not_read_again_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """W01 on a real store: an answer that recovery does not see is asked for again."""
    folded = "windtunnel.simulator.durable.host.sessions.fold"
    monkeypatch.setattr(folded, lambda *_, **__: logs.NEW._replace(empty=False))
    said = broken()
    assert any("of the trace" in line or "of the session log" in line for line in said)


def test_a_process_that_does_not_die_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A point that is never reached proves nothing."""
    monkeypatch.setattr(killing.Killer, "probe", lambda self, number, done, action: None)
    assert set(broken()) == {"the process did not die there, it left with 13"}


def test_the_first_difference_is_told() -> None:
    """Of the trace, the session log, the state and the log, in this order."""
    ready = setup()
    at_ms, _, ending = simulated(ready.world, crashes(ready).crashes[-1])
    assert at_ms > 0
    assert difference(ending, ending) is None
    shorter = ending._replace(lines=ending.lines[:-1])
    assert (
        difference(ending, shorter)
        == f"the trace: simulated {len(ending.lines)} lines, real {len(shorter.lines)}"
    )
    other = ({**ending.lines[0], "at": 99}, *ending.lines[1:])
    assert str(difference(ending, ending._replace(lines=other))).startswith("line 1 of the trace: simulated")
    entries = ending._replace(entries=())
    assert str(difference(ending, entries)).startswith("the session log: simulated")
    run = ending._replace(run=ending.run._replace(input="1"))
    assert str(difference(ending, run)).startswith("the state: simulated")
    log = ending._replace(log=ending.log._replace(queue=5))
    assert str(difference(ending, log)).startswith("the log: simulated")


@pytest.mark.parametrize("text", [ANSWER, DECIDE, ASK, PAY])
def test_what_is_committed_is_kept_and_nothing_else(text: str) -> None:
    """The durable lines of a trace are those of commits, over every transition with one fault."""
    world = setup(text).world
    start = world.start(budget(1))
    seen, order = {start}, [start]
    kinds: set[tuple[type, str]] = set()
    for state in order:
        for option in world.options(state):
            process = "provider" if option.move.handler == "outside" else "host"
            for action in world.outcomes[option.outcome].actions:
                events = action.events if isinstance(action, Commit) else ()
                events = (action.event,) if isinstance(action, Emit) else events
                for event in events:
                    kept = is_kept({"scope": event.scope, "type": event.type, "process": process})
                    assert kept == isinstance(action, Commit), event
                    kinds.add((type(action), event.type))
            if option.state not in seen:
                seen.add(option.state)
                order.append(option.state)
    assert len(kinds) > 10


def test_causes_are_traced_back_to_what_is_durable() -> None:
    """Through volatile lines to the durable one before them; what comes from outside has none."""
    rows = [
        (1, "run", []),
        (2, "agent", [1]),
        (3, "agent", [2]),
        (4, "node", [3]),
        (5, "world", []),
        (6, "node", [5]),
        (7, "node", [6]),
    ]
    events = [
        {"seq": seq, "scope": scope, "type": "any", "process": "host", "causes": causes}
        for seq, scope, causes in rows
    ]
    assert [(line["seq"], line["causes"]) for line in durable(events)] == [
        (1, []),
        (2, [1]),
        (3, []),
        (4, [3]),
    ]
