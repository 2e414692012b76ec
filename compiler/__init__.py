"""Tree to snapshot: names, types, checks, lowering, pictures. Pure; files come through a given reader.

Reading order; each file imports only files above it:

expression    the stored form of expressions
snapshot      the compiled workflow as pydantic models
canonical     canonical JSON and the digests made of it
printing       an expression of a snapshot in the syntax of the language
typetext      a type in words, as JSON, as JSON Schema
acceptance    a type at work: it accepts a value or says what is wrong where
values        equality, order, text and arithmetic of JSON values
functions     the functions of the language
reading       what an expression reads of a run
evaluator     expressions on values
contract      the words that tell a model how to finish
types          shapes: what a type means, as data
patterns       the patterns of text types, in linear time
unions         what includes what, unions in normal form
description    shapes in the syntax of the language
findings       where a pass puts its diagnostics
assignability  what may be given for what, and where two shapes part
constants      values that need no run
digraph        who follows whom, components and orders
typescope      written types to shapes
reader         the rim: files and built-ins
prompts        prompts that stand in files of their own
modules        every file that a root needs, read once
sites          where expressions stand
resolver       every name to its declaration
graph          nodes and arrows of one workflow
routing        edge lines to the graph
paths          which stored value an expression reads
narrowing      what is left of a shape once something is known
flow           what has surely run where; witnesses
stored         the shape of what can be read at a place
operators      operators on shapes
fitting        what does not fit, said where it stands
signatures     functions on shapes
conditions     what a condition tells
calls          functions, reads of the run, templates
accesses       names and fields
expressions    the shape of each expression
clauses        which clauses each kind of node has
settings       which settings a workflow has
outputs        what each node gives
inference      the shapes of one workflow
templating     the shapes of templates
scenario       a scenario as data
vocabulary     the words of scenarios
nodepaths      node paths to declarations
expectations   what a scenario may expect, over variables
scenariotyping  the shapes of what stands in scenarios
checks/        what is wrong with a typed workflow, band by band
plan           every workflow where it is mounted
typelowering   shapes to stored types
folding        stored expressions made smaller
exprlowering   expressions to their stored form
edgelowering   routes to stored edges
nodelowering   one node to its stored form
digests        shape, behaviour and presentation
lowering       a checked workflow to its snapshot
scenariolowering  checked scenarios to data
snapshotfile   snapshots written, and read with care
pipeline       source to snapshot, one line per phase
sourcemap      where everything in a snapshot stands in the text
widening       which of two types accepts more
renaming       a snapshot with nodes under other names
changes        one difference as a value
nodechanges    what changed about nodes
edgechanges    what changed about arrows
compatibility  what a change breaks
mending        safe fixes put into a text
revision       the lock, and what it takes to keep it
explanation    the page of a code
places         where a run can stand and go, through all includes
rounds         after how many rounds a count ends a cycle
bounds         the most that a run can take, as a formula
facts          what can be told before a run
standing       what a change means to runs that are not over
drawing/       snapshot to picture
builtins/      the workflows that are shipped
pages/         the pages of the codes, with their examples
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windtunnel.compiler.drawing import Format as DrawingFormat
    from windtunnel.compiler.pipeline import Checked, Compiled, Staged
    from windtunnel.compiler.reader import FileReader
    from windtunnel.compiler.snapshot import Snapshot
    from windtunnel.compiler.snapshotfile import SnapshotRefused

__all__ = ["check_file", "compile_file", "draw", "load_snapshot", "project", "snapshot_text", "stage_file"]


def check_file(file: str, *, allow_outside: bool = False) -> Checked:
    """Everything that is wrong with a file and all it imports; `file` is a path or `builtin:NAME`.

    The project is the working folder, or the folder of a file that lies outside it. Mistakes are values; a
    file that cannot be read is one of them.
    """
    from windtunnel.compiler.pipeline import check

    return check(*project(file, allow_outside))


def compile_file(file: str, *, workflow: str | None = None, allow_outside: bool = False) -> Compiled:
    """The snapshot of a workflow and everything that was found; the snapshot is None when there is an error.

    Without a name it is the workflow of the file that includes the others; which one must be clear.
    """
    from windtunnel.compiler.pipeline import compile_workflow

    return compile_workflow(*project(file, allow_outside), workflow)


def stage_file(file: str, *, allow_outside: bool = False) -> Staged:
    """The scenarios of a file, each with the snapshot of its workflow, and everything that was found."""
    from windtunnel.compiler.pipeline import compile_scenarios

    return compile_scenarios(*project(file, allow_outside))


def load_snapshot(text: str | bytes) -> Snapshot | SnapshotRefused:
    """The snapshot in a JSON text that was written by `snapshot_text`, or why it cannot be used."""
    from windtunnel.compiler.snapshotfile import read_snapshot

    return read_snapshot(text)


def snapshot_text(snapshot: Snapshot) -> str:
    """A snapshot as canonical JSON, with a newline at the end."""
    from windtunnel.compiler.snapshotfile import write_snapshot

    return write_snapshot(snapshot)


def draw(snapshot: Snapshot, format: DrawingFormat = "svg", **options: object) -> str | bytes:
    """The picture of a snapshot; `drawing.draw` tells the options."""
    from windtunnel.compiler.drawing import draw as draw_snapshot

    return draw_snapshot(snapshot, format, **options)  # type: ignore[arg-type]


def project(file: str, allow_outside: bool) -> tuple[FileReader, str]:
    """A reader for the project that a file belongs to, and the name the file has in it."""
    from pathlib import Path

    from windtunnel.compiler.reader import BUILTIN, FileReader

    here = Path.cwd().resolve()
    if file.startswith(BUILTIN):
        return FileReader(here, allow_outside=allow_outside), file
    path = (here / file).resolve()
    if path.is_relative_to(here):
        return FileReader(here, allow_outside=allow_outside), path.relative_to(here).as_posix()
    return FileReader(path.parent, allow_outside=allow_outside), path.name
