"""Every name to its declaration: what each file and each workflow knows by name.

A `Scope` belongs to one workflow and answers `lookup(name)`; a `FileScope` holds the types, workflows and
templates of one file. `Program` has the scopes of all workflows, included ones before those that include
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final, TypeAlias, TypeVar

from windtunnel.compiler.findings import Findings
from windtunnel.compiler.modules import Module, Modules
from windtunnel.compiler.sites import parts_of
from windtunnel.compiler.types import RecordShape, Shape
from windtunnel.compiler.typescope import TypeScope
from windtunnel.dsl.diagnostics import Diagnostic
from windtunnel.dsl.syntax import (
    Choices,
    Compute,
    ExitDecl,
    ExitEnd,
    Expr,
    Import,
    ImportName,
    Include,
    Let,
    Name,
    Node,
    NodeDecl,
    RecordType,
    Setting,
    Span,
    TemplateDecl,
    TypeDecl,
    Workflow,
)

SPECIAL: Final = ("input", "output")
"""Names that mean something of their own in every expression."""

TAKEN_CHOICES: Final = ("choice", "provenance", "input", "exit")
"""Fields of a decision's output, which a choice of that name would hide."""


class Kind(StrEnum):
    """What a name of a workflow stands for."""

    AGENT = "agent"
    COMPUTE = "compute"
    ACTION = "action"
    SHELL = "shell"
    NOTIFY = "notify"
    CHECKPOINT = "checkpoint"
    DECISION = "decision"
    INCLUDE = "include"
    LET = "let"


@dataclass(frozen=True, slots=True, order=True)
class WorkflowId:
    """A workflow by the file that declares it and its name there."""

    module: str
    name: str


@dataclass(frozen=True)
class Declaration:
    """One name of a workflow. `child` is set for an include whose workflow was found."""

    name: str
    kind: Kind
    tree: NodeDecl | Let
    child: WorkflowId | None = None

    @property
    def is_node(self) -> bool:
        """Whether it stands in the graph."""
        return self.kind is not Kind.LET

    @cached_property
    def parts(self) -> tuple[Expr, ...]:
        """Every expression in it and all below, outermost first."""
        return parts_of(self.tree)

    @property
    def choices(self) -> Choices | None:
        """The choices of a decision, when it has the clause."""
        if not isinstance(self.tree, Node):
            return None
        for clause in self.tree.clauses:
            if isinstance(clause.value, Choices):
                return clause.value
        return None


@dataclass(frozen=True, slots=True)
class Template:
    """A shared part of prompts: its declaration, the file that holds it, and the shapes of its parameters."""

    module: str
    tree: TemplateDecl
    parameters: tuple[Shape, ...]


@dataclass(slots=True)
class FileScope:
    """What one file knows by name. `declared` holds what it may give to others."""

    module: Module
    findings: Findings
    types: TypeScope
    workflows: dict[str, WorkflowId] = field(default_factory=dict)
    templates: dict[str, Template] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    """Names of workflows, templates and imports that something in the file asked for."""


@dataclass(frozen=True)
class Scope:
    """The names of one workflow. `exits` are the declared ones, None when they are inferred."""

    id: WorkflowId
    file: FileScope
    workflow: Workflow
    declarations: Mapping[str, Declaration]
    input: RecordShape
    exits: Mapping[str, Shape] | None
    exit_names: tuple[str, ...]
    """Declared exits in source order, or every exit that an edge enters."""

    def lookup(self, name: str) -> Declaration | None:
        """The declaration of a node, a mount or a `let`."""
        return self.declarations.get(name)

    @cached_property
    def nodes(self) -> tuple[Declaration, ...]:
        """The declarations that stand in the graph, in source order."""
        return tuple(declaration for declaration in self.declarations.values() if declaration.is_node)

    @cached_property
    def includes(self) -> tuple[Declaration, ...]:
        """The mounts, in source order."""
        return tuple(d for d in self.declarations.values() if d.kind is Kind.INCLUDE)

    @property
    def has_hole(self) -> bool:
        """Whether some of the workflow's text was skipped after an error, so that parts may be missing."""
        return self.file.module.has_hole(self.workflow.span)

    @cached_property
    def lets(self) -> tuple[Declaration, ...]:
        """The `let`s in source order."""
        return tuple(declaration for declaration in self.declarations.values() if not declaration.is_node)

    def setting(self, keyword: str) -> Setting | None:
        """The first setting of that keyword."""
        return next((s for s in self.workflow.settings if s.keyword.text == keyword), None)


