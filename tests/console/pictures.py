"""Pictures of every page of the console: two themes, three widths; full, empty, failing, loading, hostile.

    python -m tests.console.pictures FOLDER [--only traces]

To be looked at by a person before the pictures of the documentation are taken anew.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from spanproof.api import ConsoleServer, ConsoleSettings
from spanproof.store import open_store

from .filled_store import DISPUTED, FAILING, OPEN, SPOILT
from .shared_console import open_shared

YEAR = "hours=8784"
PAGES = {
    "overview": f"/?{YEAR}&by=agent",
    "traces": f"/traces?{YEAR}",
    "trace": f"/traces/{FAILING}",
    "sessions": f"/sessions?{YEAR}",
    "session": "/sessions/chat%2F17",
    "failures": f"/failures?{YEAR}",
    "review": f"/review?{YEAR}",
    "alerts": "/alerts",
    "deliveries": "/alerts/deliveries",
    "suites": "/suites",
    "suite": "/suites/prices",
    "experiments": "/experiments",
    "experiment": "/experiments/nightly",
    "compare": f"/compare?{YEAR}&by=agent",
    "runs": f"/compare/runs?before=traces/{FAILING}&after=traces/{DISPUTED}",
    "boundary": f"/boundary?{YEAR}",
    "settings": "/settings",
}
OF_FILLED = {
    "trace-open": f"/traces/{OPEN}",
    "trace-hostile": f"/traces/{SPOILT}",
    "traces-searched": '/traces?q="box of tea" label:fail',
    "traces-nothing": "/traces?q=nosuchword",
    "experiment-beside": "/experiments/weekly?baseline=nightly",
    "nothing": "/nothing",
}
WIDTHS = (1440, 1024, 390)
SCHEMES = ("light", "dark")
_HEIGHT = 900
_PATIENCE_MS = 180_000
_BROKEN = json.dumps({"type": "about:blank", "title": "x", "status": 503, "detail": "the disk is full"})


def main() -> None:
    """Take the pictures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--only", default="", help="what the name of a picture begins with")
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    kept = given.folder / "store"
    kept.mkdir(exist_ok=True)
    with ExitStack() as stack:
        filled = stack.enter_context(open_shared(kept)).url
        store = stack.enter_context(open_store(kept / "empty"))
        settings = ConsoleSettings(workspace=kept)
        empty = stack.enter_context(ConsoleServer(lambda: store, "127.0.0.1", 0, settings)).url
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, address, kind in _list_pictures(filled, empty):
            if name.startswith(given.only):
                take(browser, given.folder, name, address, kind)
        browser.close()


def _list_pictures(filled: str, empty: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, address and kind of each picture; the kind says how the API answers."""
    for name, path in PAGES.items():
        yield name, filled + path, "answers"
        yield f"{name}-empty", empty + path, "answers"
        yield f"{name}-error", filled + path, "fails"
        yield f"{name}-loading", filled + path, "waits"
    for name, path in OF_FILLED.items():
        yield name, filled + path, "answers"


def take(browser: Browser, folder: Path, name: str, address: str, kind: str) -> None:
    """Take the pictures of one page: each width in each theme; a page that fails or waits in one of each."""
    whole = [(width, scheme) for width in WIDTHS for scheme in SCHEMES]
    page = browser.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    if kind == "fails":
        page.route(
            "**/api/**",
            lambda route: route.fulfill(status=503, body=_BROKEN, content_type="application/json"),
        )
    elif kind == "waits":
        page.route("**/api/**", lambda route: None)
    for at, (width, scheme) in enumerate(whole if kind == "answers" else whole[:1] + whole[-1:]):
        page.set_viewport_size({"width": width, "height": _HEIGHT})
        page.emulate_media(color_scheme=scheme)
        if at == 0 or width == min(WIDTHS):
            page.goto(address)
            _settle(page, kind)
        page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
    page.unroute_all(behavior="ignoreErrors")
    page.close()


def _settle(page: Page, kind: str) -> None:
    page.wait_for_selector("main *")
    if kind == "answers":
        page.wait_for_selector("[aria-busy=true]", state="detached")
    else:
        page.wait_for_timeout(500)


if __name__ == "__main__":
    main()
