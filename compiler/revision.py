"""The lock: which digest each revision of a workflow has, and which nodes were renamed on the way.

`windtunnel.lock` is committed, sorted, and has one line for each fact:

    review 1 sha256:…                   revision 1 of workflow `review` has this behaviour digest
    review 2 renamed improve polish     since revision 2 the node `improve` is called `polish`

A revision names one behaviour for ever: it is never given to another digest, never goes back, and its line is
never taken out. Lines that begin with `#` and empty lines are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from windtunnel.compiler.lowering import lower
from windtunnel.compiler.pipeline import Checked
from windtunnel.compiler.reader import BUILTIN
from windtunnel.compiler.resolver import WorkflowId
from windtunnel.compiler.snapshot import Snapshot
from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Label, Place
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Span, Workflow

LOCK_NAME: Final = "windtunnel.lock"
MAX_LINES: Final = 100_000
"""Lines of a lock; a project with a thousand workflows of a hundred revisions each has that many."""

_HEAD: Final = "# Which digest each revision has. `windtunnel bump` writes it; keep it with the flows.\n"
_NAME: Final = r"[A-Za-z_][A-Za-z0-9_-]*"
_LINE: Final = re.compile(
    rf"(?P<workflow>{_NAME}) (?P<revision>[1-9][0-9]{{0,8}}) "
    rf"(?:(?P<digest>sha256:[0-9a-f]{{64}})|renamed (?P<old>{_NAME}) (?P<new>{_NAME}))"
)


@dataclass(frozen=True, slots=True, order=True)
class Locked:
    """One revision and its behaviour digest."""

    workflow: str
    revision: int
    digest: str


@dataclass(frozen=True, slots=True, order=True)
class Renamed:
    """A node of a workflow that has another name since a revision."""

    workflow: str
    revision: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lock file holds."""

    revisions: frozenset[Locked] = frozenset()
    renames: frozenset[Renamed] = frozenset()

    def digest(self, workflow: str, revision: int) -> str | None:
        """The digest of a revision, if it is locked."""
        return self._of(workflow).get(revision)

    def highest(self, workflow: str) -> int | None:
        """The highest locked revision of a workflow, if there is one."""
        return max(self._of(workflow), default=None)

    def _of(self, workflow: str) -> dict[int, str]:
        return {each.revision: each.digest for each in self.revisions if each.workflow == workflow}


@dataclass(frozen=True, slots=True)
class Version:
    """One workflow of the sources as it is now. `place` is its revision, or its name where it has none."""

    workflow: str
    revision: int
    snapshot: Snapshot
    place: Place
    edit: Edit
    """What writes another revision, with `{}` for the number."""

    @property
    def digest(self) -> str:
        """The behaviour digest."""
        return self.snapshot.digest


@dataclass(frozen=True, slots=True)
class Bump:
    """A workflow whose revision is raised, or locked for the first time when `raised_to` is None."""

    version: Version
    raised_to: int | None

    @property
    def revision(self) -> int:
        """The revision afterwards."""
        return self.version.revision if self.raised_to is None else self.raised_to


# --- the file -----------------------------------------------------------------------------------------------


def read_lock(source: Source) -> tuple[Lock, tuple[Diagnostic, ...]]:
    """What a lock file says, and what is wrong with it. With a finding nothing of it should be trusted."""
    revisions: dict[tuple[str, int], Locked] = {}
    renames: set[Renamed] = set()
    found: list[Diagnostic] = []
    for number, start in enumerate(source.line_starts, 1):
        line = source.line(number)
        span = Span(start, start + len(line))
        if number > MAX_LINES:
            message = f"a lock has at most {MAX_LINES} lines"
            found.append(report("WT1004", message, Place(source.name, span)))
            break
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            found.append(_unusable(source, span, line))
            continue
        workflow, revision = match["workflow"], int(match["revision"])
        if match["digest"] is None:
            renames.add(Renamed(workflow, revision, match["old"], match["new"]))
            continue
        locked = Locked(workflow, revision, match["digest"])
        known = revisions.setdefault((workflow, revision), locked)
        if known != locked:
            message = f"revision {revision} of `{workflow}` stands here with another digest"
            help = "keep the line that was published, and `windtunnel bump` the other one"
            found.append(report("WT1004", message, Place(source.name, span), help=help))
    return Lock(frozenset(revisions.values()), frozenset(renames)), tuple(found)


def _unusable(source: Source, span: Span, line: str) -> Diagnostic:
    conflict = line.startswith(("<<<<<<<", "=======", ">>>>>>>"))
    message = "two versions of the lock were merged here" if conflict else "this is no line of a lock"
    help = (
        "keep the lines of both sides and drop the marks; then `windtunnel bump` what has two digests"
        if conflict
        else "a line is `workflow revision digest`, or `workflow revision renamed old new`"
    )
    return report("WT1004", message, Place(source.name, span), help=help)


def lock_text(lock: Lock) -> str:
    """The lock as a file: sorted, the same facts give the same bytes."""
    lines = [(e.workflow, e.revision, 0, f"{e.workflow} {e.revision} {e.digest}") for e in lock.revisions]
    lines += [
        (e.workflow, e.revision, 1, f"{e.workflow} {e.revision} renamed {e.old} {e.new}")
        for e in lock.renames
    ]
    return _HEAD + "".join(f"{line}\n" for *_, line in sorted(lines))


# --- what the sources say -----------------------------------------------------------------------------------


