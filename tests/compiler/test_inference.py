"""The shape of each expression at its place: operators, functions, narrowing, reads of nodes."""

from __future__ import annotations

import pytest

from tests.compiler.cases import check_text, codes, concise
from windtunnel.compiler.description import describe_whole
from windtunnel.compiler.functions import FUNCTIONS
from windtunnel.compiler.inference import MAX_WANTED
from windtunnel.compiler.signatures import signature
from windtunnel.compiler.types import RecordShape

HEAD = """language 1
type Shape = { kind: "circle", radius: number } | { kind: "box", sides: [number; 2..4] }
template both(one: text, two: int) = "${one} and ${two}"
workflow w {
  input {
    name: text(1..9), note?: text, count: int(1..5), most: int, share: number, flag: bool, when: duration,
    tags: [text], some: [int; 1..3], either: "a" | "b" | "c", maybe?: "a" | "b", shape: Shape, any: json,
    table: { [text]: int }, inner?: { value?: int, kind: "x" | "y" },
  }
  let short = input.note
"""
TAIL = """
  edges { start -> probe -> exit done }
}
"""


def probe(expression: str, lets: str = "") -> tuple[str, list[str]]:
    """The shape of an expression in the words of the language, and the codes of the errors around it."""
    checked = check_text(f"{HEAD}{lets}  compute probe = {{ it: {expression} }}{TAIL}")
    typed = next(iter(checked.workflows.values()))
    output = typed.outputs["probe"]
    assert isinstance(output, RecordShape), "the probe is a record"
    unused = ("WT0116", "WT0120", "WT0121")
    field = output.field("it")
    return "" if field is None else describe_whole(field.shape), [
        c for c in codes(checked) if c not in unused
    ]


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("1 + 2", "3"),
        ("input.count + 1", "int(2..6)"),
        ("input.count * input.count", "int(1..25)"),
        ("input.count - 5", "int(-4..0)"),
        ("-input.count", "int(-5..-1)"),
        ("input.count + input.share", "number"),
        ("7 / 2", "3"),
        ("input.most / input.count", "int"),
        ("input.count / input.most", "int | null"),
        ("input.count % 3", "int(0..2)"),
        ("input.when * 2", "duration"),
        ("input.when / input.when", "number | null"),
        ('"a" + "b"', '"ab"'),
        ('input.name + "!"', "text(2..10)"),
        ('"${input.name}: ${input.name}"', "text(4..20)"),
        ('input.tags + ["x"]', "[text; 1..]"),
        ("[1, 2, ...input.some]", "[int; 3..5]"),
        ("input.count > 3 and not input.flag", "bool"),
        ('input.either in ["a", "b"]', "bool"),
        ('input.note ?? "none"', "text"),
        ("input.tags[0]", "text | null"),
        ("input.some[0]", "int"),
        ('input.table["x"]', "int | null"),
        ("input.any.deep.er", "json"),
        ("input.inner?.value", "int | null"),
        ("input.inner?.kind", '"x" | "y" | null'),
        ('if input.flag then 1 else "x"', '1 | "x"'),
        ("{ a: 1, b?: input.note, ...{ c: true } }", "{ a: 1, b?: text, c: true }"),
        ('{ ...{ a: 1, b: 2 }, a: "x" }', '{ b: 2, a: "x" }'),
        ('[t for t in input.tags if t != "x"]', "[text]"),
        ("[n * 2 for n in input.some]", "[int; 1..3]"),
        ('template both("x", 3)', "text(5..)"),
        ("visits(probe)", "int(1..)"),
        ('visits(probe, "ok")', "int(0..)"),
        ("len(input.name)", "int(1..9)"),
        ("len(input.some)", "int(1..3)"),
        ("first(input.some)", "int"),
        ("first(input.tags)", "text | null"),
        ("max(input.count, 3)", "int(1..5)"),
        ("max(input.some)", "int"),
        ("sum(input.some)", "int"),
        ("abs(input.count - 5)", "int(0..4)"),
        ("round(input.share)", "int"),
        ("minutes(input.count)", "duration"),
        ("keys(input.table)", "[text]"),
        ("values(input.table)", "[int]"),
        ("digest(input.any)", "text(71..71)"),
        ('split(input.name, ",")', "[text]"),
        ("slice(input.name, 0, 3)", "text(..3)"),
        ("defined(input.note)", "bool"),
        ("unique(input.tags)", "bool"),
        ("sort(input.tags)", "[text]"),
    ],
)
def test_shapes_of_expressions(expression: str, shape: str) -> None:
    """Ranges and lengths are carried along; what may be missing is `T | null`."""
    assert probe(expression) == (shape, [])


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ('if input.note == null then "none" else input.note', "text"),
        ('if input.note != null then input.note else "none"', "text"),
        ('if defined(input.note) then input.note else "none"', "text"),
        ('if input.note != null and input.flag then input.note else "none"', "text"),
        ('if input.note == null or input.flag then "none" else input.note', "text"),
        ('if not (input.note == null) then input.note else "none"', "text"),
        ('if input.either == "a" then "x" else input.either', '"x" | "b" | "c"'),
        ('if input.either in ["a", "b"] then input.either else "x"', '"a" | "b" | "x"'),
        ('if input.either in ["a", "b"] then "x" else input.either', '"x" | "c"'),
        ('if input.either == "a" or input.either == "b" then input.either else "x"', '"a" | "b" | "x"'),
        ('if input.shape.kind == "circle" then input.shape.radius else 0', "number"),
        ('if input.shape.kind != "circle" then input.shape.sides else []', "[number; ..4]"),
        ('if input.inner?.kind == "x" then input.inner.kind else "none"', '"x" | "none"'),
        ("if input.inner?.value == null then 0 else input.inner.value", "int"),
        ("if input.flag then input.flag else true", "true"),
        ('if input.maybe == null then "z" else input.maybe', '"z" | "a" | "b"'),
        ('if short == null then "none" else short', "text"),
        ('[s.radius for s in [input.shape] if s.kind == "circle"]', "[number; ..1]"),
        ("if input.count == input.inner?.value then input.inner.value else 0", "int"),
    ],
)
def test_conditions_narrow(expression: str, shape: str) -> None:
    """What a condition tells is known on its branch, through fields, `?.`, `and`, `or`, `not` and `let`."""
    assert probe(expression) == (shape, [])


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ('input.note + "x"', "WT0402"),
        ("len(input.note)", "WT0402"),
        ("input.inner.kind", "WT0402"),
        ('"${input.note}"', "WT0402"),
        ('"${input.tags}"', "WT0411"),
        ('"${input.when}"', "WT0411"),
        ("input.nothing", "WT0404"),
        ("input.name.length", "WT0404"),
        ("input.shape.radius", "WT0404"),
        ('input.count + "x"', "WT0408"),
        ("input.any + 1", "WT0408"),
        ("-input.name", "WT0408"),
        ("input.when * input.when", "WT0408"),
        ('input.count < "x"', "WT0408"),
        ("input.flag < true", "WT0408"),
        ('input.name in "abc"', "WT0408"),
        ("input.name[0]", "WT0408"),
        ('input.tags["x"]', "WT0408"),
        ("[x for x in input.count]", "WT0408"),
        ("{ ...input.tags }", "WT0408"),
        ("[...input.name]", "WT0408"),
        ('input.either == "d"', "WT0409"),
        ('input.count == "x"', "WT0409"),
        ("4 in input.tags", "WT0409"),
        ("input.name == null", "WT0419"),
        ('input.name ?? "x"', "WT0419"),
        ("if input.count then 1 else 2", "WT0412"),
        ("input.flag and input.name", "WT0412"),
        ("not input.count", "WT0412"),
        ("len(1)", "WT0410"),
        ("len()", "WT0410"),
        ('join([input.when], ",")', "WT0410"),
        ("sum(input.tags)", "WT0410"),
        ("all(input.tags)", "WT0410"),
        ('visits("probe")', "WT0410"),
        ('visits(probe, "maybe")', "WT0410"),
        ("result(short)", "WT0410"),
        ("latest()", "WT0410"),
        ('template both("x")', "WT0410"),
        ('template both("x", "y")', "WT0410"),
        ("visits(prob)", "WT0101"),
        ("output", "WT0101"),
        ("name", "WT0101"),
        ("lenght(input.name)", "WT0118"),
        ("both(1, 2)", "WT0118"),
        ('template bth("x", 2)', "WT0119"),
        ("{ a: 1, a: 2 }", "WT0424"),
    ],
)
def test_what_is_wrong_with_an_expression(expression: str, code: str) -> None:
    """One finding each, also for what is computed with the broken part."""
    assert probe(expression)[1] == [code]
    assert probe(f"[{expression}]")[1] == [code]


