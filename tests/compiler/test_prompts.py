"""Prompts in files of their own: findings stand where the mistake is, in the order of the flow."""

from __future__ import annotations

from tests.compiler.cases import check_text, concise

FLOW = """language 1
workflow review {
  input { topic: text, tone?: text }
  exits { done: { text: text } }
  agent write {
    ALLOW
    prompt file "prompts/write.md"
    expectedOutput { text: text }
  }
  agent again {
    prompt file "prompts/again.md"
    expectedOutput { text: missing }
  }
  edges { start -> write -> again -> exit done }
}
# === prompts/write.md
"""


def lines(write: str, again: str, allow: str = "# nothing") -> list[str]:
    """The findings, one a line, without their notes."""
    text = FLOW.replace("ALLOW", allow) + f"{write}\n# === prompts/again.md\n{again}\n"
    return [line for line in concise(check_text(text)).splitlines() if not line.startswith(" ")]


def test_findings_stand_in_the_file_of_the_prompt() -> None:
    """Each mistake has its own place, and they come in the order of the clauses."""
    found = lines("On ${input.topik},\n\nin ${input.tone}.", 'After """x""" ${write.txt}')
    assert [" ".join(line.split(" ")[:3:2]) for line in found] == [
        "prompts/write.md:1:12 WT0404",
        "prompts/write.md:3:6 WT0402",
        "prompts/again.md:1:23 WT0404",
        "main.flow:12:28 WT0105",
    ]


def test_two_clauses_may_use_one_file() -> None:
    """What is wrong for both is said once; what is wrong for one is said of that one."""
    text = (
        FLOW.replace("again.md", "write.md")
        .replace("{ text: missing }", "{ text: text }")
        .replace("ALLOW", "")
    )
    found = concise(check_text(text + "${input.topik} ${again.text ?? input.tone ?? json(write)}\n"))
    assert found.count("WT0404") == 1
    assert "prompts/write.md:1:9 error WT0404" in found
    assert "WT0121" not in found


def test_a_file_that_is_no_prompt() -> None:
    """The place of the mistake, and of the clause that uses the file."""
    text = (
        FLOW.replace("ALLOW", "")
        + "First line.\nSecond ${input.topic\n# === prompts/again.md\nx ${write.text}\n"
    )
    found = concise(check_text(text))
    assert "prompts/write.md:2:8 error WT0512 `prompts/write.md` is no usable prompt:" in found
    assert "also 7:5 the prompt is used here" in found


def test_a_silence_above_the_clause_reaches_into_the_file() -> None:
    """A silence stands in the flow, since a prompt has no comments."""
    odd = '${if input.topic == 3 then "a" else "b"}'
    fine = "${write.text}"
    loud = [line for line in lines(odd, fine) if "WT0409" in line]
    assert [line.split(" ")[0] for line in loud] == ["prompts/write.md:1:6"]
    quiet = lines(odd, fine, "# allow(WT0409): it is checked elsewhere")
    assert not [line for line in quiet if "WT0409" in line or "WT1101" in line]
