"""The workflow engine of one host, as a pure handler.

It commits before it moves on, twice a node: first how the node ended, then where the run goes. What it knows
beyond the store is volatile and small: which prompt is out, how often it reminded, the answer it heard.
Everything that names an attempt is checked against the one in flight; what is late, stale or repeated changes
nothing.
"""

from __future__ import annotations

from windtunnel.compiler.evaluator import EvaluationError
from windtunnel.simulator.chat.log import Answer
from windtunnel.simulator.events import (
    ANSWER_ENTRY,
    ATTEMPT,
    CURRENT,
    ELAPSED,
    REPLAYED,
    Abort,
    Action,
    Answered,
    Arm,
    Cancel,
    Commit,
    Deadline,
    Delivered,
    Disarm,
    Edit,
    Event,
    Heard,
    Json,
    Mark,
    Pause,
    Payload,
    Prompt,
    Published,
    PutBack,
    Question,
    Release,
    Reply,
    Returned,
    Settled,
    Step,
    StepRef,
    Submitted,
    Tell,
    Timeout,
    ToEngine,
    Withdraw,
)
from windtunnel.simulator.providers.behaviour import Kind
from windtunnel.simulator.run import (
    claims,
    completion,
    decisions,
    effects,
    notifications,
    submission,
    turns,
    words,
)
from windtunnel.simulator.run.program import Agent, Compute, Decision, Effect, Notify, Program
from windtunnel.simulator.run.routing import Route, route, start
from windtunnel.simulator.run.state import FINAL, OVER, Position, Run, Scope, visit
from windtunnel.simulator.run.transition import (
    HELD,
    OVER_STATE,
    READY,
    VISIBLE,
    Engine,
    Result,
    View,
    failure,
    node_failed,
    timeout_of,
)

__all__ = ["OVER_STATE", "READY", "Engine", "Result", "View", "engine"]


def engine(program: Program, local: Engine, view: View, message: ToEngine) -> Result:
    """One transition of the engine, for everything but recovery."""
    match message:
        case Step():
            return _go_on(program, local, view)
        case Delivered():
            return _delivered(program, local, view, message)
        case Submitted():
            return _submitted(program, local, view, message)
        case Published():
            return _published(program, local, view, message)
        case Heard():
            return _heard(program, local, view, message)
        case Settled():
            return _settled(program, local, view, message)
        case Cancel():
            return _cancel(program, local, view)
        case Timeout():
            return _timeout(program, local, view, message)
        case Pause():
            return _pause(local, view)
        case Edit() | PutBack():
            return Engine(edited=isinstance(message, Edit)), ()
        case Release():
            return _release(program, local, view)
        case Returned():
            return effects.returned(program, local, view, message)
        case Answered():
            return decisions.answered(program, local, view, message)
        case Deadline():
            return decisions.up(program, local, view, message)


# --- going on by itself -------------------------------------------------------------------------------------


def _go_on(program: Program, local: Engine, view: View) -> Result:
    """Start the run, route an ended node, begin a node, or give the turn that follows the end."""
    run, executor = view.run, view.executor
    position = run.position
    if position.status in OVER:
        return turns.give(local, view)
    if position.status == "queued":
        if position.pausing:
            return HELD, (Commit((_run_started(program, run), Event("run", "run_paused"))),)
        return _routed(program, start(program, run, _run_started(program, run)), executor)
    if position.phase != "started":
        if position.pausing:
            return HELD, (Commit((Event("run", "run_paused"),)),)
        way = route(program, run) if position.phase else start(program, run)
        return _routed(program, way, executor)
    node = program.nodes[position.node]
    match node:
        case Agent():
            return send_step(program, READY, node, run, executor)
        case Compute():
            return _compute(program, node, run)
        case Effect():
            return effects.call(program, node, run)
        case Notify():
            return notifications.queue(program, node, run)
        case Decision():
            return decisions.ask(program, node, run, executor)


def _run_started(program: Program, run: Run) -> Event:
    snapshot = program.snapshot
    payload: Payload = (
        ("digest", snapshot.digest),
        ("input", Json(run.input)),
        ("revision", snapshot.revision),
        ("workflow", snapshot.workflow),
    )
    title = _title(program, run)
    return Event("run", "run_started", payload=(*payload, *title))