def test_every_function_has_a_signature() -> None:
    """The functions that can be evaluated are the functions that can be typed."""
    assert [name for name in FUNCTIONS if signature(name) is None] == []


def test_lets_that_depend_on_each_other_are_reported_with_the_chain() -> None:
    """And neither hangs nor hides the rest."""
    _, found = probe("one", "  let one = two\n  let two = one\n")
    assert found == ["WT0420"]


REVIEW = """language 1
workflow review {
  input { topic: text, rounds: int(1..9) = 3 }
  exits { done: { text: text, note: text }, given_up: { why: text } }

  agent write {
    prompt "Write about ${input.topic}. ${if ask.rewrite == null then "" else ask.rewrite.remarks}"
    expectedOutput { text: text }
  }
  agent judge {
    prompt "Judge ${write.text}. Before: ${json(judge?.verdict)}"
    expectedOutput { verdict: "good", note: text } | { verdict: "bad", why: text }
  }
  decision ask {
    title "Publish?"
    show judge.note
    choices {
      publish "Publish"
      rewrite "Rewrite" asks remarks: text(1..4_000) "What is wrong?"
    }
    expires 1d
  }
  compute published = { text: write.text, note: judge.note }
  compute given_up = { why: "${judge.why} after ${visits(judge)} (${result(judge).outcome})" }
  compute late = { why: "nobody answered in ${result(ask).durationMs} ms" }

  edges {
    start -> write -> judge
    judge -> match .verdict {
      "good" -> ask
      "bad" -> write limit input.rounds then -> given_up
    }
    ask.publish -> published -> exit done
    ask.rewrite -> write
    ask on timed_out -> late -> exit given_up
    given_up -> exit given_up
  }
}
"""


