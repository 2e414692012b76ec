"""Canonical text: one output for one meaning, whatever the layout was.

The tree is printed anew, in the order of the text. Comments are kept: each goes to the entry above which or
behind which it stands; one in the middle of an entry moves above it. Blank lines follow from the structure
alone, except that one stays between an entry and comments that do not belong to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from windtunnel.dsl import syntax as s
from windtunnel.dsl.diagnostics import Severity
from windtunnel.dsl.layout import HARD, LINE, STEP, WIDTH, Doc, Indent, concat, group, joined, lay_out
from windtunnel.dsl.margins import Lead, Margins
from windtunnel.dsl.parser import LANGUAGE, Parsed, parse
from windtunnel.dsl.printing import Printer, literal, number
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import Span

_DOCUMENTED: Final = (
    s.Node,
    s.Compute,
    s.Include,
    s.Choice,
    s.TypeDecl,
    s.TemplateDecl,
    s.Workflow,
    s.Scenario,
)
_BLOCKS: Final = {"input": "inputs", "exits": "exits", "edges": "edges"}


class _Part(NamedTuple):
    """A member of a block: its span, its group, whether it has documentation, and how to draw it."""

    span: Span
    group: str
    documented: bool
    draw: Callable[[], Doc]


def format_file(source: Source) -> str:
    """The canonical text of a file. A file with errors is returned as it is: `parse` tells what is wrong."""
    return format_parsed(parse(source))


def format_parsed(parsed: Parsed) -> str:
    """The canonical text of a file that was read; its own text when it has errors."""
    if any(each.severity is Severity.ERROR for each in parsed.diagnostics):
        return parsed.source.text
    return _Formatter(Margins(parsed.source, parsed.comments)).file(parsed.file)


def format_tree(file: s.File) -> str:
    """The canonical text of a tree, without comments."""
    return _Formatter(Margins(Source("", ""), ())).file(file)


class _Formatter(Printer):
    """Prints a file."""

    margins: Margins
    depth = 0

    # --- blocks -------------------------------------------------------------------------------------------

    def parts(self, parts: Sequence[_Part], end: int, airy: bool) -> list[str]:
        """The lines of a block's members; `airy` blocks have blank lines around what is large."""
        lines: list[str] = []
        before: tuple[str, bool] | None = None
        for place, part in enumerate(parts):
            leads = self.margins.before(part.span.start, part.documented)
            body = lay_out(part.draw(), WIDTH - self.depth)
            leads = self.margins.with_rest(leads, part.span, part.documented)
            following = end if place == len(parts) - 1 else parts[place + 1].span.start
            behind = self.margins.behind(part.span, following)
            if behind is not None:
                body[-1] = f"{body[-1]}  {behind}"
            here = (part.group, len(body) > 1)
            if airy and before is not None and self.apart(before, here):
                lines.append("")
            lines.extend(self.lead_lines(leads))
            lines.extend(body)
            before = here
        rest = self.margins.before(end, False)
        if rest and airy and before is not None:
            lines.append("")
        lines.extend(self.lead_lines(rest))
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def apart(self, before: tuple[str, bool], here: tuple[str, bool]) -> bool:
        """Whether a blank line stands between two members, each a group and whether it is large."""
        return before[0] != here[0] or ((before[1] or here[1]) and here[0] != "settings")

    def lead_lines(self, leads: Sequence[Lead]) -> list[str]:
        """Comment blocks above an entry."""
        lines: list[str] = []
        for lead in leads:
            lines.extend(lead.lines)
            if lead.apart:
                lines.append("")
        return lines

    def block(self, head: Doc, parts: Sequence[_Part], end: int, airy: bool = False) -> Doc:
        """`head { … }` with a member on each line."""
        self.depth += STEP
        lines = self.parts(parts, end, airy)
        self.depth -= STEP
        if not lines:
            return concat(head, " {}")
        inner: list[Doc] = []
        for line in lines:
            inner.extend((HARD, line))
        return concat(head, " {", Indent(concat(*inner)), HARD, "}")

    # --- files --------------------------------------------------------------------------------------------

    def file(self, file: s.File) -> str:
        """A whole file."""
        parts = [
            _Part(item.span, _item_group(item), isinstance(item, _DOCUMENTED), self.item(item))
            for item in file.items
        ]
        header = f"language {LANGUAGE}"
        lines: list[str] = []
        if file.language is None:
            lines = [header]
            rest = self.parts(parts, file.span.end, True)
            if rest and not (isinstance(file.items[0], s.Import) and not rest[0].startswith("#")):
                lines.append("")
            lines.extend(rest)
        else:
            start = self.header_start()
            parts.insert(0, _Part(Span(start, start + len(header)), "head", False, lambda: header))
            lines = self.parts(parts, file.span.end, True)
        return "".join(f"{line}\n" for line in lines)

    def header_start(self) -> int:
        """Where the header stands: at the first line that is no comment."""
        source = self.margins.source
        for place, start in enumerate(source.line_starts, 1):
            line = source.line(place)
            if line.strip() and not line.lstrip().startswith("#"):
                return start + len(line) - len(line.lstrip())
        return 0

    def item(self, item: s.Item) -> Callable[[], Doc]:
        """The document of an item, when asked for."""
        match item:
            case s.Import():
                return lambda: self.import_(item)
            case s.TypeDecl():
                return lambda: concat(f"type {item.name.text} = ", self.type(item.type))
            case s.TemplateDecl():
                return lambda: self.template(item)
            case s.Workflow():
                return lambda: self.workflow(item)
            case s.Scenario():
                return lambda: self.scenario(item)

    def import_(self, item: s.Import) -> Doc:
        """`import a, b as c from "x" contract "y"`."""
        names = [f"{n.name.text} as {n.alias.text}" if n.alias else n.name.text for n in item.names]
        docs: list[Doc] = ["import ", Indent(joined((",", LINE), names))]
        if item.path is not None:
            docs.extend((" from ", self.text(item.path)))
        if item.contract is not None:
            docs.extend((" contract ", self.text(item.contract)))
        return group(*docs)

    def template(self, item: s.TemplateDecl) -> Doc:
        """`template name(a: T) = value`."""
        parameters = [concat(f"{each.name.text}: ", self.type(each.type)) for each in item.parameters]
        head = concat(f"template {item.name.text}(", joined((", ",), parameters), ")")
        return self.assigned(head, item.body)

    def assigned(self, head: Doc, value: s.Expr) -> Doc:
        """`head = value`."""
        return concat(head, " = ", self.expr(value))

    # --- workflows ----------------------------------------------------------------------------------------

    def workflow(self, flow: s.Workflow) -> Doc:
        """A workflow; its members in the order of the text."""
        parts: list[_Part] = []
        for setting in flow.settings:
            parts.append(_Part(setting.span, "settings", False, self.bind(self.setting, setting)))
        counts = dict.fromkeys(_BLOCKS, 0)
        known = len(flow.blocks) == len(flow.inputs) + len(flow.exits) + len(flow.edges)
        blocks = flow.blocks if known else _assumed(flow)
        for block in blocks:
            keyword = block.keyword.text
            content = getattr(flow, _BLOCKS[keyword])[counts[keyword]]
            counts[keyword] += 1
            kind = "edges" if keyword == "edges" else "shape"
            parts.append(_Part(block.span, kind, False, self.bind(self.flow_block, block, content)))
        for let in flow.lets:
            parts.append(_Part(let.span, "lets", False, self.bind(self.let, let)))
        for node in flow.nodes:
            parts.append(_Part(node.span, "nodes", True, self.bind(self.node, node)))
        order = {"settings": 0, "shape": 1, "lets": 2, "nodes": 3, "edges": 4}
        parts.sort(key=lambda part: (part.span.start, order[part.group]))
        return self.block(f"workflow {flow.name.text}", parts, flow.span.end, airy=True)

    def bind(self, draw: Callable[..., Doc], *arguments: Any) -> Callable[[], Doc]:
        """A document for later."""
        return lambda: draw(*arguments)

    def flow_block(self, block: s.Block, content: Any) -> Doc:
        """`input`, `exits` or `edges`."""
        if block.keyword.text == "edges":
            parts = [_Part(line.span, "", False, self.bind(self.edge_line, line)) for line in content]
            return self.block("edges", parts, block.span.end)
        fields = content.fields if isinstance(content, s.RecordType) else content
        return concat(
            f"{block.keyword.text} ", self.braced(("{", "}"), fields, block.span.end, self.entry, LINE)
        )

    def setting(self, setting: s.Setting) -> Doc:
        """`title "…"`."""
        return concat(f"{setting.keyword.text} ", self.expr(setting.value))

    def let(self, let: s.Let) -> Doc:
        """`let name = value`."""
        return self.assigned(f"let {let.name.text}", let.value)

    def node(self, node: s.NodeDecl) -> Doc:
        """Any node."""
        match node:
            case s.Compute():
                return self.assigned(f"compute {node.name.text}", node.value)
            case s.Include():
                head = self.labelled(f"include {node.name.text}", node.label)
                return concat(head, f" = {node.workflow.text} ", self.expr(node.input))
            case s.Node():
                parts = [_Part(each.span, "", False, self.bind(self.clause, each)) for each in node.clauses]
                return self.block(
                    self.labelled(f"{node.kind} {node.name.text}", node.label), parts, node.span.end
                )

    def labelled(self, head: str, label: s.Expr | None) -> Doc:
        """A head with its label."""
        return head if label is None else concat(f"{head} ", self.expr(label))

    def clause(self, clause: s.Clause) -> Doc:
        """`keyword value`."""
        head, value = clause.keyword.text, clause.value
        match value:
            case s.Word():
                return f"{head} {value.text}" if value.text else head
            case s.AssistantOutput():
                if value.max_chars is None:
                    return f"{head} assistant"
                return group(f"{head} assistant {{ maxChars ", self.expr(value.max_chars), " }")
            case s.Validate():
                parts = [_Part(each.span, "", False, self.bind(self.rule, each)) for each in value.items]
                return self.block(head, parts, value.span.end)
            case s.PromptFile():
                return concat(f"{head} file ", self.text(value.path))
            case s.CallEffect():
                name = concat(f"{head} ", self.text(value.action))
                return name if value.argument is None else concat(name, " with ", self.expr(value.argument))
            case s.Choices():
                parts = [_Part(each.span, "", True, self.bind(self.choice, each)) for each in value.items]
                return self.block(head, parts, value.span.end)
            case s.After():
                docs: list[Doc] = [f"{head} ", self.expr(value.delay), LINE, f"choose {value.choice.text}"]
                if value.premise is not None:
                    docs.extend((LINE, "when ", self.expr(value.premise)))
                return group(docs[0], Indent(concat(*docs[1:])))
            case (
                s.NamedType() | s.LiteralType() | s.ListType() | s.MapType() | s.RecordType() | s.UnionType()
            ):
                return concat(f"{head} ", self.type(value))
            case _:
                bare = head != "allowNonZeroExit" or (
                    isinstance(value, s.Literal) and isinstance(value.value, bool)
                )
                return concat(f"{head} ", self.expr(value) if bare else self.operand(value, 11, False))

    def rule(self, rule: s.Let | s.Require) -> Doc:
        """`let …` or `require … when … else …`."""
        if isinstance(rule, s.Let):
            return self.let(rule)
        docs: list[Doc] = [self.expr(rule.condition)]
        if rule.premise is not None:
            docs.append(group(LINE, "when ", self.expr(rule.premise)))
        return group("require ", Indent(concat(*docs, LINE, "else ", self.expr(rule.message))))

    def choice(self, choice: s.Choice) -> Doc:
        """`id "Label" asks name: type "prompt"`."""
        docs: list[Doc] = [self.labelled(choice.name.text, choice.label)]
        if choice.ask is not None:
            docs.extend((f" asks {choice.ask.name.text}: ", self.type(choice.ask.type)))
            if choice.ask.prompt is not None:
                docs.extend((" ", self.expr(choice.ask.prompt)))
        return concat(*docs)

    # --- edges --------------------------------------------------------------------------------------------

    def edge_line(self, line: s.EdgeLine) -> Doc:
        """One line of edges; many heads fill several lines."""
        heads = [target(each) for each in line.heads]
        routes = f" on {' | '.join(each.text for each in line.outcomes)}" if line.outcomes else ""
        head = self.filled([*(f"{each}," for each in heads[:-1]), f"{heads[-1]}{routes}"])
        if line.match is None:
            return group(head, Indent(concat(*self.arrows(line.chain), *self.limit(line.limit))))
        subject = line.match.subject
        value = f"match {_own(subject)}" if line.match.own else concat("match ", self.expr(subject, True))
        parts = [_Part(arm.span, "", False, self.bind(self.arm, arm)) for arm in line.match.arms]
        chain = group(head, Indent(concat(*self.arrows(line.chain), LINE, "-> ", value)))
        return self.block(chain, parts, line.match.span.end)

    def filled(self, words: Sequence[str]) -> Doc:
        """Words with as many on a line as fit; the lines after the first are one step in."""
        rows: list[str] = [words[0]]
        for word in words[1:]:
            room = WIDTH - self.depth - (STEP if len(rows) > 1 else 0)
            if len(rows[-1]) + 1 + len(word) <= room:
                rows[-1] += f" {word}"
            else:
                rows.append(word)
        first, *others = rows
        return concat(first, Indent(concat(*(concat(HARD, row) for row in others)))) if others else first

    def arrows(self, chain: Sequence[s.Target]) -> list[Doc]:
        """`-> a -> b`; a line may go on with an arrow."""
        return [concat(LINE, f"-> {target(each)}") for each in chain]

    def limit(self, limit: s.Limit | None) -> list[Doc]:
        """`limit n then -> c`."""
        if limit is None:
            return []
        return [concat(" limit ", self.expr(limit.count, True), LINE, f"then -> {target(limit.then)}")]

    def arm(self, arm: s.Arm) -> Doc:
        """One line of a match."""
        first, *others = [literal(pattern.value) for pattern in arm.patterns] or ["else"]
        head = self.filled([first, *(f"| {each}" for each in others)])
        return group(head, Indent(concat(*self.arrows(arm.chain), *self.limit(arm.limit))))

    # --- scenarios ----------------------------------------------------------------------------------------

    def scenario(self, scenario: s.Scenario) -> Doc:
        """A scenario; its members in the order of the text."""
        parts: list[_Part] = []
        blocks = scenario.blocks or _assumed_scenario(scenario)
        for block in blocks:
            parts.append(
                _Part(
                    block.span,
                    block.keyword.text,
                    False,
                    self.bind(self.scenario_block, scenario, block, blocks),
                )
            )
        for expect in scenario.expects:
            parts.append(_Part(expect.span, "expect", False, self.bind(self.expect, expect)))
        parts.sort(key=lambda part: part.span.start)
        head = concat("scenario ", self.text(scenario.title), f" for {scenario.workflow.text}")
        return self.block(head, parts, scenario.span.end)

    def scenario_block(self, scenario: s.Scenario, block: s.Block, blocks: Sequence[s.Block]) -> Doc:
        """One block of a scenario."""
        keyword = block.keyword.text
        if keyword == "input":
            assert scenario.input is not None, "a scenario with an input block has an input"
            return concat("input ", self.expr(scenario.input))
        if keyword == "host":
            return f"host {' '.join(each.text for each in scenario.host)}"
        draws: dict[str, Callable[[Any], Doc]] = {
            "provider": self.provider_line,
            "person": self.person_line,
            "faults": self.fault_line,
        }
        alone = sum(each.keyword.text == keyword for each in blocks) == 1
        lines = [each for each in getattr(scenario, keyword) if alone or _within(each.span, block.span)]
        parts = [_Part(each.span, "", False, self.bind(draws[keyword], each)) for each in lines]
        return self.block(keyword, parts, block.span.end)

    def provider_line(self, line: s.ProviderLine) -> Doc:
        """`node visit n act, act then act`."""
        head = line.node.text if line.visit is None else f"{line.node.text} visit {number(line.visit)}"
        turns = [joined((",", LINE), [self.act(act) for act in turn]) for turn in line.turns]
        return group(f"{head} ", Indent(joined((LINE, "then "), turns)))

    def act(self, act: s.Act) -> Doc:
        """`says "…"`, `calls read(…)`."""
        if act.tool is not None:
            inner = "" if act.argument is None else self.expr(act.argument)
            return concat(f"{act.verb.text} {act.tool.text}(", inner, ")")
        return (
            act.verb.text
            if act.argument is None
            else concat(f"{act.verb.text} ", self.expr(act.argument, True))
        )

    def person_line(self, line: s.PersonLine) -> Doc:
        """`answers approve with rewrite {…} after …`."""
        docs: list[Doc] = [line.verb.text]
        if line.node is not None:
            docs.append(f" {line.node.text}")
        if line.choice is not None:
            docs.append(f" with {line.choice.text}")
        if line.argument is not None:
            word = " with " if line.node is not None and line.choice is None else " "
            docs.extend((word, self.expr(line.argument, True)))
        return concat(*docs, *self.moment(line.moment))

    def fault_line(self, line: s.FaultLine) -> Doc:
        """`crash host after message_end of a/b for 5s`."""
        docs: list[Doc] = [line.kind.text]
        if line.process is not None:
            docs.append(f" {line.process.text}")
        if line.event is not None:
            docs.append(f" {event(line.event)}")
        docs.extend(self.moment(line.moment))
        if line.duration is not None:
            docs.extend((" for ", self.expr(line.duration, True)))
        return concat(*docs)

    def moment(self, moment: s.Moment | None) -> list[Doc]:
        """`at 2s`, `after event of node visit n`."""
        if moment is None:
            return []
        if moment.at is not None:
            return [f" {moment.relation} ", self.expr(moment.at, True)]
        assert moment.event is not None, "a moment is a time or an event"
        return [f" {moment.relation} {event(moment.event)}"]

    def expect(self, expect: s.Expect) -> Doc:
        """`expect …`."""
        if expect.mode == "order":
            first, *others = (path.text for path in expect.order)
            return group(f"expect {first}", Indent(concat(*(concat(LINE, f"-> {each}") for each in others))))
        assert expect.condition is not None, "an expectation is an order or a condition"
        mode = "" if expect.mode == "end" else f"{expect.mode} "
        return concat(f"expect {mode}", self.expr(expect.condition))


