"""Not judged is not passed: what is open is amber and says so wherever a verdict is shown."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page

from .conftest import settle
from .filled_store import ERRORED, FAILING, OPEN, QUOTING
from .test_console import YEAR

STATES = {"pass": QUOTING, "fail": FAILING, "open": OPEN, "errored": ERRORED}
MARKS = {"pass": "✓", "fail": "✗", "open": "? open", "errored": "! errored"}


def colour_of(mark: Locator) -> str:
    return mark.evaluate("each => getComputedStyle(each).color")


def colour_named(page: Page, token: str) -> str:
    """Return the colour that a token has in the page's theme."""
    return page.evaluate(
        """name => {
          const probe = document.body.appendChild(document.createElement('i'));
          probe.style.color = `var(--${name})`;
          const found = getComputedStyle(probe).color;
          probe.remove();
          return found;
        }""",
        token,
    )


def check_mark(page: Page, mark: Locator, state: str) -> None:
    """A mark says its state and has its colour; a tick and green are those of a pass."""
    assert MARKS[state] in mark.inner_text()
    assert colour_of(mark) == colour_named(page, state)
    assert ("✓" in mark.inner_text()) == (state == "pass")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES)
def test_the_title_of_a_trace_is_in_its_state(open_page, state, scheme):
    page = open_page(f"/traces/{STATES[state]}", scheme=scheme)
    check_mark(page, page.locator("h1 .verdict"), state)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("state", STATES)
def test_a_row_and_a_phone_s_card_are_in_the_state_of_the_trace(open_page, state, width):
    page = open_page(f"/traces?q=state:{state}", width=width)
    page.locator(".row .link").first.wait_for()
    row = page.locator(".row:not(.head)").first
    check_mark(page, row.locator(".verdict:visible").first, state)
    assert page.locator(f".links [aria-current=true] .verdict.{state}").count() == 1


def test_what_is_open_says_what_was_checked_then_what_is_open_and_why(open_page):
    page = open_page(f"/traces/{OPEN}")
    claims = page.locator(".claim").all_inner_texts()
    assert [" ".join(claim.split()) for claim in claims] == [
        "$45.00 (grounded)",
        "300 (open)",
        "2021 (open)",
    ]
    assert "3 claims: 1 grounded, 2 open" in page.locator(".side").last.inner_text()
    layer = page.locator(".evidence section").first
    assert layer.locator("h4").all_inner_texts() == ["Checked", "? open"]
    assert "The answer holds a value that no source has: 300" in layer.inner_text()


def test_skipped_layers_are_folded_by_their_cause(open_page):
    page = open_page(f"/traces/{ERRORED}?layer=all")
    folded = page.locator(".evidence > details")
    assert folded.locator("> summary").all_inner_texts() == [
        "– skipped correctness, boundary The run has no code"
    ]
    page.get_by_role("button", name="– skipped correctness, boundary").wait_for()


def test_the_state_is_a_filter_that_the_address_keeps(open_page, url):
    page = open_page("/traces?q=agent:%22pricing%20agent%22%20label:fail")
    states = page.get_by_role("group", name="State")
    assert states.locator("[aria-current=true]").inner_text() == "✗ fail"
    states.get_by_role("link", name="! errored").click()
    page.locator(f".row .link[href$='{ERRORED}']").wait_for()
    assert page.url == f"{url}/traces?q=state%3Aerrored%20agent%3A%22pricing%20agent%22"
    assert "spanproof traces --state errored" in page.locator(".cli").inner_text()
    page.reload()
    page.locator(f".row .link[href$='{ERRORED}']").wait_for()
    assert page.locator(".row .link").count() == 1


def test_an_old_address_of_passing_traces_lists_nothing_that_is_open(open_page):
    page = open_page("/traces?q=label:pass")
    page.locator(".row .link").first.wait_for()
    assert page.locator(".row .verdict.open").count() == 0


def test_what_errored_is_a_part_of_every_bar(open_page):
    page = open_page(f"/?{YEAR}")
    card = page.locator(".rate", has_text="execution")
    assert "1 errored" in card.locator(".shares").get_attribute("aria-label")
    assert card.locator(".stacked .errored").count() == 1
    page = open_page("/traces?q=state:errored since:366d")
    page.locator(".charts .stacked .errored").wait_for()
    assert "! 1 errored" in page.locator(".charts").inner_text()
    assert "✓" not in page.locator(".charts").inner_text()


