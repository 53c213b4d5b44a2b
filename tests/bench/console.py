"""How soon the console's first view can be used over a big store, and how its list scrolls.

A store of 100,000 traces with 1,000,000 scores is made of real evaluations, which are multiplied within
ClickHouse: over a week, ten releases, models and prompt versions. Then a real browser opens the overview of a
day (the first view), and scrolls the list of traces. Control: the same pages over the evaluations alone.

Words of one trace, of none and of all are searched through the API, and what needs no answer of the server is
timed in the browser: the finder, and the menu of columns. A trace of 4,000 spans is opened as well, and left
for the last step of its first page.

    python -m tests.bench.console [--traces 100000] [--directory DIR]
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import httpx
from playwright.sync_api import Browser, sync_playwright
from tests.console.filled_store import LONG, SPANS, long_trace
from tests.suites.conftest import misquote

from spanproof.api import ConsoleServer
from spanproof.api.trace_pages import STEPS_OF_PAGE
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import Store, open_store
from spanproof.store.schema import FAILURES, REPLAYS, SCORES, SNIPPETS, TRACES
from spanproof.store.table import Table
from spanproof.trace import Trace, trace_of

_WEEK_NS = 7 * 24 * 3600 * 10**9
_RELEASES = ("v12", "v11", "v10", "v9", "v8", "v7", "v6", "v5", "v4", "v3")
_MODELS = ("gpt-4o", "claude-sonnet", "qwen-72b")
_FAILS, _PASSES = "5" * 32, "7" * 32
_TURNS = 5
_SCROLLS = 60
_PATIENCE_MS = 180_000


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--traces", type=int, default=100_000)
    options.add_argument("--directory", type=Path)
    given = options.parse_args()
    root = given.directory or Path(tempfile.mkdtemp(prefix="console-bench-"))
    program = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with open_store(root / "store") as store:
            seed(store)
            measure(browser, store, "control")
            multiply(store, given.traces)
            measure(browser, store, f"{given.traces} traces")
            measure_long_trace(browser, store)
        browser.close()


def seed(store: Store) -> None:
    """Write the evaluations of two real runs, one of which fails."""
    with open_sandbox("jail") as sandbox:
        engine = Engine(pipeline=Pipeline(), sandbox=sandbox)
        store.write(
            [engine.evaluate(misquote()), engine.evaluate(_other(misquote("A box of tea costs $45.00.")))]
        )


def multiply(store: Store, traces: int) -> None:
    """Copy every row of the store until there are so many traces, over the last week and all cohorts."""
    step = _WEEK_NS // traces
    now = time.time_ns()
    with store._connections.lease() as client:
        for table in (SCORES, SNIPPETS, REPLAYS, FAILURES, TRACES):
            for first in range(0, traces, 10_000):
                count = min(10_000, traces - first)
                client.command(_copies(table, store._connections.database, first, count, step, now))


def _copies(table: Table, database: str, first: int, count: int, step: int, now: int) -> str:
    """Return the statement that copies the rows of one of the two runs for each number."""
    at = f"({now} - toInt64(n) * {step})"
    fresh = {
        "trace_id": "concat(lower(hex(n + 1)), '0', substring(trace_id, 1, 31 - length(hex(n + 1))))",
        "span_time": f"fromUnixTimestamp64Nano({at}, 'UTC')",
        "span_time_ns": f"toUInt64{at}",
        "start": f"fromUnixTimestamp64Nano({at}, 'UTC')",
        "start_ns": f"toUInt64{at}",
        "end_ns": f"toUInt64({at} + 1800000000)",
        "release": f"{list(_RELEASES)}[1 + toUInt32(intDiv(n * {step} * 10, {_WEEK_NS})) % 10]",
        "prompt_version": "concat('p', toString(1 + n % 4))",
        "model": f"{list(_MODELS)}[1 + n % 3]",
        "task": "concat('task ', toString(n % 12))",
        "text": "concat(text, ' order-', toString(n))",
    }
    fresh["id"] = "concat(id, hex(n))"
    names = table.names
    chosen = ", ".join(f"{fresh[name]} AS `{name}`" if name in fresh else f"`{name}`" for name in names)
    quoted = ", ".join(f"`{name}`" for name in names)
    scores = " ORDER BY name != layer, name LIMIT 10 BY trace_id" if table is SCORES else ""
    # The newest release fails more often than the others.
    fails = f"(n % if(n * {step} * 10 < {_WEEK_NS}, 7, 29) = 0)"
    return (
        f"INSERT INTO {database}.{table.name} ({quoted}) SELECT {chosen} FROM ("
        f"SELECT * FROM {database}.{table.name} FINAL"
        f" WHERE {table.name}.trace_id IN ('{_FAILS}', '{_PASSES}'){scores}) AS seed"
        f" CROSS JOIN (SELECT {first} + number AS n FROM numbers({count})) AS copies"
        f" WHERE (seed.trace_id = '{_FAILS}') = {fails}"
    )


def measure(browser: Browser, store: Store, name: str) -> None:
    """Open the first view several times, then scroll the list; print the medians."""
    with ConsoleServer(lambda: store, "127.0.0.1", 0) as server:
        firsts, wholes, spent = [], [], []
        for _ in range(_TURNS):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(_PATIENCE_MS)
            started, before = time.perf_counter(), time.process_time()
            page.goto(f"{server.url}/")
            # Interactive: rates are there and lead to runs, and so do navigation and filters.
            page.wait_for_selector("a.rate .number")
            firsts.append(time.perf_counter() - started)
            page.wait_for_selector("[aria-busy=true]", state="detached")
            wholes.append(time.perf_counter() - started)
            spent.append(time.process_time() - before)
            page.close()
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{server.url}/traces")
        page.wait_for_selector(".row .link")
        frames = page.evaluate(
            """async (turns) => {
              const box = document.querySelector('[aria-label=Traces]');
              const times = [];
              for (let turn = 0; turn < turns; turn++) {
                const before = performance.now();
                box.scrollTop += 160;
                await new Promise(requestAnimationFrame);
                times.push(performance.now() - before);
              }
              return times;
            }""",
            _SCROLLS,
        )
        page.close()
        for words, kind in (
            ("order-77", "one trace"),
            ("nosuchword", "no trace"),
            ("box of tea", "all traces"),
        ):
            print(f"{name}: words of {kind} are found in {_time_search(server.url, words)}")
        print(f"{name}: {_time_interactions(browser, server.url)}")
    slow = sorted(frames)[int(len(frames) * 0.95)]
    print(
        f"{name}: first view {statistics.median(firsts):.2f} s ({min(firsts):.2f} to {max(firsts):.2f}),"
        f" all of it {statistics.median(wholes):.2f} s, of which the server's processor {min(spent):.2f} s;"
        f" a frame while the list scrolls {statistics.median(frames):.1f} ms, 95 % {slow:.1f} ms"
    )


def _time_search(url: str, words: str) -> str:
    """Return the median time of a search for words, and the least processor time of one."""
    times, spent = [], []
    with httpx.Client(base_url=url, timeout=60) as client:
        for _ in range(_TURNS):
            started, before = time.perf_counter(), time.process_time()
            client.get("/api/v1/traces", params={"text": words, "limit": 50}).raise_for_status()
            times.append(time.perf_counter() - started)
            spent.append(time.process_time() - before)
    return f"{1000 * statistics.median(times):.0f} ms, with {1000 * min(spent):.0f} ms of the processor"


def _time_interactions(browser: Browser, url: str) -> str:
    """Return how soon the finder and the menu of columns are there, in words; the driver's time is in it."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{url}/traces")
    page.wait_for_selector(".row .link")
    page.wait_for_load_state("networkidle")
    times: dict[str, list[float]] = {"finder": [], "columns": []}
    for _ in range(_TURNS):
        started = time.perf_counter()
        page.keyboard.press("Control+k")
        page.get_by_label("Find", exact=True).wait_for()
        times["finder"].append(time.perf_counter() - started)
        page.keyboard.press("Escape")
        page.get_by_label("Find", exact=True).wait_for(state="detached")
        started = time.perf_counter()
        page.get_by_role("button", name="columns").click()
        page.get_by_role("checkbox", name="latency").wait_for()
        times["columns"].append(time.perf_counter() - started)
        page.keyboard.press("Escape")
        page.get_by_role("checkbox", name="latency").wait_for(state="detached")
    page.close()
    return ", ".join(f"{name} after {1000 * statistics.median(each):.0f} ms" for name, each in times.items())


