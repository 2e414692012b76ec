"""What the commands on a store share: opening it, refusing, telling a run of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from windtunnel.compiler.snapshot import AgentNode, AssistantMessage, Snapshot
from windtunnel.simulator.commands.console import FINDINGS, leave, say, show
from windtunnel.simulator.commands.watching import watched
from windtunnel.simulator.durable import wall
from windtunnel.simulator.durable.driving import Place, claim, snapshot_of, work
from windtunnel.simulator.durable.lines import ending, parsed, texts, written
from windtunnel.simulator.durable.offers import Stuck
from windtunnel.simulator.report.columns import plain
from windtunnel.simulator.report.stored import nodes_of, run_text
from windtunnel.simulator.report.story import DEFAULT_WIDTH
from windtunnel.simulator.store.interface import ClaimLost, Store, StoreRefused
from windtunnel.simulator.store.records import (
    FINAL,
    QUEUED,
    STARTING,
    Claim,
    Decision,
    Held,
    Notice,
    RunRecord,
)
from windtunnel.simulator.store.sqlite import open_store

GOOD: Final = ("completed", "waiting")
"""Statuses with which a command ends well."""


@contextmanager
def opened(name: str, *, create: bool = False) -> Iterator[Place]:
    """The store in a file; what it refuses is told, and ends the command as wrong usage does."""
    path = Path(name)
    try:
        with open_store(path, create=create) as store:
            yield Place(store, path)
    except (ClaimLost, Stuck) as problem:
        say(f"✗ {problem}")
        leave(FINDINGS)
    except StoreRefused as problem:
        raise click.ClickException(str(problem)) from None


def go_on(place: Place, run: str, *, as_json: bool, releases: bool = False) -> None:
    """Claim a run, go on with it to its end, and tell it; ends with 1 where it did not end well."""
    held = claimed(place, run)
    try:
        with watched(place, run, as_json=as_json) as seen:
            record = work(seen, held, releases=releases)
    except KeyboardInterrupt:
        say(f"{run} is kept; go on with `windtunnel resume {place.path} {run}`")
        raise
    tell_end(place, record, as_json=as_json)
    if record.status not in GOOD:
        leave(FINDINGS)


def claimed(place: Place, run: str) -> Claim:
    """The claim of a run; ends the command with 1 where somebody else works on it."""

    def waits(held: Held) -> None:
        say(f"{run} is held by {held.owner}; waiting until its lease is over")

    found = claim(place, run, waits)
    if isinstance(found, Held):
        say(f"✗ {found.owner} works on {run}; try again later, or `windtunnel cancel {place.path} {run}`")
        leave(FINDINGS)
    return found


def tell_end(place: Place, record: RunRecord, *, as_json: bool) -> None:
    """Print what the store holds of a run, how it stands, and what can be done next."""
    told = run_json(place.store, record)
    if as_json:
        for line in texts(told["trace"]):
            show(line + "\n")
        return
    width = shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    show(run_text(told, width=width))
    exit_, _ = ending(told["trace"])
    by = f", by exit {plain(exit_)}" if exit_ else ""
    sign = "✓" if record.status in GOOD else "✗"
    show(f"\n{sign} {record.run} is {record.status}{by}\n")
    step = next_step(told, place.path)
    if step is not None:
        say(step)


def next_step(told: dict[str, Any], path: Path) -> str | None:
    """What a person can do about a run that stands still; None if there is nothing to do."""
    run, status = told["run"], told["status"]
    if status == "waiting":
        asked = told["decisions"][-1]["request"]
        what = "CHOICE" if asked.get("choices") else "--value JSON"
        return f"answer it with `windtunnel answer {path} {run} {what}`"
    if told["claimedBy"] is None and (status in (QUEUED, "running") or told["untold"]):
        return f"go on with `windtunnel resume {path} {run}`"
    return None


def run_json(store: Store, record: RunRecord) -> dict[str, Any]:
    """A run with all that the store holds of it."""
    snapshot = snapshot_of(store, record)
    trace = written(record.run, store.trace(record.run))
    return summary_json(store, record) | {
        "input": record.input,
        "nodes": nodes_of(trace, gives(snapshot)),
        "receipts": [parsed(receipt.record) for receipt in store.receipts(record.run)],
        "decisions": [_decision(decision) for decision in store.decisions(record.run)],
        "notifications": [_notice(notice) for notice in store.notices(record.run)],
        "trace": trace,
    }


def _decision(decision: Decision) -> dict[str, Any]:
    """A request with what became of it."""
    said = {"node": decision.node, "attemptId": decision.attempt, "state": decision.state}
    outcome = None if decision.outcome is None else parsed(decision.outcome)
    return said | {"request": parsed(decision.request), "outcome": outcome}


def _notice(notice: Notice) -> dict[str, Any]:
    """A notification and whether it was delivered."""
    return {"node": notice.node, "delivered": notice.delivered, "notification": parsed(notice.payload)}


def summary_json(store: Store, record: RunRecord) -> dict[str, Any]:
    """A run on one line."""
    held = None if record.status in FINAL else store.claimed(record.run)
    alive = held is not None and held.expires_ms > wall.now_ms() and not wall.is_dead(held.owner)
    status = STARTING if record.status == QUEUED and alive else record.status
    return {
        "run": record.run,
        "workflow": record.workflow,
        "revision": record.revision,
        "digest": record.digest,
        "reference": record.reference,
        "createdMs": record.created_ms,
        "status": status,
        "paused": record.paused,
        "parked": record.parked,
        "interrupted": record.status == "running" and not alive,
        "claimedBy": held.owner if held is not None and alive else None,
        "lines": record.last_seq,
        "untold": record.untold,
        "current": record.current,
    }


def gives(snapshot: Snapshot) -> dict[str, str]:
    """How each node is completed: `assistant`, `submit`, or its kind."""
    found: dict[str, str] = {}
    for name, node in sorted(snapshot.nodes.items()):
        if not isinstance(node, AgentNode):
            found[name] = node.node_type
        else:
            found[name] = "assistant" if isinstance(node.expected_output, AssistantMessage) else "submit"
    return found
