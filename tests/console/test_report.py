"""A trace as one file: it shows what the console shows, runs nothing else, and sends no request."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import check_accessibility, is_complaint


@pytest.fixture
def open_report(browser, console):
    complaints, requests = [], []
    context = browser.new_context()

    def open_one(name):
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if is_complaint(line) else None)
        page.on("request", lambda request: requests.append(request.url))
        page.goto((Path(console.reports) / f"{name}.html").as_uri())
        page.wait_for_selector("h1")
        return page

    yield open_one
    context.close()
    assert not complaints
    assert all(url.startswith(("file:", "data:")) for url in requests), requests


def test_a_claim_lights_up_its_output_without_a_server(open_report):
    page = open_report("trace")
    page.locator(".claim.contradicted").click()
    assert page.locator("mark.lit").first.inner_text() == "4500"
    page.locator("details > summary", has_text="as they were received").click()
    page.locator("details .tree button").first.click()
    page.locator("pre.why", has_text="attributes").wait_for()
    assert page.get_by_role("button", name="promote").count() == 0


def test_a_gate_report_shows_the_code_and_leads_to_the_failing_traces(open_report):
    page = open_report("gate")
    assert "✗ failed" in page.locator("h1").inner_text()
    card = page.locator(".card", has_text="groundedness.score >= 0.9 for all cases")
    assert card.get_by_role("group", name="code of traces").first.inner_text()
    card.locator(f"a[href*='{'5' * 32}']").first.click()
    page.locator(".claim.contradicted").click()
    assert page.locator("mark.lit").first.inner_text() == "4500"
    page.reload()
    page.locator(".claim.contradicted").wait_for()
    page.get_by_role("link", name="Report").click()
    card.wait_for()
    page.go_back()
    page.locator(".claim.contradicted").wait_for()


def test_a_suite_s_report_says_what_differs_and_leads_to_the_run(open_report):
    page = open_report("suite")
    assert "✗ failed" in page.locator("h1").inner_text()
    card = page.locator(".card", has_text="fixed: 1 verdict differs")
    assert "U+202E" in card.inner_text()
    card.get_by_role("link", name="judged now").click()
    page.locator(".claim.contradicted").click()
    assert page.locator("mark.lit").first.inner_text() == "4500"
    page.go_back()
    card.wait_for()


@pytest.mark.parametrize("name", ["gate", "suite"])
def test_a_report_fits_its_screen_and_is_accessible(open_report, axe, name):
    check_accessibility(open_report(name), axe)


@pytest.mark.parametrize("name", ["hostile", "hostile-gate", "suite"])
def test_hostile_text_in_a_file_is_text(open_report, name):
    page = open_report(name)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script, main svg[onload]").count() == 0
    assert "U+202E" in page.locator("main").inner_text()
