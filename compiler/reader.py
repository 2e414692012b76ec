"""The rim of the compiler: the one place that opens files. Everything else gets a `Reader` passed in.

A source goes by one name: its path from the project root with `/`, symbolic links resolved, or
`builtin:NAME`.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Final, Protocol

from windtunnel.dsl.source import Source, normalise
from windtunnel.dsl.spelling import nearest, suggestion

BUILTIN: Final = "builtin:"
MAX_FILE_BYTES: Final = 4 * 1024 * 1024
"""Largest source that is read; the lexer says the same of text that comes another way."""
MAX_NAMES: Final = 2_000
"""Files of a folder that are looked through for one of a near name."""
HELD: Final = "some systems tell small letters from capitals in names of files: write it as it is on disk"


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a name cannot be read: the code of the finding, the reason, and what may help.

    `instead` is the name of a file beside it that was surely meant: it differs in case only.
    """

    code: str
    reason: str
    help: str | None = None
    instead: str | None = None


class Reader(Protocol):
    """Where sources come from."""

    def read(self, name: str) -> Source | Refused:
        """The source of that name, under its one true name; or why not."""
        ...

    def candidates(self, workflow: str) -> tuple[str, ...]:
        """The names to try, in order, for a workflow that is imported by name."""
        ...


def builtin_names() -> tuple[str, ...]:
    """The names of the shipped workflows, sorted, without `builtin:`."""
    entries = files("windtunnel.compiler.builtins").iterdir()
    return tuple(sorted(each.name.removesuffix(".flow") for each in entries if each.name.endswith(".flow")))


def builtin(name: str) -> Source | Refused:
    """A workflow that is shipped with the compiler; `name` is without `builtin:`."""
    folder = files("windtunnel.compiler.builtins")
    shipped = builtin_names()
    if name not in shipped:
        near = suggestion(nearest(name, shipped)) or f"the built-ins are {', '.join(shipped)}"
        return Refused("WT0103", f"there is no built-in `{name}`", near)
    text = folder.joinpath(f"{name}.flow").read_text(encoding="utf-8")
    return Source(BUILTIN + name, normalise(text))


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads below `root` (a folder), the built-ins, and workflows by name from `workflows/` and the user's
    folder.

    With `allow_outside` also files that lie outside the root, which then go by `../` paths or absolute
    ones.
    """

    root: Path
    user_workflows: Path | None = None
    allow_outside: bool = False

    def read(self, name: str) -> Source | Refused:
        """Read a file or a built-in; a missing file, a folder, bad UTF-8 and a path out of the root are
        refused.
        """
        if name.startswith(BUILTIN):
            return builtin(name.removeprefix(BUILTIN))
        try:
            path = (self.root / name).resolve()
        except (OSError, ValueError, RuntimeError):
            return Refused("WT0103", f"`{name}` cannot be read: not a usable path")
        base = self.root.resolve()
        inside = path.is_relative_to(base)
        of_user = self.user_workflows is not None and path.is_relative_to(self.user_workflows.resolve())
        if not (inside or of_user or self.allow_outside):
            return Refused(
                "WT0110",
                f"`{name}` lies outside the project",
                "`--allow-outside` reads such files all the same",
            )
        try:
            if path.is_dir():
                return Refused("WT0103", f"`{name}` is a folder")
            if _ignores_case(path) and (there := on_disk(path)) not in (None, path.name):
                return Refused("WT0103", f"`{name}` is spelt `{there}` on disk", HELD, there)
            with path.open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
            if len(data) > MAX_FILE_BYTES:
                return Refused("WT0012", f"`{name}` is larger than {MAX_FILE_BYTES} bytes")
            text = data.decode("utf-8")
        except UnicodeDecodeError as problem:
            return Refused("WT0015", f"`{name}` is not UTF-8 at byte {problem.start}")
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or "not a usable path"
            if isinstance(problem, FileNotFoundError):
                return _missing(name, path)
            return Refused("WT0103", f"`{name}` cannot be read: {reason.lower()}")
        return Source(path.relative_to(base).as_posix() if inside else path.as_posix(), normalise(text))

    def candidates(self, workflow: str) -> tuple[str, ...]:
        """The project's `workflows/`, then the user's folder, then the built-ins; only those that exist."""
        found = (
            [f"workflows/{workflow}.flow"] if (self.root / "workflows" / f"{workflow}.flow").is_file() else []
        )
        if self.user_workflows is not None and (self.user_workflows / f"{workflow}.flow").is_file():
            found.append((self.user_workflows / f"{workflow}.flow").resolve().as_posix())
        return (*found, BUILTIN + workflow)


@dataclass(frozen=True, slots=True)
class MemoryReader:
    """Reads from texts by name; `links` maps a name to the one it really stands for.

    Built-ins come as shipped.
    """

    texts: dict[str, str]
    links: dict[str, str] = field(default_factory=dict)

    def read(self, name: str) -> Source | Refused:
        """The text of that name."""
        name = self.links.get(name, name)
        if name in self.texts:
            return Source(name, normalise(self.texts[name]))
        if name.startswith(BUILTIN):
            return builtin(name.removeprefix(BUILTIN))
        if name.startswith(("../", "/")):
            return Refused("WT0110", f"`{name}` lies outside the project")
        return Refused("WT0103", f"`{name}` cannot be read: no such file or directory")

    def candidates(self, workflow: str) -> tuple[str, ...]:
        """`workflows/NAME.flow`, then `user/NAME.flow`, then the built-in."""
        own = (f"workflows/{workflow}.flow", f"user/{workflow}.flow")
        return (*(name for name in own if name in self.texts), BUILTIN + workflow)


def on_disk(path: Path) -> str | None:
    """The name that a file has in its folder, where it differs from what is asked for in case at most."""
    names = _beside(path)
    if path.name in names:
        return path.name
    return next((name for name in names if name.casefold() == path.name.casefold()), None)


def _beside(path: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return []


def _missing(name: str, path: Path) -> Refused:
    """A file that is not there; one beside it may have been meant."""
    reason = f"`{name}` cannot be read: no such file or directory"
    there = on_disk(path)
    if there is not None:
        return Refused("WT0103", f"`{name}` is spelt `{there}` on disk", HELD, there)
    near = nearest(path.name, [each for each in _beside(path) if each.endswith(path.suffix)][:MAX_NAMES])
    return Refused("WT0103", reason, suggestion(near))


def _ignores_case(path: Path) -> bool:
    """Whether the file would be found under another spelling too, as on some systems."""
    other = path.with_name(path.name.swapcase())
    try:
        return other != path and other.samefile(path)
    except OSError:
        return False


def relative(importer: str, path: str) -> str:
    """The name that `path`, written in the source `importer`, asks for; built-ins sit beside each other."""
    if path.startswith((BUILTIN, "/")):
        return path
    if importer.startswith(BUILTIN):
        name = posixpath.normpath(path)
        return BUILTIN + name.removesuffix(".flow") if "/" not in name else path
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), path))
