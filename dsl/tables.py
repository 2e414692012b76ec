"""The grammar as tables: `grammar.lark` worked out by Lark once per process, laid out for a fast loop.

Lark finds the terminals and the LALR(1) states. The loop that walks them is our own (in `recovery`), since it
must be able to try a token without consuming anything, and must not build an intermediate tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from sys import intern
from typing import Final, NamedTuple

from windtunnel.dsl.foreign import PATTERN as FOREIGN

START: Final = "item"
END: Final = "$END"


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
    strings. `spellings` is the way back, for messages. `leaps` keeps where `machine` goes after a reduction.
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
    leaps: dict[tuple[int, str, str], int] = field(default_factory=dict)


@cache
def table() -> Table:
    """The tables of the language; made at the first call, which is what loads Lark."""
    from lark import Lark
    from lark.lexer import PatternStr
    from lark.parsers.lalr_analysis import Shift

    grammar = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    lark = Lark(
        grammar, parser="lalr", lexer="basic", start=START, maybe_placeholders=True, keep_all_tokens=True
    )
    conf = lark.parse_interactive("").parser_state.parse_conf
    rules = {id(rule): number for number, rule in enumerate(lark.rules)}
    numbers = {state: number for number, state in enumerate(conf.states)}
    productions = [_production(rule) for rule in lark.rules]
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for state in conf.states.values():
        actions.append({})
        gotos.append({})
        for name, (action, argument) in state.items():
            symbol = intern(str(name))
            if action is not Shift:
                actions[-1][symbol] = ~rules[id(argument)]
            elif symbol.isupper() or symbol == END:
                actions[-1][symbol] = numbers[argument]
            else:
                gotos[-1][symbol] = numbers[argument]
    fixed = {
        str(term.name): term.pattern.value for term in lark.terminals if isinstance(term.pattern, PatternStr)
    }
    operators = {text: name for name, text in fixed.items() if not text.isidentifier()}
    return Table(
        actions=tuple(actions),
        gotos=tuple(gotos),
        productions=tuple(productions),
        entry=tuple(state.get("HOLE", -1) >= 0 for state in actions),
        start=numbers[conf.start_state],
        end=numbers[conf.end_state],
        keywords={text: name for name, text in fixed.items() if text.isidentifier()},
        operators=operators,
        spellings=fixed,
        pattern=_pattern(operators, {term.name: term.pattern.to_regexp() for term in lark.terminals}),
    )


def _production(rule: object) -> Production:
    """One of Lark's rules in our form."""
    options, alias = rule.options, rule.alias  # type: ignore[attr-defined]
    origin, size = intern(str(rule.origin.name)), len(rule.expansion)  # type: ignore[attr-defined]
    stands_for_itself = options.expand1 and alias is None and size == 1
    absent = tuple(place for place, empty in enumerate(options.empty_indices) if empty)
    return Production(origin, size, None if stands_for_itself else f"make_{alias or origin}", absent)


def _pattern(operators: dict[str, str], patterns: dict[str, str]) -> re.Pattern[str]:
    """One pattern for all that stands outside strings, longest sign first; groups are terminals."""
    signs = sorted(operators, key=lambda sign: (-len(sign), sign))
    parts = [
        r"(?P<newline>\n)",
        r"(?P<comment>\#[^\n]*)",
        f"(?P<foreign>{FOREIGN})",
        *(f"(?P<{name}>{patterns[name]})" for name in ("NAME", "DURATION", "NUMBER")),
        r"(?P<odd_number>[0-9][\w-]*(?:\.[0-9]\w*)?)",
        r'(?P<quote>"(?:"")?)',
        f"(?P<sign>{'|'.join(re.escape(sign) for sign in signs)})",
        r"(?P<other>[^ \t])",
    ]
    return re.compile(rf"[ \t]*(?:{'|'.join(parts)})")
