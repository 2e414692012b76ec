"""Session files that look like an agent's: long turns, many tools, dangling calls, repeated texts, a few
branches.
"""

from __future__ import annotations

import json
from typing import Any

from windtunnel.simulator.chat.importing import Splitter

WORDS = ("yes", "go on", "fix the test", "no, the other file", "commit", "why?", "go on")


class FileWriter:
    """Writes one file, the same for the same seed."""

    def __init__(self, seed: int, version: int) -> None:
        self.dice = Splitter(seed)
        self.version = version
        self.lines: list[dict[str, Any]] = []
        self.parent: str | None = None
        self.calls = 0
        self.dangling = 0
        header: dict[str, Any] = {"type": "session", "id": f"session-{seed}", "cwd": "/project"}
        if version > 1:
            header["version"] = version
        self.lines.append(header)

    def add(self, kind: str, **fields: Any) -> str:
        """One more line."""
        line: dict[str, Any] = {
            "type": kind,
            "timestamp": f"2025-01-{1 + self.dice.below(28):02}T00:00:00.000Z",
        }
        name = f"{len(self.lines):08x}"
        if self.version > 1:
            line |= {"id": name, "parentId": self.parent}
            self.parent = name
        self.lines.append(line | fields)
        return name

    def message(self, role: str, content: Any, **fields: Any) -> str:
        """One more message; its time is anything."""
        at = 1_700_000_000_000 + self.dice.below(10_000_000)
        return self.add("message", message={"role": role, "content": content, "timestamp": at} | fields)

    def turn(self, messages: int) -> None:
        """A message of the person and what follows from it."""
        self.message("user", WORDS[self.dice.below(len(WORDS))])
        for number in range(messages):
            last = number == messages - 1
            stop = (
                ("stop", "length", "aborted", "error", "stop", "stop")[self.dice.below(6)]
                if last
                else "toolUse"
            )
            count = 0 if last and stop in ("stop", "length") else 1 + self.dice.below(3)
            if self.dice.below(60) == 0:
                count = 16
            self.answer(stop, count, last)

    def answer(self, stop: str, count: int, last: bool) -> None:
        """A message of the model and the results of its calls."""
        content: list[dict[str, Any]] = []
        if self.dice.below(2):
            content.append({"type": "thinking", "thinking": "let me see " * self.dice.below(5)})
        content.append({"type": "text", "text": f"answer {self.dice.below(9)} " * (1 + self.dice.below(30))})
        calls = []
        for _ in range(count):
            self.calls += 1
            calls.append(f"call_{self.calls}")
            arguments = {"path": f"file{self.dice.below(99)}", "n": None}
            content.append({"type": "toolCall", "id": calls[-1], "name": "read", "arguments": arguments})
        extra = {"errorMessage": "overloaded"} if stop == "error" else {}
        self.message("assistant", content, stopReason=stop, **extra)
        for call in calls:
            if last or self.dice.below(60) == 0:
                self.dangling += 1
                continue
            text = [{"type": "text", "text": "line\n" * self.dice.below(200)}]
            failed = self.dice.below(10) == 0
            self.message("toolResult", text, toolCallId=call, toolName="read", isError=failed)

    def text(self) -> str:
        """The file."""
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines)


def session_file(seed: int, entries: int = 1_000, version: int = 3, branches: bool = False) -> FileWriter:
    """A file of about so many lines."""
    writer = FileWriter(seed, version)
    users: list[str | None] = []
    while len(writer.lines) < entries:
        users.append(writer.parent)
        writer.turn(5 + writer.dice.below(5))
        if writer.dice.below(12) == 0:
            writer.add("compaction", summary="so far so good", tokensBefore=1)
        if writer.dice.below(12) == 0:
            writer.add("model_change", provider="mock", modelId="m")
        if branches and version > 1 and writer.dice.below(6) == 0:
            writer.parent = users[writer.dice.below(len(users))]
            writer.add("branch_summary", fromId="0", summary="the other way")
    return writer