@dataclass(frozen=True, slots=True)
class Program:
    """All files and workflows with their names resolved; `scopes` in an order where children come first."""

    modules: Modules
    files: Mapping[str, FileScope]
    scopes: Mapping[WorkflowId, Scope]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def root(self) -> tuple[WorkflowId, ...]:
        """The workflows of the root file, in source order."""
        return tuple(scope_id for scope_id in self.scopes if scope_id.module == self.modules.root)

    def child(self, declaration: Declaration) -> Scope | None:
        """The scope of an include's workflow."""
        return None if declaration.child is None else self.scopes.get(declaration.child)


Exported: TypeAlias = TypeDecl | TemplateDecl | Workflow
Item = TypeVar("Item", TypeDecl, TemplateDecl, Workflow)


def resolve(modules: Modules) -> Program:
    """Resolve the names that declarations use; names inside expressions are looked up by inference."""
    sink: list[Diagnostic] = []
    files: dict[str, FileScope] = {}
    for module in modules.order:
        files[module.name] = _file_scope(module, files, sink)
    found: dict[WorkflowId, Scope] = {}
    for scope in files.values():
        for workflow in _first_of(scope.module.file.workflows):
            resolved = _scope(WorkflowId(scope.module.name, workflow.name.text), workflow, scope)
            found[resolved.id] = resolved
    for scope in files.values():
        for scenario in scope.module.file.scenarios:
            scope.used.add(scenario.workflow.text)
            if scenario.workflow.text not in scope.workflows:
                _unknown_workflow(scope, scenario.workflow)
    return Program(modules, files, _children_first(found, files), tuple(sink))


# --- files --------------------------------------------------------------------------------------------------


def _file_scope(module: Module, files: Mapping[str, FileScope], sink: list[Diagnostic]) -> FileScope:
    findings = Findings(module.name, sink, module.prompts)
    findings.maybe = module.maybe
    scope = FileScope(module, findings, TypeScope(module.name, {}, findings))
    known: dict[str, Span] = {}
    for line in module.file.imports:
        for imported in line.names:
            if _new(known, imported.local, "imported", findings):
                _import(scope, line, imported, files)
        _check_contract(scope, line, files)
    for item in module.file.items:
        if isinstance(item, TypeDecl | TemplateDecl | Workflow):
            _new(known, item.name, "declared", findings)
    scope.types.declare(module.file.types)
    for template in _first_of(module.file.templates):
        shapes = tuple(scope.types.shape(parameter.type) for parameter in template.parameters)
        scope.templates[template.name.text] = Template(module.name, template, shapes)
    for workflow in _first_of(module.file.workflows):
        scope.workflows[workflow.name.text] = WorkflowId(module.name, workflow.name.text)
    return scope


def _first_of(items: tuple[Item, ...]) -> Iterator[Item]:
    seen: set[str] = set()
    for item in items:
        if item.name.text not in seen:
            seen.add(item.name.text)
            yield item


def _new(known: dict[str, Span], name: Name, verb: str, findings: Findings) -> bool:
    first = known.setdefault(name.text, name.span)
    if first == name.span:
        return True
    findings.add(
        "WT0102",
        f"`{name.text}` is {verb}, but the name is taken",
        name.span,
        secondary=[(first, "first used here")],
    )
    return False


