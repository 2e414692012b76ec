"""The endpoints: what goes down a stream, what is accepted and refused, and who may ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.simulator.serving.servers import Running, running
from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.chunks import BESIDE
from windtunnel.simulator.chat.logfile import read_log
from windtunnel.simulator.chat.reducer import hydrate, reduce_event
from windtunnel.simulator.chat.rows import seen
from windtunnel.simulator.chat.view import ViewState, seen_live
from windtunnel.simulator.serving.bodies import MAX_BODY, MAX_NONCES, MAX_TEXT
from windtunnel.simulator.serving.service import MAX_READERS

FOLLOW = "/api/sessions/main/followup"
COMMAND = "/api/sessions/main/command"


def settled(event: wire.Event) -> bool:
    """Whether an agent run ended."""
    return isinstance(event.body, wire.AgentEnd)


def test_the_stream_is_the_projection_from_the_first_event(tmp_path: Path) -> None:
    """A47, A61, A109: mode first, positions without a gap, no chunk of the transport that speaks for the
    assistant; frames carry their position; fold of the stream == snapshot == cold.
    """
    with running(tmp_path / "chat.jsonl") as server:
        assert server.post("list the files", 1).status == 202
        frames = []
        for name, chunk in server.frames():
            frames.append((name, chunk))
            if chunk["type"] == "data-pi-agent-end":
                break
        events = [chunk["data"] for name, chunk in frames if name]
        assert events[0]["type"] == "pi-mode"
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert [name for name, _ in frames if name] == [f"1.{event['seq']}" for event in events]
        assert all(chunk["type"].startswith("data-") or chunk["type"] in BESIDE for _, chunk in frames)
        view = ViewState()
        for event in server.events(settled):
            view = reduce_event(view, event)
        assert seen_live(view) == seen(server.snapshot()) == seen(server.cold())
        assert [row.role for row in view.rows] == ["user", "assistant", "assistant"]


def test_nothing_is_shown_before_it_is_in_the_log(tmp_path: Path) -> None:
    """A171, S44: when the end of a message arrives, its line stands in the file."""
    with running(tmp_path / "chat.jsonl") as server:
        server.post("hello", 1)
        ends = server.events(lambda event: isinstance(event.body, wire.MessageEnd) and event.seq > 5)
        image = read_log(server.log.read_text())
        assert image.entries[-1].seq >= ends[-1].seq


def test_admission_on_the_wire(tmp_path: Path) -> None:
    """A60, A154, A156, A159: the number of each client without a gap, each nonce once, stable codes."""
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        first = server.post("one", 1)
        assert (first.status, first.data["code"], first.data["expected"]) == (202, "accepted", 2)
        again = server.post("one", 1)
        assert (again.status, again.data["code"], again.data["duplicate"]) == (202, "duplicate", True)
        conflict = server.post("other", 1, nonce="x")
        assert conflict == (409, conflict.data | {"code": "followup_conflict", "expected": 2})
        high = server.post("three", 3)
        assert high == (409, high.data | {"code": "followup_out_of_order", "retryable": True})
        assert server.post("two", 2).data["expected"] == 3
        assert server.post("", 1, client="d").status == 202
        assert [item.text for item in server.snapshot().queue] == ["two", ""]
        assert dict(server.snapshot().expected) == {"c": 3, "d": 2}
        assert server.command("clear", "c2", "never", receipt="k1").data["cleared"] == ["c2"]
        assert server.post("late", 3, nonce="never").data["deleted"] is True
        assert server.command("stop", receipt="k2").data["cleared"] == ["d1"]
        assert server.command("stop", receipt="k2").data["cleared"] == ["d1"]
        assert seen(server.snapshot()) == seen(server.cold())


def test_an_interrupt_is_answered_at_once_and_goes_on(tmp_path: Path) -> None:
    """V37, C26, S41: the answer comes while the next run has not ended."""
    with running(tmp_path / "chat.jsonl", shut=True) as server:
        server.post("one", 1)
        server.post("two", 2)
        assert server.command("interrupt").status == 202
        snapshot = server.snapshot()
        assert (snapshot.activity, snapshot.queue) == ("running", ())
        server.gate.open()
        server.events(lambda event: settled(event) and event.body == wire.AgentEnd("ok", snapshot.turn))
        assert [row.text for row in server.cold().rows if row.role == "user"] == ["one", "two"]


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_browser_keeps_no_history_here(tmp_path: Path, method: str) -> None:
    """A165, A168, S54: the old endpoint is refused with a stable code."""
    with running(tmp_path / "chat.jsonl") as server:
        said = server.ask(method, "/api/sessions/main/messages", [])
        assert (said.status, said.data["code"]) == (409, "history_is_canonical")


POST: dict[str, Any] = {"text": "x", "clientSeq": 1, "clientNonce": "n", "clientId": "c"}
BAD_POSTS: dict[str, Any] = {
    "no JSON": b"{",
    "no object": [],
    "no text": {name: value for name, value in POST.items() if name != "text"},
    "a text that is none": POST | {"text": 1},
    "a text that is too long": POST | {"text": "x" * (MAX_TEXT + 1)},
    "no number": {name: value for name, value in POST.items() if name != "clientSeq"},
    "a number of another kind": POST | {"clientSeq": True},
    "an empty nonce": POST | {"clientNonce": ""},
    "an unknown kind": POST | {"kind": "order"},
}
BAD_COMMANDS: dict[str, Any] = {
    "an unknown wish": {"what": "explode", "receipt": "k"},
    "no receipt": {"what": "stop"},
    "nonces that are none": {"what": "clear", "receipt": "k", "nonces": [1]},
    "too many nonces": {"what": "clear", "receipt": "k", "nonces": ["n"] * (MAX_NONCES + 1)},
}


def test_what_cannot_be_used_is_refused_whole(tmp_path: Path) -> None:
    """Bodies, positions, sessions and origins: a status, a code and a sentence; nothing happened."""
    with running(tmp_path / "chat.jsonl") as server:
        for name, body in BAD_POSTS.items():
            assert server.ask("POST", FOLLOW, body).data["code"] == "bad_request", name
        for name, body in BAD_COMMANDS.items():
            assert server.ask("POST", COMMAND, body).data["code"] == "bad_request", name
        assert server.ask("POST", FOLLOW, b" " * (MAX_BODY + 1)).status == 413
        assert server.ask("GET", "/api/sessions/main/stream?after=x").status == 400
        assert server.ask("GET", "/api/sessions/other/snapshot").status == 404
        assert server.ask("GET", "/api/run", headers={"Host": "evil.example"}).data["code"] == "foreign_host"
        foreign = {"Origin": "http://evil.example"}
        assert server.ask("POST", COMMAND, {}, headers=foreign).data["code"] == "foreign_origin"
        assert server.ask("POST", "/api/run", {"what": "fly"}).status == 400
        assert server.run("cancel").data["code"] == "no_run"
        assert server.snapshot().rows == ()
        # At the limits things are accepted.
        assert server.post("x" * MAX_TEXT, 1).status == 202
        full = {"what": "clear", "receipt": "k", "nonces": ["n"] * MAX_NONCES}
        assert server.ask("POST", COMMAND, full).status == 202


def first_frame(
    server: Running, after: str, headers: dict[str, str] | None = None
) -> tuple[str, dict[str, Any]]:
    """The first frame of a stream behind how the workflow stands."""
    frames = server.frames(after, headers)
    next(frames)
    name, chunk = next(frames)
    frames.close()
    return name, chunk


def test_a_cursor_is_continued_or_told_why_not(tmp_path: Path) -> None:
    """V27, V28, F33, F34: `Last-Event-ID` goes on without a seam; behind the window, ahead, and of another
    epoch start anew with the reason.
    """
    with running(tmp_path / "chat.jsonl", replay_limit=10, heartbeat_s=0.05) as server:
        last = server.talk("hello", 1).seq
        name, _ = first_frame(server, "1.0", {"Last-Event-ID": f"1.{last - 2}"})
        assert name == f"1.{last - 1}"
        _, gap = first_frame(server, "1.2")
        assert gap["data"] == {"code": "replay_gap", "latest": last, "first": last - 9}
        _, ahead = first_frame(server, f"1.{last + 1}")
        assert ahead["data"]["code"] == "cursor_ahead"
        _, other = first_frame(server, f"7.{last}")
        assert other["data"]["code"] == "epoch_changed"
        _, quiet = first_frame(server, f"1.{last}")
        assert quiet == {"type": "data-pi-heartbeat", "data": {"epoch": 1, "seq": last}}


def test_a_reader_that_takes_too_little_is_cut_off(tmp_path: Path) -> None:
    """C42: its stream ends with the reason, and it starts anew from a snapshot; others are not held up."""
    with running(tmp_path / "chat.jsonl", backlog_limit=1) as server:
        frames = server.frames("1.1")
        next(frames)
        server.post("hello", 1)
        assert [chunk for _, chunk in frames][-1] == {"type": "error", "errorText": "slow_subscriber"}
        snapshot = server.snapshot()
        assert seen_live(hydrate(ViewState(), snapshot)) == seen(snapshot)


def test_streams_are_bounded(tmp_path: Path) -> None:
    """At the limit a stream is open; one past it is told so."""
    with running(tmp_path / "chat.jsonl") as server:
        open_ones = [server.frames() for _ in range(MAX_READERS)]
        assert all(next(frames)[1]["type"] == "data-run" for frames in open_ones)
        assert next(server.frames())[1]["errorText"] == "too_many_readers"
        for frames in open_ones:
            frames.close()


def test_the_page_and_its_files(tmp_path: Path) -> None:
    """The page asks nobody but its own server, and says so to the browser."""
    with running(tmp_path / "chat.jsonl") as server:
        page = server.ask("GET", "/")
        assert page.status == 200
        assert '<script type="module" src="/page.js">' in page.data
        for name in ("page.css", "page.js", "tab.js", "reducer.js", "merging.js"):
            text = server.ask("GET", f"/{name}").data
            for word in ("http://", "https://", "innerHTML", "insertAdjacentHTML"):
                assert word not in text
