"""`run --provider`: a program or a recording as the model, and what is said when it cannot be."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from windtunnel.simulator import cli
from windtunnel.simulator.commands import piping, providing

HELLO = "examples/hello.flow"


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Program = Callable[..., Said]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Program:
    """Run a workflow with a program that is written here."""

    def call(source: str, *more: str, flow: str = HELLO) -> Said:
        file = tmp_path / "model.py"
        file.write_text("import json, os, sys, time\n" + source, "utf-8")
        code = cli.run(["run", flow, "--provider", f"cmd:{sys.executable} {file}", *more])
        sys.stdout.flush()
        return Said(code, *capfd.readouterr())

    return call


EVERY = "for line in sys.stdin:\n    asked = json.loads(line)\n    print(json.dumps({}), flush=True)\n"


def answers(expression: str) -> str:
    return EVERY.format(expression)


def test_a_program_answers(run: Program) -> None:
    """One line in, one line out; the run completes with what it said."""
    said = run(answers('{"says": "From " + asked["node"]}'))
    assert (said.code, said.err) == (0, "")
    assert "output “From greet”" in said.out


def test_a_program_submits_and_corrects_itself(run: Program) -> None:
    """After an output that is refused it is reminded, and asked anew."""
    good = '{"submits": {"kind": "invoice"} if asked["kind"] == "reminder" else {"kind": "?"}}'
    said = run(
        answers(f'{good} if asked["node"] == "read" else {{"says": "Done"}}'), flow="examples/route.flow"
    )
    assert said.code == 0, said.err
    assert "submission refused" in said.out
    assert "reminder prompt" in said.out


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("sys.exit(3)\n", "ended with exit code 3 without an answer"),
        ("os.kill(os.getpid(), 9)\n", "ended by signal 9 without an answer"),
        ("print('Loading…', flush=True)\nsys.stdin.read()\n", "is not understood: it is no JSON: Loading…"),
        ("sys.stdin.readline()\nos.close(1)\ntime.sleep(5)\n", "closed its output without an answer"),
        (
            "sys.stdin.readline()\nsys.stdout.buffer.write(bytes([255, 10]))\nsys.stdout.flush()\n",
            "it is not UTF-8",
        ),
        (answers('{"sais": 1}'), "has no `sais`"),
        (answers('{"says": "x" * 3000}'), "gave an answer of more than 2,000 bytes"),
    ],
)
def test_a_program_that_does_not_answer_is_a_failed_attempt(
    run: Program, monkeypatch: pytest.MonkeyPatch, source: str, why: str
) -> None:
    """It is said why, beside the story and in it; nothing is raised."""
    monkeypatch.setattr(piping, "MAX_LINE", 2_000)
    monkeypatch.setattr(piping, "GOODBYE_S", 0.2)
    said = run(source)
    assert said.code == 1
    assert why in said.err
    assert "The provider failed: the" in " ".join(said.out.split())
    assert "run failed" in said.out
    assert "windtunnel/simulator" not in said.err + said.out


def test_a_program_that_hangs_is_stopped(run: Program) -> None:
    """Its time is over; the process is gone when the command ends."""
    said = run("time.sleep(60)\n", "--patience", "0.2")
    assert said.code == 1
    assert "gave no answer within 0.2 s" in said.err


def test_an_answer_at_the_limit(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as it may be, with its newline."""
    monkeypatch.setattr(piping, "MAX_LINE", 100)
    text = "x" * (100 - len('{"says": ""}\n'))
    assert run(answers(f'{{"says": "{text}"}}')).code == 0
    assert run(answers(f'{{"says": "{text}x"}}')).code == 1


def test_a_program_that_failed_is_started_anew(run: Program, tmp_path: Path) -> None:
    """A failure of one attempt is none of the next: another step meets a fresh program."""
    flow = tmp_path / "two.flow"
    flow.write_text(
        'language 1\nworkflow two {\n input {}\n agent a { prompt "x" expectedOutput assistant }\n'
        ' agent b { prompt "x" expectedOutput assistant }\n'
        " edges { start -> a -> exit done\n a on failed -> b -> exit done }\n}\n",
        "utf-8",
    )
    source = "asked = json.loads(sys.stdin.readline())\nif asked['node'] == 'b':\n"
    source += "    print(json.dumps({'says': 'B'}))\n"
    said = run(source, flow=str(flow))
    assert said.code == 0, said.err
    assert "ended with exit code 0" in said.err


def test_a_recording_answers_and_what_it_leaves_over_is_told(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A visit that never came is named."""
    lines: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": "s"}]
    for number, attempt in enumerate(("a1", "a2")):
        details = {"runId": "r", "nodeId": "greet", "attemptId": attempt, "completion": "assistant"}
        message = {"role": "assistant", "content": [{"type": "text", "text": "Hello!"}], "stopReason": "stop"}
        lines.append(
            {
                "id": f"p{number}",
                "parentId": lines[-1]["id"] if number else None,
                "type": "custom_message",
                "content": "",
                "details": details,
            }
        )
        lines.append({"id": f"m{number}", "parentId": f"p{number}", "type": "message", "message": message})
    file = tmp_path / "session.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert cli.run(["run", HELLO, "--provider", f"recorded:{file}"]) == 0
    told = capfd.readouterr()
    assert "output “Hello!”" in told.out
    assert "visit 2 of greet was never used" in told.err


def test_a_session_file_has_a_limit(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """At the limit it is read, one past it not."""
    monkeypatch.setattr(providing, "MAX_SESSION", 10)
    file = tmp_path / "session.jsonl"
    for size, said in ((10, "no steps of workflows"), (11, "more than 10 bytes")):
        file.write_text("x" * size, "utf-8")
        assert cli.run(["run", HELLO, "--provider", f"recorded:{file}"]) == 2
        assert said in capfd.readouterr().err


def test_a_request_that_a_recording_does_not_answer_is_told(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The run does not complete, and the node is named."""
    details = {"runId": "r", "nodeId": "write", "attemptId": "a1", "completion": "submit"}
    call = {"type": "toolCall", "id": "c", "name": "workflow", "arguments": {"output": {"poem": "Rain."}}}
    message = {"role": "assistant", "content": [call], "stopReason": "toolUse"}
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s"},
        {"id": "p", "parentId": None, "type": "custom_message", "content": "", "details": details},
        {"id": "m", "parentId": "p", "type": "message", "message": message},
    ]
    file = tmp_path / "session.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert cli.run(["run", "examples/draft.flow", "--provider", f"recorded:{file}"]) == 1
    assert "! edit: the session has no visit 1 of edit" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--provider", "gpt"), "no provider 'gpt'"),
        (("--provider", "cmd:"), "needs a program"),
        (("--provider", "cmd:./no/such/model"), "cannot start ./no/such/model: no such file"),
        (("--provider", "cmd:'x"), "cannot read the command"),
        (("--provider", "recorded:nowhere.jsonl"), "cannot read nowhere.jsonl"),
        (("--provider", "recorded:README.md"), "no steps of workflows"),
        (("--provider", "recorded:examples"), "it is no file"),
        (("--provider", "recorded:/dev/zero"), "it is no file"),
        (("--provider", "recorded:a\0b"), "not a usable path"),
        (("--provider", "cmd:x", "--store", "y.db"), "leave --store out"),
        (("--provider", "cmd:x", "--patience", "0"), "--patience"),
    ],
)
def test_wrong_usage(capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    assert cli.run(["run", HELLO, *arguments]) == 2
    assert said in capfd.readouterr().err
