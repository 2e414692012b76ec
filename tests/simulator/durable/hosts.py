"""Hosts on stores in memory, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable

from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.choices import Choices
from windtunnel.simulator.clock import Clock
from windtunnel.simulator.durable.driving import VISITS, new_run
from windtunnel.simulator.durable.host import LEASE_MS, Host, Probe
from windtunnel.simulator.durable.session import MemoryLedger, MemorySession
from windtunnel.simulator.providers.behaviour import Provider
from windtunnel.simulator.providers.generated import GeneratedProvider, run_inputs
from windtunnel.simulator.providers.people import People
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.store.interface import Store
from windtunnel.simulator.store.memory import MemoryStore
from windtunnel.simulator.store.records import Claim, NewRun
from windtunnel.simulator.trace import following_run

_READY: dict[str, tuple[Program, GeneratedProvider, NewRun]] = {}


def made_ready(digest: str, snapshot: Snapshot) -> tuple[Program, GeneratedProvider, NewRun]:
    """What every desk of a workflow shares, made once."""
    if digest not in _READY:
        new = new_run(snapshot, run_inputs(snapshot)[0], "test.flow", 0)
        _READY[digest] = (Program(snapshot, visit_cap=VISITS), GeneratedProvider(snapshot), new)
    return _READY[digest]


class Desk:
    """A store with one run of a workflow, its session, and hosts for it, one after another."""

    def __init__(self, snapshot: Snapshot, provider: Provider | None = None) -> None:
        self.snapshot = snapshot
        self.program, generated, new = made_ready(snapshot.digest, snapshot)
        self.provider = provider or generated
        self.store: Store = MemoryStore()
        self.session = MemorySession()
        self.ledger = MemoryLedger()
        self.run = self.store.create(new).run
        self.now_ms = 0

    def host(
        self,
        *,
        owner: str = "host",
        at_ms: int = 0,
        clock: Clock | None = None,
        timely: bool = False,
        choices: Choices | None = None,
        people: People | None = None,
        following: Callable[[str], str] = following_run,
        probe: Probe | None = None,
    ) -> Host:
        """A host that claims the run and reads what is durable."""
        claim = self.store.claim(self.run, owner, self.now_ms, LEASE_MS)
        assert isinstance(claim, Claim), "the test says when a claim is free"
        if clock is None:
            clock = Clock()
            clock.now_ms = at_ms
        return Host(
            self.program,
            self.provider,
            self.store,
            self.session,
            self.ledger,
            claim,
            clock=clock,
            timely=timely,
            wall=lambda: self.now_ms,
            choices=choices,
            people=people,
            following=following,
            probe=probe,
        )

    def types(self) -> list[str]:
        """The types of the lines in the store."""
        return [line.event.type for line in self.store.trace(self.run)]
