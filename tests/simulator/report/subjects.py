"""Runs to make pages of."""

from __future__ import annotations

from functools import cache

from windtunnel.compiler import compile_file
from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator import Run, explore, replay, simulate
from windtunnel.simulator.report.page.document import Subject, of_run
from windtunnel.simulator.report.page.places import Texts, texts_of

LONG = """language 1
workflow long {
  revision 1
  maxSteps 400
  input { topic: text(1..200) }
  agent write "writing" {
    prompt "Write about ${input.topic}."
    expectedOutput { text: text(1..100) }
  }
  agent judge "judging" {
    prompt "Is this good? ${write.text}"
    expectedOutput { good: bool }
    example { good: false }
  }
  compute done = { text: write.text }
  edges {
    start -> write -> judge
    judge -> match .good {
      true -> done
      false -> write limit ROUNDS then -> done
    }
    done -> exit done
  }
}
"""


@cache
def example(name: str) -> tuple[Snapshot, Texts]:
    """A workflow of the examples, and its text."""
    return _compiled(f"examples/{name}.flow")


@cache
def builtin(name: str) -> tuple[Snapshot, Texts]:
    """A workflow that is shipped, and its text."""
    return _compiled(f"builtin:{name}")


def _compiled(file: str) -> tuple[Snapshot, Texts]:
    compiled = compile_file(file)
    assert compiled.snapshot is not None
    return compiled.snapshot, texts_of(compiled.checked, compiled.snapshot)


@cache
def long_run(rounds: int) -> Subject:
    """A run of so many rounds, each with two agents; 83 rounds leave 2,000 lines."""
    text = LONG.replace("ROUNDS", str(rounds))
    compiled = compile_workflow(MemoryReader({"long.flow": text}), "long.flow")
    assert compiled.snapshot is not None
    run = simulate(compiled.snapshot)
    return of_run(run, compiled.snapshot, texts_of(compiled.checked, compiled.snapshot))


@cache
def twice_answered() -> Subject:
    """The counterexample of an engine that answers again after a crash."""
    snapshot, texts = example("hello")
    broken = explore(snapshot, fault="W01", faults=1, reference="examples/hello.flow").violations[0]
    run: Run = replay(broken.token, lambda _: snapshot)
    return of_run(run, snapshot, texts, again=f"windtunnel replay {broken.token}")
