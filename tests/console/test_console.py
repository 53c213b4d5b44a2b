"""What a person does in each view."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from .filled_store import DISPUTED, IMAGE_WIDTH, QUOTING, TENANT
from .filled_store import FAILING as TRACE

YEAR = "hours=8784"


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


def test_the_characters_that_a_claim_rests_on_are_lit_up_not_others_like_them(open_page):
    page = open_page(f"/traces/{QUOTING}")
    page.locator(".claim.grounded").click()
    lit = page.locator("mark.lit").first
    assert lit.evaluate("each => each.previousSibling.textContent") == "stock value 145.00, price "


def test_a_span_is_chosen_in_the_tree_and_has_an_address(open_page):
    page = open_page(f"/traces/{TRACE}")
    tree = page.get_by_role("navigation", name="Steps")
    tree.get_by_role("button", name="TOOL price_of").click()
    assert f"span={2:016x}" in page.url
    page.locator("pre.why", has_text="attributes").wait_for()
    page.reload()
    page.locator("pre.why", has_text="attributes").wait_for()
    page.locator("details .tree button[aria-expanded=true]").click()
    assert "span=" not in page.url
    assert page.locator("pre.why").count() == 0


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
    page.locator(".row .link").nth(9).wait_for(state="detached")
    page.wait_for_selector(".row .link")
    assert page.url == f"{url}/traces?q=label%3Afail%20layer%3Agroundedness"
    assert "spanproof traces --failing --layer groundedness" in page.locator(".cli").inner_text()
    rows = page.locator(".row .link").count()
    page.reload()
    page.wait_for_selector(".row .link")
    assert page.locator(".row .link").count() == rows
    page.locator(f".row .link[href$='{TRACE}']").click()
    page.wait_for_selector(".claim")
    page.go_back()
    page.wait_for_selector(".row .link")
    assert page.get_by_label("Filter").input_value() == "label:fail layer:groundedness"


def test_a_mistake_in_the_query_line_is_named(open_page):
    page = open_page("/traces?q=state:red")
    assert "state:red names no state" in page.get_by_role("alert").inner_text()


def test_words_of_the_query_line_are_searched_and_copied_as_a_command(open_page):
    page = open_page("/traces?q=colour:red")
    page.get_by_role("heading", name="No trace fits this filter").wait_for()
    assert "spanproof traces --text colour:red" in page.locator(".cli").inner_text()
    page.get_by_label("Filter").fill('"box of tea" 54.00 label:fail')
    page.keyboard.press("Enter")
    page.get_by_role("link", name="What does a box").first.wait_for()
    assert page.locator(".row .link").count() == 2
    assert "$54.00" in page.locator(".row").nth(1).inner_text()
    command = "spanproof traces --failing --text 'box of tea' --text 54.00"
    assert command in page.locator(".cli").inner_text()


def test_a_list_is_ordered_by_a_column_and_saved_as_a_file(open_page):
    page = open_page("/traces?q=label:fail")
    page.get_by_role("button", name="latency").click()
    page.wait_for_url("**order=slowest**")
    page.wait_for_selector(".row .link")
    page.get_by_role("button", name="export").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0].startswith("trace_id,project,run_span_id,agent")
    assert len(lines) > 1
    with page.expect_download() as saved:
        page.get_by_role("button", name="Parquet").click()
    assert saved.value.path().read_bytes().startswith(b"PAR1")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="CSV").wait_for(state="detached")


def test_a_view_is_saved_for_all_readers_and_removed(open_page):
    page = open_page("/traces?q=58.00")
    page.get_by_role("button", name="save this view").click()
    page.get_by_label("Name of the view").fill("cents <b>")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="cents <b>").wait_for()
    page.goto(page.url.partition("?")[0])
    page.get_by_role("link", name="cents <b>").click()
    page.wait_for_url("**q=58.00**")
    page.get_by_role("button", name="remove the view cents <b>").click()
    page.get_by_role("link", name="cents <b>").wait_for(state="detached")


def test_charts_count_the_traces_of_the_list_over_time(open_page):
    page = open_page('/traces?q="box of tea" 54.00 since:366d')
    charts = page.locator(".charts")
    assert "✗ 2 failed" in charts.inner_text()
    assert charts.locator(".stacked .fail").count() == 1
    assert "p95" in charts.inner_text()


def test_facets_count_within_the_filter(open_page):
    page = open_page("/traces?q=58.00")
    page.get_by_role("button", name="facets").click()
    page.get_by_role("navigation", name="Facets").get_by_role("link", name="pricing agent 1").click()
    page.wait_for_url("**agent**")


def test_a_long_list_draws_only_what_is_in_sight_and_loads_the_rest(open_page):
    page = open_page("/traces")
    page.wait_for_selector(".row .link")
    box = page.get_by_role("region", name="Traces").element_handle()
    page.wait_for_function(
        "(box) => { box.scrollTop = box.scrollHeight; return box.scrollHeight > 300 * 32 }", arg=box
    )
    assert page.locator(".row .link").count() < 80
    page.wait_for_function(
        """(box) => {
          box.scrollTop = box.scrollHeight;
          const bottoms = [...box.querySelectorAll('.row')].map((row) => row.getBoundingClientRect().bottom);
          return Math.max(...bottoms) <= box.getBoundingClientRect().bottom + 1;
        }""",
        arg=box,
    )
    assert page.locator(".row .link").count() < 80


def test_the_overview_shows_rates_with_intervals_and_leads_to_the_runs(open_page):
    page = open_page("/?hours=8784")
    card = page.locator(".rate", has_text="groundedness")
    assert re.search(r"[\d.]+ % to [\d.]+ %\s+fails \d+ of \d+, \d+ open", card.inner_text())
    assert card.locator(".chart canvas").count() == 1
    assert page.locator(".chart canvas").count() == 5
    page.get_by_label("Dimension").select_option("agent")
    page.wait_for_selector("th[scope=row]:has-text('pricing agent')")
    card.click()
    page.wait_for_selector(".row .link")
    assert "layer%3Agroundedness" in page.url


def test_keys_walk_through_rows_steps_and_layers(open_page, url):
    page = open_page("/traces?q=label:fail")
    page.wait_for_selector(".row .link")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.tagName") == "INPUT"
    page.locator("h1").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.get_by_role("button", name="promote 1").wait_for()
    page.keyboard.press("o")
    page.wait_for_selector(".step")
    page.keyboard.press("j")
    assert page.url.endswith("step=1")
    page.keyboard.press("?")
    page.locator(".help").wait_for()


def test_a_server_that_went_away_is_reported(open_page):
    page = open_page("/")
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("link", name="Traces").click()
    page.wait_for_selector("[role=alert]")
    assert "does not answer" in page.get_by_role("alert").inner_text()


def test_a_disagreement_is_labelled_counted_and_exported_as_a_case(open_page, workspace):
    page = open_page(f"/review?{YEAR}")
    card = page.locator(".card", has_text="The answer says $58.00").first
    card.get_by_text("note, correction").click()
    card.get_by_label("note").fill("right in cents")
    card.get_by_role("button", name="disagree: pass").click()
    page.get_by_text("human says pass.").wait_for()
    row = page.get_by_role("region", name="Agreement").get_by_role("row", name="groundedness")
    # By layer, and below by week.
    row.filter(has_text="0 of 1").first.wait_for()
    page.get_by_role("button", name="export 1 as cases").click()
    page.get_by_label("suite").fill("wrong-ones")
    page.get_by_role("button", name="Add the run").click()
    page.get_by_text("1 added to wrong-ones").wait_for()
    assert (workspace / "wrong-ones" / "suite.yaml").exists()


def test_a_verdict_is_taken_by_a_key_and_given_to_somebody_with_a_date(open_page):
    page = open_page(f"/review?{YEAR}&layer=execution")
    card = page.locator(".card[data-chosen]")
    page.keyboard.press("j")
    card.wait_for()
    page.keyboard.press("m")
    card.get_by_text("assigned to human, due").wait_for()
    card.get_by_text("assign", exact=True).click()
    card.get_by_label("to", exact=True).fill("ann")
    card.get_by_label("due").fill("2031-02-03")
    card.get_by_role("button", name="Assign").click()
    card.get_by_text("assigned to ann, due 02-03 23:59:59").wait_for()
    page.goto(f"{page.url}&assignee=ann")
    page.get_by_text("assigned to ann, due").wait_for()
    page.keyboard.press("j")
    card.wait_for()
    page.keyboard.press("m")
    page.get_by_role("heading", name="Nothing waits for a person here").wait_for()


def test_an_image_is_small_in_its_step_and_whole_in_a_tab_of_its_own(open_page):
    page = open_page(f"/traces/{DISPUTED}")
    image = page.locator("#step-1").get_by_role("img", name="Image: image/png")
    image.wait_for()
    assert image.evaluate("each => each.naturalWidth") == IMAGE_WIDTH
    assert image.evaluate("each => each.width") <= 160
    with page.context.expect_page() as opened:
        image.click()
    whole = opened.value.locator("img")
    assert whole.evaluate("each => each.naturalWidth") == IMAGE_WIDTH
    opened.value.close()


def test_a_silence_begins_and_ends(open_page):
    page = open_page("/alerts")
    page.get_by_label("matchers").fill("agent=pri* layer=boundary")
    page.get_by_role("button", name="Silence").click()
    page.get_by_text("agent=pri*, layer=boundary").wait_for()
    page.get_by_role("button", name="end it").click()
    page.get_by_text("None is in force.").wait_for()


def test_a_cluster_leads_to_its_runs_and_is_settled(open_page):
    page = open_page(f"/failures?{YEAR}")
    page.get_by_role("link", name="The answer contradicts").first.click()
    page.get_by_role("region", name="Runs", exact=True).wait_for()
    page.get_by_label("state").select_option("acknowledged")
    page.get_by_text("It is acknowledged now.").wait_for()


def test_a_policy_is_tried_on_stored_code(open_page):
    page = open_page(f"/boundary?{YEAR}")
    page.get_by_label("Policy").fill("denied_calls: [print]")
    page.get_by_role("button", name="Dry run").click()
    page.get_by_role("region", name="Changes").wait_for()
    assert "the policy denies" in page.get_by_role("region", name="Changes").inner_text()


def test_an_assertion_is_tried_and_the_address_holds_it(open_page):
    page = open_page("/suites")
    page.get_by_label("Assertion").fill("groundedness.score >= 0.9 for all cases")
    page.get_by_label("hours").last.fill("8784")
    page.get_by_role("button", name="Try").click()
    page.locator(".card", has_text="failed").wait_for()
    page.reload()
    page.locator(".card", has_text="failed").wait_for()


def test_the_query_line_completes_names_and_values(open_page):
    page = open_page("/traces")
    field = page.get_by_label("Filter")
    field.press_sequentially("lab")
    page.get_by_role("option", name="label:fail").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    field.press_sequentially("agent:pri")
    page.get_by_role("option", name='agent:"pricing agent"').click()
    assert field.input_value().strip() == 'label:fail agent:"pricing agent"'


def test_what_is_chosen_in_a_trace_is_in_its_address(open_page):
    page = open_page(f"/traces/{TRACE}")
    page.locator(".claim.contradicted").click()
    page.get_by_role("button", name="trajectory").first.click()
    assert "claim=" in page.url
    assert "layer=trajectory" in page.url
    page.reload()
    page.wait_for_selector(".why")
    assert page.locator("mark.lit").first.inner_text() == "4500"


def test_a_verdict_is_judged_by_keyboard_alone(open_page):
    page = open_page(f"/review?{YEAR}&layer=trajectory")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "agree":
            break
    card = page.locator(".card", has=page.locator(":focus"))
    verdict = card.locator(".verdict").first.inner_text().split()[1]
    page.keyboard.press("Enter")
    page.get_by_text(f"human says {verdict}.").wait_for()


def test_a_case_is_opened_from_its_suite(open_page):
    page = open_page("/suites/prices")
    page.locator("a[href*='/cases/']").first.click()
    page.get_by_role("heading", name="Frozen run", exact=True).first.wait_for()
    assert "$54.00" in page.locator("main").inner_text()


def test_a_session_is_judged_as_a_whole(open_page, url):
    page = open_page(f"/sessions?{YEAR}")
    row = page.get_by_role("row", name="<img src=x")
    row.get_by_role("link", name="✗ groundedness 1").wait_for()
    row.get_by_role("link", name="<img").click()
    page.get_by_role("heading", name="0 of 1 request ended well; first mistake in turn 1").wait_for()
    page.get_by_role("region", name="Turns").get_by_role("link", name="turn 1").click()
    page.locator(".claim.contradicted").wait_for()
    page.go_back()
    page.reload()
    page.get_by_role("region", name="Turns").wait_for()
    assert "spanproof session '" in page.locator(".cli").inner_text()


def test_a_session_of_several_turns_lists_them_in_order(open_page):
    page = open_page("/sessions/chat%2F17")
    turns = page.get_by_role("region", name="Turns").locator("tbody tr")
    assert turns.count() == 3
    assert "requested again" in turns.nth(1).inner_text()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("session:chat/17", 3),
        ("user:ada", 3),
        ("attribute:tenant.id=nobody", 0),
        ('attribute:tenant.id="acme \\"north\\" \\\\ co"', 3),
        ('attribute:"tenant.id=acme \\"north\\" \\\\ co" label:fail', 0),
    ],
)
def test_the_query_line_takes_what_spans_carry(open_page, typed, found):
    page = open_page(f"/traces?q={quote(typed)}")
    assert page.locator(".row .link").count() == found
    assert "--where" in page.locator(".cli").inner_text()


def test_the_query_line_completes_values_of_an_attribute(open_page):
    page = open_page("/traces")
    field = page.get_by_label("Filter")
    field.press_sequentially("attribute:tenant.id=ac")
    page.get_by_role("option", name="attribute:").click()
    page.keyboard.press("Enter")
    page.locator(".row .link").nth(3).wait_for(state="detached")
    page.locator(".row .link").nth(2).wait_for()
    assert page.locator(".row .link").count() == 3


def test_an_attribute_is_a_dimension_of_the_overview_and_leads_to_its_runs(open_page):
    page = open_page(f"/?{YEAR}")
    page.get_by_label("Dimension", exact=True).select_option("attribute")
    page.get_by_label("Dimension: key of the attribute").fill("tenant.id")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Cohorts").get_by_role("rowheader", name=TENANT).wait_for()
    assert "by=attribute%3Atenant.id" in page.url
    page.reload()
    page.get_by_role("region", name="Cohorts").get_by_role("rowheader", name=TENANT).wait_for()


def test_two_values_of_an_attribute_are_compared(open_page):
    page = open_page(f"/compare?{YEAR}&dimension=attribute:tenant.id&by=session")
    page.get_by_role("combobox", name="before").fill(TENANT)
    page.get_by_role("combobox", name="after").fill(TENANT)
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("region", name="Values").get_by_role("rowheader", name="chat/17").wait_for()


def test_an_experiment_is_a_grid_whose_cells_show_answers_beside_a_baseline(open_page):
    page = open_page("/experiments/weekly?baseline=nightly")
    grid = page.get_by_role("region", name="Cases by trials")
    row = grid.locator("tbody tr")
    assert row.get_by_role("link").first.inner_text().startswith("What does a box")
    assert "flipped" in row.inner_text()
    assert [mark.get_attribute("class") for mark in row.locator("td .verdict[aria-hidden]").all()].count(
        "verdict open"
    ) == 1
    row.locator(".trial").first.focus()
    page.get_by_role("tooltip").get_by_text("300 boxes were sold.").wait_for()
    page.get_by_label("baseline").select_option("")
    page.wait_for_url("**/experiments/weekly?baseline=")
    page.get_by_text("no baseline").wait_for()
    assert "flipped" not in row.inner_text()


def test_three_trials_fit_a_screen_beside_their_baseline(open_page):
    page = open_page("/settings")

    def run_three_times(route):
        answer = route.fetch()
        found = answer.json()
        for row in found["rows"]:
            row["trials"] *= 3
        route.fulfill(response=answer, json=found)

    page.route("**/api/v1/experiments/weekly?*", run_three_times)
    page = open_page("/experiments/weekly?baseline=nightly")
    grid = page.get_by_role("region", name="Cases by trials")
    assert grid.locator("tbody tr .trial").count() == 3
    assert grid.evaluate("each => each.scrollWidth <= each.clientWidth")


def test_a_rule_is_made_in_the_page_and_removed(open_page):
    page = open_page("/alerts")
    name = "answers that contradict their sources"
    page.get_by_role("button", name="Keep the rule").click()
    row = page.get_by_role("region", name="Rules").get_by_role("row", name=name)
    row.get_by_text("threshold 10 %").wait_for()
    page.get_by_label("A rule, with the keys").fill("name: nothing")
    row.get_by_role("button", name=f"edit {name}").click()
    assert f"name: {name}" in page.get_by_label("A rule, with the keys").input_value()
    row.get_by_role("button", name=f"remove {name}").click()
    row.wait_for(state="detached")
    page.get_by_role("link", name="Deliveries").click()
    page.get_by_role("heading", name="No notification was sent yet").wait_for()
