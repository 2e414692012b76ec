"""The lock: read with care, held against the sources, raised where it must be."""

from __future__ import annotations

import pytest

from tests.compiler.test_compatibility import CHILD, PARENT
from windtunnel.compiler import revision
from windtunnel.compiler.pipeline import Checked, check
from windtunnel.compiler.reader import BUILTIN, MemoryReader, builtin
from windtunnel.compiler.revision import (
    Lock,
    Locked,
    Renamed,
    Version,
    bumps,
    check_lock,
    lock_text,
    read_lock,
    renames_between,
    versions,
    with_bumps,
)
from windtunnel.dsl.diagnostics import Diagnostic
from windtunnel.dsl.source import Source

ONE, TWO = f"sha256:{'1' * 64}", f"sha256:{'2' * 64}"


def checked(parent: str = PARENT, child: str = CHILD) -> Checked:
    """A parent over a child."""
    return check(MemoryReader({"main.flow": parent, "child.flow": child}), "main.flow")


def found(parent: str = PARENT, child: str = CHILD) -> tuple[Version, ...]:
    """Both workflows as they are now."""
    return versions(checked(parent, child))


def lock_of(*found: Version) -> Lock:
    """A lock that holds exactly these."""
    return with_bumps(Lock(), bumps(Lock(), found))


def read(text: str) -> tuple[Lock, tuple[Diagnostic, ...]]:
    """A lock from its text."""
    return read_lock(Source("windtunnel.lock", text))


def test_the_same_facts_give_the_same_bytes() -> None:
    """Sorted, one line each, revisions by number; what is written is read back."""
    lock = Lock(
        frozenset({Locked("b", 10, ONE), Locked("b", 9, TWO), Locked("a", 1, ONE)}),
        frozenset({Renamed("b", 10, "x", "y")}),
    )
    text = lock_text(lock)
    assert text.splitlines()[1:] == [f"a 1 {ONE}", f"b 9 {TWO}", f"b 10 {ONE}", "b 10 renamed x y"]
    assert read(text) == (lock, ())
    assert read(text.replace("\n", "\r\n") + "\n# a remark\n\n") == (lock, ())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a 1", "no line of a lock"),
        (f"a 0 {ONE}", "no line of a lock"),
        (f"a 1 {ONE} ", "no line of a lock"),
        (f"a 1 {ONE[:-1]}", "no line of a lock"),
        (f"a/b 1 {ONE}", "no line of a lock"),
        ("a 1 renamed x", "no line of a lock"),
        ("<<<<<<< ours", "merged"),
        ("=======", "merged"),
    ],
)
def test_a_line_that_is_none(line: str, said: str) -> None:
    """Every kind of damage is one finding at its line, with what to do."""
    _, (finding,) = read(f"# head\na 1 {TWO}\n{line}\n")
    assert finding.code == "WT1004"
    assert said in finding.message
    assert finding.help
    assert finding.primary.span.start == len(f"# head\na 1 {TWO}\n")


def test_two_digests_for_one_revision() -> None:
    """B-A53: a revision means one thing; the same line twice is no harm."""
    assert read(f"a 1 {ONE}\na 1 {ONE}\n")[1] == ()
    _, (finding,) = read(f"a 1 {ONE}\na 1 {TWO}\n")
    assert "another digest" in finding.message


def test_a_lock_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revision, "MAX_LINES", 3)
    assert read(f"a 1 {ONE}\na 2 {ONE}\n")[1] == ()
    assert [f.code for f in read(f"a 1 {ONE}\na 2 {ONE}\na 3 {ONE}\n")[1]] == ["WT1004"]


def test_every_workflow_of_the_project_is_held_against_the_lock() -> None:
    """B35: imported files too; line ends and comments make no difference."""
    lock = lock_of(*found())
    assert {locked.workflow for locked in lock.revisions} == {"parent", "child"}
    assert check_lock(lock, found(), {}) == ()
    other = found(PARENT.replace("\n", "\r\n"), CHILD.replace("revision 1", "revision 1 # one"))
    assert check_lock(lock, other, {}) == ()


def test_a_change_of_a_child_is_a_change_of_its_parent() -> None:
    """The parent's graph changed through its mount, so it needs a revision too."""
    lock, now = lock_of(*found()), found(child=CHILD.replace("About", "On"))
    findings = check_lock(lock, now, {now[0].digest: ("`write` has another prompt",)})
    assert [(f.code, f.primary.file) for f in findings] == [
        ("WT1001", "child.flow"),
        ("WT1001", "main.flow"),
    ]
    assert findings[0].notes == ("`write` has another prompt",)
    assert [note.split(":")[0] for note in findings[1].notes] == ["locked", "now"]
    assert [(b.version.workflow, b.raised_to) for b in bumps(lock, now)] == [("child", 2), ("parent", 2)]


def test_labels_need_no_revision() -> None:
    """What is presentation is not in the digest that is locked."""
    now = found(child=CHILD.replace('"writing"', '"drafting"'))
    assert check_lock(lock_of(*found()), now, {}) == ()