@pytest.mark.parametrize(("state", "mark"), [("errored", "!"), ("open", "?"), ("pass", "✓")])
def test_the_overview_is_in_its_gravest_state(open_page, state, mark):
    page = open_page("/settings")
    gravest = {"state": state, "sentence": "No run failed in the last year"}
    page.route("**/api/v1/overview?*", lambda route: route.fulfill(json=route.fetch().json() | gravest))
    page.goto(f"{page.url.partition('/settings')[0]}/?{YEAR}")
    page.get_by_role("heading", name=f"{mark} No run failed in the last year").wait_for()
    assert page.title().startswith(f"{mark} ")
    assert colour_of(page.locator("h1 .verdict")) == colour_named(page, state)


def test_what_an_evaluator_did_not_read_is_emphasised(open_page):
    for path in (f"/traces/{OPEN}", f"/review?{YEAR}&layer=groundedness", "/traces?q=state:open"):
        page = open_page(path)
        words = page.locator("em", has_text="sold").first
        words.wait_for()
        assert "not read: sold" in words.locator("xpath=..").inner_text()


@pytest.mark.parametrize(("more", "state"), [({}, "pass"), ({"errored": 1}, "open"), ({"open": 1}, "open")])
def test_better_is_green_only_where_all_was_judged(open_page, more, state):
    page = open_page("/settings")

    def answer(route):
        found = route.fetch().json()
        pair = found["layers"]["correctness"]
        pair["before"] = pair["after"] | {"judged": 9, "errored": 0, "open": 0}
        pair["after"] = pair["before"] | more
        route.fulfill(json=found | {"layers": found["layers"] | {"correctness": pair | {"change": "better"}}})

    page.route("**/api/v1/compare?*", answer)
    page.goto(f"{page.url.partition('/settings')[0]}/compare?{YEAR}")
    row = page.get_by_role("region", name="Layers").get_by_role("row", name="correctness")
    mark = row.get_by_text("▼ better")
    mark.wait_for()
    assert colour_of(mark) == colour_named(page, state)


def test_an_alert_that_ended_is_no_pass(open_page):
    page = open_page("/settings")
    alert = {
        "id": "a", "rule": "quotes", "status": "resolved", "summary": "it ended", "severity": "page",
        "threshold": "", "since_ns": 1, "at_ns": 1,
        "cohort": {}, "scores": [], "failures": [], "undelivered": [],
    }  # fmt: skip
    page.route("**/api/v1/alerts/history", lambda route: route.fulfill(json={"events": [alert]}))
    page.goto(page.url.replace("/settings", "/alerts"))
    mark = page.get_by_role("region", name="History").get_by_text("resolved")
    mark.wait_for()
    assert "✓" not in mark.inner_text()
    assert colour_of(mark) == colour_named(page, "skipped")


def test_what_the_history_of_alerts_leaves_out_is_counted(open_page):
    page = open_page("/settings")
    page.route("**/api/v1/alerts/history", lambda route: route.fulfill(json={"events": [], "left_out": 3}))
    page.goto(page.url.replace("/settings", "/alerts"))
    page.get_by_text("3 events are left out: this version cannot read them").wait_for()


@pytest.mark.parametrize(
    ("cases", "words"),
    [(29, "too few cases to say (+10.0 points)"), (30, "+10.0 points")],
)
def test_a_difference_within_chance_says_so_where_cases_are_few(open_page, cases, words):
    page = open_page("/settings")
    unclear = {"difference": 0.1, "difference_low": -0.2, "difference_high": 0.4, "counts": {"pass": cases}}

    def answer(route):
        found = route.fetch().json()
        route.fulfill(json=found | {"column": found["column"] | unclear})

    page.route("**/api/v1/experiments/weekly?*", answer)
    page.goto(page.url.replace("/settings", "/experiments/weekly?baseline=nightly"))
    card = page.locator(".rate", has_text="difference")
    card.get_by_text(words).wait_for()
    assert ("-20.0 points to +40.0 points" in card.inner_text()) == (cases == 30)


def test_rates_state_how_many_are_open(open_page):
    page = open_page(f"/?{YEAR}&by=agent")
    assert "Groundedness fails most" in page.locator("h1").inner_text()
    assert " open" in page.locator("h1").inner_text()
    card = page.locator(".rate", has_text="groundedness")
    words = card.locator(".shares").get_attribute("aria-label")
    assert words.split(", ")[1].endswith(" open")
    page.get_by_role("region", name="Cohorts").get_by_role("link", name=" open").first.click()
    page.locator(".row .link").first.wait_for()
    assert "state%3Aopen%20layer%3Agroundedness" in page.url


