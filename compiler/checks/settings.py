"""Settings of a workflow: each once, and constant where they are read before the run."""

from __future__ import annotations

from windtunnel.compiler.constants import constant
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.settings import CONSTANT
from windtunnel.dsl.syntax import Setting


def check_settings(typed: Typed) -> None:
    """Report settings that are repeated or not constant; unknown ones are found by the parser."""
    findings = typed.scope.file.findings
    first: dict[str, Setting] = {}
    for setting in typed.scope.workflow.settings:
        keyword = setting.keyword.text
        known = first.setdefault(keyword, setting)
        if known is not setting:
            findings.add(
                "WT0217",
                f"`{keyword}` stands here a second time",
                setting.keyword.span,
                secondary=[(known.keyword.span, "first given here")],
            )
        elif keyword in CONSTANT and constant(setting.value) is None:
            findings.add(
                "WT0904", f"`{keyword}` is known before the run: it takes a plain value", setting.value.span
            )
