"""Flows with the mistakes that authors make: each cause is one message, at its place, with the mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler.cases import check_file, concise
from tests.conftest import CASES, Golden

AUTHORS = CASES / "compiler" / "authors"
FLOWS = sorted(AUTHORS.glob("*.flow"))


@pytest.mark.parametrize("path", FLOWS, ids=lambda path: path.stem)
def test_what_an_author_is_told(path: Path, golden: Golden) -> None:
    """All of it in one run, as it was read and judged by a person."""
    golden(AUTHORS / f"{path.stem}.expected.txt", concise(check_file(path)))


def test_there_are_many() -> None:
    assert len(FLOWS) >= 15
