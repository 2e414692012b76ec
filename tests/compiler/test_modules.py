"""Files and what they import: each read once, cycles named whole, paths that stay inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.compiler import modules as loading
from windtunnel.compiler import reader as reading
from windtunnel.compiler.mending import mended
from windtunnel.compiler.modules import Modules, load
from windtunnel.compiler.reader import MAX_FILE_BYTES, FileReader, MemoryReader, Refused, relative
from windtunnel.dsl.diagnostics import Applicability
from windtunnel.dsl.parser import parse
from windtunnel.dsl.source import Source

EMPTY = "language 1\ntype A = text\n"


def memory(texts: dict[str, str], root: str = "main.flow", links: dict[str, str] | None = None) -> Modules:
    """Load from texts; the header is added."""
    reader = MemoryReader({name: f"language 1\n{text}\n" for name, text in texts.items()}, links or {})
    return load(reader, root, parse)


def messages(modules: Modules) -> list[str]:
    """The findings as `file code message`."""
    return [f"{found.primary.file} {found.code} {found.message}" for found in modules.diagnostics]


def test_a_diamond_is_loaded_once_and_imported_files_come_first() -> None:
    """Four files, each once."""
    modules = memory(
        {
            "main.flow": 'import A from "./left.flow"\nimport A as B from "./right.flow"\ntype C = A | B',
            "left.flow": 'import A from "./shared/base.flow"\ntype X = A',
            "right.flow": 'import A from "shared/base.flow"\ntype X = A',
            "shared/base.flow": "type A = text",
        }
    )
    assert [module.name for module in modules.order] == [
        "shared/base.flow",
        "left.flow",
        "right.flow",
        "main.flow",
    ]
    assert modules.diagnostics == ()
    assert (
        modules.by_name["left.flow"].target(modules.by_name["left.flow"].file.imports[0])
        == "shared/base.flow"
    )


def test_a_cycle_is_named_whole_and_the_rest_is_loaded() -> None:
    """The chain from the first file of the cycle back to it."""
    modules = memory(
        {
            "main.flow": 'import A from "./a.flow"\ntype X = A',
            "a.flow": 'import B from "./b.flow"\ntype A = B',
            "b.flow": 'import A from "./a.flow"\ntype B = A',
        }
    )
    assert messages(modules) == ["b.flow WT0104 files import each other: a.flow → b.flow → a.flow"]
    assert len(modules.order) == 3


def test_a_file_that_imports_itself() -> None:
    """The shortest cycle."""
    modules = memory({"main.flow": 'import A from "./main.flow"\ntype A = text'})
    assert messages(modules) == ["main.flow WT0104 files import each other: main.flow → main.flow"]


def test_links_are_followed_before_cycles_are_looked_for() -> None:
    """S05: two names of one file are one file, also through a symbolic link."""
    texts = {"main.flow": 'import A from "./other.flow"\ntype A = text'}
    modules = memory(texts, links={"other.flow": "main.flow"})
    assert messages(modules) == ["main.flow WT0104 files import each other: main.flow → main.flow"]


def test_every_bad_import_is_reported_in_one_run() -> None:
    """A missing file does not hide the next one."""
    modules = memory(
        {
            "main.flow": 'import A from "./none.flow"\nimport B from "..\\\\x.flow"\n'
            'import C from "../x.flow"\n'
            'import D from "builtin:nothing"\nimport E from ""\nimport f\n'
        }
    )
    codes = [found.code for found in modules.diagnostics]
    assert codes == ["WT0103", "WT0113", "WT0110", "WT0103", "WT0113", "WT0113"]


def test_a_workflow_by_name_is_looked_up_in_order() -> None:
    """The project first, then the user, then what is shipped."""
    line = 'import plain-summary contract "windtunnel.plain-summary.v1"'
    own = "workflow plain-summary { }"
    assert memory({"main.flow": line}).order[0].name == "builtin:plain-summary"
    user = memory({"main.flow": line, "user/plain-summary.flow": own})
    assert user.order[0].name == "user/plain-summary.flow"
    both = {"main.flow": line, "user/plain-summary.flow": own, "workflows/plain-summary.flow": own}
    assert memory(both).order[0].name == "workflows/plain-summary.flow"


def test_a_name_that_is_nowhere_tells_where_it_was_looked_for() -> None:
    """The places that were tried are in the note."""
    modules = memory({"main.flow": 'import nothing contract "x"'})
    assert modules.diagnostics[0].code == "WT0103"
    assert modules.diagnostics[0].notes == ("looked for `builtin:nothing`",)


def test_a_root_that_cannot_be_read_is_a_finding() -> None:
    """No modules, one finding at the start of the file that was asked for."""
    modules = load(MemoryReader({}), "none.flow", parse)
    assert modules.order == ()
    assert messages(modules) == ["none.flow WT0103 `none.flow` cannot be read: no such file or directory"]


def test_the_number_of_files_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the limit all is well; one file more is refused."""
    monkeypatch.setattr(loading, "MAX_FILES", 3)
    texts = {f"f{n}.flow": f'import T{n + 1} from "./f{n + 1}.flow"\ntype T{n} = T{n + 1}' for n in range(5)}
    texts["f2.flow"] = "type T2 = text"
    assert memory(texts, "f0.flow").diagnostics == ()
    texts["f2.flow"] = 'import T3 from "./f3.flow"\ntype T2 = T3'
    assert [found.code for found in memory(texts, "f0.flow").diagnostics] == ["WT0122"]


