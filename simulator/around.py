"""The processes around the one that works on the run: a host that looks on, a host that lost its claim.

The first seat belongs to whoever works on the run, a host or a worker. Everybody else sits behind: `seats`
says who, and a `Role` what somebody in a seat can do.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from windtunnel.simulator.run.transition import VISIBLE

HOST: Final = "host"
WORKER: Final = "worker"
ZOMBIE: Final = "zombie"


class Other(NamedTuple):
    """A process behind the first seat, in numbers of pools.

    `slots` are its loop, engine, inbox, wire, provider, late messages and timer; `log` is the session that it
    has open. A zombie still sees the `store` that it saw last, and its own `call` of an effect.
    """

    kind: str
    slots: tuple[int, ...]
    log: int
    store: int = -1
    call: int = -1


class Around(NamedTuple):
    """Who sits in the first seat, and who behind."""

    first: str = HOST
    others: tuple[Other, ...] = ()


ALONE: Final = Around()


class Role(NamedTuple):
    """What somebody in a seat can do.

    `works` on the run, which nobody behind the first seat does; `chat` says that a person talks to it,
    `session` that it owns the session that the run belongs to.
    """

    kind: str = HOST
    seat: int = 0
    executor: str = VISIBLE
    works: bool = True
    chat: bool = True
    session: bool = True

    @property
    def by(self) -> str:
        """The name under which its deeds are watched."""
        return self.kind if self.works or self.kind == ZOMBIE else "bystander"
