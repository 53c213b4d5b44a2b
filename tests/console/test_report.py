"""A trace as one file: it shows what the console shows, runs nothing else, and sends no request."""

from __future__ import annotations

import pytest

from spanproof.api.report import format_gate_report, format_trace_report
from spanproof.evaluators.score_rows import run_row
from spanproof.gate import check, parse

from .conftest import is_complaint


@pytest.fixture
def open_report(browser, store, tmp_path):
    complaints, requests = [], []
    context = browser.new_context()

    def open_one(text):
        file = tmp_path / "report.html"
        file.write_text(text, encoding="utf-8")
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if is_complaint(line) else None)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("h1")
        return page

    yield open_one
    context.close()
    assert not complaints
    assert all(url.startswith(("file:", "data:")) for url in requests), requests


def trace_report(store, trace_id):
    return format_trace_report(store.evaluation(trace_id), (), None)


def gate_report(store, text="groundedness.score >= 0.9 for all cases"):
    """A report of the gate over the whole store, with the code of the failing runs."""
    report = check([parse(text)], store.scores())
    failing = store.evaluations([case.trace_id for each in report.assertions for case in each.failing])
    rows = {(each.trace.trace_id, run.run.span_id): run_row(run) for each in failing for run in each.runs}
    return format_gate_report(report, report.to_table(rows), failing)


def test_a_claim_lights_up_its_output_without_a_server(open_report, store):
    page = open_report(trace_report(store, "5" * 32))
    page.locator(".claim.contradicted").click()
    assert page.locator("mark.lit").first.inner_text() == "4500"
    page.locator("details > summary", has_text="as they were received").click()
    page.locator("details .tree button").first.click()
    page.locator("pre.why", has_text="attributes").wait_for()
    assert page.get_by_role("button", name="promote").count() == 0


def test_a_gate_report_shows_the_code_and_leads_to_the_failing_traces(open_report, store):
    page = open_report(gate_report(store))
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


@pytest.mark.parametrize("width", [390, 1440])
def test_a_gate_report_fits_its_screen_and_is_accessible(open_report, store, axe, width):
    page = open_report(gate_report(store))
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(axe)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert not [(each["id"], each["nodes"][0]["html"][:150]) for each in found["violations"]]


def test_hostile_text_in_a_gate_report_is_text(open_report, store):
    page = open_report(gate_report(store, "trajectory.score >= 0.95 for all cases"))
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script, main svg").count() == 0
    assert "U+202E" in page.locator("main").inner_text()


def test_hostile_text_in_a_file_is_text(open_report, store):
    page = open_report(trace_report(store, "6" * 32))
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script, main svg").count() == 0