def test_arms_narrow_their_source_wherever_every_path_enters_through_them() -> None:
    """`judge.note` is there after `good` only, `judge.why` after `bad`; a loop does not spoil it."""
    checked = check_text(REVIEW)
    assert concise(checked) == ""
    typed = next(iter(checked.workflows.values()))
    assert describe_whole(typed.outputs["published"]) == "{ text: text, note: text }"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("show judge.note", "show judge.why", "WT0404 there is no field `why` here"),
        (
            "note: judge.note }",
            "note: judge.note, by: ask.rewrite.remarks }",
            "WT0401 `ask.rewrite` may not",
        ),
        ("json(judge?.verdict)", "judge.verdict", "WT0401 `judge` may not be there when `judge` reads it"),
        (
            'if ask.rewrite == null then "" else ask.rewrite.remarks',
            "ask.rewrite.remarks",
            "WT0401 `ask.rewrite`",
        ),
        ("after ${visits(judge)}", "after ${published.note}", "WT0401 `published` may not be there"),
        (
            "in ${result(ask).durationMs} ms",
            "in ${result(published).durationMs} ms",
            "WT0402 this may",
        ),
    ],
)
def test_reads_of_nodes_depend_on_the_place(old: str, new: str, expected: str) -> None:
    """The same workflow with one read changed has one more finding."""
    assert old in REVIEW
    found = [line for line in concise(check_text(REVIEW.replace(old, new))).splitlines() if line[:1] != " "]
    assert any(expected in line for line in found), found


def test_a_witness_shows_the_shortest_path() -> None:
    """The loop is not walked when the straight way shows it."""
    found = concise(check_text(REVIEW.replace("show judge.note", 'show "${late.why}"')))
    assert "note: start → write → judge → ask never finishes `late`" in found
    text = REVIEW.replace("judge.why} after", "ask.rewrite.remarks} after")
    assert "note: start → write → judge → given_up does not leave `ask` by `rewrite`" in concise(
        check_text(text)
    )


CHILD = """
# === child.flow
language 1
workflow child {
  input { topic: text(1..), tone: "plain" | "formal" = "plain", extra?: int }
  exits { done: { text: text, count: int }, empty: { why: text } }
  compute made = { text: "${input.topic} ${input.tone} ${input.extra ?? 0}", count: 1 }
  compute nothing = { why: "nothing" }
  edges {
    start -> match input.topic {
      "x" -> nothing
      else -> made
    }
    made -> exit done
    nothing -> exit empty
  }
}
"""


