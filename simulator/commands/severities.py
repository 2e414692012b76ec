"""How much findings matter in a project: the table `[tool.windtunnel.severity]` of its `pyproject.toml`.

    [tool.windtunnel.severity]
    WT0309 = "error"
    WT0507 = "off"

The nearest `pyproject.toml`, from the current folder upwards, counts. An error can be made nothing else: it
stops compilation whatever a project thinks of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from windtunnel.dsl import CODES, Diagnostic, Severity, nearest, suggestion

OFF: Final = "off"
_WORDS: Final = (*(severity.value for severity in Severity), OFF)


def configured() -> Mapping[str, str]:
    """What the project sets, by code. Raises click's UsageError for a table that means nothing."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return _checked(_table(file), file)
    return {}


def _table(file: Path) -> Mapping[str, Any]:
    try:
        found = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise click.UsageError(f"cannot read {file}: {problem}") from None
    table: dict[str, Any] = found
    for part in ("tool", "windtunnel", "severity"):
        inner = table.get(part, {})
        if not isinstance(inner, dict):
            raise click.UsageError(f"{file}: `{part}` of [tool.windtunnel.severity] is no table")
        table = inner
    return table


def _checked(table: Mapping[str, Any], file: Path) -> Mapping[str, str]:
    for code, word in table.items():
        if code not in CODES:
            near = suggestion(nearest(code, CODES))
            raise click.UsageError(f"{file}: there is no finding {code}{f'; {near}' if near else ''}")
        if word not in _WORDS:
            raise click.UsageError(f"{file}: {code} is set to {word!r}; it can be {', '.join(_WORDS)}")
        if CODES[code][1] is Severity.ERROR and word != Severity.ERROR:
            raise click.UsageError(f"{file}: {code} is an error and stays one")
    return table


def weighed(diagnostics: Iterable[Diagnostic], severities: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """The findings with the severities of the project, without those that are off."""
    kept: list[Diagnostic] = []
    for each in diagnostics:
        word = severities.get(each.code, each.severity.value)
        if word != OFF:
            kept.append(each if word == each.severity else replace(each, severity=Severity(word)))
    return tuple(kept)
