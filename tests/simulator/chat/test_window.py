"""The replay window: bounds, gaps, cursors that are ahead."""

from __future__ import annotations

from windtunnel.simulator.chat import wire
from windtunnel.simulator.chat.window import Cursor, Replay, Resync, Window, after, publish


def filled(limit: int, count: int, window: Window | None = None) -> Window:
    """A window after so many events."""
    window = Window(limit=limit) if window is None else window
    for _ in range(count):
        window = publish(window, wire.Event(1, window.latest + 1, wire.Mode()))
    return window


def seqs(found: object) -> list[int]:
    """The positions that are replayed."""
    assert isinstance(found, Replay)
    return [event.seq for event in found.events]


def test_the_window_is_bounded() -> None:
    """V27: at most so many events; behind them there is a gap, at their edge there is none."""
    three = filled(3, 5)
    assert (len(three.events), three.first) == (3, 3)
    assert seqs(after(three, Cursor(1, 2))) == [3, 4, 5]
    two = filled(2, 5)
    assert after(two, Cursor(1, 2)) == Resync("replay_gap", 5, 4)
    assert seqs(after(two, Cursor(1, 3))) == [4, 5]


def test_an_empty_window_that_knows_where_it_is() -> None:
    """V28: ahead, behind, and exactly there."""
    window = Window(latest=2)
    assert after(window, Cursor(1, 3)) == Resync("cursor_ahead", 2, 3)
    assert after(window, Cursor(1, 0)) == Resync("replay_gap", 2, 3)
    assert seqs(after(window, Cursor(1, 2))) == []


def test_a_new_epoch_empties_the_window() -> None:
    """A cursor of the older epoch is void, whatever its number."""
    window = publish(filled(9, 3), wire.Event(2, 2, wire.Mode()))
    assert [event.seq for event in window.events] == [2]
    assert after(window, Cursor(1, 3)) == Resync("epoch_changed", 2, 2)
    assert seqs(after(window, Cursor(2, 1))) == [2]
    assert after(window, Cursor(2, 0)) == Resync("replay_gap", 2, 2)


def test_a_window_of_nothing() -> None:
    """A limit of 0 keeps no event and still knows its position."""
    window = filled(0, 2)
    assert (window.events, window.latest) == ((), 2)
    assert after(window, Cursor(1, 1)) == Resync("replay_gap", 2, 3)
