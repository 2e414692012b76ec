"""A host on a store: the run that the simulator makes, line for line, and every way to lose it."""

from __future__ import annotations

import pytest

from tests.simulator.durable.hosts import Desk
from tests.simulator.flows import ANSWER, DECIDE, LOOP, builtin, flow, says, script, submits
from windtunnel.simulator import simulate
from windtunnel.simulator.choices import Asked, Choices
from windtunnel.simulator.clock import Clock
from windtunnel.simulator.durable.expected import durable
from windtunnel.simulator.durable.host import LEASE_MS, Host
from windtunnel.simulator.durable.lines import attempts_of, delivered, due_of, following, state_of, written
from windtunnel.simulator.durable.offers import Stuck
from windtunnel.simulator.durable.session import MemorySession, fold
from windtunnel.simulator.events import Action, Answered, Append, Cancel, Escape, Release, Repair
from windtunnel.simulator.providers.behaviour import Stop, Turn
from windtunnel.simulator.providers.people import GeneratedPeople
from windtunnel.simulator.store.interface import ClaimLost, StoreRefused
from windtunnel.simulator.store.records import Claim

ASK = """language 1
workflow ask {
  revision 1
  input { what: text(1..40) }
  exits { done: { said: text } }
  agent draft { prompt "Draft ${input.what}." expectedOutput assistant { maxChars 60 } }
  decision ok {
    title "May we?"
    subject { draft: draft }
    choices {
      yes "Yes"
      no "No" asks why: text(1..40) "Why not?"
    }
    after 1d choose yes
  }
  notify tell { message "It is decided: ${draft}." }
  notify again { message "Yes, it is." }
  compute kept = { said: draft }
  compute left = { said: ok.no.why }
  edges {
    start -> draft -> ok
    ok.yes -> tell -> again -> kept -> exit done
    ok.no -> left -> exit done
  }
}
"""

PAY = """language 1
workflow pay {
  revision 1
  input { order: text(1..9) }
  exits { done: { receipt: text } }
  action charge {
    call "payments.charge" with { order: input.order }
    returns { receipt: text(1..20) }
    idempotencyKey "order-${input.order}"
    timeout 30s
  }
  shell print {
    run ["print", charge.receipt]
    timeout 30s
  }
  compute kept = { receipt: charge.receipt }
  edges { start -> charge -> print -> kept -> exit done }
}
"""

TIMED = """language 1
workflow timed {
  revision 1
  exits { done: { n: int }, late: { n: int } }
  agent pick { prompt "Pick." expectedOutput { n: int(0..9) } timeout 5m }
  compute kept = { n: pick.n }
  compute zero = { n: 0 }
  edges {
    start -> pick -> kept -> exit done
    pick on timed_out -> zero -> exit late
  }
}
"""


FLOWS = {
    "answer": flow(ANSWER),
    "decide": flow(DECIDE),
    "loop": flow(LOOP),
    "ask": flow(ASK),
    "pay": flow(PAY),
    "autoplan": builtin("autoplan"),
}


def people(name: str) -> GeneratedPeople:
    """Those who answer what a flow asks."""
    return GeneratedPeople(FLOWS[name])


def always(answer: int) -> Choices:
    """The same answer to every question, as far as it is offered."""
    return Asked(lambda n, label: answer % n)


class Killed(Exception):
    """Stands for a process that dies."""


@pytest.mark.parametrize("name", FLOWS)
def test_a_store_holds_what_the_simulator_says(name: str) -> None:
    """The durable lines of the simulated run, with every id, time, measure and cause; and its session."""
    desk = Desk(FLOWS[name])
    record = desk.host(people=people(name)).work()
    simulated = simulate(FLOWS[name])
    assert written(desk.run, desk.store.trace(desk.run)) == list(durable(simulated.events))
    assert desk.session.entries == simulated.session
    assert (record.status, record.last_seq) == ("completed", len(desk.store.trace(desk.run)))


