"""The settings of a workflow and the shape that each of them wants."""

from __future__ import annotations

from typing import Final

from windtunnel.compiler.types import TEXT, IntShape, Shape

SETTINGS: Final[dict[str, Shape]] = {
    "revision": IntShape(1, None),
    "title": TEXT,
    "contract": TEXT,
    "maxSteps": IntShape(1, None),
    "budget turns": IntShape(1, None),
    "presentation": TEXT,
}
"""By keyword."""

DEFAULT_MAX_STEPS: Final = 100
"""The most steps of one invocation that sets no `maxSteps`."""

CONSTANT: Final = ("revision", "contract", "budget turns")
"""Settings that are known before the run."""