def test_a_long_chain_of_files_costs_no_stack() -> None:
    """Two thousand files that each import the next."""
    texts = {
        f"f{n}.flow": f'import T{n + 1} from "./f{n + 1}.flow"\ntype T{n} = T{n + 1}' for n in range(2_000)
    }
    texts["f2000.flow"] = "type T2000 = text"
    modules = memory(texts, "f0.flow")
    assert modules.diagnostics == ()
    assert len(modules.order) == 2_001


@pytest.mark.parametrize(
    ("importer", "path", "name"),
    [
        ("main.flow", "./a.flow", "a.flow"),
        ("sub/main.flow", "../a.flow", "a.flow"),
        ("sub/main.flow", "./deep/../a.flow", "sub/a.flow"),
        ("main.flow", "../a.flow", "../a.flow"),
        ("main.flow", "builtin:monitor", "builtin:monitor"),
        ("builtin:autoplan", "./plain-summary.flow", "builtin:plain-summary"),
    ],
)
def test_paths_are_relative_to_the_importing_file(importer: str, path: str, name: str) -> None:
    """With `/` on every platform."""
    assert relative(importer, path) == name


# --- the rim ------------------------------------------------------------------------------------------------


def test_files_are_read_under_their_true_names(tmp_path: Path) -> None:
    """A link inside the project is the file it points to; newlines and a byte order mark are made plain."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.flow").write_bytes(b"\xef\xbb\xbftype A = text\r\n")
    (tmp_path / "link.flow").symlink_to(tmp_path / "sub" / "a.flow")
    reader = FileReader(tmp_path)
    assert reader.read("link.flow") == Source("sub/a.flow", "type A = text\n")
    assert reader.read("sub/../sub/a.flow") == Source("sub/a.flow", "type A = text\n")


def test_the_project_is_not_left_unless_allowed(tmp_path: Path) -> None:
    """Neither by a path nor by a link."""
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "outside.flow").write_text(EMPTY)
    (project / "link.flow").symlink_to(tmp_path / "outside.flow")
    for name in ("../outside.flow", "link.flow", str(tmp_path / "outside.flow")):
        refused = FileReader(project).read(name)
        assert isinstance(refused, Refused)
        assert refused.code == "WT0110"
        allowed = FileReader(project, allow_outside=True).read(name)
        assert isinstance(allowed, Source)


def test_what_cannot_be_read_is_refused_with_its_reason(tmp_path: Path) -> None:
    """A folder, bad bytes, a file past the limit, a name with a null character."""
    (tmp_path / "folder.flow").mkdir()
    (tmp_path / "bytes.flow").write_bytes(b"type A = \xff")
    (tmp_path / "limit.flow").write_bytes(b" " * MAX_FILE_BYTES)
    (tmp_path / "large.flow").write_bytes(b" " * (MAX_FILE_BYTES + 1))
    reader = FileReader(tmp_path)
    (tmp_path / "loop.flow").symlink_to(tmp_path / "loop.flow")
    names = ("folder.flow", "bytes.flow", "large.flow", "a\0b", "none.flow", "loop.flow")
    found = {name: reader.read(name) for name in names}
    codes = {name: answer.code for name, answer in found.items() if isinstance(answer, Refused)}
    assert codes == {
        "folder.flow": "WT0103",
        "bytes.flow": "WT0015",
        "large.flow": "WT0012",
        "a\0b": "WT0103",
        "none.flow": "WT0103",
        "loop.flow": "WT0103",
    }
    assert isinstance(reader.read("limit.flow"), Source)


def test_workflows_by_name_come_from_folders(tmp_path: Path) -> None:
    """`workflows/` of the project, the folder of the user, the built-ins."""
    (tmp_path / "workflows").mkdir()
    (tmp_path / "user").mkdir()
    reader = FileReader(tmp_path, tmp_path / "user")
    assert reader.candidates("monitor") == ("builtin:monitor",)
    (tmp_path / "user" / "monitor.flow").write_text(EMPTY)
    (tmp_path / "workflows" / "monitor.flow").write_text(EMPTY)
    own, user, shipped = reader.candidates("monitor")
    assert (own, shipped) == ("workflows/monitor.flow", "builtin:monitor")
    assert isinstance(reader.read(user), Source)


@pytest.mark.parametrize("ignores_case", [False, True])
def test_a_name_counts_with_its_capitals_on_every_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignores_case: bool
) -> None:
    """What one system finds and another does not is found nowhere; the mend is safe."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "Helper.flow").write_text(EMPTY)
    (tmp_path / "main.flow").write_text('language 1\nimport A from "./sub/helper.flow"\ntype B = A\n')
    monkeypatch.setattr(reading, "_ignores_case", lambda path: ignores_case and path.name != "main.flow")
    (found,) = load(FileReader(tmp_path), "main.flow", parse).diagnostics
    assert (found.code, found.message) == ("WT0103", "`sub/helper.flow` is spelt `Helper.flow` on disk")
    (fix,) = found.fixes
    assert fix.applicability is Applicability.SAFE
    assert [edit.text for edit in fix.edits] == ['"./sub/Helper.flow"']
    text = (tmp_path / "main.flow").read_text()
    (tmp_path / "main.flow").write_text(mended(text, [fix]))
    assert load(FileReader(tmp_path), "main.flow", parse).diagnostics == ()


def test_a_file_of_a_near_name_is_suggested(tmp_path: Path) -> None:
    """Of the same ending; built-ins too."""
    (tmp_path / "helper.flow").write_text(EMPTY)
    (tmp_path / "helpr.md").write_text("")
    missing = FileReader(tmp_path).read("helpr.flow")
    assert isinstance(missing, Refused)
    assert (missing.help, missing.instead) == ("did you mean `helper.flow`?", None)
    shipped = FileReader(tmp_path).read("builtin:autopaln")
    assert isinstance(shipped, Refused)
    assert shipped.help == "did you mean `autoplan`?"


def test_a_folder_is_looked_through_for_near_names_only_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order of their names, the last one at the limit and one past it."""
    for name in ("a.flow", "b.flow", "helper.flow"):
        (tmp_path / name).write_text(EMPTY)
    for most, found in ((3, "did you mean `helper.flow`?"), (2, None)):
        monkeypatch.setattr(reading, "MAX_NAMES", most)
        missing = FileReader(tmp_path).read("helpr.flow")
        assert isinstance(missing, Refused)
        assert missing.help == found
