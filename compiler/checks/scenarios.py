"""Band 12: scenarios. Names, input and host here; what happens and what is expected in the files above."""

from __future__ import annotations

from collections.abc import Mapping

from windtunnel.compiler.checks.expects import check_expects
from windtunnel.compiler.checks.interference import check_faults, check_person
from windtunnel.compiler.checks.scripts import check_scripts
from windtunnel.compiler.checks.staged import Staged
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.resolver import FileScope, Program, WorkflowId
from windtunnel.compiler.scenariotyping import ScenarioTyping
from windtunnel.compiler.vocabulary import HOSTS
from windtunnel.dsl.spelling import nearest, suggestion
from windtunnel.dsl.syntax import Span


def check_scenarios(program: Program, workflows: Mapping[WorkflowId, Typed]) -> None:
    """Report what is wrong with the scenarios of every file."""
    for file in program.files.values():
        if file.module.file.scenarios:
            _check_titles(file)
            _check_file(program, workflows, file)


def _check_titles(file: FileScope) -> None:
    first: dict[str, Span] = {}
    for scenario in file.module.file.scenarios:
        title = scenario.title.constant
        if title is None or not title.strip():
            said = "is known before anything runs: a plain text" if title is None else "is not empty"
            file.findings.add("WT1201", f"the title of a scenario {said}", scenario.title.span)
            continue
        before = first.setdefault(title, scenario.title.span)
        if before is not scenario.title.span:
            file.findings.add(
                "WT1201",
                "another scenario of this file has the same title",
                scenario.title.span,
                secondary=[(before, "the first one")],
                help="the title is the name under which the test runs",
            )


def _check_file(program: Program, workflows: Mapping[WorkflowId, Typed], file: FileScope) -> None:
    typing = ScenarioTyping(program, workflows, file)
    for scenario in file.module.file.scenarios:
        typed = workflows.get(file.workflows.get(scenario.workflow.text, WorkflowId("", "")))
        if typed is None:
            continue  # The resolver has said that there is no such workflow.
        staged = Staged(typing, typed, scenario)
        if scenario.input is not None:
            staged.fits(scenario.input, typed.scope.input, "the input", "WT1202")
        _check_host(staged)
        check_scripts(staged)
        check_person(staged)
        check_faults(staged)
        check_expects(staged)
    file.used.update(typing.expressions.calls.used_templates)


def _check_host(staged: Staged) -> None:
    host = staged.scenario.host
    words = tuple(word.text for word in host)
    if not host or words in HOSTS:
        return
    known = [" ".join(each) for each in HOSTS]
    near = suggestion(nearest(" ".join(words), known))
    span = host[0].span.to(host[-1].span)
    listed = ", ".join(f"`{each}`" for each in known)
    staged.findings.add(
        "WT1203", f"there is no host `{' '.join(words)}`", span, help=near or f"it is {listed}"
    )
