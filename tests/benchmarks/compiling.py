"""How checking, compiling and drawing grow with size: `python -m tests.benchmarks.compiling [NODES…]`.

Seconds of the processor, without the start of Python. The picture of a flow is the SVG of all its nodes; the
folded one is that of as many nodes in included workflows of a hundred each.
"""

from __future__ import annotations

import sys

from tests.benchmarks.generated_flows import flow_of, folded_flow_of
from tests.benchmarks.measuring import Row, best_of_cpu, print_table
from windtunnel.compiler import draw
from windtunnel.compiler.pipeline import check, compile_workflow
from windtunnel.compiler.reader import MemoryReader

SIZES = (100, 1_000, 10_000)
DRAWN = 1_000
"""Most nodes that are drawn on one sheet."""


def rows_of(nodes: int) -> list[Row]:
    """Check, compile and draw one generated workflow."""
    text = flow_of(nodes)
    reader = MemoryReader({"big.flow": text})
    rounds = 3 if nodes <= 1_000 else 1
    compiled = compile_workflow(reader, "big.flow")
    assert compiled.snapshot is not None, [found.message for found in compiled.diagnostics[:3]]
    size = f"{text.count(chr(10)):,} lines"
    checking = best_of_cpu(lambda: check(reader, "big.flow"), rounds=rounds)
    compiling = best_of_cpu(lambda: compile_workflow(reader, "big.flow"), rounds=rounds)
    rows = [Row(f"check {nodes:,} nodes", checking, size), Row(f"compile {nodes:,} nodes", compiling, size)]
    if nodes <= DRAWN:
        snapshot = compiled.snapshot
        rows.append(Row(f"draw {nodes:,} nodes", best_of_cpu(lambda: draw(snapshot, "svg"), rounds=rounds)))
    reader = MemoryReader({"folded.flow": folded_flow_of(nodes)})
    folded = compile_workflow(reader, "folded.flow").snapshot
    assert folded is not None, "the folded flow compiles"
    drawing = best_of_cpu(lambda: draw(folded, "svg"), rounds=rounds)
    return [*rows, Row(f"draw {nodes:,} nodes folded", drawing)]


def main() -> None:
    """Print the table."""
    sizes = [int(argument) for argument in sys.argv[1:]] or list(SIZES)
    print_table("check and compile", [row for nodes in sizes for row in rows_of(nodes)])


if __name__ == "__main__":
    main()
