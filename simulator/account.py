"""The watcher's account of a run, the names of everything it holds a run to, and what broke."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from windtunnel.simulator.facts import Facts

RESPONSES: Final = "one-visible-response"
TEXT: Final = "output-is-visible-text"
SETTLED: Final = "no-advance-before-settlement"
ADOPTION: Final = "no-adoption-across-attempts"
INVISIBLE: Final = "nothing-produced-invisibly"
DIGEST: Final = "receipt-digest-matches"
PROMPTS: Final = "one-prompt-per-attempt"
SUBMISSION: Final = "submission-of-its-own-attempt"
FOLD: Final = "fold-is-state"
ENDS: Final = "one-start-and-one-end"
TERMINAL: Final = "nothing-after-the-end"
RERUN: Final = "completed-nodes-never-rerun"
ROUTES: Final = "routing-follows-the-edges"
LIMITS: Final = "limits-hold"
OWN_TURN: Final = "a-node-fails-for-its-own-turn"
CALLS: Final = "no-model-call-after-the-end"
STUCK: Final = "no-run-is-stuck"
GOOD: Final = "no-bad-answer-completes"
MUTED: Final = "nothing-shown-after-acceptance"
TOOLS: Final = "no-tool-pending-when-idle"
PAUSE: Final = "a-pause-holds"
FENCE: Final = "a-lost-claim-writes-nothing"
DEFINITION: Final = "a-run-keeps-its-definition"
TURN: Final = "one-turn-after-the-end"
REFUSALS: Final = "no-endless-refusals"
TYPES: Final = "what-was-checked-fits"
TIME: Final = "time-counts-only-in-a-turn"
CANCELLED: Final = "only-people-cancel"
ONCE: Final = "an-effect-with-a-key-once"
STARTED: Final = "an-effect-is-said-before-it-is-called"
NOTICES: Final = "each-notification-once-in-order"
ASKED: Final = "one-live-request"
WINNER: Final = "one-answer-wins"
BYPASS: Final = "only-people-and-the-clock-answer"

INVARIANTS: Final[Mapping[str, str]] = {
    RESPONSES: "a completed attempt has exactly one visible response, any other at most one",
    TEXT: "the output of an assistant step is the visible text, exactly",
    SETTLED: "the run moves on only after the turn settled and the result was committed",
    ADOPTION: "an answer is adopted only by the attempt that it belongs to, on the current branch",
    INVISIBLE: "no assistant output exists without its prompt and answer in the session",
    DIGEST: "the receipt holds the digest of the text",
    PROMPTS: "the prompt of an attempt is sent at most once",
    SUBMISSION: "a submission is accepted once, for the step and attempt that it names",
    FOLD: "the state is the fold of the events",
    ENDS: "an attempt has one start and at most one end",
    TERMINAL: "nothing follows the event that ends a run, and its status is final",
    RERUN: "a completed node never runs again in the same visit",
    ROUTES: "the run goes only where an edge leads",
    LIMITS: "limits of arrows and steps hold",
    OWN_TURN: "a node fails only for its own turn",
    CALLS: "no step asks the model after the run ended",
    STUCK: "every run ends, or waits for somebody who can go on",
    GOOD: "an answer that completes a step is not blank and within its limit",
    MUTED: "what follows an accepted submission is not shown",
    TOOLS: "no tool call is left open when the agent is idle",
    CANCELLED: "a run is cancelled by a person, never by an error",
    ONCE: "an effect with an idempotency key is applied at most once for the key, and in one visit",
    STARTED: "that an effect is called stands in the store before it is",
    NOTICES: "each notification is shown once, in the order in which they were queued",
    ASKED: "a visit of a decision has one request, and never two that can be answered",
    WINNER: "the first answer, or the time that is up, wins; what comes later changes nothing",
    BYPASS: "a decision ends by an answer to its own request, by its timeout, or by being cancelled",
    PAUSE: "a pause holds when the step has ended, an escape at once and fails nothing; a person ends it",
    FENCE: "a host that lost its claim writes nothing, and shows nothing",
    DEFINITION: "a run goes on only by the definition that it was begun with",
    TURN: "a run that ended, or waits, gives the conversation the one turn that is due, once",
    REFUSALS: "a model is not refused again and again after its submission was accepted",
    TYPES: "what a compiled workflow passes on is there",
    TIME: "the time of a step counts while its turn or effect goes on, not while the run waits or is paused",
}
"""Every invariant by name, as one sentence."""

RESPONSE_STOPS: Final = ("stop", "length")
ENDINGS: Final = {
    f"run_{status}": status for status in ("completed", "failed", "timed_out", "cancelled", "waiting")
}


class Position(NamedTuple):
    """Where a run stands, as the store shows it to the watcher."""

    status: str
    paused: bool
    node: str
    phase: str
    outcome: str
    pausing: bool
    parked: bool


class Violation(NamedTuple):
    """An invariant and what broke it."""

    invariant: str
    message: str


class Watch(NamedTuple):
    """The watcher's account.

    `live` says that the turn of the step has not settled in this process; `called` and `applied` what became
    of the effect in this visit, `done` which effects with a key were applied; `queued` are the nodes of
    notifications that were not recorded as shown, `shown` says that the first one was; `request` is `open`,
    `answered`, `timeout` or `cancelled`; `timer` says that the time of the step counts; `aside` holds
    prompts, responses and text of the attempt on the branch that was left;
    `refusals` counts those after an acceptance; `edited` says that another definition was loaded,
    `owed` that a turn is due, `turned` that it was asked for.
    """

    status: str = "queued"
    paused: bool = False
    node: str = ""
    phase: str = ""
    outcome: str = ""
    pausing: bool = False
    parked: bool = False
    prompts: int = 0
    reminders: int = 0
    below: bool = False
    responses: int = 0
    text: str | None = None
    live: bool = False
    of_step: bool = False
    accepted: bool = False
    calls: int = 0
    arrows: tuple[tuple[str, int], ...] = ()
    steps: tuple[tuple[str, int], ...] = ()
    called: bool = False
    applied: bool = False
    done: tuple[tuple[str, str], ...] = ()
    queued: tuple[str, ...] = ()
    shown: bool = False
    request: str = ""
    digest: str = ""
    timer: bool = False
    aside: tuple[int, int, str | None] = (0, 0, None)
    refusals: int = 0
    edited: bool = False
    owed: bool = False
    turned: bool = False


class Seen(NamedTuple):
    """The account after something happened, what it broke, and the invariants it put to the test."""

    watch: Watch
    violations: tuple[Violation, ...]
    tested: tuple[str, ...]


class Account:
    """One observation in the making."""

    def __init__(self, facts: Facts, watch: Watch, received: object) -> None:
        self.facts = facts
        self.watch = watch
        self.received = received
        self.violations: list[Violation] = []
        self.tested: list[str] = []

    def check(self, invariant: str, holds: bool, message: str) -> None:
        """Put an invariant to the test."""
        self.tested.append(invariant)
        if not holds:
            self.violations.append(Violation(invariant, message))

    def set(self, **changes: object) -> None:
        """Change the account."""
        self.watch = self.watch._replace(**changes)  # type: ignore[arg-type]
