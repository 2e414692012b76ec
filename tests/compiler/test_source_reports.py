"""Public reports about source files, retold as cases: where a mistake is told, and that it is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.compiler import compile_file, snapshot_text
from windtunnel.compiler.acceptance import Accepted, accept
from windtunnel.compiler.pipeline import Checked, check, compile_workflow
from windtunnel.compiler.reader import MemoryReader
from windtunnel.dsl import Diagnostic, Severity, concise, parse, render
from windtunnel.dsl.source import Source

CHILD = """language 1

workflow child {
  compute a = 1

  edges {
    start -> a -> exit done
  }
}
"""


def flow(edges: str, nodes: str = "", head: str = "") -> str:
    """A workflow with some nodes that give values and these lines of edges (from line 10 on)."""
    return (
        f'language 1\n\nworkflow main {{\n  input {{ mode: text, kind: "x" | "y", sure: bool }}\n  {head}\n'
        f"  compute a = {{ kind: input.kind, sure: input.sure, mode: input.mode }}\n  compute b = a.mode\n"
        f"  {nodes}\n  edges {{\n{edges}\n  }}\n}}\n"
    )


def checked(text: str, **others: str) -> Checked:
    files = {f"{name}.flow": each for name, each in others.items()}
    return check(MemoryReader({"main.flow": text, **files}), "main.flow")


def errors(text: str, **others: str) -> list[Diagnostic]:
    found = checked(text, **others).diagnostics
    return [each for each in found if each.severity is Severity.ERROR]


def line_of(text: str, found: Diagnostic) -> int:
    return Source(found.primary.file, text).position(found.primary.span.start)[0]


def test_a_mistake_in_an_included_file_is_told_there() -> None:
    """B02, S02: the file and the line are those of the file that holds it, not of the parent or of both."""
    b = CHILD.replace("workflow child", "workflow b").replace("start -> a -> exit", "start -> gone -> exit")
    a = CHILD.replace("workflow child", "workflow a")
    main = (
        'language 1\nimport a from "./a.flow"\nimport b from "./b.flow"\nworkflow main {\n'
        "  include x = a {}\n"
        "  include y = b {}\n  edges {\n    start -> x\n    x.done -> y\n    y.done -> exit done\n  }\n}\n"
    )
    found = errors(main, a=a, b=b)
    assert {each.primary.file for each in found} == {"b.flow"}
    assert [line_of(b, each) for each in found if "`gone`" in each.message] == [7]
    assert "b.flow:7:14" in concise(found[-1], {"b.flow": Source("b.flow", b)})


def test_a_wrong_clause_is_named_as_the_author_wrote_it() -> None:
    """B06: node and clause by their own names, no class or tag of ours."""
    text = flow("    start -> p -> exit done", 'agent p { prompt "${input.mode}" timeout "soon" }')
    (found,) = (each for each in errors(text) if each.code == "WT0403")
    shown = render(found, {"main.flow": Source("main.flow", text)})
    assert "timeout" in shown
    assert not {"Model", "Type", "Node(", "Clause", "pydantic", "Traceback"} & set(
        shown.replace("`", " ").split()
    )
    assert line_of(text, found) == 8


def test_a_comment_ends_with_its_line() -> None:
    """B10: a comment that ends in a mark of continuation leaves the next line alone."""
    parsed = parse(Source("x.flow", flow("    start -> a\n    # foo -> \\\n    a -> b\n    b -> exit done")))
    assert parsed.diagnostics == ()
    assert len(parsed.file.workflows[0].edges[0]) == 3


BAD_NAMES = ["Turbulent mixing", "a.b", "1st", "ünïcode", "agent", '"a b"', "n" * 300, "-a", "a-", "a--b"]


@pytest.mark.parametrize("name", [*BAD_NAMES, "2e28bd01-bd05", "11585fce", "__x", "a-1"])
def test_a_bad_name_is_one_message_with_the_rule(name: str) -> None:
    """B16, B18: whatever stands for a name is refused where it is declared, with the name and the rule."""
    text = f'language 1\n\nworkflow main {{\n  agent {name} {{\n    prompt "p"\n  }}\n}}\n'
    (found,) = parse(Source("x.flow", text)).diagnostics
    assert found.code in ("WT0009", "WT0010", "WT0011")
    assert line_of(text, found) == 4
    assert found.help is not None or found.code != "WT0009"
    assert name[:20].strip('"') in found.message or found.code == "WT0011"


DUPLICATES = {
    "a node": (flow("    start -> a -> b -> exit done", "compute b = 2"), "WT0102"),
    "a key": (flow("    start -> a -> b -> exit done", "let k = { x: 1, x: 2 }"), "WT0424"),
    "a clause": (
        flow("    start -> p -> exit done", 'agent p { prompt "${input.mode}" prompt "q" }'),
        "WT0502",
    ),
    "a setting": (flow("    start -> a -> b -> exit done", head="revision 1 revision 2"), "WT0217"),
    "a case": (
        flow(
            '    start -> a -> match .kind {\n      "x" -> b\n      "x" | "y" -> b\n    }\n    b -> exit done'
        ),
        "WT0303",
    ),
    "a route": (flow("    start -> a -> b -> exit done\n    a -> b"), "WT0207"),
    "a workflow": (flow("    start -> a -> b -> exit done") + CHILD[11:].replace("child", "main"), "WT0102"),
}


@pytest.mark.parametrize("what", DUPLICATES)
def test_what_is_said_twice_is_told_with_both_places(what: str) -> None:
    """B17: never the last one silently."""
    text, code = DUPLICATES[what]
    (found,) = (each for each in errors(text) if each.code == code)
    assert found.secondary or "also" in " ".join(found.notes), found
    assert found.secondary[0].place != found.primary


def test_the_same_way_round_through_other_paths_is_loaded_once() -> None:
    """B20, S05: files that import each other end at once with the whole chain; a diamond is loaded once."""
    one = (
        'language 1\nimport b from "././b.flow"\nworkflow a { compute x = 1\n'
        " edges { start -> x -> exit done } }\n"
    )
    two = (
        'language 1\nimport a from "./a.flow"\nworkflow b { compute x = 1\n'
        " edges { start -> x -> exit done } }\n"
    )
    found = check(MemoryReader({"a.flow": one, "b.flow": two}), "a.flow").diagnostics
    (cycle,) = (each for each in found if each.code == "WT0104")
    assert "a.flow → b.flow → a.flow" in cycle.message


def test_matches_without_a_default() -> None:
    """B22: complete cases need no default; a missing one is named; free text needs a default."""

    def match(subject: str, *cases: str) -> list[Diagnostic]:
        arms = "".join(f"      {case} -> b\n" for case in cases)
        return errors(flow(f"    start -> a -> match {subject} {{\n{arms}    }}\n    b -> exit done"))

    assert match(".sure", "true", "false") == []
    (missing,) = match(".kind", '"x"')
    assert (missing.code, '"y"' in missing.message) == ("WT0301", True)
    (free,) = match(".mode", '"x"')
    assert free.code == "WT0301"
    assert match(".mode", '"x"', "else") == []


def test_graphs_that_never_end_and_nodes_that_nobody_reaches() -> None:
    """B21, B24, B25: each is told, the order is stable, and nothing goes round for ever."""

    def codes(edges: str, nodes: str = "") -> list[str]:
        return [each.code for each in errors(flow(edges, nodes))]

    around = "    start -> a -> b -> a"
    assert codes(around) == ["WT0212"]
    assert codes(around, "compute c = 1") == ["WT0212", "WT0202", "WT0203"]
    assert "WT0204" in codes(f"{around}\n    c -> exit done", "compute c = 1")
    assert "WT0202" in codes(f"{around}\n    c -> exit done", "compute c = 1")
    assert "WT0206" in codes("    start -> a -> nope")
    (alone,) = (each for each in errors(flow(around, "compute c = 1")) if each.code == "WT0202")
    assert "`c`" in alone.message


POSITIONS = {
    "the start": "    start -> bb\n    a -> b -> exit done",
    "an arrow": "    start -> a -> bb\n    b -> exit done",
    "a case": '    start -> a -> match .kind {\n      "x" -> bb\n      else -> b\n    }\n    b -> exit done',
    "the default": '    start -> a -> match .kind {\n "x" -> b\n else -> bb\n    }\n    b -> exit done',
    "a failure": "    start -> a -> p -> b -> exit done\n    p on failed -> bb",
    "a timeout": "    start -> a -> p -> b -> exit done\n    p on timed_out -> bb",
    "a limit": "    start -> a -> p -> a limit 2 then -> bb\n    p on failed -> b -> exit done",
    "a choice": "    start -> a -> d\n    d.yes -> bb\n    d.no -> b -> exit done",
    "a way out": "    start -> a -> m\n    m.done -> bb\n    b -> exit done",
    "a source": "    start -> a -> b -> exit done\n    bb -> b",
}


@pytest.mark.parametrize("position", POSITIONS)
def test_an_unknown_target_is_found_wherever_it_stands(position: str) -> None:
    """B26: every place that names a node is checked, and a near name is offered."""
    nodes = (
        'agent p { prompt "${a.mode}" } decision d { title "t" choices {\n yes "Y"\n no "N"\n } }'
        " include m = child {}"
    )
    text = flow(POSITIONS[position], nodes) + CHILD[11:]
    found = [each for each in errors(text) if "`bb`" in each.message]
    assert len(found) == 1
    assert "`b`" in (found[0].help or "") + " ".join(fix.title for fix in found[0].fixes)


def test_a_child_that_is_included_often_is_checked_once() -> None:
    """B27: two hundred mounts of one child, and six levels of children, are a few workflows to check."""
    mounts = "\n".join(f"  include m{n} = child {{}}" for n in range(200))
    lines = "\n".join(f"    m{n}.done -> m{n + 1}" for n in range(199))
    text = (
        f'language 1\nimport child from "./child.flow"\nworkflow main {{\n  maxSteps 1000\n'
        f"{mounts}\n  edges {{\n"
        f"    start -> m0\n{lines}\n    m199.done -> exit done\n  }}\n}}\n"
    )
    found = checked(text, child=CHILD)
    assert [each for each in found.diagnostics if each.severity is Severity.ERROR] == []
    assert len(found.workflows) == 2


def test_a_snapshot_holds_relative_paths_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B36: another folder, the same bytes: no absolute path, no separator of the platform, no time."""
    texts = []
    for name in ("here", "there and elsewhere"):
        folder = tmp_path / name
        (folder / "lib").mkdir(parents=True)
        (folder / "lib" / "child.flow").write_text(CHILD)
        (folder / "main.flow").write_text(
            'language 1\nimport child from "./lib/child.flow"\nworkflow main {\n  include m = child {}\n'
            "  edges {\n    start -> m\n    m.done -> exit done\n  }\n}\n"
        )
        monkeypatch.chdir(folder)
        made = compile_file("main.flow").snapshot
        assert made is not None
        texts.append(snapshot_text(made))
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]
    assert "lib/child.flow" in texts[0]
    assert "\\" not in texts[0]


