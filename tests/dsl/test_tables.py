"""The tables beside the grammar: fresh, loadable, and the same ones that Lark would give now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import windtunnel.dsl
from windtunnel.dsl.tables import GRAMMAR, MADE, load, make, table

ROOM = Path(windtunnel.dsl.__file__).parent


def test_the_kept_tables_are_those_of_the_grammar(request: pytest.FixtureRequest) -> None:
    """After a change of the grammar: `pytest --update-golden`."""
    made = make((ROOM / GRAMMAR).read_text(encoding="utf-8"))
    text = json.dumps(made, separators=(",", ":")) + "\n"
    if request.config.getoption("--update-golden"):
        (ROOM / MADE).write_text(text, encoding="utf-8")
    kept = (ROOM / MADE).read_text(encoding="utf-8")
    assert json.loads(kept)["grammar"] == made["grammar"], "run pytest --update-golden"
    assert load(json.loads(kept)) == load(made)


def test_terminals_have_one_spelling() -> None:
    spellings = table().spellings
    assert len(set(spellings.values())) == len(spellings)
    assert {**table().keywords, **table().operators} == {text: name for name, text in spellings.items()}
