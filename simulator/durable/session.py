"""The session log of one run: entries with absolute ids, and what handlers can see of them.

The fold that exploration keeps forgets as it goes; here it is made again from the entries, so that recovery
sees on a real file what it sees in the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from windtunnel.compiler.canonical import CanonicalError, canonical, parse_json
from windtunnel.simulator.chat import log as logs
from windtunnel.simulator.chat.log import Log
from windtunnel.simulator.durable.lines import attempts_of
from windtunnel.simulator.events import CURRENT, Record, Row
from windtunnel.simulator.outside import Applied
from windtunnel.simulator.store.interface import StoreRefused
from windtunnel.simulator.store.records import Line
from windtunnel.simulator.store.values import ROOM, sha256

KINDS: Final = frozenset({"session", "step", "user", "queued", "assistant", "tool", "notice"})


class ForeignLog(StoreRefused):
    """The session log and the store do not belong together; the message says how to mend that."""


class Session(Protocol):
    """A session log: what stands in it, whether its end is torn, and the two ways to change it."""

    @property
    def entries(self) -> tuple[dict[str, Any], ...]:
        """What was in it when it was opened; raises StoreRefused for a damaged log."""
        ...

    @property
    def torn(self) -> bool:
        """Whether its last line was not finished when it was opened."""
        ...

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Entries, handed over in one write and synced."""
        ...

    def repair(self) -> None:
        """Cut a torn last line off."""
        ...


class Ledger(Protocol):
    """What the world outside remembers: each application of an effect, in order, whoever died meanwhile."""

    @property
    def done(self) -> tuple[Mapping[str, Any], ...]:
        """Every application: `{name, key?, output}`."""
        ...

    def apply(self, entry: Mapping[str, Any]) -> None:
        """One more, for good."""
        ...


def remembered(done: Iterable[Mapping[str, Any]]) -> tuple[Applied, ...]:
    """The applications that another call of the same name and key would meet."""
    return tuple(sorted({Applied(one["name"], one["key"], one["output"]) for one in done if "key" in one}))


class MemoryLedger:
    """Applications that live as long as their process."""

    def __init__(self) -> None:
        self.done: tuple[Mapping[str, Any], ...] = ()

    def apply(self, entry: Mapping[str, Any]) -> None:
        """One more."""
        self.done = (*self.done, dict(entry))


