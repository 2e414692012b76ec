"""What each process holds, row by row: its real state in words, volatile beside durable.

A holding is a name and a list of `[row, text]`: from that row on it says so, until the next. Row -1 is the
start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from windtunnel.simulator.moves import describe
from windtunnel.simulator.network import Late, Provider, Wire
from windtunnel.simulator.report.columns import clip, plain
from windtunnel.simulator.report.page.lanes import LOG, OUTSIDE, PROVIDER, STORE, Moment
from windtunnel.simulator.report.story import moment
from windtunnel.simulator.simulation import Film
from windtunnel.simulator.world import AROUND, ENGINE, INBOX, LATE, LOOP, TIMER, WIRE, State, World
from windtunnel.simulator.world import OUTSIDE as BEYOND
from windtunnel.simulator.world import PROVIDER as CALL
from windtunnel.simulator.world import STORE as STORED

MAX_HELD: Final = 400
"""Code points of one holding."""

Said = tuple[tuple[str, str, str], ...]
"""What is held at one moment: process, name, text."""


class Holding(NamedTuple):
    """One thing that a process holds, over the whole run."""

    process: str
    durable: bool
    name: str
    values: tuple[tuple[int, str], ...]

    def to_json(self) -> list[Any]:
        """`[process, durable, name, [[row, text], …]]`."""
        return [self.process, self.durable, self.name, [list(value) for value in self.values]]


def holdings(film: Film, rows: Sequence[Moment], entries: Sequence[dict[str, Any]]) -> list[Holding]:
    """Everything that is held at some moment, in a fixed order."""
    found: dict[tuple[str, bool, str], list[tuple[int, str]]] = {}

    def note(at: int, durable: bool, said: Said) -> None:
        there = {(process, name): text for process, name, text in said}
        # Who is gone holds nothing any more.
        gone = [key for key in found if not durable and not key[1] and (key[0], key[2]) not in there]
        for process, _, name in gone:
            there[process, name] = ""
        for (process, name), text in there.items():
            values = found.setdefault((process, durable, name), [])
            if not values or values[-1][1] != text:
                values.append((at, text))

    note(-1, False, _volatile(film.world, film.start))
    note(-1, True, _outside(film.world, film.start))
    last = {row.frame: at for at, row in enumerate(rows)}
    at = -1
    for number, frame in enumerate(film.frames):
        at = last.get(number, at)
        note(max(at, 0), False, _volatile(film.world, frame.option.state))
        note(max(at, 0), True, _outside(film.world, frame.option.state))
    shelf = _Shelf()
    note(-1, True, shelf.said(()))
    for at, row in enumerate(rows):
        if row.event is not None and any(arrow.target == STORE for arrow in row.arrows):
            shelf.take(row.event)
        shelf.reach(row)
        note(at, True, shelf.said(entries[: row.entries]))
    return [Holding(*key, tuple(_filled(values))) for key, values in found.items()]


def _filled(values: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Values without those that are replaced within their own row."""
    for number, value in enumerate(values):
        if number + 1 == len(values) or values[number + 1][0] != value[0]:
            yield value


# --- what a crash forgets -----------------------------------------------------------------------------------


def _volatile(world: World, state: State) -> Said:
    here = world.arounds.values[state[AROUND]]
    said = list(_process(world, here.first, state[: TIMER + 1]))
    for other in here.others:
        said += _process(world, other.kind, other.slots)
    said += [
        (PROVIDER, "call", _call(world.calls.values[state[CALL]])),
        (PROVIDER, "on the way", _pieces(world.wires.values[state[WIRE]])),
        (PROVIDER, "comes again, late", _late(world.lates.values[state[LATE]])),
    ]
    return tuple(said)


