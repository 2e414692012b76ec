"""What the simulator refuses, told as wrong usage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from windtunnel.simulator.hosting import HostingRefused
from windtunnel.simulator.operations import InputRefused, NotSimulated, TokenError, UnknownFault


@contextmanager
def refusals() -> Iterator[None]:
    """Turn refusals into click's UsageError with the same words."""
    try:
        yield
    except (HostingRefused, InputRefused, NotSimulated, TokenError, UnknownFault) as problem:
        raise click.UsageError(str(problem)) from None
