"""Runs that end without reaching an exit are told, with a token, though no invariant is broken."""

from __future__ import annotations

from windtunnel.compiler.pipeline import compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator.operations import explore, replay
from windtunnel.simulator.report.summary import exploration

ENDLESS = """language 1
workflow endless {
  revision 1
  maxSteps 5
  input { topic: text(1..100) }
  exits { done: { said: text } }
  agent a "trying" {
    prompt "Try ${input.topic}"
    expectedOutput { again: bool }
  }
  compute said = { said: input.topic }
  edges {
    start -> a
    a -> match a.again {
      true -> a limit 20 then -> said
      false -> said
    }
    said -> exit done
  }
}
"""

HOPELESS = """language 1
workflow hopeless {
  revision 1
  input { topic: text(1..100) }
  exits { done: { said: text }, lost: { said: text } }
  agent a "trying" {
    prompt "Try ${input.topic}"
    expectedOutput { word: text(1..5) }
    validate {
      require contains(output.word, "z") and contains(output.word, "q") else "z and q"
    }
  }
  compute said = { said: input.topic }
  compute lost = { said: input.topic }
  edges {
    start -> a -> said -> exit done
    a on failed -> lost
    lost -> exit lost
  }
}
"""


def compiled(source: str) -> Snapshot:
    found = compile_workflow(MemoryReader({"w.flow": source}), "w.flow")
    assert found.snapshot is not None, [finding.message for finding in found.diagnostics]
    return found.snapshot


def test_a_run_that_fails_although_nothing_goes_wrong_is_told() -> None:
    """`maxSteps 5` ends a loop that may go round 20 times: no fault is needed for that."""
    flow = compiled(ENDLESS)
    found = explore(flow, faults=1)
    assert not found.violations
    told = [failure for failure in found.failures if not failure.fault]
    assert [(one.status, one.node, one.error) for one in told] == [
        ("failed", "", "The run reached maxSteps=5.")
    ]
    again = replay(told[0].token, lambda _: flow)
    assert again.status == "failed"
    assert "! Without any fault a run ends failed: The run reached maxSteps=5." in exploration(
        found.to_json()
    )


def test_failures_that_need_a_fault_are_named_by_their_node() -> None:
    found = explore(compiled(ENDLESS), faults=1)
    needing = {(one.node, one.outcome) for one in found.failures if one.fault and one.node}
    assert needing == {("a", "failed"), ("a", "timed_out")}
    assert "no edge leads on: a failed, a timed_out" in exploration(found.to_json())
    quiet = explore(compiled(ENDLESS), faults=0)
    assert not any(one.fault for one in quiet.failures)


def test_a_failure_that_is_routed_is_none() -> None:
    found = explore(compiled(HOPELESS.replace("and contains", "or contains")), faults=1)
    assert ("a", "failed") not in {(one.node, one.outcome) for one in found.failures}
    assert found.exits.missed == ()


def test_a_model_of_which_nothing_valid_is_known_is_still_tried() -> None:
    """It leaves the step, breaks down or is refused; only good behaviour is missing, and named as a gap."""
    found = explore(compiled(HOPELESS), faults=1)
    assert set(found.gaps) == {"a"}
    assert found.behaviours.total == found.behaviours.covered > 5
    assert found.exits.missed == ("done",)
    assert "Without any fault" not in exploration(found.to_json())


BOOKING = """language 1
workflow booking {
  revision 1
  input { room: text(1..100) }
  exits { done: { id: text } }
  action book "booking" {
    call "rooms.book" with { room: input.room }
    KEY
    returns { id: text(1..20) }
  }
  compute booked = { id: book.id }
  edges { start -> book -> booked -> exit done }
}
"""


def test_an_effect_without_a_key_that_happens_twice_is_told() -> None:
    """A crash between the effect and its record: the step runs again, and so does the effect."""
    flow = compiled(BOOKING.replace("KEY", ""))
    found = explore(flow, faults=1)
    assert [effect.node for effect in found.doubled] == ["book"]
    told = [event["type"] for event in replay(found.doubled[0].token, lambda _: flow).events]
    assert told.count("effect_applied") == 2
    assert "! A crash makes book happen twice" in exploration(found.to_json())
    assert explore(flow, faults=1, crashes=0).doubled == ()


def test_an_effect_with_a_key_happens_once() -> None:
    flow = compiled(BOOKING.replace("KEY", 'idempotencyKey "book-${input.room}"'))
    assert explore(flow, faults=1).doubled == ()