def versions(checked: Checked, of: str | None = None) -> tuple[Version, ...]:
    """Every workflow of a program without errors, in order of file and place.

    They are those of one file, or of all files but the built-ins.
    """
    assert checked.ok, "only what has no errors has a digest"
    found: list[Version] = []
    for module in checked.modules.order:
        if module.name != of and (of is not None or module.name.startswith(BUILTIN)):
            continue
        for workflow in module.file.workflows:
            snapshot = lower(checked.program, WorkflowId(module.name, workflow.name.text), checked)
            if isinstance(snapshot, Snapshot):
                place, edit = _revision_of(workflow, module.source)
                found.append(Version(snapshot.workflow, snapshot.revision, snapshot, place, edit))
    return tuple(found)


def _revision_of(workflow: Workflow, source: Source) -> tuple[Place, Edit]:
    for setting in workflow.settings:
        if setting.keyword.text == "revision":
            place = Place(source.name, setting.value.span)
            return place, Edit(place, "{}")
    opening = source.text.index("{", workflow.name.span.end) + 1
    edit = Edit(Place(source.name, Span(opening, opening)), "\n  revision {}")
    return Place(source.name, workflow.name.span), edit


# --- held against each other --------------------------------------------------------------------------------


def check_lock(
    lock: Lock, found: Iterable[Version], changes: Mapping[str, tuple[str, ...]], where: str = LOCK_NAME
) -> tuple[Diagnostic, ...]:
    """What is not as locked. `changes` tells for a digest what changed since the locked one, where that is
    known; `where` is the name of the lock in messages.
    """
    diagnostics: list[Diagnostic] = []
    first: dict[str, Version] = {}
    for version in found:
        other = first.setdefault(version.workflow, version)
        if other.place.file != version.place.file:
            diagnostics.append(_two_of_one_name(version, other, where))
            continue
        diagnostic = _held(lock, version, changes.get(version.digest), where)
        if diagnostic is not None:
            diagnostics.append(diagnostic)
    return tuple(diagnostics)


def _held(lock: Lock, version: Version, changes: tuple[str, ...] | None, where: str) -> Diagnostic | None:
    name, revision = version.workflow, version.revision
    highest, digest = lock.highest(name), lock.digest(name, revision)
    bump = f"run `windtunnel bump {version.place.file}`"
    if highest is None:
        message = f"`{name}` is not in `{where}`"
        return report("WT1002", message, version.place, help=bump)
    if revision < highest:
        message = f"`{name}` is back at revision {revision}, after revision {highest}"
        return report("WT1003", message, version.place, help=f"{bump}, which gives it a new one")
    if digest is None:
        message = f"revision {revision} of `{name}` is not in `{where}`"
        return report("WT1002", message, version.place, help=bump)
    if digest == version.digest:
        return None
    notes = changes or (f"locked: {digest}", f"now: {version.digest}")
    return report(
        "WT1001",
        f"`{name}` is not what revision {revision} was when it was locked",
        version.place,
        notes=notes,
        help=f"{bump}, or take the change back",
        fixes=[_raise(version, highest + 1)],
    )


def _two_of_one_name(version: Version, other: Version, where: str) -> Diagnostic:
    return report(
        "WT1005",
        f"`{version.workflow}` is the name of two workflows under one lock",
        version.place,
        secondary=[Label(other.place, "the other one")],
        help=f"rename one, or put a `{where}` of its own beside one of the files",
    )


def _raise(version: Version, revision: int) -> Fix:
    edit = Edit(version.edit.place, version.edit.text.format(revision))
    return Fix(f"raise it to revision {revision}", (edit,), Applicability.MAYBE)


def bumps(lock: Lock, found: Iterable[Version]) -> tuple[Bump, ...]:
    """Every workflow that is not as locked, with the revision it gets."""
    needed: list[Bump] = []
    for version in found:
        highest, digest = lock.highest(version.workflow), lock.digest(version.workflow, version.revision)
        if highest is None or version.revision > highest:
            needed.append(Bump(version, None))
        elif version.revision < highest or digest != version.digest:
            needed.append(Bump(version, highest + 1))
    return tuple(needed)


def with_bumps(lock: Lock, needed: Iterable[Bump], renames: Iterable[Renamed] = ()) -> Lock:
    """The lock with the raised revisions and the declared renames."""
    added = {Locked(bump.version.workflow, bump.revision, bump.version.digest) for bump in needed}
    return Lock(lock.revisions | added, lock.renames | frozenset(renames))


def renames_between(lock: Lock, old: Snapshot, new: Snapshot) -> dict[str, str]:
    """The declared renames that lie between two snapshots of a workflow, by qualified id, at every mount."""
    found: dict[str, str] = {}
    scopes = [("", old.workflow, old.revision, new.revision)]
    for path, mount in new.composition.mounts.items():
        former = old.composition.mounts.get(path)
        if former is not None:
            scopes.append((path, mount.workflow, former.revision, mount.revision))
    for path, workflow, before, now in scopes:
        steps = (r for r in lock.renames if r.workflow == workflow and before < r.revision <= now)
        names: dict[str, str] = {}
        for step in sorted(steps):
            first = next((old for old, new in names.items() if new == step.old), step.old)
            names[first] = step.new
        prefix = f"{path}/" if path else ""
        found.update({f"{prefix}{old}": f"{prefix}{new}" for old, new in names.items()})
    return found
