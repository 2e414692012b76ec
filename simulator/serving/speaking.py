"""What the simulated model and its tools say: to a person, from the words; to a step, as a provider behaves.

Everything follows from what stands in the conversation, so a restarted server says the same.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from windtunnel.simulator.chat.parts import Json, Row, json_text, json_value
from windtunnel.simulator.chat.turns import (
    Content,
    ModelDelta,
    ModelDone,
    ModelFailed,
    ModelPartEnd,
    RunTool,
    ToolDone,
)
from windtunnel.simulator.providers.behaviour import Addressed, Call, Submit, Text, Thinking, Turn, Update

Words: TypeAlias = tuple[ModelDelta | ModelPartEnd | ModelDone | ModelFailed, ...]
"""What the model says to one call, piece by piece; the number of the call is filled in when it is said."""

MOST_PIECES: Final = 120
"""Pieces of one text; a longer text comes in longer pieces."""

WORKFLOW_TOOL: Final = "workflow"
"""The tool with which a model submits and publishes."""

FILES: Final = {
    "README.md": "# A project\n\nNothing in it is real.",
    "package.json": '{\n  "name": "a-project",\n  "private": true\n}',
    "src/main.ts": "console.log('hello');",
}
"""What the simulated tools find."""

OPENS: Final = re.compile(r"\bopen\s+(\S+)", re.IGNORECASE)
LISTS: Final = re.compile(r"\blist\b.*\bfiles\b", re.IGNORECASE | re.DOTALL)
PIECE: Final = re.compile(r"\s*\S+|\s+")


def asked_last(rows: tuple[Row, ...]) -> tuple[Row | None, int]:
    """The user row that the model answers, and how many messages it has sent since."""
    sent = 0
    for row in reversed(rows):
        if row.role == "user":
            return row, sent
        sent += 1
    return None, sent


def in_pieces(text: str) -> list[str]:
    """A text word by word, or in at most MOST_PIECES pieces."""
    words = PIECE.findall(text)
    size = -(-len(words) // MOST_PIECES) or 1
    return ["".join(words[start : start + size]) for start in range(0, len(words), size)]


def spoken(contents: tuple[Content, ...], stop: str) -> Words:
    """A message, streamed."""
    words: list[ModelDelta | ModelPartEnd | ModelDone] = []
    for index, content in enumerate(contents):
        pieces = [content.text] if content.kind == "tool" else in_pieces(content.text)
        words += [ModelDelta(0, index, content.kind, piece, content.tool, content.name) for piece in pieces]
        words.append(ModelPartEnd(0, index, content.text if content.kind == "tool" else "{}"))
    return (*words, ModelDone(0, contents, stop))


def says(text: str, thought: str = "") -> Words:
    """A text, after a thought if there is one."""
    thoughts = (Content("reasoning", thought),) if thought else ()
    return spoken((*thoughts, Content("text", text)), "stop")


def calls(name: str, given: Json, before: str) -> Words:
    """A text, then a call."""
    call = Content("tool", json_text(given), f"call-{name}", name)
    return spoken((Content("text", before), call), "toolUse")


def broken(text: str, error: str, *, retryable: bool = False) -> Words:
    """Some words, then the call breaks off."""
    deltas = tuple(ModelDelta(0, 0, "text", piece) for piece in in_pieces(text))
    return (*deltas, ModelFailed(0, error, retryable))


def reply(text: str, sent: int) -> Words:
    """What is said to a person, after `sent` messages in the same turn."""
    opened = OPENS.search(text)
    if opened is not None:
        path = opened[1].strip("`'\".,;")
        if sent == 0:
            return calls("open_file", {"path": path}, f"I open {path}.")
        return says(f"{path} is open above.")
    if LISTS.search(text):
        if sent == 0:
            return calls("list_files", {"path": "."}, "I look at the files.")
        return says(f"There are {len(FILES)} files: {', '.join(FILES)}.")
    if text.startswith("/flaky") and sent == 0:
        return broken("One moment", "the model is overloaded", retryable=True)
    if text.startswith("/fail"):
        return broken("This will not", "the model is not available")
    words = " ".join(text.split())
    return says(
        f"You said: “{words}”. I am a simulated model, so this answer is made of your own words.",
        "There is nothing to look up here. I answer at once.",
    )


def turn_words(turn: Turn) -> Words:
    """One turn of a provider's behaviour, streamed; nothing for one that stalls."""
    if turn.stalls:
        return ()
    contents: list[Content] = []
    for act in turn.acts:
        match act:
            case Text(text):
                contents.append(Content("text", text))
            case Thinking(text):
                contents.append(Content("reasoning", text))
            case Call(tool, arguments):
                contents.append(Content("tool", arguments, f"call-{tool}", tool))
            case Submit(output, addressed):
                given = json_text({"submit": json_value(output), "addressed": addressed.value})
                contents.append(Content("tool", given, "call-workflow", WORKFLOW_TOOL))
            case Update(key, data):
                given = json_text({"key": key, "data": json_value(data)})
                contents.append(Content("tool", given, "call-workflow", WORKFLOW_TOOL))
    if turn.error is not None:
        said = tuple(
            ModelDelta(0, index, each.kind, each.text, each.tool, each.name)
            for index, each in enumerate(contents)
        )
        return (*said, ModelFailed(0, turn.error, turn.retryable))
    return spoken(tuple(contents), turn.stop.value)


def submitted(given: str) -> Submit | Update:
    """What a call of the workflow tool says; `given` is its input as JSON."""
    data = json_value(given)
    if "submit" in data:
        return Submit(json_text(data["submit"]), Addressed(data["addressed"]))
    return Update(data["key"], json_text(data["data"]))


def tool_result(run: RunTool) -> ToolDone:
    """What a tool gives back."""
    given = json_value(run.input)
    path = given.get("path") if isinstance(given, dict) else None
    output: object = "ok"
    if run.name == "list_files":
        output = sorted(FILES)
    elif run.name == "open_file":
        if path not in FILES:
            return ToolDone(run.message, run.call, json_text(f"there is no file {path}"), True)
        output = FILES[path]
    return ToolDone(run.message, run.call, json_text(output))
