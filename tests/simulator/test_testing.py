"""The plugin for pytest, and the functions for tests in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from windtunnel.compiler import compile_file, pipeline, stage_file
from windtunnel.simulator import operations
from windtunnel.simulator.report import story, summary, verdicts
from windtunnel.simulator.scenario import running
from windtunnel.simulator.testing import FlowError, Trial, explore, simulate

pytest_plugins = ["pytester"]

LOADED = (pipeline, operations, story, summary, verdicts, running)
"""A pytest inside this one forgets what it imports; what is here already stays, whole and quick."""

FLOW = """language 1
workflow hello {
  input { name: text(1..20) = "Ada" }
  agent greet "greeting" {
    prompt "Greet ${input.name}."
    expectedOutput assistant
  }
  edges { start -> greet -> exit done }
}
scenario "it says hello" for hello {
  provider {
    greet says "Hello."
  }
  expect run.output == "Hello."
}
scenario "it mumbles" for hello {
  provider {
    greet says "Mm."
  }
  expect run.output == "Hello."
}
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def pytest_here(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest with the plugin alone in a folder with one file of scenarios."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.path.joinpath("hello.flow").write_text(FLOW, encoding="utf-8")

    def run(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess("-p", "windtunnel.simulator.testing", *arguments)

    return run


def test_scenarios_are_tests_with_their_names(pytest_here: Run) -> None:
    result = pytest_here("--flow-scenarios", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["hello.flow::it says hello PASSED*", "hello.flow::it mumbles FAILED*"])


def test_a_failure_shows_the_story_and_the_command(pytest_here: Run) -> None:
    result = pytest_here("--flow-scenarios")
    result.stdout.fnmatch_lines(
        [
            "*scenario: it mumbles*",
            "*what happened*",
            "*run completed*",
            '*expect run.output == "Hello."*(hello.flow:20:3)*',
            '*run.output = "Mm."*',
            "again: windtunnel test hello.flow -k '\"it mumbles\"'",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_nothing_is_collected_unless_it_is_asked_for(pytest_here: Run) -> None:
    assert pytest_here().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_the_configuration_may_ask_for_it(pytest_here: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nflow_scenarios = true\n")
    pytest_here().assert_outcomes(passed=1, failed=1)


def test_one_scenario_by_its_name(pytest_here: Run) -> None:
    pytest_here("--flow-scenarios", "-k", "mumbles").assert_outcomes(failed=1, deselected=1)
    pytest_here("--flow-scenarios", "hello.flow::it says hello").assert_outcomes(passed=1)


def test_those_that_failed_last_run_again(pytest_here: Run) -> None:
    cache = ("-p", "cacheprovider")
    pytest_here(*cache, "--flow-scenarios").assert_outcomes(passed=1, failed=1)
    pytest_here(*cache, "--flow-scenarios", "--lf").assert_outcomes(failed=1)


def test_a_failure_travels_between_processes(pytest_here: Run, pytester: pytest.Pytester) -> None:
    """Workers of a parallel run send their reports as JSON; the story arrives whole."""
    pytester.makeconftest(
        "import json, pytest\n"
        "@pytest.hookimpl(wrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    report = yield\n"
        "    hook = item.config.hook\n"
        "    sent = hook.pytest_report_to_serializable(config=item.config, report=report)\n"
        "    told = json.loads(json.dumps(sent))\n"
        "    return hook.pytest_report_from_serializable(config=item.config, data=told)\n"
    )
    result = pytest_here("--flow-scenarios", "-rf")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            'expect run.output == "Hello." does not hold*(hello.flow:20:3)',
            "*run completed*",
            "again: windtunnel test hello.flow*",
            "FAILED hello.flow::it mumbles - expect run.output*",
        ]
    )


def test_a_file_with_errors_is_an_error_of_the_collection(
    pytest_here: Run, pytester: pytest.Pytester
) -> None:
    wrong = FLOW.replace("expect run.output", "expect rum.output")
    pytester.path.joinpath("hello.flow").write_text(wrong, encoding="utf-8")
    result = pytest_here("--flow-scenarios")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*error?WT1216?: the world has no `rum`*"])


def test_the_same_names_come_in_the_same_order(pytest_here: Run) -> None:
    """Workers that run tests side by side must collect the same."""
    first, second = (pytest_here("--flow-scenarios", "--collect-only", "-q").outlines for _ in range(2))
    assert first[:2] == second[:2] == ["hello.flow::it says hello", "hello.flow::it mumbles"]


def test_the_fixture_reads_files_beside_the_test(pytest_here: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        def test_greeting(windtunnel):
            trial = windtunnel.simulate("hello.flow", "it says hello")
            trial.must_pass()
            assert trial.visits("greet") == 1
            windtunnel.explore("hello.flow", 1)

        def test_mumbling(windtunnel):
            windtunnel.simulate("hello.flow", "it mumbles").must_pass()
        """
    )
    result = pytest_here()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*run.output = *Mm.*", "again: windtunnel test *hello.flow -k*"])


# --- functions ----------------------------------------------------------------------------------------------


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    file = tmp_path / "hello.flow"
    file.write_text(FLOW, encoding="utf-8")
    return file


def test_a_scenario_by_its_title(flow: Path) -> None:
    trial = simulate(flow, "it says hello")
    trial.must_pass()
    assert (trial.status, trial.exit, trial.output) == ("completed", "done", "Hello.")
    assert (trial.visits("greet"), trial.visible("greet"), trial.prompts("greet")) == (1, 1, 1)
    assert trial.in_order("greet")
    assert not trial.in_order("greet", "greet")
    assert len(trial.happened("message_end", "greet")) == 2
    result = trial.result("greet")
    assert result is not None
    assert result["outcome"] == "ok"
    assert trial.result("nobody") is None


def test_a_scenario_as_data(flow: Path) -> None:
    ((scenario, snapshot), _) = stage_file(str(flow)).scenarios
    assert simulate(snapshot, scenario).passed


def test_a_seed(flow: Path) -> None:
    one, two = simulate(flow, seed=7), simulate(flow, seed=7)
    assert one.events == two.events
    assert one.passed
    assert one.again == f"windtunnel run {flow} --seed 7"
    assert simulate(flow, input={"name": "Bo"}).happened("run_started")[0]["payload"]["input"]["name"] == "Bo"


def test_a_condition_of_a_test_fails_with_the_story(flow: Path) -> None:
    trial = simulate(flow, "it says hello")
    trial.must(trial.visits("greet") == 1)
    with pytest.raises(pytest.fail.Exception) as failure:
        trial.must(trial.visits("greet") == 2, "two greetings")
    assert str(failure.value).startswith("two greetings does not hold\n\n")
    assert "run completed" in str(failure.value)
    assert "again: windtunnel test" in str(failure.value)


def test_a_trial_that_failed_says_why(flow: Path) -> None:
    trial = simulate(flow, "it mumbles")
    assert isinstance(trial, Trial)
    assert trial.broken == ("does not hold at the end",)
    with pytest.raises(pytest.fail.Exception, match="run completed"):
        trial.must_pass()


def test_what_cannot_be_used_is_said(tmp_path: Path, flow: Path) -> None:
    with pytest.raises(FlowError, match="it says hello"):
        simulate(flow, "it shouts")
    wrong = tmp_path / "wrong.flow"
    wrong.write_text("language 1\nworkflow w { }\n", encoding="utf-8")
    with pytest.raises(FlowError, match="WT0"):
        simulate(wrong)
    with pytest.raises(FlowError, match="WT0"):
        simulate(wrong, "it")


def test_exploring_fails_with_a_token(flow: Path) -> None:
    found = explore(flow, 1)
    assert found.complete
    snapshot = compile_file(str(flow)).snapshot
    assert snapshot is not None
    with pytest.raises(pytest.fail.Exception, match="again: windtunnel replay wt1"):
        explore(snapshot, 1, fault="W01")
