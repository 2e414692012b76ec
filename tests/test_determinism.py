"""One thing in, one thing out, whatever the hash seed, the locale, the time zone or the folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FLOW = "builtin:autoplan"
SCRIPT = f"""
import json, sys
from contextlib import redirect_stdout
from io import StringIO
from windtunnel.simulator import cli

def said(*arguments):
    out = StringIO()
    with redirect_stdout(out):
        code = cli.run(arguments)
    return code, out.getvalue()

token = json.loads(said("explore", "--fault", "W02", "--json")[1])["violations"][0]["token"]
report = {{
    "check": said("check", "broken.flow", "--format", "json"),
    "compile": said("compile", "{FLOW}"),
    "graph": said("graph", "{FLOW}"),
    "run": said("run", "{FLOW}", "--json"),
    "seeded": said("run", "{FLOW}", "--json", "--seed", "7"),
    "story": said("run", "{FLOW}", "--seed", "3"),
    "crashpoints": said("crashpoints", "{FLOW}", "--json"),
    "explore": said("explore", "{FLOW}", "--faults", "1", "--json"),
    "token": token,
    "replay": said("replay", token, "--json"),
}}
sys.stdout.buffer.write(json.dumps(report).encode())
"""
BROKEN = """language 1
workflow broken {
  revision 1
  input { a: text, b: text, c: text }
  agent one { prompt "${input.aa} ${input.bb} ${two}" expectedOutput { x: text, y: text, z: text } }
  agent two { prompt "${one.xx} ${one.w}" expectedOutput assistant }
  edges { start -> one -> three  one -> two }
}
"""


def report_under(folder: Path, **environment: str) -> dict[str, Any]:
    """What a fresh process says in `folder`."""
    folder.mkdir()
    (folder / "broken.flow").write_text(BROKEN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env={**os.environ, **environment},  # noqa: TID251
        capture_output=True,
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The same work in two processes that differ in everything that must not matter."""
    root = tmp_path_factory.mktemp("determinism")
    here = {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC", "COLUMNS": "80"}
    there = {"PYTHONHASHSEED": "12345", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kolkata", "COLUMNS": "200"}
    return [report_under(root / "one", **here), report_under(root / "two", **there)]


@pytest.mark.parametrize(
    "what", ["check", "compile", "graph", "run", "seeded", "story", "crashpoints", "token", "replay"]
)
def test_a_command_prints_the_same_under_another_hash_seed(reports: list[dict[str, Any]], what: str) -> None:
    """B34: another process, another seed of hashes, another zone and width: the same bytes."""
    first, second = (report[what] for report in reports)
    assert first == second
    assert first


def test_an_exploration_finds_the_same_in_the_same_number_of_states(reports: list[dict[str, Any]]) -> None:
    """Only the time that it took may differ."""
    first, second = (json.loads(report["explore"][1]) for report in reports)
    assert first.pop("seconds") > 0
    assert second.pop("seconds") > 0
    assert first == second