def checked(host: Host, desk: Desk) -> None:
    """What a host keeps beside store and session is what one would read that starts now."""
    lines = desk.store.trace(desk.run)
    assert host.run == state_of(desk.program, desk.store.run(desk.run).input, lines)
    assert host.log == fold(
        desk.session.entries,
        attempts_of(lines),
        desk.program.revisited,
        delivered=delivered(lines),
        torn=desk.session.torn,
    )


@pytest.mark.parametrize("name", ["loop", "ask", "pay", "autoplan"])
def test_the_state_is_the_fold_of_what_is_durable(name: str) -> None:
    """fold(trace) == state and fold(entries) == log, after every transition of every behaviour."""
    for turn in range(4):
        desk = Desk(FLOWS[name])
        host = desk.host(choices=always(turn), people=people(name))
        while host.advance():
            checked(host, desk)
        assert host.over


@pytest.mark.parametrize("name", ["answer", "loop", "ask", "pay"])
def test_a_host_may_die_between_any_two_effects(name: str) -> None:
    """Another goes on, whatever the first left: the run ends as without a death, nothing is done twice."""
    quiet = Desk(FLOWS[name])
    quiet.host(people=people(name)).work()
    finished = [
        line.event.node for line in quiet.store.trace(quiet.run) if line.event.type == "node_finished"
    ]
    windows: list[tuple[int, int]] = []
    watched = Desk(FLOWS[name])
    watched.host(people=people(name), probe=lambda number, done, _: windows.append((number, done))).work()
    for window in windows[:: 4 if name == "loop" else 1]:
        desk = Desk(FLOWS[name])

        def die(number: int, done: int, action: Action | None, at: tuple[int, int] = window) -> None:
            if (number, done) == at:
                raise Killed

        with pytest.raises(Killed):
            desk.host(people=people(name), probe=die).work()
        desk.now_ms += LEASE_MS
        record = desk.store.run(desk.run)
        if record.status != "completed" or record.untold:
            again = desk.host(owner="next", people=people(name))
            checked(again, desk)
            again.work()
            checked(again, desk)
        lines = desk.store.trace(desk.run)
        assert desk.store.run(desk.run).status == "completed"
        assert [line.event.node for line in lines if line.event.type == "node_finished"] == finished
        answers = [entry for entry in desk.session.entries if entry.get("stop") == "stop" and entry["text"]]
        assert len({entry["text"] for entry in answers}) == len(answers)
        told = [entry["text"] for entry in desk.session.entries if entry["kind"] == "notice"]
        assert told == [entry["text"] for entry in quiet.session.entries if entry["kind"] == "notice"]
        assert all(notice.delivered for notice in desk.store.notices(desk.run))
        keyed = [one["name"] for one in desk.ledger.done if "key" in one]
        assert keyed == (["payments.charge"] if name == "pay" else [])


def test_a_torn_append_is_cut_off() -> None:
    """R28, C-law 4: half an entry is repaired before anything is written behind it."""
    desk = Desk(FLOWS["answer"])

    def tear(number: int, done: int, action: Action | None) -> None:
        if isinstance(action, Append):
            desk.session.torn = True
            raise Killed

    with pytest.raises(Killed):
        desk.host(probe=tear).work()
    desk.now_ms += LEASE_MS
    seen: list[type] = []
    desk.host(probe=lambda number, done, action: seen.append(type(action))).work()
    assert seen.count(Repair) == 1
    assert not desk.session.torn
    assert desk.store.run(desk.run).status == "completed"


# --- claims -------------------------------------------------------------------------------------------------


