"""Traces of frameworks in a real Phoenix, exported by its API: they hold the runs that were sent."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from phoenix_server import phoenix_server
from waiting import wait_until

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import Run, trace_of
from spanproof.trace.dialects import normalise_request
from spanproof.trace.exports import read_file

from ...instrumentors.environments import phoenix_python

RECORDINGS = Path(__file__).parents[2] / "golden" / "frameworks"


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Phoenix on the loopback; the base URL."""
    with phoenix_server(phoenix_python(), tmp_path_factory.mktemp("phoenix")) as url:
        yield url


@pytest.mark.parametrize("export", ["spans", "spans/otlpv1"])
@pytest.mark.parametrize("name", ["pydantic_ai", "crewai", "dspy", "dspy_code_act"])
def test_what_phoenix_exports_holds_the_run(phoenix: str, tmp_path: Path, name: str, export: str) -> None:
    requests, _ = read_file(RECORDINGS / f"{name}.json")
    project = name  # one for both exports: it takes a span once
    sent = sum(_send(phoenix, project, request) for request in requests)
    found: dict[str, Any] = {}

    def shows_all() -> bool:
        found.update(_get(f"{phoenix}/v1/projects/{project}/{export}?limit=1000"))
        return len(found["data"]) >= sent

    wait_until(shows_all, f"Phoenix shows {sent} spans of {project}")
    path = tmp_path / "export.json"
    path.write_text(json.dumps(found))
    exported, malformed = read_file(path)
    assert not malformed
    assert [_shown(run) for run in _runs(exported)] == [_shown(run) for run in _runs(requests)]


def _send(url: str, project: str, request: ExportTraceServiceRequest) -> int:
    """Send a request's spans to a project; returns how many."""
    copy = ExportTraceServiceRequest.FromString(request.SerializeToString())
    for resource in copy.resource_spans:
        named = resource.resource.attributes.add(key="openinference.project.name")
        named.value.string_value = project
    kind = {"Content-Type": "application/x-protobuf"}
    sent = urllib.request.Request(f"{url}/v1/traces", copy.SerializeToString(), kind)
    with urllib.request.urlopen(sent, timeout=120):
        return sum(len(scope.spans) for each in copy.resource_spans for scope in each.scope_spans)


def _get(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as problem:
        if problem.code != 404:  # Phoenix makes the project with the first span that it stores
            raise
        return {"data": []}


def _runs(requests: list[ExportTraceServiceRequest]) -> tuple[Run, ...]:
    trace = trace_of([span for request in requests for span in normalise_request(request)])
    return list_runs(trace, list_snippets(trace))


def _shown(run: Run) -> dict[str, Any]:
    """What layers judge of a run."""
    snippets = [each for step in run.steps for each in step.snippets]
    calls = [call for step in run.steps for call in step.calls]
    return {
        "task": run.task,
        "answer": run.answer and run.answer.text,
        "code": [(each.source, each.executed, each.error) for each in snippets],
        "calls": [(each.tool, dict(each.kwargs), each.result and each.result.text) for each in calls],
        "errors": [each.error and each.error.message for each in calls],
        "usage": run.usage,
    }
