"""The laws of the simulator, each with a check and with a patch that breaks the law and must be noticed.

1 deterministic · 2 one source of choice · 3 sans-IO, pure handlers · 4 only what was committed survives · 5 a
check can fail · and the rules of the shape: views instead of the log, the quiet choice first, one budget.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.flows import ANSWER, DECIDE, LOOP, flow
from windtunnel.simulator import explore, handlers, invariants, moves, simulate, tables, world
from windtunnel.simulator.budget import budget, spend
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.chat import loop as loops
from windtunnel.simulator.events import DURABLE, Append, Commit, Emit, Event
from windtunnel.simulator.invariants import STUCK
from windtunnel.simulator.run import engine, recovery
from windtunnel.simulator.run.state import fold
from windtunnel.simulator.search.exploration import Setup
from windtunnel.simulator.search.explorer import search
from windtunnel.simulator.world import BUDGET, LOG, STORE, Option, State, World

ROOT = Path(__file__).parent.parent.parent


def reachable(ready: World, faults: int) -> Iterator[tuple[State, list[Option]]]:
    """Every state within a budget, with its options."""
    start = ready.start(budget(faults))
    seen, waiting = {start}, [start]
    while waiting:
        state = waiting.pop(0)
        options = ready.options(state)
        yield state, options
        for option in options:
            if option.state not in seen and not option.violations:
                seen.add(option.state)
                waiting.append(option.state)


# --- 1: deterministic ---------------------------------------------------------------------------------------


def orders_by_hash(setattr_: Callable[[Any, str, Any], None]) -> None:
    """An event tells its parts in the order of a set."""
    original = loops._event

    def event(type_: str, local: Any, **payload: Any) -> Emit:
        made = original(type_, local, **payload).event
        names = " ".join({f"name {number}" for number in range(12)})
        return Emit(Event(made.scope, made.type, made.node, made.attempt, (("names", names),)))

    setattr_(loops, "_event", event)


def everything_printed() -> str:
    """A digest of an exploration and of some traces."""
    shown = hashlib.sha256()
    found = explore(flow(DECIDE), faults=1)
    shown.update(json.dumps(found.to_json(), sort_keys=True).encode())
    for seed in range(6):
        for line in simulate(flow(DECIDE), seed=seed).trace:
            shown.update(line.encode())
    return shown.hexdigest()


@lru_cache(maxsize=4)
def printed_under(hash_seed: str, patched: bool) -> str:
    """The same digest, made in another process."""
    script = (
        "from tests.simulator import test_laws as laws\n"
        f"laws.orders_by_hash(setattr) if {patched} else None\n"
        "print(laws.everything_printed())\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}  # noqa: TID251
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_law_1_the_same_choices_give_the_same_bytes_everywhere() -> None:
    """Two processes with different hash seeds print the same."""
    assert printed_under("1", False) == printed_under("2", False)


def test_law_1_an_order_of_a_set_is_noticed() -> None:
    """Patch `orders_by_hash`."""
    assert printed_under("1", True) != printed_under("2", True)


# --- 2: one source of choice --------------------------------------------------------------------------------


def replays(seed: int) -> bool:
    """Whether a run drawn from a seed is repeated by its choices alone."""
    drawn = simulate(flow(LOOP), seed=seed)
    return simulate(flow(LOOP), choices=drawn.choices).trace == drawn.trace


def test_law_2_a_run_is_its_choices() -> None:
    """Every drawn run is repeated by the list of its answers."""
    assert all(replays(seed) for seed in range(12))


def test_law_2_a_hidden_choice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patch: the model's text depends on how often anybody asked before."""
    asked = itertools.count()
    original = loops.visible
    monkeypatch.setattr(loops, "visible", lambda turn: original(turn) + " " * (next(asked) % 7))
    assert not all(replays(seed) for seed in range(4))


# --- 3: sans-IO ---------------------------------------------------------------------------------------------

HANDLERS = (
    *("simulator/chat/log.py", "simulator/chat/loop.py", "simulator/moves.py", "simulator/network.py"),
    "simulator/invariants.py",
    *(f"simulator/run/{file.name}" for file in sorted((ROOT / "simulator/run").glob("*.py"))),
)


