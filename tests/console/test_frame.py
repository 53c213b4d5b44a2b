"""What every page has: side bar, project, window, keys, a finder, and a name in the browser's tab."""

from __future__ import annotations

import re

import pytest

from .conftest import settle
from .filled_store import FAILING, OPEN
from .test_console import YEAR

PAGES = (
    "Overview", "Traces", "Sessions", "Failures", "Review", "Alerts", "Suites", "Experiments", "Compare",
    "Boundary", "Settings",
)  # fmt: skip


def test_the_side_bar_leads_to_every_page_and_a_question_mark_lists_its_keys(open_page):
    page = open_page("/settings")
    bar = page.get_by_role("navigation", name="Pages")
    names = bar.get_by_role("link").all_inner_texts()
    assert [re.sub(r"\W*\d+$", "", name).strip() for name in names] == list(PAGES)
    for name in PAGES:
        bar.get_by_role("link", name=name).click()
        bar.locator("[aria-current=page]", has_text=name).wait_for()
        settle(page)
        page.keyboard.press("?")
        page.locator(".help").get_by_text("this list").wait_for()
        page.keyboard.press("Escape")
        page.locator(".help").wait_for(state="detached")


def test_the_side_bar_counts_what_waits_for_a_person(open_page):
    page = open_page("/nothing")
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Review")
    answer = {"layer": None, "waiting": []}
    page.route("**/api/v1/review?*", lambda route: route.fulfill(json=answer))
    for total, more, shown in ((12, False, "12"), (1000, True, "1,000+")):
        answer |= {"total": total, "more": more}
        page.reload()
        link.get_by_text(shown, exact=True).wait_for()


def test_a_window_is_chosen_where_it_changes_what_is_shown(open_page):
    for path in ("/", "/traces", "/failures"):
        assert open_page(path).get_by_label("Time range").count() == 1
    for path in (f"/traces/{FAILING}", "/sessions/chat%2F17", "/compare/runs", "/settings"):
        assert open_page(path).get_by_label("Time range").count() == 0


def test_rates_are_shown_beside_those_of_the_window_before(open_page):
    page = open_page(f"/?{YEAR}")
    assert "year before" not in page.locator(".rates").inner_text()
    page.get_by_label("Compare with").select_option("before")
    page.wait_for_url("**compare=before**")
    card = page.locator(".rate", has_text="groundedness")
    card.get_by_text("the year before has no verdict").wait_for()


def test_a_project_is_chosen_and_links_keep_it(open_page):
    page = open_page(f"/sessions?{YEAR}")
    page.get_by_label("Project").first.select_option("default")
    page.wait_for_url("**project=default**")
    page.get_by_role("region", name="Sessions").get_by_role("link", name="chat/17").click()
    page.wait_for_url("**/sessions/chat%2F17?project=default")
    page.get_by_role("link", name="turn 1").first.click()
    page.wait_for_url("**/traces/*project=default*")


def test_a_link_opens_in_a_new_tab_for_the_project_that_is_chosen(open_page):
    for path in ("/traces?q=58.00&", f"/failures?{YEAR}&", f"/?{YEAR}&by=agent&", f"/traces/{FAILING}?"):
        page = open_page(f"{path}project=default")
        links = page.locator("a[href^='/']")
        assert links.count() > 0
        assert links.count() == page.locator("a[href^='/'][href*='project=default']").count()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Traces", exact=True).first.click(modifiers=["ControlOrMeta"])
    opened.value.wait_for_url("**/traces?*project=default*")
    opened.value.close()


def test_two_keys_go_to_a_page(open_page, url):
    page = open_page("/settings")
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_url(f"{url}/failures")


def test_the_finder_opens_a_page_and_a_trace_by_the_start_of_its_id(open_page, url):
    page = open_page("/settings")
    page.keyboard.press("Control+k")
    page.get_by_label("Find", exact=True).fill("boun")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/boundary")
    page.keyboard.press("Control+k")
    page.get_by_label("Find", exact=True).fill(FAILING[:12])
    page.keyboard.press("Enter")
    page.locator(".claim.contradicted").wait_for()


def test_the_finder_finds_cases_traces_experiments_and_commands(open_page):
    page = open_page("/settings")

    def find(text: str, label: str | re.Pattern[str]) -> None:
        page.keyboard.press("Control+k")
        page.get_by_label("Find", exact=True).fill(text)
        page.get_by_role("dialog").get_by_role("button", name=label).first.click()
        page.get_by_label("Find", exact=True).wait_for(
            state="detached"
        )  # else the next words go into this one

    find("box of tea", re.compile("case pricing-agent-.* of prices"))
    page.wait_for_url("**/suites/prices/cases/pricing-agent-*")
    find("54.00", re.compile("trace 5555.* of pricing agent: ✗ fail"))
    page.locator(".claim.contradicted").wait_for()
    find("weekly", "weekly experiment on prices")
    page.wait_for_url("**/experiments/weekly")
    find("keys", "Show the keys")
    page.locator(".help").wait_for()


