"""The snapshot: what a workflow compiles to, as frozen pydantic models with one JSON form.

A snapshot alone can be simulated, drawn and diffed. It holds everything that changes behaviour and nothing
else; the order of declarations, comments, layout and file paths leave no mark on it. Expressions are stored
in the form that `expression` documents, types in the form of `TypeModel`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

SCHEMA = "windtunnel.snapshot.v1"


class Model(BaseModel):
    """Frozen, closed, camelCase in JSON; absent fields are not written (`exclude_none` by alias)."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)


# --- types --------------------------------------------------------------------------------------------------


class TextType(Model):
    """Text of `min..max` code points; `pattern` must match the whole text."""

    kind: Literal["text"] = "text"
    min: int | None = None
    max: int | None = None
    pattern: str | None = None


class IntType(Model):
    """A whole number in `min..max`."""

    kind: Literal["int"] = "int"
    min: int | None = None
    max: int | None = None


class NumberType(Model):
    """Any JSON number in `min..max`; every int is one."""

    kind: Literal["number"] = "number"
    min: float | None = None
    max: float | None = None


class SimpleType(Model):
    """`bool`, `null`, or `duration` (whole milliseconds)."""

    kind: Literal["bool", "null", "duration"]


class JsonType(Model):
    """Any JSON value whose canonical form has at most `max` characters."""

    kind: Literal["json"] = "json"
    max: int | None = None


class LiteralValueType(Model):
    """Exactly one scalar."""

    kind: Literal["literal"] = "literal"
    value: str | int | float | bool


class UnionTypeModel(Model):
    """One of the members, sorted by their canonical JSON."""

    kind: Literal["union"] = "union"
    members: tuple[TypeModel, ...]


class ListTypeModel(Model):
    """A list of `min..max` items."""

    kind: Literal["list"] = "list"
    item: TypeModel
    min: int | None = None
    max: int | None = None


class MapTypeModel(Model):
    """An object of `min..max` entries with free keys."""

    kind: Literal["map"] = "map"
    key: TypeModel
    value: TypeModel
    min: int | None = None
    max: int | None = None


class FieldModel(Model):
    """One field. `optional` may be left out or null; a `default` (any JSON value) is filled in on
    acceptance.
    """

    type: TypeModel
    optional: bool = False
    has_default: bool = False
    default: JsonValue = None


class RecordTypeModel(Model):
    """A closed record."""

    kind: Literal["record"] = "record"
    fields: dict[str, FieldModel]


class RefType(Model):
    """A recursive type, by its key in `Snapshot.types`."""

    kind: Literal["ref"] = "ref"
    name: str


TypeModel: TypeAlias = Annotated[
    TextType
    | IntType
    | NumberType
    | SimpleType
    | JsonType
    | LiteralValueType
    | UnionTypeModel
    | ListTypeModel
    | MapTypeModel
    | RecordTypeModel
    | RefType,
    Field(discriminator="kind"),
]

if TYPE_CHECKING:
    Expression: TypeAlias = list[JsonValue]
else:
    # Reading a snapshot compiles every expression; to look at each item as well would cost seconds.
    Expression = list[Any]
"""An expression in the list form of `expression`, e.g. `["field", ["input", ""], "topic", false]`."""


# --- nodes --------------------------------------------------------------------------------------------------


class Digests(Model):
    """Each `sha256:` + hex over canonical JSON."""

    shape: str
    behaviour: str
    presentation: str


class SubmittedOutput(Model):
    """The agent finishes by a submission of this type."""

    kind: Literal["submission"] = "submission"
    type: TypeModel


class AssistantMessage(Model):
    """The agent finishes by its visible answer; `maxChars` is an int where it could be folded, absent when
    unset.
    """

    kind: Literal["assistant-message"] = "assistant-message"
    max_chars: int | Expression | None = None


class LetStep(Model):
    """`let name = value` in a validate block."""

    let: str
    value: Expression


class RequireStep(Model):
    """`require condition when premise else message`."""

    require: Expression
    when: Expression | None = None
    message: Expression


class NodeModel(Model):
    """What all nodes share. `timeoutMs` null means no wall-clock deadline; `label` is presentation."""

    label: Expression | None = None
    digests: Digests | None = None


class AgentNode(NodeModel):
    """A turn of the model."""

    node_type: Literal["agent"] = "agent"
    prompt: Expression
    expected_output: Annotated[SubmittedOutput | AssistantMessage, Field(discriminator="kind")]
    validate_steps: tuple[LetStep | RequireStep, ...] = Field(
        default=(), validation_alias="validate", serialization_alias="validate"
    )
    examples: tuple[Expression, ...] = ()
    tools: Literal["none", "any"] | tuple[str, ...] = "any"
    model: str | None = None
    timeout_ms: int | Expression | Literal["none"]
    nudges: int | None = None


class ComputeNode(NodeModel):
    """A pure value."""

    node_type: Literal["compute"] = "compute"
    value: Expression


class ActionNode(NodeModel):
    """An effect outside: `call(argument)` returns `returns`."""

    node_type: Literal["action"] = "action"
    call: str
    argument: Expression | None = None
    returns: TypeModel
    idempotency_key: Expression | None = None
    timeout_ms: int | Expression | Literal["none"]


