"""What the language promises, a case for each line of it: what reads, and what is refused by which code."""

from __future__ import annotations

import pytest

from windtunnel.compiler.pipeline import Compiled, check, compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.dsl import Severity, Source, parse

RESERVED = """
and or not in if then else for true false null none start match with always eventually at before after
exit on limit import from as type let workflow scenario agent compute action shell notify checkpoint
decision include edges expect require when asks expectedOutput assistant maxChars maxSteps idempotencyKey
allowNonZeroExit output
"""
INPUT = (
    "t: text, u: text, n: int, m: int(1..9), x: number, b: bool, o?: text, d: int = 3,"
    ' k: "p" | "q", l: [int], r: { a: text, c?: int }, y: { [text]: int; ..32 }'
)
ROUTE = "compute z = { k: input.k, b: input.b, v: %s }\n  edges {\n    start -> z -> exit done\n  }"


def flow(body: str, head: str = "") -> str:
    return f"language 1\n{head}\nworkflow w {{\n  input {{ {INPUT} }}\n  {body}\n}}\n"


def compiled(text: str, **others: str) -> Compiled:
    files = {f"{name}.flow": each for name, each in others.items()}
    return compile_workflow(MemoryReader({"main.flow": text, **files}), "main.flow", "w")


def codes(text: str, **others: str) -> set[str]:
    """The codes of all errors."""
    found = compiled(text, **others).diagnostics
    return {each.code for each in found if each.severity is Severity.ERROR}


def value(expr: str) -> str:
    return flow(ROUTE % expr)


def agent(clauses: str, rest: str = "edges { start -> a -> exit done }") -> str:
    return flow(f'agent a {{\n    prompt "Do ${{input.t}}."\n    {clauses}\n  }}\n  {rest}')


@pytest.mark.parametrize("word", RESERVED.split())
def test_reserved_words_name_nothing_but_fields(word: str) -> None:
    """Each reserved word is refused as the name of a node and is right as the field of a record."""
    bad = parse(Source("x.flow", flow(f"compute {word} = 1"))).diagnostics
    assert [each.code for each in bad] == ["WT0010"]
    good = flow(
        f"compute z = {{ {word}: 1 }}\n  compute v = z.{word}\n  edges {{ start -> z -> v -> exit done }}"
    )
    assert codes(good) == set()


EXPRESSIONS = [
    "[input.n + 1, input.n - 1, input.n * 2, input.n % 2]",
    "input.n / 2 ?? 0",
    "input.t == input.u and input.n < 3 or not (input.x >= 1.5)",
    "input.n != 1 and input.n <= 2 and input.x > 0",
    "input.n in input.l",
    "input.o ?? input.t",
    "input.r?.c ?? 0",
    "input.l[0] ?? 1",
    "if input.o == null then 1 else len(input.o)",
    "{ ...input.r, more: 1, c?: input.o }",
    "[...input.l, 3]",
    "[i * 2 for i in input.l if i > 1]",
    "[len(input.t), len(input.l)]",
    "[text(input.n), json(input.r), digest(input.r)]",
    "[unique(input.l), any([input.b]), all([input.b]), defined(input.o)]",
    'join(split(input.t, ","), ";")',
    "[trim(input.t), lower(input.t), upper(input.t), slice(input.t, 0, 2)]",
    '[contains(input.t, "a"), startsWith(input.t, "a"), endsWith(input.t, "a")]',
    '[replace(input.t, "a", "b"), bullets(lines(input.t))]',
    "[keys(input.y), [text(v) for v in values(input.y)]]",
    "[first(input.l) ?? 0, last(input.l) ?? 0, sum(input.l), count([input.b])]",
    "[min(input.n, 2), max(input.n, 2), abs(input.n), round(input.x), floor(input.x), ceil(input.x)]",
    "sort(input.l)",
    "5m + minutes(2)",
    '"${input.t} ${input.n} ${input.x} ${input.b} ${json(input.r)} ${input.o ?? "none"} $${x} {braces}"',
    '"""\n      many\n        lines\n    """',
    "{ t: input.t, k: input.k }",
    "1_000 + 0",
]
WRONG = {
    "input.t + 1": "WT0408",
    "input.o == null and len(input.o) > 1": "WT0402",
    "input.b and input.t": "WT0412",
    "input.gone": "WT0404",
    "gone": "WT0101",
    "gone(1)": "WT0118",
    "len(1, 2)": "WT0410",
    '"${input.r}"': "WT0411",
    '"${input.o}"': "WT0402",
    "if input.n then 1 else 2": "WT0412",
    "{ a: 1, a: 2 }": "WT0424",
    "output": "WT0101",
    "input.t/input.u": "WT0004",
    "1 < 2 < 3": "WT0004",
    "template gone(1)": "WT0119",
}


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_expressions_of_the_language(expr: str) -> None:
    """Every operator, form and function that the language names is there, and typed."""
    assert codes(value(expr)) == set()


