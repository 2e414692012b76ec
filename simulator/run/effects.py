"""Actions and shells: said in the store before they are called, judged when they come back.

An effect runs at least once. What tells a repeated call from a second order is the key, which is the same
for every attempt of a visit.
"""

from __future__ import annotations

from typing import Final, cast

from pydantic import JsonValue

from windtunnel.compiler.acceptance import Refused
from windtunnel.compiler.canonical import CanonicalError, canonical, parse_json
from windtunnel.compiler.evaluator import EvaluationError
from windtunnel.simulator.events import (
    CURRENT,
    ELAPSED,
    Action,
    Arm,
    Commit,
    Disarm,
    Event,
    Payload,
    Perform,
    Question,
    Returned,
    Withdraw,
)
from windtunnel.simulator.providers.behaviour import Kind
from windtunnel.simulator.run import words
from windtunnel.simulator.run.completion import as_json
from windtunnel.simulator.run.program import Effect, Program
from windtunnel.simulator.run.state import Run, Scope, visit
from windtunnel.simulator.run.transition import (
    READY,
    Engine,
    Result,
    View,
    failure,
    node_failed,
    timeout_of,
)

CALLING: Final = "calling"
"""The phase of an engine that waits for an effect."""


def call(program: Program, node: Effect, run: Run) -> Result:
    """Say that the effect is called, then call it; what cannot be made fails the node before that."""
    scope = Scope(program, run)
    try:
        argument = as_json(node.argument(scope))
        key = None if node.key is None or "W23" in program.switches else key_of(node.key(scope))
        timeout = timeout_of(node.id, node.timeout, scope)
    except EvaluationError as error:
        return READY, (Commit((node_failed(node.id, "failed", str(error)),)),)
    payload: Payload = (("argument", argument), ("call", node.call))
    payload = payload if key is None else (*payload, ("key", key))
    question = Question(node.id, visit(run, node.id), Kind.EFFECT.value, argument.text)
    actions: list[Action] = [
        Commit((Event("effect", "effect_started", node.id, CURRENT, payload),)),
        Perform(question, node.call, key),
    ]
    if timeout is not None:
        actions.append(Arm(timeout))
    return Engine(CALLING), tuple(actions)


def key_of(value: JsonValue) -> str:
    """An idempotency key is a text."""
    return value if isinstance(value, str) else canonical(value)


def returned(program: Program, local: Engine, view: View, message: Returned) -> Result:
    """The effect came back: its node ends, unless it has ended already."""
    if local.phase != CALLING or message.attempt != CURRENT:
        return local, ()
    node = effect_of(program, view)
    if message.output is None:
        return READY, failure(node.id, "failed", message.error)
    try:
        output = as_json(judge(node, parse_json(message.output)))
    except (EvaluationError, CanonicalError) as error:
        return READY, failure(node.id, "failed", str(error))
    payload: Payload = (("durationMs", ELAPSED), ("outcome", "ok"), ("output", output))
    return READY, (Commit((Event("node", "node_finished", node.id, CURRENT, payload),)), Disarm())


def judge(node: Effect, value: JsonValue) -> JsonValue:
    """The output of the node. Raises EvaluationError for what it does not accept."""
    if node.kind == "shell":
        given = cast("dict[str, JsonValue]", value)
        code = given["exitCode"]
        if code != 0 and not node.any_exit:
            raise EvaluationError(words.exit_code(code, str(given.get("stderr") or "")))
        if node.type is None:
            return value
        try:
            value = parse_json(str(given["stdout"]))
        except CanonicalError as error:
            raise EvaluationError(words.not_returned(str(error))) from None
    assert node.type is not None, "an action has a type"
    verdict = node.type.accept(value)
    if isinstance(verdict, Refused):
        raise EvaluationError(words.not_returned(str(verdict)))
    return verdict.value


def timed_out(program: Program, view: View) -> Result:
    """The effect used up its time; what it still does is not waited for."""
    node = effect_of(program, view)
    timeout = timeout_of(node.id, node.timeout, Scope(program, view.run))
    assert timeout is not None, "only an effect with a limit has a timer"
    error = words.timed_out(timeout)
    return READY, (Commit((node_failed(node.id, "timed_out", error),)), Disarm(), Withdraw())


def effect_of(program: Program, view: View) -> Effect:
    """The node in flight."""
    node = program.nodes[view.position.node]
    assert isinstance(node, Effect), "an effect is called by its node"
    return node
