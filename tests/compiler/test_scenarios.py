"""Scenarios under the checks: each kind of mistake, nothing said of what is right, and the data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from windtunnel.compiler.pipeline import Staged, compile_scenarios
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.scenario import EventName, Moment, Where, WorldRead, under
from windtunnel.dsl.diagnostics import Severity

FLOW = """language 1
template twice(word: text) = "${word}${word}"
workflow inner {
  input { topic: text }
  agent tell "telling" {
    prompt "Tell about ${input.topic}"
    expectedOutput assistant
  }
  compute told = { text: tell }
  edges { start -> tell -> told -> exit told }
}
workflow all {
  input { topic: text(1..8), mode: "a" | "b" = "a", plan?: json(..100) }
  include part = inner { topic: input.topic }
  agent sort "sorting" {
    prompt "Sort ${part.told.text}"
    expectedOutput { pile: "a" | "b", notes: [text(1..5); ..2] }
  }
  shell log "reading" {
    run ["git", "log", input.topic]
    timeout 30s
  }
  shell facts "reading facts" {
    run ["facts", input.topic]
    returns { count: int(0..) }
    timeout 30s
  }
  action pay {
    call "bank.charge" with { topic: input.topic }
    returns { receipt: text(1..) }
    idempotencyKey "pay"
  }
  decision ask {
    title "Go on with ${input.topic}?"
    choices {
      yes "Yes"
      no "No" asks why: text(1..20) "Why?"
    }
  }
  checkpoint wait {
    show "Done with ${input.topic}?"
    answer { minutes: int(1..60) }
  }
  notify tellThem {
    kind final
    message "Paid ${pay.receipt}"
  }
  compute paid = { receipt: pay.receipt, pile: sort?.pile ?? "a" }
  compute kept = { why: ask.no.why }
  edges {
    start -> part
    part.told -> sort -> log -> facts -> ask
    ask.yes -> wait -> pay -> tellThem -> paid -> exit paid
    ask.no -> kept -> exit kept
    sort on failed -> sort limit 2 then -> log
  }
}
"""


def stage(body: str, title: str = '"it"') -> Staged:
    """A scenario with that body, checked and lowered."""
    text = f"{FLOW}scenario {title} for all {{\n{body}\n}}\n"
    return compile_scenarios(MemoryReader({"main.flow": text}), "main.flow")


def found(body: str, title: str = '"it"') -> list[tuple[str, str]]:
    """The code and message of each finding of the scenario; those of the workflow itself are none of ours."""
    staged = stage(body, title)
    begin = FLOW.count("\n") + 1
    source = staged.checked.modules.order[-1].source
    return [
        (each.code, each.message)
        for each in staged.diagnostics
        if source.position(each.primary.span.start)[0] >= begin
    ]


WRONG = [
    # input
    ('input { topic: "owls and more" }', "WT1202", "the input at `topic` is"),
    ("input { }", "WT1202", "the input lacks `topic`"),
    ('input { topic: "owls", mode: "c" }', "WT1202", 'is "c", but "a" | "b" is wanted'),
    ('input { topic: "owls", plan: [tell] }', "WT1219", "it cannot read `tell`"),
    # provider
    ('provider {\npart says "x"\n}', "WT1206", "`part` is an include, which never says"),
    ('provider {\npart/tel says "x"\n}', "WT1204", "there is no node `tel` in `part`"),
    ('provider {\nsort/x says "x"\n}', "WT1204", "`sort` is no include, so there is no `x` in it"),
    ('provider {\ntell says "x"\n}', "WT1204", "there is no node `tell`"),
    ("provider {\npaid returns { }\n}", "WT1206", "`paid` is a computed value, which never returns"),
    ("provider {\nsort returns { }\n}", "WT1206", "`sort` is an agent, which never returns"),
    ("provider {\nsort says\n}", "WT1207", "`says` takes a text"),
    ("provider {\nsort stalls 3s\n}", "WT1207", "`stalls` takes nothing"),
    ('provider {\nsort calls "x"\n}', "WT1207", "`calls` takes a tool with its argument"),
    ('provider {\nsort stops "soon"\n}', "WT1207", 'a message stops for "length" or "aborted"'),
    ('provider {\nsort says "x"\n}', "WT1208", "`sort` waits for a submission, which this line never makes"),
    ('provider {\npart/tell thinks "x"\n}', "WT1208", "`part/tell` answers in the chat"),
    ('provider {\npart/tell says "x", calls read({})\n}', "WT1208", "answers in the chat"),
    ('provider {\nsort submits { pile: "a" }\n}', "WT1208", "what `sort` submits lacks `notes`"),
    ('provider {\nsort submits { pile: "a", notes: ["too long"] }\n}', "WT1208", "what `sort` submits at"),
    ('provider {\npay returns { receipt: "" }\n}', "WT1208", "what `pay` returns at `receipt`"),
    ("provider {\nfacts returns { count: -1 }\n}", "WT1208", "what `facts` returns"),
    ('provider {\nlog returns { exitCode: "0" }\n}', "WT1208", "what `log` returns"),
    ("provider {\nsort stalls\nsort settles\n}", "WT1209", "a line for every visit of `sort` stands above"),
    ("provider {\nlog visit 2 stalls\n}", "WT1210", "a run comes to `log` only once"),
    ("provider {\npart/tell visit 2 stalls\n}", "WT1210", "a run comes to `part/tell` only once"),
    ('provider {\nsort fails "x", settles\n}', "WT1220", "this message ends with `fails`"),
    # people
    ("person {\nwaits\n}", "WT1212", "`waits` is nothing that a person does"),
    ("person {\nsends 3\n}", "WT1212", "what a person sends is 3, but text is wanted"),
    ("person {\npresses space\n}", "WT1212", "`presses` takes a key: `escape`"),
    ('person {\ncancels "x"\n}', "WT1212", "`cancels` takes nothing"),
    ('person {\nsends "x" before run_started\n}', "WT1215", "a person sees what happened"),
    ('person {\nsends "x" at "noon"\n}', "WT1215", "a moment is a duration"),
    ('person {\nsends "x" at -3s\n}', "WT1215", "a moment is never before the start"),
    ("person {\nanswers sort with yes\n}", "WT1213", "`sort` is an agent, which asks nobody"),
    ("person {\nanswers ask with maybe\n}", "WT1213", "`ask` has no choice `maybe`"),
    ("person {\nanswers ask\n}", "WT1213", "`ask` is answered `with` one of its choices: `yes`, `no`"),
    ("person {\nanswers ask with no\n}", "WT1213", "`no` of `ask` asks for `why`"),
    ('person {\nanswers ask with yes { why: "x" }\n}', "WT1213", "`yes` of `ask` asks for nothing"),
    ("person {\nanswers ask with no { why: 3 }\n}", "WT1213", "what `no` asks for at `why` is 3"),
    ("person {\nanswers wait\n}", "WT1213", "`wait` is answered `with` a value"),
    ("person {\nanswers wait with { minutes: 90 }\n}", "WT1213", "the answer to `wait` at `minutes`"),
    ("person {\nanswers wait with yes\n}", "WT1213", "`wait` is a checkpoint and has no choices"),
    # faults
    ("faults {\nexplode host\n}", "WT1214", "there is no fault `explode`"),
    ("faults {\ncrash client after run_started\n}", "WT1214", "`client` knows no crash"),
    ("faults {\ncrash run_started\n}", "WT1214", "`crash` befalls a process: `crash host`"),
    ("faults {\nduplicate host\n}", "WT1214", "`duplicate` befalls a message, not a process"),
    ("faults {\nduplicate\n}", "WT1214", "`duplicate` names a message"),
    ("faults {\nduplicate node_started\n}", "WT1214", "`node_started` is written where it happens"),
    ("faults {\nduplicate mesage_end\n}", "WT1211", "there is no event `mesage_end`"),
    ("faults {\ncrash host after node_startd\n}", "WT1211", "there is no event `node_startd`"),
    ("faults {\ncrash host after run_started of sort\n}", "WT1211", "`run_started` happens to the run"),
    ("faults {\ncrash host after message_end of log\n}", "WT1211", "`log` is a command, where `message_end`"),
    ("faults {\ncrash host after node_started of part\n}", "WT1211", "`part` is an include, where"),
    ("faults {\ncrash host after node_started visit 2\n}", "WT1211", "`visit 2` counts the visits of a node"),
    ("faults {\ncrash host after node_started of log visit 2\n}", "WT1210", "a run comes to `log` only once"),
    ("faults {\ncrash host after run_started for 3\n}", "WT1215", "how long a fault lasts is a duration"),
    # expectations
    ('expect sort.pile == "a"', "WT1216", "the world has no `sort`"),
    ('expect rum.exit == "paid"', "WT1216", "the world has no `rum`"),
    ("expect visits() == 1", "WT1216", "`visits` takes a node, and an outcome if you like"),
    ('expect visits("sort") == 1', "WT1216", "`visits` takes a node"),
    ('expect visits(sort, "done") == 1', "WT1216", 'a node ends "ok", "failed"'),
    ("expect visible(log) == 1", "WT1216", "`visible` takes an agent; `log` is a command"),
    ('expect result(part).outcome == "ok"', "WT1216", "`result` takes a node; `part` is an include"),
    ("expect visits(sord) == 1", "WT1204", "there is no node `sord`"),
    ("expect vists(sort) == 1", "WT0118", "there is no function `vists`"),
    ("expect true", "WT1217", "this says nothing about the run"),
    ("expect 1 < 2", "WT1217", "this says nothing about the run"),
    ("expect always visits(sort) >= 0", "WT1217", "this holds whatever happens"),
    ("expect not (visible(sort) < 0)", "WT1217", "this fails whatever happens"),
    ('expect clock > -1s or run.exit == "paid"', "WT1217", "this holds whatever happens"),
    ('expect run.exit == "payed"', "WT0409", "have no value in common"),
    ('expect run.exits == "paid"', "WT0404", "there is no field `exits` here"),
    ('expect run.output.reciept == "x"', "WT0404", "there is no field `reciept` here"),
    ('expect run.output.pile == "c"', "WT0409", "have no value in common"),
    ('expect result(sort).output.pile == "c"', "WT0409", "have no value in common"),
    ("expect visits(sort)", "WT0412", "a condition is true or false"),
    ("expect paid -> sort", "WT1218", "no edge leads from `paid` on to `sort`"),
    ("expect part/tell -> part/tell", "WT1218", "no edge leads from `part/tell` on to `part/tell`"),
    ("expect sort -> part/tell", "WT1218", "no edge leads from `sort` on to `part/tell`"),
    ("expect nobody -> sort", "WT1204", "there is no node `nobody`"),
    # host
    ("host attached", "WT1203", "there is no host `attached`"),
    ("host detached", "WT1203", "there is no host `detached`"),
]


@pytest.mark.parametrize(("body", "code", "words"), WRONG, ids=[f"{row[1]} {row[0]}" for row in WRONG])
def test_a_mistake_is_found_once_and_in_words(body: str, code: str, words: str) -> None:
    """One cause, one message."""
    ((actual, message),) = found(body)
    assert actual == code, message
    assert words in message


RIGHT = [
    'input { topic: "owls" }',
    'input { topic: "owls", mode: "b", plan: { steps: [1, null] } }',
    'input { topic: template twice("owl") }',
    'provider {\npart/tell says "x"\nsort submits { pile: "a", notes: [] }\n}',
    'provider {\npart/tell says "x", stops "length"\n}',
    'provider {\npart/tell submits { any: 1 } then says "x"\n}',
    'provider {\npart/tell calls read({ path: "a" }), says "x"\n}',
    'provider {\nsort submits { pile: "wrong" } then settles then submits { pile: "a", notes: ["x"] }\n}',
    'provider {\nsort says "I am done." then settles\n}',
    'provider {\nsort submits { pile: "a", notes: [] }, says "Done."\n}',
    'provider {\nsort visit 1 fails "x"\nsort visit 2 stalls\nsort settles\n}',
    'provider {\nlog returns { exitCode: 1, stdout: "", stderr: "no" }\n}',
    "provider {\nfacts returns { count: 1 }\n}",
    'provider {\nfacts returns { stdout: "{}" }\n}',
    'provider {\npay fails "502" then returns { receipt: "r" }\n}',
    'person {\nsends "x" at 2s\nsends "y" after message_start of sort\ncancels at 1h\n}',
    "person {\npresses escape after message_update of part/tell\nresumes at 3s\nreloads\ncloses\npauses\n}",
    'person {\nanswers ask with no { why: "late" } after decision_requested of ask\n}',
    "person {\nanswers ask with yes\nanswers wait with { minutes: 5 }\n}",
    "faults {\ncrash host after effect_applied of pay\nreorder\n}",
    "faults {\ncrash host during message_end of sort for 5s\ndelay answer for 2s\n}",
    "faults {\npower-loss host before notification_delivered of tellThem\ndrop submission of sort\n}",
    "faults {\ndisconnect client at 3s for 10s\ncrash host after include_exited of part\n}",
    "host interactive",
    "host detached without origin",
    'expect run.exit == "paid" or run.exit == null',
    'expect run.output.receipt == "r" and run.output.why == null',
    'expect contains(run.error, "x") or run.status in ["failed", "timed_out"]',
    'expect result(ask).provenance == "human" and result(ask).output.choice == "no"',
    "expect result(sort).output.pile == null",
    'expect visits(part) + visits(part/tell) + visits(sort, "failed") == 2',
    'expect effects("bank.charge") == 1 and effects("bank.charge", "pay") == 1',
    "expect prompts(sort) == 1 and refused(sort) == 0 and visible(part/tell) == 1",
    'expect count([m for m in transcript.canonical if m.role == "assistant" and m.text != ""]) == 1',
    "expect eventually client.connected",
    "expect always transcript.client == transcript.canonical or not client.connected",
    "expect always unique(queue.ids)",
    "expect clock <= 5m + 1s",
    "expect decisions.winners == 1",
    "expect part -> part/tell -> sort -> sort -> log -> ask -> paid",
]


@pytest.mark.parametrize("body", RIGHT)
def test_nothing_is_said_of_what_is_right(body: str) -> None:
    assert found(body) == []


@pytest.mark.parametrize(
    ("title", "words"),
    [('""', "is not empty"), ('" "', "is not empty"), ('"${1 + 1}"', "is known before anything runs")],
)
def test_a_title_is_a_name(title: str, words: str) -> None:
    ((code, message),) = found('expect run.exit == "paid"', title)
    assert code == "WT1201"
    assert words in message


def test_several_mistakes_give_several_findings() -> None:
    body = 'input { topic: 3 }\nprovider {\nsord says "x"\n}\nfaults {\nexplode host\n}\nexpect true'
    assert [code for code, _ in found(body)] == ["WT1202", "WT1204", "WT1214", "WT1217"]


def test_a_warning_can_be_silenced_and_an_error_cannot() -> None:
    body = '# allow(WT0409): to see it fail\nexpect run.exit == "payed"'
    assert found(body) == []
    body = "# allow(WT1217): no reason\nexpect true"
    assert [code for code, _ in found(body)] == ["WT1101", "WT1217"]


# --- the data -----------------------------------------------------------------------------------------------


def test_a_scenario_is_data() -> None:
    """Values are computed, places counted, defaults of words filled; what is not said stays None."""
    body = """input { topic: template twice("owl") }
