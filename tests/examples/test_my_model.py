"""The model of one's own that the examples show: as a program, and as a provider that a search can try."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from windtunnel.compiler import compile_file
from windtunnel.simulator import cli, explore
from windtunnel.simulator.providers import Provider

FILE = Path(__file__).parent.parent.parent / "examples" / "my_model.py"


def loaded() -> Any:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("my_model", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_as_a_program(capfd: pytest.CaptureFixture[str]) -> None:
    """The command of its docstring runs, and its answer is the output."""
    command = f"cmd:{sys.executable} {FILE}"
    assert cli.run(["run", "examples/hello.flow", "--provider", command]) == 0
    assert "this is my answer." in capfd.readouterr().out


def test_as_a_provider_that_a_search_tries() -> None:
    """Its own deviation is among what was tried, and nothing breaks."""
    snapshot = compile_file("examples/hello.flow").snapshot
    assert snapshot is not None
    provider = loaded().Talkative(snapshot)
    assert isinstance(provider, Provider)
    found = explore(snapshot, provider=provider, faults=1)
    assert found.complete
    assert found.violations == ()
    usual = explore(snapshot, faults=1)
    assert found.behaviours.covered == usual.behaviours.covered + 1