def _title(program: Program, run: Run) -> Payload:
    """The run's title, made once; a title that cannot be made is left out."""
    if program.title is None:
        return ()
    try:
        return (("title", str(program.title(Scope(program, run)))),)
    except EvaluationError:
        return ()


def _routed(program: Program, way: Route, executor: str) -> Result:
    """Commit where the run goes, then send the prompt of an agent it goes to."""
    if way.run.position.status in OVER:
        return OVER_STATE, (Commit(turns.at_the_end(program, way, executor)),)
    commit = Commit(way.events)
    node = program.nodes[way.run.position.node]
    if not isinstance(node, Agent):
        return READY, (commit,)
    local, actions = send_step(program, READY, node, way.run, executor)
    return local, (commit, *actions)


def _compute(program: Program, node: Compute, run: Run) -> Result:
    try:
        value = completion.as_json(node.value(Scope(program, run)))
    except EvaluationError as error:
        return READY, (Commit((node_failed(node.id, "failed", str(error)),)),)
    payload: Payload = (("durationMs", ELAPSED), ("outcome", "ok"), ("output", value))
    return READY, (Commit((Event("node", "node_finished", node.id, CURRENT, payload),)),)


# --- prompts ------------------------------------------------------------------------------------------------


def send_step(program: Program, local: Engine, agent: Agent, run: Run, executor: str = VISIBLE) -> Result:
    """The step's own prompt; a prompt that cannot be made fails the node before anything is sent.

    A step that nobody would see is left to the session of the run.
    """
    if claims.leaves(program, agent, executor):
        return claims.leave(agent, executor)
    scope = Scope(program, run)
    try:
        limit = completion.limit_of(agent, scope)
        text = agent.prompt(scope)
        timeout_of(agent.id, agent.timeout, scope)
    except EvaluationError as error:
        return READY, (Commit((node_failed(agent.id, "failed", str(error)),)),)
    whole = words.prompt(program, agent, str(text), limit)
    return send(local, agent, run, Kind.STEP, whole, limit)


def send_resume(program: Program, local: Engine, agent: Agent, run: Run) -> Result:
    """One sentence that lets the model go on; it never repeats the prompt and starts no attempt."""
    limit = completion.limit_of(agent, Scope(program, run))
    return send(local, agent, run, Kind.RESUME, words.RESUME, limit)


def send(local: Engine, agent: Agent, run: Run, kind: Kind, text: str, limit: int | None) -> Result:
    """Hand a prompt to the loop, which delivers it when it is idle."""
    question = Question(agent.id, visit(run, agent.id), kind.value, text, limit)
    prompt = Prompt(StepRef(CURRENT, local.ordinal, agent.completion), question)
    return local._replace(phase="sending", answer=None, cold=False), (Tell("loop", prompt),)


def _delivered(program: Program, local: Engine, view: View, message: Delivered) -> Result:
    prompt = message.prompt
    if prompt.step.completion == turns.COMPLETION:
        return turns.delivered(local, prompt)
    if local.phase != "sending" or not _names(prompt.step, local):
        return local, ()
    agent = _agent(program, view)
    payload: Payload = (
        ("completion", agent.completion),
        ("kind", prompt.question.kind),
        ("prompt", prompt.question.prompt),
    )
    sent = Event("node", "agent_prompt_sent", agent.id, CURRENT, payload)
    timeout = timeout_of(agent.id, agent.timeout, Scope(program, view.run))
    # The timer counts the turns of the whole attempt: a reminder does not start it anew.
    reminds = prompt.question.kind == Kind.REMINDER.value
    timer = () if timeout is None or reminds else (Arm(timeout),)
    return local._replace(phase="pending"), (Commit((sent,)), *timer)


# --- what the model does ------------------------------------------------------------------------------------


