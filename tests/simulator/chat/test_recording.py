"""A session file as a provider: what the model did there, it does again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from windtunnel.compiler import compile_file
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator import simulate
from windtunnel.simulator.chat.recording import NothingRecorded, recorded
from windtunnel.simulator.providers import Call, Stop, Text, Thinking, Turn, submission


def flow(name: str) -> Snapshot:
    compiled = compile_file(f"examples/{name}.flow")
    assert compiled.snapshot is not None
    return compiled.snapshot


class Session:
    """Lines of a session file, one below the other."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": "s"}]

    def add(self, **entry: Any) -> Session:
        number = len(self.lines)
        parent = f"e{number - 1}" if number > 1 else None
        self.lines.append({"id": f"e{number}", "parentId": parent, **entry})
        return self

    def prompt(self, node: str, attempt: str, kind: str = "step", completion: str = "submit") -> Session:
        details = {"runId": "r", "nodeId": node, "attemptId": attempt, "completion": completion, "kind": kind}
        return self.add(type="custom_message", content="…", details=details)

    def model(self, *content: dict[str, Any], stop: str = "stop", **more: Any) -> Session:
        message = {"role": "assistant", "content": list(content), "stopReason": stop, **more}
        return self.add(type="message", message=message)

    def person(self, text: str) -> Session:
        return self.add(type="message", message={"role": "user", "content": text})

    def __str__(self) -> str:
        return "".join(json.dumps(line) + "\n" for line in self.lines)


def says(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def calls(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": "c", "name": tool, "arguments": arguments}


def test_an_answer_is_given_again() -> None:
    """The run says what the session said, whatever it was asked then."""
    session = Session().prompt("greet", "a7", completion="assistant")
    session.model({"type": "thinking", "thinking": "short"}, says("Hello, Ada!"))
    run = simulate(flow("hello"), provider=recorded(str(session), flow("hello")))
    assert (run.status, run.output) == ("completed", "Hello, Ada!")


def test_visits_reminders_and_other_tools() -> None:
    """Attempts are visits, a reminder goes on with its own; a tool and a submission are told apart."""
    session = Session().prompt("write", "a1").model(calls("read", path="x"), stop="toolUse")
    session.model(says("Done."))
    session.prompt("write", "a1", kind="reminder")
    session.model(calls("workflow", step="write", attempt="a1", output={"poem": "Rain."}), stop="toolUse")
    session.prompt("edit", "a2")
    session.model(calls("workflow", step="edit", output={"good": False, "remark": "More."}), stop="toolUse")
    session.prompt("write", "a3").model(calls("workflow", output={"poem": "Rain falls."}), stop="toolUse")
    session.prompt("edit", "a4")
    session.model(calls("workflow", attempt="a1", output={"good": True, "remark": ""}), stop="toolUse")
    session.model(calls("workflow", attempt="a4", output={"good": True, "remark": ""}), stop="toolUse")
    provider = recorded(str(session), flow("draft"))
    assert provider.lines[0].turns == (
        Turn((Call("read", '{"path":"x"}'),), Stop.TOOL_USE),
        Turn((Text("Done."),)),
        Turn((submission({"poem": "Rain."}),), Stop.TOOL_USE),
    )
    run = simulate(flow("draft"), {"topic": "rain"}, provider=provider)
    assert (run.status, run.exit) == ("completed", "printed")
    assert [e["payload"]["kind"] for e in run.events if e["type"] == "agent_prompt_sent"].count(
        "reminder"
    ) == 1
    assert sum(e["type"] == "submission_refused" for e in run.events) == 1


def test_an_error_that_was_asked_again_and_one_that_was_not() -> None:
    """An error before another message is retried, the last one is final and keeps its words."""
    session = Session().prompt("greet", "a1", completion="assistant")
    session.model(stop="error", errorMessage="overloaded").model(stop="error", errorMessage="out of credit")
    turns = recorded(str(session), flow("hello")).lines[0].turns
    assert [(turn.stop, turn.retryable) for turn in turns] == [(Stop.ERROR, True), (Stop.ERROR, False)]
    assert turns[-1].error == "out of credit"


def test_what_a_person_asked_is_no_part_of_the_step() -> None:
    """Replies below a message of the person are left out."""
    session = Session().prompt("greet", "a1", completion="assistant").model(says("Hello."))
    session.person("And you?").model(says("Fine."))
    assert recorded(str(session), flow("hello")).lines[0].turns == (Turn((Text("Hello."),)),)


def test_a_visit_that_is_not_there_is_a_gap() -> None:
    """The run stops and says which request nothing answers."""
    session = (
        Session().prompt("write", "a1").model(calls("workflow", output={"poem": "Rain."}), stop="toolUse")
    )
    run = simulate(flow("draft"), {"topic": "rain"}, provider=recorded(str(session), flow("draft")))
    assert run.status != "completed"
    assert run.gaps == {"edit": "the session has no visit 1 of edit"}


def test_thoughts_are_kept() -> None:
    session = (
        Session()
        .prompt("greet", "a1")
        .model({"type": "thinking", "thinking": "hm"}, says("x"), stop="length")
    )
    turn = recorded(str(session), flow("hello")).lines[0].turns[0]
    assert turn == Turn((Thinking("hm"), Text("x")), Stop.LENGTH)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no steps of workflows at all"),
        ("garbage\n\x00", "no steps of workflows at all"),
        (str(Session().prompt("other", "a1").model(says("x"))), "it has steps of other"),
    ],
)
def test_a_session_without_such_steps_is_refused(text: str, said: str) -> None:
    with pytest.raises(NothingRecorded, match=said):
        recorded(text, flow("hello"))
