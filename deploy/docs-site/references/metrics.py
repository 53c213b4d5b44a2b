"""The reference of the collector's own metrics, from a collector that runs."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prometheus_client import CollectorRegistry
from tables import table

from spanproof.cli.commands.serve import build_collector
from spanproof.config.model import load_config

_HEAD = """\
# Metrics

For those who monitor a collector. It serves these metrics for Prometheus at `/metrics`, and sends them as
OTLP to targets with `forward.<n>.metrics`. Label values come from fixed lists, from the configuration
(targets, sinks, rules) or, for verdicts and runs, from traces, bounded by `metrics.max_cohorts`. A histogram
has the series `_bucket`, `_sum` and `_count`, a summary has `_sum` and `_count`. `spanproof_kafka_*` are 0
without Kafka. The roles that evaluate alerts serve the gauges of alerts.

This page is written by `make reference`.

"""


def render() -> str:
    """Return the page."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "receivers.grpc.port": "0",
            "receivers.http.port": "0",
            "wal.directory": str(Path(folder, "wal")),
            "store.location": str(Path(folder, "store")),
            "evaluation.replay": "false",
            "verdicts.enabled": "true",
        }
        with build_collector(load_config(None, {}, settings)) as collector:
            return _HEAD + _table(collector.telemetry.registry)


def _table(registry: CollectorRegistry) -> str:
    # The client library shows the labels of a metric without samples nowhere else.
    labels = {
        name: getattr(metric, "_labelnames", ())
        for name, metric in registry._names_to_collectors.items()  # noqa: SLF001
    }
    rows = []
    for metric in sorted(registry.collect(), key=lambda each: each.name):
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        named = getattr(metric, "_labelnames", None) or labels.get(metric.name, ())
        rows.append(
            (f"`{name}`", metric.type, ", ".join(f"`{label}`" for label in named), metric.documentation)
        )
    return table(("metric", "type", "labels", "meaning"), rows)
