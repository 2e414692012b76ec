"""How long `explore` takes on the built-ins: `python -m tests.benchmarks.exploring [N]`."""

from __future__ import annotations

import sys

from tests.benchmarks.measuring import Row, best, print_table
from windtunnel.compiler import compile_file
from windtunnel.simulator import explore


def row_of(name: str, faults: int) -> Row:
    """Explore one built-in with up to so many faults."""
    snapshot = compile_file(f"builtin:{name}").snapshot
    assert snapshot is not None, f"{name} compiles"
    found = explore(snapshot, faults=faults)
    seconds = best(lambda: explore(snapshot, faults=faults), rounds=1)
    rate, shared = found.states / seconds, found.transitions / found.distinct_calls
    note = f"{found.states:,} states, {rate:,.0f} states/s, {shared:.1f} transitions per distinct call"
    return Row(f"{name}, faults {faults}", seconds, note if found.complete else f"{note}, not complete")


def main() -> None:
    """Print the table."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    rows = [row_of(name, faults) for name in ("plain-summary", "autoplan") for faults in range(1, most + 1)]
    print_table("explore", rows)


if __name__ == "__main__":
    main()
