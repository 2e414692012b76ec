"""Acts of a script as messages of the model."""

from __future__ import annotations

import pytest

from tests.simulator.scenario.acting import staged
from windtunnel.simulator.providers.behaviour import Call, Stop, Submit, Text, Thinking, Turn
from windtunnel.simulator.scenario.messages import FAILED, messages
from windtunnel.simulator.scenario.script import told


def of(line: str) -> tuple[Turn, ...]:
    """The messages of a line for `greet`."""
    scenario, _ = staged(f"provider {{\ngreet {line}\n}}")
    return messages(scenario.provider[0].turns)


def test_one_turn_is_one_message() -> None:
    assert of('thinks "short", says "Hi.", says "Ada."') == (
        Turn((Thinking("short"), Text("Hi."), Text("Ada."))),
    )


def test_what_is_said_after_a_call_is_said_after_its_result() -> None:
    first, second = of('says "Wait.", calls read({ path: "a" }), calls list({}), says "Hi."')
    assert first == Turn((Text("Wait."), Call("read", '{"path":"a"}'), Call("list")), Stop.TOOL_USE)
    assert second == Turn((Text("Hi."),))


def test_then_begins_a_message() -> None:
    assert of('calls read({}) then calls read({}) then says "Hi."') == (
        Turn((Call("read"),), Stop.TOOL_USE),
        Turn((Call("read"),), Stop.TOOL_USE),
        Turn((Text("Hi."),)),
    )


def test_a_submission_is_a_call() -> None:
    assert of('submits { b: 1, a: 2 } then says "Hi."')[0] == Turn((Submit('{"a":2,"b":1}'),), Stop.TOOL_USE)


@pytest.mark.parametrize(
    ("line", "turn"),
    [
        ("settles", Turn()),
        ("stalls", Turn(stalls=True)),
        ('fails "down"', Turn((), Stop.ERROR, "down")),
        ("fails", Turn((), Stop.ERROR, FAILED)),
        ('retries "busy" then says "Hi."', Turn((), Stop.ERROR, "busy", True)),
        ('says "It was", stops "length"', Turn((Text("It was"),), Stop.LENGTH)),
        ('says "It was", stops "aborted"', Turn((Text("It was"),), Stop.ABORTED)),
        ('says "It was", fails "down"', Turn((Text("It was"),), Stop.ERROR, "down")),
    ],
)
def test_how_a_message_ends(line: str, turn: Turn) -> None:
    assert of(line)[0] == turn


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('says "Hi."', "says “Hi.”"),
        ('thinks "x", says "a\\nb"', "thinks, says “a b”"),
        ("settles", "settles"),
        ("stalls", "stalls"),
        ('fails "down"', "fails: down"),
        ('says "x", stops "length"', "says “x”, stops (length)"),
        ('calls read({}), says "x"', "calls read"),
    ],
)
def test_a_message_is_told_in_a_few_words(line: str, words: str) -> None:
    assert told(of(line)[0]) == words


def test_a_long_message_is_cut() -> None:
    assert told(Turn((Text("x" * 200),))).endswith("…")
    assert len(told(Turn((Text("x" * 200),)))) == 80
