"""Sends the traces of an experiment's trials to a collector, which stores them with the scores of its layers.

In: the experiment and the collector's URL. Out: how many trials were sent. A run that declares no fixture
set gets the suite's name as that: by it queries and alert rules find the runs of a suite.
"""

from __future__ import annotations

import os
from pathlib import Path

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.util.re import parse_env_headers

from spanproof.cli.problems import UsageProblem
from spanproof.experiments import Experiment
from spanproof.semconv.spanproof import COHORT_FIXTURE_SET
from spanproof.trace.otlp.files import read_what_is_good

_TIMEOUT_S = 30.0


def send_trials(experiment: Experiment, endpoint: str) -> int:
    """Send every trial that left a trace; returns how many did.

    Raises:
        UsageProblem: the collector does not answer, or does not take the spans.
    """
    traces = Path(experiment.folder) / "traces"
    files = [traces / trial.trace_file for trial in experiment.trials if trial.trace_file]
    suite = Path(experiment.suite).name
    headers = dict(parse_env_headers(os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", ""), liberal=True))
    url = f"{endpoint.rstrip('/')}/v1/traces"
    with httpx.Client(
        headers={**headers, "content-type": "application/x-protobuf"}, timeout=_TIMEOUT_S, trust_env=False
    ) as client:
        for file in files:
            for request in read_what_is_good(file)[0]:
                _write_fixture_set(request, suite)
                try:
                    client.post(url, content=request.SerializeToString()).raise_for_status()
                except (httpx.HTTPError, httpx.InvalidURL) as problem:
                    raise UsageProblem(
                        f"the trials were not sent to {endpoint}: {problem}",
                        "Give the base URL of a collector's HTTP port, and its token as"
                        " OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer …'.",
                    ) from problem
    return len(files)


def _write_fixture_set(request: ExportTraceServiceRequest, suite: str) -> None:
    for resource in (span.resource for span in request.resource_spans):
        if all(attribute.key != COHORT_FIXTURE_SET for attribute in resource.attributes):
            resource.attributes.add(key=COHORT_FIXTURE_SET).value.string_value = suite
