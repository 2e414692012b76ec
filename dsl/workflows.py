"""Builders for workflows: settings, nodes with their clauses, edges, and the other items of a file."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from windtunnel.dsl import syntax as s
from windtunnel.dsl.expressions import Expressions
from windtunnel.dsl.spelling import nearest, suggestion
from windtunnel.dsl.syntax import Span
from windtunnel.dsl.syntax.spans import span_at
from windtunnel.dsl.tokens import Token

SETTINGS: Final = ("revision", "contract", "title", "maxSteps", "budget", "presentation")


class Header(NamedTuple):
    """`language 1`."""

    number: int | float
    span: Span


class Inputs(NamedTuple):
    """`input { … }`."""

    type: s.RecordType
    block: s.Block


class Exits(NamedTuple):
    """`exits { … }`."""

    exits: tuple[s.ExitDecl, ...]
    block: s.Block


class Edges(NamedTuple):
    """`edges { … }`."""

    lines: tuple[s.EdgeLine, ...]
    block: s.Block


class Route(NamedTuple):
    """`on failed | timed_out`."""

    outcomes: tuple[s.Name, ...]


def block(keyword: Token, end: int) -> s.Block:
    """A block from its keyword to `end`."""
    return s.Block(word(keyword), Span(keyword.start, end))


def word(token: Token) -> s.Name:
    """A keyword as a name."""
    return s.Name(token.text, span_at(token[2:]))


class Workflows(Expressions):
    """Builds workflows, imports, types and templates."""

    # --- items ----------------------------------------------------------------------------------------------

    def make_header(self, word: Token, number: Token) -> Header:
        return Header(self.number(number), Span(word.start, number.end))

    def make_import(
        self, word: Token, names: list[s.ImportName], path: s.Text | None, contract: s.Text | None
    ) -> s.Import:
        last: Any = contract or path or names[-1].local
        for each in (path, contract):
            if each is not None and each.constant is None:
                self.report("WT0004", "an import is fixed text and cannot hold `${…}`", each.span)
        return s.Import(tuple(names), path, contract, Span(word.start, last.span.end))

    def make_import_swapped(
        self, word: Token, names: list[s.ImportName], contract: s.Text, path: s.Text
    ) -> s.Import:
        made = self.make_import(word, names, path, contract)
        return s.Import(made.names, path, contract, Span(word.start, path.span.end))

    def make_import_name(self, name: s.Name, _: Token | None, alias: s.Name | None) -> s.ImportName:
        return s.ImportName(name, alias)

    def make_from_path(self, _: Token, path: s.Text) -> s.Text:
        return path

    make_from_contract = make_from_path

    def make_type_decl(self, word: Token, name: s.Name, _: Token, type: s.TypeExpr) -> s.TypeDecl:
        doc = self.comments.doc_above(word.start)
        return s.TypeDecl(self.plain(name, "the type"), type, doc, Span(word.start, type.span.end))

    def make_template_decl(
        self,
        word: Token,
        name: s.Name,
        _l: Token,
        parameters: list[s.Parameter],
        _r: Token,
        _e: Token,
        body: s.Expr,
    ) -> s.TemplateDecl:
        doc = self.comments.doc_above(word.start)
        name = self.plain(name, "the template")
        return s.TemplateDecl(name, tuple(parameters), body, doc, Span(word.start, body.span.end))

    def make_parameter(self, name: s.Name, _: Token, type: s.TypeExpr) -> s.Parameter:
        return s.Parameter(self.plain(name, "the parameter"), type, Span(name.span.start, type.span.end))

    def make_workflow(
        self, word: Token, name: s.Name, _: Token, members: list[Any], right: Token
    ) -> s.Workflow:
        settings, inputs, exits, lets, nodes, edges = [], [], [], [], [], []
        blocks = tuple(member.block for member in members if isinstance(member, Inputs | Exits | Edges))
        for member in members:
            match member:
                case s.Setting():
                    settings.append(member)
                case Inputs():
                    inputs.append(member.type)
                case Exits():
                    exits.append(member.exits)
                case s.Let():
                    lets.append(member)
                case Edges():
                    edges.append(member.lines)
                case None:
                    pass
                case _:
                    nodes.append(member)
        return s.Workflow(
            name,
            tuple(settings),
            tuple(inputs),
            tuple(exits),
            tuple(lets),
            tuple(nodes),
            tuple(edges),
            self.comments.doc_above(word.start),
            Span(word.start, right.end),
            blocks,
        )

    # --- members of a workflow ------------------------------------------------------------------------------

    def make_setting(self, keyword: Token, value: s.Expr) -> s.Setting | None:
        span = Span(keyword.start, value.span.end)
        if keyword.text not in SETTINGS:
            name = word(keyword)
            near = nearest(name.text, SETTINGS)
            fixes = self.fix(f"write `{near[0]}`", name.span, near[0], safe=len(near) == 1) if near else []
            text = (
                suggestion(near)
                or f"a workflow has {', '.join(SETTINGS)}, input, exits, let, nodes and edges"
            )
            self.report("WT0006", f"a workflow has no `{name.text}`", name.span, help=text, fixes=fixes)
            return None
        return s.Setting(word(keyword), value, span)

    def make_budget(self, keyword: Token, unit: s.Name, value: s.Expr) -> s.Setting:
        if unit.text != "turns":
            fixes = self.fix("write `turns`", unit.span, "turns", safe=False)
            self.report("WT0006", f"a budget counts `turns`, not `{unit.text}`", unit.span, fixes=fixes)
        name = s.Name("budget turns", Span(keyword.start, unit.span.end))
        return s.Setting(name, value, Span(keyword.start, value.span.end))

    def make_inputs(self, keyword: Token, type: s.RecordType) -> Inputs:
        checked = self.make_whole_type(type)
        type = checked if isinstance(checked, s.RecordType) else s.RecordType((), type.span)
        return Inputs(type, block(keyword, type.span.end))

    def make_exits(self, keyword: Token, _: Token, exits: list[s.ExitDecl], right: Token) -> Exits:
        return Exits(tuple(exits), block(keyword, right.end))

    def make_exit_decl(self, name: s.Name, _: Token, type: s.TypeExpr) -> s.ExitDecl:
        doc = self.comments.doc_above(name.span.start)
        return s.ExitDecl(name, type, doc, Span(name.span.start, type.span.end))

    def make_let(self, word: Token, name: s.Name, _: Token, value: s.Expr) -> s.Let:
        return s.Let(self.plain(name, "the name"), value, Span(word.start, value.span.end))

    def make_compute(self, word: Token, name: s.Name, _: Token, value: s.Expr) -> s.Compute:
        doc = self.comments.doc_above(word.start)
        return s.Compute(self.plain(name, "the node"), value, doc, Span(word.start, value.span.end))

    def make_include(
        self, word: Token, name: s.Name, label: s.Text | None, _: Token, workflow: s.Name, input: s.Record
    ) -> s.Include:
        doc = self.comments.doc_above(word.start)
        given = self.make_value(input)
        input = given if isinstance(given, s.Record) else s.Record((), input.span)
        return s.Include(
            self.plain(name, "the mount"), label, workflow, input, doc, Span(word.start, input.span.end)
        )

    def make_node(
        self, kind: Token, name: s.Name, label: s.Text | None, _: Token, clauses: list[s.Clause], right: Token
    ) -> s.Node:
        doc = self.comments.doc_above(kind.start)
        name = self.plain(name, "the node")
        span = Span(kind.start, right.end)
        return s.Node(kind.text, name, label, tuple(clauses), doc, span)  # type: ignore[arg-type]

    # --- clauses --------------------------------------------------------------------------------------------

    def clause(self, keyword: Token, value: s.ClauseValue, end: int) -> s.Clause:
        """A clause from its keyword to `end`."""
        return s.Clause(word(keyword), value, span_at((keyword.start, end)))

    def make_clause(self, keyword: Token, value: s.Expr) -> s.Clause:
        bare = keyword.text == "kind" or (keyword.text == "tools" and value == s.Ref("any", value.span))
        if bare and isinstance(value, s.Ref):
            return self.clause(keyword, s.Word(value.name, value.span), value.span.end)
        return self.clause(keyword, value, value.span.end)

    def make_clause_none(self, keyword: Token, none: Token) -> s.Clause:
        return self.clause(keyword, s.Word("none", Span(none.start, none.end)), none.end)

    def make_clause_type(self, keyword: Token, type: s.TypeExpr) -> s.Clause:
        return self.clause(keyword, type, type.span.end)

    def make_prompt_file(self, keyword: Token, file: Token, path: s.Text) -> s.Clause:
        value = s.PromptFile(path, Span(file.start, path.span.end))
        return self.clause(keyword, value, path.span.end)

    def make_assistant(self, keyword: Token, assistant: Token) -> s.Clause:
        value = s.AssistantOutput(None, Span(assistant.start, assistant.end))
        return self.clause(keyword, value, assistant.end)

    def make_assistant_block(
        self, keyword: Token, assistant: Token, _: Token, limit: s.Expr | None, right: Token
    ) -> s.Clause:
        value = s.AssistantOutput(limit, Span(assistant.start, right.end))
        return self.clause(keyword, value, right.end)

    def make_max_chars(self, _: Token, value: s.Expr) -> s.Expr:
        return value

    make_with_value = make_max_chars
    make_when = make_max_chars

    def make_validate(
        self, keyword: Token, left: Token, rules: list[s.Let | s.Require], right: Token
    ) -> s.Clause:
        return self.clause(keyword, s.Validate(tuple(rules), Span(left.start, right.end)), right.end)

    def make_require(
        self, word: Token, condition: s.Expr, premise: s.Expr | None, _: Token, message: s.Expr
    ) -> s.Require:
        return s.Require(condition, premise, message, Span(word.start, message.span.end))

    def make_call_effect(self, keyword: Token, action: s.Text, argument: s.Expr | None) -> s.Clause:
        end = action.span.end if argument is None else argument.span.end
        return self.clause(keyword, s.CallEffect(action, argument, Span(action.span.start, end)), end)

    def make_choices(self, keyword: Token, left: Token, items: list[s.Choice], right: Token) -> s.Clause:
        return self.clause(keyword, s.Choices(tuple(items), Span(left.start, right.end)), right.end)

    def make_choice(self, name: s.Name, label: s.Text | None, ask: s.Ask | None) -> s.Choice:
        last = ask or label or name
        doc = self.comments.doc_above(name.span.start)
        return s.Choice(name, label, ask, doc, Span(name.span.start, last.span.end))

    def make_asks(
        self, word: Token, name: s.Name, _: Token, type: s.TypeExpr, prompt: s.Text | None
    ) -> s.Ask:
        last = prompt or type
        return s.Ask(self.plain(name, "the field"), type, prompt, Span(word.start, last.span.end))

    def make_after(
        self, keyword: Token, delay: s.Expr, _: Token, choice: s.Name, premise: s.Expr | None
    ) -> s.Clause:
        end = (premise or choice).span.end
        return self.clause(keyword, s.After(delay, choice, premise, Span(delay.span.start, end)), end)

    def make_allow_exit(self, keyword: Token, flag: s.Expr | None) -> s.Clause:
        if flag is None:
            return self.clause(keyword, s.Word("", Span(keyword.end, keyword.end)), keyword.end)
        return self.clause(keyword, flag, flag.span.end)

    # --- edges ----------------------------------------------------------------------------------------------

    def make_edges(self, keyword: Token, _: Token, lines: list[s.EdgeLine], right: Token) -> Edges:
        return Edges(tuple(lines), block(keyword, right.end))

    def make_edge_line(
        self,
        heads: list[s.Endpoint],
        route: Route | None,
        chain: list[s.Target],
        _: Token,
        last: s.Target,
        limit: s.Limit | None,
    ) -> s.EdgeLine:
        outcomes = route.outcomes if route else ()
        span = Span(heads[0].span.start, (limit or last).span.end)
        return s.EdgeLine(tuple(heads), outcomes, (*chain, last), None, limit, span)

    def make_edge_match(
        self, heads: list[s.Endpoint], route: Route | None, chain: list[s.Target], _: Token, match: s.Match
    ) -> s.EdgeLine:
        outcomes = route.outcomes if route else ()
        span = Span(heads[0].span.start, match.span.end)
        return s.EdgeLine(tuple(heads), outcomes, tuple(chain), match, None, span)

    def make_arrow(self, _: Token, target: s.Target) -> s.Target:
        return target

    def make_on(self, _: Token, outcomes: list[s.Name]) -> Route:
        return Route(tuple(outcomes))

    def make_endpoint(self, node: s.Name) -> s.Endpoint:
        if "-" in node.text:
            self.dashed.append(node)
        return s.Endpoint(node, None, node.span)

    def make_endpoint_start(self, token: Token) -> s.Endpoint:
        name = word(token)
        return s.Endpoint(name, None, name.span)

    def make_endpoint_way(self, node: s.Name, _: Token, way: s.Name) -> s.Endpoint:
        if "-" in node.text:
            self.dashed.append(node)
        return s.Endpoint(node, way, Span(node.span.start, way.span.end))

    def make_exit_end(self, word: Token, name: s.Name) -> s.ExitEnd:
        return s.ExitEnd(name, Span(word.start, name.span.end))

    def make_limit(self, word: Token, count: s.Expr, _t: Token, _a: Token, then: s.Target) -> s.Limit:
        return s.Limit(count, then, Span(word.start, then.span.end))

    def make_match_own(self, word: Token, path: s.Expr, _: Token, arms: list[s.Arm], right: Token) -> s.Match:
        return s.Match(path, True, tuple(arms), Span(word.start, right.end))

    def make_match(self, word: Token, subject: s.Expr, _: Token, arms: list[s.Arm], right: Token) -> s.Match:
        return s.Match(self.make_value(subject), False, tuple(arms), Span(word.start, right.end))

    def make_own_first(self, dot: Token, name: s.Name) -> s.Field:
        target = s.Ref("output", Span(dot.start, dot.start))
        return s.Field(target, name, False, Span(dot.start, name.span.end))

    def make_own_next(self, target: s.Field, _: Token, name: s.Name) -> s.Field:
        return s.Field(target, name, False, Span(target.span.start, name.span.end))

    def make_own_maybe(self, target: s.Field, _: Token, name: s.Name) -> s.Field:
        return s.Field(target, name, True, Span(target.span.start, name.span.end))

    def make_arm(self, patterns: list[s.LiteralType], chain: list[s.Target], limit: s.Limit | None) -> s.Arm:
        span = Span(patterns[0].span.start, (limit or chain[-1]).span.end)
        return s.Arm(tuple(patterns), tuple(chain), limit, span)

    def make_arm_else(self, word: Token, chain: list[s.Target], limit: s.Limit | None) -> s.Arm:
        return s.Arm((), tuple(chain), limit, Span(word.start, (limit or chain[-1]).span.end))
