"""Edge lines to the graph of a workflow, and what is wrong with the lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from windtunnel.compiler.findings import Findings
from windtunnel.compiler.graph import ON, OUTCOMES, START, Branch, Goal, Graph, Outcome, Route
from windtunnel.compiler.resolver import Declaration, Kind, Program, Scope
from windtunnel.dsl.diagnostics import Fix
from windtunnel.dsl.syntax import (
    Arm,
    EdgeLine,
    Endpoint,
    ExitEnd,
    Limit,
    Match,
    Name,
    Node,
    Span,
    Target,
    Word,
)

OUTCOME_HELP: Final = {
    "ok": "an arrow without `on` is taken after `ok`",
    "cancelled": "cancellation is never routed: it ends the run",
}

MEANT: Final[dict[str, Outcome]] = {
    **dict.fromkeys(("timeout", "timeouts", "timedout", "expired", "expires"), "timed_out"),
    **dict.fromkeys(("error", "errors", "fail", "fails", "failure", "exception"), "failed"),
}
"""What words of other tools mean, without case, dashes and underscores."""


def ways_of(declaration: Declaration, program: Program) -> tuple[str, ...] | None:
    """The ways out of a mount or a decision; None for a node that has only one, and for a broken include."""
    if declaration.kind is Kind.DECISION:
        choices = declaration.choices
        return tuple(dict.fromkeys(c.name.text for c in choices.items)) if choices is not None else ()
    if declaration.kind is Kind.INCLUDE:
        child = program.child(declaration)
        return None if child is None or child.has_hole else child.exit_names
    return None


def has_ways(declaration: Declaration) -> bool:
    """Whether the node is left by named ways."""
    return declaration.kind in (Kind.DECISION, Kind.INCLUDE)


def outcomes_of(declaration: Declaration) -> tuple[Outcome, ...]:
    """The outcomes that a node can have at all, so far as its kind and its deadline tell."""
    if declaration.kind is Kind.INCLUDE:
        return ("ok",)
    if declaration.kind in (Kind.COMPUTE, Kind.NOTIFY):
        return ("ok", "failed")
    clauses = declaration.tree.clauses if isinstance(declaration.tree, Node) else ()
    values = {clause.keyword.text: clause.value for clause in clauses}
    if declaration.kind is Kind.DECISION:
        return OUTCOMES if "expires" in values else ("ok", "failed")
    if declaration.kind is Kind.CHECKPOINT:
        return ("ok", "failed")
    timeout = values.get("timeout")
    return ("ok", "failed") if isinstance(timeout, Word) and timeout.text == "none" else OUTCOMES


def build(program: Program, scope: Scope) -> Graph:
    """The graph that the `edges` of a workflow draw; broken lines are reported and left out."""
    builder = _Builder(program, scope)
    for block in scope.workflow.edges:
        for line in block:
            builder.line(line)
    nodes = tuple(declaration.name for declaration in scope.nodes)
    if scope.file.module.has_hole(scope.workflow.span):
        every = frozenset(nodes) | {START}
        return Graph(nodes, tuple(builder.routes), every, every)
    return Graph(nodes, tuple(builder.routes), frozenset(builder.loose), frozenset(builder.open))


class _Builder:
    """Reads edge lines one by one; remembers which ends have a route already."""

    def __init__(self, program: Program, scope: Scope) -> None:
        self.program = program
        self.scope = scope
        self.findings: Findings = scope.file.findings
        self.routes: list[Route] = []
        self.taken: dict[tuple[str, str | None, Outcome], Span] = {}
        self.names = [declaration.name for declaration in scope.nodes]
        self.loose: set[str] = set()
        self.open: set[str] = set()

    def line(self, line: EdgeLine) -> None:
        heads: list[Endpoint] = list(line.heads)
        outcomes = self._outcomes(line)
        chain = list(line.chain)
        if not line.outcomes and len(heads) > 1:
            self.findings.add(
                "WT0210",
                "several nodes at the head of a line need `on`",
                heads[1].span,
                help="write one line for each; only failure routes share a line",
                fixes=self._parted(line),
            )
        while chain:
            target = chain.pop(0)
            last = not chain and line.match is None
            goal = self._goal(target)
            limit = line.limit if last else None
            for head in heads:
                self._simple(head, outcomes, goal, limit, head.span.to(target.span))
            if not heads and goal is not None and goal.node is not None:
                self.loose.add(goal.node)
            if chain or line.match is not None:
                if isinstance(target, ExitEnd):
                    self.findings.add("WT0206", f"nothing follows `exit {target.name.text}`", target.span)
                    return
                heads = [target] if goal is not None else []
                outcomes = ("ok",)
        if line.match is not None:
            for head in heads:
                self._match(head, outcomes, line.match)
            if not heads:
                goals = [self._goal(arm.chain[0]) for arm in line.match.arms if arm.chain]
                self.loose.update(goal.node for goal in goals if goal is not None and goal.node is not None)

    def _parted(self, line: EdgeLine) -> tuple[Fix, ...]:
        """A line of several heads as a line for each of them; one with a match is left to the person."""
        if line.match is not None:
            return ()
        text = self.scope.file.module.source.text
        margin = text[text.rfind("\n", 0, line.span.start) + 1 : line.span.start]
        if margin.strip():
            return ()
        rest = text[line.heads[-1].span.end : line.span.end]
        lines = [text[head.span.start : head.span.end] + rest for head in line.heads]
        return (
            self.findings.replacing("write a line for each", line.span, f"\n{margin}".join(lines), safe=True),
        )

    def _outcomes(self, line: EdgeLine) -> tuple[Outcome, ...]:
        if not line.outcomes:
            return ("ok",)
        found: dict[Outcome, None] = {}
        for name in line.outcomes:
            if name.text not in ON:
                self.findings.add(
                    "WT0216",
                    f"`{name.text}` is no outcome that can be routed",
                    name.span,
                    help=OUTCOME_HELP.get(name.text, "write `failed`, `timed_out`, or `any` for both"),
                    fixes=self._outcome_fix(name),
                )
            found.update(dict.fromkeys(ON.get(name.text, ())))
        return tuple(found)

    def _outcome_fix(self, name: Name) -> tuple[Fix, ...]:
        meant = MEANT.get(name.text.lower().replace("-", "").replace("_", ""))
        if meant is None:
            return ()
        return (self.findings.replacing(f"write `{meant}`", name.span, meant, safe=meant == "timed_out"),)

    # --- targets --------------------------------------------------------------------------------------------

    def _goal(self, target: Target) -> Goal | None:
        if isinstance(target, ExitEnd):
            return self._exit_goal(target)
        name = target.node
        if name.text == START:
            self.findings.add("WT0206", "nothing leads back to `start`; name the first node", target.span)
            return None
        declaration = self._vertex(name)
        if declaration is None:
            return None
        if target.way is not None:
            self._report_way_target(declaration, target)
        return Goal(name.text, None, target.span)

    def _exit_goal(self, target: ExitEnd) -> Goal | None:
        if self.scope.exits is not None and target.name.text not in self.scope.exits:
            self.findings.add(
                "WT0213",
                f"`exits` declares no `{target.name.text}`",
                target.name.span,
                **self.findings.did_you_mean(target.name, self.scope.exits),
            )
            return None
        return Goal(None, target.name.text, target.span)

    def _vertex(self, name: Name) -> Declaration | None:
        declaration = self.scope.lookup(name.text)
        if declaration is not None and declaration.is_node:
            return declaration
        if declaration is not None:
            self.findings.add("WT0206", f"`{name.text}` is a `let`, which no edge can reach", name.span)
            return None
        inner = [d.name for d in self.scope.includes if self._has_inner(d, name.text)]
        if inner:
            self.findings.add(
                "WT0112",
                f"`{name.text}` lies inside the include `{inner[0]}`",
                name.span,
                help=f"enter through `{inner[0]}` and leave through its exits",
            )
            return None
        known = self.names
        near = self.findings.near(name.text, known)
        self.loose.update(near)
        self.open.update(near)
        if name.text in self.findings.maybe:
            return None
        mend = self.findings.did_you_mean(name, known)
        if name.text in self.scope.exit_names:
            mend = {
                "help": f"`{name.text}` is an exit: write `exit {name.text}`",
                "fixes": (self.findings.replacing("write `exit`", name.span, f"exit {name.text}"),),
            }
        self.findings.add_name("WT0206", f"there is no node `{name.text}`", name, mend)
        return None

    def _has_inner(self, declaration: Declaration, name: str) -> bool:
        child = self.program.child(declaration)
        inner = None if child is None else child.lookup(name)
        return inner is not None and inner.is_node

    def _report_way_target(self, declaration: Declaration, target: Endpoint) -> None:
        assert target.way is not None, "only an end with a way is reported"
        way = target.way
        if self._has_inner(declaration, way.text):
            message = f"`{way.text}` lies inside the include `{declaration.name}`"
            self.findings.add("WT0112", message, target.span, help=f"enter through `{declaration.name}`")
            return
        self.findings.add(
            "WT0210",
            f"an arrow enters `{declaration.name}` itself; a way is where one leaves",
            target.span,
            help=f"write `-> {declaration.name}`, and the way at the head of its own line",
        )

    # --- sources --------------------------------------------------------------------------------------------

    def _ends(self, head: Endpoint, outcomes: tuple[Outcome, ...]) -> list[tuple[str, str | None, Outcome]]:
        """The ends a line starts from, after checking that they exist and have no route yet."""
        name = head.node.text
        if name == START:
            if outcomes != ("ok",) or head.way is not None:
                self.findings.add("WT0210", "`start` has neither ways nor outcomes", head.span)
                return []
            return self._free([(START, None, "ok")], head)
        declaration = self._vertex(head.node)
        if declaration is None:
            return []
        ends = self._ends_of(declaration, head, outcomes)
        if not ends:
            self.open.add(name)
        return ends

    def _ends_of(
        self, declaration: Declaration, head: Endpoint, outcomes: tuple[Outcome, ...]
    ) -> list[tuple[str, str | None, Outcome]]:
        name = declaration.name
        if outcomes and outcomes != ("ok",):
            return self._failure_ends(declaration, head, outcomes)
        if not outcomes:
            return []
        ways = ways_of(declaration, self.program)
        if not has_ways(declaration):
            if head.way is not None:
                self._report_no_ways(declaration, head)
                return []
            return self._free([(name, None, "ok")], head)
        if ways is None:
            return self._free([(name, head.way.text, "ok")], head) if head.way is not None else []
        if head.way is None:
            self._report_bare(declaration, ways, head)
            return []
        if head.way.text not in ways:
            self._report_unknown_way(declaration, ways, head.way)
            return []
        return self._free([(name, head.way.text, "ok")], head)

    def _failure_ends(
        self, declaration: Declaration, head: Endpoint, outcomes: tuple[Outcome, ...]
    ) -> list[tuple[str, str | None, Outcome]]:
        if declaration.kind is Kind.INCLUDE:
            self.findings.add(
                "WT0211",
                f"`{declaration.name}` is an include: a failure that it does not handle ends the run",
                head.span,
                help="route the failure inside the included workflow, to an exit of its own",
            )
            return []
        if head.way is not None:
            self.findings.add("WT0210", "a failure comes before any way is taken", head.way.span)
        return self._free([(declaration.name, None, outcome) for outcome in outcomes], head)

    def _free(
        self, ends: Iterable[tuple[str, str | None, Outcome]], head: Endpoint
    ) -> list[tuple[str, str | None, Outcome]]:
        free: list[tuple[str, str | None, Outcome]] = []
        for end in ends:
            first = self.taken.setdefault(end, head.span)
            if first == head.span:
                free.append(end)
                continue
            words = f"{end[0]}.{end[1]}" if end[1] is not None else end[0]
            after = "" if end[2] == "ok" else f" after `{end[2]}`"
            self.findings.add(
                "WT0207",
                f"`{words}` has a second route{after}",
                head.span,
                secondary=[(first, "the first one")],
                help="one node runs at a time: use a `match` to choose between ways",
            )
        return free

    def _report_no_ways(self, declaration: Declaration, head: Endpoint) -> None:
        assert head.way is not None, "only an end with a way is reported"
        article = "an" if declaration.kind in (Kind.AGENT, Kind.ACTION) else "a"
        self.findings.add(
            "WT0209",
            f"`{declaration.name}` is {article} {declaration.kind} and has no way `{head.way.text}`",
            head.span,
            help=f"to choose by its output: `{declaration.name} -> match .field {{ … }}`",
        )

    def _report_bare(self, declaration: Declaration, ways: tuple[str, ...], head: Endpoint) -> None:
        word = "exits" if declaration.kind is Kind.INCLUDE else "choices"
        listed = ", ".join(f"`{declaration.name}.{way}`" for way in ways) or "none"
        self.findings.add(
            "WT0210",
            f"`{declaration.name}` is left by one of its {word}",
            head.span,
            help=f"its {word}: {listed}",
        )

    def _report_unknown_way(self, declaration: Declaration, ways: tuple[str, ...], way: Name) -> None:
        if self._has_inner(declaration, way.text):
            self.findings.add(
                "WT0112",
                f"`{way.text}` is a node inside the include `{declaration.name}`, not one of its exits",
                way.span,
                help=f"its exits: {', '.join(f'`{w}`' for w in ways)}",
            )
            return
        word = "exit" if declaration.kind is Kind.INCLUDE else "choice"
        mend = self.findings.did_you_mean(way, ways)
        if mend["help"] is None:
            mend["help"] = f"its {word}s: {', '.join(f'`{w}`' for w in ways) or 'none'}"
        self.findings.add("WT0209", f"`{declaration.name}` has no {word} `{way.text}`", way.span, **mend)

    # --- routes ---------------------------------------------------------------------------------------------

    def _simple(
        self,
        head: Endpoint,
        outcomes: tuple[Outcome, ...],
        goal: Goal | None,
        limit: Limit | None,
        span: Span,
    ) -> None:
        overflow = None if limit is None else self._goal(limit.then)
        ends = self._ends(head, outcomes)
        if goal is None:
            self.open.update(source for source, _, _ in ends)
            return
        if not ends and goal.node is not None:
            self.loose.add(goal.node)
        branch = Branch(None, goal, limit if overflow is not None else None, overflow, None, span)
        for source, way, outcome in ends:
            self.routes.append(Route(len(self.routes), source, way, outcome, None, (branch,), head.span))

    def _match(self, head: Endpoint, outcomes: tuple[Outcome, ...], match: Match) -> None:
        branches: list[Branch] = []
        for arm in match.arms:
            branch = self._arm(arm)
            if branch is not None:
                branches.append(branch)
        ends = self._ends(head, outcomes)
        goals = [goal for b in branches for goal in (b.goal, b.overflow) if goal is not None]
        if not ends:
            self.loose.update(goal.node for goal in goals if goal.node is not None)
        if len(branches) < len(match.arms):
            self.open.update(source for source, _, _ in ends)
        for source, way, outcome in ends:
            self.routes.append(
                Route(len(self.routes), source, way, outcome, match, tuple(branches), head.span)
            )

    def _arm(self, arm: Arm) -> Branch | None:
        goal = self._goal(arm.chain[0]) if arm.chain else None
        overflow = None
        if arm.limit is not None and len(arm.chain) == 1:
            overflow = self._goal(arm.limit.then)
        for position, target in enumerate(arm.chain[:-1]):
            if isinstance(target, ExitEnd):
                self.findings.add("WT0206", f"nothing follows `exit {target.name.text}`", target.span)
                break
            following = arm.chain[position + 1]
            last = position + 2 == len(arm.chain)
            next_goal = self._goal(following)
            limit = arm.limit if last else None
            self._simple(target, ("ok",), next_goal, limit, target.span.to(following.span))
        if goal is None:
            return None
        cases = None if arm.is_else else tuple(pattern.value for pattern in arm.patterns)
        limit = arm.limit if overflow is not None else None
        return Branch(cases, goal, limit, overflow, arm, arm.span)
