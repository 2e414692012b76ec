"""How quickly the command starts: `python -m tests.benchmarks.starting`, in seconds of the processor.

Compiled modules come from their cache, as after an installation: PYTHONDONTWRITEBYTECODE must not be set.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.benchmarks.measuring import Row, best, print_table

COMMANDS = (
    ("check", "builtin:autoplan"),
    ("--help",),
    ("--version",),
    ("explore", "--help"),
    ("compile", "builtin:autoplan"),
    ("graph", "builtin:autoplan"),
    ("run", "builtin:autoplan"),
)


def seconds_of(command: tuple[str, ...]) -> float:
    """The least time of the processor for a whole process."""
    return best(
        lambda: subprocess.run(command, check=True, capture_output=True), rounds=5, clock=_of_children
    )


def _of_children() -> float:
    """The time of the processor that ended processes have taken."""
    taken = os.times()
    return taken.children_user + taken.children_system


def main() -> None:
    """Print the table; `--help` should stay below a quarter of `check builtin:autoplan`."""
    rows = [Row("python -c pass", seconds_of((sys.executable, "-c", "pass")))]
    for arguments in COMMANDS:
        command = (sys.executable, "-m", "windtunnel.simulator.cli", *arguments)
        rows.append(Row(" ".join(arguments), seconds_of(command)))
    print_table("start", [rows[1], rows[0], *rows[2:]])


if __name__ == "__main__":
    main()
