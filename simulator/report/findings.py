"""Diagnostics as JSON, for editors and scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from windtunnel.dsl import Diagnostic, Place, Severity, Source

if TYPE_CHECKING:
    from pydantic import JsonValue

SCHEMA: Final = "windtunnel.check.v1"


def findings_json(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> dict[str, JsonValue]:
    """`{schema, findings: […]}`; lines and columns count from 1, an end is one past the last code point."""
    return {"schema": SCHEMA, "findings": [finding_json(each, sources) for each in diagnostics]}


def finding_json(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> dict[str, JsonValue]:
    """One diagnostic with everything that is known of it."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "title": diagnostic.title,
        "message": diagnostic.message,
        **_place(diagnostic.primary, sources),
        "label": diagnostic.label,
        "secondary": [
            {**_place(label.place, sources), "label": label.text} for label in diagnostic.secondary
        ],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "fixes": [
            {
                "title": fix.title,
                "applicability": fix.applicability.value,
                "edits": [{**_place(edit.place, sources), "text": edit.text} for edit in fix.edits],
            }
            for fix in diagnostic.fixes
        ],
        "related": list(diagnostic.related),
    }


def tally(diagnostics: Sequence[Diagnostic], files: int) -> str:
    """`2 errors, 1 warning in 3 files`, or that there are no findings."""
    counts = [
        (sum(each.severity is severity for each in diagnostics), severity.value) for severity in Severity
    ]
    said = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts if count)
    return f"{said or 'no findings'} in {files} file{'' if files == 1 else 's'}"


def _place(place: Place, sources: Mapping[str, Source]) -> dict[str, JsonValue]:
    source = sources.get(place.file)
    line, column = source.position(place.span.start) if source else (1, 1)
    end_line, end_column = source.position(place.span.end) if source else (1, 1)
    return {"file": place.file, "line": line, "column": column, "endLine": end_line, "endColumn": end_column}