def test_a_host_that_lost_its_claim_stops_without_a_trace() -> None:
    """R33, A40, W11: the loser writes neither to the store nor to the session; the winner ends the run."""
    for stop in range(1, 16):
        desk = Desk(FLOWS["answer"])
        zombie = desk.host(owner="zombie")
        for _ in range(stop):
            zombie.advance()
        if zombie.over:
            break
        desk.now_ms += LEASE_MS
        fresh = desk.host(owner="fresh")
        before = (desk.store.trace(desk.run), desk.session.entries)
        with pytest.raises(ClaimLost, match="zombie has lost its claim"):
            zombie.work()
        assert (desk.store.trace(desk.run), desk.session.entries) == before
        assert fresh.work().status == "completed"
        assert desk.types().count("node_finished") == 2


def test_a_claim_is_renewed_in_time() -> None:
    """A host that works longer than its lease keeps its claim."""
    desk = Desk(FLOWS["loop"])
    host = desk.host(owner="one")
    while host.advance():
        desk.now_ms += LEASE_MS // 2
        if not host.over:
            assert not isinstance(desk.store.claim(desk.run, "two", desk.now_ms, LEASE_MS), Claim)
    assert host.record.status == "completed"


# --- people -------------------------------------------------------------------------------------------------


def test_cancel_ends_a_run_that_never_began() -> None:
    """Nothing of it is started first."""
    desk = Desk(FLOWS["answer"])
    host = desk.host()
    host.receive(Cancel())
    assert desk.types() == ["run_cancelled"]
    assert desk.store.run(desk.run).status == "cancelled"


def test_a_host_hears_what_is_asked_of_it() -> None:
    """R24: cancel from another process: the node fails as cancelled, its turn ends, the word is settled."""
    desk = Desk(FLOWS["answer"])
    host = desk.host()
    while "agent_prompt_sent" not in desk.types():
        host.advance()
    desk.store.ask(desk.run, "cancel", 0)
    host.work()
    assert desk.types()[-2:] == ["node_failed", "run_cancelled"]
    assert desk.store.asked(desk.run) == ()
    assert not [entry for entry in desk.session.entries if entry.get("stop") == "stop"]


def test_a_word_that_nobody_knows_is_settled() -> None:
    """It changes nothing and is not heard again."""
    desk = Desk(FLOWS["answer"])
    desk.store.ask(desk.run, "dance", 0)
    assert desk.host().work().status == "completed"
    assert desk.store.asked(desk.run) == ()


def test_a_paused_run_waits_for_its_person() -> None:
    """R23: it stays paused across processes; a release lets it go on in the same visit."""
    desk = Desk(FLOWS["answer"])
    host = desk.host()
    while host.loop.phase != "streaming":
        host.advance()
    host.receive(Escape())
    host.work()
    assert desk.store.run(desk.run).paused
    desk.now_ms += LEASE_MS
    later = desk.host()
    assert later.work().paused
    later.receive(Release())
    assert later.work().status == "completed"
    assert desk.types().count("run_paused") == 1


def test_an_answer_lets_a_waiting_run_go_on() -> None:
    """R35: nobody else answers; the run goes on under another id, in the same trace, and ends."""
    desk = Desk(FLOWS["ask"])
    waiting = desk.host(following=following).work()
    assert (waiting.status, waiting.current) == ("waiting", "run-1")
    (asked,) = desk.store.decisions(desk.run)
    assert (asked.node, asked.state) == ("ok", "open")
    desk.now_ms += LEASE_MS
    host = desk.host(following=following)
    host.work()
    said = host.receive(Answered("sha256:another", "yes"))
    assert [event.type for event in said] == ["answer_refused"]
    assert desk.store.run(desk.run).status == "waiting"
    assert host.run.request is not None
    assert host.receive(Answered(host.run.request.digest, "no", '"It rains."')) == ()
    record = host.work()
    assert (record.status, record.current) == ("completed", "run-1.2")
    assert desk.store.decisions(desk.run)[0].state == "answered"
    lines = written(desk.run, desk.store.trace(desk.run))
    (went_on,) = [line for line in lines if line["payload"].get("continuedFrom")]
    assert (went_on["runId"], went_on["payload"]["continuedFrom"]) == ("run-1.2", "run-1")
    assert lines[-1]["payload"]["finalOutput"] == {"said": "It rains."}


