"""Which hosts a run has, and what else may happen around it that is not asked for by default.

A world is as small as it can be until somebody asks for more: another kind of host, a second one beside the
first, or one of the happenings in ALSO.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

INTERACTIVE: Final = "interactive"
KINDS: Final = (INTERACTIVE,)
"""Kinds of host: `interactive` owns the session and is seen by a person."""

ALSO: Final[Mapping[str, str]] = {
    "pause": "the person pauses the run, and lets it go on",
}
"""What may happen beside the usual, by name, as one sentence."""


class HostingRefused(ValueError):
    """There is no such host or happening; the message lists those that there are."""


class Hosting(NamedTuple):
    """The hosts of a run. `also` names what else may happen, sorted."""

    host: str = INTERACTIVE
    also: tuple[str, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """What differs from the usual."""
        found: dict[str, JsonValue] = {}
        if self.host != INTERACTIVE:
            found["host"] = self.host
        if self.also:
            found["also"] = list(self.also)
        return found


USUAL: Final = Hosting()
"""One interactive host, and nothing more."""


def hosting(host: str = INTERACTIVE, also: Iterable[str] = ()) -> Hosting:
    """The hosts of a run by name. Raises HostingRefused."""
    if host not in KINDS:
        raise HostingRefused(f"There is no {host} host; there are {', '.join(KINDS)}.")
    asked = tuple(sorted(set(also)))
    for name in asked:
        if name not in ALSO:
            raise HostingRefused(f"Nothing is called {name}; there are {', '.join(ALSO)}.")
    return Hosting(host, asked)


def from_json(value: Any) -> Hosting:
    """What `to_json` wrote. Raises HostingRefused and TypeError."""
    if not isinstance(value, dict) or not isinstance(value.get("also", []), list):
        raise TypeError("hosts are a record")
    return hosting(str(value.get("host", INTERACTIVE)), [str(name) for name in value.get("also", [])])
