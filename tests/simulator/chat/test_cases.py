"""Every case of the conversation's list is named by a test."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

CASES: Final = frozenset(
    f"V{number}"
    for number in (
        *(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18, 20, 21, 22, 23, 25),
        *(27, 28, 29, 31, 32, 34, 36, 37, 38),
    )
)
"""Projection, queue and replay behaviour; the numbers between were never given out."""


def named(folder: Path) -> set[str]:
    """The cases that docstrings of tests name."""
    found: set[str] = set()
    for path in sorted(folder.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found |= set(re.findall(r"\bV\d+", ast.get_docstring(node) or ""))
    return found


def test_every_case_of_the_conversation_is_a_test() -> None:
    """None is missing, and none is named that is not on the list."""
    assert named(Path(__file__).parent) == CASES
