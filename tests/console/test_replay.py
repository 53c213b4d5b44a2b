"""A case is replayed in the sandbox with edited code, from its page."""

from __future__ import annotations

from .filled_store import FAILING


def test_edited_code_is_replayed_beside_its_record(open_page):
    page = open_page("/suites/prices")
    page.locator("a[href*='/cases/']").first.click()
    page.get_by_role("button", name="Run").wait_for()
    code = page.locator("textarea.code").first
    code.fill(code.input_value() + "\nprint('edited <b>here</b>')")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("With 1 edit:").wait_for()
    replayed = page.locator(".step").last.page.get_by_label("replayed")
    assert any("edited <b>here</b>" in text for text in replayed.all_inner_texts())
    assert page.locator(".step .added").count() > 0
    page.get_by_role("button", name="Undo edits").click()
    assert "edited" not in code.input_value()


def test_another_result_of_a_tool_changes_what_is_printed(open_page):
    page = open_page("/suites/prices")
    page.locator("a[href*='/cases/']").first.click()
    result = page.locator("label.within textarea").first
    result.fill("not json")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("alert").get_by_text("is not JSON").wait_for()
    result.fill("9900")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("With 1 edit:").wait_for()
    assert any("9900" in text for text in page.get_by_label("replayed").all_inner_texts())


def test_a_stored_run_is_changed_judged_beside_its_record_and_kept_as_a_case(open_page, workspace):
    page = open_page(f"/traces/{FAILING}")
    page.get_by_role("button", name="edit and run").click()
    form = page.get_by_role("region", name="Edit and run")
    form.locator("label.within textarea").fill("5400")
    form.get_by_label("Keep as a case of suite").fill("what-if")
    form.get_by_role("button", name="Run", exact=True).click()
    table = page.get_by_role("region", name="Recorded and edited")
    row = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name="groundedness", exact=True))
    row.get_by_text("pass 1.00").wait_for()
    assert "fail" in row.inner_text()
    page.get_by_text("of what-if: added").wait_for()
    first = form.locator(".step").first
    assert "4500" in first.get_by_label("recorded").inner_text()
    assert "differs" in first.get_by_label("replayed").inner_text()
    assert (workspace / "what-if" / "suite.yaml").exists()
    assert page.url.endswith("edit=1")
