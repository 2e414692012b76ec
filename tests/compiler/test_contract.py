"""The words at the end of a prompt, word for word."""

from __future__ import annotations

from typing import Any

import pytest

from windtunnel.compiler.contract import (
    ASSISTANT_REFUSAL,
    assistant_contract,
    prompt_with,
    submit_contract,
)
from windtunnel.compiler.snapshot import TypeModel
from windtunnel.compiler.typetext import type_from_json


def test_the_assistant_contract_word_for_word() -> None:
    """B155, B156, B161: three lines, and nothing about submitting."""
    assert assistant_contract(None) == (
        "Reply with a normal assistant message.\n"
        "Do not call the workflow tool to complete this step.\n"
        "Your visible reply becomes the workflow step output."
    )


def test_the_limit_is_told_when_there_is_one() -> None:
    """B169."""
    assert assistant_contract(2_000).splitlines()[-1] == "Keep it under 2000 characters."
    assert assistant_contract(2_000).splitlines()[:-1] == assistant_contract(None).splitlines()


def test_the_refusal_of_a_submission_word_for_word() -> None:
    """B205."""
    assert (
        ASSISTANT_REFUSAL
        == "This step completes with a normal assistant response. Do not submit workflow output."
    )


def test_the_contract_stands_last() -> None:
    assert prompt_with("Do it.", "Like this.") == "Do it.\n\nLike this."


def test_a_submit_contract_names_everything_that_the_call_needs() -> None:
    """B148: workflow, step, attempt, the exact call, and the shape in types and in words."""
    output = type_from_json(
        {
            "kind": "record",
            "fields": {
                "notes": {"type": {"kind": "text", "min": 1, "max": 200}},
                "tags": {
                    "type": {"kind": "list", "item": {"kind": "text", "min": 1}, "max": 3},
                    "optional": True,
                },
            },
        }
    )
    assert submit_contract("release-notes", "tell/draft", "a7", output) == (
        "This is step `tell/draft` of the workflow `release-notes`, attempt `a7`.\n"
        "Finish it with exactly one call of the workflow tool:\n"
        'workflow submit {"step": "tell/draft", "attempt": "a7", "output": OUTPUT}\n'
        "OUTPUT is JSON of the type { notes: text(1..200), tags?: [text(1..); ..3] }, in words:\n"
        "- OUTPUT: a record with exactly these fields\n"
        "  - notes: text of 1 to 200 characters\n"
        "  - tags: a list of at most 3 items, each text of at least 1 character; may be left out\n"
        "Text outside that call does not complete the step."
    )


PHRASES: list[tuple[Any, str]] = [
    (
        {"kind": "text", "max": 1, "pattern": "[a-z]"},
        'text of at most 1 character that matches "[a-z]" as a whole',
    ),
    ({"kind": "int", "min": 1, "max": 3}, "a whole number, 1 to 3"),
    ({"kind": "int"}, "a whole number"),
    ({"kind": "number", "min": 0.5}, "a number, at least 0.5"),
    ({"kind": "bool"}, "true or false"),
    ({"kind": "null"}, "null"),
    ({"kind": "duration"}, "a duration in whole milliseconds"),
    ({"kind": "json", "max": 5}, "any JSON of at most 5 characters"),
    ({"kind": "list", "item": {"kind": "int"}, "min": 2, "max": 2}, "a list of 2 items, each a whole number"),
    (
        {"kind": "map", "key": {"kind": "text"}, "value": {"kind": "bool"}, "max": 1},
        "a record of at most 1 entry with any keys, each value true or false",
    ),
    (
        {"kind": "union", "members": [{"kind": "literal", "value": "a"}, {"kind": "literal", "value": 2}]},
        '"a" or 2',
    ),
    ({"kind": "record", "fields": {}}, "an empty record"),
]


@pytest.mark.parametrize(("form", "phrase"), PHRASES)
def test_every_type_has_a_phrase(form: Any, phrase: str) -> None:
    contract = submit_contract("w", "s", "a", type_from_json(form))
    assert f"- OUTPUT: {phrase}\n" in contract


def test_unions_of_records_and_recursive_types_are_told_part_by_part() -> None:
    leaf: dict[str, Any] = {
        "kind": "record",
        "fields": {"n": {"type": {"kind": "int"}, "hasDefault": True, "default": 1}},
    }
    branch: Any = {
        "kind": "record",
        "fields": {"below": {"type": {"kind": "list", "item": {"kind": "ref", "name": "Tree"}}}},
    }
    types: dict[str, TypeModel] = {"Tree": type_from_json({"kind": "union", "members": [leaf, branch]})}
    contract = submit_contract("w", "s", "a", type_from_json({"kind": "ref", "name": "Tree"}), types)
    assert contract.splitlines()[4:-1] == [
        "- OUTPUT: Tree",
        "Tree is:",
        "- Tree: one of these",
        "  - either: a record with exactly these fields",
        "    - n: a whole number; 1 when left out",
        "  - either: a record with exactly these fields",
        "    - below: a list, each Tree",
    ]
