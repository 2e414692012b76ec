"""Expressions on values: the list form of `expression` compiled once to Python closures.

Evaluation is pure and total: it reads nothing but its environment, changes no value, and every operator
has a result for every operand. What the types rule out still has a defined result, given here.

Numbers are those of JSON: doubles, where a whole number within ±(2^53 − 1) is exact; `1` and `1.0` are
one.
- `+ - *` on whole numbers are exact within ±(2^53 − 1), beyond it rounded to the nearest double; a result
  too large for a double is the largest finite one, with its sign. Nothing is ever NaN or infinite.
- `/` divides doubles. `//`, written by the compiler where both sides are whole by type, is the quotient
  without its fraction (`-7 / 2` is `-3`). `%` has the sign of the left side (`-7 % 2` is `-1`). Division
  by zero is null.
- `+` also joins two texts and two lists. Any other operand, null included, makes the result null.
- `== !=` compare JSON values deeply: `true` is not `1`, the order of keys does not matter, a key that
  holds null is not the same as no key. `< <= > >=` compare two numbers, or two texts by code points; else
  they are false.
- `in` finds an item of a list by `==`, or a key of a record; else it is false.
- `and or not if` and conditions take `true` as true and everything else as false. `??` goes on after null.
- A field or item of anything that has none is null; so is an index that is negative, not whole or too
  large.
- A comprehension or a spread over what is no list (or record) gives nothing.
- Text is counted, sliced and compared by code points. White space is Unicode's White_Space.
- Interpolated null is `null`, numbers are written canonically (`2`, never `2.0`), lists and records as
  JSON.

`functions` says what each function does. Results have limits (`values.MAX_TEXT` code points,
`values.MAX_ITEMS` items, `canonical.MAX_DEPTH`): beyond them evaluation raises EvaluationError, which ends
the node as failed.

Beside the forms that `expression` lists, `["op", o, a, b, c, …]`, `["and", a, b, c, …]` (`or`, `??` alike)
stand for chains from the left, and `["if", c1, a1, c2, a2, …, z]` for `else if`: a long chain is not a
deep list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias

from pydantic import JsonValue

from windtunnel.compiler.canonical import CanonicalError, canonical
from windtunnel.compiler.functions import FUNCTIONS
from windtunnel.compiler.reading import ENVIRONMENT_FORMS, Read, reads
from windtunnel.compiler.snapshot import LetStep, RequireStep
from windtunnel.compiler.values import (
    MAX_TEXT,
    OPERATORS,
    EvaluationError,
    bounded_list,
    equal,
    member,
    negate,
    text_of,
)

__all__ = [
    "Environment",
    "EvaluationError",
    "ExpressionError",
    "Read",
    "check_expression",
    "compile_expression",
    "compile_validator",
    "equal",
    "reads",
]


class Environment(Protocol):
    """What an expression may read: JSON values that nobody changes, None for what is absent."""

    def input(self, mount: str) -> JsonValue:
        """The input of the mount (`""` is the root), defaults filled."""

    def node(self, node: str) -> JsonValue:
        """The latest accepted output of the node in this invocation."""

    def exit(self, mount: str, name: str) -> JsonValue:
        """The output of the mount's exit, if it was the last way out."""

    def choice(self, node: str, choice: str) -> JsonValue:
        """What was asked with the choice, if it was the last one taken."""

    def way(self, node: str) -> JsonValue:
        """The exit or choice last taken."""

    def result(self, node: str) -> JsonValue:
        """`{outcome, error, attempts, durationMs, cut, receipt, provenance}` of the latest end."""

    def visits(self, node: str, outcome: str | None) -> JsonValue:
        """Started visits in this invocation, or those that ended with the outcome."""

    def latest(self, nodes: tuple[str, ...]) -> JsonValue:
        """`{node, outcome}` of the most recently finished of the nodes."""

    def let(self, name: str) -> JsonValue:
        """The value of the workflow-level `let` of that qualified name."""


class ExpressionError(ValueError):
    """The list is no expression; the message says what is wrong. Compiled snapshots never hold one."""


Compiled: TypeAlias = Callable[..., JsonValue]
"""Called with an environment and the values of the free variables. Raises EvaluationError at a limit."""

_Scope: TypeAlias = tuple[JsonValue, ...]
_Closure: TypeAlias = Callable[[Environment, _Scope], JsonValue]
_Names: TypeAlias = tuple[str, ...]

_CACHE_SIZE: Final = 65_536
_cache: dict[tuple[str, _Names], Compiled] = {}


def compile_expression(expression: Sequence[Any], free: Sequence[str] = ()) -> Compiled:
    """The expression as a function of an environment and the values of the `free` variables.

    Equal expressions give the same function. Raises ExpressionError for a list that is no expression.
    """
    names = tuple(free)
    try:
        key = (canonical(list(expression)), names)
    except CanonicalError as error:
        raise ExpressionError(str(error)) from None
    found = _cache.get(key)
    if found is None:
        closure = _compile(expression, names)

        def run(environment: Environment, *values: JsonValue) -> JsonValue:
            return closure(environment, values)

        if len(_cache) >= _CACHE_SIZE:
            _cache.clear()
        found = _cache[key] = run
    return found


