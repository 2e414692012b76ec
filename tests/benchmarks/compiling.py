"""How checking and compiling grow with size: `python -m tests.benchmarks.compiling [NODES…]`."""

from __future__ import annotations

import sys

from tests.benchmarks.generated_flows import flow_of
from tests.benchmarks.measuring import Row, best, print_table
from windtunnel.compiler.pipeline import check, compile_workflow
from windtunnel.compiler.reader import MemoryReader

SIZES = (100, 1_000, 10_000)


def rows_of(nodes: int) -> list[Row]:
    """Check and compile one generated workflow."""
    text = flow_of(nodes)
    reader = MemoryReader({"big.flow": text})
    rounds = 3 if nodes <= 1_000 else 1
    compiled = compile_workflow(reader, "big.flow")
    assert compiled.snapshot is not None, [found.message for found in compiled.diagnostics[:3]]
    size = f"{text.count(chr(10)):,} lines"
    checking = best(lambda: check(reader, "big.flow"), rounds=rounds)
    compiling = best(lambda: compile_workflow(reader, "big.flow"), rounds=rounds)
    return [Row(f"check {nodes:,} nodes", checking, size), Row(f"compile {nodes:,} nodes", compiling, size)]


def main() -> None:
    """Print the table."""
    sizes = [int(argument) for argument in sys.argv[1:]] or list(SIZES)
    print_table("check and compile", [row for nodes in sizes for row in rows_of(nodes)])


if __name__ == "__main__":
    main()
