"""Findings as SARIF 2.1.0, the form in which code hosts and editors take them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from windtunnel.dsl import CODES, Diagnostic, Fix, Place, Severity, Source
from windtunnel.dsl.syntax import Span

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}
_PATH: Final = re.compile(r"[\w-]+(?: → [\w-]+)+")
_PLAIN: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
"""What stands in a URI as it is."""

Declared = Mapping[str, Sequence[tuple[Span, Mapping[str, Span]]]]
"""By file: the span of each workflow, and where its nodes are declared."""


def sarif(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], declared: Declared, version: str
) -> dict[str, JsonValue]:
    """One log of one run. A path that a note tells is a code flow, as far as its nodes are declared here."""
    codes = sorted({each.code for each in diagnostics})
    rules: list[JsonValue] = [_rule(code) for code in codes]
    drawing = _Drawing(sources, declared)
    results: list[JsonValue] = [drawing.result(each, codes.index(each.code)) for each in diagnostics]
    driver: JsonValue = {"name": "windtunnel", "semanticVersion": version, "rules": rules}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _rule(code: str) -> JsonValue:
    title, severity = CODES[code]
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in re.findall(r"[A-Za-z0-9]+", title)),
        "shortDescription": {"text": title},
        "help": {"text": f"windtunnel explain {code}"},
        "defaultConfiguration": {"level": _LEVELS[severity]},
    }


class _Drawing:
    def __init__(self, sources: Mapping[str, Source], declared: Declared) -> None:
        self._sources = sources
        self._declared = declared

    def result(self, diagnostic: Diagnostic, rule: int) -> JsonValue:
        """One finding. Notes and help follow the message, since readers show nothing else of it."""
        more = [*diagnostic.notes, *([] if diagnostic.help is None else [f"help: {diagnostic.help}"])]
        made: dict[str, JsonValue] = {
            "ruleId": diagnostic.code,
            "ruleIndex": rule,
            "level": _LEVELS[diagnostic.severity],
            "message": {"text": "\n".join([diagnostic.message, *more])},
            "locations": [self._location(diagnostic.primary, diagnostic.label)],
        }
        if diagnostic.secondary:
            made["relatedLocations"] = [
                {"id": number, **self._location(label.place, label.text)}
                for number, label in enumerate(diagnostic.secondary, 1)
            ]
        flows = [flow for note in diagnostic.notes if (flow := self._flow(diagnostic.primary, note))]
        if flows:
            made["codeFlows"] = [{"message": {"text": note}, "threadFlows": [steps]} for note, steps in flows]
        if diagnostic.fixes:
            made["fixes"] = [self._fix(fix) for fix in diagnostic.fixes]
        return made

    def _flow(self, primary: Place, note: str) -> tuple[str, JsonValue] | None:
        """The nodes of a path in a note, where at least two of them are declared in its workflow."""
        found = _PATH.search(note)
        workflows = self._declared.get(primary.file, ())
        here = next((names for span, names in workflows if span.start <= primary.span.start < span.end), None)
        if found is None or here is None:
            return None
        steps: list[JsonValue] = [
            {"location": self._location(Place(primary.file, here[name]), name)}
            for name in found[0].split(" → ")
            if name in here
        ]
        return (note, {"locations": steps}) if len(steps) > 1 else None

    def _fix(self, fix: Fix) -> JsonValue:
        files = sorted({edit.place.file for edit in fix.edits})
        changes: list[JsonValue] = []
        for file in files:
            replacements: list[JsonValue] = [
                {"deletedRegion": self._region(edit.place), "insertedContent": {"text": edit.text}}
                for edit in fix.edits
                if edit.place.file == file
            ]
            changes.append({"artifactLocation": {"uri": _uri(file)}, "replacements": replacements})
        return {"description": {"text": fix.title}, "artifactChanges": changes}

    def _location(self, place: Place, text: str) -> dict[str, JsonValue]:
        physical: JsonValue = {"artifactLocation": {"uri": _uri(place.file)}, "region": self._region(place)}
        return {"physicalLocation": physical, **({"message": {"text": text}} if text else {})}

    def _region(self, place: Place) -> JsonValue:
        source = self._sources.get(place.file)
        line, column = source.position(place.span.start) if source else (1, 1)
        end_line, end_column = source.position(place.span.end) if source else (1, 1)
        return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _uri(file: str) -> str:
    """A relative file name as a URI; built-ins are URIs already."""
    safe = _PLAIN + ":" if file.startswith("builtin:") else _PLAIN
    return "".join(
        letter if letter in safe else "".join(f"%{byte:02X}" for byte in letter.encode()) for letter in file
    )
