"""Providers: what a model can do, made up from types, examples and validators, or written down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import JsonValue

from windtunnel.compiler.acceptance import Accepted, accept
from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.providers import generated
from windtunnel.simulator.providers.behaviour import (
    SILENCE,
    Behaviour,
    Kind,
    Menu,
    Provider,
    Request,
    Stop,
    Submit,
    Text,
    Turn,
    says,
)
from windtunnel.simulator.providers.generated import GeneratedProvider, answer_of, run_inputs
from windtunnel.simulator.providers.routing import deciding_paths, signature
from windtunnel.simulator.providers.scripted import Line, ScriptedProvider, line_for, unused

TEXT: Any = {"kind": "text", "min": 1}
DIGESTS: Any = {"shape": "s", "behaviour": "b", "presentation": "p"}
READY: Any = {
    "kind": "record",
    "fields": {"status": {"type": {"kind": "literal", "value": "ready"}}, "id": {"type": TEXT}},
}
BLOCKED: Any = {
    "kind": "record",
    "fields": {"status": {"type": {"kind": "literal", "value": "blocked"}}, "why": {"type": TEXT}},
}
STATUS: Any = ["field", ["node", "choose"], "status", False]


def agent(output: Any, **more: Any) -> dict[str, Any]:
    return {
        "nodeType": "agent",
        "prompt": ["const", "Do it."],
        "expectedOutput": output,
        "timeoutMs": 1_000,
        **more,
    }


def submission(of: Any) -> dict[str, Any]:
    return {"kind": "submission", "type": of}


def snapshot(nodes: Mapping[str, Any], **more: Any) -> Snapshot:
    whole: dict[str, Any] = {
        "schema": "windtunnel.snapshot.v1",
        "workflow": "w",
        "revision": 1,
        "digest": "d",
        "digests": DIGESTS,
        "input": {"kind": "record", "fields": {}},
        "exits": {},
        "maxSteps": 10,
        "startAt": "choose",
        "nodes": nodes,
        "edges": [],
        **more,
    }
    return Snapshot.model_validate(whole)


class Environment:
    """What a run holds: the outputs of nodes, and nothing else."""

    def __init__(self, **outputs: JsonValue) -> None:
        self.outputs = outputs

    def node(self, node: str) -> JsonValue:
        return self.outputs.get(node)

    def input(self, mount: str) -> JsonValue:
        return {}

    def exit(self, mount: str, name: str) -> JsonValue:
        return None

    def choice(self, node: str, choice: str) -> JsonValue:
        return None

    def way(self, node: str) -> JsonValue:
        return None

    def result(self, node: str) -> JsonValue:
        return None

    def visits(self, node: str, outcome: str | None) -> JsonValue:
        return 1

    def latest(self, nodes: tuple[str, ...]) -> JsonValue:
        return None

    def let(self, name: str) -> JsonValue:
        return None


def request(
    node: str = "choose", visit: int = 1, max_chars: int | None = None, **outputs: JsonValue
) -> Request:
    return Request(node, visit, Kind.STEP, "Do it.", max_chars, Environment(**outputs))


def submitted(behaviour: Behaviour) -> list[Any]:
    """What a behaviour submits, in order."""
    return [
        json.loads(act.output) for turn in behaviour.turns for act in turn.acts if isinstance(act, Submit)
    ]


MATCHED: Any = {
    "scope": "",
    "from": "choose",
    "subject": STATUS,
    "arms": [
        {"key": "a", "cases": ["ready"], "to": {"exit": "x"}},
        {"key": "b", "cases": ["blocked"], "to": {"exit": "y"}},
    ],
}
UNION: Any = {"kind": "union", "members": [BLOCKED, READY]}


def test_good_behaviour_takes_every_route() -> None:
    """One good behaviour for each case that a match can see, and only one where no match looks."""
    routed = snapshot({"choose": agent(submission(UNION))}, edges=[MATCHED])
    menu = GeneratedProvider(routed).menu(request())
    assert {submitted(behaviour)[0]["status"] for behaviour in menu.quiet} == {"ready", "blocked"}
    unrouted = snapshot({"choose": agent(submission(UNION))})
    assert len(GeneratedProvider(unrouted).menu(request()).quiet) == 1


def test_every_good_behaviour_is_accepted_and_has_no_deviation() -> None:
    routed = snapshot({"choose": agent(submission(UNION))}, edges=[MATCHED])
    node: Any = routed.nodes["choose"]
    menu = GeneratedProvider(routed).menu(request())
    for behaviour in menu.quiet:
        assert behaviour.deviation is None
        (output,) = submitted(behaviour)
        assert isinstance(accept(node.expected_output.type, output), Accepted)
    assert all(behaviour.deviation for behaviour in menu.deviations)


def test_examples_come_first_and_only_if_they_are_valid() -> None:
    examples: Any = [
        ["const", {"status": "ready", "id": "no such plan"}],
        ["const", {"status": "ready"}],
        ["const", {"status": "ready", "id": "mine"}],
    ]
    validate: Any = [
        {
            "require": ["op", "==", ["field", ["var", "output"], "id", False], ["const", "mine"]],
            "message": ["const", "unknown plan"],
        }
    ]
    whole = snapshot({"choose": agent(submission(READY), examples=examples, validate=validate)})
    menu = GeneratedProvider(whole).menu(request())
    assert submitted(menu.quiet[0]) == [{"status": "ready", "id": "mine"}]
    invalid = next(each for each in menu.deviations if each.deviation == "invalid")
    assert submitted(invalid)[0]["id"] != "mine"


def test_ids_of_the_run_are_drawn() -> None:
    """A validator that wants an id of an earlier node is met without an example."""
    known: Any = ["for", ["field", ["var", "c"], "id", False], "c", ["node", "propose"], None]
    validate: Any = [
        {
            "require": ["op", "in", ["field", ["var", "output"], "id", False], known],
            "message": ["const", "unknown id"],
        }
    ]
    nodes = {"choose": agent(submission(READY), validate=validate)}
    menu = GeneratedProvider(snapshot(nodes)).menu(request(propose=[{"id": "small-step"}]))
    assert submitted(menu.quiet[0])[0]["id"] == "small-step"


def test_a_node_for_which_nothing_valid_can_be_made_is_named() -> None:
    validate: Any = [{"require": ["const", False], "message": ["const", "never right"]}]
    menu = GeneratedProvider(snapshot({"choose": agent(submission(READY), validate=validate)})).menu(
        request()
    )
    assert menu.quiet == ()
    assert menu.gap is not None
    assert "never right" in menu.gap
    assert "example" in menu.gap


def test_a_menu_depends_on_what_is_read_and_on_nothing_else() -> None:
    provider = GeneratedProvider(snapshot({"choose": agent(submission(UNION))}, edges=[MATCHED]))
    assert provider.menu(request()) is provider.menu(request(propose=["something else"]))
    assert provider.menu(request()) == GeneratedProvider(provider.snapshot).menu(request())


SUBMIT_DEVIATIONS = {
    "no submission",
    "says nothing",
    "only another tool",
    "cut by length",
    "provider error",
    "retry",
    "abort",
    "stall",
    "invalid",
    "duplicate submission",
    "two submissions in one message",
    "wrong step",
    "stale attempt",
    "text before",
    "text after",
    "obeys a hidden instruction",
}
ASSISTANT_DEVIATIONS = {
    "says nothing",
    "says white space",
    "only thinks",
    "only a tool",
    "tool, then text",
    "too long",
    "cut by length",
    "provider error",
    "retry",
    "abort",
    "stall",
    "submits",
    "updates",
    "obeys a hidden instruction",
}


def test_the_ways_to_go_wrong() -> None:
    """Every misbehaviour that a model is known for is on the menu of the mode it belongs to."""
    assistant = {"kind": "assistant-message", "maxChars": 40}
    provider = GeneratedProvider(snapshot({"choose": agent(submission(READY)), "tell": agent(assistant)}))
    of_submit = provider.menu(request()).deviations
    of_assistant = provider.menu(request("tell", max_chars=40)).deviations
    assert {each.deviation for each in of_submit} >= SUBMIT_DEVIATIONS
    assert {each.deviation for each in of_assistant} >= ASSISTANT_DEVIATIONS
    too_long = next(each for each in of_assistant if each.deviation == "too long")
    assert [len(act.text) for act in too_long.turns[0].acts if isinstance(act, Text)] == [41]


def test_where_everything_is_accepted_nothing_is_called_invalid() -> None:
    menu = GeneratedProvider(snapshot({"choose": agent(submission({"kind": "json"}))})).menu(request())
    assert not {each.deviation for each in menu.deviations} & {"invalid", "invalid, then valid"}


def test_answers_fit_their_limit_and_differ_between_visits() -> None:
    assert answer_of("summary/tell", 1, None) != answer_of("summary/tell", 2, None)
    assert len(answer_of("summary/tell", 1, 5)) == 5
    last = answer_of("tell", generated.MAX_QUIET, None)
    assert answer_of("tell", generated.MAX_QUIET - 1, None) != last
    assert answer_of("tell", generated.MAX_QUIET + 1, None) == last


def test_good_behaviours_are_limited() -> None:
    def menu_of(count: int) -> Menu:
        members = [{"kind": "literal", "value": f"case {at}"} for at in range(count)]
        edge = {**MATCHED, "subject": ["node", "choose"], "arms": [{"key": "a", "to": {"exit": "x"}}]}
        nodes = {"choose": agent(submission({"kind": "union", "members": members}))}
        return GeneratedProvider(snapshot(nodes, edges=[edge])).menu(request())

    assert len(menu_of(generated.MAX_QUIET).quiet) == generated.MAX_QUIET
    assert len(menu_of(generated.MAX_QUIET + 1).quiet) == generated.MAX_QUIET


def test_what_decides_a_route_is_found_through_computes_and_lets() -> None:
    whole = snapshot(
        {
            "choose": agent(submission(READY)),
            "verdict": {"nodeType": "compute", "value": ["record", ["field", "v", STATUS]]},
        },
        edges=[{**MATCHED, "from": "verdict", "subject": ["field", ["let", "short"], "v", False]}],
        lets={"short": ["node", "verdict"]},
    )
    assert deciding_paths(whole, "choose") == (("status",),)
    assert deciding_paths(whole, "verdict") == ((),)
    assert signature({"status": "ready"}, [("status",), ("a", "b")]) == ('"ready"', "null")


def test_inputs_of_a_run_are_the_smallest_and_those_that_take_other_routes() -> None:
    """What no route depends on makes no input of its own; a word that something is compared with does."""
    fields: Any = {
        "topic": {"type": TEXT},
        "note": {"type": TEXT, "optional": True},
        "size": {"type": {"kind": "int", "min": 1, "max": 9}, "hasDefault": True, "default": 3},
    }
    record = {"kind": "record", "fields": fields}
    plain = snapshot({"choose": agent(submission(READY))}, input=record)
    assert run_inputs(plain) == ({"topic": "alpha", "size": 3},)
    routed = snapshot(
        {"choose": agent(submission(READY))},
        edges=[{**MATCHED, "from": "choose", "subject": ["field", ["input", ""], "note", False]}],
        input=record,
    )
    first, *others = run_inputs(routed)
    assert first == {"topic": "alpha", "size": 3}
    notes = [other["note"] for other in others if isinstance(other, dict)]
    assert notes == ["alpha", "ready", "blocked"], "no word, some word, and each that is a case"


def test_an_input_that_cannot_be_made_gives_none() -> None:
    fields: Any = {"never": {"type": {"kind": "int", "min": 2, "max": 1}}}
    whole = snapshot({"choose": agent(submission(READY))}, input={"kind": "record", "fields": fields})
    assert run_inputs(whole) == ()


FIRST, SECOND, ANY = Turn((Text("one"),)), Turn((Text("two"),)), Turn((Text("any"),))
LINES = (Line("tell", (FIRST, SECOND)), Line("tell", (ANY,), visit=2), Line("other", (ANY,)))


def test_a_script_answers_in_order_and_by_visit() -> None:
    provider = ScriptedProvider(LINES)
    asked = request("tell")
    assert provider.menu(asked).quiet[0].turns == (FIRST, SECOND)
    later = Request("tell", 1, Kind.REMINDER, "", None, Environment(), turns_taken=1)
    assert provider.menu(later).quiet[0].turns == (SECOND,)
    assert provider.menu(request("tell", visit=2)).quiet[0].turns == (ANY,)
    assert provider.menu(request("tell", visit=3)).quiet[0].turns == (FIRST, SECOND)


def test_a_request_without_a_line_is_a_gap_or_goes_on() -> None:
    gap = ScriptedProvider(LINES).menu(request("nobody", visit=4)).gap
    assert gap is not None
    assert "visit 4 of nobody" in gap
    used_up = Request("tell", 1, Kind.REMINDER, "", None, Environment(), turns_taken=2)
    assert "only 2 turns" in str(ScriptedProvider(LINES).menu(used_up).gap)
    other = ScriptedProvider((Line("nobody", (ANY,)),))
    assert ScriptedProvider(LINES, otherwise=other).menu(request("nobody")).quiet[0].turns == (ANY,)


def test_lines_that_were_never_used_are_known() -> None:
    assert unused(LINES, [("tell", 1)]) == LINES[1:]
    assert unused(LINES, [("tell", 1), ("tell", 2), ("other", 7)]) == ()
    assert line_for(LINES, "nobody", 1) is None


def test_providers_of_all_kinds_keep_one_protocol() -> None:
    class Mine:
        def menu(self, request: Request) -> Menu:
            return Menu((says("mine", request.prompt),))

    mine = Mine()
    assert isinstance(mine, Provider)
    assert isinstance(ScriptedProvider(()), Provider)
    assert isinstance(GeneratedProvider(snapshot({})), Provider)
    assert mine.menu(request()).quiet[0].turn(0).acts == (Text("Do it."),)
    assert mine.menu(request()).quiet[0].turn(1) is SILENCE


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Turn((Submit(canonical({})),)),
        lambda: Turn((), Stop.TOOL_USE),
        lambda: Turn((), Stop.ERROR),
        lambda: Turn(error="but why"),
        lambda: Turn(retryable=True),
        lambda: Menu(()),
        lambda: Menu((says("a", "x"), says("a", "y"))),
        lambda: says("a", "x").turn(-1),
    ],
)
def test_what_cannot_be_is_refused(wrong: Any) -> None:
    with pytest.raises(AssertionError):
        wrong()
