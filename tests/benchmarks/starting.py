"""How quickly the command starts: `python -m tests.benchmarks.starting`."""

from __future__ import annotations

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
    """The best time of a whole process."""
    return best(lambda: subprocess.run(command, check=True, capture_output=True), rounds=5)


def main() -> None:
    """Print the table; `--help` should stay below a quarter of `check builtin:autoplan`."""
    rows = [Row("python -c pass", best(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)))]
    for arguments in COMMANDS:
        command = (sys.executable, "-m", "windtunnel.simulator.cli", *arguments)
        rows.append(Row(" ".join(arguments), seconds_of(command)))
    print_table("start", [rows[1], rows[0], *rows[2:]])


if __name__ == "__main__":
    main()
