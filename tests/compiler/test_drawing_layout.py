"""The layout engine: its limits, what it says when something lacks, and that each sheet is laid out once."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from tests.compiler.snapshots import compute, edge, mount, release_notes, snapshot
from windtunnel.compiler.drawing import draw, layout, raster
from windtunnel.compiler.drawing.layout import Cell, Task, Wire, lay_out
from windtunnel.compiler.drawing.picture import DrawingError
from windtunnel.compiler.snapshot import Snapshot


def chain(length: int) -> Task:
    """Cells one after the other."""
    wires = tuple(Wire(number, None, number + 1, None, 1, False) for number in range(length - 1))
    return Task((Cell(80, 30),) * length, wires)


def test_cells_come_back_where_arrows_lead() -> None:
    task = Task(
        (Cell(80, 30, rank="source"), Cell(120, 60, ports=((30, 20), (90, 20))), Cell(60, 20), Cell(60, 20)),
        (Wire(0, None, 1, None, 4, False), Wire(1, 0, 2, (40, 12), 1, False), Wire(1, 1, 3, None, 1, False)),
    )
    (placed,) = lay_out([task], "pure")
    assert placed.corners[0].y < placed.corners[1].y < placed.corners[2].y
    for number, (centre, _wide) in enumerate(task.cells[1].ports, 1):
        start = placed.splines[number][0]
        assert start.x == pytest.approx(placed.corners[1].x + centre, abs=3)
        assert start.y == pytest.approx(placed.corners[1].y + 60, abs=3)
    assert placed.labels[0] is None
    assert placed.labels[1] is not None
    assert all(0 <= x <= placed.width and 0 <= y <= placed.height for x, y in placed.tips)


def test_ports_may_stand_in_any_order() -> None:
    task = Task(
        (Cell(200, 40, ports=((150, 20), (50, 20))), Cell(60, 20), Cell(60, 20)),
        (Wire(0, 0, 1, None, 1, False), Wire(0, 1, 2, None, 1, False)),
    )
    (placed,) = lay_out([task], "pure")
    assert placed.splines[0][0].x == pytest.approx(placed.corners[0].x + 150, abs=3)
    assert placed.splines[1][0].x == pytest.approx(placed.corners[0].x + 50, abs=3)


def test_equal_sheets_are_laid_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = layout._run

    def counted(source: str, engine: layout.Engine, *, exact: bool = False) -> str:
        asked.append(source)
        return real(source, engine, exact=exact)

    monkeypatch.setattr(layout, "_run", counted)
    first, second, third = lay_out([chain(3), chain(4), chain(3)], "pure")
    assert first == third
    assert first != second
    assert [source.count("digraph") for source in asked] == [2]


def test_a_sheet_at_the_limit_is_drawn_and_one_box_more_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_BOXES", 5)
    assert len(lay_out([chain(5)], "pure")[0].corners) == 5
    with pytest.raises(DrawingError, match=r"6 boxes and 5 arrows.*Split it with includes.*need no layout"):
        lay_out([chain(6)], "pure")


def test_as_many_arrows_as_the_limit_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_ARROWS", 4)
    assert len(lay_out([chain(5)], "pure")[0].splines) == 4
    with pytest.raises(DrawingError, match="take minutes"):
        lay_out([chain(6)], "pure")


def test_what_would_take_minutes_is_refused_with_a_hint() -> None:
    size = layout.MAX_BOXES + 1
    nodes = {f"n{number}": compute() for number in range(size)}
    edges = [edge("start", "n0"), edge(f"n{size - 1}", "exit done")]
    edges += [edge(f"n{number}", f"n{number + 1}") for number in range(size - 1)]
    made = snapshot(nodes, edges)
    with pytest.raises(DrawingError, match=r"text \(txt\), Mermaid \(mmd\), DOT \(dot\) or JSON"):
        draw(made, "svg")
    assert str(draw(made, "txt")).count("compute") == size + 1
    assert str(draw(made, "dot")).count(" -> ") == size + 1


def test_ten_thousand_nodes_folded_are_one_small_picture() -> None:
    """S10: the work follows what is shown."""
    nodes = {f"m{a}/n{b}": compute() for a in range(100) for b in range(100)}
    edges = [edge("start", "m0")]
    edges += [edge(f"m{a}.done", f"m{a + 1}" if a < 99 else "exit done") for a in range(100)]
    for a in range(100):
        scope = f"m{a}"
        edges += [edge("start", f"{scope}/n0", scope=scope), edge(f"{scope}/n99", "exit done", scope=scope)]
        edges += [edge(f"{scope}/n{b}", f"{scope}/n{b + 1}", scope=scope) for b in range(99)]
    made = snapshot(nodes, edges, mounts={f"m{a}": mount("child", "n0", ["done"]) for a in range(100)})
    drawn = str(draw(made, "svg"))
    assert "9900 more nodes" not in drawn
    assert "10000 more nodes inside folded includes" in drawn
    assert drawn.count('class="box include"') == 100


def test_the_engine_is_stopped_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_SECONDS", 0.001)
    with pytest.raises(DrawingError, match=r"more than 0.001 seconds and was stopped; fold includes"):
        lay_out([chain(400)], "pure")


def test_an_engine_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(DrawingError, match="program dot of Graphviz is not installed"):
        draw(release_notes(), "svg", engine="dot")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(DrawingError, match="graphviz-pure is not installed"):
        draw(release_notes(), "svg")


def test_the_program_of_graphviz_can_be_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever program is found is used; here it is the same one."""
    pure = layout.program("pure")
    monkeypatch.setattr(shutil, "which", lambda name: pure if name == "dot" else None)
    assert draw(release_notes(), "svg", engine="dot") == draw(release_notes(), "svg")


