"""Every code of the project, once: `WT` and four digits, stable, never reused, banded by what they are about.

One line per code: `"WT0123": ("title", Severity.X)`. The title is the code's fixed short name in lower case; what went
wrong in particular is the message of the diagnostic. `report` is the one way to make a diagnostic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from windtunnel.dsl.diagnostics import Diagnostic, Fix, Label, Place, Severity

_ERROR: Final = Severity.ERROR
_WARNING: Final = Severity.WARNING
_HINT: Final = Severity.HINT

CODES: Final[dict[str, tuple[str, Severity]]] = {
    # --- 00 lexing and syntax ---------------------------------------------------------------------------------
    "WT0001": ("unknown character", _ERROR),
    "WT0002": ("unterminated string", _ERROR),
    "WT0003": ("unknown escape", _ERROR),
    "WT0004": ("this does not fit here", _ERROR),
    "WT0005": ("foreign spelling", _ERROR),
    "WT0006": ("misspelt keyword", _ERROR),
    "WT0007": ("something is missing", _ERROR),
    "WT0008": ("bracket without its partner", _ERROR),
    "WT0009": ("not a name", _ERROR),
    "WT0010": ("reserved word", _ERROR),
    "WT0011": ("name too long", _ERROR),
    "WT0012": ("file too large", _ERROR),
    "WT0013": ("nested too deep", _ERROR),
    "WT0014": ("string too long", _ERROR),
    "WT0015": ("not UTF-8", _ERROR),
    "WT0016": ("byte order mark inside the text", _ERROR),
    "WT0017": ("control character", _ERROR),
    "WT0018": ("number out of range", _ERROR),
    "WT0019": ("unfinished interpolation", _ERROR),
    "WT0020": ("unknown language version", _ERROR),
    "WT0021": ("misplaced language header", _ERROR),
    "WT0022": ("nothing in this file", _ERROR),
    "WT0023": ("malformed silence", _WARNING),
    "WT0024": ("too many problems", _ERROR),
    # --- 01 names and imports ---------------------------------------------------------------------------------
    # --- 02 graph ---------------------------------------------------------------------------------------------
    # --- 03 matches and loops ---------------------------------------------------------------------------------
    # --- 04 types and data flow -------------------------------------------------------------------------------
    # --- 05 agents and prompts --------------------------------------------------------------------------------
    # --- 06 assistant mode ------------------------------------------------------------------------------------
    # --- 07 decisions -----------------------------------------------------------------------------------------
    # --- 08 effects -------------------------------------------------------------------------------------------
    # --- 09 cost ----------------------------------------------------------------------------------------------
    # --- 10 compatibility -------------------------------------------------------------------------------------
    # --- 11 style ---------------------------------------------------------------------------------------------
}


def report(
    code: str,
    message: str,
    place: Place,
    *,
    label: str = "",
    secondary: Iterable[Label] = (),
    notes: Iterable[str] = (),
    help: str | None = None,
    fixes: Iterable[Fix] = (),
    related: Iterable[str] = (),
    severity: Severity | None = None,
) -> Diagnostic:
    """A diagnostic whose title and severity come from the table (`severity` overrides the table's)."""
    assert code in CODES, f"{code} stands in no line of the table of codes"
    title, default = CODES[code]
    return Diagnostic(
        code=code,
        severity=default if severity is None else severity,
        title=title,
        message=message,
        primary=place,
        label=label,
        secondary=tuple(secondary),
        notes=tuple(notes),
        help=help,
        fixes=tuple(fixes),
        related=tuple(related),
    )