class ShellNode(NodeModel):
    """A command; with `returns` its standard output is JSON of that type."""

    node_type: Literal["shell"] = "shell"
    run: Expression
    cwd: Expression | None = None
    env: Expression | None = None
    stdin: Expression | None = None
    allow_non_zero_exit: bool = False
    returns: TypeModel | None = None
    idempotency_key: Expression | None = None
    timeout_ms: int | Expression | Literal["none"]


class NotifyNode(NodeModel):
    """A message to the origin session."""

    node_type: Literal["notify"] = "notify"
    kind: Literal["progress", "final"]
    message: Expression


class CheckpointNode(NodeModel):
    """Waits for a person's answer."""

    node_type: Literal["checkpoint"] = "checkpoint"
    show: Expression
    answer: TypeModel


class ChoiceModel(Model):
    """One choice of a decision; `asks` is the input it needs."""

    label: Expression | None = None
    asks: str | None = None
    type: TypeModel | None = None
    prompt: Expression | None = None


class AfterModel(Model):
    """The default after a delay, when the premise holds at the time of asking."""

    delay_ms: Expression
    choose: str
    when: Expression | None = None


class DecisionNode(NodeModel):
    """A person's choice."""

    node_type: Literal["decision"] = "decision"
    audience: Expression | None = None
    title: Expression
    subject: Expression | None = None
    show: Expression | None = None
    choices: dict[str, ChoiceModel]
    after: AfterModel | None = None
    expires_ms: Expression | None = None


SnapshotNode: TypeAlias = Annotated[
    AgentNode | ComputeNode | ActionNode | ShellNode | NotifyNode | CheckpointNode | DecisionNode,
    Field(discriminator="node_type"),
]


# --- edges --------------------------------------------------------------------------------------------------


class TargetModel(Model):
    """Exactly one of: a node or mount by qualified id, or an exit of the workflow that writes the edge."""

    node: str | None = None
    exit: str | None = None


class LimitModel(Model):
    """After `count` committed transitions of this arrow in the current invocation of `scope`, go to `then`.

    Arrows that were written as one share a count: `counter` is the key it goes by, absent for the arm's own
    key.
    """

    count: int | Expression
    then: TargetModel
    counter: str | None = None


class ArmModel(Model):
    """One way on. `cases` are the scalars it takes; None for `else` and for an edge without a match.

    `key` names the arrow for counters and coverage; it is unique in the snapshot and independent of source
    order.
    """

    key: str
    cases: tuple[str | int | float | bool | None, ...] | None = None
    to: TargetModel
    limit: LimitModel | None = None


class EdgeModel(Model):
    """All that can follow one end of one node.

    `scope` is the mount path of the workflow that writes the edge ("" is the root); `source` a qualified
    node id, a mount path, or `start` (of the scope); `way` a mount's exit or a decision's choice; `on` the
    outcome it serves. Without `subject` there is one arm.
    """

    scope: str
    source: str = Field(validation_alias="from", serialization_alias="from")
    way: str | None = None
    on: Literal["ok", "failed", "timed_out"] = "ok"
    subject: Expression | None = None
    arms: tuple[ArmModel, ...]


# --- the whole ----------------------------------------------------------------------------------------------


class MountModel(Model):
    """One include, mounted: `input` is evaluated in the parent's scope at each entry."""

    workflow: str
    revision: int
    contract: str | None = None
    label: Expression | None = None
    input: Expression
    input_type: RecordTypeModel
    max_steps: int | Expression
    start_at: str
    exits: dict[str, TypeModel]
    digests: Digests | None = None


class Composition(Model):
    """Mounts by mount path (`summary`, `repair/design`)."""

    mounts: dict[str, MountModel] = {}


class SourceModel(Model):
    """One source file: its hash and where its workflows are mounted. Outside the digests."""

    sha256: str
    mounts: tuple[str, ...]


class Snapshot(Model):
    """A compiled workflow. `digest` is the behaviour digest; `startAt` a qualified node id or mount path.

    `lets` are keyed `mount/name` (`name` at the root). `sources` are keyed by the name the file was read
    under, relative to the root file with `/`, or `builtin:NAME`; they and the digests are outside the
    digests.
    """

    schema_: Literal["windtunnel.snapshot.v1"] = Field(
        default="windtunnel.snapshot.v1", validation_alias="schema", serialization_alias="schema"
    )
    workflow: str
    revision: int
    contract: str | None = None
    digest: str
    digests: Digests
    title: Expression | None = None
    presentation: Expression | None = None
    input: RecordTypeModel
    exits: dict[str, TypeModel]
    max_steps: int | Expression
    budget_turns: int | None = None
    start_at: str
    nodes: dict[str, SnapshotNode]
    edges: tuple[EdgeModel, ...]
    lets: dict[str, Expression] = {}
    types: dict[str, TypeModel] = {}
    composition: Composition = Composition()
    sources: dict[str, SourceModel] = {}


for _model in (UnionTypeModel, ListTypeModel, MapTypeModel, FieldModel, RecordTypeModel, SubmittedOutput):
    _model.model_rebuild()
