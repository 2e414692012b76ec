"""A film as rows: lanes and arrows, what processes hold, what the person sees, what may be folded."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.simulator.report.subjects import builtin, example, long_run, twice_answered
from windtunnel.simulator import Run, simulate
from windtunnel.simulator.budget import budget
from windtunnel.simulator.choices import Seeded
from windtunnel.simulator.hosting import ALSO, Hosting, hosting
from windtunnel.simulator.report.page.holdings import Holding, holdings
from windtunnel.simulator.report.page.lanes import LANES, Moment, moments
from windtunnel.simulator.report.page.transcript import ANSWER, BESIDE, rows_of_log, transcript
from windtunnel.simulator.report.page.visits import quiet_visits
from windtunnel.simulator.search.exploration import Setup
from windtunnel.simulator.search.exploration import run as run_with

FLOWS = ("hello", "route", "charge", "approve", "draft")


def rows_of(run: Run) -> list[Moment]:
    assert run.film is not None, "a run that was told has a film"
    return moments(run.film, run.events)


def held_by(run: Run) -> dict[tuple[str, str], Holding]:
    assert run.film is not None
    found = holdings(run.film, rows_of(run), run.session)
    return {(one.process, one.name): one for one in found}


def first_run(name: str, wanted: Callable[[Run], bool]) -> Run:
    """The run of the lowest seed that is like that."""
    snapshot, _ = example(name)
    return next(run for run in (simulate(snapshot, seed=seed) for seed in range(300)) if wanted(run))


def has(run: Run, kind: str) -> bool:
    return any(event["type"] == kind for event in run.events)


def styles(row: Moment) -> set[str]:
    return {arrow.style for arrow in row.arrows}


@pytest.mark.parametrize("name", FLOWS)
def test_every_line_and_every_entry_has_its_row(name: str) -> None:
    """The rows hold the trace and the session log whole and in order, whatever goes wrong."""
    snapshot, _ = example(name)
    for seed in range(12):
        run = simulate(snapshot, seed=seed)
        rows = rows_of(run)
        assert [row.event for row in rows if row.event is not None] == list(run.events)
        assert (rows[-1].lines, rows[-1].entries) == (len(run.events), len(run.session)), seed
        for before, after in pairwise(rows):
            assert before.at_ms <= after.at_ms
            assert before.entries <= after.entries
        assert {lane for row in rows for arrow in row.arrows for lane in arrow[:2]} <= set(LANES)
        for row in rows:
            if row.event is not None and row.event["type"] == "crashed":
                assert "dies" in styles(row)


@pytest.mark.parametrize("name", FLOWS)
def test_the_screen_at_the_end_is_the_session_log(name: str) -> None:
    """Live == cold: what is still on the screen is what a host would read from the log."""
    snapshot, _ = example(name)
    for seed in range(12):
        run = simulate(snapshot, seed=seed)
        seen = transcript(rows_of(run), run.session)
        shown = [
            (one.role, one.text, one.state) for one in seen if one.last is None and one.role not in BESIDE
        ]
        answered = [one for one in seen if one.note == ANSWER]
        for one in answered:
            shown.remove((one.role, one.text, one.state))
        expected = [(role, text, state) for role, text, _, state in rows_of_log(run.session)]
        assert [(r, "" if r == "step" else t, s) for r, t, s in shown] == [
            (r, "" if r == "step" else t, s) for r, t, s in expected
        ], seed


def test_a_counterexample_shows_what_the_person_saw_twice() -> None:
    """The second answer stands below the first, after a crash that lost nothing but memory."""
    subject = twice_answered()
    assert subject.film is not None
    rows = moments(subject.film, subject.events)
    seen = transcript(rows, subject.session)
    assert [one.text for one in seen if one.role == "assistant" and one.last is None] == [
        "An answer from greet."
    ] * 2
    crash = next(at for at, row in enumerate(rows) if "dies" in styles(row))
    state = {(one.process, one.name): one for one in holdings(subject.film, rows, subject.session)}
    assert (crash, "down") in state["host", "engine"].values
    streaming = [one for one in seen if one.state == "streaming"]
    assert streaming
    assert all(one.last is not None and not one.first <= crash < one.last for one in streaming)


def test_half_a_row_is_seen_and_mended() -> None:
    """A torn end stands in the state from the crash until the repair."""
    torn = first_run("hello", lambda run: any(event["payload"].get("torn") for event in run.events))
    rows = rows_of(torn)
    at = next(number for number, row in enumerate(rows) if "torn" in styles(row))
    assert rows[at].name == "writes half a row"
    values = held_by(torn)["log", "its end"].values
    assert values[1][0] == at
    assert values[1][1].startswith("torn")
    mended = next(number for number, row in enumerate(rows) if row.name == "repairs the session log")
    assert values[2] == (mended, "")


def test_what_comes_twice_is_marked_as_it_comes_again() -> None:
    """A repeated report has a mark where it is repeated and one where it arrives."""

    def comes_again(run: Run) -> bool:
        return has(run, "duplicated") and sum("again" in styles(row) for row in rows_of(run)) > 1

    rows = rows_of(first_run("route", comes_again))
    repeated, *arrives = [number for number, row in enumerate(rows) if "again" in styles(row)]
    assert rows[repeated].event is not None
    assert arrives[0] > repeated


def test_an_effect_whose_reply_is_lost() -> None:
    """The call was applied, the host died before it heard of it: the arrow back is lost."""
    lost = ("outside", "host", "lost")
    run = first_run("charge", lambda run: any(lost in row.arrows for row in rows_of(run)))
    assert any(("outside", "host", "sends") in row.arrows for row in rows_of(run))
    assert held_by(run)["outside", "applied, with a key"].durable


def test_quiet_visits_fold_and_others_do_not() -> None:
    """Every visit without a fault is folded once; what the run says of itself stays."""
    subject = long_run(10)
    assert subject.film is not None
    rows = moments(subject.film, subject.events)
    visits = quiet_visits(rows)
    assert [visit.node for visit in visits] == ["write", "judge"] * 11 + ["done"]
    assert all(before.last < after.first for before, after in pairwise(visits))
    folded = {at for visit in visits for at in range(visit.first, visit.last + 1)}
    kept = [row.event["type"] for at, row in enumerate(rows) if at not in folded and row.event is not None]
    assert kept == ["session_loaded", "run_started", "run_completed"]
    faulty = rows_of(first_run("hello", lambda run: has(run, "crashed")))
    inside = [row for visit in quiet_visits(faulty) for row in faulty[visit.first : visit.last + 1]]
    assert not any("dies" in styles(row) for row in inside)


def test_nodes_have_their_lines() -> None:
    """Each node and include of a shipped workflow with includes points to its own declaration."""
    snapshot, texts = builtin("autoplan")
    assert set(snapshot.nodes) | set(snapshot.composition.mounts) <= set(texts.places)
    for name in [*snapshot.nodes, *snapshot.composition.mounts]:
        place = texts.places[name]
        line = texts.files[place.file].splitlines()[place.line - 1]
        assert name.rpartition("/")[2] in line, name


@pytest.mark.parametrize(
    "host",
    [
        hosting(also=ALSO),
        hosting(second_host=True),
        hosting("detached", second_host=True),
        hosting("detached", origin=False),
        hosting("direct"),
    ],
    ids=("alone", "second", "detached", "no origin", "direct"),
)
def test_every_kind_of_host_has_its_lane(host: Hosting) -> None:
    """Workers, zombies and hosts that look on do everything on their own lane; nothing is left out."""
    snapshot, _ = example("hello")
    setup = Setup(snapshot, hosting=host, visit_cap=100)
    lanes: set[str] = set()
    for seed in range(12):
        run = run_with(setup, budget(3, {}), Seeded(seed))
        rows = rows_of(run)
        assert [row.event for row in rows if row.event is not None] == list(run.events)
        assert rows[-1].entries == len(run.session)
        lanes |= {arrow.source for row in rows for arrow in row.arrows}
        assert all(one.values for one in held_by(run).values())
    assert ("worker" in lanes) == (host.host == "detached")
    assert ("zombie" in lanes) == host.second
