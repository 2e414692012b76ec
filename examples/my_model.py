"""A model of your own, in two ways.

As a program, with anything behind it, that is asked one line of JSON at a time and answers with one:

    windtunnel run examples/hello.flow --provider "cmd:python3 examples/my_model.py"

And as a provider for tests: not one answer, but all that the model may do, so that a search can try it.

    explore(snapshot, provider=Talkative(snapshot))
"""

from __future__ import annotations

import json
import sys
from typing import Any


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What the model says to one request; put a real one here. It `thinks`, `says`, `calls`, `submits`."""
    said = f"You asked {len(request['prompt'].split())} words; this is my answer."
    limit = request["maxChars"]
    return {"thinks": "Short, please.", "says": said if limit is None else said[:limit]}


def main() -> None:
    """One line in, one line out, until nothing more is asked."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
else:
    from windtunnel.compiler.snapshot import Snapshot
    from windtunnel.simulator.providers import (
        Behaviour,
        GeneratedProvider,
        Kind,
        Menu,
        Request,
        Stop,
        Text,
        Turn,
    )

    class Talkative:
        """Does what any model may do, but sometimes talks until its message is cut."""

        def __init__(self, snapshot: Snapshot) -> None:
            self.usual = GeneratedProvider(snapshot)

        def menu(self, request: Request) -> Menu:
            """The usual behaviour, and one deviation more."""
            usual = self.usual.menu(request)
            if request.kind is Kind.EFFECT:
                return usual
            words = Text("Before I begin, let me tell you how I came to think about this, because ")
            talks = Behaviour("talks and talks", (Turn((words,), Stop.LENGTH),), deviation="talks and talks")
            return Menu(usual.quiet, (*usual.deviations, talks), usual.gap)