def test_an_engine_that_fails_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DrawingError, match="layout engine failed"):
        layout.run_engine("digraph { a -> ", ["-Tcanon"], "pure")


def small() -> Snapshot:
    """One node."""
    return snapshot({"a": compute()}, [edge("start", "a"), edge("a", "exit done")])


def test_a_png_too_large_to_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raster, "MAX_PIXELS", 60_000)
    with pytest.raises(DrawingError, match="too large for a readable PNG; write SVG"):
        draw(small(), "png")


def test_high_drawings_are_as_exact_as_low_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """S10: far down, the short form of the engine's answer would be off by several points."""
    task = Task(
        (Cell(80, 30, rank="source"), Cell(120, 60, ports=((30, 20), (90, 20))), Cell(60, 20, entry=20.0)),
        (
            Wire(0, None, 1, (30, 12), 4, False),
            Wire(1, 0, 2, (40, 12), 1, False),
            Wire(2, None, 0, None, 1, True),
        ),
    )
    (low,) = lay_out([task], "pure")
    height = layout._height(task)
    monkeypatch.setattr(layout, "TALL", height)
    assert lay_out([task], "pure") == [low], "at the limit the short form is enough"
    monkeypatch.setattr(layout, "TALL", height - 1)
    (exact,) = lay_out([task], "pure")
    assert (exact.width, exact.height) == pytest.approx((low.width, low.height), abs=0.1)
    for mine, other in zip(
        (*exact.corners, *exact.tips, *exact.splines[0], *filter(None, exact.labels)),
        (*low.corners, *low.tips, *low.splines[0], *filter(None, low.labels)),
        strict=True,
    ):
        assert tuple(mine) == pytest.approx(tuple(other), abs=0.1)
    monkeypatch.undo()
    (tall,) = lay_out([chain(1_500)], "pure")
    assert tall.height > layout.TALL
    for number in (700, 1_498):
        assert tall.splines[number][0].y == pytest.approx(tall.corners[number].y + 30, abs=1.5)
        assert tall.tips[number].y == pytest.approx(tall.corners[number + 1].y, abs=1.5)