def check_expression(expression: Sequence[Any], free: Sequence[str] = ()) -> None:
    """Raise ExpressionError for a list that is no expression."""
    _compile(expression, tuple(free))


def compile_validator(
    steps: Sequence[LetStep | RequireStep],
) -> Callable[[Environment, JsonValue], tuple[str, ...]]:
    """`validate` steps as a function of environment and output: the message of each broken `require`.

    An output is accepted when the tuple is empty. Raises ExpressionError like `compile_expression`.
    """
    names: _Names = ("output",)
    parts: list[tuple[_Closure | None, _Closure | None, _Closure]] = []
    for step in steps:
        if isinstance(step, LetStep):
            parts.append((None, None, _compile(step.value, names)))
            names = (*names, step.let)
        else:
            premise = None if step.when is None else _compile(step.when, names)
            parts.append((premise, _compile(step.require, names), _compile(step.message, names)))

    def refusals(environment: Environment, output: JsonValue) -> tuple[str, ...]:
        scope: _Scope = (output,)
        broken: list[str] = []
        for premise, condition, value in parts:
            if condition is None:
                scope = (*scope, value(environment, scope))
            elif (premise is None or premise(environment, scope) is True) and (
                condition(environment, scope) is not True
            ):
                broken.append(text_of(value(environment, scope)))
        return tuple(broken)

    return refusals


# --- one function per form ----------------------------------------------------------------------------------


def _compile(expression: Any, names: _Names) -> _Closure:
    if not isinstance(expression, (list, tuple)) or not expression:
        raise ExpressionError("an expression is a list that begins with its form")
    form = _FORMS.get(expression[0]) if isinstance(expression[0], str) else None
    if form is None:
        raise ExpressionError(f"{expression[0]!r} is no form of expressions")
    try:
        return form(expression, names)
    except (IndexError, TypeError) as error:
        raise ExpressionError(f"malformed {expression[0]!r}: {error}") from None


def _const(expression: Sequence[Any], names: _Names) -> _Closure:
    value = expression[1]
    return lambda environment, scope: value


def _text(expression: Sequence[Any], names: _Names) -> _Closure:
    parts = [_compile(part, names) for part in expression[1:]]

    def text(environment: Environment, scope: _Scope) -> JsonValue:
        pieces = []
        size = 0
        for part in parts:
            piece = text_of(part(environment, scope))
            size += len(piece)
            if size > MAX_TEXT:
                raise EvaluationError(f"a text of more than {MAX_TEXT} characters would be made")
            pieces.append(piece)
        return "".join(pieces)

    return text


def _environment(expression: Sequence[Any], names: _Names) -> _Closure:
    """Forms that ask the environment for one thing."""
    form, arguments = expression[0], tuple(expression[1:])
    if len(arguments) != ENVIRONMENT_FORMS[form] or not all(isinstance(item, str) for item in arguments):
        raise ExpressionError(f"malformed {form!r}")

    def read(environment: Environment, scope: _Scope) -> JsonValue:
        value: JsonValue = getattr(environment, form)(*arguments)
        return value

    return read


def _visits(expression: Sequence[Any], names: _Names) -> _Closure:
    node, outcome = expression[1], expression[2]
    return lambda environment, scope: environment.visits(node, outcome)


def _latest(expression: Sequence[Any], names: _Names) -> _Closure:
    nodes = tuple(expression[1:])
    return lambda environment, scope: environment.latest(nodes)


def _var(expression: Sequence[Any], names: _Names) -> _Closure:
    if expression[1] not in names:
        raise ExpressionError(f"the variable {expression[1]!r} is bound nowhere")
    # The innermost binding of a name wins.
    slot = len(names) - 1 - names[::-1].index(expression[1])
    return lambda environment, scope: scope[slot]


def _bind(expression: Sequence[Any], names: _Names) -> _Closure:
    value = _compile(expression[2], names)
    body = _compile(expression[3], (*names, expression[1]))
    return lambda environment, scope: body(environment, (*scope, value(environment, scope)))


def _field(expression: Sequence[Any], names: _Names) -> _Closure:
    target, key = _compile(expression[1], names), expression[2]

    def field(environment: Environment, scope: _Scope) -> JsonValue:
        record = target(environment, scope)
        return record.get(key) if isinstance(record, dict) else None

    return field


def _index(expression: Sequence[Any], names: _Names) -> _Closure:
    target, index = _compile(expression[1], names), _compile(expression[2], names)
    return lambda environment, scope: member(target(environment, scope), index(environment, scope))


def _record(expression: Sequence[Any], names: _Names) -> _Closure:
    parts: list[tuple[str, str | None, _Closure]] = []
    for part in expression[1:]:
        if part[0] == "spread":
            parts.append(("spread", None, _compile(part[1], names)))
        elif part[0] in ("field", "maybe"):
            parts.append((part[0], part[1], _compile(part[2], names)))
        else:
            raise ExpressionError(f"{part[0]!r} is no part of a record")

    def record(environment: Environment, scope: _Scope) -> JsonValue:
        made: dict[str, JsonValue] = {}
        for kind, key, part in parts:
            value = part(environment, scope)
            if key is None:
                made.update(value if isinstance(value, dict) else {})
            elif kind == "field" or value is not None:
                made[key] = value
        return made

    return record


