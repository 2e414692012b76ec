"""Routes of a workflow's graph to the edges of a snapshot: an arm for each way on.

The key of an arm says where its arrow begins, such as `approve.rewrite`, `release on failed`, `choose
"ready"` or `summary/start`: it survives reordering and says in a report what is meant. Arrows that were
written as one (`a, b on failed -> c limit 3 then -> d`) share the counter of their limit, named after the
first of them.
"""

from __future__ import annotations

from windtunnel.compiler.canonical import canonical
from windtunnel.compiler.exprlowering import ExpressionLowering
from windtunnel.compiler.folding import Lowered
from windtunnel.compiler.graph import START, Branch, Goal, Graph, Route
from windtunnel.compiler.plan import Mounted
from windtunnel.compiler.resolver import Kind
from windtunnel.compiler.snapshot import ArmModel, EdgeModel, LimitModel, TargetModel


class EdgeLowering:
    """The edges of one mounted workflow."""

    def __init__(self, mounted: Mounted, graph: Graph, expressions: ExpressionLowering) -> None:
        self.mounted = mounted
        self.graph = graph
        self.expressions = expressions
        self.counters = self._counters()

    def edges(self) -> tuple[EdgeModel, ...]:
        """All edges, sorted by where they begin."""
        return tuple(sorted((self._edge(route) for route in self.graph.routes), key=edge_order))

    def start_at(self) -> str:
        """The node or mount that follows the start without a question, else `start`."""
        route = self.graph.route(START, None, "ok")
        assert route is not None, "a checked workflow has a start"
        branch = route.branches[0]
        if route.match is None and branch.limit is None and branch.goal.node is not None:
            return self.mounted.qualified(branch.goal.node)
        return START

    def _edge(self, route: Route) -> EdgeModel:
        subject: Lowered | None = None
        if route.match is not None and route.match.own:
            subject = self.expressions.own_output(route.match.subject, self._output(route))
        elif route.match is not None:
            subject = self.expressions.lower(route.match.subject)
        return EdgeModel(
            scope=self.mounted.path,
            source=START if route.source == START else self.mounted.qualified(route.source),
            way=route.way,
            on=route.outcome,
            subject=subject,
            arms=tuple(sorted((self._arm(route, branch) for branch in route.branches), key=_arm_order)),
        )

    def _arm(self, route: Route, branch: Branch) -> ArmModel:
        key = arrow_key(self.mounted, route, branch)
        limit = None
        if branch.limit is not None and branch.overflow is not None:
            count = self.expressions.lower(branch.limit.count)
            counter = self.counters[id(branch.limit)]
            limit = LimitModel(
                count=count[1] if count[0] == "const" and isinstance(count[1], int) else count,
                then=self._target(branch.overflow),
                counter=None if counter == key else counter,
            )
        cases = None if branch.cases is None else tuple(sorted(branch.cases, key=canonical))
        return ArmModel(key=key, cases=cases, to=self._target(branch.goal), limit=limit)

    def _target(self, goal: Goal) -> TargetModel:
        if goal.node is not None:
            return TargetModel(node=self.mounted.qualified(goal.node))
        return TargetModel(exit=goal.exit)

    def _counters(self) -> dict[int, str]:
        """For each written limit, by identity, the least key of the arrows it stands behind."""
        found: dict[int, str] = {}
        for route in self.graph.routes:
            for branch in route.branches:
                if branch.limit is not None:
                    key = arrow_key(self.mounted, route, branch)
                    found[id(branch.limit)] = min(key, found.get(id(branch.limit), key))
        return found

    def _output(self, route: Route) -> Lowered:
        """What `output` is for a match behind this end."""
        qualified = self.mounted.qualified(route.source)
        if route.way is None:
            return ["node", qualified]
        declaration = self.mounted.scope.lookup(route.source)
        is_mount = declaration is not None and declaration.kind is Kind.INCLUDE
        return ["exit" if is_mount else "choice", qualified, route.way]


def arrow_key(mounted: Mounted, route: Route, branch: Branch) -> str:
    """The name of an arrow in snapshots, counters and coverage."""
    key = mounted.qualified(route.source)
    if route.way is not None:
        key += f".{route.way}"
    if route.outcome != "ok":
        key += f" on {route.outcome}"
    if route.match is None:
        return key
    if branch.cases is None:
        return f"{key} else"
    return f"{key} {' | '.join(sorted(canonical(case) for case in branch.cases))}"


def edge_order(edge: EdgeModel) -> tuple[str, str, str, str]:
    """The order of edges in a snapshot."""
    return (edge.scope, edge.source, edge.way or "", edge.on)


def _arm_order(arm: ArmModel) -> tuple[bool, str]:
    return (arm.cases is None, canonical(list(arm.cases or ())))
