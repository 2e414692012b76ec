"""What a store keeps, as frozen data.

Ids are absolute here: a store outlives every process, so nothing in it is relative to one. Times are whole
milliseconds: `at` counts from the start of the run, everything that ends in `_ms` is the clock of the wall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from windtunnel.simulator.events import Event

QUEUED: Final = "queued"
STARTING: Final = "starting"
FINAL: Final = frozenset({"completed", "failed", "timed_out", "cancelled"})
"""Statuses that a run never leaves; one that waits may be continued."""


class Line(NamedTuple):
    """One line of a run's trace. In `event` the attempt is an id and no value is a mark.

    `causes` are the lines that led to it; the payload and every record in it are sorted by key. `name` is the
    id of the run that continues the first one, "" where the line is of the first one itself.
    """

    seq: int
    at: int
    process: str
    event: Event
    causes: tuple[int, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class NewRun:
    """What a run is made of. `input` is canonical JSON, `reference` how the workflow was named."""

    workflow: str
    revision: int
    digest: str
    snapshot: str
    input: str
    reference: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as its store knows it; `snapshot` is the SHA-256 of the stored text, `last_seq` ends the trace.

    `status` is `queued` until the run has a first line; `paused` and `parked` stand beside `running`. A run
    that waited and was answered goes on under another id, `current`, in the same trace; `untold` counts the
    notifications that were queued and not delivered yet.
    """

    run: str
    workflow: str
    revision: int
    digest: str
    snapshot: str
    input: str
    reference: str
    created_ms: int
    status: str = QUEUED
    paused: bool = False
    parked: bool = False
    last_seq: int = 0
    untold: int = 0
    current: str = ""


class Claim(NamedTuple):
    """The right to write to a run. A later claim has a higher `token`, and the older one writes no more."""

    run: str
    owner: str
    token: int
    expires_ms: int


class Held(NamedTuple):
    """Somebody else has the claim."""

    run: str
    owner: str
    expires_ms: int


class Receipt(NamedTuple):
    """What proves an assistant answer; `record` is canonical JSON."""

    run: str
    attempt: str
    node: str
    record: str


class Decision(NamedTuple):
    """One request for a decision, one for each visit. `state` is `open`, `answered`, `defaulted` or
    `cancelled`; `request` and `outcome` are the payloads of the lines, as canonical JSON.
    """

    run: str
    attempt: str
    node: str
    state: str
    request: str
    outcome: str | None = None


class Notice(NamedTuple):
    """One queued notification; (run, node, number) is its key. `payload` is canonical JSON."""

    run: str
    node: str
    number: int
    payload: str
    delivered: bool = False


class Asked(NamedTuple):
    """What somebody outside wants of a run that another process holds, such as `cancel`."""

    id: int
    run: str
    what: str
    at_ms: int
