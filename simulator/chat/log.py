"""The session log as handlers can see it: a fold of its entries, never the entries themselves.

What is kept is what some handler can still read: whether the prompt of the current attempt stands on the
current branch, its answer so far, the answers of older visits, the queue, tool calls without a result, a torn
last line. Everything else about the past is forgotten, so that equal futures have equal states.

An answer belongs to an attempt when it stands below the attempt's last prompt entry with no user row between.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from windtunnel.simulator.events import CURRENT, Row

MANY: Final = 9
"""Where the counters of queue and open calls saturate."""

COMPLETE: Final = ("stop", "length")
"""Stop reasons of a response that a person can see as finished."""


class Answer(NamedTuple):
    """A finalised assistant message: its visible text and why it stopped."""

    text: str
    stop: str
    error: str | None = None


class Aside(NamedTuple):
    """What stands of the current attempt on the branch that was left."""

    prompted: bool = False
    answer: Answer | None = None


NOTHING_ASIDE: Final = Aside()


class Log(NamedTuple):
    """The fold. `below` says that the next assistant row belongs to the current attempt, `noticed` that the
    first notification of the queue stands here already, on whatever branch; `glues` that half a line was left
    at the end, which spoils the entry after it; `turned` that the turn that is due was asked for.
    """

    empty: bool = True
    torn: bool = False
    node: str | None = None
    prompted: bool = False
    below: bool = False
    answer: Answer | None = None
    older: tuple[tuple[str, Answer], ...] = ()
    queue: int = 0
    open: int = 0
    noticed: bool = False
    aside: Aside = NOTHING_ASIDE
    glues: bool = False
    turned: bool = False


class Branch(NamedTuple):
    """View of the current branch for recovery: about one node and its current attempt.

    `aside` is an answer on a branch that was left; `turned` says that the turn that is due was asked for.
    """

    prompted: bool
    answer: Answer | None
    older: Answer | None
    aside: Answer | None = None
    turned: bool = False


class Conversation(NamedTuple):
    """View for the agent loop."""

    empty: bool
    torn: bool
    queue: int
    open: int


NEW: Final = Log()


def append(log: Log, row: Row) -> Log:
    """The log with one entry more."""
    assert not log.torn, "an entry behind a torn line would be glued to it"
    if log.glues:
        return log._replace(glues=False)
    log = log._replace(empty=False)
    if row.kind == "step":
        assert row.attempt == CURRENT, "prompts are sent for the current attempt only"
        return log._replace(node=row.node, prompted=True, below=True, answer=None)
    if row.kind == "assistant":
        log = log._replace(open=len(row.calls))
        if not log.below:
            return log
        assert row.stop is not None, "an assistant row carries its stop reason"
        finished = row.stop in COMPLETE and not row.calls
        return log._replace(answer=Answer(row.text, row.stop) if finished else None)
    if row.kind == "tool":
        return log._replace(open=max(0, log.open - 1))
    if row.kind == "queued":
        return log._replace(queue=min(MANY, log.queue + 1))
    if row.kind == "user":
        return log._replace(below=False, queue=log.queue - 1 if row.consumes else log.queue)
    if row.kind == "notice":
        return log._replace(noticed=True)
    if row.kind == "turn":
        return log._replace(below=False, turned=True)
    if row.kind == "leaf":
        here = Aside(log.prompted, log.answer)
        return log._replace(prompted=log.aside.prompted, answer=log.aside.answer, aside=here, below=False)
    assert row.kind == "session", f"unknown kind of row {row.kind}"
    return log


def tear(log: Log) -> Log:
    """The log with half an entry at its end."""
    return log._replace(torn=True)


def repair(log: Log) -> Log:
    """The log without half an entry at its end."""
    return log._replace(torn=False)


def glue(log: Log) -> Log:
    """The log as one finds it who does not look for half an entry at its end."""
    return log._replace(torn=False, glues=log.torn)


def age(log: Log, revisited: frozenset[str]) -> Log:
    """The log when a new attempt begins.

    What the attempt before it said becomes the answer of an older visit, for nodes that can come again.
    """
    older = log.older
    if log.answer is not None and log.node in revisited:
        older = tuple(sorted({**dict(older), log.node: log.answer}.items()))
    return log._replace(node=None, prompted=False, below=False, answer=None, older=older, aside=NOTHING_ASIDE)


def told(log: Log) -> Log:
    """The log when the first notification of the queue is recorded as shown, and the next one is first."""
    return log._replace(noticed=False)


def given(log: Log) -> Log:
    """The log when a turn was given, or another one is due."""
    return log._replace(turned=False)


def branch(log: Log, node: str) -> Branch:
    """What recovery may know about the node's attempt."""
    return Branch(log.prompted, log.answer, dict(log.older).get(node), log.aside.answer, log.turned)


def conversation(log: Log) -> Conversation:
    """What the agent loop may know."""
    return Conversation(log.empty, log.torn, log.queue, log.open)
