"""A trace of 4,000 spans stays usable: only what is near the screen is drawn."""

from __future__ import annotations

from spanproof.api.trace_pages import STEPS_OF_PAGE

from .conftest import check_accessibility
from .filled_store import LONG, SPANS, STEPS

NEAR = 40


def test_only_steps_near_the_screen_are_drawn_and_every_step_is_reached(open_page, axe):
    page = open_page(f"/traces/{LONG}")
    steps = page.get_by_role("region", name="Step ")
    steps.first.wait_for()
    assert page.locator(".step").count() == STEPS_OF_PAGE
    assert "Steps 1 to 1,000 of 1,333" in page.locator("[data-panel=steps]").inner_text()
    assert page.locator(".step:not(.place)").count() < NEAR
    check_accessibility(page, axe)
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.url.endswith("step=2")
    page.get_by_role("link", name="later steps").last.click()
    page.locator(f"#step-{STEPS_OF_PAGE + 1} .source").wait_for()
    assert page.locator(".step").count() == STEPS - STEPS_OF_PAGE
    page.locator(".side button", has_text=f"step {STEPS}").click()
    page.locator(f"#step-{STEPS} .source").wait_for()
    page.reload()
    page.locator(f"#step-{STEPS} .source").wait_for()
    assert page.locator(f"#step-{STEPS}").evaluate(
        "each => each.getBoundingClientRect().top < innerHeight && each.getBoundingClientRect().bottom > 0"
    )
    assert page.locator(".step:not(.place)").count() < 2 * NEAR


def test_its_spans_are_listed_on_demand(open_page):
    page = open_page(f"/traces/{LONG}")
    summary = page.locator("summary", has_text=f"{SPANS} spans")
    assert page.locator("details .tree li").count() == 0
    summary.click()
    page.locator("details .tree li").nth(SPANS - 1).wait_for(state="attached")
    page.locator("details .tree button").nth(1).click()
    page.locator("pre.why", has_text="attributes").wait_for()
