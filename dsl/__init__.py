"""Text to syntax tree; imports nothing of ours and does no IO. The files in reading order:

syntax — the frozen tree with spans, one class per construct
diagnostics — a mistake as a value
codes — every code once, and the one way to report
source — a named text, and the way from offsets to lines and columns
spelling — names near to a wrong one
snippets — draws a diagnostic with carets
grammar.lark — the language as one LALR(1) grammar
tables — the grammar worked out by Lark, laid out for a fast loop
lexer — text to tokens: strings cut at interpolations, newlines that count
strings — escapes, margins and `$${`
comments — documentation and silences
expressions — builders for names, expressions and types
workflows — builders for workflows and the other items
scenarios — builders for scenarios; the set of builders is whole
parser — text to tree and diagnostics
"""

from windtunnel.dsl.codes import CODES, report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Label, Place, Severity
from windtunnel.dsl.parser import Parsed, parse
from windtunnel.dsl.snippets import concise, render
from windtunnel.dsl.source import Source, normalise, read_source
from windtunnel.dsl.spelling import nearest, suggestion

__all__ = [
    "CODES",
    "Applicability",
    "Diagnostic",
    "Edit",
    "Fix",
    "Label",
    "Parsed",
    "Place",
    "Severity",
    "Source",
    "concise",
    "nearest",
    "normalise",
    "parse",
    "read_source",
    "render",
    "report",
    "suggestion",
]
