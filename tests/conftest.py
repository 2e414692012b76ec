"""What every test may ask for: the switch `--update-golden`, the fixture `golden`, and a browser's `page`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CASES = Path(__file__).parent / "cases"
"""Where the expected texts live, one case per file."""

Golden: TypeAlias = Callable[[str | Path, str], None]
"""`golden(path, actual)`: `path` is relative to `tests/cases`, or absolute below it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that writes expected texts anew."""
    parser.addoption("--update-golden", action="store_true", help="write the texts of tests/cases anew")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse the switch where a machine decides: there a changed text must fail."""
    if config.getoption("--update-golden") and os.environ.get("CI"):  # noqa: TID251
        raise pytest.UsageError("--update-golden does not work in CI: expected texts are written by a person")


def compare(cases: Path, path: str | Path, actual: str, *, update: bool) -> None:
    """Fail unless the file at `path` holds `actual`; with `update` write it there instead.

    Files are UTF-8 and compared byte for byte; a file that does not end in a newline is compared as it is.
    """
    file = cases / path
    assert file.is_relative_to(cases), f"{file} lies outside {cases}"
    if update:
        if not file.exists() or file.read_bytes() != actual.encode():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(actual.encode())
        return
    shown = file.relative_to(cases.parent.parent)
    if not file.exists():
        pytest.fail(f"{shown} does not exist; look at this, then write it with --update-golden:\n{actual}")
    expected = file.read_bytes().decode()
    assert actual == expected, f"{shown} has another text; if the new one is right: pytest --update-golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with a file of `tests/cases`, or rewrite the file under `--update-golden`."""
    update = bool(request.config.getoption("--update-golden"))

    def check(path: str | Path, actual: str) -> None:
        compare(CASES, path, actual, update=update)

    return check


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One headless Chromium for the whole session; it speaks to this machine only.

    Tests that need it are skipped where it is not installed; `.ci/run` installs it, so there none is.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no Chromium is installed: on Debian, apt-get install chromium")
    from playwright.sync_api import sync_playwright

    quiet = [f"--disable-{what}" for what in ("background-networking", "component-update", "sync", "quic")]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", *quiet])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh page of 1,280 by 800 pixels that fails the test when the page's own script throws."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    yield page
    context.close()
    assert thrown == [], "the page's script threw"
