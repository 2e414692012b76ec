"""Tests of workflows under pytest: a plugin that collects scenarios, and functions for tests in Python.

With `flow_scenarios = true` in the configuration, or with `--flow-scenarios`, pytest collects each scenario
of each `.flow` file as a test of its name. In tests of your own:

    from windtunnel.simulator.testing import explore, simulate

    def test_greeting() -> None:
        trial = simulate("hello.flow", "a crash does not repeat the greeting")
        trial.must(trial.visits("greet") == 1, "one greeting")

The plugin is loaded with every run of pytest, so it imports the rest only where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pydantic import JsonValue

    from windtunnel.compiler.scenario import Scenario
    from windtunnel.compiler.snapshot import Snapshot
    from windtunnel.simulator.operations import Exploration, Run
    from windtunnel.simulator.providers.behaviour import Provider
    from windtunnel.simulator.scenario.verdict import Verdict
    from windtunnel.simulator.scenario.watching import World

INI: Final = "flow_scenarios"
FLAG: Final = "--flow-scenarios"
SUFFIX: Final = ".flow"


class FlowError(ValueError):
    """A flow that cannot be used: its findings, or why there is no such scenario."""


class Trial:
    """One run, as a test looks at it: what happened, how it ended, and the command that shows it again."""

    def __init__(
        self,
        status: str,
        exit: str | None,
        output: JsonValue,
        events: tuple[dict[str, Any], ...],
        session: tuple[dict[str, Any], ...],
        broken: tuple[str, ...],
        story: Callable[[], str],
        again: str,
    ) -> None:
        self.status = status
        self.exit = exit
        self.output = output
        self.events = events
        self.session = session
        self.broken = broken
        self.again = again
        self._story = story

    @property
    def passed(self) -> bool:
        """Whether every expectation and every invariant held."""
        return not self.broken

    @property
    def story(self) -> str:
        """What happened, event by event, and what was wrong."""
        return self._story()

    def must(self, condition: object, said: str = "the condition") -> None:
        """Fail the test, with the story and the command, unless the condition is true."""
        __tracebackhide__ = True
        if not condition:
            pytest.fail(f"{said} does not hold\n\n{self.story}\nagain: {self.again}", pytrace=False)

    def must_pass(self) -> None:
        """Fail the test, with the story and the command, unless everything was as expected."""
        __tracebackhide__ = True
        if self.broken:
            pytest.fail(f"{self.story}\nagain: {self.again}", pytrace=False)

    # --- the trace ------------------------------------------------------------------------------------------

    def happened(self, event: str, node: str | None = None) -> list[dict[str, Any]]:
        """Every event of that type, at that node where one is named."""
        return [e for e in self.events if e["type"] == event and node in (None, e.get("nodeId"))]

    def in_order(self, *nodes: str) -> bool:
        """Whether the nodes started in this order, whatever came between."""
        from windtunnel.simulator.scenario.expecting import starts_of

        started = iter([name for name, _ in starts_of(self.events)])
        return all(node in started for node in nodes)

    def visits(self, node: str) -> int:
        """How often a node or include was entered."""
        return _whole(self._world.visits(node))

    def visible(self, node: str) -> int:
        """How many finished answers to the node's prompts a person can see."""
        return _whole(self._world.visible(node))

    def prompts(self, node: str) -> int:
        """How often the node's model was asked."""
        return _whole(self._world.prompts(node))

    def result(self, node: str) -> dict[str, Any] | None:
        """How the node ended last; None if it did not."""
        found = self._world.result(node)
        return found if isinstance(found, dict) else None

    @property
    def _world(self) -> World:
        from windtunnel.simulator.scenario.watching import World

        return World(self.events, self.session, self.events[-1]["at"] if self.events else 0, self.status)


def _whole(value: object) -> int:
    assert isinstance(value, int), "a count is a whole number"
    return value


# --- functions ----------------------------------------------------------------------------------------------


