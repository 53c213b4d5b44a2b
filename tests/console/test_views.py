"""Every view: it loads, fails and recovers, fits each screen, is accessible, and its address is its state."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route

from .conftest import check_accessibility, settle
from .filled_store import ERRORED, FAILING, HOSTILE, OPEN, SPOILT
from .test_console import YEAR

HOSTILE_SESSION = f"/sessions/{quote(HOSTILE[:60], safe='')}"
VIEWS = (
    f"/?{YEAR}&by=agent", "/traces?q=label:fail", f"/traces/{FAILING}", f"/traces/{SPOILT}",
    "/traces?q=state:open", f"/traces/{OPEN}", f"/traces/{ERRORED}?layer=all",
    f"/failures?{YEAR}", "/alerts", f"/compare?{YEAR}&by=agent", "/suites", "/suites/prices",
    "/experiments/nightly", "/experiments/weekly?baseline=nightly", f"/review?{YEAR}",
    f"/boundary?{YEAR}", f"/sessions?{YEAR}",
    f"/compare/runs?before=traces/{FAILING}&after=traces/{FAILING}",
    "/sessions/chat%2F17", HOSTILE_SESSION, "/settings",
)  # fmt: skip
EMPTY = (
    "/?hours=0.1", "/traces", "/traces?q=label:fail%20agent:nobody", "/compare?dimension=release",
    "/suites/prices/cases/none", "/sessions/none", "/gates/none", "/experiments/none", "/failures/none",
    "/alerts/deliveries", "/nothing",
)  # fmt: skip
"""What shows little or nothing, which has its own form."""
WIDTHS = range(320, 1921, 160)
BROKEN = {
    "status": 503,
    "content_type": "application/problem+json",
    "body": json.dumps({"type": "about:blank", "title": "x", "status": 503, "detail": "the disk is full"}),
}


@pytest.mark.parametrize("path", VIEWS)
def test_a_view(open_page, axe, url, path):
    page = open_page("/nothing")
    check_that_it_loads_fails_and_recovers(page, path)
    assert page.locator(".cli code").first.inner_text().startswith(("spanproof ", "curl "))
    check_address(page, url + path)
    check_screens(page, axe)
    check_text(page)
    if SPOILT in path:
        assert "U+202E" in page.locator("main").inner_text()


@pytest.mark.parametrize("path", EMPTY)
def test_a_view_without_content(open_page, axe, path):
    check_screens(open_page(path), axe)


def check_that_it_loads_fails_and_recovers(page: Page, path: str) -> None:
    held: list[Route] | None = []
    page.route("**/api/**", lambda route: route.fulfill(**BROKEN) if held is None else held.append(route))
    page.evaluate("to => history.pushState(null, '', to)", path)
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    page.locator("[aria-busy=true]").first.wait_for()
    waiting, held = held, None
    for route in waiting:
        route.fulfill(**BROKEN)
    page.get_by_role("alert").get_by_text("the disk is full").first.wait_for()
    page.unroute("**/api/**")
    page.reload()
    settle(page)
    page.locator(".cli code").first.wait_for()
    assert page.get_by_role("alert").count() == 0


def check_address(page: Page, address: str) -> None:
    """A reload shows the same, and so do back and forward."""
    heading = page.locator("h1").first.inner_text()
    page.reload()
    settle(page)
    assert page.locator("h1").first.inner_text() == heading
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("heading", name="Settings", exact=True).wait_for()
    page.go_back()
    page.locator("h1").first.get_by_text(heading.split("\n")[0]).wait_for(state="attached")
    assert page.url == address
    page.go_forward()
    page.get_by_role("heading", name="Settings", exact=True).wait_for()
    page.go_back()
    settle(page)


def check_screens(page: Page, axe: str) -> None:
    """No width makes the page scroll sideways, and every person can use it."""
    wide = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if over > 0:
            wide[width] = over
    assert not wide, "widths at which the page scrolls sideways, and by how much"
    check_accessibility(page, axe)


def check_text(page: Page) -> None:
    """What can be opened is opened, and text of traces is text."""
    for each in page.locator("details > summary:visible").all():
        each.click()
    for each in page.locator("details .tree button:visible").all():
        each.click()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("window.hacked") is None
    # Icons are pictures of ours; none of them does anything.
    assert page.locator("main img, main script, main svg[onload]").count() == 0
