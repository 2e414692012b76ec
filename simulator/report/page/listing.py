"""The page that lists scenarios: how each ended, and where its own page is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from windtunnel.compiler.drawing.page import colours
from windtunnel.compiler.drawing.svg import attribute, text
from windtunnel.simulator.report.verdicts import MARKS, summary
from windtunnel.simulator.scenario.verdict import Verdict

MAX_NAME: Final = 80
"""Characters of a page's name before its number."""

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE: Final = """body{background:var(--paper);color:var(--ink);max-width:900px;margin:30px auto;
padding:0 20px;font:14px/1.5 Helvetica,Arial,"Liberation Sans","Noto Sans",sans-serif}
h1{font-size:18px}h2{font-size:14px;margin:22px 0 4px}ul{list-style:none;margin:0;padding:0}li{margin:3px 0}
a{color:var(--agent-stroke)}.failed,.refused{color:var(--status-removed)}.passed{color:var(--status-added)}
p{color:var(--muted);margin:0 0 0 20px}
"""


def page_names(verdicts: Sequence[Verdict]) -> list[str]:
    """A file name for each scenario, made of its title: unique, and fit for every system."""
    found: list[str] = []
    for verdict in verdicts:
        stem = re.sub(r"[^a-z0-9]+", "-", verdict.scenario.title.lower()).strip("-")[:MAX_NAME] or "scenario"
        name = stem if stem != "index" else "scenario-index"
        number = 1
        while f"{name}.html" in found:
            number += 1
            name = f"{stem}-{number}"
        found.append(f"{name}.html")
    return found


def index_page(verdicts: Sequence[Verdict]) -> bytes:
    """The list, by file, UTF-8."""
    lines = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>Scenarios</title><style>{colours()}{_STYLE}</style></head><body>",
        f"<h1>{text(summary(verdicts))}</h1>",
    ]
    file = None
    for name, verdict in zip(page_names(verdicts), verdicts, strict=True):
        if verdict.scenario.where.file != file:
            lines += ["</ul>"] if file is not None else []
            file = verdict.scenario.where.file
            lines.append(f"<h2>{text(file)}</h2><ul>")
        status, title = verdict.status.value, text(verdict.scenario.title)
        mark = f'<span class="{status}">{MARKS[verdict.status]}</span>'
        first = verdict.broken[0] if verdict.broken else None
        broken = f"<p>{text(f'{first.text} {first.message}')}</p>" if first is not None else ""
        lines.append(f'<li>{mark} <a href="{attribute(name)}">{title}</a>{broken}</li>')
    lines.append("</ul></body></html>" if file is not None else "</body></html>")
    return "\n".join(lines).encode("utf-8", "backslashreplace")
