"""The grammar as tables: `grammar.lark` worked out by Lark, laid out for a fast loop, and kept beside it.

Lark finds the terminals and the LALR(1) states; that takes longer than to read a large file, so the result
stands in `grammar.json`, marked with the digest of the grammar that it was made from. While the two do not
agree, as when the grammar is being changed, Lark is asked again. The loop that walks the tables is our own
(in `machine`), since it must be able to try a token without consuming anything, and must not build an
intermediate tree.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from sys import intern
from typing import Any, Final, NamedTuple

from windtunnel.dsl.foreign import PATTERN as FOREIGN

START: Final = "item"
END: Final = "$END"
GRAMMAR: Final = "grammar.lark"
MADE: Final = "grammar.json"


class Production(NamedTuple):
    """One rule: how many symbols it takes, what it becomes, and what builds it.

    `builder` is None when the one symbol stands for itself. `absent` holds the positions of optional symbols
    that this form of the rule leaves out.
    """

    origin: str
    size: int
    builder: str | None
    absent: tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """LALR(1) tables and the terminals they speak of.

    `actions[state][terminal]` is the next state of a shift, or `~n` to reduce by `productions[n]`;
    `entry[state]` tells whether an entry of a list may begin; `gotos[state][origin]` is the state after a
    reduction. `keywords` maps words to terminals, `operators` signs; `pattern` matches any of them outside
    strings. `spellings` is the way back, for messages. `leaps[origin][state][terminal]` keeps where `machine`
    goes after a reduction to `origin` above a state and before a terminal.
    """

    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    productions: tuple[Production, ...]
    entry: tuple[bool, ...]
    start: int
    end: int
    keywords: dict[str, str]
    operators: dict[str, str]
    spellings: dict[str, str]
    pattern: re.Pattern[str]
    leaps: dict[str, dict[int, dict[str, int]]] = field(compare=False)


@cache
def table() -> Table:
    """The tables of the language."""
    room = files(__package__)
    kept = json.loads(room.joinpath(MADE).read_text(encoding="utf-8"))
    grammar = room.joinpath(GRAMMAR).read_text(encoding="utf-8")
    return load(kept if kept["grammar"] == digest(grammar) else make(grammar))


def digest(grammar: str) -> str:
    """What marks tables as made from this grammar."""
    return sha256(grammar.encode()).hexdigest()


def load(made: dict[str, Any]) -> Table:
    """Tables from what `make` gives."""
    symbols = [intern(symbol) for symbol in made["symbols"]]
    rows = [dict(zip([symbols[n] for n in row[::2]], row[1::2], strict=True)) for row in made["rows"]]
    actions = tuple(rows[number] for number in made["actions"])
    fixed: dict[str, str] = made["fixed"]
    operators = {text: intern(name) for name, text in fixed.items() if not text.isidentifier()}
    return Table(
        actions=actions,
        gotos=tuple(rows[number] for number in made["gotos"]),
        productions=tuple(
            Production(intern(origin), size, builder, tuple(absent))
            for origin, size, builder, absent in made["productions"]
        ),
        entry=tuple(row.get("HOLE", -1) >= 0 for row in actions),
        start=made["start"],
        end=made["end"],
        keywords={text: intern(name) for name, text in fixed.items() if text.isidentifier()},
        operators=operators,
        spellings=fixed,
        pattern=_pattern(operators, made["patterns"]),
        leaps={intern(origin): {} for origin, *_ in made["productions"]},
    )


def make(grammar: str) -> dict[str, Any]:
    """The tables of a grammar, as JSON holds them; this is what loads Lark. Equal rows are kept once."""
    from lark import Lark
    from lark.lexer import PatternStr

    lark = Lark(
        grammar, parser="lalr", lexer="basic", start=START, maybe_placeholders=True, keep_all_tokens=True
    )
    rules = sorted(lark.rules, key=_spelt)
    productions = [_production(rule) for rule in rules]
    conf = lark.parse_interactive("").parser_state.parse_conf
    states = _states(conf.states, {id(rule): number for number, rule in enumerate(rules)})
    _skip_units(states, productions)
    order = _order(states, conf.start_state)
    symbols = sorted({symbol for state in order for row in states[state] for symbol in row})
    places = {symbol: place for place, symbol in enumerate(symbols)}
    rows: dict[tuple[int, ...], int] = {}

    def numbered(row: dict[str, Any]) -> int:
        flat: list[int] = []
        for symbol in sorted(row):
            to = row[symbol]
            flat.extend((places[symbol], to.rule if isinstance(to, _Reduce) else order[to]))
        return rows.setdefault(tuple(flat), len(rows))

    kinds = sorted(lark.terminals, key=lambda term: str(term.name))
    made: dict[str, Any] = {
        "grammar": digest(grammar),
        "start": order[conf.start_state],
        "end": order[conf.end_state],
        "actions": [numbered(states[state].actions) for state in order],
        "gotos": [numbered(states[state].gotos) for state in order],
        "productions": [[p.origin, p.size, p.builder, list(p.absent)] for p in productions],
        "symbols": symbols,
        "fixed": {str(t.name): t.pattern.value for t in kinds if isinstance(t.pattern, PatternStr)},
        "patterns": {
            str(t.name): t.pattern.to_regexp() for t in kinds if not isinstance(t.pattern, PatternStr)
        },
    }
    made["rows"] = [list(row) for row in rows]
    return made


class _Reduce(NamedTuple):
    """The action to reduce by a rule; `rule` is as the tables hold it."""

    rule: int


class _State(NamedTuple):
    """What a state does at each symbol: go to another state, or reduce."""

    actions: dict[str, Any]
    gotos: dict[str, Any]


def _states(states: dict[Any, Any], rules: dict[int, int]) -> dict[Any, _State]:
    """Lark's states, terminals apart from rules."""
    from lark.parsers.lalr_analysis import Shift

    made: dict[Any, _State] = {}
    for state, row in states.items():
        made[state] = _State({}, {})
        for name, (action, argument) in row.items():
            symbol = str(name)
            into = made[state].actions if symbol.isupper() else made[state].gotos
            into[symbol] = argument if action is Shift else _Reduce(~rules[id(argument)])
    return made


