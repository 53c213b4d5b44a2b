"""A trace as one file: it shows what the console shows, runs nothing else, and sends no request."""

from __future__ import annotations

import pytest

from spanproof.api.pages import span_page, trace_page
from spanproof.api.report import format_report

from .conftest import is_complaint


@pytest.fixture
def open_report(browser, store, tmp_path):
    complaints, requests = [], []
    context = browser.new_context()

    def open_one(trace_id):
        evaluation = store.evaluation(trace_id)
        path = f"traces/{trace_id}"
        spans = {f"{path}/spans/{span.span_id}": span_page(span) for span in evaluation.trace.spans}
        file = tmp_path / "report.html"
        file.write_text(
            format_report(trace_id, f"/{path}", {path: trace_page(evaluation, ()), **spans}), encoding="utf-8"
        )
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


def test_a_claim_lights_up_its_output_without_a_server(open_report):
    page = open_report("5" * 32)
    page.locator(".claim.contradicted").click()
    assert page.locator("mark.lit").first.inner_text() == "4500"
    page.locator("details > summary", has_text="as they were received").click()
    page.locator("details .tree button").first.click()
    page.locator("pre.why", has_text="attributes").wait_for()
    assert page.get_by_role("button", name="promote").count() == 0


def test_hostile_text_in_a_file_is_text(open_report):
    page = open_report("6" * 32)
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script, main svg").count() == 0
