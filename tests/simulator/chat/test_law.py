"""The law without a network: whatever model, tools and person do, in any order, every reader sees the
same.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.chat.sessions import Session
from windtunnel.simulator.chat.context import context_of_log, unpaired
from windtunnel.simulator.chat.parts import ENDED_TOOL, Step, ToolPart
from windtunnel.simulator.chat.reducer import hydrate, reduce_event
from windtunnel.simulator.chat.requests import StreamResync
from windtunnel.simulator.chat.rows import Seen, fold_log, seen, snapshot_of
from windtunnel.simulator.chat.turns import (
    Announce,
    CompactDone,
    Content,
    Heard,
    ModelDelta,
    ModelDone,
    ModelFailed,
    ModelPartEnd,
    PromptStep,
    RetryDue,
    Settings,
    ToolDone,
)
from windtunnel.simulator.chat.view import ViewState, rebuilt_pending, seen_live

KINDS = st.sampled_from(["text", "reasoning", "tool"])
TEXTS = st.sampled_from(["", "a", "ha", "haha", "x\u2028y"])
IDS = st.sampled_from(["", "c1", "c1", "c2"])
CONTENTS = st.lists(st.builds(Content, KINDS, TEXTS, IDS, st.just("look")), max_size=3).map(tuple)
INDICES = st.integers(0, 2)
ANY_CALL = st.just(0)
STOPS = st.sampled_from(["stop", "stop", "toolUse", "length", "error", "aborted"])
DELTAS = st.builds(ModelDelta, ANY_CALL, INDICES, KINDS, TEXTS, IDS, st.just("look"))
MODEL = st.one_of(
    DELTAS,
    DELTAS,
    st.builds(ModelPartEnd, ANY_CALL, INDICES, st.sampled_from(["{}", "{"])),
    st.builds(ModelDone, ANY_CALL, CONTENTS, STOPS),
    st.builds(ModelFailed, ANY_CALL, st.just("overloaded"), st.booleans()),
)
STEPS = st.one_of(
    st.tuples(st.just("post"), TEXTS, st.sampled_from(["prompt", "followup", "steer"])),
    st.tuples(st.just("command"), st.sampled_from(["stop", "interrupt", "send", "continue"])),
    st.tuples(st.just("remove"), st.integers(0, 2)),
    st.tuples(st.just("hear"), MODEL),
    st.tuples(st.just("hear"), MODEL),
    st.tuples(st.sampled_from(["restart", "torn", "tool", "tool", "retry", "compacted", "step", "notice"])),
)


class Reader:
    """A client that follows a session event by event and takes a snapshot when it must."""

    def __init__(self) -> None:
        self.view = ViewState()
        self.read = 0

    def follow(self, session: Session) -> Seen:
        """What it sees after all that was sent."""
        for event in session.events("live")[self.read :]:
            self.view = reduce_event(self.view, event)
        self.read = len(session.events("live"))
        last = session.pushed[-1][1] if session.pushed else None
        if self.view.resync is not None or isinstance(last, StreamResync):
            self.view = hydrate(self.view, session.snapshot())
            session.follow(self.view.last, self.view.epoch, "live")
        assert self.view.resync is None
        assert sorted(self.view.pending) == sorted(rebuilt_pending(self.view))
        return seen_live(self.view)


def do(session: Session, reader: Reader, step: tuple[object, ...], number: int) -> None:
    """One step; numbers of calls, tools and timers are those that are waited for."""
    loop = session.host.loop
    match step:
        case ("post", str(text), str(kind)):
            expected = dict(session.snapshot().expected).get("c", 1)
            assert session.post(text, expected, f"n{number}", kind=kind).code == "accepted"
        case ("command", "stop" | "interrupt" | "send" | "continue" as what):
            assert session.command(what).status == 202
        case ("remove", int(place)):
            session.command("clear", *(item.nonce or "" for item in loop.queue[place : place + 1]))
        case ("hear", heard):
            session.hear(with_call(heard, loop.call))
        case ("tool",):
            for run in loop.running[:1]:
                session.hear(ToolDone(run.message, run.call, '"ok"', number % 3 == 0))
        case ("retry",):
            session.hear(RetryDue(loop.attempt))
        case ("compacted",):
            session.hear(CompactDone(loop.call, None if number % 2 else "so far"))
        case ("step",):
            session.hear(PromptStep("do it", Step("run-1", "plan", "attempt-1", "submit")))
        case ("notice",):
            session.hear(Announce("it is done", Step("run-1", "report", "", "notice", "notice")))
        case _:
            if step == ("torn",):
                session.tail = session.lines[-1][: len(session.lines[-1]) // 2]
            session.start()
            session.follow(reader.view.last, reader.view.epoch, "live")


def with_call(heard: object, call: int) -> Heard:
    """The same, from the call that is waited for."""
    match heard:
        case ModelDelta(_, index, kind, text, tool, name):
            return ModelDelta(call, index, kind, text, tool, name)
        case ModelPartEnd(_, index, words):
            return ModelPartEnd(call, index, words)
        case ModelDone(_, contents, stop):
            return ModelDone(call, contents, stop)
        case _:
            assert isinstance(heard, ModelFailed)
            return ModelFailed(call, heard.error, heard.retryable)


LOOPS = st.builds(
    Settings,
    st.sampled_from(["sequence", "parallel"]),
    st.sampled_from(["one", "all"]),
    st.sampled_from(["one", "all"]),
    st.integers(0, 1),
    st.sampled_from([None, None, 2]),
)


def check(session: Session, live: Seen) -> None:
    """What holds after every step."""
    assert seen(session.snapshot()) == live
    transcript = fold_log(session.entries)
    assert transcript == session.host.transcript
    if session.host.opened is None:
        assert seen(snapshot_of(transcript)) == live
    if live.activity == "idle":
        parts = [part for row in live.rows for part in row.parts if isinstance(part, ToolPart)]
        assert all(part.state in ENDED_TOOL for part in parts)
        assert all(row.status != "streaming" for row in live.rows)
        assert not live.queue or live.held or session.host.loop.phase == "compacting"
    assert unpaired(context_of_log(session.entries)) == ()
    ids = [row.id for row in live.rows]
    assert len(set(ids)) == len(ids)
    keys = [(row.id, type(part), part.id) for row in live.rows for part in row.parts]
    assert len(set(keys)) == len(keys)


@given(LOOPS, st.lists(STEPS, max_size=25))
@settings(max_examples=120, deadline=None)
def test_every_reader_sees_the_same(loop: Settings, steps: list[tuple[object, ...]]) -> None:
    """S48, A33, F43, F44, F45, F47: after each step live == snapshot == cold, and every accepted message is
    there or waits or was removed.
    """
    session = Session(loop)
    session.follow(0, 1, "live")
    reader = Reader()
    live = reader.follow(session)
    for number, step in enumerate(steps):
        do(session, reader, step, number)
        live = reader.follow(session)
        check(session, live)
    accepted = {f"n{number}" for number, step in enumerate(steps) if step[0] == "post"}
    there = {row.nonce for row in live.rows} - {None}
    waiting = {item.nonce for item in live.queue}
    assert accepted <= there | waiting | session.host.admission.removed
    assert not there & waiting
