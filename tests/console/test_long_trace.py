"""A trace of 4,000 spans stays usable: only what is near the screen is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import Store, open_store
from spanproof.trace import Trace, trace_of

from ..suites.conftest import misquote

SPANS, STEPS = 4_000, 1_333
TRACE = "8" * 32
NEAR = 40


def long_trace() -> Trace:
    """A run of 1,333 steps, of which each calls a tool twice."""
    root, step, call, _ = misquote().spans
    spans = [replace(root, end_ns=root.start_ns + STEPS * 3_000_000)]
    for number in range(STEPS):
        start = root.start_ns + number * 3_000_000
        own = f"{0x1000 + 3 * number:016x}"
        info = replace(step.step, number=number + 1)
        spans.append(replace(step, span_id=own, start_ns=start, end_ns=start + 900_000, step=info))
        for other in (1, 2):
            at = start + other * 200_000
            spans.append(
                replace(
                    call,
                    span_id=f"{0x1000 + 3 * number + other:016x}",
                    parent_id=own,
                    start_ns=at,
                    end_ns=at + 1000,
                )
            )
    return trace_of([replace(span, trace_id=TRACE) for span in spans])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("long") / "store") as opened:
        engine = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not in this test")
        opened.write([engine.evaluate(long_trace())])
        yield opened


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return tmp_path_factory.mktemp("none")


def test_only_steps_near_the_screen_are_drawn_and_every_step_is_reached(open_page):
    page = open_page(f"/traces/{TRACE}")
    steps = page.get_by_role("region", name="Step ")
    steps.first.wait_for()
    assert page.locator(".step").count() == STEPS
    assert page.locator(".step:not(.place)").count() < NEAR
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.url.endswith("step=2")
    page.locator(".side button", has_text=f"step {STEPS}").click()
    page.locator(f"#step-{STEPS} .source").wait_for()
    page.reload()
    page.locator(f"#step-{STEPS} .source").wait_for()
    assert page.locator(f"#step-{STEPS}").evaluate(
        "each => each.getBoundingClientRect().top < innerHeight && each.getBoundingClientRect().bottom > 0"
    )
    assert page.locator(".step:not(.place)").count() < 2 * NEAR


def test_its_spans_are_listed_on_demand(open_page):
    page = open_page(f"/traces/{TRACE}")
    summary = page.locator("summary", has_text=f"{SPANS} spans")
    assert page.locator("details .tree li").count() == 0
    summary.click()
    page.locator("details .tree li").nth(SPANS - 1).wait_for(state="attached")
    page.locator("details .tree button").nth(1).click()
    page.locator("pre.why", has_text="attributes").wait_for()


@pytest.mark.parametrize("width", [390, 1440])
def test_it_fits_its_screen_and_is_accessible(open_page, axe, width):
    page = open_page(f"/traces/{TRACE}", width=width)
    page.evaluate(axe)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert not [(each["id"], each["nodes"][0]["html"][:150]) for each in found["violations"]]
