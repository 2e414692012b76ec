"""The agent loop: one conversation with a model, as a pure state machine.

It is idle, or it calls the model, runs tools, waits before a retry, or compacts itself. One agent run spans
all that is drained from the queue; a run that ends badly drains nothing and holds the queue for the person.
"""

from __future__ import annotations

from windtunnel.simulator.chat.entries import (
    BranchMoved,
    Commanded,
    Compacted,
    Entry,
    MessageEnded,
    MessageOpened,
    Queued,
    RetryEnded,
    RetryStarted,
    RunClosed,
    RunOpened,
    ToolClosed,
    ToolEnded,
    UserMessage,
)
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.messages import Opened, close_parts, end_part, extend, merge, place_of
from windtunnel.simulator.chat.parts import Item, RunStatus, ToolPart, sound_json
from windtunnel.simulator.chat.pen import Conversation, Pen
from windtunnel.simulator.chat.turns import (
    FIRST_BACKOFF_MS,
    LONGEST_BACKOFF_MS,
    AbortModel,
    AbortTool,
    Accept,
    Announce,
    Batch,
    CallModel,
    CallSummary,
    Clear,
    CompactDone,
    Continue,
    Heard,
    Interrupt,
    ModelDelta,
    ModelDone,
    ModelFailed,
    ModelPartEnd,
    MoveBranch,
    PromptStep,
    RetryDue,
    RunTool,
    Send,
    Settings,
    StartRetryTimer,
    Stop,
    StopRetryTimer,
    ToolDone,
    ToolProgress,
)


def step(state: Conversation, heard: Heard) -> tuple[Conversation, Batch]:
    """The loop after one input, and what it wants done. What is late or unknown changes nothing."""
    pen = Pen(state)
    match heard:
        case Accept(item):
            accept(pen, item)
        case Stop() | Interrupt() | Clear() | Send() | Continue():
            command(pen, heard)
        case PromptStep(text, step_ref):
            if state.phase == "idle":
                start_run(pen, (), UserMessage("", text, step=step_ref))
        case Announce(text, step_ref):
            if state.phase == "idle":
                say(pen, UserMessage(pen.mint("t"), text, step=step_ref))
        case MoveBranch(target):
            if state.phase == "idle":
                pen.set(leaf=target)
                pen.entries.append(Entry(pen.mint("e"), BranchMoved(0), target))
        case ModelDelta() | ModelPartEnd() | ModelDone() | ModelFailed():
            model(pen, heard)
        case ToolDone() | ToolProgress():
            tool(pen, heard)
        case RetryDue(attempt):
            if state.phase == "retrying" and attempt == state.attempt:
                pen.add(RetryEnded(state.turn, attempt, "started"))
                start_run(pen, ())
        case CompactDone(call, summary):
            if state.phase == "compacting" and call == state.call:
                compacted(pen, summary)
    return pen.state, pen.batch()


# --- the person ---------------------------------------------------------------------------------------------


def accept(pen: Pen, item: Item) -> None:
    """An admitted message starts a run where nothing goes on, and waits otherwise."""
    state = pen.state
    if state.phase == "idle" and not state.queue and not ("C35" in state.faults and item.kind == "followup"):
        start_run(pen, (item,))
        return
    pen.add(Queued(item))
    pen.set(queue=(*state.queue, item), held=False)
    if state.phase == "idle" and "C35" not in state.faults:
        drain(pen)


def command(pen: Pen, heard: Stop | Interrupt | Clear | Send | Continue) -> None:
    """What the person wants, besides saying something."""
    state = pen.state
    busy = state.phase != "idle"
    match heard:
        case Stop(receipt):
            pen.add(Commanded("stop", receipt, nonces_of(state.queue)))
            pen.set(queue=(), held=False)
            if busy:
                abandon(pen, going_on=False)
                pen.tell("agent_settled")
        case Interrupt(receipt):
            pen.add(Commanded("interrupt", receipt))
            if busy:
                abandon(pen, going_on=True)
                drain_or_settle(pen)
        case Clear(nonces, receipt, unknown):
            clear(pen, nonces, receipt, unknown)
        case Send(receipt):
            pen.add(Commanded("send", receipt))
            pen.set(held=False)
            if not busy:
                drain(pen)
        case Continue(receipt):
            pen.add(Commanded("continue", receipt))
            if not busy:
                start_run(pen, ())