@pytest.mark.parametrize("expr", WRONG)
def test_expressions_that_are_refused(expr: str) -> None:
    assert WRONG[expr] in codes(value(expr))


TYPES = {
    'text(1..64, "[a-z]+")': set(),
    "text(..5) | null": set(),
    "int(1..20) | duration | bool": set(),
    "number(0..1)": set(),
    "json(..50_000)": set(),
    '"ready" | 3 | true': set(),
    "[text; 2..4]": set(),
    "{ [text]: int; ..32 }": set(),
    "{ a: text, b?: int, c: bool = true }": set(),
    "{ a?: text = 1 }": {"WT0004"},
    "text(5..1)": {"WT0415"},
    'text(1..5, "(?=a)")': {"WT0415"},
    "Gone": {"WT0105"},
    "{ a: int = true }": {"WT0414"},
    "{ [int]: text }": {"WT0415"},
}


@pytest.mark.parametrize("type_", TYPES)
def test_types_of_the_language(type_: str) -> None:
    text = flow(ROUTE % "1", head=f"type T = {type_}").replace("t: text", "t: T", 1)
    assert codes(text) == TYPES[type_]


CLAUSES = {
    "expectedOutput { a: text(1..9) }\n    validate {\n      let n = len(output.a)\n"
    '      require n > 1 when input.b else "longer: ${n}"\n    }\n    example { a: "abc" }\n    tools none\n'
    '    model "big"\n    timeout 5m\n    nudges 1': set(),
    "expectedOutput assistant": set(),
    "expectedOutput assistant { maxChars input.m * 10 }\n    timeout none\n    tools any": set(),
    'tools ["read", "write"]': set(),
    "expectedOutput assistant { maxChars input.n }": {"WT0602"},
    "expectedOutput assistant { maxChars 0 }": {"WT0602"},
    'expectedOutput assistant\n    validate {\n      require true else "x"\n    }': {"WT0601"},
    "expectedOutput { a: int }\n    example { a: true }": {"WT0508"},
    "nudges 1\n    nudges 2": {"WT0502"},
    "bogus 1": {"WT0503"},
    "timeout 0s": {"WT0511"},
    "choices { yes }": {"WT0503"},
    'prompt "again"': {"WT0502"},
}


@pytest.mark.parametrize("clauses", CLAUSES)
def test_clauses_of_an_agent(clauses: str) -> None:
    assert codes(agent(clauses)) == CLAUSES[clauses]


DECISION = (
    'decision q {\n    title "?"\n    choices {\n%s\n    }\n    %s\n  }\n  edges {\n    start -> q\n%s\n  }'
)
YES_NO = '      yes "Yes"\n      no "No" asks why: text(1..9) "Why?"'
ROUTES = "    q.yes -> exit done\n    q.no -> exit gone"
DECISIONS = {
    (YES_NO, "", ROUTES): set(),
    (
        YES_NO,
        "after 5m choose yes when input.b\n    expires 2d",
        f"{ROUTES}\n    q on timed_out -> exit late",
    ): set(),
    (YES_NO, "after 5m choose no", ROUTES): {"WT0704"},
    (YES_NO, "after 5m choose maybe", ROUTES): {"WT0704"},
    (YES_NO, "", "    q.yes -> exit done"): {"WT0702"},
    (YES_NO, "", f"{ROUTES}\n    q.maybe -> exit done"): {"WT0209"},
    ("", "", "    q -> exit done"): {"WT0701"},
}


