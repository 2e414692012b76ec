"""Rows as words, and the command that shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.simulator.chat.session_files import session_file
from windtunnel.simulator import cli
from windtunnel.simulator.chat.chunks import decode_chunk
from windtunnel.simulator.chat.parts import ReasoningPart, Row, Step, TextPart, ToolPart
from windtunnel.simulator.chat.reducer import reduce_event
from windtunnel.simulator.chat.transcript import WIDTH, plain, transcript_text
from windtunnel.simulator.chat.view import ViewState


def test_who_said_what() -> None:
    """A191: tools and thoughts stand under their own answer; a step prompt is a card."""
    rows = (
        Row("u", "user", parts=(TextPart("p", "look\nplease"),)),
        Row(
            "a",
            "assistant",
            parts=(
                ReasoningPart("p", "hm", "done"),
                ToolPart("c", "read", "output-available", '{"n":1}', "", '"ok"'),
                TextPart("q", "yes"),
            ),
            status="aborted",
        ),
        Row("s", "user", parts=(TextPart("p", "x" * 999),), step=Step("run", "sum", "a1", "assistant")),
    )
    text = transcript_text(rows)
    assert text.split("\n")[:9] == [
        "user:",
        "    look",
        "    please",
        "",
        "assistant (aborted):",
        "    · hm",
        '    ⚙ read done: {"n":1}',
        '      → "ok"',
        "    yes",
    ]
    assert "▶ run › sum" in text
    assert max(map(len, text.split("\n"))) <= WIDTH + 4


def test_a_terminal_obeys_no_text() -> None:
    """Control characters are written out, half a surrogate too; letters of any script stay."""
    assert plain("a\x1b[2Jb\x9bc\r\ud800é漢\n\t") == "a\\x1b[2Jb\\x9bc\\r\\ud800é漢\n\t"


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The command's exit code, output and messages."""
    code = cli.run(arguments)
    said = capfd.readouterr()
    return code, said.out, said.err


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Rows as text, as JSON, and as a stream that folds to the same rows."""
    file = tmp_path / "session.jsonl"
    file.write_text(session_file(1, 60).text(), encoding="utf-8")
    code, text, said = run(capfd, "import", str(file))
    assert (code, text.startswith("user:\n")) == (0, True)
    assert "rows of a version 3 session" in said
    code, out, _ = run(capfd, "import", str(file), "--json")
    data = json.loads(out)
    assert (code, data["problems"], data["version"]) == (0, [], 3)
    code, stream, _ = run(capfd, "import", str(file), "--events", "--seed", "7")
    state = ViewState()
    for frame in stream.split("\n\n")[:-1]:
        event = decode_chunk(frame + "\n\n")
        assert event is not None
        state = reduce_event(state, event)
    assert [row.id for row in state.rows] == [row["id"] for row in data["rows"]]
    assert (code, state.pending) == (0, ())


def test_what_cannot_be_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A damaged line is told with its number and exit code 1; a missing file is wrong usage; nothing is
    raised.
    """
    file = tmp_path / "session.jsonl"
    file.write_bytes(session_file(1, 20).text().encode() + b"\xff\xfe{\n\x00\n")
    code, _, said = run(capfd, "import", str(file))
    assert code == 1
    assert said.count("session.jsonl:") == 2
    assert run(capfd, "import", str(tmp_path / "nowhere"))[0] == 2
    assert run(capfd, "import", str(tmp_path))[0] == 2
    assert run(capfd, "import", "a\0b")[0] == 2
    (tmp_path / "empty").write_bytes(b"")
    assert run(capfd, "import", str(tmp_path / "empty"))[0] == 1
