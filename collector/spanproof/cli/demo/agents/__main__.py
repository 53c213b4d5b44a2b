"""Run the demo's agents and export their spans: `python -m spanproof.cli.demo.agents --endpoint URL`.

One JSON line per run goes to stdout: `{"scenario", "trace_id", "answer"}`, with `"error"` instead of the
answer where the run raised. Exits 0 once the spans are handed over, 1 when a run raised.
"""

from __future__ import annotations

import json
import os
import sys

import click
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, SpanProcessor

os.environ.setdefault("LANGSMITH_TRACING", "false")

from spanproof.cli.demo.agents.scenarios import SCENARIOS, Scenario
from spanproof.instrumentors import register, set_cohort

_FLUSH_MS = 30_000


class _Roots(SpanProcessor):
    """Remembers the trace of the root span that began last."""

    trace_id = ""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        if span.parent is None and span.context is not None:
            self.trace_id = format(span.context.trace_id, "032x")


@click.command()
@click.option("--endpoint", default="http://127.0.0.1:4318", help="Where OTLP is received.")
@click.option("--protocol", type=click.Choice(["http/protobuf", "grpc"]), default="http/protobuf")
@click.option("--only", type=click.Choice([item.name for item in SCENARIOS]), help="Run one scenario.")
def main(endpoint: str, protocol: str, only: str | None) -> None:
    """Run the demo's agents and export their spans."""
    provider = register(service_name="spanproof-demo", project="demo", endpoint=endpoint, protocol=protocol)
    roots = _Roots()
    provider.add_span_processor(roots)
    answered = [_run(scenario, roots) for scenario in SCENARIOS if only in (None, scenario.name)]
    provider.force_flush(_FLUSH_MS)
    provider.shutdown()
    sys.exit(0 if all(answered) else 1)


def _run(scenario: Scenario, roots: _Roots) -> bool:
    line = {"scenario": scenario.name}
    try:
        with set_cohort(prompt_version=scenario.prompt_version, task=scenario.task):
            line["answer"] = scenario.run()
    except Exception as error:  # noqa: BLE001 - one run's failure is in its line, the others go on
        line["error"] = f"{type(error).__name__}: {error}"
    line["trace_id"] = roots.trace_id
    print(json.dumps(line), flush=True)
    return "error" not in line


if __name__ == "__main__":
    main()