def impurities(source: str, *, handler: bool) -> list[str]:
    """What a handler, or anything in the simulator's core, must not hold."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith):
            found.append("a coroutine")
        if handler and isinstance(node, ast.Yield | ast.YieldFrom):
            found.append("a generator")
        if isinstance(node, ast.Attribute | ast.Name):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name == "deepcopy":
                found.append("a deep copy")
        if handler and isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += ["input or output"] if node.func.id in ("open", "print", "input") else []
        if handler and isinstance(node, ast.Global | ast.Nonlocal):
            found.append("a shared variable")
    return found


def test_law_3_handlers_are_plain_functions() -> None:
    """No coroutine, no deep copy inside the rim; no generator, IO or shared variable in a handler."""
    for file in sorted((ROOT / "simulator").rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        if name.startswith(("simulator/commands/", "simulator/serving/")):
            continue  # The rim may wait for the world.
        found = impurities(file.read_text(encoding="utf-8"), handler=name in HANDLERS)
        assert found == [], f"{name} has {found}"


@pytest.mark.parametrize(
    ("planted", "what"),
    [
        ("async def f() -> None:\n    await g()\n", "a coroutine"),
        ("def f():\n    yield 1\n", "a generator"),
        ("import copy\nx = copy.deepcopy({})\n", "a deep copy"),
        ("x = open('f')\n", "input or output"),
        ("def f() -> None:\n    global x\n    x = 1\n", "a shared variable"),
    ],
)
def test_law_3_what_does_not_belong_is_noticed(planted: str, what: str) -> None:
    """Patch: a source with each of the forbidden things."""
    assert what in impurities(planted, handler=True)


def called_twice(ready: World) -> bool:
    """Whether every handler call of a search gives the same when it is made again."""
    search(ready, ready.start(budget(1)))
    return all(ready._run(*key) == ready.outcomes[number] for key, number in ready._called.items())


def test_law_3_each_handler_called_twice_gives_the_same() -> None:
    """Pure: equal state, view and message give equal state and effects."""
    for text in (ANSWER, DECIDE, LOOP):
        assert called_twice(Setup(flow(text)).world)


def counts_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine tells how often it was called."""
    calls = itertools.count()
    original = engine._delivered

    def delivered(*arguments: Any) -> Any:
        local, actions = original(*arguments)
        note = Emit(Event("node", "noted", payload=(("call", next(calls)),)))
        return local, (*actions, note)

    monkeypatch.setattr(engine, "_delivered", delivered)


def test_law_3_an_impure_handler_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patch `counts_its_calls`: calling twice shows it, and so does the search itself."""
    counts_its_calls(monkeypatch)
    assert not called_twice(Setup(flow(ANSWER)).world)
    monkeypatch.setattr(handlers, "RECHECK_EVERY", 1)
    with pytest.raises(AssertionError, match="the engine is not pure"):
        explore(flow(ANSWER), faults=1)


# --- 4: only what was committed survives --------------------------------------------------------------------


def loses_what_it_should(ready: World) -> bool:
    """Whether each crash leaves exactly the writes before it, and no memory."""
    down = ready.start(budget(0))[:LOG]
    for state, options in reachable(ready, 1):
        for option in options:
            if option.cut is None:
                continue
            run, log = ready.stores.values[state[STORE]], ready.logs.values[state[LOG]]
            for action in ready.outcomes[option.outcome].actions[: option.cut.done]:
                if isinstance(action, Commit):
                    for event in action.events:
                        run = fold(ready.program, run, event)
                        if event.type == "node_started":
                            log = logs.age(log, ready.program.revisited)
                elif isinstance(action, Append):
                    for row in action.rows:
                        log = logs.append(log, row)
                elif isinstance(action, DURABLE):
                    log = logs.repair(log)
            after = ready.logs.values[option.state[LOG]]
            whole = after == log if not option.cut.torn else after.torn
            if option.state[:LOG] != down or ready.stores.values[option.state[STORE]] != run or not whole:
                return False
    return True


def test_law_4_a_crash_loses_all_but_what_was_written() -> None:
    """Every crash of a search, and torn tails among them."""
    ready = Setup(flow(DECIDE)).world
    assert loses_what_it_should(ready)
    assert any(log.torn for log in ready.logs.values)


def keeps_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's memory outlives the crash."""
    original = World._crash

    def crash(self: World, state: State, *rest: Any) -> Option:
        option = original(self, state, *rest)
        kept = (option.state[0], state[1], *option.state[2:])
        return option._replace(state=kept)

    monkeypatch.setattr(World, "_crash", crash)