def nonces_of(queue: tuple[Item, ...]) -> tuple[str, ...]:
    """The nonces in a queue."""
    return tuple(item.nonce for item in queue if item.nonce is not None)


def clear(pen: Pen, nonces: tuple[str, ...], receipt: str | None, unknown: tuple[str, ...]) -> None:
    """Remove items by nonce."""
    queue = pen.state.queue
    cleared = tuple(nonce for nonce in nonces_of(queue) if nonce in nonces)
    if "C19" in pen.state.faults:
        texts = {item.text for item in queue if item.nonce in nonces}
        cleared = tuple(item.nonce for item in queue if item.text in texts and item.nonce is not None)[:1]
    pen.add(Commanded("clear", receipt, cleared, unknown))
    rest = tuple(item for item in queue if item.nonce not in cleared)
    pen.set(queue=rest, held=pen.state.held and bool(rest))


# --- runs ---------------------------------------------------------------------------------------------------


def start_run(pen: Pen, items: tuple[Item, ...], prompt: UserMessage | None = None) -> None:
    """Open a run with messages that were taken from the queue, or with none."""
    run, turn = pen.mint("r"), pen.mint("t")
    pen.set(run=run, turn=turn, held=False)
    pen.add(RunOpened(run, turn))
    pen.tell("agent_start", run)
    pen.tell("turn_start", turn)
    if prompt is not None:
        say(pen, replace(prompt, turn=turn))
    for item in items:
        consume(pen, item)
    call_model(pen)


def consume(pen: Pen, item: Item) -> None:
    """A message becomes a user row; if it waited, it leaves the queue with the same entry."""
    waited = item in pen.state.queue
    pen.set(queue=tuple(each for each in pen.state.queue if each != item))
    text = expanded(pen.state.settings, item.text)
    said = UserMessage(pen.state.turn, text, item.nonce, item.client, item.number, waited)
    if "C41" in pen.state.faults:
        pen.set(waiting=(*pen.state.waiting, said))
        return
    say(pen, said)


def say(pen: Pen, said: UserMessage) -> None:
    """Append a user row."""
    name = pen.add(said)
    pen.set(length=pen.state.length + 1)
    pen.tell("message_start", name)
    pen.tell("message_end", name)


def expanded(settings: Settings, text: str) -> str:
    """A message that names a template becomes its text."""
    for name, template in settings.templates:
        if text == f"/{name}" or text.startswith(f"/{name} "):
            return template.replace("$ARGS", text[len(name) + 2 :])
    return text


def call_model(pen: Pen) -> None:
    """Ask for the next message."""
    pen.set(phase="calling", call=pen.state.call + 1)
    pen.effects.append(CallModel(pen.state.call))


def drain(pen: Pen) -> None:
    """Start a run with what waits."""
    if pen.state.queue:
        start_run(pen, first_of(pen.state.queue, pen.state.settings.followups))


def drain_or_settle(pen: Pen) -> None:
    """Go on with what waits, or say that nothing more comes."""
    if pen.state.queue:
        drain(pen)
    else:
        pen.tell("agent_settled")


def first_of(queue: tuple[Item, ...], mode: str) -> tuple[Item, ...]:
    """What is taken from the queue at once."""
    return queue if mode == "all" else queue[:1]


def next_turn(pen: Pen, items: tuple[Item, ...]) -> None:
    """Messages that waited begin a turn of the same run."""
    pen.set(turn=pen.mint("t"))
    pen.tell("turn_start", pen.state.turn)
    for item in items:
        consume(pen, item)
    call_model(pen)


