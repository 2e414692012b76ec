"""What a change breaks: two snapshots compared by rules.

What no rule names is reported as such, as a change of rank *runs*: nothing that changes what a run does goes
unsaid. A test holds the rules against the fields of the models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from windtunnel.compiler.changes import (
    Change,
    Group,
    Rank,
    apart,
    grouped,
    local,
    number,
    plain,
    scope_of,
    text,
)
from windtunnel.compiler.digests import with_digests
from windtunnel.compiler.edgechanges import edge_changes
from windtunnel.compiler.nodechanges import node_changes
from windtunnel.compiler.printing import expression_text
from windtunnel.compiler.renaming import Names, renamed
from windtunnel.compiler.snapshot import MountModel, Snapshot, TypeModel
from windtunnel.compiler.widening import Change as How
from windtunnel.compiler.widening import type_changes


def compare(old: Snapshot, new: Snapshot, names: Names | None = None) -> tuple[Change, ...]:
    """Everything that differs, the whole first, then in order of place; `names` are declared renames.

    Revisions, budgets, sources and the order of declarations are no differences.
    """
    known = {a: b for a, b in (names or {}).items() if _has(old, a) and _has(new, b) and not _has(old, b)}
    before = renamed(old, known)
    found = [*_renames(known), *_whole(before, new), *node_changes(before, new), *_mounts(before, new)]
    found += [*_lets(before, new), *edge_changes(before, new)]
    found = _causes(found)
    if not any(change.rank is not Rank.TEXT for change in found) and not known:
        found += _unnamed(before, new, bool(found))
    return tuple(sorted(found, key=lambda change: (change.place, change.code, change.message)))


def said_once(changes: Iterable[Change], old: Snapshot, new: Snapshot) -> tuple[Group, ...]:
    """The changes, those of a workflow that is mounted several times once each."""

    def workflow(path: str) -> str:
        mount = new.composition.mounts.get(path) or old.composition.mounts.get(path)
        return "" if mount is None else mount.workflow

    return grouped(changes, workflow)


def _has(snapshot: Snapshot, name: str) -> bool:
    return name in snapshot.nodes or name in snapshot.composition.mounts


def _renames(names: Names) -> Iterator[Change]:
    for old, new in names.items():
        yield Change("WT1044", new, f"`{local(old)}` is called `{local(new)}` now", old, new)


def _causes(found: list[Change]) -> list[Change]:
    """One cause, one message: what goes or comes with something else is not said again."""
    gone = {change.place for change in found if change.code == "WT1041"}
    new = {change.place for change in found if change.code == "WT1042"}
    whole = gone | new
    ways: dict[str, set[tuple[str, str]]] = {}
    for change in found:
        if change.code in ("WT1026", "WT1056"):
            ways.setdefault("WT1046", set()).add((change.place, change.before))
        elif change.code in ("WT1027", "WT1057"):
            ways.setdefault("WT1047", set()).add((change.place, change.now))

    def follows(change: Change) -> bool:
        if change.place in {"WT1046": gone, "WT1047": new}.get(change.code, ()):
            return True
        if change.end is not None and (change.place, change.end[1]) in ways.get(change.code, ()):
            return True
        return any(above in whole for above in _above(change.place))

    return [change for change in found if not follows(change)]


def _above(place: str) -> Iterator[str]:
    """The mounts around a place, innermost first."""
    while "/" in place:
        place = place.rpartition("/")[0]
        yield place


def _unnamed(old: Snapshot, new: Snapshot, has_text: bool) -> Iterator[Change]:
    """What the rules see nothing of. Texts are behaviour too, so with them only the shape is compared."""
    a, b = with_digests(old).digests, with_digests(new).digests
    if a.shape != b.shape or (not has_text and a.behaviour != b.behaviour):
        message = "something changed that no rule names, so nobody can say that it is harmless"
        yield Change("WT1069", "", message, a.behaviour, b.behaviour)


# --- the workflow as a whole --------------------------------------------------------------------------------


def _whole(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    if old.workflow != new.workflow:
        message = f"the workflow is called `{new.workflow}` now"
        yield Change("WT1030", "", message, old.workflow, new.workflow)
    yield from plain("WT1029", "", "the contract", old.contract, new.contract)
    yield from text("WT1013", "", "the title of the run", old.title, new.title, "")
    if (old.presentation is None) != (new.presentation is None):
        said = "no longer tells" if new.presentation is None else "tells"
        message = f"the workflow {said} how it ended in one more visible turn"
        yield Change("WT1066", "", message)
    else:
        yield from text("WT1014", "", "the presentation", old.presentation, new.presentation, "")
    yield from number("WT1060", "", "`maxSteps`", old.max_steps, new.max_steps)
    yield from _input("", old.input, new.input, old, new)
    yield from _exits("", old.exits, new.exits, old, new)


_INPUT: Final = {
    How.ADDED_REQUIRED: "WT1021",
    How.REQUIRED: "WT1021",
    How.GONE: "WT1022",
    How.NARROWER: "WT1023",
    How.OTHER: "WT1023",
    How.WIDER: "WT1024",
    How.ADDED: "WT1024",
    How.OPTIONAL: "WT1024",
    How.DEFAULT: "WT1025",
}
_OUTPUT: Final = {
    How.ADDED_REQUIRED: "WT1028",
    How.REQUIRED: "WT1028",
    How.NARROWER: "WT1028",
    How.ADDED: "WT1028",
    How.DEFAULT: "WT1028",
    How.GONE: "WT1031",
    How.OTHER: "WT1031",
    How.WIDER: "WT1031",
    How.OPTIONAL: "WT1031",
}
"""What comes out is read, so more of it is a surprise where less is none."""


def _input(place: str, before: TypeModel, now: TypeModel, old: Snapshot, new: Snapshot) -> Iterator[Change]:
    for part in type_changes(before, now, old.types, new.types):
        message = f"`input{part.path}` {part.change}{_unsure(part.change)}"
        yield Change(_INPUT[part.change], place, message, part.before, part.now)


def _exits(
    place: str, before: Mapping[str, TypeModel], now: Mapping[str, TypeModel], old: Snapshot, new: Snapshot
) -> Iterator[Change]:
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield Change("WT1026", place, f"exit `{name}` is gone", name, "")
        elif name not in before:
            yield Change("WT1027", place, f"exit `{name}` is new", "", name)
        else:
            for part in type_changes(before[name], now[name], old.types, new.types):
                gives = f"exit `{name}`: `output{part.path}`"
                change = part.change.replace("accepts", "may be")
                message = f"{gives} {change}{_unsure(part.change)}"
                yield Change(_OUTPUT[part.change], place, message, part.before, part.now)


def _unsure(change: How) -> str:
    return ", or it cannot be told" if change is How.OTHER else ""


# --- mounts and lets ----------------------------------------------------------------------------------------


def _mounts(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    mounts, former = new.composition.mounts, old.composition.mounts
    for path in sorted(mounts.keys() | former.keys()):
        before, now = former.get(path), mounts.get(path)
        if now is None:
            assert before is not None, "a path stands in one of the two"
            yield Change("WT1041", path, f"the include `{local(path)}` is gone", before.workflow, "")
        elif before is None:
            yield Change("WT1042", path, f"the include `{local(path)}` is new", "", now.workflow)
        else:
            yield from _mount(path, before, now, old, new)


def _mount(path: str, before: MountModel, now: MountModel, old: Snapshot, new: Snapshot) -> Iterator[Change]:
    own, scope = local(path), scope_of(path)
    if before.workflow != now.workflow:
        message = f"`{own}` includes another workflow"
        yield Change("WT1062", path, message, before.workflow, now.workflow)
    yield from plain("WT1029", path, f"the contract of `{own}`", before.contract, now.contract)
    yield from text("WT1012", path, f"the label of `{own}`", before.label, now.label, scope)
    if before.input != now.input:
        texts = [
            expression_text(mount.input, scope, snapshot.composition.mounts.keys())
            for mount, snapshot in ((before, old), (now, new))
        ]
        yield Change("WT1053", path, f"`{own}` is given another input", *apart(*texts))
    yield from number("WT1060", path, f"`maxSteps` of `{own}`", before.max_steps, now.max_steps)
    yield from _input(path, before.input_type, now.input_type, old, new)
    yield from _exits(path, before.exits, now.exits, old, new)


def _lets(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    for name in sorted(old.lets.keys() & new.lets.keys()):
        if old.lets[name] != new.lets[name]:
            scope = scope_of(name)
            texts = [
                expression_text(snapshot.lets[name], scope, snapshot.composition.mounts.keys())
                for snapshot in (old, new)
            ]
            yield Change("WT1053", name, f"another value of `let {local(name)}`", *apart(*texts))
