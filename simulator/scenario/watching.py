"""The world as expectations see it: read from the trace and the session, never from a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pydantic import JsonValue

from windtunnel.compiler.scenario import WorldRead

ENDINGS: Final = {
    f"run_{status}": status for status in ("completed", "failed", "timed_out", "cancelled", "waiting")
}
STATES: Final = (*ENDINGS, "run_started")
"""Events that end a run or begin one; a run that was answered goes on as a new one."""

SEEN: Final = ("stop", "length")
"""Stop reasons of an answer that a person sees whole."""

Line = Mapping[str, Any]


class World:
    """One moment of a run: its trace and session as JSON, the time, and the status that the store holds."""

    def __init__(self, events: Sequence[Line], entries: Sequence[Line], now_ms: int, status: str) -> None:
        self.events = events
        self.entries = entries
        self.now_ms = now_ms
        self.status = status

    def read(self, wanted: WorldRead) -> JsonValue:
        """The value of one read."""
        return _READS[wanted.name](self, *wanted.arguments)

    # --- names ----------------------------------------------------------------------------------------------

    def run(self) -> JsonValue:
        """How the run stands or ended."""
        last = next((event for event in reversed(self.events) if event["type"] in STATES), None)
        payload = {} if last is None or last["type"] not in ENDINGS else last["payload"]
        return {
            "status": self.status,
            "exit": payload.get("exit"),
            "output": payload.get("finalOutput"),
            "error": payload.get("error"),
        }

    def clock(self) -> JsonValue:
        """Milliseconds since the start."""
        return self.now_ms

    def transcript(self) -> JsonValue:
        """The rows of the session as a person would be shown them."""
        rows: list[JsonValue] = []
        queued: list[str] = []
        for entry in self.entries:
            kind, text = entry["kind"], entry.get("text", "")
            if kind == "queued":
                queued.append(text)
            elif kind == "user":
                rows.append({"role": "user", "text": text or (queued.pop(0) if queued else "")})
            elif kind == "notice":
                rows.append({"role": "notice", "text": text, "node": entry.get("nodeId")})
            elif kind in ("step", "turn"):
                rows.append({"role": "prompt", "text": text, "node": entry.get("nodeId")})
            elif kind in ("assistant", "tool"):
                rows.append({"role": kind, "text": text, "stop": entry.get("stop")})
        return {"canonical": rows}

    def queue(self) -> JsonValue:
        """What a person sent that no turn has taken up yet."""
        waiting: list[Line] = []
        for entry in self.entries:
            if entry["kind"] == "queued":
                waiting.append(entry)
            elif entry["kind"] == "user" and "text" not in entry and waiting:
                waiting.pop(0)
        return {"ids": [each["id"] for each in waiting], "texts": [each.get("text", "") for each in waiting]}

    def decisions(self) -> JsonValue:
        """How many decisions were asked for, and how they were settled."""
        answered, defaulted = self._count("decision_answered"), self._count("decision_defaulted")
        return {
            "requested": self._count("decision_requested"),
            "answered": answered,
            "defaulted": defaulted,
            "cancelled": self._count("decision_cancelled"),
            "winners": answered + defaulted,
        }

    # --- functions ------------------------------------------------------------------------------------------

    def visits(self, node: str, outcome: str | None = None) -> JsonValue:
        """How often a node or include was entered in the whole run, or how often it ended so."""
        if outcome is None:
            started = [event for event in self._starts(node) if "via" in event["payload"]]
            entered = [event for event in self.events if event["type"] == "include_entered"]
            return len(started) + len([each for each in entered if each["payload"]["mountPath"] == node])
        return len([event for event in self._ends(node) if event["payload"].get("outcome") == outcome])

    def visible(self, node: str) -> JsonValue:
        """How many finished answers to the node's prompts a person can see."""
        below: str | None = None
        count = 0
        for entry in self.entries:
            if entry["kind"] in ("step", "turn"):
                below = entry.get("nodeId")
            elif entry["kind"] == "user":
                below = None
            elif entry["kind"] == "assistant" and below == node:
                finished = entry.get("stop") in SEEN and not entry.get("calls")
                count += finished and bool(str(entry.get("text", "")).strip())
        return count

    def prompts(self, node: str) -> JsonValue:
        """How often the node's model was asked: its prompt, reminders and resumptions."""
        return sum(_is(event, "agent_prompt_sent", node) for event in self.events)

    def refused(self, node: str) -> JsonValue:
        """How many submissions to the node were turned away."""
        return sum(_is(event, "submission_refused", node) for event in self.events)

    def result(self, node: str) -> JsonValue:
        """How the node ended last; null while it has not."""
        ends = self._ends(node)
        if not ends:
            return None
        payload = ends[-1]["payload"]
        receipt = payload.get("receipt")
        return {
            "outcome": payload.get("outcome"),
            "error": payload.get("error"),
            "attempts": self._attempts(node),
            "durationMs": payload.get("durationMs"),
            "cut": isinstance(receipt, dict) and receipt.get("cut") is True,
            "receipt": receipt,
            "provenance": payload.get("provenance"),
            "output": payload.get("output"),
        }

    def effects(self, name: str, key: str | None = None) -> JsonValue:
        """How often an effect was applied."""
        applied = [event["payload"] for event in self.events if event["type"] == "effect_applied"]
        return len([each for each in applied if each.get("call") == name and key in (None, each.get("key"))])

    def _starts(self, node: str) -> list[Line]:
        return [event for event in self.events if _is(event, "node_started", node)]

    def _attempts(self, node: str) -> int:
        """How often the node was begun in its last visit; only a visit comes by an arrow."""
        count = 0
        for event in self._starts(node):
            count = 1 if "via" in event["payload"] else count + 1
        return count

    def _ends(self, node: str) -> list[Line]:
        ends = ("node_finished", "node_failed")
        return [event for event in self.events if event["type"] in ends and event.get("nodeId") == node]

    def _count(self, kind: str) -> int:
        return sum(event["type"] == kind for event in self.events)


def _is(event: Line, kind: str, node: str) -> bool:
    return event["type"] == kind and event.get("nodeId") == node


_READS: Final[dict[str, Callable[..., JsonValue]]] = {
    "run": World.run,
    "clock": World.clock,
    "transcript": World.transcript,
    "queue": World.queue,
    "decisions": World.decisions,
    "visits": World.visits,
    "visible": World.visible,
    "prompts": World.prompts,
    "refused": World.refused,
    "result": World.result,
    "effects": World.effects,
}