provider {
  sort visit 2 thinks "x", submits { pile: "a", notes: [lower("X")] } then settles
}
person {
  sends "hi" at 1s + 500ms
  presses escape after message_end of part/tell visit 1
}
faults {
  crash host before run_completed for 1m
}
expect always visits(sort, "ok") <= 1
expect part -> sort"""
    staged = stage(body)
    assert [each for each in staged.diagnostics if each.severity is Severity.ERROR] == []
    ((scenario, snapshot),) = staged.scenarios
    assert (scenario.title, scenario.workflow, snapshot.workflow) == ("it", "all", "all")
    assert scenario.input == {"topic": "owlowl"}
    assert scenario.host == ("interactive",)
    line = scenario.provider[0]
    assert (line.node, line.visit) == ("sort", 2)
    assert [[act.verb for act in turn] for turn in line.turns] == [["thinks", "submits"], ["settles"]]
    assert line.turns[0][1].value == {"pile": "a", "notes": ["x"]}
    assert scenario.person[0].moment == Moment("at", 1_500, None)
    assert scenario.person[1].value == "escape"
    assert scenario.person[1].moment == Moment("after", None, EventName("message_end", "part/tell", 1))
    assert scenario.faults[0].for_ms == 60_000
    always, order = scenario.expects
    assert dict(always.reads).popitem()[1] == WorldRead("visits", ("sort", "ok"))
    assert [part.text for part in always.parts] == ['visits(sort, "ok")']
    assert order.order == ("part", "sort")
    first = FLOW.count("\n") + 1
    assert scenario.where == Where("main.flow", first, 1)
    assert always.where == Where("main.flow", first + 12, 1)


def test_places_follow_the_name_of_the_file() -> None:
    ((scenario, _),) = stage('provider {\nsort settles\n}\nexpect run.exit == "paid"').scenarios
    moved = under(scenario, "there.flow")
    places = [
        moved.where,
        moved.provider[0].where,
        moved.provider[0].turns[0][0].where,
        moved.expects[0].where,
    ]
    assert {place.file for place in places} == {"there.flow"}


def test_a_file_with_errors_has_no_scenarios_to_run() -> None:
    staged = stage("expect true")
    assert staged.scenarios == ()
    assert staged.diagnostics


def test_a_value_that_is_too_large_is_told() -> None:
    """What a limit forbids is a finding, not a crash."""
    deep = "[" * 120 + "]" * 120
    text = f'{FLOW}scenario "it" for all {{\ninput {{ topic: "x", plan: {deep} }}\n}}\n'
    staged = compile_scenarios(MemoryReader({"main.flow": text}), "main.flow")
    assert any(each.severity is Severity.ERROR for each in staged.diagnostics)


# --- whatever is written ------------------------------------------------------------------------------------

SCENARIOS = Path(__file__).parent.parent / "scenarios"
TEXTS = tuple(
    (SCENARIOS / name).read_text(encoding="utf-8") for name in ("assistant-capture.flow", "crash-points.flow")
)
WORDS = sorted({word for text in (*TEXTS, *RIGHT) for word in re.findall(r"\w+|[^\w\s]", text)})


@st.composite
def edited(draw: st.DrawFn) -> str:
    """A scenario file with a few pieces deleted, doubled or replaced by other words."""
    tokens = re.findall(r"\s+|\w+|[^\w\s]", draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 5))):
        at, length = draw(st.integers(0, len(tokens) - 1)), draw(st.integers(0, 6))
        match draw(st.sampled_from(("delete", "double", "replace"))):
            case "delete":
                del tokens[at : at + length]
            case "double":
                tokens[at:at] = tokens[at : at + length]
            case _:
                tokens[at : at + 1] = [draw(st.sampled_from(WORDS))]
        if not tokens:
            break
    return "".join(tokens)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edited())
def test_no_scenario_makes_the_compiler_raise(text: str) -> None:
    """Every edit is lowered or gives findings whose places lie in the text."""
    staged = compile_scenarios(MemoryReader({"main.flow": text}), "main.flow")
    for each in staged.diagnostics:
        if each.primary.file == "main.flow":
            assert 0 <= each.primary.span.start <= each.primary.span.end <= len(text)
