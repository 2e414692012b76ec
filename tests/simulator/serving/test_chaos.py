"""A bad wire: drawn from a seed, mostly good, and every way to be bad happens."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterator

import pytest

from tests.simulator.serving.servers import aside
from windtunnel.simulator.serving.chaos import Chaos


def test_the_same_seed_draws_the_same() -> None:
    """And another one draws something else."""

    def drawn(seed: int) -> list[str]:
        chaos = Chaos(seed)
        return [chaos.request() for _ in range(50)] + [chaos.frame() for _ in range(50)]

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)


def test_most_goes_well_and_every_fault_happens() -> None:
    """Nine of ten things arrive as they should."""
    chaos = Chaos(1)
    requests = Counter(chaos.request() for _ in range(2_000))
    frames = Counter(chaos.frame() for _ in range(2_000))
    assert set(requests) == {"fine", "lost", "unanswered", "twice", "late"}
    assert set(frames) == {"fine", "lost", "twice", "late", "cut"}
    assert min(requests["fine"], frames["fine"]) > 1_700


class Scripted(Chaos):
    """A wire whose faults a test chooses."""

    def __init__(self, fates: Iterator[str]) -> None:
        super().__init__(0)
        self._fates = fates

    def frame(self) -> str:  # type: ignore[override]
        """The next fate of the script."""
        return next(self._fates)


@pytest.mark.parametrize(
    ("fates", "arrive"),
    [
        ("fine fine fine", "a b c"),
        ("fine lost fine", "a c"),
        ("twice late fine", "a a b c"),
        ("fine cut", "a"),
    ],
)
def test_frames_arrive_as_drawn(fates: str, arrive: str) -> None:
    """Lost, doubled, late, cut off; a stream that is cut off is closed at its source as well."""
    closed = []

    async def frames() -> AsyncGenerator[str, None]:
        try:
            for frame in "abc":
                yield frame
        finally:
            closed.append(True)

    async def arrived() -> list[str]:
        return [frame async for frame in Scripted(iter(fates.split())).disturb(frames())]

    assert aside(lambda: asyncio.run(arrived())) == arrive.split()
    assert closed == [True]