def target(target: s.Target) -> str:
    """`node`, `mount.exit` or `exit name`."""
    if isinstance(target, s.ExitEnd):
        return f"exit {target.name.text}"
    return f"{target.node.text}.{target.way.text}" if target.way else target.node.text


def event(event: s.EventRef) -> str:
    """`event of node visit n`."""
    text = event.event.text
    if event.node is not None:
        text += f" of {event.node.text}"
    return text if event.visit is None else f"{text} visit {number(event.visit)}"


def _own(subject: s.Expr) -> str:
    """`.a.b` of a match on the source's own output."""
    path: list[str] = []
    while isinstance(subject, s.Field):
        first = isinstance(subject.target, s.Ref)
        path.append(f"{'?.' if subject.optional and not first else '.'}{subject.name.text}")
        subject = subject.target
    return "".join(reversed(path))


def _item_group(item: s.Item) -> str:
    """The group of an item; imports follow the header closely."""
    return "head" if isinstance(item, s.Import) else type(item).__name__


def _within(inner: Span, outer: Span) -> bool:
    """Whether a span lies inside another."""
    return outer.start <= inner.start and inner.end <= outer.end


def _assumed(flow: s.Workflow) -> list[s.Block]:
    """The blocks of a tree that did not come from a text."""
    nowhere = Span(0, 0)
    names = [name for name, attribute in _BLOCKS.items() for _ in getattr(flow, attribute)]
    return [s.Block(s.Name(name, nowhere), nowhere) for name in names]


def _assumed_scenario(scenario: s.Scenario) -> list[s.Block]:
    """The blocks of a scenario that did not come from a text."""
    nowhere = Span(0, 0)
    present = {
        "input": scenario.input is not None,
        "host": bool(scenario.host),
        "provider": scenario.has_provider,
        "person": bool(scenario.person),
        "faults": bool(scenario.faults),
    }
    return [s.Block(s.Name(name, nowhere), nowhere) for name, there in present.items() if there]
