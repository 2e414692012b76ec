"""Checked scenarios to data: values computed, expectations in list form, places as lines and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from windtunnel.compiler.expectations import Rewritten, rewrite, shown_parts
from windtunnel.compiler.exprlowering import ExpressionLowering
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.plan import Mounted
from windtunnel.compiler.resolver import FileScope, Program, WorkflowId
from windtunnel.compiler.scenario import (
    Act,
    EventName,
    Expectation,
    FaultLine,
    Moment,
    Part,
    PersonLine,
    Scenario,
    ScriptLine,
    Where,
)
from windtunnel.compiler.scenariotyping import ScenarioTyping
from windtunnel.dsl import syntax as s
from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Diagnostic, Place


@dataclass(frozen=True, slots=True)
class Lowered:
    """The scenarios of a file in source order, each with its workflow, and what is too large to be made."""

    scenarios: tuple[tuple[WorkflowId, Scenario], ...]
    diagnostics: tuple[Diagnostic, ...]


def lower_scenarios(program: Program, workflows: Mapping[WorkflowId, Typed], file: FileScope) -> Lowered:
    """The scenarios of a checked file."""
    lowering = _Lowering(ScenarioTyping(program, workflows, file), file)
    with file.findings.muted():
        scenarios = tuple(
            (file.workflows[scenario.workflow.text], lowering.scenario(scenario))
            for scenario in file.module.file.scenarios
        )
    return Lowered(scenarios, (*lowering.diagnostics, *lowering.too_deep()))


@dataclass(frozen=True, slots=True)
class _Whole:
    whole: Mapping[int, bool]

    def is_whole(self, expr: s.Expr) -> bool:
        return self.whole.get(id(expr), False)


class _Lowering:
    """Lowers the scenarios of one file."""

    def __init__(self, typing: ScenarioTyping, file: FileScope) -> None:
        self.typing = typing
        self.source = file.module.source
        self.workflows = file.workflows
        self.diagnostics: list[Diagnostic] = []
        whole = _Whole(typing.expressions.whole)
        mounted = Mounted("", typing.scope, None, None)
        self.expressions = ExpressionLowering(typing.program, mounted, {}, whole)

    def scenario(self, tree: s.Scenario) -> Scenario:
        """One scenario."""
        self.scope = self.typing.program.scopes[self.workflows[tree.workflow.text]]
        return Scenario(
            tree.title.constant or "",
            tree.workflow.text,
            None if tree.input is None else self._value(tree.input),
            tuple(word.text for word in tree.host) or ("interactive",),
            tuple(self._line(line) for line in tree.provider),
            tree.has_provider,
            tuple(self._person(line) for line in tree.person),
            tuple(self._fault(line) for line in tree.faults),
            tuple(self._expect(expect) for expect in tree.expects),
            self._where(tree.span),
        )

    def too_deep(self) -> tuple[Diagnostic, ...]:
        """Expressions that nest deeper than a stored one may."""
        message = "with its templates and constants written out, this expression nests too deep"
        places = [Place(self.source.name, expr.span) for expr in self.expressions.too_deep]
        return tuple(report("WT0013", message, place) for place in places)

    def _where(self, span: s.Span) -> Where:
        return Where(self.source.name, *self.source.position(span.start))

    def _value(self, expr: s.Expr | None) -> JsonValue:
        if expr is None:
            return None
        self.typing.shape(expr)
        lowered = self.expressions.lower(expr)
        if lowered[0] == "const":
            value: JsonValue = lowered[1]
            return value
        # Everything that reads nothing is folded, unless a limit forbids its value.
        place = Place(self.source.name, expr.span)
        self.diagnostics.append(report("WT0220", "this value is too large to be made", place))
        return None

    def _milliseconds(self, expr: s.Expr | None) -> int | None:
        value = self._value(expr)
        return value if isinstance(value, int) else None

    # --- what happens ---------------------------------------------------------------------------------------

    def _line(self, line: s.ProviderLine) -> ScriptLine:
        turns = tuple(tuple(self._act(act) for act in turn) for turn in line.turns)
        return ScriptLine(line.node.text, line.visit, turns, self._where(line.span))

    def _act(self, act: s.Act) -> Act:
        tool = None if act.tool is None else act.tool.text
        return Act(act.verb.text, self._value(act.argument), tool, self._where(act.span))

    def _moment(self, moment: s.Moment | None) -> Moment | None:
        if moment is None:
            return None
        event = None if moment.event is None else self._event(moment.event)
        return Moment(moment.relation, self._milliseconds(moment.at), event)

    def _event(self, event: s.EventRef) -> EventName:
        node = None if event.node is None else event.node.text
        return EventName(event.event.text, node, event.visit)

    def _person(self, line: s.PersonLine) -> PersonLine:
        node = None if line.node is None else line.node.text
        choice = None if line.choice is None else line.choice.text
        if line.verb.text == "presses" and isinstance(line.argument, s.Ref):
            value: JsonValue = line.argument.name
        else:
            value = self._value(line.argument)
        return PersonLine(
            line.verb.text, node, choice, value, self._moment(line.moment), self._where(line.span)
        )

    def _fault(self, line: s.FaultLine) -> FaultLine:
        process = None if line.process is None else line.process.text
        event = None if line.event is None else self._event(line.event)
        return FaultLine(
            line.kind.text,
            process,
            event,
            self._moment(line.moment),
            self._milliseconds(line.duration),
            self._where(line.span),
        )

    # --- what is expected -----------------------------------------------------------------------------------

    def _expect(self, expect: s.Expect) -> Expectation:
        text = " ".join(self.source.text[expect.span.start : expect.span.end].split())
        where = self._where(expect.span)
        if expect.condition is None:
            order = tuple(path.text for path in expect.order)
            return Expectation(expect.mode, text, None, (), (), order, where)
        read = rewrite(expect.condition)
        self.typing.condition(self.scope, read)
        return Expectation(
            expect.mode,
            text,
            self.expressions.lower(read.expr, tuple(read.reads)),
            tuple(read.reads.items()),
            self._parts(read),
            (),
            where,
        )

    def _parts(self, read: Rewritten) -> tuple[Part, ...]:
        """What explains an expectation, as it is written."""
        text = self.source.text
        found: dict[str, Part] = {}
        for part in shown_parts(read.expr, read.reads):
            words = " ".join(text[part.span.start : part.span.end].split())
            found.setdefault(words, Part(words, self.expressions.lower(part, tuple(read.reads))))
        return tuple(found.values())
