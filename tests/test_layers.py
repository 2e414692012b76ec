"""The house rules about imports: one direction, true maps, nothing impure inside, a quick start."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("dsl", "compiler", "simulator")
"""Inner first; a room imports only itself and what stands before it."""

RIM = (
    "compiler/drawing/layout",
    "simulator/cli",
    "simulator/commands/",
    "simulator/store/sqlite",
    "simulator/durable/sessionfile",
    "simulator/durable/wall",
    "simulator/durable/killing",
    "simulator/durable/torture",
    "simulator/serving/sessionlog",
    "simulator/serving/service",
    "simulator/serving/chaos",
    "simulator/serving/app",
    "simulator/serving/running",
    "simulator/report/writer",
)
"""The only files that touch the outside; a folder ends in `/`. The layout engine is a program of its own."""

IMPURE = frozenset(
    {"asyncio", "datetime", "getpass", "locale", "multiprocessing", "random", "secrets", "select", "signal"}
    | {"socket", "subprocess", "tempfile", "threading", "time", "urllib", "uuid"}
)
IMPURE_ATTRIBUTES = frozenset({("os", "environ"), ("os", "getenv"), ("os", "urandom"), ("os", "getpid")})

MAP_LINE = re.compile(r"^(?P<name>[a-z_0-9]+)(?P<kind>/|/\*\.flow|\.[a-z]+)?(?: +— +| {2,})(?P<what>\S.*)$")
SLOW_TO_LOAD = ("lark", "networkx", "pydantic", "graphviz", "rich")


class Crossing(NamedTuple):
    """One import: the module and names asked for, and where."""

    module: str
    names: tuple[str, ...]
    line: int


def map_of(package: Path) -> tuple[str, ...]:
    """The names in the map of a package, in reading order: files without `.py`, sub-packages without `/`."""
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    found = (MAP_LINE.match(line) for line in docstring.splitlines())
    return tuple(match["name"] for match in found if match and match["kind"] in (None, "/", ".py", "/*.flow"))


def packages(root: Path) -> Iterator[Path]:
    """Every room and sub-room, outermost first."""
    for room in ROOMS:
        yield from sorted(init.parent for init in (root / room).rglob("__init__.py"))


def children(package: Path) -> set[str]:
    """What a map must list: the modules and sub-packages of a package."""
    modules = {file.stem for file in package.glob("*.py")} - {"__init__"}
    return modules | {init.parent.name for init in package.glob("*/__init__.py")}


def crossings(tree: ast.AST) -> Iterator[Crossing]:
    """Every import in a file, also the ones inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Crossing(alias.name, (), node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield Crossing(module, tuple(alias.name for alias in node.names), node.lineno)


def targets(root: Path, crossing: Crossing) -> Iterator[tuple[str, ...]]:
    """The modules of ours that an import reaches, as paths: `("simulator", "run", "engine")`."""
    if not crossing.module.startswith("windtunnel."):
        return
    path = tuple(crossing.module.split(".")[1:])
    folder = root.joinpath(*path)
    reached = {
        (*path, name)
        if (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists()
        else path
        for name in crossing.names
    }
    yield from sorted(reached or {path})


def in_rim(path: tuple[str, ...]) -> bool:
    """Whether a file belongs to the rim."""
    name = "/".join(path)
    return any(name.startswith(entry) if entry.endswith("/") else name == entry for entry in RIM)


def misplaced(root: Path, path: tuple[str, ...], target: tuple[str, ...]) -> str | None:
    """Why a file at `path` may not import `target`, or None."""
    if path[0] != target[0]:
        if ROOMS.index(target[0]) > ROOMS.index(path[0]):
            return f"imports point simulator → compiler → dsl, not {path[0]} → {target[0]}"
        return None
    shared = 0
    while shared < min(len(path), len(target)) and path[shared] == target[shared]:
        shared += 1
    if shared == len(path):  # A front door opens what is inside; a file does not import itself.
        return None
    if shared == len(target):
        return None if in_rim(path) else "a room's own files do not come in by its front door"
    order = map_of(root.joinpath(*path[:shared]))
    ours, theirs = path[shared], target[shared]
    if ours in order and theirs in order and order.index(theirs) >= order.index(ours):
        return f"{theirs} stands below {ours} in the map of {'/'.join(path[:shared])}"
    return None


def findings(root: Path) -> list[str]:
    """Everything that breaks a rule below `root`, one line each."""
    found: list[str] = []
    for package in packages(root):
        shown = package.relative_to(root).as_posix()
        listed, there = map_of(package), children(package)
        found += [f"{shown}: {name} is not in the map" for name in sorted(there - set(listed))]
        found += [
            f"{shown}: the map lists {name}, which is not there" for name in listed if name not in there
        ]
        found += [
            f"{shown}: the map lists {name} twice" for name in sorted(set(listed)) if listed.count(name) > 1
        ]
        for file in sorted(package.glob("*.py")):
            found += file_findings(root, file)
    return found


def file_findings(root: Path, file: Path) -> Iterator[str]:
    """What is wrong with the imports of one file."""
    relative = file.relative_to(root).with_suffix("")
    path = relative.parent.parts if file.stem == "__init__" else relative.parts
    tree = ast.parse(file.read_text(encoding="utf-8"))
    shown = file.relative_to(root).as_posix()
    for crossing in crossings(tree):
        where = f"{shown}:{crossing.line}"
        if crossing.module.startswith("."):
            yield f"{where}: relative import; a module has one name"
        if crossing.module.split(".")[0] in ROOMS:
            yield f"{where}: a room is imported as windtunnel.{crossing.module}"
        if crossing.module.split(".")[0] in IMPURE and not in_rim(path):
            yield f"{where}: {crossing.module} outside the rim"
        for target in targets(root, crossing):
            reason = misplaced(root, path, target)
            if reason is not None:
                yield f"{where}: {reason}"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or in_rim(path):
            continue
        if (node.value.id, node.attr) in IMPURE_ATTRIBUTES:
            yield f"{shown}:{node.lineno}: {node.value.id}.{node.attr} outside the rim"


def test_the_rooms_keep_the_rules() -> None:
    """Imports point one way, every map tells the truth, nothing impure inside."""
    assert findings(ROOT) == []


PLANTED = {
    "the wrong direction": ("dsl/one.py", "from windtunnel.compiler import two\n", "not dsl → compiler"),
    "below in the map": (
        "compiler/one.py",
        "from windtunnel.compiler.two import x\n",
        "two stands below one",
    ),
    "inside a function": (
        "compiler/one.py",
        "def f() -> None:\n    import windtunnel.compiler.two\n",
        "two stands below one",
    ),
    "a sub-room's file reaching down": (
        "compiler/inner/deep.py",
        "from windtunnel.compiler import two\n",
        "two stands below inner",
    ),
    "the own front door": ("compiler/one.py", "from windtunnel.compiler import y\n", "front door"),
    "a file that no map lists": ("dsl/three.py", "", "three is not in the map"),
    "a relative import": ("dsl/one.py", "from . import two\n", "relative import"),
    "a second name": ("compiler/one.py", "import dsl.one\n", "imported as windtunnel.dsl.one"),
    "a clock": ("simulator/one.py", "import time\n", "time outside the rim"),
    "the environment": ("simulator/one.py", "import os\n\nX = os.environ\n", "os.environ outside the rim"),
}


def write(file: Path, text: str) -> None:
    """Write a file as UTF-8."""
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("case", PLANTED)
def test_each_rule_can_fail(tmp_path: Path, case: str) -> None:
    """The rules of this file find what is planted, and nothing before it is."""
    for room in ROOMS:
        (tmp_path / room / "inner").mkdir(parents=True)
        write(tmp_path / room / "__init__.py", '"""R.\n\none    1\ninner/  3\ntwo — 2\n"""\n')
        write(tmp_path / room / "inner/__init__.py", '"""I.\n\ndeep  1\n"""\n')
        for name in ("one", "two", "inner/deep"):
            write(tmp_path / room / f"{name}.py", "")
    write(tmp_path / "simulator/inner/deep.py", "from windtunnel.simulator import one\n")
    assert findings(tmp_path) == []
    name, text, expected = PLANTED[case]
    write(tmp_path / name, text)
    found = findings(tmp_path)
    assert len(found) == 1
    assert expected in found[0]


def test_help_loads_nothing_heavy() -> None:
    """`windtunnel --help` imports neither the parser, the graph library nor the models."""
    script = (
        "import sys\n"
        "from windtunnel.simulator.cli import main\n"
        "sys.argv = ['windtunnel', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit as leaving:\n    assert not leaving.code, leaving.code\n"
        f"print('LOADED', *sorted(name for name in {SLOW_TO_LOAD!r} if name in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Usage: windtunnel" in done.stdout
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_check_loads_nothing_that_it_does_not_need() -> None:
    """A check draws nothing, makes no snapshot and needs no graph library."""
    script = (
        "import sys\n"
        "from windtunnel.simulator.cli import run\n"
        "assert not run(['check', 'builtin:plain-summary'])\n"
        "slow = ('lark', 'networkx', 'pydantic', 'graphviz', 'rich')\n"
        "print('LOADED', *(name for name in slow if name in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"
