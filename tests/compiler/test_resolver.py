"""Every name to its declaration: scopes, duplicates, imports of all kinds, the order of workflows."""

from __future__ import annotations

from tests.compiler.cases import check_text, codes, concise
from windtunnel.compiler.modules import load
from windtunnel.compiler.reader import MemoryReader
from windtunnel.compiler.resolver import Kind, Program, WorkflowId, resolve
from windtunnel.dsl.parser import parse
from windtunnel.dsl.syntax import Include, Let


def program(texts: dict[str, str]) -> Program:
    """Resolve texts; the header is added and `main.flow` is the root."""
    reader = MemoryReader({name: f"language 1\n{text}\n" for name, text in texts.items()})
    return resolve(load(reader, "main.flow", parse))


CHILD = """
workflow child {
  input { topic: text }
  compute answer = { text: input.topic }
  edges { start -> answer -> exit done }
}
"""
PARENT = """
import child as helper from "./child.flow"
workflow parent {
  let topic = "birds"
  include help = helper { topic }
  decision ask {
    title "Go on?"
    choices {
      yes "Yes"
      no "No"
    }
  }
  edges {
    start -> help
    help.done -> ask
    ask.yes -> exit done
    ask.no -> exit done
  }
}
"""


def test_a_scope_gives_kind_and_tree_and_child() -> None:
    """What lowering asks a scope for."""
    resolved = program({"main.flow": PARENT, "child.flow": CHILD})
    assert resolved.diagnostics == ()
    child, parent = WorkflowId("child.flow", "child"), WorkflowId("main.flow", "parent")
    assert list(resolved.scopes) == [child, parent]
    assert resolved.root == (parent,)
    scope = resolved.scopes[parent]
    help_, topic, ask = scope.lookup("help"), scope.lookup("topic"), scope.lookup("ask")
    assert help_ is not None
    assert (help_.kind, help_.child, type(help_.tree)) == (Kind.INCLUDE, child, Include)
    assert resolved.child(help_) is resolved.scopes[child]
    assert topic is not None
    assert (topic.kind, topic.is_node, type(topic.tree)) == (Kind.LET, False, Let)
    assert ask is not None
    assert ask.choices is not None
    assert [choice.name.text for choice in ask.choices.items] == ["yes", "no"]
    assert scope.lookup("answer") is None
    assert [declaration.name for declaration in scope.nodes] == ["help", "ask"]
    assert resolved.scopes[child].exit_names == ("done",)


def test_declared_exits_keep_their_order_and_inferred_ones_are_sorted() -> None:
    """Inferred exits do not depend on the order of edges."""
    text = """workflow w {{
      {exits}
      compute a = 1
      compute b = 2
      edges {{
        start -> match input.x {{
          1 -> a
          else -> b
        }}
        b -> exit zeta
        a -> exit alpha
      }}
    }}"""
    inferred = program({"main.flow": text.format(exits="")})
    declared = program({"main.flow": text.format(exits="exits { zeta: int, alpha: int }")})
    identifier = WorkflowId("main.flow", "w")
    assert inferred.scopes[identifier].exit_names == ("alpha", "zeta")
    assert inferred.scopes[identifier].exits is None
    assert declared.scopes[identifier].exit_names == ("zeta", "alpha")


def test_every_duplicate_is_reported_at_its_second_place() -> None:
    """Nodes and lets share one space; types, workflows and templates of a file another."""
    text = """language 1
type A = text
workflow A {
  let x = 1
  compute x = 2
  compute y = 1
  agent y {
    prompt "${x}"
  }
  edges { start -> y -> exit done }
}
"""
    assert [line for line in concise(check_text(text)).splitlines() if "WT0102" in line] == [
        "main.flow:3:10 error WT0102 `A` is declared, but the name is taken",
        "main.flow:5:11 error WT0102 `x` is declared, but the name is taken",
        "main.flow:7:9 error WT0102 `y` is declared, but the name is taken",
    ]


def test_types_and_templates_are_imported_like_workflows() -> None:
    """Under their own name or another one; what an imported file imports is not passed on."""
    case = """language 1
import Draft as Text, kind-words as words from "./shared.flow"
import Inner from "./shared.flow"
workflow w {
  input { topic: text }
  agent write {
    prompt "${template words(input.topic)}"
    expectedOutput Text
  }
  edges { start -> write -> exit done }
}
# === shared.flow
language 1
import Inner from "./inner.flow"
type Draft = { text: Inner }
template kind-words(topic: text) = "Please write about ${topic}."
# === inner.flow
language 1
type Inner = text
"""
    checked = check_text(case.replace("kind-words", "kindly"))
    assert codes(checked) == ["WT0107"]


def test_includes_inside_one_file_may_not_form_a_circle() -> None:
    """The chain is named whole, and the rest of the file is still checked."""
    text = """language 1
workflow a {
  include next = b {}
  edges {
    start -> next
    next.done -> exit done
  }
}
workflow b {
  include next = c {}
  edges {
    start -> next
    next.done -> exit done
  }
}
workflow c {
  include next = a {}
  agent odd {
    prompt "${nothing}"
  }
  edges {
    start -> next
    next.done -> odd -> exit done
  }
}
"""
    found = concise(check_text(text)).splitlines()
    assert found[0] == "main.flow:17:18 error WT0108 workflows include each other: a → b → c → a"
    assert any("WT0101 there is no `nothing` here" in line for line in found)


def test_a_long_chain_of_includes_costs_no_stack() -> None:
    """A thousand workflows that each mount the next."""
    parts = [
        f"workflow w{n} {{\n  include next = w{n + 1} {{}}\n  edges {{\n    start -> next\n"
        "    next.done -> exit done\n  }\n}"
        for n in range(1_000)
    ]
    last = 'workflow w1000 {\n  compute last = { text: "x" }\n  edges { start -> last -> exit done }\n}'
    checked = check_text("language 1\n" + "\n".join([*parts, last]) + "\n")
    assert codes(checked) == []
    assert len(checked.workflows) == 1_001


def test_a_broken_declaration_hides_no_name() -> None:
    """What the parser had to skip may have declared a name, so nobody calls the name unknown."""
    text = """language 1
workflow w {
  input { topic: text }
  agent write ??? {
    prompt "Write about ${input.topic}."
  }
  agent check {
    prompt "Check ${json(write)}."
  }
  edges { start -> write -> check -> exit done }
}
"""
    assert [code for code in codes(check_text(text)) if not code.startswith("WT00")] == []
