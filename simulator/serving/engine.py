"""The host of a workflow whose agent is the conversation.

It is the host of a run on a store: the same engine, recovery and effects. Only the agent loop is another
one, so what the engine says to its loop goes out through a port, and what it reads of the session is a view
of the conversation's log.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from windtunnel.simulator.chat.entries import (
    Entry,
    MessageEnded,
    RunClosed,
    ToolEnded,
    UserMessage,
)
from windtunnel.simulator.chat.loop import Loop
from windtunnel.simulator.chat.parts import TextPart, ToolPart
from windtunnel.simulator.durable import session as sessions
from windtunnel.simulator.durable.host import Host
from windtunnel.simulator.durable.lines import attempts_of, delivered
from windtunnel.simulator.durable.session import Ledger
from windtunnel.simulator.durable.wall import WallClock
from windtunnel.simulator.events import CURRENT, Abort, Action, Prompt, Reply, Timeout
from windtunnel.simulator.moves import NOTHING, Beyond, Draft, Links, moves
from windtunnel.simulator.moves import Host as Locals
from windtunnel.simulator.providers.behaviour import Provider
from windtunnel.simulator.run.program import Program
from windtunnel.simulator.store.interface import Store
from windtunnel.simulator.store.records import Claim

NOTICE: Final = "notice"
"""The kind of a step entry that tells people something."""

Port = Callable[[Prompt | Reply | Abort], tuple[Action, ...]]
"""Takes what the engine says to its agent loop; gives what the loop says at once."""


def visible(parts: Iterable[object]) -> str:
    """The visible text of a message."""
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def said(body: MessageEnded) -> dict[str, Any]:
    """A whole message as the engine's session knows it."""
    calls = [part.name for part in body.parts if isinstance(part, ToolPart)]
    entry = {"id": body.message, "kind": "assistant", "stop": body.stop, "text": visible(body.parts)}
    return entry | ({"calls": calls} if calls and body.stop == "toolUse" else {})


def as_seen(entry: Entry) -> list[dict[str, Any]]:
    """An entry of the conversation as entries of the engine's session."""
    match entry.body:
        case UserMessage(text=text, step=None):
            return [{"id": entry.id, "kind": "user", "text": text}]
        case UserMessage(text=text, step=step):
            assert step is not None, "a prompt of a step names it"
            if step.kind == NOTICE:
                return [
                    {"id": entry.id, "kind": "notice", "runId": step.run, "nodeId": step.node, "text": text}
                ]
            seen: dict[str, Any] = {"id": entry.id, "kind": "step", "text": text}
            seen |= {"runId": step.run, "nodeId": step.node, "attemptId": step.attempt}
            seen |= {"completion": step.completion, "prompt": step.kind}
            limit = step.max_output_chars
            return [seen if limit is None else seen | {"maxOutputChars": limit}]
        case MessageEnded() as body:
            return [said(body)]
        case RunClosed(message=message, tools=tools):
            tool = {"id": entry.id, "kind": "tool", "text": ""}
            return ([] if message is None else [said(message)]) + [tool for _ in tools]
        case ToolEnded(output=output):
            return [{"id": entry.id, "kind": "tool", "text": output}]
        case _:
            return []


def view_of(entries: Sequence[Entry], runs: Collection[str]) -> tuple[dict[str, Any], ...]:
    """What belongs to a run: everything from its first prompt on, since only one runs at a time."""
    for place, entry in enumerate(entries):
        body = entry.body
        if isinstance(body, UserMessage) and body.step is not None and body.step.run in runs:
            return tuple(seen for each in entries[place:] for seen in as_seen(each))
    return ()


class View:
    """The conversation's log as the session of a run. Only the conversation appends to it."""

    torn = False
    name = "the conversation's log"

    def __init__(self, entries: tuple[dict[str, Any], ...]) -> None:
        self.entries = entries

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """The engine itself says nothing here."""
        raise AssertionError("only the conversation appends to its log")

    def repair(self) -> None:
        """Nothing is torn that the conversation has opened."""


class EngineHost(Host):
    """A host that has claimed a run; `port` is where its agent loop is. Raises as Host does."""

    def __init__(
        self,
        program: Program,
        provider: Provider,
        store: Store,
        view: View,
        ledger: Ledger,
        claim: Claim,
        *,
        port: Port,
        clock: WallClock,
        wall: Callable[[], int],
    ) -> None:
        super().__init__(program, provider, store, view, ledger, claim, clock=clock, timely=True, wall=wall)
        self.loop = Loop("idle")
        self._port = port

    def met(self, entries: Iterable[dict[str, Any]]) -> None:
        """Entries that became durable in the conversation."""
        for entry in entries:
            self.writer.recall([entry])
            if entry["kind"] == NOTICE:
                self.log = self.log._replace(noticed=True)

    def advance(self) -> bool:
        """One transition; False when nothing happens by itself, or only when a time is up."""
        self._renew()
        if not self.inbox and self._hears():
            return True
        links = Links(self.inbox, self.wire, self.call, self.timer)
        if self._is_late():
            self._take(Draft("", "clock", "engine", Timeout(CURRENT), links._replace(timer=None), ""))
            return True
        local = Locals(self.loop, self.engine, self.over)
        beyond = NOTHING if self.inbox else self._beyond()
        drafts = moves(local, links, None, beyond, late=False)
        for draft in (*drafts.first, *drafts.rest):
            waits = draft.source in ("person", "answer") or isinstance(draft.message, Timeout)
            if not draft.kind and not waits:
                self._take(draft)
                return True
        return False

    def _handle(self, draft: Draft) -> tuple[Action, ...]:
        if draft.handler == "loop":
            return self._port(cast("Prompt | Reply | Abort", draft.message))
        if draft.handler == "engine" and self.engine.phase == "recover":
            self._read_log()
        return super()._handle(draft)

    def _read_log(self) -> None:
        """What recovery may see of the conversation."""
        attempts = attempts_of(self.store.trace(self.claim.run))
        told = delivered(self.store.trace(self.claim.run))
        self.log = sessions.fold(
            self.writer.entries, attempts, self.program.revisited, delivered=told, torn=False
        )

    def _beyond(self) -> Beyond:
        """A notification is recorded as delivered once it stands in the conversation."""
        beyond = super()._beyond()
        return beyond._replace(notice=beyond.notice and self.log.noticed)

    @property
    def to_tell(self) -> tuple[str, str] | None:
        """The node and the message of the first notification that the conversation does not show yet."""
        if not self.run.outbox or self.log.noticed:
            return None
        return self.run.outbox[0].node, self.run.outbox[0].message

    @property
    def attempt(self) -> str:
        """The attempt that is in flight, or that ended last."""
        started = [line for line in self.writer.events if line["type"] == "node_started"]
        return str(started[-1]["attemptId"]) if started else ""