def _list(expression: Sequence[Any], names: _Names) -> _Closure:
    for part in expression[1:]:
        if part[0] not in ("item", "spread"):
            raise ExpressionError(f"{part[0]!r} is no part of a list")
    parts = [(part[0] == "spread", _compile(part[1], names)) for part in expression[1:]]

    def items(environment: Environment, scope: _Scope) -> JsonValue:
        made: list[JsonValue] = []
        for spread, part in parts:
            value = part(environment, scope)
            if not spread:
                made.append(value)
            elif isinstance(value, list):
                made.extend(value)
                bounded_list(made)
        return made

    return items


def _for(expression: Sequence[Any], names: _Names) -> _Closure:
    inner = (*names, expression[2])
    item, source = _compile(expression[1], inner), _compile(expression[3], names)
    condition = _compile(expression[4], inner) if expression[4] is not None else None

    def comprehension(environment: Environment, scope: _Scope) -> JsonValue:
        items = source(environment, scope)
        made: list[JsonValue] = []
        for value in items if isinstance(items, list) else ():
            bound = (*scope, value)
            if condition is None or condition(environment, bound) is True:
                made.append(item(environment, bound))
        return made

    return comprehension


def _if(expression: Sequence[Any], names: _Names) -> _Closure:
    rest = expression[1:-1]
    if len(expression) < 4 or len(rest) % 2:
        raise ExpressionError("malformed 'if'")
    arms = [(_compile(rest[at], names), _compile(rest[at + 1], names)) for at in range(0, len(rest), 2)]
    alternative = _compile(expression[-1], names)

    def choose(environment: Environment, scope: _Scope) -> JsonValue:
        for condition, consequent in arms:
            if condition(environment, scope) is True:
                return consequent(environment, scope)
        return alternative(environment, scope)

    return choose


def _and(expression: Sequence[Any], names: _Names) -> _Closure:
    sides = [_compile(side, names) for side in expression[1:]]

    def both(environment: Environment, scope: _Scope) -> JsonValue:
        return all(side(environment, scope) is True for side in sides)

    return both


def _or(expression: Sequence[Any], names: _Names) -> _Closure:
    sides = [_compile(side, names) for side in expression[1:]]

    def either(environment: Environment, scope: _Scope) -> JsonValue:
        return any(side(environment, scope) is True for side in sides)

    return either


def _otherwise(expression: Sequence[Any], names: _Names) -> _Closure:
    sides = [_compile(side, names) for side in expression[1:]]

    def otherwise(environment: Environment, scope: _Scope) -> JsonValue:
        for side in sides:
            value = side(environment, scope)
            if value is not None:
                return value
        return None

    return otherwise


def _op(expression: Sequence[Any], names: _Names) -> _Closure:
    operate = OPERATORS.get(expression[1])
    if operate is None or len(expression) < 4:
        raise ExpressionError(f"{expression[1]!r} is no operator with {len(expression) - 2} sides")
    operation = operate
    first, *others = [_compile(side, names) for side in expression[2:]]

    if len(others) == 1:
        second = others[0]
        return lambda environment, scope: operation(first(environment, scope), second(environment, scope))

    def chain(environment: Environment, scope: _Scope) -> JsonValue:
        value = first(environment, scope)
        for side in others:
            value = operation(value, side(environment, scope))
        return value

    return chain


def _not(expression: Sequence[Any], names: _Names) -> _Closure:
    operand = _compile(expression[1], names)
    return lambda environment, scope: operand(environment, scope) is not True


def _neg(expression: Sequence[Any], names: _Names) -> _Closure:
    operand = _compile(expression[1], names)
    return lambda environment, scope: negate(operand(environment, scope))


def _call(expression: Sequence[Any], names: _Names) -> _Closure:
    if expression[1] not in FUNCTIONS:
        raise ExpressionError(f"{expression[1]!r} is no function")
    function, least, most = FUNCTIONS[expression[1]]
    arguments = [_compile(argument, names) for argument in expression[2:]]
    if len(arguments) < least or (most is not None and len(arguments) > most):
        raise ExpressionError(f"{expression[1]} does not take {len(arguments)} arguments")
    if len(arguments) == 1:
        argument = arguments[0]
        return lambda environment, scope: function(argument(environment, scope))
    return lambda environment, scope: function(*[argument(environment, scope) for argument in arguments])


_FORMS: Final[dict[str, Callable[[Sequence[Any], _Names], _Closure]]] = {
    "const": _const,
    "text": _text,
    **dict.fromkeys(ENVIRONMENT_FORMS, _environment),
    "visits": _visits,
    "latest": _latest,
    "var": _var,
    "bind": _bind,
    "field": _field,
    "index": _index,
    "record": _record,
    "list": _list,
    "for": _for,
    "if": _if,
    "and": _and,
    "or": _or,
    "??": _otherwise,
    "op": _op,
    "not": _not,
    "neg": _neg,
    "call": _call,
}
