"""The dashboard of the collector's health, answered by a Prometheus that scrapes a collector."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from free_port import free_port
from waiting import wait_until

from spanproof.collector.telemetry import Telemetry

from ..alerts.conftest import running
from ..e2e.test_serve import run_agent, serving

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana" / "collector.json").read_text())
# What a collector shows once it has evaluated a trace, whatever else it is configured to do.
ALWAYS = {
    "Collectors that answer", "Backlog", "Damaged log", "Requests received", "Spans", "Waiting",
    "Backlog of spans", "Time to evaluate a trace", "Traces", "Trouble with the store, alerting and Kafka",
}  # fmt: skip


def as_grafana_sends(expression: str) -> str:
    """The query with its variables filled in."""
    filled = expression.replace("$__rate_interval", "30s").replace("$job", "spanproof")
    assert "$" not in filled
    return filled


@pytest.mark.peers
def test_every_panel_is_answered(tmp_path: Path) -> None:
    port = free_port()
    directory = tmp_path / "prometheus"
    directory.mkdir()
    (directory / "rules.yaml").write_text((DEPLOY / "prometheus" / "rules.yaml").read_text())
    with serving(tmp_path) as (_, where), httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [
                {
                    "job_name": "spanproof",
                    "static_configs": [{"targets": [where["http"].removeprefix("http://")]}],
                }
            ],
        }
        (directory / "config.yaml").write_text(json.dumps(config))
        url = f"http://127.0.0.1:{port}"
        command = (
            "prometheus", "--config.file=config.yaml", "--storage.tsdb.path=data",
            f"--web.listen-address=127.0.0.1:{port}",
        )  # fmt: skip

        def ask(expression: str) -> list[Any]:
            answered = client.post("/api/v1/query", data={"query": as_grafana_sends(expression)}).json()
            assert answered["status"] == "success", (expression, answered)
            found: list[Any] = answered["data"]["result"]
            return found

        with running(directory, url, *command):
            wait_until(
                lambda: ask('up{job="$job"} == 1'), "Prometheus has scraped the collector", pause_s=0.2
            )
            run_agent(where, "http/protobuf", "misquote")
            panels = [panel for panel in DASHBOARD["panels"] if panel["title"] in ALWAYS]
            # A rate of what the trace is the first to count is there with the second scrape after it.
            wait_until(
                lambda: all(any(ask(target["expr"]) for target in panel["targets"]) for panel in panels),
                "every panel that always shows something is answered",
                pause_s=0.5,
            )
            for panel in DASHBOARD["panels"]:
                for target in panel["targets"]:
                    ask(target["expr"])


def test_panels_ask_for_metrics_and_labels_that_there_are() -> None:
    page = (DEPLOY.parent / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    rules = (DEPLOY / "prometheus" / "rules.yaml").read_text(encoding="utf-8")
    labels = {
        label
        for family in Telemetry().registry._names_to_collectors.values()
        for label in getattr(family, "_labelnames", ())
    }
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            for name in re.findall(r"spanproof_\w+", target["expr"]):
                assert re.sub(r"_bucket$", "", name) in page, f"{panel['title']}: no metric {name}"
            for name in re.findall(r"spanproof:\w+(?::\w+)?", target["expr"]):
                assert f"record: {name}" in rules, f"{panel['title']}: no rule {name}"
            for group in re.findall(r"by \(([^)]*)\)", target["expr"]):
                named = {label.strip() for label in group.split(",")} - {"le"}
                assert named <= labels, f"{panel['title']}: no label {named - labels}"


@pytest.mark.parametrize("name", ["collector.json", "spanproof.json"])
def test_panels_do_not_overlap_and_have_ids_of_their_own(name: str) -> None:
    panels = json.loads((DEPLOY / "grafana" / name).read_text())["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in panels}) == len(panels)
