"""The agent loop: the order of its events, its queues, tools, retries, aborts, compaction."""

from __future__ import annotations

import pytest

from tests.simulator.chat.sessions import Session
from windtunnel.simulator.chat.chunks import decode_chunk, encode_chunk
from windtunnel.simulator.chat.entries import MessageEnded, MessageOpened, RunClosed, RunOpened, UserMessage
from windtunnel.simulator.chat.parts import MAX_VALUE_DEPTH, Step, ToolPart
from windtunnel.simulator.chat.reducer import reduce_event
from windtunnel.simulator.chat.turns import (
    FIRST_BACKOFF_MS,
    LONGEST_BACKOFF_MS,
    RETRIES,
    AbortModel,
    AbortTool,
    CallModel,
    CallSummary,
    CompactDone,
    Content,
    ModelDelta,
    ModelDone,
    ModelFailed,
    MoveBranch,
    PromptStep,
    RetryDue,
    Settings,
    StartRetryTimer,
    ToolDone,
    ToolProgress,
)
from windtunnel.simulator.chat.view import ViewState


def test_the_order_of_events() -> None:
    """A37: prompt, text, tool, text: the events in the order of the reference agent, `agent_settled` last
    and once.
    """
    session = Session()
    session.post("hi")
    session.use("look")
    session.hear(ToolProgress(session.running()[0].message, "call-look", "half"))
    session.done("look")
    session.say("do", "ne")
    assert session.told == [
        "agent_start",
        "turn_start",
        "message_start",
        "message_end",
        "message_start",
        "message_end",
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
        "message_start",
        "message_end",
        "turn_end",
        "turn_start",
        "message_start",
        "message_update",
        "message_update",
        "message_end",
        "turn_end",
        "agent_end",
        "agent_settled",
    ]


def test_turns_begin_and_end_in_pairs() -> None:
    """A37: whatever ends a turn, each that starts ends once, before the next starts and before its run
    ends.
    """
    session = Session()
    session.post("a")
    session.stream("A")
    session.post("b", 2)
    session.post("c", 3)
    session.hear(ModelDone(session.call, (Content("text", "A"),)))
    session.use("look")
    session.command("interrupt")
    session.fail(retryable=True)
    session.hear(RetryDue(1))
    session.say("C")
    turns = [kind for kind in session.told if kind in ("agent_start", "turn_start", "turn_end", "agent_end")]
    assert turns == [
        *("agent_start", "turn_start", "turn_end", "turn_start", "turn_end", "agent_end"),
        *("agent_start", "turn_start", "turn_end", "agent_end") * 2,
    ]


def test_follow_ups_wait_for_the_end_and_come_one_at_a_time() -> None:
    """A29, A209, A226, S55: three messages queued during a tool: each runs as a turn of its own, in one
    agent run.
    """
    session = Session()
    session.post("a")
    session.use("look")
    for number, text in enumerate("bcd", start=2):
        session.post(text, number)
    session.done("look")
    for words in ("A", "B", "C", "D"):
        session.say(words)
    assert session.texts() == ["a", "", "A", "b", "B", "c", "C", "d", "D"]
    assert len(session.bodies(RunOpened)) == 1
    turns = [body.turn for body in session.bodies(UserMessage) if isinstance(body, UserMessage)]
    assert len(set(turns)) == 4
    assert session.told.count("agent_settled") == 1


def test_a_tool_of_a_follow_up_belongs_to_its_own_turn() -> None:
    """A192, A227, C03, F57: the tool of the second turn is a part of the second turn's answer."""
    session = Session()
    session.post("a")
    session.stream("A")
    session.post("list files", 2)
    session.hear(ModelDone(session.call, (Content("text", "A"),)))
    session.use("look")
    session.done("look")
    session.say("B")
    owners = [row for row in session.rows() if any(isinstance(part, ToolPart) for part in row.parts)]
    assert [row.text for row in session.rows()] == ["a", "A", "list files", "", "B"]
    assert owners == [session.rows()[3]]


def test_steering_gets_in_between_two_messages() -> None:
    """A29: a steering message enters at the tool boundary, before older follow-ups."""
    session = Session()
    session.post("a")
    session.use("look", "find")
    session.post("later", 2)
    session.post("now", 3, kind="steer")
    session.done("look")
    assert [run.call for run in session.running()] == ["call-find"]
    session.done("find")
    session.say("steered")
    session.say("end")
    assert session.texts() == ["a", "", "now", "steered", "later", "end"]