def mounted(given: str, read: str = "help.done.count") -> list[str]:
    """Findings of a parent that mounts the child with this input and reads this where `done` leads."""
    text = f"""language 1
import child from "./child.flow"
workflow parent {{
  input {{ topic: text, note?: text, number: int }}
  include help = child {{ {given} }}
  compute answer = {{ it: {read} }}
  compute nothing = {{ it: help.empty.why, way: help.exit }}
  edges {{
    start -> help
    help.done -> answer -> exit done
    help.empty -> nothing -> exit done
  }}
}}
"""
    unused = ("WT0121",)
    return [code for code in codes(check_text(text + CHILD)) if code not in unused]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("topic: input.topic", []),
        ('topic: input.topic, tone: "formal", extra: input.number', []),
        ("topic: input.topic, extra?: input.number", []),
        ("", ["WT0405"]),
        ("topic: input.note", ["WT0402"]),
        ("topic?: input.note", ["WT0402"]),
        ("topic: input.number", ["WT0403"]),
        ('topic: input.topic, tone: "loud"', ["WT0403"]),
        ("topic: input.topic, tune: 1", ["WT0406"]),
        ('topic: ""', ["WT0403"]),
        ("...input", ["WT0403"]),
    ],
)
def test_the_input_of_an_include(given: str, expected: list[str]) -> None:
    """Required, optional and unknown fields; each mistake at its own entry."""
    assert mounted(given) == expected


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("help.done.text", []),
        ('help.exit == "done"', []),
        ('help.empty?.why ?? ""', ["WT0421"]),
        ("help.done.nothing", ["WT0404"]),
        ("help.made", ["WT0112"]),
        ("help.dune", ["WT0209"]),
        ("json(help)", ["WT0425"]),
        ("visits(made)", ["WT0112"]),
    ],
)
def test_reads_of_an_include(read: str, expected: list[str]) -> None:
    """Only exits can be read; what lies inside is named as such."""
    assert mounted("topic: input.topic", read) == expected


def test_a_counter_over_a_loop_gets_an_open_range() -> None:
    """A node that reads its own last output settles on a shape instead of growing for ever."""
    text = """language 1
workflow w {
  compute tally = { count: (tally?.count ?? 0) + 1, seen: (tally?.seen ?? []) + ["x"] }
  checkpoint pause {
    show "So far ${tally.count}"
  }
  edges {
    start -> tally -> pause
    pause -> match .  {
    }
  }
}
"""
    text = text.replace("    pause -> match .  {\n    }\n", "    pause -> tally limit 3 then -> exit done\n")
    checked = check_text(text)
    assert codes(checked) == []
    typed = next(iter(checked.workflows.values()))
    assert describe_whole(typed.outputs["tally"]) == '{ count: int, seen: ["x"] }'


def test_deep_conditions_cost_no_time() -> None:
    """Alternatives inside alternatives are followed only so far; this would double at each level."""
    condition = "input.count > 1"
    for level in range(60):
        condition = f"({condition} {'and' if level % 2 else 'or'} input.count > {level})"
    assert probe(f"if {condition} then 1 else 2") == ("1 | 2", [])


def test_types_that_double_at_each_step_are_stopped() -> None:
    """Twenty computes of two fields each would have a million parts."""
    lines = ["  compute c0 = { a: input.topic, b: input.topic }"]
    lines += [f"  compute c{n} = {{ a: c{n - 1}, b: c{n - 1} }}" for n in range(1, 21)]
    chain = " -> ".join(f"c{n}" for n in range(21))
    text = "language 1\nworkflow w {\n  input { topic: text }\n" + "\n".join(lines)
    checked = check_text(f"{text}\n  edges {{ start -> {chain} -> exit done }}\n}}\n")
    assert codes(checked) == ["WT0417"]


@pytest.mark.parametrize(
    ("require", "count"),
    [
        ("false", 1),
        ("output.n > 3", 1),
        ("output.n >= 3", 0),
        ("3 < output.n", 1),
        ("output.n < 1", 1),
        ("len(output.text) > 10", 1),
        ("len(output.text) >= 10", 0),
        ("output.n > input.least", 0),
        ("output.n > len(output.text)", 0),
        ("output.n > input.most", 1),
    ],
)
def test_what_no_submission_can_meet(require: str, count: int) -> None:
    """A requirement that the type of the output rules out would end every run there."""
    text = f"""language 1
workflow w {{
  input {{ least: int, most: int(3..) }}
  agent a {{
    prompt "${{input.least}} ${{input.most}}"
    expectedOutput {{ n: int(1..3), text: text(1..10) }}
    validate {{ require {require} else "no" }}
  }}
  edges {{ start -> a -> exit done }}
}}
"""
    found = [d.message for d in check_text(text).diagnostics if d.code == "WT0423"]
    assert found == ["no submission can meet this"] * count


@pytest.mark.parametrize("more", [0, 1])
def test_a_help_writes_out_only_short_types(more: int) -> None:
    """At the limit, and one past it."""
    name = "x" * (MAX_WANTED - len("{ : text }") + more)
    text = f"""language 1
workflow w {{
  input {{ topic: text }}
  exits {{ done: {{ {name}: text }} }}
  agent a {{ prompt "${{input.topic}}" expectedOutput {{ other: text }} }}
  edges {{ start -> a -> exit done }}
}}
"""
    (found,) = [each for each in check_text(text).diagnostics if each.code == "WT0407"]
    assert (found.help is None) == bool(more)