def test_the_finder_names_what_it_could_not_search(open_page):
    page = open_page("/settings")

    def break_suites(route):
        route.fulfill(status=503, json={"detail": "the disk is full"})

    def refuse_experiments(route):
        route.fulfill(status=403, json={"detail": "this token reads one project alone"})

    page.route("**/api/v1/suites", break_suites)
    page.route("**/api/v1/experiments", refuse_experiments)
    page.keyboard.press("Control+k")
    page.get_by_role("alert").get_by_text("suites are not searched: the disk is full").wait_for()
    # What a reader of one project may not see is no fault.
    assert "experiments" not in page.get_by_role("alert").inner_text()


def test_the_window_is_in_the_address_of_every_page(open_page):
    page = open_page(f"/failures?{YEAR}")
    page.get_by_label("Time range").select_option("720")
    page.wait_for_url("**/failures?hours=720")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Boundary").click()
    page.wait_for_url("**/boundary?hours=720")
    page.get_by_role("heading", name="What agents tried, last month").wait_for()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"/traces/{FAILING}", "✗ fail: groundedness: The answer says $54.00"),
        (f"/traces/{OPEN}", "? open: "),
        (f"/?{YEAR}", "✗ fail: Groundedness fails most"),
        ("/experiments/weekly", "? open: "),
        ("/settings", "Settings"),
    ],
)
def test_the_tab_names_the_page_and_its_verdict(open_page, path, words):
    page = open_page(path)
    page.wait_for_function("words => document.title.startsWith(words)", arg=words)
    assert page.title().endswith("· Spanproof")


def test_times_are_the_reader_s_and_name_utc(browser, url):
    context = browser.new_context(timezone_id="Asia/Tokyo")
    page = context.new_page()
    page.goto(f"{url}/traces/{FAILING}")
    moment = page.locator("main time").first
    moment.wait_for()
    local, utc = moment.inner_text(), moment.get_attribute("title")
    hours = (int(local[6:8]) - int(utc[11:13])) % 24
    context.close()
    assert utc.endswith(" UTC")
    assert hours == 9


def test_a_phone_has_one_row_of_navigation_and_a_drawer_with_the_rest(open_page):
    page = open_page("/", width=390)
    bar = page.get_by_role("navigation", name="Main pages")
    tops = bar.locator("> *").evaluate_all("all => all.map((each) => each.getBoundingClientRect().top)")
    assert len(tops) == 5
    assert len(set(tops)) == 1
    bar.get_by_role("button", name="More").click()
    page.get_by_role("dialog").get_by_role("link", name="Sessions").click()
    page.get_by_role("heading", name="Sessions").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_of_rules_break_between_their_words_on_a_phone(open_page, scheme):
    page = open_page("/boundary?hours=8784", width=390, scheme=scheme)
    broken = (
        page.get_by_label("Findings")
        .locator("tbody code")
        .evaluate_all(
            """codes => codes.flatMap(code => {
          const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), broken = [];
          while (walk.nextNode()) for (const word of walk.currentNode.data.matchAll(/[^-._]+/g)) {
            const range = document.createRange();
            range.setStart(walk.currentNode, word.index);
            range.setEnd(walk.currentNode, word.index + word[0].length);
            if (range.getClientRects().length > 1) broken.push(word[0]);
          }
          return broken;
        })"""
        )
    )
    assert not broken
    assert page.get_by_label("Findings").get_by_text("text.bidirectional").count() == 1


def test_nothing_moves_where_a_reader_wants_less_motion(browser, url):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{url}/traces/{FAILING}")
    page.locator(".claim.contradicted").click()
    moving = page.evaluate(
        """() => [...document.querySelectorAll('*')].filter((each) => {
            const style = getComputedStyle(each);
            return parseFloat(style.transitionDuration) > 0.01 || parseFloat(style.animationDuration) > 0.01;
        }).map((each) => each.outerHTML.slice(0, 120))"""
    )
    context.close()
    assert not moving


def test_escape_closes_the_finder(open_page):
    page = open_page("/settings")
    for _ in range(2):
        page.keyboard.press("Control+k")
        page.get_by_label("Find", exact=True).wait_for()
        page.keyboard.press("Escape")
        page.get_by_label("Find", exact=True).wait_for(state="detached")


def test_the_page_keeps_to_its_policy(open_page):
    page = open_page("/settings")
    assert page.locator("style").count() == 0
    page.keyboard.press("Control+k")
    page.get_by_label("Find", exact=True).wait_for()
    assert page.locator("style").count() == 0
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('13px \"Inter Variable\"'))")


def test_a_card_is_chosen_and_skipped_by_keys(open_page):
    page = open_page(f"/review?{YEAR}&layer=trajectory")
    page.keyboard.press("j")
    page.locator(".card[data-chosen]").wait_for()
    before = page.locator(".card").count()
    page.keyboard.press("s")
    page.wait_for_function("count => document.querySelectorAll('.card').length === count", arg=before - 1)
    assert page.locator(".card[data-chosen]").count() == 1


def test_a_theme_is_chosen_and_kept(open_page):
    page = open_page("/settings")
    paper = "() => getComputedStyle(document.querySelector('header.bar')).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="dark theme").click()
    page.get_by_role("button", name="light theme").wait_for()
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    page.get_by_role("button", name="light theme").wait_for()
    assert page.evaluate(paper) == dark