@pytest.mark.parametrize("mode", ["one", "all"])
def test_modes_of_the_queues(mode: str) -> None:
    """One at a time, or all that waits at once, for both queues."""
    session = Session(Settings(followups=mode, steering=mode))  # type: ignore[arg-type]
    session.post("a")
    session.use("look")
    session.post("s1", 2, kind="steer")
    session.post("s2", 3, kind="steer")
    session.done("look")
    first = session.texts()[2:]
    assert first == (["s1"] if mode == "one" else ["s1", "s2"])
    session.post("f1", 4)
    session.post("f2", 5)
    session.say("ok")
    assert session.texts()[len(first) + 2 :] == {"one": ["ok", "s2"], "all": ["ok", "f1", "f2"]}[mode]


def test_a_later_message_does_not_overtake() -> None:
    """A25: A waits as steering when the turn ends; B arrives at the session that is idle by then: A comes
    first.
    """
    session = Session()
    session.post("x")
    session.stream("y")
    session.post("A", 2, kind="steer")
    session.hear(ModelDone(session.call, (Content("text", "y"),)))
    session.post("B", 3)
    session.say("to A")
    session.say("to B")
    assert session.texts() == ["x", "y", "A", "to A", "B", "to B"]


def test_a_follow_up_that_reaches_an_idle_session_starts_a_run() -> None:
    """C35, A21, F60: whatever it is called, a message is a message."""
    session = Session()
    session.post("hi", kind="followup")
    assert isinstance(session.effects[-1], CallModel)
    session.say("yes")
    session.post("again", 2, kind="prompt")
    session.say("yes")
    assert session.texts() == ["hi", "yes", "again", "yes"]


def test_a_consumed_follow_up_is_an_ordinary_row() -> None:
    """A31, A187, S42: rows of a prompt and of a follow-up have the same fields."""
    session = Session()
    session.post("a")
    session.stream("A")
    session.post("b", 2)
    session.hear(ModelDone(session.call, (Content("text", "A"),)))
    prompt, follow = session.rows()[0], session.rows()[2]
    assert (prompt.role, prompt.status, prompt.step) == (follow.role, follow.status, follow.step)
    assert (prompt.nonce, follow.nonce) == ("c1", "c2")


def test_a_template_is_expanded_and_empty_text_is_text() -> None:
    """The nonce is the identity: an expanded, an equal and an empty message are each one row."""
    session = Session(Settings(templates=(("fix", "Please fix $ARGS."),)))
    for number, text in enumerate(("/fix it", "/fixed", "", ""), start=1):
        session.post(text, number)
        session.say("ok")
    assert [row.text for row in session.rows() if row.role == "user"] == ["Please fix it.", "/fixed", "", ""]


# --- tools --------------------------------------------------------------------------------------------------


def test_tools_in_sequence_and_in_parallel() -> None:
    """In sequence the second starts when the first ended; in parallel results are kept as they come."""
    session = Session()
    session.post("a")
    session.use("one", "two")
    assert [run.call for run in session.running()] == ["call-one"]
    session.done("one")
    assert [run.call for run in session.running()] == ["call-two"]
    side = Session(Settings(tools="parallel"))
    side.post("a")
    side.use("one", "two")
    assert [run.call for run in side.running()] == ["call-one", "call-two"]
    side.done("two", '"2"')
    assert side.call == 1
    side.done("one", '"1"')
    assert side.call == 2
    parts = side.rows()[1].parts
    assert [part.output for part in parts if isinstance(part, ToolPart)] == ['"1"', '"2"']


def test_a_result_comes_once() -> None:
    """A20, A47, F54: the same result again, and one of an unknown call, change nothing."""
    session = Session()
    session.post("a")
    session.use("look")
    run = session.running()[0]
    session.done("look")
    before = list(session.lines)
    session.hear(ToolDone(run.message, run.call, '"again"'))
    session.hear(ToolDone(run.message, "call-other", '"x"'))
    assert session.lines == before


def test_two_calls_with_one_name_are_two_calls() -> None:
    """A model that repeats a call id in one message gets two parts, and each its own result."""
    session = Session(Settings(tools="parallel"))
    session.post("a")
    session.use("look", "look")
    assert len({run.call for run in session.running()}) == 2


def test_nothing_runs_before_its_message_is_in_the_log() -> None:
    """C38: the tool starts after the append of its message."""
    session = Session(slow_disk=True)
    session.disk()
    session.post("a")
    session.disk()
    session.use("look")
    assert not any(getattr(effect, "name", "") == "look" for effect in session.effects)
    session.disk()
    assert getattr(session.effects[-1], "name", "") == "look"