def _submitted(program: Program, local: Engine, view: View, message: Submitted) -> Result:
    position = view.position
    if position.status in OVER:
        return local, (Tell("loop", Reply("refused", words.NOTHING_AWAITED, message.copy)),)
    if local.phase == "sending" and "W30" in program.switches:
        return local, ()
    if local.phase != "pending" or position.phase != "started":
        late = local.phase == "accepted" and "W32" not in program.switches
        return local, _refusal(position.node or None, words.NOTHING_AWAITED, message, late=late)
    agent = _agent(program, view)
    if message.hangs:
        return local._replace(phase="checking"), ()
    verdict = submission.judge(program, agent, Scope(program, view.run), message)
    if isinstance(verdict, submission.Refusal):
        return local, _refusal(agent.id, verdict.reason, message)
    payload: Payload = (("durationMs", ELAPSED), ("outcome", "ok"), ("output", Json(verdict.text)))
    finished = Event("node", "node_finished", agent.id, CURRENT, payload)
    races = view.executor != VISIBLE and "W10" in program.switches
    return local._replace(phase="ready" if races else "accepted"), (
        Commit((finished,)),
        Disarm(),
        Tell("loop", Reply("accepted", words.ACCEPTED, message.copy)),
    )


def _published(program: Program, local: Engine, view: View, message: Published) -> Result:
    """Progress of a submit step is kept; an assistant step takes none."""
    if local.phase != "pending":
        return local, (Tell("loop", Reply("refused", words.NOTHING_AWAITED, message.copy)),)
    agent = _agent(program, view)
    if agent.completion == "assistant":
        return local, (Tell("loop", Reply("refused", words.NOT_SUBMITTED, message.copy)),)
    payload: Payload = (("data", Json(message.data)), ("key", message.key))
    updated = Event("node", "step_updated", agent.id, CURRENT, payload)
    return local, (Commit((updated,)), Tell("loop", Reply("noted", words.PUBLISHED, message.copy)))


def _refusal(node: str | None, reason: str, message: Submitted, *, late: bool = False) -> tuple[Action, ...]:
    refused = Event("node", "submission_refused", node, message.attempt, (("reason", reason),))
    return Commit((refused,)), Tell("loop", Reply("late" if late else "refused", reason, message.copy))


def _heard(program: Program, local: Engine, view: View, message: Heard) -> Result:
    """A message of an assistant step: the one that its turn ends with counts, once the turn has settled."""
    if local.phase != "pending" or not _names(message.step, local):
        return local, ()
    if not message.own and "W06" not in program.switches:
        return local, ()
    answer = Answer(message.text, message.stop, message.error)
    if message.stop == "toolUse":
        if "W05" in program.switches:
            return finish(program, view, answer._replace(stop="stop"), ANSWER_ENTRY)
        return local, ()
    if message.point == "message_end":
        if "W04" in program.switches:
            return finish(program, view, answer, ANSWER_ENTRY)
        return local, ()
    return local._replace(answer=answer), ()


def _settled(program: Program, local: Engine, view: View, message: Settled) -> Result:
    """The agent run of a prompt is over; a run that is not this step's says nothing about it."""
    if local.phase not in ("sending", "pending", "checking", "accepted", "ending"):
        return local, ()
    if message.step is None and "W29" not in program.switches:
        return local, ()
    if message.step is not None and not _names(message.step, local):
        return local, ()
    if local.phase == "ending":
        return READY, ()
    if message.why == "escape":
        held = local._replace(phase="held")
        timer = () if "W25" in program.switches else (Disarm(held=True),)
        return held, (Commit((Event("run", "run_paused"),)), *timer)
    if local.phase == "accepted":
        return READY, ()
    if message.why == "aborted" and "W19" in program.switches:
        return _cancel(program, local, view)
    agent = _agent(program, view)
    if agent.completion == "assistant":
        return finish(program, view, local.answer, ANSWER_ENTRY)
    return _settled_without_submission(program, local, agent, view, message)


def _settled_without_submission(
    program: Program, local: Engine, agent: Agent, view: View, message: Settled
) -> Result:
    if message.why == "aborted":
        return READY, failure(agent.id, "failed", words.ABORTED)
    if local.nudges >= agent.nudges:
        return READY, failure(agent.id, "failed", words.not_submitted(local.nudges + 1))
    local = local._replace(nudges=local.nudges + 1, ordinal=local.ordinal + 1)
    return send(local, agent, view.run, Kind.REMINDER, words.reminder(program, agent), None)


