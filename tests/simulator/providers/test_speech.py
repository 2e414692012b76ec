"""Requests and answers as lines of JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windtunnel.compiler import compile_file
from windtunnel.simulator import simulate
from windtunnel.simulator.providers import (
    Behaviour,
    Call,
    Menu,
    Provider,
    Request,
    Stop,
    Submit,
    Text,
    Thinking,
    Turn,
)
from windtunnel.simulator.providers.speech import (
    MAX_CALLS,
    MAX_TURNS,
    NotUnderstood,
    answer,
    request_line,
)


def test_a_request_is_one_line() -> None:
    """Everything that a model may know, on one line, also where the prompt has several."""
    asked: list[Request] = []

    class Listens:
        def menu(self, request: Request) -> Menu:
            asked.append(request)
            return Menu((Behaviour("answers", (Turn((Text("Hi"),)),)),))

    compiled = compile_file("examples/hello.flow")
    assert compiled.snapshot is not None
    assert isinstance(Listens(), Provider)
    simulate(compiled.snapshot, {"name": "A\nB"}, provider=Listens())
    line = request_line(asked[0])
    assert "\n" not in line
    read = json.loads(line)
    assert read["prompt"].startswith("Greet A\nB in English.")
    assert {key: read[key] for key in sorted(set(read) - {"prompt"})} == {
        "kind": "step",
        "maxChars": 200,
        "node": "greet",
        "turnsTaken": 0,
        "visit": 1,
    }


@pytest.mark.parametrize(
    ("line", "turns"),
    [
        ('{"says": "Hi"}', (Turn((Text("Hi"),)),)),
        ('{"says": "Hi", "thinks": "short"}', (Turn((Thinking("short"), Text("Hi"))),)),
        ('{"submits": {"b": 1, "a": 2}}', (Turn((Submit('{"a":2,"b":1}'),), Stop.TOOL_USE),)),
        ('{"calls": {"tool": "read"}}', (Turn((Call("read"),), Stop.TOOL_USE),)),
        (
            '{"turns": [{"calls": [{"tool": "read", "arguments": [1]}]}, {"says": "Hi"}]}',
            (Turn((Call("read", "[1]"),), Stop.TOOL_USE), Turn((Text("Hi"),))),
        ),
        ('{"fails": "busy"}', (Turn((), Stop.ERROR, error="busy"),)),
    ],
)
def test_what_an_answer_says(line: str, turns: tuple[Turn, ...]) -> None:
    assert answer(line) == Behaviour("answers", turns)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "no JSON"),
        ("hello", "no JSON: hello"),
        ("x" * 200, "x…"),
        ("[" * 100_000, "no JSON"),
        ("NaN", "no JSON"),
        ('{"says": "\\ud800"}', "no JSON"),
        ("[1]", "no JSON object"),
        ("{}", "at least one word"),
        ('{"turns": []}', "list of 1 to 100"),
        ('{"turns": 1}', "list of 1 to 100"),
        ('{"turns": [1]}', "a message is an object"),
        ('{"say": "Hi"}', "no `say`"),
        ('{"says": 1}', "`says` takes a text"),
        ('{"fails": null}', "`fails` takes a text"),
        ('{"fails": "x", "says": "y"}', "stands alone"),
        ('{"calls": []}', "1 to 100 calls"),
        ('{"calls": {"name": "read"}}', "a call is"),
        ('{"calls": {"tool": "read", "x": 1}}', "a call is"),
    ],
)
def test_what_is_no_answer(line: str, said: str) -> None:
    """Told in a short sentence, on one line."""
    with pytest.raises(NotUnderstood) as told:
        answer(line)
    assert said in str(told.value)
    assert len(str(told.value)) < 150
    assert "\n" not in str(told.value)


def test_limits() -> None:
    """At the limit and one past it."""

    def turns(count: int) -> str:
        return json.dumps({"turns": [{"says": "x"}] * count})

    def calls(count: int) -> str:
        return json.dumps({"calls": [{"tool": "t"}] * count})

    assert len(answer(turns(MAX_TURNS)).turns) == MAX_TURNS
    assert len(answer(calls(MAX_CALLS)).turns[0].acts) == MAX_CALLS
    for line in (turns(MAX_TURNS + 1), calls(MAX_CALLS + 1)):
        with pytest.raises(NotUnderstood):
            answer(line)


@given(
    st.text() | st.recursive(st.none() | st.text(), lambda x: st.dictionaries(st.text(), x)).map(json.dumps)
)
def test_any_line_is_an_answer_or_refused(line: str) -> None:
    """Nothing that a program prints raises anything else."""
    try:
        found: object = answer(line)
    except NotUnderstood as told:
        found = str(told)
    assert found