def _process(world: World, name: str, slots: Sequence[int]) -> Iterator[tuple[str, str, str]]:
    """The memory of a host, a worker or a zombie; `slots` are those of a state."""
    loop, engine = world.loops.values[slots[LOOP]], world.engines.values[slots[ENGINE]]
    timer = world.timers.values[slots[TIMER]]
    inbox = [f"{told.to}: {describe(told)}" for told in world.inboxes.values[slots[INBOX]]]
    turn = "" if loop.step is None or not loop.own else f"{loop.step.attempt} attempt, {loop.step.completion}"
    held = (
        ("agent loop", loop.phase + (", held" if loop.held and loop.phase != "down" else "")),
        ("turn of", turn),
        ("shown so far", _text(loop.shown or "")),
        ("open tool calls", str(len(loop.calls)) if loop.calls else ""),
        ("prompt that waits", loop.waiting.question.node if loop.waiting is not None else ""),
        ("engine", engine.phase + (", after a crash" if engine.cold and engine.phase != "down" else "")),
        ("reminders sent", str(engine.nudges) if engine.nudges else ""),
        ("queue", "\n".join(inbox)),
        ("timer", "" if timer is None else f"rings after {moment(timer.timeout_ms)}"),
    )
    yield from ((name, each, text) for each, text in held)


def _call(call: Provider) -> str:
    about = (
        f"about {call.question.node}, {call.question.kind}" if call.question is not None else "in the chat"
    )
    if call.asked:
        return f"asked {about}"
    if call.behaviour is None:
        return "idle"
    return f"{plain(call.behaviour.name)}, message {call.turn} of {len(call.behaviour.turns)}, {about}"


def _pieces(wire: Wire) -> str:
    return ", ".join(type(item.piece).__name__.lower() for item in wire)


def _late(late: Late) -> str:
    return ", ".join(type(message).__name__.lower() for message in late)


# --- what outlives it ---------------------------------------------------------------------------------------


def _outside(world: World, state: State) -> Said:
    beyond = world.outsides.values[state[BEYOND]]
    calls = "" if beyond.call is None else f"{beyond.call.name} of {beyond.call.question.node}"
    keys = "\n".join(f"{one.name} {plain(one.key)} → {plain(one.output)}" for one in beyond.done)
    waits = world.stores.values[state[STORED]].request
    asked = "" if waits is None else "open" + (", with a deadline" if waits.due else "")
    return (
        (STORE, "request", asked),
        (OUTSIDE, "call under way", calls),
        (OUTSIDE, "applied, with a key", _text(keys)),
    )


class _Shelf:
    """Store and session log as committed events and rows make them."""

    def __init__(self) -> None:
        self.lines = 0
        self.run = self.status = self.node = ""
        self.outputs: dict[str, str] = {}
        self.queued = 0
        self.paused = self.torn = False

    def reach(self, row: Moment) -> None:
        """The end of the session log after a row."""
        self.torn = any(arrow.style == "torn" or (self.torn and arrow.target != LOG) for arrow in row.arrows)

    def take(self, event: Any) -> None:
        """One committed event more."""
        kind, payload, node = event["type"], event["payload"], event.get("nodeId")
        self.lines += 1
        self.run = event["runId"]
        if kind == "node_started":
            self.node = f"{node}, {event.get('attemptId', '')}, started"
        elif kind in ("node_finished", "node_failed"):
            self.node = f"{node}, {event.get('attemptId', '')}, {payload.get('outcome')}"
            self.outputs.pop(node, None)
            if kind == "node_finished":
                self.outputs[node] = json.dumps(payload.get("output"), ensure_ascii=False, sort_keys=True)
        elif kind == "notification_queued":
            self.queued += 1
        elif kind == "notification_delivered":
            self.queued -= 1
        elif kind in ("run_paused", "run_resumed", "run_started"):
            self.paused = kind == "run_paused"
            self.status = "running"
        elif kind.startswith("run_"):
            self.status = kind.removeprefix("run_").replace("_", " ")

    def said(self, entries: Sequence[dict[str, Any]]) -> Said:
        last = entries[-1] if entries else None
        row = "" if last is None else f"{last['kind']} {plain(str(last.get('text', last.get('nodeId', ''))))}"
        outputs = "\n".join(f"{node} = {clip(plain(text), 120)}" for node, text in self.outputs.items())
        return (
            (LOG, "rows", str(len(entries))),
            (LOG, "last row", _text(row)),
            (LOG, "its end", "torn: half a row stands there" if self.torn else ""),
            (STORE, "run", f"{self.run} {self.status}{', paused' if self.paused else ''}".strip()),
            (STORE, "node", self.node),
            (STORE, "lines of the trace", str(self.lines)),
            (STORE, "outputs", _text(outputs)),
            (STORE, "notifications to deliver", str(self.queued) if self.queued else ""),
        )


def _text(text: str) -> str:
    return text if len(text) <= MAX_HELD else text[: MAX_HELD - 1] + "…"
