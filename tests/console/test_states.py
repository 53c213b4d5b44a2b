"""Every view: its command, its address, and what it shows while it loads and when the server fails."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import Route

from .conftest import HOSTILE
from .test_console import TRACE, YEAR

VIEWS = (
    f"/?{YEAR}&by=agent", "/traces?q=label:fail", f"/traces/{TRACE}", f"/failures?{YEAR}", "/alerts",
    f"/compare?{YEAR}&by=agent", "/suites", "/suites/prices", f"/review?{YEAR}",
    f"/compare/runs?before=traces/{TRACE}&after=traces/{TRACE}", f"/boundary?{YEAR}",
    f"/sessions?{YEAR}", "/sessions/chat%2F17", f"/sessions/{quote(HOSTILE[:60], safe='')}", "/settings",
)  # fmt: skip
WIDTHS = range(320, 1921, 160)


@pytest.mark.parametrize("path", VIEWS)
def test_a_view_shows_that_it_loads_then_what_went_wrong_and_recovers(open_page, url, path):
    page = open_page("/nothing")
    held: list[Route] | None = []
    page.route("**/api/**", lambda route: route.fulfill(**_BROKEN) if held is None else held.append(route))
    page.evaluate("to => history.pushState(null, '', to)", path)
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    page.locator("[aria-busy=true]").first.wait_for()
    waiting, held = held, None
    for route in waiting:
        route.fulfill(**_BROKEN)
    page.get_by_role("alert").get_by_text("the disk is full").first.wait_for()
    page.unroute("**/api/**")
    page.reload()
    page.wait_for_selector("[aria-busy=true]", state="detached")
    page.locator(".cli code").first.wait_for()
    assert page.get_by_role("alert").count() == 0
    assert page.locator(".cli code").first.inner_text().startswith(("spanproof ", "curl "))


_BROKEN = {
    "status": 503,
    "content_type": "application/problem+json",
    "body": json.dumps({"type": "about:blank", "title": "x", "status": 503, "detail": "the disk is full"}),
}


@pytest.mark.parametrize("path", VIEWS)
def test_a_reload_shows_the_same_and_back_and_forward_work(open_page, url, path):
    page = open_page(path)
    heading = page.locator("h1").first.inner_text()
    page.reload()
    page.wait_for_selector("[aria-busy=true]", state="detached")
    assert page.locator("h1").first.inner_text() == heading
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("heading", name="Settings", exact=True).wait_for()
    page.go_back()
    page.locator("h1").first.get_by_text(heading.split("\n")[0]).wait_for(state="attached")
    assert page.url == url + path
    page.go_forward()
    page.get_by_role("heading", name="Settings", exact=True).wait_for()


@pytest.mark.parametrize("path", VIEWS)
def test_no_width_makes_the_page_scroll_sideways(open_page, path):
    page = open_page(path)
    wide = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if over > 0:
            wide[width] = over
    assert not wide
