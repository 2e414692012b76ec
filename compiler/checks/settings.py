"""Settings of a workflow: each once, known ones only, constant where they are read before the run."""

from __future__ import annotations

from windtunnel.compiler.constants import constant
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.settings import CONSTANT, SETTINGS
from windtunnel.dsl.syntax import Setting


def check_settings(typed: Typed) -> None:
    """Report settings that are repeated, unknown or not constant."""
    findings = typed.scope.file.findings
    first: dict[str, Setting] = {}
    for setting in typed.scope.workflow.settings:
        keyword = setting.keyword.text
        if keyword not in SETTINGS:
            mend = findings.did_you_mean(setting.keyword, SETTINGS)
            if mend["help"] is None:
                mend["help"] = f"the settings: {', '.join(f'`{word}`' for word in SETTINGS)}"
            findings.add("WT0904", f"a workflow has no setting `{keyword}`", setting.keyword.span, **mend)
            continue
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
