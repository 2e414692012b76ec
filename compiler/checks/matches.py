"""Band 03: matches that miss a case or have one too many."""

from __future__ import annotations

from collections.abc import Iterator

from windtunnel.compiler.description import describe
from windtunnel.compiler.findings import Mend
from windtunnel.compiler.graph import Route
from windtunnel.compiler.inference import Typed
from windtunnel.compiler.narrowing import equal_to
from windtunnel.compiler.types import (
    BoolShape,
    ListShape,
    LiteralShape,
    MapShape,
    NeverShape,
    NullShape,
    RecordShape,
    Scalar,
    Shape,
    UnknownShape,
    literal,
    members,
)
from windtunnel.dsl.spelling import nearest
from windtunnel.dsl.syntax import LiteralType, Span

Case = Scalar | None


def check_matches(typed: Typed) -> None:
    """Report missing, impossible and repeated cases."""
    for route in typed.graph.routes:
        if route.match is not None:
            _check_match(typed, route, typed.subjects.get(route.index))


# --- cases --------------------------------------------------------------------------------------------------


def _check_match(typed: Typed, route: Route, subject: Shape | None) -> None:
    _check_repeated(typed, route)
    if subject is None or isinstance(subject, UnknownShape | NeverShape):
        return
    findings = typed.scope.file.findings
    match = route.match
    assert match is not None, "only a route with a match is checked"
    if match.arms and typed.scope.file.module.has_hole(Span(match.span.start, match.arms[0].span.start)):
        return  # The arms are those of a value that was written and not read.
    odd = [m for m in members(subject) if isinstance(m, RecordShape | ListShape | MapShape)]
    if odd:
        findings.add(
            "WT0305",
            f"a match chooses by text, a number, true, false or null, not by {describe(odd[0])}",
            match.subject.span,
            help="match one of its fields",
        )
        return
    domain = finite(subject)
    meant = _check_impossible(typed, route, subject, domain)
    has_else = any(arm.is_else for arm in match.arms)
    given = meant | {_key(pattern.value) for arm in match.arms for pattern in arm.patterns}
    if domain is None:
        if not has_else:
            findings.add(
                "WT0301",
                f"{describe(subject)} has more values than these cases",
                match.subject.span,
                help="add `else -> …`",
            )
        return
    missing = [case for case in domain if _key(case) not in given]
    if typed.scope.file.module.has_hole(match.span):
        return  # The arm that is missing may be the one that is broken.
    if missing and not has_else:
        listed = ", ".join(f"`{_written(case)}`" for case in missing)
        findings.add(
            "WT0301",
            f"no arm for {listed}",
            match.subject.span,
            help=f"add `{' | '.join(_written(case) for case in missing)} -> …`, or `else -> …`",
        )
    if not missing and has_else:
        arm = next(arm for arm in match.arms if arm.is_else)
        findings.add(
            "WT0304",
            "the other arms take every case, so `else` is never taken",
            arm.span,
            fixes=findings.without("take it out", typed.scope.file.module.source.text, arm.span),
        )
    goals = {branch.goal.words for branch in route.branches}
    whole = len(route.branches) == len(match.arms) > 1 and not any(b.limit for b in route.branches)
    if whole and len(goals) == 1:
        findings.add("WT0306", f"every case goes to `{goals.pop()}`", match.subject.span)


def finite(shape: Shape) -> list[Case] | None:
    """All values of a shape, when it has only a few."""
    found: list[Case] = []
    for member in members(shape):
        match member:
            case LiteralShape():
                found.append(member.value)
            case BoolShape():
                found += [True, False]
            case NullShape():
                found.append(None)
            case NeverShape():
                continue
            case _:
                return None
    return found


def _key(case: Case) -> tuple[str, Case]:
    if case is None:
        return ("null", None)
    shape = literal(case)
    return (shape.kind, shape.value)


def _written(case: Case) -> str:
    return "null" if case is None else describe(literal(case))


def _patterns(route: Route) -> Iterator[LiteralType]:
    assert route.match is not None, "only a route with a match has patterns"
    for arm in route.match.arms:
        yield from arm.patterns


def _check_repeated(typed: Typed, route: Route) -> None:
    findings = typed.scope.file.findings
    first: dict[tuple[str, Case], LiteralType] = {}
    for pattern in _patterns(route):
        known = first.setdefault(_key(pattern.value), pattern)
        if known is not pattern:
            findings.add(
                "WT0303",
                f"`{_written(pattern.value)}` has an arm already",
                pattern.span,
                secondary=[(known.span, "the first one")],
            )
    assert route.match is not None, "only a route with a match has arms"
    others = [arm for arm in route.match.arms if arm.is_else]
    for arm in others[1:]:
        findings.add(
            "WT0303", "a match has one `else`", arm.span, secondary=[(others[0].span, "the first one")]
        )


def _check_impossible(
    typed: Typed, route: Route, subject: Shape, domain: list[Case] | None
) -> set[tuple[str, Case]]:
    """Report cases that cannot be; gives those that were surely meant by one of them."""
    meant: set[tuple[str, Case]] = set()
    texts = [case for case in domain or () if isinstance(case, str)]
    for pattern in _patterns(route):
        if not isinstance(equal_to(pattern.value)(subject), NeverShape):
            continue
        findings = typed.scope.file.findings
        mend = Mend(help=None, fixes=())
        if isinstance(pattern.value, str):
            mend = findings.near_text(pattern.span, pattern.value, texts)
            near = nearest(pattern.value, texts)
            meant |= {_key(near[0])} if len(near) == 1 else set()
        findings.add(
            "WT0302",
            f"`{_written(pattern.value)}` is never the case: the value is {describe(subject)}",
            pattern.span,
            **mend,
        )
    return meant