@pytest.mark.parametrize(("choices", "more", "routes"), DECISIONS)
def test_decisions(choices: str, more: str, routes: str) -> None:
    assert codes(flow(DECISION % (choices, more, routes))) >= DECISIONS[choices, more, routes]
    if not DECISIONS[choices, more, routes]:
        assert codes(flow(DECISION % (choices, more, routes))) == set()


NODES = (
    'agent a {\n    prompt "Do ${input.t}."\n    expectedOutput { way: "l" | "r", n: int(1..3) }\n  }\n'
    "  compute b = { t: input.t }\n  compute c = { t: input.u }\n"
)
EDGES = {
    "start -> a -> b -> c -> exit done": set(),
    'start -> a -> match .way {\n      "l" -> b\n      "r" -> c\n    }\n    b, c -> exit done': {"WT0210"},
    'start -> a -> match .way {\n      "l" -> b -> exit done\n      "r" -> c -> exit done\n    }': set(),
    'start -> a -> match .way {\n      "l" | "r" -> b -> c -> exit done\n    }': set(),
    'start -> a -> match .way {\n      "l" -> b -> c -> exit done\n      else -> c\n    }': set(),
    'start -> a -> match .way {\n      "l" -> b -> c -> exit done\n    }': {"WT0301"},
    'start -> a -> match .way {\n      "l" -> b -> c -> exit done\n      "m" -> c\n      else -> c\n    }': {
        "WT0302"
    },
    'start -> match input.k {\n      "p" -> a -> b -> c -> exit done\n      "q" -> b\n    }': set(),
    "start -> a -> b -> c -> exit done\n    a on failed | timed_out -> b": set(),
    "start -> a -> b -> c -> exit done\n    a, b on any -> c": set(),
    "start -> a -> b -> c -> exit done\n    a on cancelled -> b": {"WT0216"},
    "start -> a -> b -> a limit 3 then -> c -> exit done": {"WT0004"},
    "start -> a -> b -> a limit 3 then -> c\n    c -> exit done": set(),
    "start -> a -> b -> a limit input.m then -> c\n    c -> exit done": set(),
    "start -> a -> b -> a limit input.n then -> c\n    c -> exit done": {"WT0310"},
    "start -> a -> b -> a limit 0 then -> c\n    c -> exit done": {"WT0310"},
    "start -> a -> b -> c -> exit done\n    a -> c": {"WT0207"},
    "start -> a -> b -> c -> exit done\n    start -> c": {"WT0207"},
    "a -> b -> c -> exit done": {"WT0201"},
    "start -> a\n      -> b\n      -> c\n      -> exit done": set(),
}


@pytest.mark.parametrize("edges", EDGES)
def test_edges_of_the_language(edges: str) -> None:
    """Chains, matches, failure routes and limits; what may stand where, and only once."""
    found = codes(flow(f"{NODES}  edges {{\n    {edges}\n  }}"))
    assert found == EDGES[edges] if not EDGES[edges] else found >= EDGES[edges]


def test_exits_are_needed_with_a_contract_and_inferred_without() -> None:
    """`exits` is required with `contract`, else what arrives says it: unions of all arrows."""
    body = ROUTE % "1"
    assert codes(flow(body)) == set()
    assert codes(flow(f'contract "a.v1"\n  {body}')) == {"WT0214"}
    assert (
        codes(flow(f'contract "a.v1"\n  exits {{ done: {{ k: text, b: bool, v: int }} }}\n  {body}')) == set()
    )
    assert "WT0407" in codes(flow(f"exits {{ done: {{ k: int, b: bool, v: int }} }}\n  {body}"))
    both = "compute y = 1\n  compute z = input.t\n  edges {\n    start -> match input.b {\n      true -> y\n"
    made = compiled(
        flow(f"{both}      false -> z\n    }}\n    y -> exit done\n    z -> exit done\n  }}")
    ).snapshot
    assert made is not None
    assert made.exits["done"].kind == "union"


