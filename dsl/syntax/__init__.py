"""The syntax tree: frozen data with spans, one class per construct of the language.

Every node carries a `Span` of code points into the text of its file. The tree says what was written, not what
it means: names are unresolved, clauses stand in source order, and a clause that a node kind does not know is
kept so that the compiler can name it. Later passes keep side tables; nobody writes into a tree.

The files in reading order:

spans — where something stands, and a word that stands there
expressions — values as they are written
types — types as they are written
nodes — clauses and nodes
edges — the lines of `edges`
workflows — workflows and what stands beside them in a file
scenarios — what models, people and the world do, and what must hold
files — a file as a whole
walking — expressions and what is below them
"""

from windtunnel.dsl.syntax.edges import Arm, EdgeLine, Endpoint, ExitEnd, Limit, Match, Target
from windtunnel.dsl.syntax.expressions import (
    Binary,
    BinaryOperator,
    Call,
    Comprehension,
    Duration,
    Entry,
    Expr,
    Field,
    If,
    Index,
    ListExpr,
    Literal,
    Record,
    Ref,
    Spread,
    Text,
    Unary,
)
from windtunnel.dsl.syntax.files import Allow, File, Item
from windtunnel.dsl.syntax.nodes import (
    After,
    Ask,
    AssistantOutput,
    CallEffect,
    Choice,
    Choices,
    Clause,
    ClauseValue,
    Compute,
    Include,
    Let,
    Node,
    NodeDecl,
    PromptFile,
    Require,
    Validate,
    Word,
)
from windtunnel.dsl.syntax.scenarios import (
    Act,
    EventRef,
    Expect,
    FaultLine,
    Moment,
    NodePath,
    PersonLine,
    ProviderLine,
    Scenario,
)
from windtunnel.dsl.syntax.spans import Name, Span
from windtunnel.dsl.syntax.types import (
    Bounds,
    FieldType,
    ListType,
    LiteralType,
    MapType,
    NamedType,
    RecordType,
    TypeExpr,
    UnionType,
)
from windtunnel.dsl.syntax.walking import children, walk
from windtunnel.dsl.syntax.workflows import (
    Block,
    ExitDecl,
    Import,
    ImportName,
    Parameter,
    Setting,
    TemplateDecl,
    TypeDecl,
    Workflow,
)

__all__ = [
    "Act",
    "After",
    "Allow",
    "Arm",
    "Ask",
    "AssistantOutput",
    "Binary",
    "BinaryOperator",
    "Block",
    "Bounds",
    "Call",
    "CallEffect",
    "Choice",
    "Choices",
    "Clause",
    "ClauseValue",
    "Comprehension",
    "Compute",
    "Duration",
    "EdgeLine",
    "Endpoint",
    "Entry",
    "EventRef",
    "ExitDecl",
    "ExitEnd",
    "Expect",
    "Expr",
    "FaultLine",
    "Field",
    "FieldType",
    "File",
    "If",
    "Import",
    "ImportName",
    "Include",
    "Index",
    "Item",
    "Let",
    "Limit",
    "ListExpr",
    "ListType",
    "Literal",
    "LiteralType",
    "MapType",
    "Match",
    "Moment",
    "Name",
    "NamedType",
    "Node",
    "NodeDecl",
    "NodePath",
    "Parameter",
    "PersonLine",
    "PromptFile",
    "ProviderLine",
    "Record",
    "RecordType",
    "Ref",
    "Require",
    "Scenario",
    "Setting",
    "Span",
    "Spread",
    "Target",
    "TemplateDecl",
    "Text",
    "TypeDecl",
    "TypeExpr",
    "Unary",
    "UnionType",
    "Validate",
    "Word",
    "Workflow",
    "children",
    "walk",
]
