"""What an expression reads of a run: the walk over its list form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

ENVIRONMENT_FORMS: Final = {"input": 1, "node": 1, "exit": 2, "choice": 2, "way": 1, "result": 1, "let": 1}
"""Forms that ask the environment for one thing, and how many names each takes."""


class Read(NamedTuple):
    """One thing that is read: `kind` is the head of the form, `name` a qualified id, mount or let.

    `detail` is the exit, the choice, or the outcome of `visits` (None: started visits).
    """

    kind: str
    name: str
    detail: str | None = None


def reads(expression: Sequence[Any], lets: Mapping[str, Sequence[Any]] | None = None) -> frozenset[Read]:
    """Everything the expression may read; with `lets`, what those lets read stands in for them."""
    found: set[Read] = set()
    done: set[str] = set()
    stack: list[Sequence[Any]] = [expression]
    while stack:
        top = stack.pop()
        head = top[0]
        if head == "let" and lets is not None:
            if top[1] not in done and top[1] in lets:
                done.add(top[1])
                stack.append(lets[top[1]])
        elif head == "latest":
            found.update(Read("latest", node) for node in top[1:])
        elif head == "visits" or head in ENVIRONMENT_FORMS:
            found.add(Read(head, top[1], top[2] if len(top) > 2 else None))
        else:
            stack.extend(subexpressions(top))
    return frozenset(found)


def subexpressions(expression: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The direct sub-expressions."""
    head = expression[0]
    if head in ("const", "var", "visits", "latest") or head in ENVIRONMENT_FORMS:
        return
    if head == "record":
        yield from (part[-1] for part in expression[1:])
    elif head == "list":
        yield from (part[1] for part in expression[1:])
    elif head in ("field", "index"):
        yield expression[1]
        if head == "index":
            yield expression[2]
    elif head == "for":
        yield from (part for part in (expression[3], expression[1], expression[4]) if part is not None)
    else:
        start = {"bind": 2, "op": 2, "call": 2}.get(head, 1)
        yield from expression[start:]
