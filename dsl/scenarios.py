"""Builders for scenarios; with these the set of builders is whole."""

from __future__ import annotations

from typing import Any, NamedTuple

from windtunnel.dsl import syntax as s
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.tokens import Token
from windtunnel.dsl.workflows import Workflows, block, word


class Given(NamedTuple):
    """`input { … }` of a scenario."""

    input: s.Record
    block: s.Block


class Host(NamedTuple):
    """`host …`."""

    words: tuple[s.Word, ...]
    block: s.Block


class Provider(NamedTuple):
    """`provider { … }`."""

    lines: tuple[s.ProviderLine, ...]
    block: s.Block


class Person(NamedTuple):
    """`person { … }`."""

    lines: tuple[s.PersonLine, ...]
    block: s.Block


class Faults(NamedTuple):
    """`faults { … }`."""

    lines: tuple[s.FaultLine, ...]
    block: s.Block


def as_path(expr: s.Expr) -> s.NodePath | None:
    """The node path that an expression spells, if it does."""
    if not isinstance(expr, s.Ref):
        return None
    parts: list[s.Name] = []
    start = expr.span.start
    for part in expr.name.split("/"):
        parts.append(s.Name(part, Span(start, start + len(part))))
        start += len(part) + 1
    return s.NodePath(tuple(parts), expr.span)


