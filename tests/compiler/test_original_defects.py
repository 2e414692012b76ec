"""The two defects of the original plan-change, put back into the port: the compiler alone finds them."""

from __future__ import annotations

from tests.compiler.cases import check_text, concise
from windtunnel.compiler.reader import builtin
from windtunnel.dsl.source import Source

GUARD = """  compute replanGuard = {
    route: if visits(replan) > input.approval.maxReplans then "blocked" else "design",
  }
"""
ROUTE = """    approval.replan -> replanGuard -> match .route {
      "design" -> design
      "blocked" -> blocked
    }
"""


def shipped(name: str) -> str:
    """The text of a built-in."""
    source = builtin(name)
    assert isinstance(source, Source)
    return source.text


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text after some changes, each of which has to be possible."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_the_port_itself_is_clean() -> None:
    assert concise(check_text(shipped("plan-change"))) == ""


def test_a_guard_that_counts_inside_the_approval_never_fires() -> None:
    """`replanGuard` counts `approval/replan`, and the revision `approval/routePolicy`.

    The parent sees neither: both counts stay 0, so the limit on replans never fires and every plan is
    revision 1.
    """
    text = changed(
        shipped("plan-change"),
        ("  compute finalize = {", f"{GUARD}\n  compute finalize = {{"),
        ("revision: round,\n  }\n\n  # The", "revision: 1 + visits(routePolicy),\n  }\n\n  # The"),
        ("    approval.replan -> design limit input.approval.maxReplans then -> blocked\n", ROUTE),
    )
    assert concise(check_text(text)) == (
        "main.flow:63:26 error WT0112 `routePolicy` is a node inside the include `approval`; "
        "seen from here a count of it would stay 0\n"
        "  help: ask for `visits(approval)`, or let the include say it at an exit\n"
        "main.flow:72:22 error WT0112 `replan` is a node inside the include `approval`; "
        "seen from here a count of it would stay 0\n"
        "  help: ask for `visits(approval)`, or let the include say it at an exit\n"
    )


def test_an_optional_field_is_passed_on_as_a_required_one() -> None:
    """A documentation that is ready need not name a plan, and the approval cannot do without its digest."""
    text = changed(shipped("plan-change"), ("builtin:autodoc", "./autodoc.flow"))
    given = ("      planDigest: text,\n", "      planDigest?: text,\n")
    made = (
        "    planDigest: digest(plan),\n",
        "    planDigest?: if plan == null then null else digest(plan),\n",
    )
    autodoc = changed(shipped("autodoc"), given, made)
    found = concise(check_text(f"{text}# === autodoc.flow\n{autodoc}"))
    assert found == (
        "main.flow:61:17 error WT0402 `documentation.ready.planDigest` may be null, "
        "and `planDigest` of `approval` needs text(1..)\n"
        "  help: say what to use instead with `??`, or test for null first\n"
        "main.flow:74:17 error WT0407 what `finalize` gives to exit `ready` at `planDigest` may be null, "
        "but text is wanted\n"
        "  also 24:5 the exit is declared here\n"
    )