def _import(scope: FileScope, line: Import, imported: ImportName, files: Mapping[str, FileScope]) -> None:
    target_name = scope.module.target(line)
    target = files.get(target_name) if target_name is not None else None
    local = imported.local.text
    if target is None:
        return
    name = imported.name.text
    declared = {item.name.text: item for item in target.module.file.items if isinstance(item, Exported)}
    item = declared.get(name)
    match item:
        case Workflow():
            scope.workflows[local] = WorkflowId(target.module.name, name)
        case TypeDecl():
            scope.types.names[local] = target.types.names[name]
            target.types.used.add(name)
        case TemplateDecl():
            scope.templates[local] = target.templates[name]
        case None if name not in target.findings.maybe:
            scope.findings.add(
                "WT0107",
                f"`{target.module.name}` declares no `{name}`",
                imported.name.span,
                **scope.findings.did_you_mean(imported.name, declared),
            )
    if item is not None:
        target.used.add(name)


def _check_contract(scope: FileScope, line: Import, files: Mapping[str, FileScope]) -> None:
    target_name = scope.module.target(line)
    target = files.get(target_name) if target_name is not None else None
    if line.contract is None or target is None:
        return
    wanted = line.contract.constant
    for imported in line.names:
        workflow = next((w for w in target.module.file.workflows if w.name == imported.name), None) or next(
            (w for w in target.module.file.workflows if w.name.text == imported.name.text), None
        )
        if workflow is None:
            continue
        offered = contract_of(workflow)
        if wanted is None or offered != wanted:
            scope.findings.add(
                "WT0109",
                f"`{imported.name.text}` of `{target.module.name}` has "
                + (f'the contract "{offered}"' if offered is not None else "no contract")
                + (f', not "{wanted}"' if wanted is not None else "; the wanted one is no plain string"),
                line.contract.span,
            )


def contract_of(workflow: Workflow) -> str | None:
    """The contract a workflow says it keeps."""
    setting = next((s for s in workflow.settings if s.keyword.text == "contract"), None)
    value = None if setting is None else getattr(setting.value, "constant", None)
    return value if isinstance(value, str) else None


def _unknown_workflow(scope: FileScope, name: Name) -> None:
    if name.text in scope.types.names:
        scope.findings.add("WT0106", f"`{name.text}` is a type, not a workflow", name.span)
        return
    imported = {i.local.text for line in scope.module.file.imports for i in line.names}
    if name.text in imported or name.text in scope.findings.maybe:
        return  # The import or the text around the declaration has been reported.
    scope.findings.add(
        "WT0106",
        f"there is no workflow `{name.text}`",
        name.span,
        **scope.findings.did_you_mean(name, scope.workflows),
    )


# --- workflows ----------------------------------------------------------------------------------------------


def _scope(scope_id: WorkflowId, workflow: Workflow, file: FileScope) -> Scope:
    declarations: dict[str, Declaration] = {}
    known: dict[str, Span] = {}
    trees: list[NodeDecl | Let] = sorted((*workflow.lets, *workflow.nodes), key=lambda tree: tree.span)
    for tree in trees:
        name = tree.name
        if name.text in SPECIAL:
            file.findings.add("WT0111", f"`{name.text}` has a meaning of its own", name.span)
            file.findings.maybe |= {name.text}
        elif _new(known, name, "declared", file.findings):
            declarations[name.text] = _declaration(tree, file)
    exits = _exits(workflow, file)
    return Scope(
        scope_id,
        file,
        workflow,
        declarations,
        _input(workflow, file),
        exits,
        tuple(exits) if exits is not None else _entered_exits(workflow),
    )


def _declaration(tree: NodeDecl | Let, file: FileScope) -> Declaration:
    match tree:
        case Let():
            return Declaration(tree.name.text, Kind.LET, tree)
        case Compute():
            return Declaration(tree.name.text, Kind.COMPUTE, tree)
        case Node():
            declaration = Declaration(tree.name.text, Kind(tree.kind), tree)
            _check_choices(declaration, file)
            return declaration
        case Include():
            file.used.add(tree.workflow.text)
            child = file.workflows.get(tree.workflow.text)
            if child is None:
                _unknown_workflow(file, tree.workflow)
            return Declaration(tree.name.text, Kind.INCLUDE, tree, child)


def _check_choices(declaration: Declaration, file: FileScope) -> None:
    known: dict[str, Span] = {}
    choices = declaration.choices
    for choice in choices.items if choices is not None else ():
        _new(known, choice.name, "declared", file.findings)
        if choice.name.text in TAKEN_CHOICES:
            file.findings.add(
                "WT0111",
                f"a choice cannot be called `{choice.name.text}`: "
                f"`{declaration.name}.{choice.name.text}` already means something",
                choice.name.span,
            )


