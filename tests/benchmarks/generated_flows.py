"""Source text of workflows of any size, for benchmarks."""

from __future__ import annotations

GROUP = 10
"""Nodes in one stretch: nine agents that read each other and one decision of the route."""


def flow_of(nodes: int) -> str:
    """A workflow with about `nodes` nodes: stretches in a chain, each with a match and a loop limit."""
    groups = max(1, nodes // GROUP)
    parts = ["language 1", "workflow big {", "  revision 1", '  title "A generated workflow"']
    parts += [f"  maxSteps {50 * groups * GROUP}", "  input { topic: text(1..200), tags: [text] = [] }"]
    parts += ["  exits { done: { text: text }, dropped: { why: text } }"]
    for group in range(groups):
        parts += _nodes_of(group)
    parts += ['  compute dropped = { why: "a stretch gave up" }']
    parts += ["  compute done = { text: a0_0.text }", "  edges {"]
    for group in range(groups):
        parts += _edges_of(group, "done" if group == groups - 1 else f"a{group + 1}_0")
    parts += ["    done -> exit done", "    dropped -> exit dropped", "  }", "}"]
    return "\n".join(parts) + "\n"


def _nodes_of(group: int) -> list[str]:
    lines: list[str] = []
    for at in range(GROUP - 1):
        before = f"a{group}_{at - 1}.text" if at else "input.topic"
        lines += [
            f'  agent a{group}_{at} "step {group}.{at}" {{',
            f'    prompt """\n      Work on ${{{before}}}.\n      Tags: ${{json(input.tags)}}\n    """',
            "    expectedOutput { text: text(1..2_000), score: int(0..10) }",
            '    validate { require output.score > 0 else "a score of zero says nothing" }',
            "  }",
        ]
    last = f"a{group}_{GROUP - 2}"
    lines += [
        f'  agent c{group} "choosing {group}" {{',
        f'    prompt "Is this good enough? ${{{last}.text}}"',
        '    expectedOutput { verdict: "good" | "again" | "stop" }',
        "  }",
    ]
    return lines


def _edges_of(group: int, following: str) -> list[str]:
    chain = " -> ".join(f"a{group}_{at}" for at in range(GROUP - 1))
    head = "start -> " if group == 0 else ""
    return [
        f"    {head}{chain} -> c{group}",
        f"    c{group} -> match .verdict {{",
        f'      "good" -> {following}',
        f'      "again" -> a{group}_0 limit 2 then -> dropped',
        '      "stop" -> dropped',
        "    }",
    ]


FOLDED = 100
"""Nodes in each included workflow of a folded flow."""


def folded_flow_of(nodes: int) -> str:
    """A workflow that includes as many others as it takes to hold so many nodes."""
    child = flow_of(FOLDED).replace("workflow big", "workflow part")
    mounts = [f"m{number}" for number in range(max(1, nodes // FOLDED))]
    steps = len(mounts) * 50 * FOLDED
    parts = [
        child,
        "workflow folded {",
        "  revision 1",
        f"  maxSteps {steps}",
        "  input { topic: text(1..200) }",
    ]
    parts += ["  exits { done: { text: text }, dropped: { why: text } }"]
    parts += [f"  include {mount} = part {{ topic: input.topic }}" for mount in mounts]
    parts += ['  compute dropped = { why: "a part gave up" }', "  compute done = { text: m0.done.text }"]
    parts += ["  edges {", "    start -> m0"]
    for mount, following in zip(mounts, [*mounts[1:], "done"], strict=True):
        parts += [f"    {mount}.done -> {following}", f"    {mount}.dropped -> dropped"]
    return "\n".join([*parts, "    done -> exit done", "    dropped -> exit dropped", "  }", "}"]) + "\n"
