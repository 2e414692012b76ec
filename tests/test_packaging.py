"""The wheel holds every file of the three rooms, the tour, and the command."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("dsl", "compiler", "simulator")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy so that nothing is written beside the sources."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for room in ROOMS:
        shutil.copytree(ROOT / room, copy / room, ignore=LEFT_OUT)
    shutil.copytree(ROOT / "examples", copy / "examples", ignore=LEFT_OUT)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "built", "."]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = (copy / "built").glob("windtunnel-*.whl")
    return zipfile.ZipFile(built)


def test_no_file_of_a_room_is_missing(wheel: zipfile.ZipFile) -> None:
    """Each file below a room stands in the wheel under `windtunnel/`, and nothing else but the tour does."""
    there = {name for name in wheel.namelist() if not name.split("/")[0].endswith(".dist-info")}
    sources = (path for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file())
    wanted = {f"windtunnel/{path.relative_to(ROOT).as_posix()}" for path in sources if path.suffix != ".pyc"}
    tour = (path for path in (ROOT / "examples").iterdir() if path.suffix in (".flow", ".md", ".py"))
    assert there == wanted | {f"windtunnel/examples/{path.name}" for path in tour}


def test_the_wheel_brings_the_command(wheel: zipfile.ZipFile) -> None:
    """`windtunnel` is the command line of the simulator's room."""
    (entry,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "windtunnel = windtunnel.simulator.cli:main" in wheel.read(entry).decode()


def test_what_is_installed_begins_a_workflow(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """`windtunnel new` needs no file that only the repository has."""
    wheel.extractall(tmp_path / "installed")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from windtunnel.simulator import cli; "
        "assert cli.__file__.startswith(sys.argv[1]); "
        "new, check = ['new', 'mine', '--template', 'draft'], ['check', '--strict', 'mine.flow']; "
        "sys.exit(cli.run(new) or cli.run(check))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "installed")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "workflow mine {" in (tmp_path / "mine.flow").read_text("utf-8")