def _spelt(rule: Any) -> tuple[str, list[str]]:
    """A rule of Lark's by its names."""
    return str(rule.origin.name), [str(each.name) for each in rule.expansion]


def _order(states: dict[Any, _State], start: Any) -> dict[Any, int]:
    """A number for each reachable state, the same whatever order Lark had them in."""
    order = {start: 0}
    for state in (queue := [start]):
        for row in states[state]:
            for symbol in sorted(row):
                if not isinstance(row[symbol], _Reduce) and row[symbol] not in order:
                    order[row[symbol]] = len(order)
                    queue.append(row[symbol])
    return order


def _skip_units(states: dict[Any, _State], productions: list[Production]) -> None:
    """Lead past the states that can only turn one symbol into another without building anything.

    Precedence makes long chains of such rules. As with default reductions, a wrong token is then noticed a
    few reductions later, but never taken.
    """
    only: dict[Any, str] = {}
    for name, state in states.items():
        choices = set(state.actions.values())
        if len(choices) == 1 and not state.gotos and isinstance(choice := choices.pop(), _Reduce):
            production = productions[~choice.rule]
            if production.builder is None:
                only[name] = production.origin
    for state in states.values():
        for row in state:
            for symbol, following in row.items():
                while not isinstance(following, _Reduce) and following in only:
                    following = state.gotos[only[following]]
                row[symbol] = following


def _production(rule: Any) -> Production:
    """One of Lark's rules in our form."""
    size = len(rule.expansion)
    stands_for_itself = rule.options.expand1 and rule.alias is None and size == 1
    absent = tuple(place for place, empty in enumerate(rule.options.empty_indices) if empty)
    builder = None if stands_for_itself else f"make_{rule.alias or rule.origin.name}"
    return Production(str(rule.origin.name), size, builder, absent)


def _pattern(operators: dict[str, str], patterns: dict[str, str]) -> re.Pattern[str]:
    """One pattern for all that stands outside strings; groups are terminals.

    The longest sign comes first, but for those with which no other begins: what is frequent is tried early.
    """
    signs = sorted(operators, key=lambda sign: (-len(sign), sign))
    parts = [
        f"(?P<NAME>{patterns['NAME']})",
        r"(?P<mark>[()\[\]{},:])",
        r"(?P<newline>\n)",
        r'(?P<plain>"[^"\\\n$]+"|""(?!"))',
        r'(?P<quote>"(?:"")?)',
        r"(?P<comment>\#[^\n]*)",
        f"(?P<foreign>{FOREIGN})",
        *(f"(?P<{name}>{patterns[name]})" for name in ("DURATION", "NUMBER")),
        r"(?P<odd_number>[0-9][\w-]*(?:\.[0-9]\w*)?)",
        f"(?P<sign>{'|'.join(re.escape(sign) for sign in signs)})",
        r"(?P<other>[^ \t])",
    ]
    return re.compile(rf"[ \t]*(?:{'|'.join(parts)})")
