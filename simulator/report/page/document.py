"""A run as one HTML page: no network, no other file, the same bytes for the same run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, NamedTuple

from windtunnel.compiler.drawing.page import colours, embedded
from windtunnel.compiler.drawing.svg import text
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.report.folding import folded
from windtunnel.simulator.report.page.graph import graph_of
from windtunnel.simulator.report.page.holdings import holdings
from windtunnel.simulator.report.page.lanes import DURABLE, LANES, SELDOM, Moment, moments
from windtunnel.simulator.report.page.places import NO_TEXTS, Texts
from windtunnel.simulator.report.page.transcript import transcript
from windtunnel.simulator.report.page.visits import quiet_visits
from windtunnel.simulator.report.story import Mood, moment, named, story, told
from windtunnel.simulator.report.verdicts import again as test_again
from windtunnel.simulator.report.verdicts import value_text
from windtunnel.simulator.scenario.verdict import Verdict
from windtunnel.simulator.simulation import Film, Run

MAX_PAYLOAD: Final = 20_000
"""Code points of one value of a payload that the page holds."""

MAX_TOLD: Final = 400
"""Code points of one line."""


class Break(NamedTuple):
    """Something that is wrong: the line of the trace that it shows at, what, and where it was written.

    `values` are parts of it with what they were then, a line each.
    """

    seq: int
    text: str
    where: str = ""
    values: tuple[str, ...] = ()


class Subject(NamedTuple):
    """What a page is about. `again` is a command; `notes` stand below the title."""

    snapshot: Snapshot
    film: Film | None
    events: Sequence[Mapping[str, Any]]
    session: Sequence[dict[str, Any]]
    texts: Texts
    title: str
    ended: str
    good: bool
    breaks: tuple[Break, ...] = ()
    notes: tuple[str, ...] = ()
    again: str = ""


def of_run(
    run: Run, snapshot: Snapshot, texts: Texts = NO_TEXTS, *, again: str = "", notes: tuple[str, ...] = ()
) -> Subject:
    """A run or a counterexample."""
    breaks = tuple(Break(len(run.events), f"{one.invariant}: {one.message}") for one in run.violations)
    ended = f"the run is {run.status}" + (f", by exit {run.exit}" if run.exit else "")
    if run.violations:
        ended = f"broken: {', '.join(one.invariant for one in run.violations)}"
    title = f"{snapshot.workflow} revision {snapshot.revision}"
    gaps = tuple(f"{node}: {why}" for node, why in run.gaps.items())
    good = not breaks and run.status in ("completed", "waiting")
    return Subject(
        snapshot, run.film, run.events, run.session, texts, title, ended, good, breaks, (*notes, *gaps), again
    )


def of_verdict(verdict: Verdict, snapshot: Snapshot, texts: Texts = NO_TEXTS) -> Subject:
    """A scenario."""
    breaks = tuple(
        Break(
            one.seq,
            f"{one.text}: {one.message}" if one.text else one.message,
            str(one.where),
            tuple(f"{name} = {value_text(value)}" for name, value in one.values),
        )
        for one in verdict.broken
    )
    ended = {"passed": "as expected", "failed": "not as expected", "refused": "not simulated yet"}
    title, note = verdict.scenario.title, f"a scenario for {snapshot.workflow} revision {snapshot.revision}"
    said = ended[verdict.status.value]
    again = test_again(verdict)
    return Subject(
        snapshot,
        verdict.film,
        verdict.events,
        verdict.session,
        texts,
        title,
        said,
        verdict.passed,
        breaks,
        (note,),
        again,
    )


def html_report(subject: Subject) -> bytes:
    """The page, UTF-8."""
    parts = {
        "TITLE": text(subject.title),
        "STYLE": colours() + _resource("run.css"),
        "GRAPH": graph_of(subject.snapshot),
        "STORY": text(story(folded(list(subject.events), keep_last=bool(subject.breaks)))),
        "DATA": embedded(_data(subject)),
        "SCRIPT": _resource("run.js"),
    }
    head, *rest = _resource("run.html").split("{{")
    made = [head]
    for piece in rest:
        name, _, tail = piece.partition("}}")
        made += [parts[name], tail]
    # Half a surrogate pair, which JSON can hold, has no bytes of its own.
    return "".join(made).encode("utf-8", "backslashreplace")


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _data(subject: Subject) -> dict[str, Any]:
    """Everything that the script shows."""
    rows = moments(subject.film, subject.events) if subject.film is not None else []
    lanes = [lane for lane in LANES if lane not in SELDOM or any(_touches(row, lane) for row in rows)]
    held = holdings(subject.film, rows, subject.session) if subject.film is not None else []
    return {
        "ended": subject.ended,
        "good": subject.good,
        "notes": list(subject.notes),
        "again": subject.again,
        "breaks": [[_row_of(rows, one.seq), one.text, one.where, list(one.values)] for one in subject.breaks],
        "lanes": [[lane, lane in DURABLE] for lane in lanes],
        "rows": [_row(row) for row in rows],
        "visits": [list(visit) for visit in quiet_visits(rows)],
        "holdings": [one.to_json() for one in held],
        "chat": [seen.to_json() for seen in transcript(rows, subject.session)],
        "files": dict(subject.texts.files),
        "places": {name: list(place) for name, place in subject.texts.places.items()},
    }


def _touches(row: Moment, lane: str) -> bool:
    return any(lane in (arrow.source, arrow.target) for arrow in row.arrows)


def _row_of(rows: Sequence[Moment], seq: int) -> int:
    """The row of a line of the trace; the last one for a line that there is not."""
    return next((at for at, row in enumerate(rows) if row.lines >= seq), max(len(rows) - 1, 0))


def _row(row: Moment) -> dict[str, Any]:
    """One row; what is empty is left out."""
    event = row.event
    made: dict[str, Any] = {"t": moment(row.at_ms), "w": [list(arrow) for arrow in row.arrows]}
    if row.mood is not Mood.PLAIN:
        made["m"] = row.mood.value
    if event is None:
        return made | {"k": row.name, "x": row.told[:MAX_TOLD]}
    made |= {"q": event["seq"], "k": named(event), "x": told(event)[:MAX_TOLD], "y": event["type"]}
    made |= {"p": event["process"], "j": {key: _bounded(value) for key, value in event["payload"].items()}}
    about = {
        "n": event.get("nodeId") or event["payload"].get("mountPath"),
        "a": event.get("attemptId"),
        "c": event["causes"],
    }
    return made | {key: value for key, value in about.items() if value}


def _bounded(value: Any) -> Any:
    """A value as the page holds it; what is too long is cut, and text then."""
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(told) <= MAX_PAYLOAD else told[:MAX_PAYLOAD] + "…"