class MemorySession:
    """A session log that lives as long as its process."""

    def __init__(self, entries: Iterable[dict[str, Any]] = (), torn: bool = False) -> None:
        self.entries = tuple(entries)
        self.torn = torn

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Entries behind the others."""
        assert not self.torn, "an entry behind a torn line would be glued to it"
        self.entries = (*self.entries, *map(dict, entries))

    def repair(self) -> None:
        """Cut a torn last line off."""
        self.torn = False


def text_of(entry: Mapping[str, Any]) -> str:
    """An entry as its line, newline and all."""
    return canonical(dict(entry), ROOM) + "\n"


def whole(data: bytes) -> int:
    """Where the last finished line ends: no newline follows, or a byte that is never written.

    A file that grew when the power was lost may hold zeros where its data did not arrive.
    """
    zero = data.find(b"\0")
    return data.rfind(b"\n", 0, None if zero < 0 else zero) + 1


def read(data: bytes, name: str) -> tuple[tuple[dict[str, Any], ...], int]:
    """The entries in the bytes of a log, and where its last finished line ends.

    What stands behind it was never acknowledged, so it counts as torn even where it could be read. Raises
    StoreRefused for a line in between that is no entry, or out of its place.
    """
    end = whole(data)
    entries: list[dict[str, Any]] = []
    for number, line in enumerate(data[:end].split(b"\n")[:-1], start=1):
        entry = _entry(line)
        if entry is None or not _follows(entry, entries):
            what = f"line {number} is not the entry that belongs there"
            raise StoreRefused(f"{name} is damaged: {what}; put it back as it was, or cancel the run")
        entries.append(entry)
    return tuple(entries), end


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        value = parse_json(line, ROOM)
    except CanonicalError:
        return None
    known = isinstance(value, dict) and value.get("kind") in KINDS and isinstance(value.get("id"), str)
    return value if known and isinstance(value, dict) else None


def _follows(entry: dict[str, Any], before: list[dict[str, Any]]) -> bool:
    """Whether an entry continues the log: it names the one before it as its parent."""
    parent = before[-1]["id"] if before else None
    return bool(entry.get("parentId") == parent and entry["id"] == f"entry-{len(before) + 1}")


def belongs(entries: Iterable[Mapping[str, Any]], runs: Collection[str], attempts: Sequence[str]) -> bool:
    """Whether every prompt in the log is of these runs, of attempts that were started, in their order."""
    named: list[str] = []
    for entry in entries:
        if entry["kind"] == "step":
            if entry.get("runId") not in runs or entry.get("attemptId") not in attempts:
                return False
            named.append(entry["attemptId"])
    places = [attempts.index(attempt) for attempt in named]
    return places == sorted(places)


def refuse_foreign(session: Session, run: str, names: Collection[str], lines: Sequence[Line]) -> None:
    """Raise ForeignLog where a prompt stands in the log that the store knows nothing of."""
    if not belongs(session.entries, names, attempts_of(lines)):
        raise ForeignLog(
            f"the session log holds prompts of {run} that the store does not know of; put the store back as "
            "it was, with its -wal file, or move the log away and resume"
        )


def refuse_shorter(session: Session, run: str, lines: Sequence[Line]) -> None:
    """Raise ForeignLog unless everything that the store knows of stands in the log; for a log that is whole,
    not only the branch of it that somebody looks at.
    """
    lacks = missing(session.entries, lines)
    if lacks is not None:
        raise ForeignLog(
            f"the session log lacks {lacks}, of which the store knows; put the log back as it was, or cancel "
            f"{run}"
        )


def missing(entries: Iterable[Mapping[str, Any]], lines: Iterable[Line]) -> str | None:
    """What the store knows to be in the log, and is not; None if nothing is missing."""
    prompted, answers, notices = set(), {}, 0
    for entry in entries:
        if entry["kind"] == "step":
            prompted.add(entry["attemptId"])
        answers[entry["id"]] = entry.get("text", "")
        notices += entry["kind"] == "notice"
    told = 0
    for line in lines:
        event = line.event
        if event.type == "agent_prompt_sent" and event.attempt not in prompted:
            return f"the prompt of {event.attempt}"
        receipt = event.get("receipt")
        if event.type == "node_finished" and isinstance(receipt, Record):
            said = dict(receipt.fields)
            if sha256(answers.get(said["entryId"], "")) != said["sha256"]:
                return f"the answer {said['entryId']} of {event.attempt}"
        told += event.type == "notification_delivered"
    return "a notification that was delivered" if told > notices else None


def fold(
    entries: Iterable[Mapping[str, Any]],
    attempts: Sequence[str],
    revisited: frozenset[str],
    *,
    delivered: int = 0,
    torn: bool,
) -> Log:
    """What handlers can see of a log: the fold of its entries, with each attempt begun in its place.

    Of the notifications in it the first `delivered` are recorded as such.
    """
    groups: dict[str | None, list[Row]] = {}
    attempt: str | None = None
    notices = 0
    for entry in entries:
        if entry["kind"] == "step":
            attempt = entry["attemptId"]
        notices += entry["kind"] == "notice"
        groups.setdefault(attempt, []).append(row_of(entry))
    log = logs.NEW
    for begun in (None, *attempts):
        if begun is not None:
            log = logs.age(log, revisited)
        for row in groups.get(begun, ()):
            log = logs.append(log, row)
    log = log._replace(noticed=notices > delivered)
    return logs.tear(log) if torn else log


def row_of(entry: Mapping[str, Any]) -> Row:
    """An entry as handlers know it."""
    return Row(
        entry["kind"],
        entry.get("text", ""),
        node=entry.get("nodeId"),
        attempt=CURRENT if entry["kind"] == "step" else None,
        completion=entry.get("completion"),
        prompt=entry.get("prompt"),
        max_chars=entry.get("maxOutputChars"),
        stop=entry.get("stop"),
        calls=tuple(entry.get("calls", ())),
        consumes=entry.get("consumes", False),
    )
