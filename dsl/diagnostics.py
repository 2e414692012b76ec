"""A mistake as a value: what, where, why, the mend. Wording belongs to the phase, drawing to `snippets`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from windtunnel.dsl.syntax import Span


class Severity(StrEnum):
    """How much a finding matters; only an error stops compilation."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Applicability(StrEnum):
    """Whether a fix may be applied without asking."""

    SAFE = "safe"
    MAYBE = "maybe"


@dataclass(frozen=True, slots=True)
class Place:
    """A span in a named file; `file` is the name the file was read under, with `/` on every platform."""

    file: str
    span: Span


@dataclass(frozen=True, slots=True)
class Label:
    """A place with the words that stand beside its underline."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text at `place` by `text`; an empty span inserts."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A mend that can be applied: a title in the imperative and edits that do not overlap."""

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `title` is the code's fixed short name, `message` names the thing by its own name."""

    code: str
    severity: Severity
    title: str
    message: str
    primary: Place
    label: str = ""
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    fixes: tuple[Fix, ...] = field(default=())
    related: tuple[str, ...] = ()