def test_calls_of_a_cut_message_do_not_run() -> None:
    """A message that stopped for its length may hold half a call: none of its calls runs, none stays
    pending.
    """
    session = Session()
    session.post("a")
    session.hear(ModelDone(session.call, (Content("tool", "{}", "call-1", "look"),), "length"))
    assert [part.state for part in session.rows()[1].parts if isinstance(part, ToolPart)] == ["aborted"]
    assert session.host.loop.phase == "idle"


# --- bad ends -----------------------------------------------------------------------------------------------


def test_an_error_holds_the_queue() -> None:
    """C17: the run closes, the item stays, held; a new message joins its tail and releases it."""
    session = Session()
    session.post("a")
    session.stream("half")
    session.post("b", 2)
    session.fail()
    snapshot = session.snapshot()
    assert (snapshot.activity, snapshot.outcome, snapshot.held) == ("idle", "error", True)
    assert [item.text for item in snapshot.queue] == ["b"]
    assert [notice.message for notice in snapshot.notices] == ["overloaded"]
    session.post("c", 3)
    session.say("to b")
    session.say("to c")
    assert session.texts() == ["a", "half", "b", "to b", "c", "to c"]
    assert not session.snapshot().held


def test_send_releases_and_remove_removes() -> None:
    """A held queue has *Send* and *Remove*."""
    session = Session()
    session.post("a")
    session.post("b", 2)
    session.post("c", 3)
    session.fail()
    assert session.command("clear", "c2").cleared == ("c2",)
    session.command("send")
    session.say("to c")
    assert session.texts() == ["a", "c", "to c"]


def test_a_prompt_that_is_refused_before_any_event() -> None:
    """V34, C28: the row and the error are in the log, the next prompt goes on with the next number."""
    session = Session()
    session.follow()
    session.post("a", nonce="n")
    session.fail(error="no credit")
    assert session.kinds()[-4:] == ["pi-message-start", "pi-message-end", "pi-error", "pi-agent-end"]
    snapshot = session.snapshot()
    assert [(row.text, row.nonce) for row in snapshot.rows] == [("a", "n")]
    assert snapshot.notices[0].message == "no credit"
    seq = session.events()[-1].seq
    session.post("again", 2)
    assert [event.seq for event in session.events()][-1] > seq
    assert [event.seq for event in session.events()] == list(range(1, len(session.events()) + 1))


def test_retry_with_back_off() -> None:
    """F46: each retry is a run of its own without a new user message, after a longer wait, a bounded
    number of times.
    """
    session = Session()
    session.follow()
    session.post("a")
    for attempt in range(1, RETRIES + 1):
        session.fail(retryable=True)
        assert session.snapshot().activity == "retrying"
        session.hear(RetryDue(attempt))
    session.fail(retryable=True)
    waits = [effect.delay_ms for effect in session.effects if isinstance(effect, StartRetryTimer)]
    assert waits == [FIRST_BACKOFF_MS << n for n in range(RETRIES)]
    assert max(waits) <= LONGEST_BACKOFF_MS
    assert len(session.bodies(RunOpened)) == RETRIES + 1
    assert len(session.bodies(UserMessage)) == 1
    assert session.snapshot().activity == "idle"
    assert session.kinds().count("pi-retry-start") == RETRIES
    assert session.told.count("agent_settled") == 1


def test_a_follow_up_during_the_wait_is_not_lost() -> None:
    """A message that comes while a retry waits is queued, and runs after the retried run."""
    session = Session()
    session.post("a")
    session.fail(retryable=True)
    session.post("b", 2)
    session.hear(RetryDue(1))
    session.say("to a")
    session.say("to b")
    assert session.texts() == ["a", "to a", "b", "to b"]


def test_a_late_word_of_an_older_call() -> None:
    """C34, F53: deltas, ends and errors of a call that nobody waits for change nothing."""
    session = Session()
    session.post("a")
    session.stream("x")
    old = session.call
    session.post("b", 2)
    session.command("interrupt")
    session.stream("y")
    before = list(session.lines)
    session.hear(ModelDelta(old, 0, "text", "late"))
    session.hear(ModelDone(old, (Content("text", "late"),)))
    session.hear(ModelFailed(old, "late"))
    session.hear(ModelFailed(99, "never"))
    assert session.lines == before
    assert session.host.loop.phase == "calling"


