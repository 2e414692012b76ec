"""What an engine does that finds a run in the store: adopt, resume or send, never do again what is done.

Two transitions, so that a crash can fall between them: `boot` reads the store and says that the run goes on;
`recover` reads the current branch of the session and decides about the step in flight.
"""

from __future__ import annotations

from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.chat.log import Log
from windtunnel.simulator.events import (
    ANSWER_ENTRY,
    CURRENT,
    OLDER_ENTRY,
    Action,
    Commit,
    Emit,
    Event,
    Payload,
)
from windtunnel.simulator.run import words
from windtunnel.simulator.run.claims import PARKED, WATCHING
from windtunnel.simulator.run.decisions import WAITING
from windtunnel.simulator.run.engine import (
    OVER_STATE,
    READY,
    Engine,
    Result,
    View,
    finish,
    resumed,
    send_resume,
    send_step,
)
from windtunnel.simulator.run.program import Agent, Program
from windtunnel.simulator.run.state import FINAL, OVER, fold
from windtunnel.simulator.run.transition import VISIBLE


def mended(program: Program, log: Log) -> Log:
    """The session log without half a line at its end, so that nothing is glued to it."""
    return logs.glue(log) if "W16" in program.switches else logs.repair(log)


def boot(program: Program, view: View) -> Result:
    """The first look at the store; a run is resumed by the very definition that it was begun with."""
    position = view.position
    if view.edited and position.status not in FINAL and "W17" not in program.switches:
        refused = Event("run", "resume_refused", payload=(("reason", words.EDITED),))
        return Engine("refused"), (Emit(refused),)
    if not view.mine and position.status not in FINAL:
        return WATCHING, ()
    if position.parked and view.executor != VISIBLE:
        return PARKED, ()
    if position.status == WAITING:
        return Engine(WAITING), ()
    if position.status in OVER:
        return OVER_STATE, ()
    if position.status == "queued":
        return READY, ()
    if position.paused:
        return Engine("held", cold=True), ()
    forgets = position.pausing and "W24" in program.switches
    lost = (Event("run", "pause_withdrawn"),) if forgets else ()
    return Engine("recover", cold=True), (Commit((resumed(position), *lost)),)


def recover(program: Program, local: Engine, view: View) -> Result:
    """The step in flight, or the route that was not taken yet."""
    position, branch = view.position, view.branch
    assert branch is not None, "recovery reads the current branch"
    if not position.phase or (position.phase == "ended" and "W12" not in program.switches):
        return READY, ()
    node = program.nodes[position.node]
    if not isinstance(node, Agent) or node.completion == "submit":
        if local.cold or position.phase == "ended":
            return _fresh_attempt(program, local, view)
        assert isinstance(node, Agent), "only a turn is ever held in flight"
        if not branch.prompted:
            return send_step(program, _next(local), node, view.run, view.executor)
        return send_resume(program, _next(local), node, view.run)
    answer, entry = branch.answer, ANSWER_ENTRY
    if answer is None and "W03" in program.switches:
        answer = branch.aside
    if answer is None and "W02" in program.switches:
        answer, entry = branch.older, OLDER_ENTRY
    if answer is not None and "W01" not in program.switches:
        return finish(program, view, answer, entry)
    if branch.prompted:
        return send_resume(program, _next(local), node, view.run)
    return send_step(program, local if local.cold else _next(local), node, view.run, view.executor)


def _next(local: Engine) -> Engine:
    """The prompt after the one that was out, so that nothing late is taken for its end."""
    return local._replace(ordinal=local.ordinal + 1)


def _fresh_attempt(program: Program, local: Engine, view: View) -> Result:
    """The interrupted node runs again under a new attempt, in the same visit."""
    node = program.nodes[view.position.node]
    payload: Payload = (("again", True), ("nodeType", node.kind))
    started = Event("node", "node_started", node.id, CURRENT, payload)
    commit: tuple[Action, ...] = (Commit((started,)),)
    if not isinstance(node, Agent):
        return READY, commit
    after, actions = send_step(program, Engine(), node, fold(program, view.run, started), view.executor)
    return after, (*commit, *actions)