def test_reading_what_may_be_missing() -> None:
    """Definite assignment: failure routes, loops and branches count; `??`, `?.` and `== null` mend it."""

    def late(read: str) -> set[str]:
        edges = "start -> a -> b -> z\n    a on failed -> z\n    z -> exit done"
        return codes(
            flow(
                f"{NODES.replace('compute c = { t: input.u }', '')}  compute z = {{ v: {read} }}\n"
                f"  edges {{\n    {edges}\n  }}"
            )
        )

    assert late("b.t") == {"WT0401"}
    assert late('b?.t ?? "none"') == set()
    assert late('if b == null then "none" else b.t') == set()


def test_imports_by_path_by_name_and_by_contract() -> None:
    """`import a as b from`, types and templates too; a contract that is not kept is an error."""
    other = (
        'language 1\ntype T = { a: text }\ntemplate hi(n: text) = "Hi ${n}"\n'
        'workflow child {\n  contract "c.v1"\n'
        "  input { t: T }\n  exits { done: { a: text } }\n  compute z = { a: input.t.a }\n"
        "  edges { start -> z -> exit done }\n}\n"
    )
    body = (
        'include m = kid { t: { a: template hello("you") } }\n  compute k = input.t\n  edges {\n'
        "    start -> m\n    m.done -> k -> exit done\n  }"
    )
    head = 'import child as kid, T, hi as hello from "./other.flow"%s'
    good = flow(body, head % ' contract "c.v1"').replace("t: text", "t: T", 1)
    assert codes(good, other=other) == set()
    assert codes(good.replace('"c.v1"', '"c.v2"'), other=other) == {"WT0109"}
    assert codes(good.replace("./other.flow", "./others.flow"), other=other) >= {"WT0103"}
    assert codes(good.replace("hi as", "ho as"), other=other) >= {"WT0107"}


def test_silences() -> None:
    """`# allow(…): reason` on the line before silences a finding there; one that matches nothing is told."""
    arms = '"l" -> b -> a\n      "r" -> c -> exit done'
    loop = flow(f"{NODES}  edges {{\n    start -> a -> match .way {{\n      {arms}\n    }}\n  }}")

    def found(comment: str) -> set[str]:
        text = loop.replace("  agent a {", f"  {comment}\n  agent a {{")
        return {each.code for each in check(MemoryReader({"m.flow": text}), "m.flow").diagnostics}

    assert "WT0309" in found("# no silence")
    assert not {"WT0309", "WT1101"} & found("# allow(WT0309): a person ends it")
    assert {"WT0309", "WT1101"} <= found("# allow(WT0310): nothing here")


def test_settings_of_a_workflow() -> None:
    """`revision`, `title`, `maxSteps`, `budget turns`, `presentation`: each once, each of its kind."""
    body = NODES + "  edges { start -> a -> b -> c -> exit done }"
    assert (
        codes(flow(f'revision 2\n  title "T ${{input.t}}"\n  maxSteps 9\n  budget turns 9\n  {body}'))
        == set()
    )
    assert codes(flow(f"budget turns 1\n  {body}")) == {"WT0903"}
    assert codes(flow(f"maxSteps 2\n  {body}")) == {"WT0901"}
    assert codes(flow(f"maxSteps 9\n  maxSteps 9\n  {body}")) == {"WT0217"}


