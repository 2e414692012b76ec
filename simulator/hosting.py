"""Which hosts a run has, and what else may happen around it that is not asked for by default.

A world is as small as it can be until somebody asks for more: another kind of host, a second one beside the
first, or one of the happenings in ALSO.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from pydantic import JsonValue

INTERACTIVE: Final = "interactive"
DETACHED: Final = "detached"
DIRECT: Final = "direct"
KINDS: Final = (INTERACTIVE, DETACHED, DIRECT)
"""Kinds of host: `interactive` owns the session, and a person talks to it; a `detached` one works where
nobody looks on, for the session that the run belongs to, if there is one; a `direct` client sees its own
session itself, and nobody talks to it.
"""

ALSO: Final[Mapping[str, str]] = {
    "branch": "the person goes to another branch of the session, and back",
    "chat-tool": "the model calls the workflow tool in a turn of the person",
    "edit": "the workflow is edited while its host is down",
    "hang": "a check of a submission hangs",
    "last-turn": "the conversation gets one turn more when a run ended badly",
    "late-timer": "the word of a timer comes late",
    "pause": "the person pauses the run, and lets it go on",
    "twice": "the model submits twice in one message, again and again",
}
"""What may happen beside the usual, by name, as one sentence."""


class HostingRefused(ValueError):
    """There is no such host or happening; the message lists those that there are."""


class Hosting(NamedTuple):
    """The hosts of a run.

    `origin` says whether a detached run belongs to a session, `second` that another host may take the run
    over from one that is paused past its lease; `also` names what else may happen, sorted.
    """

    host: str = INTERACTIVE
    origin: bool = True
    second: bool = False
    also: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The kind of host as a scenario names it."""
        if self.host != DETACHED:
            return (self.host,)
        return (self.host, "with" if self.origin else "without", "origin")

    def to_json(self) -> dict[str, JsonValue]:
        """What differs from the usual."""
        found: dict[str, JsonValue] = {}
        if self.host != INTERACTIVE:
            found["host"] = self.host
        if not self.origin:
            found["origin"] = False
        if self.second:
            found["secondHost"] = True
        if self.also:
            found["also"] = list(self.also)
        return found


USUAL: Final = Hosting()
"""One interactive host, and nothing more."""


def hosting(
    host: str = INTERACTIVE, *, origin: bool = True, second_host: bool = False, also: Iterable[str] = ()
) -> Hosting:
    """The hosts of a run by name. Raises HostingRefused."""
    if host not in KINDS:
        raise HostingRefused(f"There is no {host} host; there are {', '.join(KINDS)}.")
    if host != DETACHED and not origin:
        raise HostingRefused(f"Only a {DETACHED} host can be without an origin session.")
    asked = tuple(sorted(set(also)))
    for name in asked:
        if name not in ALSO:
            raise HostingRefused(f"Nothing is called {name}; there are {', '.join(ALSO)}.")
    return Hosting(host, origin, second_host, asked)


def from_json(value: Any) -> Hosting:
    """What `to_json` wrote. Raises HostingRefused and TypeError."""
    if not isinstance(value, dict) or not isinstance(value.get("also", []), list):
        raise TypeError("hosts are a record")
    return hosting(
        str(value.get("host", INTERACTIVE)),
        origin=value.get("origin") is not False,
        second_host=value.get("secondHost") is True,
        also=[str(name) for name in value.get("also", [])],
    )