def simulate(
    flow: str | Path | Snapshot,
    scenario: str | Scenario | None = None,
    seed: int | None = None,
    *,
    input: JsonValue = None,
    provider: Provider | None = None,
) -> Trial:
    """One run: of a scenario by its title, or of the workflow with a seed and an input.

    `flow` is the file of the scenario or of the workflow, or a snapshot. `provider` stands in for the model
    wherever the scenario has no line. Raises FlowError for a file with errors or without such a scenario.
    """
    if isinstance(scenario, str):
        return _trial(_verdict(str(flow), scenario, provider))
    snapshot = _snapshot(flow)
    if scenario is not None:
        from windtunnel.simulator.scenario.running import run_scenario

        return _trial(run_scenario(scenario, snapshot, provider))
    from windtunnel.simulator import operations

    run = operations.simulate(snapshot, input, seed=seed, provider=provider)
    return _seeded(run, str(flow) if isinstance(flow, str | Path) else snapshot.workflow, seed)


def explore(
    flow: str | Path | Snapshot,
    faults: int = 2,
    *,
    input: JsonValue = None,
    provider: Provider | None = None,
    **bounds: Any,
) -> Exploration:
    """Every schedule with up to `faults` faults; fails the test where an invariant breaks, with a token.

    `bounds` are those of `windtunnel.simulator.explore`: `crashes`, `duplicates`, `provider_faults`, … .
    """
    __tracebackhide__ = True
    from windtunnel.simulator import operations
    from windtunnel.simulator.report.summary import exploration

    snapshot = _snapshot(flow)
    reference = str(flow) if isinstance(flow, str | Path) else None
    found = operations.explore(
        snapshot, input=input, faults=faults, provider=provider, reference=reference, **bounds
    )
    if found.violations:
        tokens = "".join(f"\nagain: windtunnel replay {each.token}" for each in found.violations)
        pytest.fail(exploration(found.to_json()) + tokens, pytrace=False)
    return found


def _snapshot(flow: str | Path | Snapshot) -> Snapshot:
    if not isinstance(flow, str | Path):
        return flow
    from windtunnel.compiler import compile_file

    compiled = compile_file(str(flow), allow_outside=True)
    if compiled.snapshot is None:
        raise FlowError(_findings(compiled.checked, compiled.diagnostics) or f"{flow} holds no workflow")
    return compiled.snapshot


def _verdict(file: str, title: str, provider: Provider | None) -> Verdict:
    from windtunnel.simulator.scenario.running import run_scenario

    staged = _staged(file)
    for scenario, snapshot in staged:
        if scenario.title == title:
            return run_scenario(scenario, snapshot, provider)
    known = "".join(f"\n  {scenario.title}" for scenario, _ in staged)
    raise FlowError(f"{file} has no scenario {title!r}; it has{known or ' none'}")


def _staged(file: str) -> tuple[tuple[Scenario, Snapshot], ...]:
    """The scenarios of a file under the name that it was asked for. Raises FlowError for one with errors."""
    from windtunnel.compiler import stage_file
    from windtunnel.compiler.scenario import under
    from windtunnel.dsl import Severity

    staged = stage_file(file, allow_outside=True)
    if any(found.severity is Severity.ERROR for found in staged.diagnostics):
        raise FlowError(_findings(staged.checked, staged.diagnostics))
    return tuple((under(scenario, file), snapshot) for scenario, snapshot in staged.scenarios)


def _findings(checked: Any, diagnostics: Any) -> str:
    from windtunnel.dsl import render

    sources = checked.modules.sources
    return "\n\n".join(render(each, sources) for each in diagnostics)


def _trial(verdict: Verdict) -> Trial:
    from windtunnel.simulator.report.verdicts import again, text

    return Trial(
        verdict.run_status,
        verdict.exit,
        verdict.output,
        verdict.events,
        verdict.session,
        tuple(each.message for each in verdict.broken),
        lambda: text(verdict),
        again(verdict),
    )


