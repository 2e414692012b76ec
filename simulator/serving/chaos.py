"""A wire that misbehaves for real: what is drawn for each request and each frame of a stream, from a seed.

Most things go well. A request may be lost, or done and not answered, or done twice, or be late; a frame may
be lost, come twice or late, and the stream may break off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, Literal, TypeAlias, cast, get_args

from windtunnel.simulator.choices import Seeded

RequestFate: TypeAlias = Literal["fine", "lost", "unanswered", "twice", "late"]
FrameFate: TypeAlias = Literal["fine", "lost", "twice", "late", "cut"]

DELAYS_MS: Final = (20, 60, 150, 300)
"""How late something may be."""


class Chaos:
    """Draws what happens. The same seed draws the same, in the order in which things come."""

    def __init__(self, seed: int) -> None:
        self._choices = Seeded(seed)

    def request(self) -> RequestFate:
        """What becomes of the next request."""
        return cast("RequestFate", self._one(get_args(RequestFate), "request"))

    def frame(self) -> FrameFate:
        """What becomes of the next frame."""
        return cast("FrameFate", self._one(get_args(FrameFate), "frame"))

    async def delay(self) -> None:
        """Be late."""
        await asyncio.sleep(DELAYS_MS[self._choices.choose(len(DELAYS_MS), "delay")] / 1_000)

    def _one(self, fates: tuple[str, ...], label: str) -> str:
        return fates[self._choices.choose(len(fates), label)]

    async def disturb(self, frames: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
        """The frames as they arrive."""
        async with aclosing(frames):
            async for frame in frames:
                fate = self.frame()
                if fate == "cut":
                    return
                if fate == "late":
                    await self.delay()
                if fate != "lost":
                    yield frame
                if fate == "twice":
                    yield frame
