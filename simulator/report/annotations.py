"""Findings as commands of a GitHub workflow, which shows them beside the lines they are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from windtunnel.dsl import Diagnostic, Severity, Source

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "notice"}
_IN_TEXT: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY: Final = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


def annotation(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> str:
    """One finding on one line. Columns are left out where it spans lines: there they would be refused."""
    place = diagnostic.primary
    source = sources.get(place.file)
    line, column = source.position(place.span.start) if source else (1, 1)
    end_line, end_column = source.position(place.span.end) if source else (1, 1)
    properties = {"file": place.file, "line": str(line), "endLine": str(end_line)}
    if line == end_line:
        properties |= {"col": str(column), "endColumn": str(end_column)}
    properties["title"] = f"{diagnostic.code}: {diagnostic.title}"
    listed = ",".join(f"{name}={_escaped(value, _IN_PROPERTY)}" for name, value in properties.items())
    more = [*diagnostic.notes, *([] if diagnostic.help is None else [f"help: {diagnostic.help}"])]
    text = _escaped("\n".join([diagnostic.message, *more]), _IN_TEXT)
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{text}"


def _escaped(text: str, signs: Mapping[str, str]) -> str:
    return "".join(signs.get(letter, letter) for letter in text)