def test_what_is_not_in_the_lock() -> None:
    """A new workflow, and a revision that was raised by hand, are one line to add."""
    parent, child = found()[1], found()[0]
    (finding,) = check_lock(lock_of(child), [parent], {})
    assert (finding.code, finding.message) == ("WT1002", "`parent` is not in `windtunnel.lock`")
    raised = found(child=CHILD.replace("revision 1", "revision 5").replace("About", "On"))[0]
    (finding,) = check_lock(lock_of(child), [raised], {})
    assert (finding.code, finding.message) == ("WT1002", "revision 5 of `child` is not in `windtunnel.lock`")
    (bump,) = bumps(lock_of(child), [raised])
    assert (bump.raised_to, bump.revision) == (None, 5)


def test_a_revision_never_goes_back_and_is_never_used_again() -> None:
    """Taking a change back gives a new revision, also when the old text is locked."""
    first = found()[0]
    second = found(child=CHILD.replace("About", "On").replace("revision 1", "revision 2"))[0]
    lock = lock_of(first, second)
    (finding,) = check_lock(lock, [first], {})
    assert finding.code == "WT1003"
    (bump,) = bumps(lock, [first])
    assert bump.raised_to == 3
    assert with_bumps(lock, [bump]).digest("child", 3) == first.digest
    assert with_bumps(lock, [bump]).revisions > lock.revisions


def test_bumping_twice_changes_nothing_more() -> None:
    """What was raised and locked is as locked."""
    lock, now = lock_of(*found()), found(child=CHILD.replace("About", "On"))
    lock = with_bumps(lock, bumps(lock, now))
    again = found(
        PARENT.replace("revision 1", "revision 2"),
        CHILD.replace("About", "On").replace("revision 1", "revision 2"),
    )
    assert bumps(lock, again) == ()
    assert check_lock(lock, again, {}) == ()


def test_where_a_revision_is_written() -> None:
    """In the place of the old number, or as the first line where there was none."""
    with_one, without = found()[0], found(child=CHILD.replace("  revision 1\n", ""))[0]
    assert with_one.edit.text.format(2) == "2"
    assert CHILD[with_one.edit.place.span.start : with_one.edit.place.span.end] == "1"
    assert without.edit.text.format(2) == "\n  revision 2"
    assert without.revision == 1


def test_two_workflows_of_one_name() -> None:
    """The lock could be about either."""
    other = CHILD.replace("workflow child", "workflow parent")
    parent = PARENT.replace("import child", "import parent as child")
    (finding,) = check_lock(lock_of(), found(parent, other)[1:], {})
    assert finding.code == "WT1002"
    findings = check_lock(lock_of(), found(parent, other), {})
    assert [f.code for f in findings] == ["WT1002", "WT1005"]
    assert findings[1].secondary[0].place.file == "child.flow"


def test_built_ins_are_in_a_lock_of_their_own() -> None:
    text = 'language 1\nimport plain-summary from "builtin:plain-summary"\n' + CHILD.split("\n", 1)[1]
    program = check(MemoryReader({"m.flow": text}), "m.flow")
    assert [version.workflow for version in versions(program)] == ["child"]


def test_renames_in_steps_and_at_mounts() -> None:
    """A node that was renamed twice went from the first name to the last; only revisions in between count."""
    old = found()[1].snapshot
    new = old.model_copy(
        update={
            "revision": 4,
            "composition": old.composition.model_copy(
                update={
                    "mounts": {
                        path: mount.model_copy(update={"revision": 3})
                        for path, mount in old.composition.mounts.items()
                    }
                }
            ),
        }
    )
    lock = Lock(
        renames=frozenset(
            {
                Renamed("parent", 2, "done", "ready"),
                Renamed("parent", 4, "ready", "over"),
                Renamed("parent", 5, "over", "late"),
                Renamed("child", 3, "write", "draft"),
                Renamed("child", 4, "draft", "never"),
                Renamed("stranger", 2, "one", "two"),
            }
        )
    )
    assert renames_between(lock, old, new) == {
        "done": "over",
        "one/write": "one/draft",
        "two/write": "two/draft",
    }


def test_the_built_ins_are_as_locked() -> None:
    """A built-in that changes gets a new revision: `windtunnel bump --no-keep compiler/builtins/*.flow`."""
    source = builtin_lock()
    lock, wrong = read_lock(source)
    assert wrong == ()
    assert lock_text(lock) == source.text
    differing = []
    for name in builtin_names():
        program = check(MemoryReader({}), BUILTIN + name)
        for version in versions_of_builtin(program):
            if lock.digest(version.workflow, version.revision) != version.digest:
                differing.append(f"{version.workflow} {version.revision} {version.digest}")
    assert differing == []


def builtin_lock() -> Source:
    """The lock of what is shipped."""
    from importlib.resources import files

    text = files("windtunnel.compiler.builtins").joinpath("windtunnel.lock").read_text("utf-8")
    return Source("windtunnel.lock", text)


def builtin_names() -> list[str]:
    """The names of what is shipped."""
    from importlib.resources import files

    entries = files("windtunnel.compiler.builtins").iterdir()
    names = sorted(entry.name.removesuffix(".flow") for entry in entries if entry.name.endswith(".flow"))
    assert all(isinstance(builtin(name), Source) for name in names)
    return names


def versions_of_builtin(program: Checked) -> tuple[Version, ...]:
    """The workflows of the root, which is a built-in."""
    return versions(program, of=program.modules.root)