def test_interrupt_and_stop() -> None:
    """V37, C26: interrupt aborts once, answers at acceptance and goes on; stop then aborts the
    replacement.
    """
    session = Session()
    session.post("a")
    session.stream("x")
    session.post("b", 2)
    session.post("c", 3)
    assert session.command("interrupt").status == 202
    assert sum(isinstance(effect, AbortModel) for effect in session.effects) == 1
    assert session.snapshot().activity == "running"
    stopped = session.command("stop")
    assert (stopped.status, stopped.cleared) == (202, ("c3",))
    assert sum(isinstance(effect, AbortModel) for effect in session.effects) == 2
    assert session.texts() == ["a", "x", "b"]
    assert session.snapshot().activity == "idle"


def test_an_interrupt_of_an_idle_session_moves_nothing() -> None:
    """V37: an item that is held stays held."""
    session = Session()
    session.post("a")
    session.post("b", 2)
    session.fail()
    assert session.command("interrupt").status == 202
    assert [item.text for item in session.snapshot().queue] == ["b"]
    assert session.snapshot().held
    assert not any(isinstance(effect, AbortModel) for effect in session.effects)


def test_interrupt_while_a_tool_runs() -> None:
    """V38, A21, A28: abort, then the waiting message with its nonce, its answer, a good end; the queue is
    empty.
    """
    session = Session()
    session.follow()
    session.post("a")
    session.use("look")
    session.post("b", 7 - 5, "n7")
    session.command("interrupt")
    assert any(isinstance(effect, AbortTool) for effect in session.effects)
    session.use("find")
    session.done("find")
    session.say("to b")
    kinds = session.kinds()
    ends = [place for place, kind in enumerate(kinds) if kind == "pi-agent-end"]
    starts = [
        place
        for place, event in enumerate(session.events())
        if getattr(event.body, "nonce", None) == "n7" and kinds[place] == "pi-message-start"
    ]
    assert ends[0] < starts[0] < ends[1]
    statuses = [getattr(session.events()[place].body, "status", "") for place in ends]
    assert statuses == ["aborted", "ok"]
    assert session.call >= 3
    assert session.snapshot().queue == ()
    assert [part.state for part in session.rows()[1].parts if isinstance(part, ToolPart)] == ["aborted"]


@pytest.mark.parametrize("moment", ["calling", "streaming", "tools", "retrying", "compacting"])
@pytest.mark.parametrize("what", ["stop", "interrupt"])
def test_stop_and_interrupt_at_every_moment(moment: str, what: str) -> None:
    """F58, F59, C30: whatever goes on, it is closed in one entry; stop clears, interrupt goes on with what
    waits.
    """
    session = Session(Settings(compact_at=1) if moment == "compacting" else Settings())
    session.post("a")
    if moment == "streaming":
        session.stream("x")
    elif moment == "tools":
        session.use("look", "find")
    elif moment == "retrying":
        session.fail(retryable=True)
    elif moment == "compacting":
        session.say("x")
    assert session.host.loop.phase == (moment if moment != "streaming" else "calling")
    session.post("b", 2)
    answer = session.command(what)  # type: ignore[arg-type]
    assert answer.status == 202
    snapshot = session.snapshot()
    assert snapshot.queue == ()
    assert not snapshot.held
    if what == "stop":
        assert (answer.cleared, snapshot.activity) == (("c2",), "idle")
        assert all(row.status != "streaming" for row in session.rows())
    else:
        session.say("to b")
        assert session.texts()[-2:] == ["b", "to b"]
    assert session.host.loop.phase in ("idle", "compacting")


def test_an_abort_and_an_error_from_the_provider() -> None:
    """Stop reasons `aborted` and `error` close the run and drain nothing."""
    for stop, outcome in (("aborted", "aborted"), ("error", "error")):
        session = Session()
        session.post("a")
        session.stream("half")
        session.post("b", 2)
        session.hear(ModelDone(session.call, (Content("text", "half"),), stop))
        snapshot = session.snapshot()
        assert (snapshot.outcome, snapshot.held, len(snapshot.queue)) == (outcome, True, 1)
        assert snapshot.rows[1].status == outcome
        closed = session.bodies(RunClosed)[0]
        assert isinstance(closed, RunClosed)
        assert closed.message is not None


