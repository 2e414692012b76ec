"""All files that a root file needs: each read and parsed once, imported files first, cycles named whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

from windtunnel.compiler.findings import Elsewhere, Findings
from windtunnel.compiler.prompts import with_prompts
from windtunnel.compiler.reader import Reader, Refused, relative
from windtunnel.dsl.codes import report
from windtunnel.dsl.diagnostics import Diagnostic, Fix, Place
from windtunnel.dsl.source import Source
from windtunnel.dsl.syntax import File, Import, Span, Text

MAX_FILES: Final = 10_000
"""Most files that one root may need."""
WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*")


class ParsedFile(Protocol):
    """What the parser gives: the intact part of the tree, and what is wrong with the rest."""

    @property
    def file(self) -> File: ...
    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]: ...
    @property
    def holes(self) -> tuple[Span, ...]: ...


Parse = Callable[[Source], ParsedFile]


@dataclass(frozen=True)
class Module:
    """One file.

    `imports` maps each import line, by its place in the file, to the name of the file it reads.
    """

    name: str
    source: Source
    file: File
    imports: Mapping[int, str]
    holes: tuple[Span, ...] = ()
    prompts: tuple[Elsewhere, ...] = ()
    """The prompts that stand in files of their own."""

    @cached_property
    def maybe(self) -> frozenset[str]:
        """Words where the parser skipped text after an error: what seems unknown may be declared there."""
        text = self.source.text
        return frozenset(word for h in self.holes for word in WORD.findall(text[h.start : h.end]))

    def has_hole(self, span: Span) -> bool:
        """Whether some of the text in `span` was skipped after an error."""
        return any(hole.start < span.end and span.start < hole.end for hole in self.holes)

    def target(self, line: Import) -> str | None:
        """The file that an import line reads, or None when it could not be read."""
        return self.imports.get(line.span.start)


@dataclass(frozen=True, slots=True)
class Modules:
    """The root and all it needs, imported files before the ones that import them."""

    root: str
    order: tuple[Module, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def by_name(self) -> dict[str, Module]:
        """The modules by name."""
        return {module.name: module for module in self.order}

    @property
    def sources(self) -> dict[str, Source]:
        """Every text that a finding may point into, by its name: files and the prompts beside them."""
        found = {prompt.source.name: prompt.source for module in self.order for prompt in module.prompts}
        return found | {module.name: module.source for module in self.order}


@dataclass(slots=True)
class _Visit:
    """A file on the way: the import lines that are still to be followed, and where those before them led."""

    source: Source
    file: File
    holes: tuple[Span, ...]
    waiting: list[Import]
    prompts: tuple[Elsewhere, ...] = ()
    imports: dict[int, str] = field(default_factory=dict)


def load(reader: Reader, root: str, parse: Parse) -> Modules:
    """Read `root` and everything it imports, depth first. A root that cannot be read gives no modules."""
    loading = _Loading(reader, parse)
    first = reader.read(root)
    if isinstance(first, Refused):
        at = Place(root, Span(0, 0))
        refusal = report(first.code, first.reason, at, help=first.help)
        return Modules(root, (), (refusal,))
    loading.run(first)
    return Modules(first.name, tuple(loading.done.values()), tuple(loading.sink))


class _Loading:
    """The state of one load: files that are done, and the chain of files that are open."""

    def __init__(self, reader: Reader, parse: Parse) -> None:
        self.reader = reader
        self.parse = parse
        self.sink: list[Diagnostic] = []
        self.done: dict[str, Module] = {}
        self.open: dict[str, _Visit] = {}
        self.true_names: dict[str, str | Refused] = {}

    def run(self, first: Source) -> None:
        self._enter(first)
        while self.open:
            name, visit = next(reversed(self.open.items()))
            if visit.waiting:
                line = visit.waiting.pop(0)
                self._follow(name, visit, line)
                continue
            del self.open[name]
            self.done[name] = Module(
                name, visit.source, visit.file, visit.imports, visit.holes, visit.prompts
            )

    def _enter(self, source: Source) -> None:
        parsed = self.parse(source)
        self.sink.extend(parsed.diagnostics)
        findings = Findings(source.name, self.sink)
        file, prompts = with_prompts(parsed.file, self.reader, self.parse, findings, len(source.text))
        self.open[source.name] = _Visit(source, file, parsed.holes, list(file.imports), prompts)

    def _follow(self, importer: str, visit: _Visit, line: Import) -> None:
        findings = Findings(importer, self.sink)
        found = self._locate(importer, line, findings)
        if found is None:
            return
        name = found if isinstance(found, str) else found.name
        if name in self.open:
            self._report_cycle(name, line, findings)
            return
        visit.imports[line.span.start] = name
        if name in self.done or isinstance(found, str):
            return
        if len(self.done) + len(self.open) >= MAX_FILES:
            findings.add("WT0122", f"more than {MAX_FILES} files are needed", line.span)
            del visit.imports[line.span.start]
            return
        self._enter(found)

    def _locate(self, importer: str, line: Import, findings: Findings) -> str | Source | None:
        """The true name of a file that is known already, a source that is new, or None with a finding."""
        if line.path is None:
            return self._by_name(line, findings)
        path = line.path.constant
        problem = _path_problem(path)
        if path is None or problem is not None:
            findings.add("WT0113", problem or "the path of an import is a plain string", line.path.span)
            return None
        found = self._read(relative(importer, path))
        if isinstance(found, Refused):
            fixes = () if found.instead is None else (_spelling(findings, line.path, path, found.instead),)
            findings.add(found.code, found.reason, line.path.span, help=found.help, fixes=fixes)
            return None
        return found

    def _by_name(self, line: Import, findings: Findings) -> str | Source | None:
        if len(line.names) != 1 or line.contract is None:
            findings.add(
                "WT0113",
                "an import without a path names one workflow and its contract",
                line.span,
                help='write `import name contract "…"`, or add `from "…"`',
            )
            return None
        wanted = line.names[0].name
        tried = self.reader.candidates(wanted.text)
        for candidate in tried:
            found = self._read(candidate)
            if not isinstance(found, Refused):
                return found
        findings.add(
            "WT0103",
            f"no workflow `{wanted.text}` was found by name",
            wanted.span,
            notes=[f"looked for {', '.join(f'`{name}`' for name in tried)}"],
        )
        return None

    def _read(self, name: str) -> str | Source | Refused:
        known = self.true_names.get(name)
        if known is not None:
            return known
        found = self.reader.read(name)
        if isinstance(found, Refused):
            self.true_names[name] = found
            return found
        self.true_names[name] = found.name
        if found.name in self.done or found.name in self.open:
            return found.name
        return found

    def _report_cycle(self, name: str, line: Import, findings: Findings) -> None:
        chain = list(self.open)
        chain = [*chain[chain.index(name) :], name]
        findings.add(
            "WT0104",
            f"files import each other: {' → '.join(chain)}",
            line.path.span if line.path is not None else line.span,
            help="move what both need into a third file",
        )


def _spelling(findings: Findings, written: Text, path: str, name: str) -> Fix:
    """Put the name of a file as it is on disk into the path of an import."""
    folder = path.rpartition("/")[0]
    mended = f"{folder}/{name}" if folder else name
    return findings.replacing(
        f'write "{mended}"', written.span, json.dumps(mended, ensure_ascii=False), safe=True
    )


def _path_problem(path: str | None) -> str | None:
    if path is None:
        return None
    if not path:
        return "the path of an import is empty"
    if "\\" in path:
        return f"paths are written with `/` everywhere: `{path.replace(chr(92), '/')}`"
    if "\0" in path:
        return "a path holds no null character"
    return None