def test_a_cell_of_a_suite_is_open_and_a_column_counts_it(open_page):
    page = open_page("/suites/prices")
    weekly = page.locator("thead th", has_text="weekly")
    assert "? 1 open" in weekly.inner_text()
    assert "✓" not in weekly.inner_text()
    check_mark(page, page.locator("tbody td .verdict.open").first, "open")
    weekly.get_by_role("link", name="weekly").click()
    page.locator("h1 .verdict").wait_for()
    check_mark(page, page.locator("h1 .verdict"), "open")
    page.goto(page.url.replace("/experiments/weekly", "/suites/prices"))
    page.locator("a[href*='/cases/']").first.click()
    page.get_by_role("heading", name="Frozen run", exact=True).wait_for()
    check_mark(page, page.locator("h1 .verdict"), "open")


def test_the_words_of_a_suite_s_cells_name_what_they_are_beside(open_page):
    page = open_page("/suites/prices")
    assert page.locator("td", has_text="0/2").locator(".verdict").first.inner_text() == "✗ reproduced"
    page.get_by_text("Compared with the frozen run of its case: fixed").wait_for()
    page.get_by_label("baseline").select_option("nightly")
    page.get_by_text("Compared with nightly: fixed").wait_for()
    assert page.locator("td", has_text="0/2").locator(".verdict").first.inner_text() == "✗ failed"


def test_a_cluster_that_regressed_is_in_that_state(open_page):
    page = open_page("/failures?hours=8784")

    def regress(route):
        answer = route.fetch().json()
        route.fulfill(json={**answer, "failure": {**answer["failure"], "state": "regressed"}})

    page.route("**/api/v1/failures/*", regress)
    page.locator("tbody a").first.click()
    assert page.get_by_label("state", exact=True).input_value() == "regressed"


def test_what_was_judged_and_is_open_now_is_a_change(open_page):
    page = open_page(f"/compare/runs?before=traces/{QUOTING}&after=traces/{OPEN}")
    assert "Groundedness pass → open" in page.locator("h1").inner_text()
    row = page.get_by_role("region", name="Verdicts").get_by_role("row", name="groundedness changed")
    assert "✓ pass" in row.inner_text()
    assert "? open" in row.inner_text()


def test_a_person_settles_what_is_open(open_page):
    page = open_page(f"/review?{YEAR}&layer=groundedness")
    cards = page.locator(".card")
    card = cards.first
    assert "? open" in card.inner_text()
    link = card.get_by_role("link").first.get_attribute("href")
    card.get_by_role("button", name="pass", exact=True).click()
    page.get_by_text("human says pass.").wait_for()
    page.locator(f".card a[href='{link}']").wait_for(state="detached")
    page.goto(page.url.partition("/review")[0] + link)
    settle(page)
    check_mark(page, page.locator("h1 .verdict"), "pass")
    page.goto(f"{page.url.partition('?')[0]}?layer=groundedness")
    settle(page)
    said = page.locator(".evidence section").first.inner_text()
    assert "Settled by a person, human. Before: ? open" in " ".join(said.split())


def test_a_person_rules_on_the_sentences_that_are_open(open_page):
    page = open_page(f"/review?{YEAR}&layer=groundedness")
    card = page.locator(".card", has_text="300 boxes were sold")
    card.get_by_label("ruling on: A box of tea costs $45.00, and 300 boxes").select_option("false")
    # The run stays open for the other tests.
    page.route("**/api/v1/labels", lambda route: route.fulfill(status=503, json={"detail": "not now"}))
    with page.expect_request("**/api/v1/labels") as sent:
        card.get_by_role("button", name="fail", exact=True).click()
    assert [each["ruling"] for each in sent.value.post_data_json["sentences"]] == ["false"]
    card.get_by_text("not now").wait_for()


def test_a_verdict_on_the_page_of_a_trace_settles_it_there(open_page):
    page = open_page("/traces?q=state:open")
    page.locator(".row .link").first.wait_for()
    link = page.locator(".row .link").first.get_attribute("href")
    page.goto(page.url.partition("/traces")[0] + link)
    settle(page)
    check_mark(page, page.locator("h1 .verdict"), "open")
    page.locator(".evidence section").first.get_by_role("button", name="fail", exact=True).click()
    page.locator("h1 .verdict.fail").wait_for()
    assert "Settled by a person" in page.locator(".evidence section").first.inner_text()
