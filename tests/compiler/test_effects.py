"""Effects: which key is advised where, and which of them an approval is about."""

from __future__ import annotations

import pytest

from tests.compiler.cases import check_text, codes, concise

PAY = """language 1
workflow w {
  input { order: text }
  action pay {
    call "bank.charge" with { order: input.order }
    KEY
  }
  agent judge { prompt "${json(pay)}" expectedOutput { again: bool } }
  compute gave_up = { order: input.order }
  edges {
    start -> pay -> judge
    judge -> match .again {
      true -> AGAIN
      false -> exit done
    }
    RETRY
    gave_up -> exit stopped
  }
}
"""
ROUND = "pay limit 3 then -> gave_up"
RETRY = "pay on failed -> pay limit 2 then -> gave_up"
ROUTE = "pay on failed -> gave_up"


def checked(key: str, again: str, retry: str) -> str:
    """What is found."""
    return concise(check_text(PAY.replace("KEY", key).replace("AGAIN", again).replace("RETRY", retry)))


def test_a_new_round_is_advised_a_new_key() -> None:
    found = checked("", ROUND, ROUTE)
    assert 'from a new effect: `idempotencyKey "pay-${visits(pay)}"`' in found


def test_a_retry_is_advised_the_key_of_the_first_try() -> None:
    """Counting visits would charge twice."""
    found = checked("", "gave_up", RETRY)
    assert "WT0801" in found
    assert "visits" not in found
    assert 'a key that stays the same keeps a retry from doing it twice: `idempotencyKey "pay-…"`' in found
    assert "also 16:5 it is tried again here" in found


def test_rounds_with_retries_are_advised_a_key_of_the_round() -> None:
    found = checked("", ROUND, RETRY)
    assert "`visits(pay)` would change with each retry" in found
    assert '"pay-${visits(pay)}"' not in found


@pytest.mark.parametrize(
    ("key", "retry", "expected"),
    [
        ('idempotencyKey "pay-${visits(pay)}"', RETRY, ["WT0805"]),
        ('idempotencyKey "pay-${visits(pay)}"', ROUTE, []),
        ('idempotencyKey "pay-${visits(pay, "ok")}"', RETRY, []),
        ('idempotencyKey "pay-${visits(judge)}"', RETRY, []),
        ('idempotencyKey "pay-${input.order}"', RETRY, ["WT0802"]),
        ('idempotencyKey "pay-${input.order}"', ROUTE, ["WT0802"]),
    ],
)
def test_keys_in_a_round_that_is_tried_again(key: str, retry: str, expected: list[str]) -> None:
    """One key for all tries of a round, and another one for the next round."""
    text = PAY.replace("KEY", key).replace("AGAIN", ROUND).replace("RETRY", retry)
    assert codes(check_text(text)) == expected


APPROVAL = """language 1
workflow w {
  input { topic: text, fresh: bool = true }
  shell look { run ["ls", input.topic] idempotencyKey "look-${visits(look)}" }
  agent write { prompt "${look?.stdout ?? "nothing"} ${input.topic}" expectedOutput { text: text } }
  decision ask {
    title "Publish ${write.text}?"
    choices {
      yes "Yes"
      redo "Look again"
      no "No"
    }
  }
  action publish { call "site.publish" with { text: write.text } idempotencyKey "publish" }
  compute dropped = { topic: input.topic }
  edges {
    START
    look -> write -> ask
    ask.yes -> publish -> exit done
    ask.redo -> look
    ask.no -> dropped -> exit dropped
  }
}
"""


@pytest.mark.parametrize(
    "start",
    ["start -> look", "start -> match input.fresh {\n      true -> look\n      false -> write\n    }"],
)
def test_a_look_up_before_a_decision_is_not_what_it_is_about(start: str) -> None:
    """It is done before each decision, or followed by one on every path."""
    assert "WT0707" not in codes(check_text(APPROVAL.replace("START", start)))


def test_what_is_done_without_being_asked_about_is() -> None:
    """A way from the start to the effect, and on to an exit, that no decision stands on."""
    start = "start -> match input.fresh {\n      true -> look\n      false -> publish\n    }"
    text = APPROVAL.replace("START", start).replace("text: write.text }", 'text: write?.text ?? "" }')
    assert codes(check_text(text))[-1] == "WT0707"
