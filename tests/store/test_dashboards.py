from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from spanproof.collector.telemetry import Telemetry

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana" / "spanproof.json").read_text())


def as_grafana_sends(sql: str) -> str:
    """The query with the macros of Grafana's ClickHouse plug-in replaced, as it does for a day."""
    sql = re.sub(
        r"\$__timeFilter\((\w+)\)", r"\1 >= toDateTime(1789900000) AND \1 <= toDateTime(1790100000)", sql
    )
    sql = re.sub(r"\$__timeInterval\((\w+)\)", r"toStartOfInterval(toDateTime(\1), INTERVAL 60 second)", sql)
    return sql.replace("${project:singlequote}", "'shop','other'")


@pytest.mark.parametrize("panel", DASHBOARD["panels"], ids=lambda panel: panel["title"])
def test_every_panel_of_the_dashboard_finds_something(embedded, evaluation, panel):
    embedded.write([evaluation(number) for number in range(1, 7)])
    (target,) = panel["targets"]
    with embedded._connections.lease() as client:
        assert client.query(as_grafana_sends(target["rawSql"])).result_rows


def test_prometheus_rules_ask_for_metrics_the_collector_has():
    names = set()
    for family in Telemetry().registry.collect():
        names |= {family.name, f"{family.name}_total"}
        if family.type in ("summary", "histogram"):
            names |= {f"{family.name}_sum", f"{family.name}_count"}
    # Gauges of the pipeline, there once one runs.
    names |= {"spanproof_backlog_bytes", "spanproof_evaluation_pending_traces"}
    groups = yaml.safe_load((DEPLOY / "prometheus" / "rules.yaml").read_text())["groups"]
    expressions = [rule["expr"] for group in groups for rule in group["rules"]]
    used = {name for expression in expressions for name in re.findall(r"spanproof_\w+", expression)}
    assert used - names == set()
    assert len(used) > 4
