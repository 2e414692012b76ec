"""Every code of the project, once: `WT` and four digits, stable, never reused, banded by what they are about.

One line per code: `"WT0123": ("title", Severity.X)`. The title is the code's fixed short name in lower case;
what went wrong in particular is the message of the diagnostic. `report` is the one way to make a diagnostic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from windtunnel.dsl.diagnostics import Diagnostic, Fix, Label, Place, Severity

_ERROR: Final = Severity.ERROR
_WARNING: Final = Severity.WARNING
_HINT: Final = Severity.HINT

CODES: Final[dict[str, tuple[str, Severity]]] = {
    # --- 00 lexing and syntax -------------------------------------------------------------------------------
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
    "WT0025": ("unknown unit", _ERROR),
    # --- 01 names and imports -------------------------------------------------------------------------------
    "WT0101": ("unknown name", _ERROR),
    "WT0102": ("declared twice", _ERROR),
    "WT0103": ("file not found", _ERROR),
    "WT0104": ("import cycle", _ERROR),
    "WT0105": ("unknown type", _ERROR),
    "WT0106": ("unknown workflow", _ERROR),
    "WT0107": ("not in the imported file", _ERROR),
    "WT0108": ("include cycle", _ERROR),
    "WT0109": ("contract not met", _ERROR),
    "WT0110": ("outside the project", _ERROR),
    "WT0111": ("name with a meaning of its own", _ERROR),
    "WT0112": ("inside of an include", _ERROR),
    "WT0113": ("not a path", _ERROR),
    "WT0114": ("unused import", _WARNING),
    "WT0115": ("unused type", _HINT),
    "WT0116": ("unused let", _WARNING),
    "WT0117": ("shadowed name", _WARNING),
    "WT0118": ("unknown function", _ERROR),
    "WT0119": ("unknown template", _ERROR),
    "WT0120": ("unused template", _HINT),
    "WT0121": ("unused input", _WARNING),
    "WT0122": ("too many files", _ERROR),
    # --- 02 graph -------------------------------------------------------------------------------------------
    "WT0201": ("no start", _ERROR),
    "WT0202": ("unreachable node", _ERROR),
    "WT0203": ("dead end", _ERROR),
    "WT0204": ("no way to an exit", _ERROR),
    "WT0205": ("exit never reached", _WARNING),
    "WT0206": ("edge to nowhere", _ERROR),
    "WT0207": ("second route", _ERROR),
    "WT0208": ("way without a route", _ERROR),
    "WT0209": ("unknown way", _ERROR),
    "WT0210": ("route without a way", _ERROR),
    "WT0211": ("failure route on an include", _ERROR),
    "WT0212": ("no exit", _ERROR),
    "WT0213": ("unknown exit", _ERROR),
    "WT0214": ("exits not declared", _ERROR),
    "WT0215": ("route never taken", _WARNING),
    "WT0216": ("unknown outcome", _ERROR),
    "WT0217": ("repeated setting", _ERROR),
    "WT0218": ("exit without a value", _ERROR),
    "WT0219": ("empty workflow", _ERROR),
    "WT0220": ("too large", _ERROR),
    # --- 03 matches and loops -------------------------------------------------------------------------------
    "WT0301": ("missing case", _ERROR),
    "WT0302": ("impossible case", _ERROR),
    "WT0303": ("duplicate case", _ERROR),
    "WT0304": ("else never taken", _WARNING),
    "WT0305": ("not a value to match", _ERROR),
    "WT0306": ("every case goes the same way", _HINT),
    "WT0309": ("cycle without a bound", _WARNING),
    "WT0310": ("limit is no positive whole number", _ERROR),
    # --- 04 types and data flow -----------------------------------------------------------------------------
    "WT0401": ("may not have run yet", _ERROR),
    "WT0402": ("may be null", _ERROR),
    "WT0403": ("wrong type", _ERROR),
    "WT0404": ("unknown field", _ERROR),
    "WT0405": ("input not given", _ERROR),
    "WT0406": ("unknown input", _ERROR),
    "WT0407": ("exit output of another type", _ERROR),
    "WT0408": ("operator does not apply", _ERROR),
    "WT0409": ("comparison that never holds", _WARNING),
    "WT0410": ("wrong arguments", _ERROR),
    "WT0411": ("not text to insert", _ERROR),
    "WT0412": ("not a condition", _ERROR),
    "WT0413": ("endless type", _ERROR),
    "WT0414": ("unusable default", _ERROR),
    "WT0415": ("unusable type", _ERROR),
    "WT0416": ("covered member", _WARNING),
    "WT0417": ("type too large", _ERROR),
    "WT0418": ("output never read", _WARNING),
    "WT0419": ("null that cannot be", _WARNING),
    "WT0420": ("type that depends on itself", _ERROR),
    "WT0421": ("never there", _WARNING),
    "WT0423": ("condition that never changes", _WARNING),
    "WT0424": ("key given twice", _ERROR),
    "WT0425": ("not readable here", _ERROR),
    # --- 05 agents and prompts ------------------------------------------------------------------------------
    "WT0501": ("clause missing", _ERROR),
    "WT0502": ("repeated clause", _ERROR),
    "WT0503": ("unknown clause", _ERROR),
    "WT0504": ("clause value does not fit", _ERROR),
    "WT0505": ("braces without a dollar", _WARNING),
    "WT0506": ("empty prompt", _ERROR),
    "WT0507": ("prompt without any input", _HINT),
    "WT0508": ("example does not fit", _ERROR),
    "WT0511": ("timeout not positive", _ERROR),
    "WT0512": ("unusable prompt file", _ERROR),
    # --- 06 assistant mode ----------------------------------------------------------------------------------
    "WT0601": ("assistant output cannot be checked", _ERROR),
    "WT0602": ("maxChars not provably positive", _ERROR),
    "WT0603": ("second visible answer", _WARNING),
    "WT0604": ("visible text repeated", _WARNING),
    "WT0605": ("visible answer asked again", _ERROR),
    "WT0606": ("prompt asks for a submission", _WARNING),
    # --- 07 decisions ---------------------------------------------------------------------------------------
    "WT0701": ("decision without choices", _ERROR),
    "WT0702": ("choice without a route", _ERROR),
    "WT0703": ("decision that decides nothing", _WARNING),
    "WT0704": ("default that cannot be taken", _ERROR),
    "WT0706": ("timeout without a route", _WARNING),
    "WT0707": ("approval that can be passed by", _WARNING),
    # --- 08 effects -----------------------------------------------------------------------------------------
    "WT0801": ("effect without a key", _WARNING),
    "WT0802": ("key that stays the same", _WARNING),
    "WT0803": ("key shared by two effects", _WARNING),
    "WT0804": ("command built from model output", _WARNING),
    # --- 09 cost --------------------------------------------------------------------------------------------
    "WT0901": ("maxSteps below the shortest path", _ERROR),
    "WT0902": ("maxSteps below what an include may need", _WARNING),
    "WT0903": ("more turns than the budget", _ERROR),
    "WT0904": ("setting does not fit", _ERROR),
    # --- 10 compatibility -----------------------------------------------------------------------------------
    # --- 11 style -------------------------------------------------------------------------------------------
    "WT1101": ("silence that silences nothing", _WARNING),
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