def measure_long_trace(browser: Browser, store: Store) -> None:
    """Open a trace of 4,000 spans several times, and go to the last step of the page; print the medians."""
    engine = Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not in this benchmark")
    store.write([engine.evaluate(long_trace())])
    opened, jumped, answered = [], [], []
    with ConsoleServer(lambda: store, "127.0.0.1", 0) as server:
        for _ in range(_TURNS):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(_PATIENCE_MS)
            started = time.perf_counter()
            with page.expect_response(f"**/api/v1/traces/{LONG}") as response:
                page.goto(f"{server.url}/traces/{LONG}")
            response.value.finished()
            answered.append(time.perf_counter() - started)
            page.wait_for_selector("#step-1 .source")
            opened.append(time.perf_counter() - started)
            started = time.perf_counter()
            page.get_by_role("button", name=re.compile(rf"step {STEPS_OF_PAGE}\b")).click()
            page.wait_for_selector(f"#step-{STEPS_OF_PAGE} .source")
            jumped.append(time.perf_counter() - started)
            page.close()
    print(
        f"{SPANS} spans: the first step is read after {statistics.median(opened):.2f} s, of which"
        f" {statistics.median(answered):.2f} s for the server's answer;"
        f" the last step of the page {statistics.median(jumped):.2f} s after it is chosen"
    )


def _other(trace: Trace) -> Trace:
    return trace_of([replace(span, trace_id=_PASSES) for span in trace.spans])


if __name__ == "__main__":
    main()
