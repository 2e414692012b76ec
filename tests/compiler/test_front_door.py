"""The front door: files and built-ins by name, from any folder; mistakes are values."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.compiler import check_file, compile_file, draw

FLOW = """language 1
workflow {name} {{
  revision 1
  compute a = {value}
  edges {{
    start -> a -> exit done
  }}
}}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that is the working folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def flow(name: str = "one", value: str = "1") -> str:
    return FLOW.format(name=name, value=value)


def test_a_file_of_the_project_and_one_outside(project: Path) -> None:
    (project / "deep").mkdir()
    (project / "deep" / "x.flow").write_text(flow())
    (project.parent / "y.flow").write_text(flow())
    inside, outside = compile_file("deep/x.flow"), compile_file(str(project.parent / "y.flow"))
    assert inside.snapshot is not None
    assert outside.snapshot is not None
    assert inside.snapshot.digest == outside.snapshot.digest
    assert list(inside.snapshot.sources) == ["x.flow"]
    assert inside.checked.modules.root == "deep/x.flow"
    assert outside.checked.modules.root == "y.flow"


def test_a_built_in_needs_no_file(project: Path) -> None:
    made = compile_file("builtin:plain-summary")
    assert made.snapshot is not None
    assert made.snapshot.workflow == "plain-summary"


@pytest.mark.parametrize(
    ("file", "code"),
    [("gone.flow", "WT0103"), ("builtin:gone", "WT0103"), (".", "WT0103"), ("bad.flow", "WT0015")],
)
def test_what_cannot_be_read_is_a_finding(project: Path, file: str, code: str) -> None:
    (project / "bad.flow").write_bytes(b"\xff\xff")
    assert [found.code for found in check_file(file).diagnostics] == [code]
    assert compile_file(file).snapshot is None


def test_one_of_several_workflows(project: Path) -> None:
    """No silent choice: two that stand side by side must be told apart by name."""
    (project / "two.flow").write_text(flow("one", "1") + flow("two", "2").removeprefix("language 1\n"))
    unclear = compile_file("two.flow")
    assert unclear.snapshot is None
    assert [found.message for found in unclear.diagnostics] == [
        "`two.flow` declares `one` and `two`: which one is meant?"
    ]
    for name in ("one", "two"):
        made = compile_file("two.flow", workflow=name).snapshot
        assert made is not None
        assert made.workflow == name
    wrong = compile_file("two.flow", workflow="thre")
    assert wrong.snapshot is None
    assert [found.message for found in wrong.diagnostics] == ["`two.flow` declares no workflow `thre`"]


@pytest.mark.parametrize("parent_first", [False, True])
def test_a_workflow_that_includes_the_others_is_the_one_of_its_file(
    project: Path, parent_first: bool
) -> None:
    child = flow("child").removeprefix("language 1\n")
    parent = child.replace("child", "parent").replace("compute a = 1", "include a = child {}")
    parent = parent.replace("a -> exit", "a\n a.done -> exit")
    (project / "both.flow").write_text("language 1\n" + (parent + child if parent_first else child + parent))
    made = compile_file("both.flow")
    assert made.snapshot is not None, made.diagnostics
    assert made.snapshot.workflow == "parent"


def test_a_file_without_a_workflow_gives_no_snapshot_and_says_so(project: Path) -> None:
    (project / "types.flow").write_text("language 1\ntype A = text\n")
    made = compile_file("types.flow")
    assert made.snapshot is None
    assert made.diagnostics[-1].message == "`types.flow` declares no workflow"


def test_an_error_gives_no_snapshot(project: Path) -> None:
    (project / "x.flow").write_text(flow(value="nothing"))
    made = compile_file("x.flow")
    assert made.snapshot is None
    assert "WT0101" in [found.code for found in made.diagnostics]


def test_a_picture_of_a_snapshot(project: Path) -> None:
    snapshot = compile_file("builtin:plain-summary").snapshot
    assert snapshot is not None
    picture = draw(snapshot)
    assert isinstance(picture, str)
    assert picture.startswith("<")
    assert picture == draw(snapshot, "svg")