def test_go_on_without_a_new_message() -> None:
    """A05: after an interruption the next request is made from what is there; no user row is added, no
    tool runs again.
    """
    session = Session()
    session.post("a")
    session.use("look")
    session.done("look")
    session.start()
    assert session.snapshot().activity == "idle"
    calls = len([effect for effect in session.effects if getattr(effect, "name", "") == "look"])
    session.command("continue")
    session.say("done")
    assert session.texts() == ["a", "", "done"]
    assert len([effect for effect in session.effects if getattr(effect, "name", "") == "look"]) == calls
    part = session.rows()[1].parts[0]
    assert isinstance(part, ToolPart)
    assert part.state == "output-available"


# --- compaction, branches, steps ----------------------------------------------------------------------------


@pytest.mark.parametrize("summary", ["so far", None])
def test_what_waits_survives_compaction(summary: str | None) -> None:
    """C40, C21: an item that comes while the session compacts itself runs afterwards, also if that failed."""
    session = Session(Settings(compact_at=2))
    session.post("a")
    session.say("A")
    assert isinstance(session.effects[-1], CallSummary)
    session.post("b", 2)
    session.hear(CompactDone(session.host.loop.call, summary))
    session.say("B")
    assert session.texts() == ["a", "A", "b", "B"]


def test_a_branch_leaves_the_other_rows() -> None:
    """C37: after going back, rows are the path to the new leaf; the epoch is new, since rows went away."""
    session = Session()
    session.post("a")
    session.say("A")
    session.post("b", 2)
    session.say("B")
    session.hear(MoveBranch(session.rows()[1].id))
    assert session.texts() == ["a", "A"]
    session.post("c", 3)
    session.say("C")
    assert session.texts() == ["a", "A", "c", "C"]
    assert session.snapshot().epoch == 2
    session.start()
    assert session.texts() == ["a", "A", "c", "C"]


def test_a_step_prompt() -> None:
    """A workflow step's prompt is an entry of kind `workflow-step`, and its start carries the step."""
    session = Session()
    session.follow()
    step = Step("run", "sum", "a1", "assistant", max_output_chars=9)
    session.hear(PromptStep("sum it up", step))
    assert '"kind":"workflow-step"' in session.lines[-1]
    session.hear(PromptStep("too early", step))
    session.say("short")
    assert session.texts() == ["sum it up", "short"]
    starts = [event.body for event in session.events() if getattr(event.body, "step", None)]
    assert [getattr(body, "step", None) for body in starts] == [step]


def test_the_message_is_open_in_the_log_before_its_first_delta() -> None:
    """Authority 3: `message-open` with the first position stands before any delta is sent."""
    session = Session(slow_disk=True)
    session.disk()
    session.follow()
    session.post("a")
    session.disk()
    session.stream("x")
    assert "pi-text-delta" not in session.kinds()
    session.disk()
    opened = session.bodies(MessageOpened)[0]
    assert isinstance(opened, MessageOpened)
    starts = [event.seq for event in session.events() if getattr(event.body, "role", "") == "assistant"]
    assert starts[0] == opened.first_seq
    assert session.kinds()[-1] == "pi-text-delta"


def test_the_final_has_the_longer_text() -> None:
    """C10, C33: what was streamed and comes again in the final is once in the log; equal parts are both
    kept.
    """
    session = Session()
    session.post("a")
    session.stream("ha", "ha", "ha")
    session.hear(ModelDone(session.call, (Content("text", "haha"), Content("text", "haha"))))
    ended = session.bodies(MessageEnded)[0]
    assert isinstance(ended, MessageEnded)
    assert [getattr(part, "text", "") for part in ended.parts] == ["hahaha", "haha"]


DEEP = "[" * MAX_VALUE_DEPTH + "]" * MAX_VALUE_DEPTH


@pytest.mark.parametrize(
    "given", ['{"a": 1, "a": 2}', "{broken", "NaN", "1e999", '"\\ud800"', DEEP, f"[{DEEP}]", ""]
)
def test_whatever_a_model_or_a_tool_gives_for_json(given: str) -> None:
    """Inputs and outputs that are no JSON, too large or too deep are kept as words: the log can always be
    read.
    """
    session = Session()
    session.follow()
    session.post("a")
    session.hear(ModelDone(session.call, (Content("tool", given, "call-x", "x"),), "toolUse"))
    session.done("x", given)
    part = session.rows()[1].parts[0]
    assert isinstance(part, ToolPart)
    assert part.state == "output-available"
    assert part.input == part.output
    view = ViewState()
    for event in session.events():
        assert decode_chunk(encode_chunk(event)) == event
        view = reduce_event(view, event)
    assert view.rows == session.rows()