def test_names_that_mean_something_to_a_host() -> None:
    """S04: `toString`, `constructor` and the like are names as any other, as keys and as nodes."""
    text = (
        "language 1\nworkflow main {\n"
        "  input { toString: text, constructor?: int, hasOwnProperty: bool = true }\n"
        '  compute valueOf = { "__proto__": input.toString, __class__: 1, keys: input.constructor ?? 0 }\n'
        "  edges {\n    start -> valueOf -> exit prototype\n  }\n}\n"
    )
    made = compile_workflow(MemoryReader({"main.flow": text}), "main.flow")
    assert [each.message for each in made.diagnostics if each.severity is Severity.ERROR] == []
    assert made.snapshot is not None
    assert "__proto__" in snapshot_text(made.snapshot)
    assert accept(made.snapshot.input, {"toString": "a"}) == Accepted(
        {"toString": "a", "hasOwnProperty": True}
    )
    assert not isinstance(accept(made.snapshot.input, {"toString": "a", "__proto__": {}}), Accepted)


@pytest.mark.parametrize(
    "name", ["a b.flow", "a-b.flow", "ä 漢字 🐦.flow", "a#b.flow", "100%.flow", "$x.flow"]
)
def test_odd_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """S06: spaces, dashes, signs and letters of any language in the name of a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(CHILD, encoding="utf-8")
    (tmp_path / "main.flow").write_text(
        f'language 1\nimport child from "./{name}"\nworkflow main {{\n  include m = child {{}}\n'
        "  edges {\n    start -> m\n    m.done -> exit done\n  }\n}\n",
        encoding="utf-8",
    )
    for file in (name, "main.flow"):
        made = compile_file(file)
        assert made.snapshot is not None, made.diagnostics
        assert name in snapshot_text(made.snapshot)


def test_one_mistake_in_a_name_is_few_messages() -> None:
    """S11: a node that is misspelt where it is declared is told once at the arrows, however many name it."""
    edges = (
        "    start -> a -> b -> match .x {\n      1 -> b\n      else -> b\n    }\n"
        "    b on failed -> exit done"
    )
    found = errors(flow(edges).replace("compute b =", "compute bee ="))
    assert [each.code for each in found if "`b`" in each.message] == ["WT0206"]
    assert len(found) <= 4
