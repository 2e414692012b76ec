"""The same operations on two stores: the model, and SQLite in memory with its image as the snapshot.

A search looks at every state of a world within a budget; each different transaction that it makes is made
here on both stores, from an image of each that was left by the transaction before. What both say must be
equal, and the fold of what SQLite gives back must be the state that the search has.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from windtunnel.simulator.budget import budget
from windtunnel.simulator.durable.driving import new_run
from windtunnel.simulator.durable.lines import attempts_of, following, state_of
from windtunnel.simulator.events import NOTICE, THIS_NOTICE, Commit, Event, Payload
from windtunnel.simulator.search.exploration import Setup
from windtunnel.simulator.store.interface import ClaimLost, Store
from windtunnel.simulator.store.memory import MemoryStore
from windtunnel.simulator.store.records import Claim, Decision, Held, Line, Notice, Receipt, RunRecord
from windtunnel.simulator.store.sqlite import SqliteStore, memory_store
from windtunnel.simulator.world import STORE, Option, State, World, until

RUN: Final = "run-1"
MAX_STATES: Final = 1_000_000
"""States of a graph that is mirrored."""

MAX_TRANSACTIONS: Final = 2_000
"""Transactions that are made on both stores; of a larger graph the first ones, nearest to its start."""

LEASE: Final = 10

Progress = Callable[[int, int], None]
"""Called with how many states were looked at, of how many that are known."""


class Mirrored(NamedTuple):
    """How much was compared; `difference` is the first thing that was not equal.

    `complete` says whether that was the whole graph.
    """

    states: int
    transactions: int
    difference: str | None
    complete: bool = True


class Image(NamedTuple):
    """Both stores as they were after one transaction, and the claim that wrote it."""

    model: MemoryStore
    packed: bytes
    claim: Claim


def mirror(setup: Setup, *, faults: int = 1, progress: Progress | None = None) -> Mirrored:
    """Look at every state with up to `faults` faults; stops at the first difference."""
    world = setup.world
    start = world.start(budget(faults, {}))
    images = {start[STORE]: _first(setup)}
    done: set[tuple[int, int]] = set()
    seen = {start}
    order = [start]
    for looked, state in enumerate(order):
        for option in world.options(state):
            for before, commit in _commits(world, state, option):
                piece = world.pieces.id(commit)
                if (before, piece) in done:
                    continue
                done.add((before, piece))
                if len(done) > MAX_TRANSACTIONS:
                    return Mirrored(looked, MAX_TRANSACTIONS, None, complete=False)
                after, _ = world.commit(before, piece)
                image, difference = _both(world, images[before], commit, after)
                if difference is not None:
                    return Mirrored(len(seen), len(done), difference)
                images.setdefault(after, image)
            if option.state not in seen and len(seen) < MAX_STATES:
                seen.add(option.state)
                order.append(option.state)
        if progress is not None and looked % 64 == 0:
            progress(looked, len(order))
    return Mirrored(len(seen), len(done), None)


def _commits(world: World, state: State, option: Option) -> Iterator[tuple[int, Commit]]:
    """The transactions of an option, each with the store before it."""
    actions = world.outcomes[option.outcome].actions
    store = state[STORE]
    for action in actions if option.cut is None else until(actions, option.cut):
        if isinstance(action, Commit):
            yield store, action
            store, _ = world.commit(store, world.pieces.id(action))


def _first(setup: Setup) -> Image:
    """A store with one queued run, twice."""
    new = new_run(setup.snapshot, setup.world.input, setup.reference, 0)
    model, real = MemoryStore(), memory_store()
    model.create(new)
    real.create(new)
    claim = model.claim(RUN, "host", 0, LEASE)
    assert claim == real.claim(RUN, "host", 0, LEASE), "both stores give the same first claim"
    assert isinstance(claim, Claim), "nobody holds a new run"
    with real:
        return Image(model, packed(real), claim)


def _both(world: World, image: Image, commit: Commit, after: int) -> tuple[Image, str | None]:
    """One transaction on both stores: the next host claims, the last one is refused, the next one writes."""
    model, real = image.model.copy(), restored(zlib.decompress(image.packed))
    with real:
        lines = _lines(model.trace(RUN), commit.events)
        said = [_write(store, image.claim, lines) for store in (model, real)]
        difference = None
        if said[0] != said[1]:
            difference = f"the model says {said[0]}, SQLite says {said[1]}"
        wanted = world.stores.values[after]
        found = state_of(world.program, model.run(RUN).input, said[1].trace)
        if wanted != found:
            difference = f"the search has {wanted}, SQLite gives back {found}"
        return Image(model, packed(real), said[0].claim), difference


def packed(store: SqliteStore) -> bytes:
    """The image of a store; most of a small database is empty, and there are many."""
    return zlib.compress(store.connection.serialize(), 1)


def restored(image: bytes) -> SqliteStore:
    """A store in memory from its image."""
    return memory_store(image)


class Said(NamedTuple):
    """Everything that a store says to one transaction."""

    claim: Claim
    refused: bool
    record: RunRecord
    run: RunRecord
    trace: tuple[Line, ...]
    receipts: tuple[Receipt, ...]
    decisions: tuple[Decision, ...]
    notices: tuple[Notice, ...]
    held: Held | None


def _write(store: Store, last: Claim, lines: tuple[Line, ...]) -> Said:
    """The next host claims, the last one writes and is refused, the next one writes."""
    claim = store.claim(RUN, f"host after {last.token}", last.expires_ms, LEASE)
    assert isinstance(claim, Claim), "a lease that ran out holds nobody back"
    try:
        store.commit(last, lines)
        refused = False
    except ClaimLost:
        refused = True
    record = store.commit(claim, lines)
    return Said(
        claim,
        refused,
        record,
        store.run(RUN),
        store.trace(RUN),
        store.receipts(RUN),
        store.decisions(RUN),
        store.notices(RUN),
        store.claimed(RUN),
    )


def _lines(before: tuple[Line, ...], events: tuple[Event, ...]) -> tuple[Line, ...]:
    """The events as lines behind others; attempts and notifications get ids, which a store tells apart."""
    attempts = len(attempts_of(before))
    counts = Counter((line.event.type, line.event.node) for line in before)
    name = before[-1].name if before else ""
    lines: list[Line] = []
    for seq, event in enumerate(events, start=len(before) + 1):
        attempts += event.type == "node_started"
        counts[event.type, event.node] += 1
        attempt = None if event.attempt is None else f"attempt-{attempts}"
        if event.get("continuedFrom") is not None:
            name = following(name or RUN)
        payload = _numbered(event.payload, counts[event.type, event.node])
        named = Event(event.scope, event.type, event.node, attempt, payload)
        lines.append(Line(seq, seq, "host", named, (seq - 1,) if seq > 1 else (), name))
    return tuple(lines)


def _numbered(payload: Payload, count: int) -> Payload:
    """The payload with a number where notifications are numbered."""
    return tuple((key, count if value in (NOTICE, THIS_NOTICE) else value) for key, value in payload)
