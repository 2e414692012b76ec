"""Replay tokens: what is written can be read, and nothing else can."""

from __future__ import annotations

import base64
from dataclasses import replace
from json import loads
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.flows import ANSWER, DECIDE, flow
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.simulator import TokenError, explore, replay
from windtunnel.simulator.budget import FIRST_KINDS, Budget, budget
from windtunnel.simulator.hosting import Hosting, hosting
from windtunnel.simulator.search.token import MAX_TOKEN, Token, decode, encode

choices = st.lists(st.one_of(st.just(0), st.integers(0, 60)), max_size=40)
json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def token(*taken: int, workflow: str = "builtin:answer") -> Token:
    """A token of some run."""
    return Token(workflow, "sha256:0", {"a": 1}, budget(2), taken)


@settings(max_examples=40)
@given(choices, json, st.text(max_size=20), st.none() | st.sampled_from(["W01", "W12"]))
def test_what_is_written_can_be_read(taken: list[int], given_: object, name: str, fault: str | None) -> None:
    """All but trailing zeros, which say nothing."""
    while taken and taken[-1] == 0:
        taken.pop()
    made = Token(name, "sha256:1", given_, budget(3, {"crash": 1}), tuple(taken), fault)  # type: ignore[arg-type]
    text = encode(made)
    assert decode(text) == made
    assert set(text) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def test_what_is_not_asked_for_leaves_no_mark() -> None:
    """A token of the usual hosts and kinds of fault is what it always was; others say what they need."""
    usual = token(0, 3)
    body = json_of(encode(usual))
    assert "h" not in body
    assert len(body["n"]) == 1 + FIRST_KINDS
    more = replace(usual, hosting=hosting(also=("pause",)), budget=budget(2, {"pause": 1}))
    assert json_of(encode(more))["h"] == {"also": ["pause"]}
    assert decode(encode(more)) == more


def test_a_token_for_hosts_that_are_not_known_is_refused() -> None:
    """In words, as everything that is pasted."""
    strange = encode(replace(token(), hosting=Hosting("orbital")))
    with pytest.raises(TokenError, match="There is no orbital host"):
        decode(strange)


def json_of(text: str) -> Any:
    """What stands inside a token."""
    body = text.split(".")[1]
    return loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


@given(st.integers(0, 200), st.characters(codec="ascii"))
def test_a_damaged_token_is_refused(at: int, letter: str) -> None:
    """One letter is enough, wherever it stands."""
    text = encode(token(0, 0, 5, 0, 1))
    at %= len(text)
    damaged = text[:at] + letter + text[at + 1 :]
    if damaged.strip() == text:
        return
    with pytest.raises(TokenError):
        decode(damaged)


@given(st.text(max_size=60))
def test_no_text_gives_anything_but_a_message(text: str) -> None:
    """Whatever is pasted is refused in words."""
    with pytest.raises(TokenError, match=r"token"):
        decode(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "looks like"),
        ("wt0.abc.abc", "another version"),
        (encode(token(1))[:-1], "damaged"),
        ("wt1." + "a" * MAX_TOKEN + ".b", "looks like"),
    ],
)
def test_why_a_token_is_refused(text: str, says: str) -> None:
    """In words for a person."""
    with pytest.raises(TokenError, match=says):
        decode(text)


@pytest.mark.parametrize(
    "inside",
    [
        b'{"c":[-1,1],"d":"x","i":null,"n":[1,-1,-1,-1,-1,-1,-1,-1],"w":"w"}',
        b'{"c":[],"d":"x","i":null,"n":[1],"w":"w"}',
        b'{"c":[],"d":"x","i":null,"n":[1,-1,-1,-1,-1,-1,-1,true],"w":"w"}',
        b'{"c":[],"d":"x","i":null,"n":[1,-1,-1,-1,-1,-1,-1,"2"],"w":"w"}',
    ],
)
def test_a_whole_but_senseless_body_is_refused(inside: bytes) -> None:
    """Even with the right sum."""
    import hashlib

    body = base64.urlsafe_b64encode(inside).decode().rstrip("=")
    check = hashlib.sha256(body.encode()).hexdigest()[:8]
    with pytest.raises(TokenError, match="damaged inside"):
        decode(f"wt1.{body}.{check}")


def load_decide(name: str) -> Snapshot:
    """The workflow that the tokens below name."""
    assert name == "decide.flow"
    return flow(DECIDE)


def broken() -> str:
    """A token of a counterexample."""
    found = explore(flow(DECIDE), fault="W12", reference="decide.flow")
    return found.violations[0].token


def test_a_token_shows_its_counterexample_again() -> None:
    """The run ends where the explorer saw it break."""
    run = replay(broken(), load_decide)
    assert run.violations[0].invariant == "completed-nodes-never-rerun"
    assert replay(broken(), load_decide).trace == run.trace


def test_a_changed_workflow_refuses_the_token() -> None:
    """W17: another digest, another workflow; there is no way around."""
    with pytest.raises(TokenError, match=r"decide\.flow has changed"):
        replay(broken(), lambda name: flow(ANSWER))


def test_choices_that_do_not_fit_are_refused() -> None:
    """A token made by hand can ask for what is not offered."""
    snapshot = flow(DECIDE)
    forged = encode(Token("decide.flow", snapshot.digest, {}, budget(0), (50,)))
    with pytest.raises(TokenError, match="does not fit"):
        replay(forged, load_decide)
    unknown = encode(Token("decide.flow", snapshot.digest, {}, Budget(0, (-1,) * 7), (), "W99"))
    with pytest.raises(TokenError, match="W99"):
        replay(unknown, load_decide)
