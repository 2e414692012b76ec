"""Short scenarios for tests: a workflow and the body of a scenario, to a verdict."""

from __future__ import annotations

from windtunnel.compiler.pipeline import compile_scenarios
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.scenario import Scenario
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.scenario.running import run_scenario
from windtunnel.simulator.scenario.verdict import Verdict

TALK = """language 1
workflow talk {
  input { name: text(1..80) = "Ada" }
  agent greet "greeting" {
    prompt "Greet ${input.name}."
    expectedOutput assistant
    timeout 30s
  }
  agent sort "sorting" {
    prompt "Sort this: ${greet}"
    expectedOutput { pile: "a" | "b" }
    validate { require output.pile == "a" else "only a" }
  }
  edges {
    start -> greet -> sort -> exit done
  }
}
"""
"""An answer, then a submission."""

LOOP = """language 1
workflow inner {
  input { topic: text }
  agent tell "telling" {
    prompt "Tell about ${input.topic}"
    expectedOutput assistant
  }
  compute told = { text: tell }
  edges {
    start -> tell -> told -> exit told
  }
}
workflow loop {
  input { topic: text = "owls" }
  include part = inner { topic: input.topic }
  agent judge "judging" {
    prompt "Enough? ${part.told.text}"
    expectedOutput { enough: bool }
  }
  edges {
    start -> part
    part.told -> judge -> match .enough {
      true -> exit done
      false -> part limit 3 then -> exit tired
    }
  }
}
"""
"""An included answer, again and again."""


def line_in(body: str, flow: str, line: int) -> int:
    """The line in the file of a line of the body, counted from 1; 0 is the line of the scenario."""
    assert 0 <= line <= body.count("\n") + 1, "the body has such a line"
    return flow.count("\n") + 2 + line


def staged(body: str, flow: str = TALK) -> tuple[Scenario, Snapshot]:
    """The scenario with that body for the last workflow of a flow."""
    workflow = flow.rpartition("workflow ")[2].split(" ")[0]
    text = f'{flow}\nscenario "it" for {workflow} {{\n{body}\n}}\n'
    found = compile_scenarios(MemoryReader({"main.flow": text}), "main.flow")
    assert found.diagnostics == (), [each.message for each in found.diagnostics]
    ((scenario, snapshot),) = found.scenarios
    return scenario, snapshot


def act(body: str, flow: str = TALK) -> Verdict:
    """Run a scenario with that body."""
    return run_scenario(*staged(body, flow))


def said(verdict: Verdict) -> list[str]:
    """What was wrong."""
    return [broken.message for broken in verdict.broken]