def test_a_request_runs_out_by_the_clock_of_its_run() -> None:
    """R37: the deadline outlives every process; the default is taken by whoever looks then, once."""
    desk = Desk(FLOWS["ask"])
    desk.host(timely=True).work()
    due = due_of(desk.store.trace(desk.run))
    assert due is not None
    for at_ms, status in ((due - 10, "waiting"), (due, "completed")):
        desk.now_ms += LEASE_MS
        assert desk.host(at_ms=at_ms, timely=True).work().status == status
    assert desk.types().count("decision_defaulted") == 1
    assert desk.store.decisions(desk.run)[0].state == "defaulted"


def test_a_cancelled_request_is_never_answered() -> None:
    """Its tombstone stands in the store."""
    desk = Desk(FLOWS["ask"])
    desk.host().work()
    desk.now_ms += LEASE_MS
    desk.host().receive(Cancel())
    assert desk.store.run(desk.run).status == "cancelled"
    assert desk.store.decisions(desk.run)[0].state == "cancelled"
    assert desk.types()[-3:] == ["decision_cancelled", "node_failed", "run_cancelled"]


# --- time ---------------------------------------------------------------------------------------------------


class SlowClock(Clock):
    """A wall that moves on by itself, a minute for each look."""

    def tick(self) -> None:
        """A minute passes."""
        self.now_ms += 60_000


def test_a_timer_fires_when_nothing_else_happens() -> None:
    """R8: a model that stays silent times out, on the virtual clock without waiting."""
    silent = script(pick=[Turn(stop=Stop.STOP, stalls=True)])
    desk = Desk(flow(TIMED), provider=silent)
    assert desk.host().work().status == "completed"
    assert "timed_out" in {line.event.get("outcome") for line in desk.store.trace(desk.run)}


def test_a_timer_fires_on_time_although_more_could_happen() -> None:
    """On a real clock the attempt's time is up when it is up."""
    turns = [Turn(stop=Stop.STOP), Turn(stop=Stop.STOP), submits({"n": 1})]
    late, soon = (Desk(flow(TIMED), provider=script(pick=turns)) for _ in range(2))
    late.host(clock=SlowClock(), timely=True).work()
    soon.host().work()
    ways = [[line.event.get("exit") for line in desk.store.trace(desk.run)][-1] for desk in (late, soon)]
    assert ways == ["late", "done"]


# --- refusals -----------------------------------------------------------------------------------------------


def test_a_model_without_an_answer_is_told() -> None:
    """A script that ends early is no crash of ours."""
    desk = Desk(FLOWS["decide"], provider=script(other=[says("x")]))
    with pytest.raises(Stuck, match="there is nothing to say for pick: no line of the script"):
        desk.host().work()
    assert desk.store.run(desk.run).status == "running"


@pytest.mark.parametrize(
    "change",
    [{"runId": "run-9"}, {"attemptId": "attempt-9"}],
)
def test_the_session_of_another_run_is_refused(change: dict[str, str]) -> None:
    """Before anything is written."""
    desk = Desk(FLOWS["answer"])
    host = desk.host()
    while not desk.session.entries:
        host.advance()
    desk.session = MemorySession(
        [entry | change for entry in desk.session.entries if entry["kind"] == "step"]
    )
    desk.now_ms += LEASE_MS
    with pytest.raises(StoreRefused, match="holds prompts of run-1 that the store does not know of"):
        desk.host()


def test_choices_take_other_ways() -> None:
    """The same host answers as recorded: a run of a store can be steered like a simulated one."""
    ends = set()
    for choice in range(4):
        desk = Desk(FLOWS["autoplan"])
        desk.host(choices=always(choice)).work()
        ends.add(desk.store.trace(desk.run)[-1].event.get("exit"))
    assert ends == {"ready", "blocked"}