def writes_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not committed yet survives too."""
    original = World._crash

    def crash(self: World, state: State, move: Any, number: int, cut: Any, left: int) -> Option:
        late = cut if cut.torn else world.Cut(len(self.outcomes[number].actions))
        return original(self, state, move, number, late, left)._replace(cut=cut)

    monkeypatch.setattr(World, "_crash", crash)


@pytest.mark.parametrize("patch", [keeps_memory, writes_ahead])
def test_law_4_what_survives_wrongly_is_noticed(
    patch: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Patches `keeps_memory` and `writes_ahead`."""
    patch(monkeypatch)
    assert not loses_what_it_should(Setup(flow(DECIDE)).world)


def test_law_4_moving_on_before_the_commit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patch: a step is over for the engine before the store knows."""
    original = engine.finish

    def finish(*arguments: Any) -> Any:
        local, actions = original(*arguments)
        return local, tuple(action for action in actions if not isinstance(action, Commit))

    monkeypatch.setattr(engine, "finish", finish)
    assert explore(flow(ANSWER), faults=0).violations


# --- 5: a check can fail ------------------------------------------------------------------------------------


def test_law_5_a_check_that_is_never_made_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patch: one invariant is passed over. Its premise was never true then, and the report shows it."""
    original = invariants.Account.check

    def check(self: Any, invariant: str, holds: bool, message: str) -> None:
        if invariant != invariants.TEXT:
            original(self, invariant, holds, message)

    assert explore(flow(ANSWER), faults=1).tested[invariants.TEXT] > 0
    monkeypatch.setattr(invariants.Account, "check", check)
    assert invariants.TEXT not in explore(flow(ANSWER), faults=1).tested


# --- the shape ----------------------------------------------------------------------------------------------


def different_logs(limit: int) -> int:
    """How many different session logs a search meets when a loop may go round so often."""
    ready = Setup(flow(LOOP.replace("limit 2", f"limit {limit}"))).world
    search(ready, ready.start(budget(1)))
    return len(ready.logs)


def test_the_log_is_seen_through_views_only() -> None:
    """What no handler can read does not count: a longer past makes no new log."""
    assert different_logs(2) == different_logs(6)


def test_a_log_that_remembers_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patch: the log counts all its entries."""
    original = logs.append

    def append(log: Any, row: Any) -> Any:
        longer = original(log, row)
        return longer._replace(older=(*longer.older, (f"entry {len(longer.older)}", logs.Answer("", ""))))

    monkeypatch.setattr(logs, "append", append)
    assert different_logs(2) < different_logs(6)


def quiet_comes_first(ready: World) -> bool:
    """Whether the first option costs nothing wherever one does, and the start is all quiet."""
    for _, options in reachable(ready, 1):
        costs = [bool(option.move.kind) or option.cut is not None for option in options]
        if costs != sorted(costs):
            return False
    return True


def test_choice_0_is_the_quiet_one() -> None:
    """First in, first out, no faults, unless somebody says otherwise."""
    assert quiet_comes_first(Setup(flow(LOOP)).world)


def test_a_fault_in_front_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patch: the person comes before everything."""
    original = moves.moves

    def people_first(*arguments: Any, **more: Any) -> Any:
        drafts = original(*arguments, **more)
        people = tuple(draft for draft in drafts.rest if draft.source == "person")
        return drafts._replace(first=(*people, *drafts.first))

    monkeypatch.setattr(world, "moves", people_first)
    assert not quiet_comes_first(Setup(flow(LOOP)).world)


def keeps_its_budget(ready: World, faults: int) -> bool:
    """Whether what is left goes down by one with each fault, and by nothing else."""
    for state, options in reachable(ready, faults):
        left = ready.budgets.values[state[BUDGET]].total
        for option in options:
            spent = bool(option.move.kind) + (option.cut is not None)
            if ready.budgets.values[option.state[BUDGET]].total != left - spent or left - spent < 0:
                return False
    return True


def test_the_budget_holds_for_all_kinds_together() -> None:
    """Any two faults, and never a third."""
    assert keeps_its_budget(Setup(flow(DECIDE)).world, 2)


def test_a_fault_for_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patch: repetitions are free while one fault is left."""
    monkeypatch.setattr(
        tables, "spend", lambda left, kind: left if kind == "duplicate" and left.total else spend(left, kind)
    )
    assert not keeps_its_budget(Setup(flow(DECIDE)).world, 1)


def test_going_in_circles_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patch: a restarted engine that finds a running run starts again, and again."""
    original = recovery.boot

    def starts_again(program: Any, view: Any) -> Any:
        return (engine.Engine(), ()) if view.position.status == "running" else original(program, view)

    monkeypatch.setattr(handlers, "boot", starts_again)
    found = explore(flow(ANSWER), faults=1)
    assert [violation.invariant for violation in found.violations] == [STUCK]
    assert "circles" in found.violations[0].message
