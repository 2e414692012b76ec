"""What stands in drawings, read back from each format."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from typing import NamedTuple
from xml.etree import ElementTree as ET

from windtunnel.compiler.drawing.picture import Picture
from windtunnel.compiler.snapshot import Snapshot

SVG = "{http://www.w3.org/2000/svg}"


class Drawn(NamedTuple):
    """One box or arrow of an SVG: its classes, what it stands for, its tooltip and its lines of text."""

    css: str
    id: str
    title: str
    lines: tuple[str, ...]


def read_svg(text: str) -> list[Drawn]:
    """The groups of an SVG."""
    root = ET.fromstring(text)
    found: list[Drawn] = []
    for group in root.iter(f"{SVG}g"):
        found.append(
            Drawn(
                group.get("class", ""),
                group.get("data-id") or group.get("data-keys") or "",
                group.findtext(f"{SVG}title") or "",
                tuple(element.text or "" for element in group.findall(f"{SVG}text")),
            )
        )
    return found


def keys_of(snapshot: Snapshot, scopes: set[str] | None = None) -> Counter[tuple[str, bool]]:
    """The arrows that a snapshot has: the key of each arm, and again for what follows its limit."""
    arms = [
        (arm.key, limit)
        for edge in snapshot.edges
        if scopes is None or edge.scope in scopes
        for arm in edge.arms
        for limit in ((False, True) if arm.limit is not None else (False,))
    ]
    return Counter(arms)


def keys_of_picture(picture: Picture) -> Counter[tuple[str, bool]]:
    """The arrows that a picture has."""
    return Counter(
        (key, arrow.flow == "limit")
        for sheet in picture.sheets
        for arrow in sheet.arrows
        for key in arrow.keys
    )


def keys_of_svg(text: str) -> Counter[tuple[str, bool]]:
    """The arrows that an SVG has, drawn or written."""
    return Counter(
        (key, "limit" in group.css.split())
        for group in read_svg(text)
        if "arrow" in group.css.split()
        for key in group.id.split("\n")
    )


_ENTITY = re.compile(r"#(\d+);")


def read_mermaid(text: str) -> list[str]:
    """The labels of a Mermaid text in order, as they are shown, newlines for breaks.

    Strict: a quoted label may hold no quote, backtick, bracket or brace, and no semicolon or number sign that
    is not part of an entity.
    """
    labels: list[str] = []
    for found in re.finditer(r'"([^"]*)"', text):
        raw = found[1]
        bare = _ENTITY.sub("", raw.replace("<br/>", ""))
        assert not set(bare) & set('`[]{}|;#"<>\\&%'), raw
        labels.append(_ENTITY.sub(lambda entity: chr(int(entity[1])), raw.replace("<br/>", "\n")))
    return labels


class Page(HTMLParser):
    """A page taken apart: its scripts by id, its templates, every attribute that could load something."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: dict[str, str] = {}
        self.templates: dict[str, str] = {}
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.title = ""
        self._open: str | None = None
        self._in_title = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self.ids.add(about.get("id") or "")
        self.loads += [
            f"{tag} {name}" for name in about if name in ("src", "href", "srcset", "data", "action")
        ]
        if tag == "template":
            self.templates[about.get("id") or ""] = about.get("data-scope") or ""
        if tag == "script":
            self._open = about.get("id") or ""
            self.scripts[self._open] = ""
        self._in_title = tag == "title" and not self.title

    def handle_endtag(self, tag: str) -> None:
        self._open = None if tag == "script" else self._open
        self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.scripts[self._open] += data
        if self._in_title:
            self.title += data
