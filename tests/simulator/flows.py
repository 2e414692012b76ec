"""Small workflows for the tests of the core, compiled from their text, and runs of them by a script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pydantic import JsonValue

from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator import Run, simulate
from windtunnel.simulator.providers.behaviour import Act, Call, Stop, Submit, Text, Turn, Update, submission
from windtunnel.simulator.providers.scripted import Line, ScriptedProvider

ANSWER = """language 1
workflow answer {
  revision 1
  exits { done: { text: text } }
  agent say { prompt "Say it." expectedOutput assistant { maxChars 60 } }
  compute kept = { text: say }
  edges { start -> say -> kept -> exit done }
}
"""
"""One visible answer, then a value."""

DECIDE = """language 1
workflow decide {
  revision 1
  exits { done: { n: int }, gone: { why: text } }
  agent pick { prompt "Pick." expectedOutput { n: int(0..9) } }
  compute kept = { n: pick.n }
  compute lost = { why: "" }
  edges {
    start -> pick -> kept -> exit done
    pick on failed -> lost -> exit gone
  }
}
"""
"""One submission, with a route for its failure."""

LOOP = """language 1
workflow loop {
  revision 1
  exits { done: { text: text } }
  agent say { prompt "Visit ${visits(say)}." expectedOutput assistant { maxChars 60 } }
  agent judge { prompt "Good? ${say}" expectedOutput { verdict: "good" | "again" } }
  compute kept = { text: say }
  edges {
    start -> say -> judge
    judge -> match .verdict {
      "good" -> kept
      "again" -> say limit 2 then -> kept
    }
    kept -> exit done
  }
}
"""
"""A visible answer that a judge may send back twice."""


PAY = """language 1
workflow pay {
  revision 1
  exits { done: { receipt: text } }
  action charge {
    call "charge" with { cents: 100 }
    returns { receipt: text(1..20) }
    idempotencyKey "order-1"
    timeout 1m
  }
  notify tell { kind final message "Paid: ${charge.receipt}" }
  compute kept = { receipt: charge.receipt }
  edges { start -> charge -> tell -> kept -> exit done }
}
"""
"""An effect with a key, and a word about it."""

ASK = """language 1
workflow ask {
  revision 1
  exits { done: { by: text }, gone: { why: text } }
  decision approve {
    title "Go ahead?"
    choices {
      no "No" asks reason: text(1..40) "Why?"
      later "Later"
      yes "Yes"
    }
    after 1h choose later
  }
  compute kept = { by: approve.provenance }
  compute lost = { why: approve.no.reason }
  compute late = { why: "later" }
  edges {
    start -> approve
    approve.yes -> kept -> exit done
    approve.no -> lost -> exit gone
    approve.later -> late -> exit gone
  }
}
"""
"""A question for a person, with a default."""


@lru_cache(maxsize=256)
def flow(text: str) -> Snapshot:
    """The snapshot of a text; a mistake in it fails the test."""
    compiled = compile_workflow(MemoryReader({"test.flow": text}), "test.flow")
    assert compiled.snapshot is not None, [str(found.message) for found in compiled.diagnostics]
    return compiled.snapshot


@lru_cache(maxsize=8)
def builtin(name: str) -> Snapshot:
    """The snapshot of a shipped workflow."""
    compiled = compile_workflow(MemoryReader({}), f"builtin:{name}")
    assert compiled.snapshot is not None, [str(found.message) for found in compiled.diagnostics]
    return compiled.snapshot


def says(*parts: str, stop: Stop = Stop.STOP) -> Turn:
    """A message with visible parts."""
    return Turn(tuple(Text(part) for part in parts), stop)


def uses(*acts: Act) -> Turn:
    """A message that calls tools."""
    return Turn(acts, Stop.TOOL_USE)


def submits(output: JsonValue) -> Turn:
    """A message that submits."""
    return uses(submission(output))


def script(**lines: Sequence[Turn]) -> ScriptedProvider:
    """A script: the turns of each node, used up over a visit; `node__2` is for its second visit."""
    found = []
    for name, turns in lines.items():
        node, _, visit = name.partition("__")
        found.append(Line(node, tuple(turns), int(visit) if visit else None))
    return ScriptedProvider(tuple(sorted(found, key=lambda line: line.visit is None)))


def run(text: str, input: JsonValue = None, **lines: Sequence[Turn]) -> Run:
    """One quiet run of a text by a script."""
    return simulate(flow(text), input, provider=script(**lines))


def types(run: Run) -> list[str]:
    """The types of the run's own events, in order."""
    return [event["type"] for event in run.events if event["scope"] in ("run", "node")]


def events(run: Run, type_: str) -> list[dict[str, Any]]:
    """The events of one type."""
    return [event for event in run.events if event["type"] == type_]


def steps(run: Run) -> list[str]:
    """The nodes in the order they were started."""
    return [event["nodeId"] for event in events(run, "node_started")]


__all__ = [
    "ANSWER",
    "ASK",
    "DECIDE",
    "LOOP",
    "PAY",
    "Call",
    "Stop",
    "Submit",
    "Turn",
    "Update",
    "builtin",
    "events",
    "flow",
    "run",
    "says",
    "script",
    "steps",
    "submits",
    "types",
    "uses",
]
