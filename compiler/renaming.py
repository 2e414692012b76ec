"""A snapshot with some of its nodes under other names: edges, expressions and keys follow.

A rename is declared, never guessed: it stands in the lock, or is given beside what is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from windtunnel.compiler.reading import ENVIRONMENT_FORMS
from windtunnel.compiler.snapshot import (
    ArmModel,
    Composition,
    EdgeModel,
    LimitModel,
    ListTypeModel,
    MapTypeModel,
    RecordTypeModel,
    Snapshot,
    TargetModel,
    UnionTypeModel,
)

_TYPES: Final = (RecordTypeModel, ListTypeModel, MapTypeModel, UnionTypeModel)
"""Types hold values, which look like expressions and are none; they speak of no node."""

Names = Mapping[str, str]
"""Old qualified ids to new ones."""


def renamed(snapshot: Snapshot, names: Names) -> Snapshot:
    """The snapshot with every id of `names`, and all that stands below it, under its new name.

    The digests stay those of the old names. Ids that the snapshot does not have are left out of account.
    """
    if not names:
        return snapshot
    new = _Renaming(names)
    return snapshot.model_copy(
        update={
            "nodes": {new.id(name): new.model(node) for name, node in snapshot.nodes.items()},
            "edges": tuple(new.edge(edge) for edge in snapshot.edges),
            "lets": {new.id(name): new.expression(value) for name, value in snapshot.lets.items()},
            "composition": Composition(
                mounts={
                    new.id(path): new.model(mount).model_copy(update={"start_at": new.id(mount.start_at)})
                    for path, mount in snapshot.composition.mounts.items()
                }
            ),
            "start_at": new.id(snapshot.start_at),
            "title": None if snapshot.title is None else new.expression(snapshot.title),
            "presentation": None if snapshot.presentation is None else new.expression(snapshot.presentation),
            "max_steps": new.value(snapshot.max_steps),
        }
    )


def renamed_id(names: Names, name: str) -> str:
    """One qualified id under its new name."""
    return _Renaming(names).id(name)


class _Renaming:
    def __init__(self, names: Names) -> None:
        self._names = names

    def id(self, name: str) -> str:
        """A qualified id; the longest renamed part of its path decides."""
        head, rest = name, ""
        while head:
            if head in self._names:
                return self._names[head] + rest
            head, slash, last = head.rpartition("/")
            rest = f"{slash}{last}{rest}"
        return name

    def key(self, key: str) -> str:
        """The key of an arm begins with an id; what follows it begins with a dot or a space."""
        end = min(at for at in (key.find("."), key.find(" "), len(key)) if at >= 0)
        return self.id(key[:end]) + key[end:]

    def expression(self, expression: Any) -> Any:
        """An expression, with the ids it reads."""
        head = expression[0]
        if head == "const":
            return expression
        if head == "latest":
            return [head, *(self.id(name) for name in expression[1:])]
        if head == "visits" or head in ENVIRONMENT_FORMS:
            return [head, self.id(expression[1]), *expression[2:]]
        return [self.expression(part) if isinstance(part, list) else part for part in expression]

    def value(self, value: Any) -> Any:
        """A field of a node: an expression, or something that holds some."""
        if isinstance(value, list):
            return self.expression(value)
        if isinstance(value, BaseModel):
            return value if isinstance(value, _TYPES) else self.model(value)
        if isinstance(value, tuple):
            return tuple(self.value(item) for item in value)
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        return value

    def model(self, model: Any) -> Any:
        """A node, a mount, or a part of one."""
        fields = type(model).model_fields
        return model.model_copy(update={name: self.value(getattr(model, name)) for name in fields})

    def edge(self, edge: EdgeModel) -> EdgeModel:
        """An edge with its ends and arms."""
        return edge.model_copy(
            update={
                "scope": self.id(edge.scope),
                "source": edge.source if edge.source == "start" else self.id(edge.source),
                "subject": None if edge.subject is None else self.expression(edge.subject),
                "arms": tuple(self.arm(arm) for arm in edge.arms),
            }
        )

    def arm(self, arm: ArmModel) -> ArmModel:
        """One way on."""
        limit = None if arm.limit is None else self.limit(arm.limit)
        return arm.model_copy(
            update={"key": self.key(arm.key), "to": self.target(arm.to), "limit": limit},
        )

    def limit(self, limit: LimitModel) -> LimitModel:
        """A limit with where it leads then."""
        counter = None if limit.counter is None else self.key(limit.counter)
        return limit.model_copy(
            update={
                "count": self.value(limit.count),
                "then": self.target(limit.then),
                "counter": counter,
            }
        )

    def target(self, target: TargetModel) -> TargetModel:
        """A node, or an exit, whose name stays."""
        return target if target.node is None else TargetModel(node=self.id(target.node))
