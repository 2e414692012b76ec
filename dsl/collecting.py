"""Holds the garbage collector off while trees grow.

Trees, shapes and snapshots have no cycles; the collector would only walk them again and again as they grow.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


def uncollected(work: Callable[Given, Made]) -> Callable[Given, Made]:
    """The same work without garbage collection; afterwards the collector is as it was."""

    @wraps(work)
    def held(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        if not gc.isenabled():
            return work(*args, **kwargs)
        gc.disable()
        try:
            return work(*args, **kwargs)
        finally:
            gc.enable()

    return held
