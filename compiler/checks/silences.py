"""Band 11: silences. `# allow(WT0309): reason` takes one finding off the next line that holds code."""

from __future__ import annotations

from windtunnel.compiler.findings import removal
from windtunnel.compiler.modules import Module
from windtunnel.dsl.codes import CODES, report
from windtunnel.dsl.diagnostics import Diagnostic, Place, Severity
from windtunnel.dsl.syntax import Allow


def apply_silences(module: Module, found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings of one file without the silenced ones, and one for each silence that silenced nothing.

    An error cannot be silenced: it stops compilation whatever its author thinks of it.
    """
    kept = list(found)
    for allow in module.file.allows:
        line = _next_line_of_code(module, allow.line)
        matching = [
            d for d in kept if d.code == allow.code and module.source.position(start_in(module, d))[0] == line
        ]
        silenced = [d for d in matching if d.severity is not Severity.ERROR]
        kept = [d for d in kept if d not in silenced]
        if not silenced:
            why, is_error = _why(allow, bool(matching)), bool(matching)
            fix = None if is_error else removal("take it out", module.name, module.source.text, allow.span)
            place = Place(module.name, allow.span)
            kept.append(report("WT1101", why, place, fixes=[] if fix is None else [fix]))
    return kept


def _why(allow: Allow, is_error: bool) -> str:
    if is_error:
        return f"{allow.code} is an error, which cannot be silenced"
    if allow.code not in CODES:
        return f"there is no finding {allow.code}"
    return f"nothing on the next line is found by {allow.code}"


def _next_line_of_code(module: Module, line: int) -> int:
    last = len(module.source.line_starts)
    number = line + 1
    while number <= last:
        text = module.source.line(number).strip()
        if text and not text.startswith("#"):
            return number
        number += 1
    return number


def start_in(module: Module, found: Diagnostic) -> int:
    """Where a finding stands in a module: what is found in the file of a prompt stands at its clause."""
    name = found.primary.file
    if name == module.name:
        return found.primary.span.start
    return next(prompt.clause.start for prompt in module.prompts if prompt.source.name == name)