def would_stop(pen: Pen) -> None:
    """The model has nothing more to say: take what waits, oldest first, or end the run."""
    if pen.state.queue:
        pen.tell("turn_end", pen.state.turn)
        next_turn(pen, first_of(pen.state.queue, pen.state.settings.followups))
        return
    close_run(pen, "ok")
    limit = pen.state.settings.compact_at
    if limit is not None and pen.state.length >= limit:
        pen.set(phase="compacting", call=pen.state.call + 1)
        pen.effects.append(CallSummary(pen.state.call))
        pen.tell("compaction_start")
    else:
        pen.tell("agent_settled")


def close_run(pen: Pen, status: RunStatus, error: str | None = None, going_on: bool = False) -> None:
    """End the run, and in the same entry its open message and its open tools."""
    state = pen.state
    if "C17" in state.faults and status == "error" and state.queue:
        return
    message = None
    if state.opened is not None:
        message = MessageEnded(state.opened.id, close_parts(state.opened.parts, status), status)
        pen.tell("message_end", state.opened.id)
    tools = tuple(
        ToolClosed(run.message, run.call, "aborted" if status == "aborted" else "output-error")
        for run in (*state.running, *state.todo)
    )
    if "C30" in state.faults:
        tools = ()
    held = status != "ok" and bool(state.queue) and not going_on
    pen.add(RunClosed(state.run, state.turn, status, message, tools, error, held))
    pen.effects += [AbortTool(run.message, run.call) for run in state.running]
    pen.set(phase="idle", opened=None, running=(), todo=(), held=held)
    if message is not None:
        pen.set(length=pen.state.length + 1)
    pen.tell("turn_end", state.turn)
    pen.tell("agent_end", state.run)


def abandon(pen: Pen, going_on: bool) -> None:
    """The person wants no more of what goes on."""
    state = pen.state
    if state.phase == "retrying":
        pen.add(RetryEnded(state.turn, state.attempt, "cancelled", bool(state.queue) and not going_on))
        pen.effects.append(StopRetryTimer())
        pen.set(phase="idle", attempt=0, held=bool(state.queue) and not going_on)
    elif state.phase == "compacting":
        pen.effects.append(AbortModel(state.call))
        pen.set(phase="idle")
    else:
        if state.phase == "calling":
            pen.effects.append(AbortModel(state.call))
        close_run(pen, "aborted", going_on=going_on)
        pen.set(attempt=0)


def compacted(pen: Pen, summary: str | None) -> None:
    """The context is shorter; readers see what they saw."""
    if summary is not None:
        pen.add(Compacted(summary))
        pen.set(length=0)
    pen.set(phase="idle")
    pen.tell("compaction_end")
    if "C40" in pen.state.faults:
        return
    drain_or_settle(pen)


# --- the model ----------------------------------------------------------------------------------------------


def model(pen: Pen, heard: ModelDelta | ModelPartEnd | ModelDone | ModelFailed) -> None:
    """What comes from the call that is waited for; anything from another is late."""
    late = pen.state.phase != "calling" or heard.call != pen.state.call
    if late and not ("C34" in pen.state.faults and isinstance(heard, ModelFailed)):
        return
    match heard:
        case ModelDelta():
            opened, events = extend(open_message(pen), heard)
            pen.set(opened=opened)
            pen.stream += events
            pen.tell("message_update", opened.id)
        case ModelPartEnd(_, index):
            if pen.state.opened is not None:
                opened, events = end_part(pen.state.opened, heard)
                pen.set(opened=opened)
                pen.stream += events
                if "C38" in pen.state.faults and index in opened.ended:
                    start_early(pen, opened, index)
        case ModelDone(_, contents, stop):
            message_done(pen, merge(open_message(pen), contents), stop)
        case ModelFailed(_, error, retryable):
            failed(pen, error, retryable)


def start_early(pen: Pen, opened: Opened, index: int) -> None:
    """Seeded fault C38: run a tool while its message still streams."""
    part = opened.parts[place_of(opened, index)]
    if isinstance(part, ToolPart):
        run = RunTool(opened.id, part.id, part.name, part.input or "{}")
        pen.set(running=(*pen.state.running, run))
        pen.effects.append(run)


