"""Verdicts in the form of JUnit, which build servers read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from xml.etree import ElementTree as ET

from windtunnel.simulator.report.verdicts import again, text
from windtunnel.simulator.scenario.verdict import Status, Verdict

NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, not even escaped."""


class Case(NamedTuple):
    """One scenario and the seconds it took."""

    verdict: Verdict
    seconds: float


class Suite(NamedTuple):
    """One file; `broken` says that it has errors, so that nothing in it was run."""

    file: str
    cases: tuple[Case, ...]
    broken: bool


def junit(suites: Sequence[Suite]) -> bytes:
    """The document, UTF-8."""
    root = ET.Element("testsuites")
    for suite in suites:
        if not suite.cases and not suite.broken:
            continue
        counts = {status: sum(case.verdict.status is status for case in suite.cases) for status in Status}
        node = ET.SubElement(
            root,
            "testsuite",
            name=_clean(suite.file),
            tests=str(len(suite.cases) + suite.broken),
            failures=str(counts[Status.FAILED]),
            errors=str(counts[Status.REFUSED] + suite.broken),
            time=f"{sum(case.seconds for case in suite.cases):.3f}",
        )
        if suite.broken:
            case = ET.SubElement(node, "testcase", name="the file", classname=_clean(suite.file))
            ET.SubElement(case, "error", message="the file has errors; nothing in it was run")
        for each in suite.cases:
            _case(node, suite.file, each)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _case(suite: ET.Element, file: str, case: Case) -> None:
    verdict = case.verdict
    node = ET.SubElement(
        suite,
        "testcase",
        name=_clean(verdict.scenario.title),
        classname=_clean(file),
        time=f"{case.seconds:.3f}",
    )
    if verdict.passed:
        return
    kind = "failure" if verdict.status is Status.FAILED else "error"
    first = verdict.broken[0]
    found = ET.SubElement(node, kind, message=_clean(f"{first.message} ({first.where})"))
    found.text = _clean(f"\n{text(verdict)}\nagain: {again(verdict)}\n")


def _clean(said: str) -> str:
    return NOT_XML.sub("\ufffd", said)