CALL = 'action e { call "x.y" with { t: input.t } %s }'
SHELL = 'shell e { run ["git", input.t] %s }'
CHECKPOINT = 'checkpoint e { show "?" answer text(1..9) }'
KINDS = {
    (CALL % 'returns { url: text } idempotencyKey "k-${input.t}" timeout 1m', "e.url"): set(),
    (CALL % 'idempotencyKey "k"', "json(e)"): set(),
    (CALL % 'returns { url: text } idempotencyKey "k"', "e.gone"): {"WT0404"},
    (
        SHELL % 'cwd "." env { A: "b" } stdin "" allowNonZeroExit timeout 5s idempotencyKey "k"',
        "e.stdout",
    ): set(),
    (SHELL % "", "[text(e.exitCode), e.stdout, e.stderr, text(e.durationMs)]"): set(),
    (SHELL % "returns { a: text }", "e.a"): set(),
    (SHELL % "returns { a: text }", "e.stdout"): {"WT0404"},
    ('notify e { kind progress message "${input.t}" }', "json(e)"): set(),
    ('notify e { kind loud message "m" }', "1"): {"WT0504"},
    ("notify e { kind final }", "1"): {"WT0501"},
    (CHECKPOINT, "upper(e)"): set(),
    ('checkpoint e { show "?" }', "upper(e)"): set(),
    (CHECKPOINT, "result(e).outcome"): set(),
    (CHECKPOINT, '[result(e).error ?? "", text(result(e).attempts), text(result(e).durationMs)]'): set(),
    (CHECKPOINT, "[json(result(e).receipt), json(result(e).provenance), json(result(e).cut)]"): set(),
    (CHECKPOINT, '[visits(e), visits(e, "ok"), visits(e, "failed")]'): set(),
    (CHECKPOINT, 'visits(e, "gone")'): {"WT0410"},
    (CHECKPOINT, "latest(e, z)?.node"): set(),
    (CHECKPOINT, "result(gone).outcome"): {"WT0101"},
}


@pytest.mark.parametrize(("node", "read"), KINDS)
def test_nodes_and_what_can_be_read_of_them(node: str, read: str) -> None:
    """Every kind with its clauses, its output, its result and its visits."""
    text = flow(f"{node}\n  compute z = {{ v: {read} }}\n  edges {{\n    start -> e -> z -> exit done\n  }}")
    assert codes(text) == KINDS[node, read]


def test_ways_are_read_by_their_name() -> None:
    """`decision.choice` is what was asked with it, `x.choice` and `x.exit` the name that was taken."""
    body = (
        f'decision q {{ title "?" choices {{\n{YES_NO}\n }} }}\n  include m = child {{}}\n'
        '  compute z = { why: q.no?.why ?? "", way: q.choice, out: m.exit, '
        "one: m.one?.v ?? 0, p: q.provenance }\n"
        "  edges {\n    start -> q\n    q.yes -> m\n    q.no -> m\n    m.one -> z\n"
        "    m.two -> z -> exit done\n  }"
    )
    child = (
        "\nworkflow child {\n  compute a = { v: 1, c: visits(b) }\n  compute b = { v: 2 }\n  edges {\n"
        "    start -> a -> match .c {\n      0 -> exit one\n      else -> b\n    }\n"
        "    b -> exit two\n  }\n}\n"
    )
    assert codes(flow(body) + child) == set()
    assert codes(flow(body.replace("    m.two -> z -> exit done\n", "")) + child) >= {"WT0208"}
    assert codes(flow(body.replace("m.one -> z", "m.b -> z")) + child) >= {"WT0112"}
    assert codes(flow(body.replace("m.one ->", "m on failed -> z\n    m.one ->")) + child) >= {"WT0211"}


def test_recursion_between_workflows_is_refused() -> None:
    """An include that leads back to itself has no end."""
    one = "workflow w {\n  include m = v {}\n  edges {\n    start -> m\n    m.done -> exit done\n  }\n}\n"
    other = one.replace("w {", "x {", 1).replace("= v", "= w").replace("workflow x", "workflow v")
    assert "WT0108" in codes(f"language 1\n{one}{other}")