def _input(workflow: Workflow, file: FileScope) -> RecordShape:
    if not workflow.inputs:
        return RecordShape(())
    _only_one([(block.span, "input") for block in workflow.inputs], file)
    shape = file.types.record(RecordType(workflow.inputs[0].fields, workflow.inputs[0].span))
    return shape if isinstance(shape, RecordShape) else RecordShape(())


def _exits(workflow: Workflow, file: FileScope) -> dict[str, Shape] | None:
    if not workflow.exits:
        return None
    _only_one([(block[0].span, "exits") for block in workflow.exits if block], file)
    known: dict[str, Span] = {}
    exits: dict[str, Shape] = {}
    declared: tuple[ExitDecl, ...] = workflow.exits[0]
    for exit_ in declared:
        if _new(known, exit_.name, "declared", file.findings):
            exits[exit_.name.text] = file.types.shape(exit_.type)
    return exits


def _only_one(blocks: list[tuple[Span, str]], file: FileScope) -> None:
    for span, word in blocks[1:]:
        file.findings.add(
            "WT0217",
            f"`{word}` stands here a second time",
            span,
            secondary=[(blocks[0][0], "first given here")],
        )


def _entered_exits(workflow: Workflow) -> tuple[str, ...]:
    """The exits that edges enter, by name: their order in the source has no meaning."""
    found: set[str] = set()
    for block in workflow.edges:
        for line in block:
            chains = [line.chain, *(arm.chain for arm in line.match.arms)] if line.match else [line.chain]
            limits = [line.limit, *(arm.limit for arm in line.match.arms)] if line.match else [line.limit]
            found |= {end.name.text for chain in chains for end in chain if isinstance(end, ExitEnd)}
            found |= {
                limit.then.name.text
                for limit in limits
                if limit is not None and isinstance(limit.then, ExitEnd)
            }
    return tuple(sorted(found))


# --- the order of workflows ---------------------------------------------------------------------------------


def _children_first(
    found: dict[WorkflowId, Scope], files: Mapping[str, FileScope]
) -> dict[WorkflowId, Scope]:
    """Order the scopes so that children come first; an include that closes a cycle is reported and cut."""
    done: dict[WorkflowId, Scope] = {}
    cut: dict[WorkflowId, set[str]] = {}
    for first in found:
        open_: dict[WorkflowId, Iterator[Declaration]] = {}
        if first not in done:
            open_[first] = iter(found[first].nodes)
        while open_:
            current, waiting = next(reversed(open_.items()))
            declaration = next(waiting, None)
            if declaration is None:
                del open_[current]
                done[current] = _without(found[current], cut.get(current, set()))
            elif declaration.child is None or declaration.child in done:
                continue
            elif declaration.child in open_:
                _report_include_cycle(declaration, list(open_), files[current.module])
                cut.setdefault(current, set()).add(declaration.name)
            elif declaration.child in found:
                open_[declaration.child] = iter(found[declaration.child].nodes)
    return done


def _without(scope: Scope, names: set[str]) -> Scope:
    if not names:
        return scope
    declarations = {
        name: Declaration(name, declaration.kind, declaration.tree) if name in names else declaration
        for name, declaration in scope.declarations.items()
    }
    return Scope(
        scope.id, scope.file, scope.workflow, declarations, scope.input, scope.exits, scope.exit_names
    )


def _report_include_cycle(declaration: Declaration, chain: list[WorkflowId], file: FileScope) -> None:
    assert declaration.child is not None, "only an include that was found closes a cycle"
    assert isinstance(declaration.tree, Include), "only an include has a child"
    names = [scope_id.name for scope_id in chain[chain.index(declaration.child) :]]
    file.findings.add(
        "WT0108",
        f"workflows include each other: {' → '.join([*names, declaration.child.name])}",
        declaration.tree.workflow.span,
        help="an include is written out when compiled and cannot hold itself; use a loop inside one workflow",
    )
