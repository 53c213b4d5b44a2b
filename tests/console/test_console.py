from __future__ import annotations

import re

import pytest

TRACE = "5" * 32
VIEWS = ("/", "/?hours=8784", "/traces", "/traces?q=label:fail", f"/traces/{TRACE}", "/nothing")


def test_a_claim_lights_up_the_output_it_was_held_against(open_page):
    page = open_page(f"/traces/{TRACE}")
    assert "The answer says $54.00" in page.locator("h1").inner_text()
    claim = page.locator(".claim.contradicted")
    assert claim.inner_text().startswith("$54.00")
    claim.click()
    assert page.locator("mark.lit").first.inner_text() == "4500"
    assert "contradicted by step 1" in page.locator(".why").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("mark.lit").count() == 0


def test_the_record_is_beside_the_replay(open_page):
    page = open_page(f"/traces/{TRACE}")
    step = page.locator("#step-1")
    assert "4500" in step.get_by_label("recorded").inner_text()
    assert "✓ same" in step.get_by_label("replayed").inner_text()
    assert step.locator(".source li .nb").first.inner_text() == "print"


def test_the_query_line_is_the_address(open_page, url):
    page = open_page("/traces")
    page.get_by_label("Filter").fill("label:fail layer:groundedness")
    page.keyboard.press("Enter")
    page.locator("a.row").nth(9).wait_for(state="detached")
    page.wait_for_selector("a.row")
    assert page.url == f"{url}/traces?q=label%3Afail%20layer%3Agroundedness"
    assert "spanproof traces --failing --layer groundedness" in page.locator(".cli").inner_text()
    rows = page.locator("a.row").count()
    page.reload()
    page.wait_for_selector("a.row")
    assert page.locator("a.row").count() == rows
    page.locator(f"a.row[href$='{TRACE}']").click()
    page.wait_for_selector(".claim")
    page.go_back()
    page.wait_for_selector("a.row")
    assert page.get_by_label("Filter").input_value() == "label:fail layer:groundedness"


def test_a_mistake_in_the_query_line_is_named(open_page):
    page = open_page("/traces?q=colour:red")
    assert "colour:red is not understood" in page.get_by_role("alert").inner_text()


def test_a_long_list_draws_only_what_is_in_sight_and_loads_the_rest(open_page):
    page = open_page("/traces")
    page.wait_for_selector("a.row")
    box = page.get_by_role("region", name="Traces")
    for _ in range(40):
        box.evaluate("each => each.scrollTop = each.scrollHeight")
        page.wait_for_timeout(50)
        if page.locator(f"a.row[href$='{'5' * 32}']").count():
            break
    assert page.locator("a.row").count() < 80
    assert box.evaluate("each => each.scrollHeight") > 300 * 32


def test_the_overview_shows_rates_with_intervals_and_leads_to_the_runs(open_page):
    page = open_page("/?hours=8784")
    card = page.locator(".rate", has_text="groundedness")
    assert re.search(r"\d+ of \d+ judged, 95 % .* to ", card.inner_text())
    assert page.locator(".chart canvas").count() == 1
    page.get_by_label("Dimension").select_option("agent")
    page.wait_for_selector("th[scope=row]:has-text('pricing agent')")
    card.click()
    page.wait_for_selector("a.row")
    assert "layer%3Agroundedness" in page.url


def test_keys_walk_through_rows_steps_and_layers(open_page, url):
    page = open_page("/traces?q=label:fail")
    page.wait_for_selector("a.row")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.tagName") == "INPUT"
    page.locator("h1").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_selector(".step")
    page.keyboard.press("j")
    assert page.url.endswith("step=1")
    page.keyboard.press("?")
    assert page.locator(".help").count() == 1


@pytest.mark.parametrize("path", [f"/traces/{'6' * 32}", "/traces", "/?hours=8784&by=agent"])
def test_hostile_text_is_text(open_page, path):
    page = open_page(path)
    page.wait_for_timeout(300)
    for each in page.locator("details > summary").all():
        each.click()
    for each in page.locator("details .tree button").all():
        each.click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script, main svg").count() == 0
    if "666" in path:
        assert "U+202E" in page.locator("main").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("path", VIEWS)
def test_each_view_fits_its_screen_and_is_accessible(open_page, axe, path, width, scheme):
    page = open_page(path, width=width, scheme=scheme)
    page.wait_for_timeout(200)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    page.evaluate(axe)  # not as a script of the page, which its policy forbids
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    faults = [(each["id"], each["nodes"][0]["html"][:150]) for each in found["violations"]]
    assert not faults


def test_a_server_that_went_away_is_reported(open_page):
    page = open_page("/")
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("link", name="Traces").click()
    page.wait_for_selector("[role=alert]")
    assert "does not answer" in page.get_by_role("alert").inner_text()
