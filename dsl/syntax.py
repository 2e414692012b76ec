"""The syntax tree: frozen data with spans, one class per construct of the language.

Every node carries a `Span` of code points into the text of its file. The tree says what was written, not what
it means: names are unresolved, clauses stand in source order, and a clause that a node kind does not know is
kept so that the compiler can name it. Later passes keep side tables; nobody writes into a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range of code points, counted from 0 in the normalised text of one file."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span that begins with this one and ends with `other`."""
        return Span(self.start, max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier where it stands."""

    text: str
    span: Span


# --- expressions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """`3`, `0.5`, `true`, `false`, `null`. Text is `Text`, a duration is `Duration`."""

    value: int | float | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Duration:
    """`250ms`, `30s`, `15m`, `2h`, `1d`, as whole milliseconds; `unit` is the one that was written."""

    milliseconds: int
    unit: OneOf["ms", "s", "m", "h", "d"]
    span: Span


@dataclass(frozen=True, slots=True)
class Text:
    """A string: literal pieces and interpolated expressions in order; `multiline` for the triple-quoted form.

    Literal pieces are decoded (escapes resolved, triple-quoted text dedented). `Text((), …)` is the empty
    string.
    """

    parts: tuple[str | Expr, ...]
    multiline: bool
    span: Span

    @property
    def constant(self) -> str | None:
        """The value when nothing is interpolated, else None."""
        if all(isinstance(part, str) for part in self.parts):
            return "".join(part for part in self.parts if isinstance(part, str))
        return None


@dataclass(frozen=True, slots=True)
class Ref:
    """A bare name: `input`, `output`, a node, a mount, a `let`, a parameter or a comprehension variable."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Field:
    """`target.name`, or `target?.name` when `optional`."""

    target: Expr
    name: Name
    optional: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Index:
    """`target[index]`."""

    target: Expr
    index: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`; `template` when written `template name(arguments)`."""

    function: Name
    arguments: tuple[Expr, ...]
    template: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`not x` or `-x`."""

    operator: OneOf["not", "-"]
    operand: Expr
    span: Span


BinaryOperator: TypeAlias = OneOf[
    "==", "!=", "<", "<=", ">", ">=", "and", "or", "+", "-", "*", "/", "%", "in", "??"
]


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`."""

    operator: BinaryOperator
    left: Expr
    right: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    """`if condition then consequent else alternative`."""

    condition: Expr
    consequent: Expr
    alternative: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Spread:
    """`...value` inside a record or a list."""

    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """`key: value`, `key?: value` (left out when null), or the shorthand `{key}` for `Ref(key)`."""

    key: Name
    optional: bool
    value: Expr
    shorthand: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Record:
    """`{ a: 1, b?: x, c, ...rest }`."""

    entries: tuple[Entry | Spread, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ListExpr:
    """`[a, ...rest]`."""

    items: tuple[Expr | Spread, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`[item for variable in source if condition]`."""

    item: Expr
    variable: Name
    source: Expr
    condition: Expr | None
    span: Span


Expr: TypeAlias = (
    Literal
    | Duration
    | Text
    | Ref
    | Field
    | Index
    | Call
    | Unary
    | Binary
    | If
    | Record
    | ListExpr
    | Comprehension
)


# --- types --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bounds:
    """`low..high` with either end open; both inclusive."""

    low: int | float | None
    high: int | float | None
    span: Span


@dataclass(frozen=True, slots=True)
class NamedType:
    """`text`, `text(1..64, "pattern")`, `json(..50_000)`, or the name of a declared or imported type."""

    name: Name
    bounds: Bounds | None
    pattern: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class LiteralType:
    """`"ready"`, `3`, `true`, `null` as a type."""

    value: str | int | float | bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class ListType:
    """`[T]` or `[T; 2..4]`."""

    item: TypeExpr
    bounds: Bounds | None
    span: Span


@dataclass(frozen=True, slots=True)
class MapType:
    """`{ [text]: T; ..32 }`."""

    key: TypeExpr
    value: TypeExpr
    bounds: Bounds | None
    span: Span


@dataclass(frozen=True, slots=True)
class FieldType:
    """One field of a record type; `?` (optional) and `= default` exclude each other."""

    name: Name
    type: TypeExpr
    optional: bool
    default: Expr | None
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class RecordType:
    """`{ a: T, b?: T, c: T = default }`, closed."""

    fields: tuple[FieldType, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class UnionType:
    """`A | B | …` with two or more members."""

    members: tuple[TypeExpr, ...]
    span: Span


TypeExpr: TypeAlias = NamedType | LiteralType | ListType | MapType | RecordType | UnionType


# --- clauses of nodes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AssistantOutput:
    """`expectedOutput assistant`, with `{ maxChars e }` when a limit is set."""

    max_chars: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Let:
    """`let name = value`."""

    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Require:
    """`require condition [when premise] else message`."""

    condition: Expr
    premise: Expr | None
    message: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Validate:
    """The block after `validate`, in source order."""

    items: tuple[Let | Require, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PromptFile:
    """`prompt file "x.md"`; the path is relative to the file that says so."""

    path: Text
    span: Span


@dataclass(frozen=True, slots=True)
class CallEffect:
    """`call "name" with argument`."""

    action: Text
    argument: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word as a clause value: `progress`, `none`; empty for a clause that is only its keyword."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Ask:
    """`asks name: type "prompt"` of a choice."""

    name: Name
    type: TypeExpr
    prompt: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Choice:
    """`id "Label" [asks …]`, one line of `choices`."""

    name: Name
    label: Expr | None
    ask: Ask | None
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Choices:
    """The block after `choices`."""

    items: tuple[Choice, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class After:
    """`after delay choose choice [when premise]`."""

    delay: Expr
    choice: Name
    premise: Expr | None
    span: Span


ClauseValue: TypeAlias = (
    Expr | TypeExpr | AssistantOutput | Validate | PromptFile | CallEffect | Word | Choices | After
)


@dataclass(frozen=True, slots=True)
class Clause:
    """`keyword value` of a node; `span` covers both, `keyword.span` the word alone.

    The value's class follows the keyword: `expectedOutput`, `returns`, `answer` hold a `TypeExpr` (or
    `AssistantOutput`); `validate` a `Validate`; `choices` a `Choices`; `after` an `After`; `call` a
    `CallEffect`; `kind` a `Word`; `tools` a `Word` or a list expression; `timeout none` a `Word`;
    `allowNonZeroExit` a `Word` with empty text or an expression; every other keyword an expression.
    """

    keyword: Name
    value: ClauseValue
    span: Span


@dataclass(frozen=True, slots=True)
class Node:
    """`agent`, `action`, `shell`, `notify`, `checkpoint` or `decision` with its clauses."""

    kind: OneOf["agent", "action", "shell", "notify", "checkpoint", "decision"]
    name: Name
    label: Expr | None
    clauses: tuple[Clause, ...]
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Compute:
    """`compute name = value`."""

    name: Name
    value: Expr
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Include:
    """`include mount ["label"] = workflow { input }`."""

    name: Name
    label: Expr | None
    workflow: Name
    input: Record
    doc: str | None
    span: Span


NodeDecl: TypeAlias = Node | Compute | Include


# --- edges --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`node`, `mount.exit`, `decision.choice`, or `start` (as the head of a line)."""

    node: Name
    way: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class ExitEnd:
    """`exit name`."""

    name: Name
    span: Span


Target: TypeAlias = Endpoint | ExitEnd


@dataclass(frozen=True, slots=True)
class Limit:
    """`limit count then -> target`; counts the arrow it stands behind."""

    count: Expr
    then: Target
    span: Span


@dataclass(frozen=True, slots=True)
class Arm:
    """One line of a match: patterns (none for `else`) and the chain that follows."""

    patterns: tuple[LiteralType, ...]
    chain: tuple[Target, ...]
    limit: Limit | None
    span: Span

    @property
    def is_else(self) -> bool:
        """Whether this arm takes every case the others leave."""
        return not self.patterns


@dataclass(frozen=True, slots=True)
class Match:
    """`match .path { … }` on the source's output, or `match expr { … }` on another value (`own` tells which).

    With `own`, `subject` is the chain of fields over `Ref("output")`, which stands for the source's output.
    """

    subject: Expr
    own: bool
    arms: tuple[Arm, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """One line of `edges`.

    `heads` has several entries only for failure routes (`a, b on failed -> c`), which have `outcomes`.
    `chain` are the targets in order; a match may only come last. The limit belongs to the last arrow.
    """

    heads: tuple[Endpoint, ...]
    outcomes: tuple[Name, ...]
    chain: tuple[Target, ...]
    match: Match | None
    limit: Limit | None
    span: Span


# --- top level ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImportName:
    """`name` or `name as alias`."""

    name: Name
    alias: Name | None

    @property
    def local(self) -> Name:
        """The name it goes by in this file."""
        return self.alias or self.name


@dataclass(frozen=True, slots=True)
class Import:
    """`import a, b as c from "path"`, `import x contract "…"`, or both."""

    names: tuple[ImportName, ...]
    path: Text | None
    contract: Text | None
    span: Span


@dataclass(frozen=True, slots=True)
class TypeDecl:
    """`type Name = type`."""

    name: Name
    type: TypeExpr
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    """`name: type` of a template."""

    name: Name
    type: TypeExpr
    span: Span


@dataclass(frozen=True, slots=True)
class TemplateDecl:
    """`template name(parameters) = text`: a shared part of prompts."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: Expr
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class ExitDecl:
    """`name: type` inside `exits`."""

    name: Name
    type: TypeExpr
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Setting:
    """`revision 2`, `title "…"`, `contract "…"`, `maxSteps 12`, `budget turns 18`, `presentation …`.

    For `budget` the keyword's text is `budget turns`.
    """

    keyword: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Block:
    """Where a block stands, from its keyword to its `}`: `input`, `exits`, `edges`, `provider`, …"""

    keyword: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow. Repeated settings or blocks are all kept, so that the compiler can point at each.

    `blocks` are the `input`, `exits` and `edges` blocks in source order; the n-th of a kind is the n-th entry
    there.
    """

    name: Name
    settings: tuple[Setting, ...]
    inputs: tuple[RecordType, ...]
    exits: tuple[tuple[ExitDecl, ...], ...]
    lets: tuple[Let, ...]
    nodes: tuple[NodeDecl, ...]
    edges: tuple[tuple[EdgeLine, ...], ...]
    doc: str | None
    span: Span
    blocks: tuple[Block, ...] = ()


# --- scenarios ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodePath:
    """`summary/summarize`, standing bare."""

    parts: tuple[Name, ...]
    span: Span

    @property
    def text(self) -> str:
        """The qualified id."""
        return "/".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Act:
    """One act of a provider: `verb argument`, e.g. `says "…"`, `calls read({…})` (then `tool` is set)."""

    verb: Name
    tool: Name | None
    argument: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class ProviderLine:
    """`node [visit n] act, act then act`: turns of acts."""

    node: NodePath
    visit: int | None
    turns: tuple[tuple[Act, ...], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class EventRef:
    """`event [of node] [visit n]`."""

    event: Name
    node: NodePath | None
    visit: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class Moment:
    """`at duration`, or `after|before|during event …`; `every` when nothing was said."""

    relation: OneOf["at", "after", "before", "during"]
    at: Expr | None
    event: EventRef | None
    span: Span


@dataclass(frozen=True, slots=True)
class PersonLine:
    """`verb [node] [with choice] [argument] [moment]`, e.g. `answers approve with rewrite {…} after …`."""

    verb: Name
    node: NodePath | None
    choice: Name | None
    argument: Expr | None
    moment: Moment | None
    span: Span


@dataclass(frozen=True, slots=True)
class FaultLine:
    """`kind [process] [moment] [for duration]`, e.g. `crash host after message_end of a/b for 5s`."""

    kind: Name
    process: Name | None
    event: EventRef | None
    moment: Moment | None
    duration: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Expect:
    """`expect condition`, `expect always …`, `expect eventually …`, or `expect a -> b` (`order` is set)."""

    mode: OneOf["end", "always", "eventually", "order"]
    condition: Expr | None
    order: tuple[NodePath, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Scenario:
    """`scenario "title" for workflow { … }`; `blocks` are all its parts but the expectations."""

    title: Text
    workflow: Name
    input: Record | None
    host: tuple[Word, ...]
    provider: tuple[ProviderLine, ...]
    has_provider: bool
    person: tuple[PersonLine, ...]
    faults: tuple[FaultLine, ...]
    expects: tuple[Expect, ...]
    doc: str | None
    span: Span
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Allow:
    """`# allow(WT0309): reason`; it silences that code on the next line that holds code."""

    code: str
    reason: str
    line: int
    span: Span


Item: TypeAlias = Import | TypeDecl | TemplateDecl | Workflow | Scenario


@dataclass(frozen=True, slots=True)
class File:
    """One file: items in source order; `language` is the number of the header, None when it is missing."""

    language: int | None
    items: tuple[Item, ...]
    allows: tuple[Allow, ...]
    span: Span

    @property
    def imports(self) -> tuple[Import, ...]:
        """The import lines."""
        return tuple(item for item in self.items if isinstance(item, Import))

    @property
    def types(self) -> tuple[TypeDecl, ...]:
        """The declared types."""
        return tuple(item for item in self.items if isinstance(item, TypeDecl))

    @property
    def templates(self) -> tuple[TemplateDecl, ...]:
        """The declared templates."""
        return tuple(item for item in self.items if isinstance(item, TemplateDecl))

    @property
    def workflows(self) -> tuple[Workflow, ...]:
        """The workflows."""
        return tuple(item for item in self.items if isinstance(item, Workflow))

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The scenarios."""
        return tuple(item for item in self.items if isinstance(item, Scenario))


def children(expr: Expr) -> Iterator[Expr]:
    """The direct sub-expressions of `expr`, in source order."""
    match expr:
        case Literal() | Duration() | Ref():
            return
        case Text():
            yield from (part for part in expr.parts if not isinstance(part, str))
        case Field():
            yield expr.target
        case Index():
            yield expr.target
            yield expr.index
        case Call():
            yield from expr.arguments
        case Unary():
            yield expr.operand
        case Binary():
            yield expr.left
            yield expr.right
        case If():
            yield expr.condition
            yield expr.consequent
            yield expr.alternative
        case Record():
            yield from (entry.value for entry in expr.entries)
        case ListExpr():
            yield from (item.value if isinstance(item, Spread) else item for item in expr.items)
        case Comprehension():
            yield expr.source
            yield expr.item
            if expr.condition is not None:
                yield expr.condition


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything below it, outermost first; iterative, so depth costs no stack."""
    stack = [expr]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(list(children(top))))