def finish(program: Program, view: View, answer: Answer | None, entry: Mark) -> Result:
    """Judge the answer of an assistant step and commit how the node ended."""
    agent = _agent(program, view)
    if answer is not None and not answer.text and "W34" in program.switches:
        answer = answer._replace(text=" (nothing)")
    verdict = completion.judge(agent, Scope(program, view.run), answer, entry)
    if isinstance(verdict, completion.Rejected):
        return READY, failure(agent.id, "failed", verdict.error)
    payload: Payload = (
        ("conversation", (verdict.range)),
        ("durationMs", ELAPSED),
        ("outcome", "ok"),
        ("output", completion.as_json(verdict.text)),
        ("receipt", verdict.receipt),
    )
    finished = Event("node", "node_finished", agent.id, CURRENT, payload)
    return READY, (Commit((finished,)), Disarm())


# --- what people and the clock do ---------------------------------------------------------------------------


def _cancel(program: Program, local: Engine, view: View) -> Result:
    """The run ends at once; its turn is aborted and a prompt that was not sent is withdrawn."""
    position = view.position
    if position.status in FINAL:
        return local, ()
    events = [Event("run", "run_cancelled")]
    if position.phase == "started":
        events.insert(0, node_failed(position.node, "cancelled", words.CANCELLED))
    commit = Commit((*decisions.withdrawn(view.run.request, position.node), *events))
    called = (Withdraw(),) if local.phase == effects.CALLING else ()
    if "W26" in program.switches:
        return OVER_STATE, (commit, Disarm(), *called)
    if "W31" in program.switches and local.phase == "sending":
        return OVER_STATE, (commit, Disarm(), *called)
    late = turns.taken_back(program)
    return OVER_STATE, (commit, Disarm(), *called, Tell("loop", Abort(CURRENT)), *late)


def _timeout(program: Program, local: Engine, view: View, message: Timeout) -> Result:
    """The attempt used up its time: the node ends so, and its turn is aborted."""
    if message.attempt != CURRENT and "W33" not in program.switches:
        return local, ()
    if local.phase == effects.CALLING:
        return effects.timed_out(program, view)
    if local.phase not in ("pending", "checking"):
        return local, ()
    agent = _agent(program, view)
    timeout = timeout_of(agent.id, agent.timeout, Scope(program, view.run))
    assert timeout is not None, "only a step with a limit has a timer"
    failure = Commit((node_failed(agent.id, "timed_out", words.timed_out(timeout)),))
    # What still checks is not waited for: the call that it checks ends with the turn.
    hangs = local.phase == "checking" and "W09" in program.switches
    abort = () if hangs else (Tell("loop", Abort(CURRENT)),)
    return local._replace(phase="ending"), (failure, Disarm(), *abort)


def _pause(local: Engine, view: View) -> Result:
    """The person wants the run to pause: it is written down, and holds when the step in flight has ended."""
    position = view.position
    if position.status in OVER or position.paused or position.pausing:
        return local, ()
    return local, (Commit((Event("run", "pause_requested"),)),)


def _release(program: Program, local: Engine, view: View) -> Result:
    """After a pause the run goes on where it stood, in the same attempt unless a crash took it."""
    position = view.position
    if position.pausing:
        return local, (Commit((Event("run", "pause_withdrawn"),)),)
    if local.phase != "held":
        return local, ()
    return local._replace(phase="recover"), (Commit((resumed(position),)),)


def resumed(position: Position) -> Event:
    """The event of a run that goes on."""
    payload: Payload = (("replayedSteps", REPLAYED), ("resumeAt", position.node))
    if position.phase == "started":
        payload = (*payload, ("resumedAttemptId", ATTEMPT))
    return Event("run", "run_resumed", payload=payload)


# --- small parts --------------------------------------------------------------------------------------------


def _agent(program: Program, view: View) -> Agent:
    node = program.nodes[view.position.node]
    assert isinstance(node, Agent), "a turn belongs to an agent node"
    return node


def _names(step: StepRef, local: Engine) -> bool:
    """Whether a message of the loop belongs to the prompt that is out."""
    return step.attempt == CURRENT and step.ordinal == local.ordinal
