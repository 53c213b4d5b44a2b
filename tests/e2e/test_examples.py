"""Every example runs as its page says, and gets the verdict that the page promises."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from waiting import wait_until

from .test_serve import serving, stored, wait_evaluated

EXAMPLES = Path(__file__).parents[2] / "examples"
FAILING = {
    "smolagents_refunds.py": ("refund_clerk", {"groundedness"}),
    "langgraph_sql.py": ("order_analyst", set()),
    "agents_sdk_python.py": ("price_clerk", {"boundary"}),
    "own_loop.py": ("stock_clerk", set()),
    "plain_opentelemetry.py": ("weather", set()),
}


def test_each_example_gets_the_verdict_that_its_page_promises(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, where):
        for name in FAILING:
            ran = subprocess.run(
                [sys.executable, str(EXAMPLES / name)],
                cwd=tmp_path, capture_output=True, text=True, timeout=120,
                env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": where["http"]},
            )  # fmt: skip
            assert ran.returncode == 0, ran.stderr
        wait_evaluated(where, len(FAILING))
        wait_until(lambda: len(stored(tmp_path)) == len(FAILING))
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    runs = [run for row in stored(tmp_path).values() for run in row["runs"]]
    found = {
        run["agent"]: {layer for layer, outcome in run["layers"].items() if outcome.get("label") == "fail"}
        for run in runs
    }
    assert found == dict(FAILING.values())
    judged = {run["agent"]: {each["outcome"] for each in run["layers"].values()} for run in runs}
    assert all(outcomes == {"scored"} for outcomes in judged.values()), judged


def test_the_page_lists_every_example() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"]({name})" in page for name in FAILING)
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        *FAILING,
        "run_in_the_sandbox.py",
        "scripted_models.py",
    }
