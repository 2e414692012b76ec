"""Bugs that real systems had, each as a switch that puts it back: one guarded line in engine or recovery.

Whoever judges never reads a switch: invariants, world and search know nothing of this table. Each fault has a
small world of its own in which the explorer finds it, and which the sound engine passes within the same
bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from windtunnel.simulator.hosting import USUAL, Hosting, hosting
from windtunnel.simulator.invariants import (
    ADOPTION,
    ASKED,
    CALLS,
    CANCELLED,
    DEFINITION,
    FENCE,
    GOOD,
    INVISIBLE,
    LIMITS,
    NOTICES,
    ONCE,
    OWN_TURN,
    PAUSE,
    PROMPTS,
    REFUSALS,
    RERUN,
    RESPONSES,
    ROUTES,
    SETTLED,
    STUCK,
    SUBMISSION,
    TEXT,
    TIME,
    TYPES,
    WINNER,
)


class UnknownFault(ValueError):
    """No fault goes by that id; the message lists those that do."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A seeded fault: what it was, the invariant it is about, and its world.

    `world` is a file in `worlds/`; `hosting` says what else there is in it; `unchecked` is the finding that
    the compiler keeps quiet about.
    """

    id: str
    story: str
    holds: str
    invariant: str
    world: str
    hosting: Hosting = USUAL
    unchecked: str | None = None

    @property
    def source(self) -> str:
        """The text of its world."""
        return files("windtunnel.simulator.worlds").joinpath(self.world).read_text(encoding="utf-8")


FAULTS: Final = (
    Fault(
        "W01",
        "the answer is shown twice after a crash",
        "recovery adopts the answer of the same run, node and attempt on the current branch",
        RESPONSES,
        "answer.flow",
    ),
    Fault(
        "W02",
        "an answer of an earlier loop visit is adopted for a later one",
        "an answer belongs to its attempt",
        ADOPTION,
        "loop.flow",
    ),
    Fault(
        "W03",
        "an answer of a branch that was left is adopted",
        "an answer counts on the branch that the session is on",
        ADOPTION,
        "answer.flow",
        hosting(also=("branch",)),
    ),
    Fault(
        "W04",
        "the next node starts at message_end, before the turn settled",
        "a step completes when its turn has settled",
        SETTLED,
        "answer.flow",
    ),
    Fault(
        "W05",
        "a tool-call message completes an assistant node",
        "only a final visible message completes it",
        RESPONSES,
        "answer.flow",
    ),
    Fault(
        "W06",
        "a reply to the user's own message is taken as the step's",
        "a step's answer is that of its own turn",
        TEXT,
        "answer.flow",
    ),
    Fault(
        "W07",
        "an assistant node runs in an invisible detached child",
        "a step that is answered in a session waits for its session",
        INVISIBLE,
        "answer.flow",
        hosting("detached"),
    ),
    Fault(
        "W08",
        "a stale or duplicate submission is accepted by a later attempt",
        "a submission is accepted for the step and attempt that it names",
        SUBMISSION,
        "again.flow",
    ),
    Fault(
        "W09",
        "a check of a submission that hangs holds the call after the time of its step is up",
        "when its time is up a step ends, and its turn with it",
        STUCK,
        "pick.flow",
        hosting(also=("hang",)),
    ),
    Fault(
        "W10",
        "a headless step's prompt races the end of the turn before it",
        "the next step waits until the turn has settled, also where nobody looks on",
        SETTLED,
        "again.flow",
        hosting("detached", origin=False),
    ),
    Fault(
        "W11",
        "a writer that lost its lease still writes",
        "every write proves the token of the claim",
        FENCE,
        "answer.flow",
        hosting(second_host=True),
    ),
    Fault(
        "W12",
        "a crash after a node finished but before routing runs it again",
        "a node that finished is routed, never run again",
        RERUN,
        "again.flow",
    ),
    Fault(
        "W13",
        "a crash in a decision leaves an orphan request beside the live one",
        "a request and the wait for its answer are one transaction",
        ASKED,
        "ask.flow",
    ),
    Fault(
        "W14",
        "two runners resolve one timeout and one reports a conflict",
        "whoever is second changes nothing",
        WINNER,
        "ask.flow",
    ),
    Fault(
        "W15",
        "an answered run is continued twice",
        "one answer wins, and one run goes on",
        WINNER,
        "ask.flow",
    ),
    Fault(
        "W16",
        "half a line at the end of the log spoils the record after it",
        "a log is mended before anything is added to it",
        PROMPTS,
        "answer.flow",
    ),
    Fault(
        "W17",
        "a run resumes on an edited definition",
        "a run is resumed by the very definition that it was begun with",
        DEFINITION,
        "answer.flow",
        hosting(also=("edit",)),
    ),
    Fault(
        "W18",
        "a timeout without its own route is reported as a plain failure",
        "the run ends as its node did",
        ROUTES,
        "pay.flow",
    ),
    Fault(
        "W19",
        "an error that looks like an abort cancels the whole run past its failure route",
        "only a person cancels",
        CANCELLED,
        "pick.flow",
    ),
    Fault(
        "W20",
        "a counter looks at names of another scope, so the limit never holds",
        "a limit counts in the workflow that it is written in",
        LIMITS,
        "nested.flow",
    ),
    Fault(
        "W21",
        "an optional field passed on as a required one fails at run time only",
        "the compiler refuses what may be missing where it must be there",
        TYPES,
        "pass.flow",
        unchecked="WT0402",
    ),
    Fault(
        "W22",
        "a notification is sent twice after a crash",
        "the session says what was shown",
        NOTICES,
        "pay.flow",
    ),
    Fault(
        "W23",
        "a retry does a finished side effect again",
        "an effect is called with its key",
        ONCE,
        "pay.flow",
    ),
    Fault(
        "W24",
        "a pause that lands during a resume is lost",
        "what a person wants is written down, and outlives the process",
        PAUSE,
        "again.flow",
        hosting(also=("pause",)),
    ),
    Fault(
        "W25",
        "the time of a step counts while the run waits or is paused",
        "a timer is held with its step",
        TIME,
        "pick.flow",
    ),
    Fault(
        "W26",
        "cancel leaves the model's turn running",
        "cancel aborts the node and its turn",
        CALLS,
        "pick.flow",
    ),
    Fault(
        "W29",
        "the end of the user's own turn is taken as the step's",
        "a step fails for its own turn only",
        OWN_TURN,
        "answer.flow",
    ),
    Fault(
        "W30",
        "a prompt that waits blocks the reply to a call of the turn before it",
        "a reply never waits behind a prompt",
        STUCK,
        "pick.flow",
        hosting(also=("chat-tool",)),
    ),
    Fault(
        "W31",
        "cancel leaves a prompt that waits: a turn runs after the end",
        "cancel withdraws a prompt that was not sent",
        CALLS,
        "pick.flow",
    ),
    Fault(
        "W32",
        "of two submissions in one message the second is refused, and the model tries again for ever",
        "after a submission was accepted the model is not asked again",
        REFUSALS,
        "pick.flow",
        hosting(also=("twice",)),
    ),
    Fault(
        "W33",
        "a timer that names no attempt ends a later step",
        "a timer ends the attempt that it was started for",
        OWN_TURN,
        "again.flow",
        hosting(also=("late-timer",)),
    ),
    Fault(
        "W34",
        "an empty answer counts as final",
        "an answer that completes a step can be seen",
        GOOD,
        "answer.flow",
    ),
)

BY_ID: Final = {fault.id: fault for fault in FAULTS}


def fault(id: str) -> Fault:
    """The fault of that id, in any case. Raises UnknownFault."""
    found = BY_ID.get(id.upper())
    if found is None:
        raise UnknownFault(f"There is no seeded fault {id}; there are {', '.join(BY_ID)}.")
    return found
