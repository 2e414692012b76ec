"""Reading cases of the checks: a file may hold several sources, each after a line `# === name.flow`."""

from __future__ import annotations

import re
from pathlib import Path

from windtunnel.compiler.pipeline import Checked, check
from windtunnel.compiler.reader import MemoryReader

ROOT = "main.flow"
SECTION = re.compile(r"^# === (\S+)\n", re.MULTILINE)


def texts_of(case: str) -> dict[str, str]:
    """The sources of a case by name; what stands before the first section is `main.flow`."""
    first, *rest = SECTION.split(case)
    return {ROOT: first, **dict(zip(rest[::2], rest[1::2], strict=True))}


def check_text(case: str) -> Checked:
    """Check the sources of a case."""
    return check(MemoryReader(texts_of(case)), ROOT)


def check_file(path: Path) -> Checked:
    """Check a case file."""
    return check_text(path.read_text(encoding="utf-8"))


def concise(checked: Checked) -> str:
    """One line for each finding: place, severity, code, message; and its notes and help below it."""
    sources = checked.modules.sources
    lines: list[str] = []
    for found in checked.diagnostics:
        source = sources.get(found.primary.file)
        line, column = (1, 1) if source is None else source.position(found.primary.span.start)
        lines.append(f"{found.primary.file}:{line}:{column} {found.severity} {found.code} {found.message}")
        lines += [f"  note: {note}" for note in found.notes]
        for label in found.secondary:
            lines.append(f"  also {_place(checked, label.place.file, label.place.span.start)} {label.text}")
        if found.help is not None:
            lines.append(f"  help: {found.help}")
        lines += [f"  fix ({fix.applicability}): {fix.title}" for fix in found.fixes]
    return "".join(f"{line}\n" for line in lines)


def _place(checked: Checked, file: str, offset: int) -> str:
    line, column = checked.modules.sources[file].position(offset)
    return f"{line}:{column}"


def codes(checked: Checked) -> list[str]:
    """The codes of the findings in order."""
    return [found.code for found in checked.diagnostics]
