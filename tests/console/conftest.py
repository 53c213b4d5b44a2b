"""A real browser in front of a real console, over a store that real evaluations filled.

All workers of a run share the console. The browser ends with its module: so does a loop of Playwright's, of
which a process has one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from node_programs import install_packages
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from .shared_console import SharedConsole, open_shared

CONSOLE = Path(__file__).parents[2] / "collector" / "console"
PATIENCE_MS = 120_000
_SERVER_FAULT = "a status of 500"
_OF_COLOURS = ["color-contrast", "link-in-text-block"]


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedConsole]:
    """The console of this test run."""
    base = tmp_path_factory.getbasetemp()
    with open_shared(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) as shared:
        yield shared


@pytest.fixture
def url(console: SharedConsole) -> str:
    return console.url


@pytest.fixture
def workspace(console: SharedConsole) -> Path:
    return Path(console.workspace)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or pytest.fail(
        "the console's tests need chromium (apt-get install chromium)"
    )
    with sync_playwright() as playwright:
        # As root chromium has no sandbox of its own; it loads nothing but our pages.
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Page:
    """A page that the tests of a module use one after the other: to open one costs more than a test."""
    page = browser.new_context().new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page


@pytest.fixture
def open_page(tab: Page, url: str) -> Iterator[Callable[..., Page]]:
    """Open a page of the console; whatever the browser complains of fails the test."""
    complaints: list[str] = []

    def note_error(error: Exception) -> None:
        complaints.append(str(error))

    def note_line(line: ConsoleMessage) -> None:
        if is_complaint(line):
            complaints.append(line.text)

    def open_one(path: str, *, width: int = 1440, scheme: str = "light") -> Page:
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(color_scheme=scheme)
        tab.goto(url + path)
        settle(tab)
        return tab

    tab.on("pageerror", note_error)
    tab.on("console", note_line)
    yield open_one
    tab.unroute_all(behavior="ignoreErrors")
    tab.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    tab.remove_listener("pageerror", note_error)
    tab.remove_listener("console", note_line)
    assert not complaints


def settle(page: Page) -> None:
    """Return when the page shows what it loaded."""
    page.wait_for_selector("main :not([aria-busy])")
    page.wait_for_selector("[aria-busy=true]", state="detached")


def is_complaint(line: ConsoleMessage) -> bool:
    """Whether page or server have a fault; that a server is gone, or busy, is none."""
    is_of_server = line.text.startswith("Failed to load resource") and _SERVER_FAULT not in line.text
    return line.type == "error" and not is_of_server


def check_accessibility(page: Page, axe: str) -> None:
    """A phone's and a desk's screen show all there is, without a violation, light and dark."""
    page.evaluate(axe)  # not as a script of the page, which its policy forbids
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, f"scrolls sideways by {over} at a width of {width}"
        # A scheme changes colours and nothing else: the second one is checked for those.
        for scheme, rules in (("light", {}), ("dark", {"runOnly": _OF_COLOURS})):
            page.emulate_media(color_scheme=scheme)
            found = page.evaluate("more => axe.run(document, {resultTypes: ['violations'], ...more})", rules)
            faults = [(each["id"], each["nodes"][0]["html"][:150]) for each in found["violations"]]
            assert not faults, (width, scheme, faults)
    page.emulate_media(color_scheme="light")


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The console's development packages, as its lock file names them."""
    return install_packages(CONSOLE)


@pytest.fixture(scope="module")
def axe(node_modules: Path) -> str:
    """The accessibility checker's script."""
    return (node_modules / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
