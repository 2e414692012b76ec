"""A known bug of the conversation, put back in its own small world and hunted there."""

from __future__ import annotations

import json
from typing import Any, Final

from windtunnel.simulator.chat.chunks import kind_of
from windtunnel.simulator.chat.faults import CHAT_FAULTS
from windtunnel.simulator.chat.frozen import replace
from windtunnel.simulator.chat.happenings import after_move
from windtunnel.simulator.chat.hunting import Hunt
from windtunnel.simulator.chat.network import Move, Setting, World, first_world
from windtunnel.simulator.chat.requests import (
    GetSnapshot,
    OpenStream,
    PostCommand,
    PostMessage,
    Request,
    StreamEvent,
    StreamMessage,
)
from windtunnel.simulator.chat.small_worlds import SMALL_WORLDS, hunt_fault
from windtunnel.simulator.chat.transcript import plain
from windtunnel.simulator.commands.console import FINDINGS, leave, show

MOST_STATES: Final = 50_000
"""Conversations that are looked at when nobody says how many."""

DEVIATIONS: Final = {
    "reorder": "something jumps the queue",
    "drop": "it is lost",
    "delay": "it comes much later",
    "duplicate": "it comes twice",
    "disconnect": "the connection breaks",
    "crash": "the server dies",
    "append": "the disk refuses",
    "reload": "the page is loaded again",
    "timeout": "a tab gives up too soon",
}
"""What a deviation is, in words."""


def hunt_in_conversation(fault: str, states: int | None, *, as_json: bool) -> None:
    """Hunt a seeded fault and, in the same world, the sound system; ends with 1 when something breaks."""
    most = MOST_STATES if states is None else states
    found, sound = hunt_fault(fault, fault, most), hunt_fault(None, fault, most)
    if as_json:
        show(json.dumps(hunt_json(fault, found, sound), indent=2, ensure_ascii=False) + "\n")
    else:
        show(hunt_text(fault, found, sound))
    if found.finding is not None or sound.finding is not None:
        leave(FINDINGS)


def hunt_json(fault: str, found: Hunt, sound: Hunt) -> dict[str, Any]:
    """What both searches saw."""
    return {
        "fault": fault,
        "what": CHAT_FAULTS[fault],
        "deviations": SMALL_WORLDS[fault].budget,
        "found": searched(found),
        "sound": searched(sound),
    }


def searched(hunt: Hunt) -> dict[str, Any]:
    """What one search saw; `complete` says that it saw every conversation within its bounds."""
    said: dict[str, Any] = {
        "states": hunt.states,
        "transitions": hunt.transitions,
        "complete": hunt.complete,
        "violation": None,
    }
    if hunt.finding is not None:
        said["violation"] = {
            "property": hunt.finding.problem.property,
            "message": hunt.finding.problem.message,
            "choices": list(hunt.finding.choices),
            "moves": [str(move) for move in hunt.finding.path],
        }
    return said


def told(setting: Setting, fault: str, path: tuple[Move, ...]) -> list[str]:
    """The moves of a run, one line each; what costs something is marked."""
    world, lines = first_world(replace(setting, faults=frozenset({fault}))), []
    for number, move in enumerate(path, start=1):
        cost = "" if move.kind is None else f" — {DEVIATIONS[move.kind]}"
        lines.append(f"{' ' if move.kind is None else '!'} {number:3}  {plain(described(world, move))}{cost}")
        world = after_move(world, move)
    return lines


def described(world: World, move: Move) -> str:
    """What a move does, in the world before it."""
    place = move.place
    match move.what.split(" ")[-1]:
        case "request":
            number, request = world.requests[place]
            return f"tab {number}: {asked(request)}"
        case "answer" if move.what != "no answer":
            number, answer = world.answers[place]
            return f"tab {number}: answered {answer.status} {answer.code}"
        case "stream" if move.what != "no stream":
            stream = world.streams[place]
            return f"tab {stream.tab}: hears {heard(stream.messages[0])}"
        case "act":
            act = world.setting.acts[world.act]
            words = f" “{act.text}”" if act.text else ""
            return f"tab {act.tab}: the person wants {act.what}{words}"
        case "model":
            return f"the model: {type(world.calls[place].script[0]).__name__}"
        case "tool":
            return f"the tool {world.tools[place][1].name} ends"
        case "timer":
            return f"the time of {world.timers[place][0]} is up"
        case "late":
            return f"tab {world.late[place].tab}: what was late comes"
        case _:
            return f"{move.what}, number {place}"


def asked(request: Request) -> str:
    """A request in words."""
    match request:
        case PostMessage(item=item):
            return f"posts “{item.text}” as number {item.number}"
        case PostCommand(what=what):
            return f"says {what}"
        case OpenStream(cursor=cursor):
            return f"follows the stream after {cursor.epoch}.{cursor.seq}"
        case GetSnapshot():
            return "asks for the history"
        case _:
            return type(request).__name__


def heard(message: StreamMessage) -> str:
    """A message of a stream in words."""
    if isinstance(message, StreamEvent):
        return f"{kind_of(message.event.body)} at {message.event.epoch}.{message.event.seq}"
    return type(message).__name__


def hunt_text(fault: str, found: Hunt, sound: Hunt) -> str:
    """The same in words: what broke, how it came to that, and that it does not without the bug."""
    budget = SMALL_WORLDS[fault].budget
    bounds = f"{budget} deviation{'' if budget == 1 else 's'} at most"
    lines = [f"{fault}: {CHAT_FAULTS[fault]}", ""]
    if found.finding is None:
        lines.append(f"✓ nothing broke in {found.states:,} states, with {bounds}")
    else:
        lines += [f"✗ {found.finding.problem.property}"]
        lines += [f"  {plain(line)}" for line in found.finding.problem.message.splitlines()]
        lines += [f"  after {found.states:,} states, with {bounds}", "", "How it comes to that:", ""]
        lines += told(SMALL_WORLDS[fault].setting, fault, found.finding.path)
    lines.append("")
    if sound.finding is None and sound.complete:
        lines.append(f"✓ without the bug the whole world holds: {sound.states:,} states, {bounds}")
    elif sound.finding is None:
        lines.append(f"  without the bug nothing broke in the {sound.states:,} states that were looked at")
    else:
        lines.append(f"✗ without the bug it breaks as well: {sound.finding.problem.property}")
    return "\n".join(lines) + "\n"
