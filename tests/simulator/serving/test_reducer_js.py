"""The page folds as the simulator does: both reducers are given the same, and must have the same state after
each step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from windtunnel.simulator.chat import optimistic, wire
from windtunnel.simulator.chat.chances import moves
from windtunnel.simulator.chat.chunks import event_json
from windtunnel.simulator.chat.happenings import after_move
from windtunnel.simulator.chat.host import Host, snapshot_at
from windtunnel.simulator.chat.network import first_world
from windtunnel.simulator.chat.parts import (
    Item,
    Part,
    ReasoningPart,
    Role,
    Step,
    TextPart,
    ToolPart,
    item_json,
    row_json,
)
from windtunnel.simulator.chat.reducer import hear_heartbeat, hydrate, reduce_event
from windtunnel.simulator.chat.rows import Snapshot, snapshot_json
from windtunnel.simulator.chat.small_worlds import SMALL_WORLDS
from windtunnel.simulator.chat.view import ViewState
from windtunnel.simulator.chat.window import Cursor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLD = """
([state, steps]) => {
  const after = [];
  for (const [what, ...given] of steps) {
    state = reducer[what](state ?? reducer.NOTHING_SEEN, ...given);
    after.push(JSON.stringify(state));
  }
  return after;
}
"""

Did = tuple[list[Any], ViewState]
"""A step as the page is given it, and the state that the simulator has after it."""


@pytest.fixture(scope="module")
def fold(chromium: Browser) -> Iterator[Page]:
    """A blank page that holds the reducer."""
    page = chromium.new_page()
    folder = files("windtunnel.simulator.serving")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in ("merging.js", "reducer.js")]
    source = re.sub(r"import \{[^}]*\} from [^;]*;", "", "\n".join(texts))
    names = "NOTHING_SEEN, reduceEvent, hearHeartbeat, hydrate, addOptimistic, markAccepted, clearItems"
    page.add_script_tag(content=f"{source}\nglobalThis.reducer = {{ {names} }};", type="module")
    page.wait_for_function("globalThis.reducer !== undefined")
    yield page
    page.close()


def state_json(state: ViewState) -> dict[str, Any]:
    """A state as the page keeps it."""
    resync = state.resync
    return {
        "rows": [row_json(row) for row in state.rows],
        "streaming": None if state.streaming is None else row_json(state.streaming),
        "queue": [item_json(item) for item in state.queue],
        "held": state.held,
        "outbox": [
            {
                "item": item_json(entry.item),
                "accepted": None
                if entry.accepted is None
                else {"epoch": entry.accepted.epoch, "seq": entry.accepted.seq},
            }
            for entry in state.outbox
        ],
        "pending": [list(key) for key in state.pending],
        "epoch": state.epoch,
        "last": state.last,
        "activity": state.activity,
        "outcome": state.outcome,
        "turn": state.turn,
        "turns": list(state.turns),
        "freshRun": state.fresh_run,
        "over": state.over,
        "notices": [
            {"message": notice.message, "turnId": notice.turn, "code": notice.code}
            for notice in state.notices
        ],
        "warnings": list(state.warnings),
        "mode": state.mode,
        "hydrated": state.hydrated,
        "live": state.live,
        "resync": None
        if resync is None
        else {"expected": resync.expected, "got": resync.got, "last": resync.last},
        "adopted": list(state.adopted),
        "ended": sorted(state.ended),
    }


def agree(page: Page, did: list[Did]) -> None:
    """Both have the same state after each step."""
    found = page.evaluate(FOLD, [None, [step for step, _ in did]])
    for number, (text, (step, state)) in enumerate(zip(found, did, strict=True)):
        theirs = json.loads(text)
        theirs["ended"] = sorted(theirs["ended"])
        assert theirs == json.loads(json.dumps(state_json(state))), f"after step {number}: {step}"


# --- what a session really sends ----------------------------------------------------------------------------


def told(name: str, seed: int) -> tuple[list[wire.Event], list[Snapshot]]:
    """The events of a small world along one of its ways, and its last snapshot."""
    small = SMALL_WORLDS[name]
    world, budget = first_world(small.setting), small.budget
    for number in range(400):
        possible = moves(world, budget)
        if not possible:
            break
        move = possible[(seed * 7 + number * seed) % len(possible)]
        budget -= move.kind is not None
        world = after_move(world, move)
    hosts = [held for _, held in world.server.sessions if isinstance(held, Host)]
    events = [event for host in hosts[:1] for event in host.window.events]
    return events, [snapshot_at(host) for host in hosts[:1]]


@pytest.mark.parametrize("name", SMALL_WORLDS)
def test_a_session_is_folded_alike(fold: Page, name: str) -> None:
    """S48: every event of a session, then each again, then its snapshot over what is there."""
    for seed in range(3):
        events, snapshots = told(name, seed)
        state = ViewState(epoch=events[0].epoch, last=events[0].seq - 1) if events else ViewState()
        did: list[Did] = []
        start = Snapshot(state.epoch, state.last)
        state = hydrate(ViewState(), start)
        did.append((["hydrate", snapshot_json(start)], state))
        for event in [*events, *events[-3:]]:
            state = reduce_event(state, event)
            did.append((["reduceEvent", event_json(event)], state))
        for snapshot in snapshots:
            state = hydrate(state, snapshot)
            did.append((["hydrate", snapshot_json(snapshot)], state))
        agree(fold, did)


# --- what nobody should send --------------------------------------------------------------------------------

messages = st.sampled_from(["a1", "a2", "u1"])
turns = st.sampled_from([None, "t1", "t2", "t3"])
part_names = st.sampled_from(["p1", "p2"])
call_names = st.sampled_from(["c1", "c2"])
texts = st.sampled_from(["", "a", "ab", "𝒳y", "ha", "a\u0301<b>", "\u2028"])
offsets = st.sampled_from([None, 0, 1, 2, 3])
nonces = st.sampled_from([None, "n1", "n2", "n3"])
roles: st.SearchStrategy[Role] = st.sampled_from(["user", "assistant"])
values = st.sampled_from(
    ['"ok"', '{"a":[true,null],"b":1}', "null", '"\\u00e9"', '{"a":{},"z":"\\u00e9\\u007f"}']
)
states = st.sampled_from(
    ["input-streaming", "input-available", "output-available", "output-error", "aborted"]
)
items = st.builds(
    Item,
    texts,
    nonces,
    st.sampled_from([None, "k1", "k2"]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from(["prompt", "followup"]),
)
parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, part_names, texts),
    st.builds(ReasoningPart, part_names, texts, st.sampled_from(["streaming", "done"])),
    st.builds(
        ToolPart,
        call_names,
        st.just("look"),
        states,
        st.one_of(st.none(), values),
        st.just(""),
        st.one_of(st.none(), values),
        st.sampled_from([None, "no"]),
    ),
)
steps = st.one_of(st.none(), st.just(Step("run-1", "plan", "attempt-1", "submit", "step", 10)))


@st.composite
def message_ends(draw: st.DrawFn) -> wire.EventBody:
    """A message is whole."""
    message, role = draw(messages), draw(roles)
    whole = wire.Whole(message, role, tuple(draw(st.lists(parts, max_size=3))))
    stop = draw(st.sampled_from([None, "stop", "toolUse", "error", "aborted"]))
    return wire.MessageEnd(message, role, whole, draw(turns), stop)


prose = st.sampled_from(["text", "reasoning"])
bodies: st.SearchStrategy[wire.EventBody] = st.one_of(
    st.just(wire.Mode()),
    st.builds(wire.AgentStart, turns),
    st.builds(wire.AgentEnd, st.sampled_from(["ok", "error", "aborted"]), turns),
    st.builds(wire.MessageStart, messages, roles, turns, nonces, texts, steps, st.integers(0, 2)),
    message_ends(),
    st.builds(wire.ProseStart, prose, messages, part_names),
    st.builds(wire.ProseDelta, prose, messages, part_names, texts, offsets),
    st.builds(wire.ProseEnd, prose, messages, part_names, st.one_of(st.none(), texts)),
    st.builds(wire.ToolCallStart, messages, call_names, st.just("look")),
    st.builds(wire.ToolCallDelta, messages, call_names, texts, offsets),
    st.builds(wire.ToolCallEnd, messages, call_names, values),
    st.builds(wire.ToolResult, messages, call_names, values, st.booleans()),
    st.builds(wire.QueueUpdated, st.lists(items, max_size=3).map(tuple), st.booleans()),
    st.builds(wire.FollowupConsumed, messages, nonces),
    st.builds(wire.RetryStart, st.just(1), st.just(1_000), turns),
    st.builds(wire.RetryEnd, st.just(1), st.sampled_from(["started", "cancelled"]), turns),
    st.builds(wire.Error, texts, turns, st.sampled_from(["run_failed", "other"])),
    st.builds(wire.Unknown, st.just("pi-new")),
)
own_nonces = st.sampled_from(["n1", "n2", "n3"])
own_items = st.builds(Item, texts, own_nonces, st.just("k1"), st.sampled_from([None, 1]), st.just("followup"))
kinds = st.sampled_from(["event"] * 9 + ["old", "gap", "say", "accept", "clear", "beat", "read"])


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_stream_is_folded_alike(fold: Page, data: st.DataObject) -> None:
    """Whatever comes, also what no server of ours sends: the same rows, queue, outbox, calls and notices."""
    state = ViewState()
    did: list[Did] = []
    for _ in range(data.draw(st.integers(1, 30))):
        what = data.draw(kinds)
        if what in ("event", "old", "gap"):
            seq = state.last + {"event": 1, "old": 0, "gap": 2}[what]
            event = wire.Event(state.epoch, seq, data.draw(bodies))
            state = reduce_event(state, event)
            step: list[Any] = ["reduceEvent", event_json(event)]
        elif what == "say":
            item = data.draw(own_items)
            state = optimistic.add_optimistic(state, item)
            step = ["addOptimistic", item_json(item)]
        elif what == "accept":
            nonce = data.draw(own_nonces)
            state = optimistic.mark_accepted(state, nonce, Cursor(1, 1))
            step = ["markAccepted", nonce, {"epoch": 1, "seq": 1}]
        elif what == "clear":
            nonce = data.draw(own_nonces)
            state = optimistic.clear_items(state, [nonce])
            step = ["clearItems", [nonce]]
        elif what == "beat":
            state = hear_heartbeat(state, state.epoch, state.last)
            step = ["hearHeartbeat", state.epoch, state.last]
        else:
            cut = Snapshot(
                state.epoch,
                state.last + data.draw(st.integers(0, 1)),
                state.rows,
                state.streaming,
                state.queue,
                state.held,
                state.activity,
                state.outcome,
                state.turn,
                state.notices,
                True,
            )
            state = hydrate(state, cut)
            step = ["hydrate", snapshot_json(cut)]
        did.append((step, state))
    agree(fold, did)
