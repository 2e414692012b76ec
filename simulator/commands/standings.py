"""Where the runs of a store stand, read off their traces, with the definitions they were begun with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from windtunnel.compiler.snapshot import Snapshot
from windtunnel.compiler.standing import OVER, Phase, RunState, Stand
from windtunnel.simulator.commands.stored import opened
from windtunnel.simulator.durable.driving import snapshot_of
from windtunnel.simulator.durable.lines import written
from windtunnel.simulator.store.interface import StoreRefused

_MAGIC: Final = b"SQLite format 3\0"
_PHASES: Final[dict[str, Phase]] = {
    "node_started": "started",
    "agent_prompt_sent": "prompt-out",
    "decision_requested": "asked",
    "effect_started": "effect-started",
    "effect_applied": "effect-started",
}
"""How far an event brings a node; an effect is settled when its node has ended."""


def is_store(path: Path) -> bool:
    """Whether a file is a database. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def of_store(path: Path) -> tuple[tuple[RunState, ...], dict[str, Snapshot]]:
    """The states of all runs of a store, and the snapshots that can still be read, by behaviour digest.

    A store that cannot be read is wrong usage.
    """
    runs: list[RunState] = []
    snapshots: dict[str, Snapshot] = {}
    with opened(str(path)) as place:
        for record in place.store.runs():
            at: tuple[Stand, ...] = ()
            if record.status not in OVER:
                at = stands(written(record.run, place.store.trace(record.run)), record.status == "waiting")
                try:
                    snapshot = snapshot_of(place.store, record)
                    snapshots[snapshot.digest] = snapshot
                except StoreRefused:
                    pass  # The verdict says that its definition is not known.
            runs.append(
                RunState(
                    run=record.current or record.run,
                    workflow=record.workflow,
                    revision=record.revision,
                    digest=record.digest,
                    status=record.status,
                    at=at,
                )
            )
    return tuple(runs), snapshots


def stands(trace: Iterable[Mapping[str, Any]], waits: bool) -> tuple[Stand, ...]:
    """Where a run stands after its trace. One node runs at a time: it is the one that was last heard of."""
    found: Stand | None = None
    for line in trace:
        kind, node, payload = line["type"], str(line.get("nodeId")), line["payload"]
        if kind in _PHASES:
            found = Stand(node=node, phase=_PHASES[kind])
        elif kind == "node_finished":
            found = Stand(node=node, phase="ended", outcome="ok")
        elif kind == "node_failed" and payload.get("outcome") in ("failed", "timed_out"):
            found = Stand(node=node, phase="ended", outcome=payload["outcome"])
        elif kind == "include_entered":
            found = Stand(node=payload["mountPath"], phase="started")
        elif kind == "include_exited":
            found = Stand(node=payload["mountPath"], phase="ended", outcome="ok", way=payload["exit"])
    if found is None:
        return ()
    return (found.model_copy(update={"phase": "asked"}) if waits else found,)
