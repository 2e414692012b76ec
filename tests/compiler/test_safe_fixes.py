"""Safe fixes one by one: applied, nothing is left of the finding, nothing new is found, all is formatted."""

from __future__ import annotations

import pytest

from windtunnel.compiler.mending import MAX_ROUNDS, mended, safe_fixes
from windtunnel.compiler.pipeline import check
from windtunnel.compiler.reader import MemoryReader
from windtunnel.dsl import Source, format_file

FLOW = """language 1
import A, B as C, D from "./types.flow"

type E = { a: A, c: C, d: D }

workflow w {
  input { e: E, note?: { text: text } }
  exits { done: { said: text } }

  agent write {
    prompt "Write about ${input.e.a}: ${input.note?.text ?? "nothing"}"
    expectedOutput { kind: "x" | "y", text: text }
    timeout 10m
  }

  agent again {
    prompt "Again: ${json(input.e)}"
    expectedOutput { text: text }
  }

  compute late = { said: write?.text ?? again?.text ?? "" }

  edges {
    start -> write -> match .kind {
      "x" -> late
      "y" -> again
    }
    again -> late
    write on timed_out -> again
    late -> exit done
  }
}
"""
TYPES = "language 1\ntype A = text\ntype B = text\ntype D = text\ntype Unused = text\n"


def findings(text: str) -> tuple[list[str], tuple[object, ...], str]:
    """The codes, the safe fixes of the root file, and the text with them."""
    found = check(MemoryReader({"main.flow": text, "types.flow": TYPES}), "main.flow").diagnostics
    fixes = safe_fixes(found, "main.flow")
    return [each.code for each in found], fixes, mended(text, fixes)


def fixed(text: str) -> str:
    """The text when no safe fix is left."""
    for _ in range(MAX_ROUNDS):
        _, fixes, text = findings(text)
        if not fixes:
            break
    return text


def test_the_flow_itself_is_clean_and_formatted() -> None:
    assert findings(FLOW)[0] == []
    assert format_file(Source("main.flow", FLOW)) == FLOW


@pytest.mark.parametrize(
    ("code", "right", "wrong"),
    [
        ("WT0114", 'D from "./types.flow"', 'D, Unused from "./types.flow"'),
        ("WT0114", "import A, B", "import Unused, A, B"),
        ("WT0114", "import A, B", "import A, Unused as More, B"),
        ("WT0114", "\ntype E", 'import Unused from "./types.flow"\n\ntype E'),
        ("WT1101", "  agent write {", "  # allow(WT0309): it was so\n  agent write {"),
        ("WT0304", '      "y" -> again\n', '      "y" -> again\n      else -> again\n'),
        ("WT0216", "on timed_out", "on timeout"),
        ("WT0216", "on timed_out", "on timedOut"),
        ("WT0401", "write?.text ?? again", "write.text ?? again"),
        ("WT0402", "input.note?.text ?? ", "input.note.text ?? "),
        ("WT0210", "    again -> late\n", "    again, late -> exit done\n"),
        ("WT0503", "    timeout 10m", "    Timeout 10m"),
        ("WT0404", "input.e.a}:", "input.e.A}:"),
        ("WT0005", "    again -> late", "    again => late"),
        ("WT0025", "timeout 10m", "timeout 10 minutes"),
    ],
)
def test_a_safe_fix_mends_its_finding(code: str, right: str, wrong: str) -> None:
    """Apply, check again, format."""
    assert FLOW.count(right) >= 1, right
    text = FLOW.replace(right, wrong, 1)
    if code == "WT0210":
        text = text.replace("    late -> exit done\n", "", 1)
    assert code in findings(text)[0]
    after = fixed(text)
    assert code not in findings(after)[0]
    if code != "WT0210":
        assert after == FLOW
    formatted = format_file(Source("main.flow", after))
    assert findings(formatted)[0] == findings(after)[0]
    assert format_file(Source("main.flow", formatted)) == formatted
