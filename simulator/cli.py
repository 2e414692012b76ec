"""The command line: `windtunnel COMMAND …`. A command is loaded when it is asked for, so `--help` is quick.

Exit codes: 0 clean, 1 findings or a violation, 2 wrong usage, 3 a bug of windtunnel. Results go to standard
output, messages to standard error.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple, NoReturn, TextIO

import click

from windtunnel.simulator.commands.console import CLEAN, OUR_BUG, STOPPED, USAGE, Finished, say

_FULL: Final = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
REPORT_BUGS_AT: Final = "the issue tracker named in the README"


class Entry(NamedTuple):
    """One command: the module below `commands` that holds `command`, and its line in `--help`."""

    module: str
    summary: str


COMMANDS: Final = {
    "new": Entry("new", "Begin a workflow with a scenario, from an example."),
    "check": Entry("check", "Find mistakes in .flow files."),
    "fmt": Entry("fmt", "Write .flow files in their one canonical form."),
    "explain": Entry("explain", "Say what a finding means, with an example."),
    "bump": Entry("bump", "Raise the revisions of what changed, and lock them."),
    "diff": Entry("diff", "Say what changed between two versions, and whom it concerns."),
    "check-runs": Entry("checkruns", "Say what a change means to the runs that are not over."),
    "facts": Entry("facts", "Say what a workflow can cost, what people see, what guards its effects."),
    "builtins": Entry("builtins", "List the workflows that come with windtunnel."),
    "compile": Entry("compile", "Print the snapshot of a workflow as canonical JSON."),
    "graph": Entry("graph", "Draw a workflow."),
    "run": Entry("run", "Run a workflow once in the simulator and tell what happened."),
    "test": Entry("test", "Run the scenarios of .flow files and tell those that fail."),
    "runs": Entry("runs", "List the runs of a store, or tell or draw one of them."),
    "resume": Entry("resume", "Go on with a run of a store that its process left behind."),
    "answer": Entry("answer", "Answer the request of a run that waits."),
    "cancel": Entry("cancel", "End a run of a store."),
    "crashpoints": Entry("crashpoints", "Fire every point at which a process can die, one at a time."),
    "explore": Entry("explore", "Try every schedule with up to N faults, or show the shortest that breaks."),
    "faults": Entry("faults", "List the bugs of real systems that can be put back, to see them found."),
    "torture": Entry("torture", "Kill real processes on a real store at every crash point."),
    "replay": Entry("replay", "Tell again what a token stands for, event by event."),
    "serve": Entry("serve", "Talk to a workflow's agent in a browser, on a real log and a real wire."),
    "import": Entry("importing", "Read an agent's session file and show its rows."),
}


class _Commands(click.Group):
    """A group that imports a command's module only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"windtunnel.simulator.commands.{entry.module}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(_unknown(args[0]))
        return super().resolve_command(ctx, args)


def _unknown(name: str) -> str:
    from windtunnel.dsl.spelling import nearest, suggestion

    near = suggestion(nearest(name, COMMANDS))
    return f"there is no command `{name}`{f'; {near}' if near else ''}"


def _version(ctx: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if not asked or ctx.resilient_parsing:
        return
    from importlib.metadata import version

    click.echo(f"windtunnel {version('windtunnel')}")
    ctx.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: windtunnel explore builtin:autoplan",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@click.option("--debug", is_flag=True, help="Show the whole traceback when windtunnel itself fails.")
def windtunnel(debug: bool) -> None:
    """Check, draw and simulate agent workflows.

    A FILE is the path of a .flow file, or builtin:NAME for a workflow that comes with windtunnel. FILE#NAME
    is one workflow of a file that declares several.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; no exception leaves, whatever happens."""
    try:
        windtunnel.main(args=list(arguments), prog_name="windtunnel", standalone_mode=False)
        sys.stdout.flush()
    except Finished as finished:
        return _flushed(finished.code)
    except click.exceptions.Exit as leaving:
        return _flushed(leaving.exit_code)
    except click.ClickException as problem:
        problem.show(sys.stderr)
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        say("stopped")
        return STOPPED
    except BrokenPipeError:
        return _reader_is_gone()
    except OSError as problem:
        if problem.errno not in _FULL:
            return _apologise(problem, "--debug" in arguments)
        return _no_room(problem)
    except Exception as bug:
        return _apologise(bug, "--debug" in arguments)
    return CLEAN


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_is_gone()
    except OSError as problem:
        if problem.errno not in _FULL:
            raise
        return _no_room(problem)
    return code


def _no_room(problem: OSError) -> int:
    """The disk took only a part of the result: say so, and let nothing pass for the whole."""
    _reader_is_gone()
    say(f"windtunnel: cannot write the result: {(problem.strerror or 'no space').lower()}")
    return USAGE


def _reader_is_gone() -> int:
    """Whoever read our output has enough; say nothing, also not when the interpreter closes the stream."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    return CLEAN


def _apologise(bug: Exception, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(bug, file=sys.stderr)
    line = " ".join(str(bug).split())[:400]
    said = f"{type(bug).__name__}: {line}" if line else type(bug).__name__
    say(
        f"windtunnel: sorry, this is a mistake of ours, not of yours.\n  {said}\n"
        f"Please report it at {REPORT_BUGS_AT}, with the command and the file"
        f"{'' if debug else '; --debug before the command shows more'}."
    )
    return OUR_BUG


def _speak_utf8(stream: TextIO) -> None:
    """Write UTF-8 with plain newlines whatever the locale says; what has no UTF-8 form is written escaped."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def main() -> NoReturn:
    """The entry point of the installed command."""
    gc.set_threshold(100_000, 20, 100)  # A short life with much data that stays: collect seldom.
    _speak_utf8(sys.stdout)
    _speak_utf8(sys.stderr)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
