"""What changed about the nodes between two snapshots: a rule for each field of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from windtunnel.compiler.changes import Change, apart, local, scope_of
from windtunnel.compiler.printing import duration_expression_text, expression_text, template_text
from windtunnel.compiler.snapshot import (
    AfterModel,
    AssistantMessage,
    ChoiceModel,
    DecisionNode,
    LetStep,
    RequireStep,
    Snapshot,
    SnapshotNode,
    SubmittedOutput,
)
from windtunnel.compiler.typetext import words
from windtunnel.compiler.widening import type_changes

_ELSEWHERE: Final = frozenset({"node_type", "digests", "choices", "expected_output"})
FIELDS: Final[dict[str, tuple[str, str]]] = {
    "label": ("WT1012", "another label"),
    "prompt": ("WT1011", "another prompt"),
    "examples": ("WT1015", "other examples"),
    "message": ("WT1014", "another message"),
    "title": ("WT1014", "another title"),
    "show": ("WT1014", "another text to show"),
    "answer": ("WT1051", "another type for the answer"),
    "validate_steps": ("WT1052", "another validation"),
    "value": ("WT1053", "another value"),
    "call": ("WT1054", "another call"),
    "argument": ("WT1054", "another argument"),
    "returns": ("WT1054", "another type for the result"),
    "run": ("WT1054", "another command"),
    "cwd": ("WT1054", "another folder to run in"),
    "env": ("WT1054", "another environment"),
    "stdin": ("WT1054", "another standard input"),
    "allow_non_zero_exit": ("WT1054", "another view of exit codes"),
    "kind": ("WT1054", "another kind of notification"),
    "idempotency_key": ("WT1055", "another `idempotencyKey`"),
    "after": ("WT1058", "another default"),
    "expires_ms": ("WT1058", "another deadline"),
    "timeout_ms": ("WT1059", "another timeout"),
    "tools": ("WT1061", "other tools"),
    "model": ("WT1061", "another model"),
    "nudges": ("WT1061", "another number of nudges"),
    "audience": ("WT1063", "another audience"),
    "subject": ("WT1063", "another subject"),
}
"""What a change of each field of a node means; the fields that have rules of their own are not here."""

_DURATIONS: Final = frozenset({"timeout_ms", "expires_ms"})


def node_changes(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    """Every change of a node, in order of its id."""
    for name in sorted(old.nodes.keys() | new.nodes.keys()):
        before, now = old.nodes.get(name), new.nodes.get(name)
        if now is None:
            assert before is not None, "a name stands in one of the two"
            yield Change("WT1041", name, f"`{local(name)}` is gone", before.node_type, "")
        elif before is None:
            yield Change("WT1042", name, f"`{local(name)}` is new", "", now.node_type)
        elif before.node_type != now.node_type:
            message = f"`{local(name)}` is another kind of node"
            yield Change("WT1043", name, message, before.node_type, now.node_type)
        else:
            yield from _node(name, before, now, old, new)


def _node(
    name: str, before: SnapshotNode, now: SnapshotNode, old: Snapshot, new: Snapshot
) -> Iterator[Change]:
    for field in type(now).model_fields:
        rule = FIELDS.get(field)
        if rule is None:
            assert field in _ELSEWHERE, f"no rule says what a change of {field} means"
            continue
        a, b = getattr(before, field), getattr(now, field)
        if a != b and (field != "nudges" or None not in (a, b)):
            code, what = rule
            yield Change(code, name, f"{what} of `{local(name)}`", *_both(field, a, b, name, old, new))
    if isinstance(before, DecisionNode) and isinstance(now, DecisionNode):
        yield from _choices(name, before, now)
    output = getattr(now, "expected_output", None)
    if output is not None:
        yield from _expected(name, getattr(before, "expected_output", None), output, old, new)


def _both(field: str, a: Any, b: Any, name: str, old: Snapshot, new: Snapshot) -> tuple[str, str]:
    before, now = (_Words(field, scope_of(name), s.composition.mounts.keys()) for s in (old, new))
    return apart(before.of(a), now.of(b))


class _Words:
    """A field of a node in words; nothing for what is not given."""

    def __init__(self, field: str, scope: str, mounts: Iterable[str]) -> None:
        self._field = field
        self._place = (scope, frozenset(mounts))

    def of(self, value: Any) -> str:
        """The words of one value of the field."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if self._field in _DURATIONS:
            return value if isinstance(value, str) else self._duration(value)
        if isinstance(value, str | int):
            return str(value)
        if isinstance(value, list):
            is_text = value[0] == "text" or (value[0] == "const" and isinstance(value[1], str))
            write = template_text if is_text and self._field != "value" else expression_text
            return write(value, *self._place)
        if isinstance(value, tuple):
            return "; ".join(self.of(item) for item in value)
        return self._model(value)

    def _duration(self, value: Any) -> str:
        return duration_expression_text(["const", value] if isinstance(value, int) else value, *self._place)

    def _model(self, value: Any) -> str:
        if isinstance(value, AfterModel):
            premise = "" if value.when is None else f" when {expression_text(value.when, *self._place)}"
            return f"after {self._duration(value.delay_ms)} choose {value.choose}{premise}"
        if isinstance(value, LetStep):
            return f"let {value.let} = {expression_text(value.value, *self._place)}"
        if isinstance(value, RequireStep):
            premise = "" if value.when is None else f" when {expression_text(value.when, *self._place)}"
            required = expression_text(value.require, *self._place)
            return f"require {required}{premise} else {expression_text(value.message, *self._place)}"
        return words(value)


def _choices(name: str, before: DecisionNode, now: DecisionNode) -> Iterator[Change]:
    own = local(name)
    for choice in sorted(before.choices.keys() | now.choices.keys()):
        a, b = before.choices.get(choice), now.choices.get(choice)
        if b is None:
            yield Change("WT1056", name, f"`{own}` no longer offers `{choice}`", choice, "")
        elif a is None:
            yield Change("WT1057", name, f"`{own}` offers `{choice}` too", "", choice)
        elif (a.asks, a.type) != (b.asks, b.type):
            message = f"`{own}.{choice}` asks for something else"
            yield Change("WT1057", name, message, _asked(a), _asked(b))
        elif a != b:
            yield Change("WT1014", name, f"`{own}.{choice}` is worded in another way")


def _asked(choice: ChoiceModel) -> str:
    if choice.asks is None:
        return "nothing"
    return choice.asks if choice.type is None else f"{choice.asks}: {words(choice.type)}"


def _expected(name: str, before: Any, now: Any, old: Snapshot, new: Snapshot) -> Iterator[Change]:
    own = local(name)
    match before, now:
        case SubmittedOutput(), SubmittedOutput():
            for part in type_changes(before.type, now.type, old.types, new.types):
                message = f"`{own}` answers with another type: `output{part.path}` {part.change}"
                yield Change("WT1051", name, message, part.before, part.now)
        case AssistantMessage(), AssistantMessage():
            if before.max_chars != now.max_chars:
                message = f"`{own}` has another limit for its visible answer"
                texts = _both("value", before.max_chars, now.max_chars, name, old, new)
                yield Change("WT1051", name, message, *texts)
        case _:
            message = f"`{own}` finishes in another way"
            yield Change("WT1050", name, message, before.kind, now.kind)
