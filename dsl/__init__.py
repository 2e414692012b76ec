"""Text to syntax tree; imports nothing of ours and does no IO. The files in reading order:

syntax/ — the frozen tree with spans, one class per construct
diagnostics — a mistake as a value
codes — every code once, and the one way to report
source — a named text, and the way from offsets to lines and columns
spelling — names near to a wrong one
snippets — draws a diagnostic with carets
grammar.lark — the language as one LALR(1) grammar
collecting — no garbage collection while trees grow
tokens — tokens and comments as data, and which newlines count
foreign — spellings of other languages, odd characters, words that are no names
tables — the grammar worked out by Lark, laid out for a fast loop
fences — code that was pasted with the Markdown around it
openstrings — where a string ends that lacks its end
lexer — text to tokens: strings cut at interpolations, what is unterminated ended
strings — escapes, margins and `$${`, both ways
comments — documentation and silences
expressions — builders for names, expressions and types
workflows — builders for workflows and the other items
scenarios — builders for scenarios; the set of builders is whole
brackets — pairs brackets that do not pair, by indentation
machine — walks the tables: shifts, reduces, marks where entries begin
expected — what could stand here, in words
repairs — changes that may mend a syntax error, and what each says
recovery — goes on after an error with the repair that reads furthest
parser — text to tree and diagnostics
layout — documents that know where they may break
margins — comments handed out to the entries they belong to
printing — expressions and types as documents
formatter — canonical text
"""

from windtunnel.dsl.codes import CODES, report
from windtunnel.dsl.diagnostics import Applicability, Diagnostic, Edit, Fix, Label, Place, Severity
from windtunnel.dsl.formatter import format_file, format_parsed, format_tree
from windtunnel.dsl.parser import LANGUAGE, Parsed, parse
from windtunnel.dsl.snippets import concise, render
from windtunnel.dsl.source import Source, normalise, read_source
from windtunnel.dsl.spelling import nearest, suggestion

__all__ = [
    "CODES",
    "LANGUAGE",
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
    "format_file",
    "format_parsed",
    "format_tree",
    "nearest",
    "normalise",
    "parse",
    "read_source",
    "render",
    "report",
    "suggestion",
]