class Builder(Workflows):
    """Builds every rule of the grammar."""

    def make_scenario(
        self,
        word: Token,
        title: s.Text,
        _f: Token,
        workflow: s.Name,
        _l: Token,
        members: list[Any],
        right: Token,
    ) -> s.Scenario:
        given: s.Record | None = None
        host: tuple[s.Word, ...] = ()
        provider: list[s.ProviderLine] = []
        person: list[s.PersonLine] = []
        faults: list[s.FaultLine] = []
        expects: list[s.Expect] = []
        has_provider = False
        for member in members:
            match member:
                case Given():
                    given = self.once(given, member.input, "input")
                case Host():
                    host = member.words
                case Provider():
                    has_provider = True
                    provider.extend(member.lines)
                case Person():
                    person.extend(member.lines)
                case Faults():
                    faults.extend(member.lines)
                case s.Expect():
                    expects.append(member)
                case _:
                    pass
        self.tight.clear()
        return s.Scenario(
            title,
            workflow,
            given,
            host,
            tuple(provider),
            has_provider,
            tuple(person),
            tuple(faults),
            tuple(expects),
            self.comments.doc_above(word.start),
            Span(word.start, right.end),
            tuple(member.block for member in members if not isinstance(member, s.Expect)),
        )

    def once(self, old: s.Record | None, new: s.Record, what: str) -> s.Record:
        """The first of two blocks that may stand once; the second is reported."""
        if old is None:
            return new
        self.report("WT0004", f"a scenario has one `{what}`", new.span)
        return old

    def make_scenario_input(self, keyword: Token, input: s.Record) -> Given:
        value = self.make_value(input)
        record = value if isinstance(value, s.Record) else s.Record((), input.span)
        return Given(record, block(keyword, input.span.end))

    def make_host(self, keyword: Token, mode: s.Name, origin: tuple[s.Word, ...] | None) -> Host:
        words = (s.Word(mode.text, mode.span), *(origin or ()))
        return Host(words, block(keyword, words[-1].span.end))

    def make_host_origin(self, with_: Token, name: s.Name) -> tuple[s.Word, ...]:
        first = word(with_)
        return (s.Word(first.text, first.span), s.Word(name.text, name.span))

    # --- provider -------------------------------------------------------------------------------------------

    def make_provider(self, word: Token, _: Token, lines: list[s.ProviderLine], right: Token) -> Provider:
        return Provider(tuple(lines), block(word, right.end))

    def make_provider_line(
        self, node: s.NodePath, visit: tuple[int, Span] | None, turns: list[list[s.Act]]
    ) -> s.ProviderLine:
        number = visit[0] if visit else None
        span = Span(node.span.start, turns[-1][-1].span.end)
        return s.ProviderLine(node, number, tuple(tuple(turn) for turn in turns), span)

    def make_act(self, verb: Token, argument: s.Expr | None) -> s.Act:
        name = word(verb)
        end = name.span.end if argument is None else argument.span.end
        span = Span(verb.start, end)
        if name.text == "calls" and isinstance(argument, s.Call) and not argument.template:
            given = argument.arguments[0] if argument.arguments else None
            if len(argument.arguments) > 1:
                self.report("WT0004", "a tool call takes one value", argument.arguments[1].span)
            return s.Act(name, argument.function, given, span)
        return s.Act(name, None, argument, span)

    def make_path_first(self, name: s.Name) -> s.NodePath:
        return s.NodePath((name,), name.span)

    def make_path_next(self, path: s.NodePath, _: Token, name: s.Name) -> s.NodePath:
        return s.NodePath((*path.parts, name), Span(path.span.start, name.span.end))

    def make_visit(self, word: Token, number: Token) -> tuple[int, Span]:
        value = self.number(number)
        span = Span(word.start, number.end)
        if not isinstance(value, int) or value < 1:
            self.report("WT0004", "a visit is a whole number from 1", Span(number.start, number.end))
            return 1, span
        return value, span

    # --- person and faults ----------------------------------------------------------------------------------

    def make_person(self, word: Token, _: Token, lines: list[s.PersonLine], right: Token) -> Person:
        return Person(tuple(lines), block(word, right.end))

    def make_person_line(self, verb: Token, moment: s.Moment | None) -> s.PersonLine:
        name = word(verb)
        span = Span(verb.start, (moment or name).span.end)
        return s.PersonLine(name, None, None, None, moment, span)

    def make_person_does(self, verb: Token, argument: s.Expr, moment: s.Moment | None) -> s.PersonLine:
        span = Span(verb.start, (moment or argument).span.end)
        if verb.text == "answers":
            return s.PersonLine(word(verb), self.node_of(argument), None, None, moment, span)
        return s.PersonLine(word(verb), None, None, argument, moment, span)

    def make_person_answers(
        self,
        verb: Token,
        node: s.Expr,
        _: Token,
        given: s.Expr,
        asked: s.Record | None,
        moment: s.Moment | None,
    ) -> s.PersonLine:
        span = Span(verb.start, (moment or asked or given).span.end)
        if isinstance(given, s.Ref):
            self.dashed = [ref for ref in self.dashed if ref is not given]
            choice = s.Name(given.name, given.span)
            return s.PersonLine(word(verb), self.node_of(node), choice, asked, moment, span)
        if asked is not None:
            self.report("WT0004", "an answer has one value", asked.span)
        return s.PersonLine(word(verb), self.node_of(node), None, given, moment, span)

    def node_of(self, expr: s.Expr) -> s.NodePath | None:
        """The node that a line is about."""
        path = as_path(expr)
        if path is None:
            self.report("WT0004", "here stands a node, such as `approve` or `mount/approve`", expr.span)
        return path

    def make_moment(self, word: Token, at: s.Expr) -> s.Moment:
        return s.Moment("at", at, None, Span(word.start, at.span.end))

    def make_moment_event(self, relation: Token, event: s.EventRef) -> s.Moment:
        span = Span(relation.start, event.span.end)
        return s.Moment(relation.text, None, event, span)  # type: ignore[arg-type]

    def make_event(self, name: Token, node: s.NodePath | None, visit: tuple[int, Span] | None) -> s.EventRef:
        event = self.make_name(name)
        last = visit[1] if visit else (node or event).span
        return s.EventRef(event, node, visit[0] if visit else None, Span(name.start, last.end))

    def make_of_node(self, _: Token, node: s.NodePath) -> s.NodePath:
        return node

    def make_faults(self, word: Token, _: Token, lines: list[s.FaultLine], right: Token) -> Faults:
        return Faults(tuple(lines), block(word, right.end))

    def make_fault_line(
        self, kind: Token, event: s.EventRef | None, moment: s.Moment | None, duration: s.Expr | None
    ) -> s.FaultLine:
        name = word(kind)
        span = Span(kind.start, (duration or moment or event or name).span.end)
        process: s.Name | None = None
        if event is not None and event.event.text in ("host", "client"):
            process, event = event.event, None
        return s.FaultLine(name, process, event, moment, duration, span)

    def make_for_duration(self, _: Token, value: s.Expr) -> s.Expr:
        return value

    # --- expectations ---------------------------------------------------------------------------------------

    def make_expect(self, word: Token, expect: s.Expect) -> s.Expect:
        return s.Expect(expect.mode, expect.condition, expect.order, Span(word.start, expect.span.end))

    def make_expectation(self, value: s.Expr) -> s.Expect:
        return s.Expect("end", value, (), value.span)

    def make_expect_always(self, _: Token, value: s.Expr) -> s.Expect:
        return s.Expect("always", value, (), value.span)

    def make_expect_eventually(self, _: Token, value: s.Expr) -> s.Expect:
        return s.Expect("eventually", value, (), value.span)

    def make_expect_order(self, first: s.Expr, rest: list[s.Expr]) -> s.Expect:
        paths = tuple(path for expr in (first, *rest) if (path := as_path(expr)) is not None)
        if len(paths) <= len(rest):
            wrong = next(expr for expr in (first, *rest) if as_path(expr) is None)
            self.report(
                "WT0004", "between arrows stand nodes, such as `approve` or `mount/approve`", wrong.span
            )
        return s.Expect("order", None, paths, Span(first.span.start, rest[-1].span.end))

    def make_next_path(self, _: Token, expr: s.Expr) -> s.Expr:
        return expr
