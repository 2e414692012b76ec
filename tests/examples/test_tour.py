"""The things to try in the tour: each of them gives the finding that the tour promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from windtunnel.compiler.pipeline import check
from windtunnel.compiler.reader import MemoryReader

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

TRIES: list[tuple[str, str, str, str]] = [
    (
        "hello",
        "    expectedOutput assistant",
        '    validate { require output != "" else "say something" }\n    expectedOutput assistant',
        "WT0601",
    ),
    ("label", "${input.subject}\n\n", "${input.subjct}\n\n", "WT0404"),
    ("label", "priority: 1, duplicates: [12]", "priority: 9, duplicates: [12]", "WT0508"),
    ("route", '      "support" -> help\n', "", "WT0301"),
    ("route", '      "support" -> help\n', '      "compliment" -> help\n', "WT0302"),
    ("draft", '${edit?.remark ?? "nothing yet"}', "${edit.remark}", "WT0401"),
    ("draft", " limit 3 then -> shelved", "", "WT0309"),
    ("approve", "choose later", "choose no", "WT0704"),
    ("charge", '    idempotencyKey "order-${input.order}"\n', "", "WT0801"),
    ("fallback", "    yesterday on failed | timed_out -> shrug\n", "", "WT0202"),
    ("handbook", "    brief.done -> answered -> exit answered\n", "", "WT0208"),
]


@pytest.mark.parametrize(("name", "old", "new", "code"), TRIES)
def test_what_the_tour_lets_one_try(name: str, old: str, new: str, code: str) -> None:
    text = (EXAMPLES / f"{name}.flow").read_text(encoding="utf-8")
    assert text.count(old) == 1
    found = check(MemoryReader({"a.flow": text.replace(old, new)}), "a.flow").diagnostics
    assert code in [d.code for d in found]


@pytest.mark.parametrize("name", sorted({name for name, *_ in TRIES}))
def test_nothing_is_found_before_one_tries(name: str) -> None:
    text = (EXAMPLES / f"{name}.flow").read_text(encoding="utf-8")
    assert check(MemoryReader({"a.flow": text}), "a.flow").diagnostics == ()
