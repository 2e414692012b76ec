"""What stands in for the model: every behaviour that can happen, as data. Pure; it chooses nothing itself.

A provider of your own is one method, `menu(request) -> Menu`: what the model may do with a request, good
behaviours first, then deviations, all of them frozen data. It is a pure function: no state, no clock, equal
menus for equal requests; the run chooses, so that a search can try all of it and a token repeat it.

    class Polite:
        def menu(self, request: Request) -> Menu:
            return Menu((says("greets", "Good day."),), (Behaviour("sulks", (SILENCE,), "sulks"),))

    simulate(snapshot, provider=Polite())
    explore(snapshot, provider=Polite())

`request.kind` is `Kind.EFFECT` for an action or a command, whose turn holds `Returns` or `Fails`; for a model
it is `STEP`, `REMINDER` or `RESUME`. `submits`, `says` and `returns` make good behaviour in one call.
`GeneratedProvider(snapshot)` is the one that runs have by default, `ScriptedProvider` plays lines and hands
on what it has no line for. Everything that a provider needs is here.

Reading order; each file imports only files above it:

behaviour     turns of acts, menus, and the protocol of a provider
patterns      texts that match a pattern
scalars       numbers, truth values, literals: good and bad ones
values        valid, boundary and invalid values of any type
routing       which parts of an output decide the route
thresholds    what outputs and inputs are compared with
sides         values on each side of it
effects       what effects return, and how they fail
people        what people answer
misbehaviour  the ways a model goes wrong
generated     behaviour made from types, examples and validators
scripted      behaviour that somebody wrote
speech        requests and answers as lines of JSON
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from windtunnel.simulator.providers.behaviour import (
        SILENCE,
        Addressed,
        Behaviour,
        Call,
        Fails,
        Kind,
        Menu,
        Provider,
        Request,
        Returns,
        Stop,
        Submit,
        Text,
        Thinking,
        Turn,
        Update,
        returns,
        says,
        submission,
        submits,
    )
    from windtunnel.simulator.providers.generated import GeneratedProvider
    from windtunnel.simulator.providers.scripted import Line, ScriptedProvider, unused

__all__ = [
    "SILENCE",
    "Addressed",
    "Behaviour",
    "Call",
    "Fails",
    "GeneratedProvider",
    "Kind",
    "Line",
    "Menu",
    "Provider",
    "Request",
    "Returns",
    "ScriptedProvider",
    "Stop",
    "Submit",
    "Text",
    "Thinking",
    "Turn",
    "Update",
    "returns",
    "says",
    "submission",
    "submits",
    "unused",
]

_ELSEWHERE = {
    "GeneratedProvider": "generated",
    "Line": "scripted",
    "ScriptedProvider": "scripted",
    "unused": "scripted",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for, so that the command line starts quickly."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'behaviour')}"), name)
