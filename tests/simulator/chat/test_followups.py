"""Admission: numbers without a gap, each nonce once, what was removed stays removed, commands once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.chat.sessions import Session
from windtunnel.simulator.chat.entries import Commanded, Queued, UserMessage
from windtunnel.simulator.chat.followups import fold_admission, judge
from windtunnel.simulator.chat.parts import Item


def queued_session() -> Session:
    """A session with one message in the queue behind a run."""
    session = Session()
    session.post("first", 1, "n1")
    session.stream("x")
    session.post("second", 2, "n2")
    return session


def test_the_table_of_answers() -> None:
    """A60, A154, A156, A159, A221, S37, F39: lower with its nonce, lower with another, the next, a higher
    one.
    """
    session = queued_session()
    before = list(session.lines)
    table = [session.post("again", 2, "n2"), session.post("other", 2, "nx"), session.post("far", 4, "n4")]
    assert [(answer.status, answer.code, answer.expected) for answer in table] == [
        (202, "duplicate", 3),
        (409, "followup_conflict", 3),
        (409, "followup_out_of_order", 3),
    ]
    assert session.lines == before
    assert session.post("next", 3, "n3").code == "accepted"
    assert dict(session.snapshot().expected) == {"c": 4}


def test_numbers_of_two_clients_are_apart() -> None:
    """S39, F36: two tabs both begin at 1; equal texts are two messages."""
    session = queued_session()
    assert session.post("second", 1, "m1", "other").code == "accepted"
    assert [item.nonce for item in session.snapshot().queue] == ["n2", "m1"]


def test_a_nonce_is_taken_once_for_ever() -> None:
    """S38, C29, F38: after consumption, and after a restart, the same nonce is a duplicate."""
    session = queued_session()
    session.say("done")
    session.say("done")
    assert session.post("second", 2, "n2").code == "duplicate"
    session.start()
    assert session.post("second", 2, "n2").code == "duplicate"
    assert session.post("second", 3, "n2").code == "duplicate"
    assert dict(session.snapshot().expected) == {"c": 3}
    assert session.texts().count("second") == 1


def test_remove_one_of_two_equal_texts() -> None:
    """V36, C19, S41: by nonce; a selector that matches nothing clears nothing."""
    session = Session()
    session.post("first", 1)
    session.stream("x")
    session.post("same", 2, "n1")
    session.post("same", 1, "n2", "other")
    assert session.command("clear", "n2").cleared == ("n2",)
    assert [item.nonce for item in session.snapshot().queue] == ["n1"]
    assert session.command("clear", "nobody").cleared == ()
    assert session.command("clear").cleared == ()
    assert [item.nonce for item in session.snapshot().queue] == ["n1"]


def test_a_late_post_after_a_clear() -> None:
    """C36: removed before it arrived, or after: 202 `deleted`, nothing comes back, the number is not
    taken.
    """
    session = queued_session()
    session.command("clear", "n2", "n3")
    for number, nonce in ((2, "n2"), (3, "n3")):
        answer = session.post("late", number, nonce)
        assert (answer.status, answer.code, answer.expected) == (202, "deleted", 3)
    assert session.snapshot().queue == ()
    session.start()
    assert session.post("late", 3, "n3").code == "deleted"


def test_removing_what_was_consumed_does_nothing() -> None:
    """F61, S41: the row stays, its nonce is still a duplicate and not deleted."""
    session = queued_session()
    session.say("done")
    assert session.command("clear", "n2").cleared == ()
    assert session.post("second", 2, "n2").code == "duplicate"
    assert "second" in session.texts()


def test_a_command_happens_once() -> None:
    """A lost answer: the same receipt is answered the same, also after a restart, and aborts nothing new."""
    session = queued_session()
    first = session.command("stop", receipt="k")
    session.post("third", 3)
    again = session.command("stop", receipt="k")
    assert (first.cleared, again.cleared, again.status) == (("n2",), ("n2",), 202)
    assert session.snapshot().activity == "running"
    session.start()
    assert session.command("stop", receipt="k").cleared == ("n2",)
    commands = [body for body in session.bodies(Commanded) if isinstance(body, Commanded)]
    assert len(commands) == 1


POSTS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.sampled_from("ab")), max_size=14)


@given(POSTS, st.integers(0, 14))
@settings(max_examples=60, deadline=None)
def test_any_posts(posts: list[tuple[int, int, str]], restart: int) -> None:
    """S35, S37, S38: whatever is posted, and wherever the host restarts: each nonce once, numbers without
    a gap.
    """
    session = Session()
    for place, (number, nonce, client) in enumerate(posts):
        if place == restart:
            session.start()
        before = fold_admission(session.entries)
        item = Item("x", f"{client}{nonce}", client, number)
        verdict = judge(before, item)
        lines = len(session.lines)
        assert session.post("x", number, f"{client}{nonce}", client).code == verdict
        if verdict != "accepted":
            assert len(session.lines) == lines
    accepted: dict[str, list[int]] = {"a": [], "b": []}
    nonces: list[str] = []
    for entry in session.entries:
        said = entry.body.item if isinstance(entry.body, Queued) else entry.body
        if isinstance(said, Item) or (isinstance(said, UserMessage) and not said.consumed):
            assert said.client is not None
            assert said.number is not None
            assert said.nonce is not None
            accepted[said.client].append(said.number)
            nonces.append(said.nonce)
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in accepted.values())
    assert len(set(nonces)) == len(nonces)
