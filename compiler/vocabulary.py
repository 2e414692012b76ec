"""The words of scenarios: acts of a provider, verbs of a person, faults, events, and what can be expected.

Which of them the simulator can act out is the simulator's to say; here stands what they are about.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from windtunnel.compiler.resolver import Kind

EVERY_NODE: Final = frozenset(Kind) - {Kind.LET, Kind.INCLUDE}
AGENTS: Final = frozenset({Kind.AGENT})
EFFECTS: Final = frozenset({Kind.ACTION, Kind.SHELL})
DECISIONS: Final = frozenset({Kind.DECISION, Kind.CHECKPOINT})
MOUNTS: Final = frozenset({Kind.INCLUDE})
NOWHERE: Final[frozenset[Kind]] = frozenset()


class Takes(StrEnum):
    """What stands behind a verb."""

    NOTHING = "nothing"
    TEXT = "a text"
    VALUE = "a value"
    CALL = 'a tool with its argument, such as `read({ path: "a.py" })`'
    MAYBE_TEXT = "a text, or nothing"


class ActRule(NamedTuple):
    """An act: what it takes, where it can happen, and whether a turn may end a node's script with it."""

    takes: Takes
    kinds: frozenset[Kind]
    ends: bool = False


ACTS: Final[Mapping[str, ActRule]] = {
    "says": ActRule(Takes.TEXT, AGENTS),
    "thinks": ActRule(Takes.TEXT, AGENTS),
    "calls": ActRule(Takes.CALL, AGENTS),
    "submits": ActRule(Takes.VALUE, AGENTS),
    "returns": ActRule(Takes.VALUE, EFFECTS),
    "fails": ActRule(Takes.MAYBE_TEXT, AGENTS | EFFECTS, ends=True),
    "retries": ActRule(Takes.MAYBE_TEXT, AGENTS),
    "stops": ActRule(Takes.TEXT, AGENTS),
    "stalls": ActRule(Takes.NOTHING, AGENTS | EFFECTS, ends=True),
    "settles": ActRule(Takes.NOTHING, AGENTS, ends=True),
}
"""`fails` is an error that ends the turn, `retries` one after which the model is asked again, `stops` gives
the reason a message stopped for (`length` or `aborted`), `settles` ends a turn without the output, and
`stalls` never ends one."""

ENDINGS: Final = ("fails", "retries", "stops", "stalls", "settles")
"""Acts that say how a message ends; one of them is enough."""

CALLS: Final = ("calls", "submits")
"""Acts that call a tool; what is said after them is said in the next message."""

STOPS: Final = ("length", "aborted")

VERBS: Final = ("sends", "answers", "presses", "cancels", "pauses", "resumes", "reloads", "closes")
"""What a person does: `sends` takes a text, `answers` a decision, `presses` a key, and the rest nothing."""

KEYS: Final = ("escape",)

PROCESS_FAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "crash": ("host",),
    "power-loss": ("host",),
    "pause": ("host",),
    "disconnect": ("client",),
}
"""Faults of a process, and which."""

MESSAGE_FAULTS: Final = ("duplicate", "drop", "delay", "reorder")
"""Faults of messages on their way."""

UNSEEN: Final = ("detached", "without", "origin")
"""The host of a run that no session shows."""

HOSTS: Final = (("interactive",), ("detached", "with", "origin"), UNSEEN, ("direct",))

_RUN: Final = (
    "run_started",
    "run_waiting",
    "run_completed",
    "run_failed",
    "run_timed_out",
    "run_cancelled",
    "run_paused",
    "run_parked",
    "run_resumed",
    "session_loaded",
    "queue_updated",
    "followup_accepted",
    "crashed",
    "restarted",
)
_AGENT: Final = (
    "agent_prompt_sent",
    "submission_refused",
    "step_updated",
    "agent_session_required",
    "agent_start",
    "agent_end",
    "agent_settled",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "message_end",
    "tool_execution_start",
    "tool_execution_end",
    "auto_retry_start",
)

EVENTS: Final[Mapping[str, frozenset[Kind]]] = {
    **dict.fromkeys(_RUN, NOWHERE),
    **dict.fromkeys(_AGENT, AGENTS),
    "node_started": EVERY_NODE,
    "node_finished": EVERY_NODE,
    "node_failed": EVERY_NODE,
    "include_entered": MOUNTS,
    "include_exited": MOUNTS,
    "decision_requested": DECISIONS,
    "decision_answered": DECISIONS,
    "decision_defaulted": DECISIONS,
    "decision_cancelled": DECISIONS,
    "answer_refused": DECISIONS,
    "effect_started": EFFECTS,
    "effect_applied": EFFECTS,
    "notification_queued": frozenset({Kind.NOTIFY}),
    "notification_delivered": frozenset({Kind.NOTIFY}),
}
"""Every event of the trace that a moment can name, and the kinds of nodes that it can happen at."""

MESSAGES: Final[Mapping[str, frozenset[Kind]]] = {
    **{name: EVENTS[name] for name in ("message_start", "message_update", "message_end")},
    **{name: EVENTS[name] for name in ("turn_end", "agent_settled", "followup_accepted")},
    **{name: EVENTS[name] for name in ("decision_requested", "notification_delivered", "effect_applied")},
    "submission": AGENTS,
    "answer": DECISIONS,
}
"""What is on its way between processes, so that it can come twice, late or never."""