def open_message(pen: Pen) -> Opened:
    """The message that streams; its entry is appended before its first delta is sent."""
    if pen.state.opened is not None:
        return pen.state.opened
    for said in pen.state.waiting:
        say(pen, said)
    turn = pen.state.turn
    if "C15" in pen.state.faults and pen.state.last_opened:
        name = pen.state.last_opened
    else:
        name = pen.add(MessageOpened(turn))
    opened = Opened(name, turn)
    pen.set(opened=opened, last_opened=name, waiting=())
    pen.tell("message_start", name)
    return opened


def message_done(pen: Pen, opened: Opened, stop: str) -> None:
    """A message is whole: keep it, then run its tools, or go on, or end."""
    pen.set(opened=opened)
    if stop == "error":
        pen.set(attempt=0)
        close_run(pen, "error", "the model stopped with an error")
        pen.tell("agent_settled")
        return
    if stop == "aborted":
        pen.set(attempt=0)
        close_run(pen, "aborted")
        pen.tell("agent_settled")
        return
    parts = close_parts(opened.parts, "aborted") if stop == "length" else opened.parts
    pen.add(MessageEnded(opened.id, parts, stop))
    pen.set(opened=None, attempt=0, length=pen.state.length + 1)
    pen.tell("message_end", opened.id)
    ran = {run.call for run in pen.state.running}
    calls = tuple(
        RunTool(opened.id, part.id, part.name, part.input or "{}")
        for part in parts
        if isinstance(part, ToolPart) and part.state == "input-available" and part.id not in ran
    )
    if not calls and not ran:
        would_stop(pen)
        return
    pen.set(phase="tools", todo=calls)
    start_tools(pen)


def failed(pen: Pen, error: str, retryable: bool) -> None:
    """The call broke off: try again after a while, or end."""
    attempt = pen.state.attempt + 1
    untold = "C28" in pen.state.faults and pen.state.opened is None
    if retryable and attempt <= pen.state.settings.retries:
        close_run(pen, "error", error, going_on=True)
        delay = min(FIRST_BACKOFF_MS << (attempt - 1), LONGEST_BACKOFF_MS)
        pen.add(RetryStarted(pen.state.turn, attempt, delay))
        pen.set(phase="retrying", attempt=attempt)
        pen.effects.append(StartRetryTimer(attempt, delay))
        pen.tell("auto_retry_start", str(attempt))
        return
    pen.set(attempt=0)
    close_run(pen, "error", None if untold else error)
    pen.tell("agent_settled")


# --- tools --------------------------------------------------------------------------------------------------


def start_tools(pen: Pen) -> None:
    """Start the next tool, or all of them."""
    state = pen.state
    ready = state.todo if state.settings.tools == "parallel" else state.todo[: 0 if state.running else 1]
    pen.set(todo=state.todo[len(ready) :], running=(*state.running, *ready))
    for run in ready:
        pen.effects.append(run)
        pen.tell("tool_execution_start", run.call)


def tool(pen: Pen, heard: ToolDone | ToolProgress) -> None:
    """What comes from a tool that runs; a result that nobody waits for is refused, and that is told."""
    runs = [run for run in pen.state.running if (run.message, run.call) == (heard.message, heard.call)]
    if not runs:
        if isinstance(heard, ToolDone):
            pen.tell("tool_result_refused", heard.call)
        return
    if isinstance(heard, ToolProgress):
        pen.tell("tool_execution_update", heard.call)
        return
    pen.set(running=tuple(run for run in pen.state.running if run not in runs))
    name = pen.add(ToolEnded(heard.message, heard.call, sound_json(heard.output), heard.is_error))
    pen.tell("tool_execution_end", heard.call)
    pen.tell("message_start", name)
    pen.tell("message_end", name)
    if pen.state.phase != "tools":
        return
    if pen.state.todo:
        start_tools(pen)
    elif not pen.state.running:
        pen.tell("turn_end", pen.state.turn)
        after_tools(pen)


def after_tools(pen: Pen) -> None:
    """Between two messages of the model steering gets in; follow-ups wait for the end."""
    steering = tuple(item for item in pen.state.queue if item.kind == "steer")
    if steering:
        next_turn(pen, first_of(steering, pen.state.settings.steering))
        return
    pen.tell("turn_start", pen.state.turn)
    call_model(pen)
