"""A page of a picture in a browser: opened without a network, and measured as it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

MEASURE = """
() => {
  const svg = document.querySelector("#stage svg"), faults = [], boxes = [], paper = svg.viewBox.baseVal;
  for (const group of svg.querySelectorAll("g.box, g.cluster")) {
    const id = group.dataset.id, shape = group.querySelector("rect, circle");
    const at = shape.getBBox();
    const cluster = group.matches(".cluster");
    const box = { id, x: at.x, y: at.y, r: at.x + at.width, b: at.y + at.height, cluster };
    if (box.x < 0 || box.y < 0 || box.r > paper.width || box.b > paper.height)
      faults.push(`${id} leaves the paper`);
    if (!at.width || !at.height) faults.push(`${id} has no size`);
    boxes.push(box);
    if (shape.tagName === "circle") continue;
    for (const text of group.querySelectorAll("text")) {
      const words = text.getBBox(), room = Math.max(0, words.width * 0.4);
      if (words.x < box.x - 1 || words.x + words.width > box.r + room + 1)
        faults.push(`${id}: ${text.textContent} is wider than its box`);
      if (words.y < box.y - 2 || words.y + words.height > box.b + 3)
        faults.push(`${id}: ${text.textContent} is above or below its box`);
    }
  }
  const closed = boxes.filter((box) => !box.cluster).sort((a, b) => a.y - b.y);
  closed.forEach((box, at) => {
    for (const other of closed.slice(at + 1)) {
      if (other.y >= box.b - 0.5) break;
      if (other.x < box.r - 0.5 && box.x < other.r - 0.5) faults.push(`${box.id} and ${other.id} overlap`);
    }
  });
  for (const line of svg.querySelectorAll("g.arrow:not(.written)")) {
    const head = line.querySelector("polygon").getBBox();
    const near = boxes.some((box) =>
      head.x < box.r + 4 && box.x - 4 < head.x + head.width
      && head.y < box.b + 4 && box.y - 4 < head.y + head.height);
    if (!near) faults.push(`${line.dataset.keys} ends nowhere`);
  }
  return { boxes: closed.length, clusters: boxes.length - closed.length, faults: faults.slice(0, 9) };
}
"""


def opened(page: Page, html: str, folder: Path) -> list[str]:
    """Open the page from a file; the addresses that it asks for from now on, the file's own first."""
    file = folder / "picture.html"
    file.write_text(html, encoding="utf-8")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    return asked


def measured(page: Page) -> dict[str, Any]:
    """How many boxes and open includes are drawn, and what is wrong with how they lie."""
    found: dict[str, Any] = page.evaluate(MEASURE)
    return found


def view(page: Page) -> tuple[float, float, float]:
    """Where the drawing stands on the stage and how large it is."""
    x, y, k = page.evaluate(
        "() => { const m = new DOMMatrix(document.querySelector('#stage svg').style.transform);"
        " return [m.e, m.f, m.a]; }"
    )
    return float(x), float(y), float(k)


def chosen(page: Page) -> list[str]:
    """The boxes that are marked as chosen."""
    ids: list[str] = page.eval_on_selector_all("#stage g.chosen", "found => found.map(g => g.dataset.id)")
    return ids


def is_seen(page: Page, identifier: str) -> bool:
    """Whether a box lies inside the stage."""
    seen: bool = page.evaluate(
        """id => {
          const box = document.querySelector(`#stage g[data-id="${CSS.escape(id)}"]`).getBoundingClientRect();
          const stage = document.querySelector("#stage").getBoundingClientRect();
          return box.left >= stage.left && box.right <= stage.right && box.top >= stage.top
            && box.bottom <= stage.bottom;
        }""",
        identifier,
    )
    return seen