def _first(verdict: Verdict) -> str:
    """The first thing that is wrong, on one line: what pytest shows of a failure in its summary."""
    from windtunnel.simulator.report.columns import plain

    if not verdict.broken:
        return verdict.status.value
    broken = verdict.broken[0]
    return plain(f"{broken.text} {broken.message} ({broken.where})".strip())


def _seeded(run: Run, reference: str, seed: int | None) -> Trial:
    from windtunnel.simulator.report.story import story

    broken = tuple(f"{each.invariant}: {each.message}" for each in run.violations)
    drawn = "" if seed is None else f" --seed {seed}"
    return Trial(
        run.status,
        run.exit,
        run.output,
        run.events,
        run.session,
        broken,
        lambda: story(run.events) + "".join(f"✗ {each}\n" for each in broken),
        f"windtunnel run {reference}{drawn}",
    )


# --- the plugin ---------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """The flag and the entry of the configuration that turn the collection on."""
    said = "collect the scenarios of .flow files as tests"
    parser.getgroup("windtunnel").addoption(FLAG, action="store_true", default=False, help=said)
    parser.addini(INI, said, type="bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> FlowFile | None:
    """A `.flow` file with scenarios, where the collection is turned on."""
    if file_path.suffix != SUFFIX or not _is_on(parent.config):
        return None
    try:
        text = file_path.read_bytes()
    except OSError:
        return None
    return FlowFile.from_parent(parent, path=file_path) if b"scenario" in text else None


def _is_on(config: pytest.Config) -> bool:
    return bool(config.getoption(FLAG)) or bool(config.getini(INI))


class FlowFile(pytest.File):
    """One file; its scenarios are collected in the order of the text."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each scenario. A file with errors is an error of the collection, with its findings."""
        try:
            staged = _staged(_shown(self.path))
        except FlowError as problem:
            raise self.CollectError(str(problem)) from None
        for scenario, snapshot in staged:
            item = ScenarioItem.from_parent(self, name=scenario.title)
            item.stage(scenario, snapshot)
            yield item


def _shown(path: Path) -> str:
    """The file as it is named on the command line: from the current folder, where it lies below."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


class ScenarioFailed(Exception):
    """A scenario that did not pass; carries the text of the failure."""


class ScenarioItem(pytest.Item):
    """One scenario."""

    scenario: Scenario
    snapshot: Snapshot

    def stage(self, scenario: Scenario, snapshot: Snapshot) -> None:
        """What is run."""
        self.scenario = scenario
        self.snapshot = snapshot

    def runtest(self) -> None:
        """Run the scenario; raises ScenarioFailed."""
        from windtunnel.simulator.scenario.running import run_scenario

        verdict = run_scenario(self.scenario, self.snapshot)
        if not verdict.passed:
            trial = _trial(verdict)
            raise ScenarioFailed(f"{_first(verdict)}\n\n{trial.story}\nagain: {trial.again}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The story instead of a traceback."""
        if isinstance(excinfo.value, ScenarioFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the scenario stands, counted from 0."""
        return self.path, self.scenario.where.line - 1, f"scenario: {self.name}"


class Tester:
    """`simulate` and `explore` with files named from the folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def simulate(
        self, flow: str | Path | Snapshot, scenario: str | Scenario | None = None, **more: Any
    ) -> Trial:
        """As the function of that name."""
        return simulate(self._beside(flow), scenario, **more)

    def explore(self, flow: str | Path | Snapshot, faults: int = 2, **more: Any) -> Exploration:
        """As the function of that name."""
        return explore(self._beside(flow), faults, **more)

    def _beside(self, flow: str | Path | Snapshot) -> str | Path | Snapshot:
        if isinstance(flow, str) and ":" in flow:
            return flow
        return self.folder / flow if isinstance(flow, str | Path) else flow


@pytest.fixture
def windtunnel(request: pytest.FixtureRequest) -> Tester:
    """`windtunnel.simulate("x.flow", "title")` and `windtunnel.explore("x.flow")`, beside the test's file."""
    return Tester(request.path.parent)
