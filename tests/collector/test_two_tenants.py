"""Two tenants of one `spanproof serve`: neither reads, changes or deletes anything of the other.

Both send the same trace id and span ids, and name the other's project wherever a sender may name one. Each
has a token that may do everything within its project.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from waiting import wait_until

from spanproof.semconv.spanproof import COHORT_PROJECT
from spanproof.trace.otlp import build_any_value

from .collectors import PROTOBUF, serving

TENANTS = ("acme", "globex")
SHARED, OF_ACME = "5a" * 16, "5b" * 16
ROOT = "01" * 8
ANSWERS = {"acme": "The answer of acme is 4.", "globex": "The answer of globex is 5."}
START_NS = 1_790_000_000_000_000_000


def other(tenant: str) -> str:
    return TENANTS[1 - TENANTS.index(tenant)]


@dataclass(frozen=True)
class Service:
    """A running collector."""

    http: str
    console: str
    directory: Path

    def post(self, path: str, tenant: str, content: bytes, **headers: str) -> httpx.Response:
        """Send to the receiver with a tenant's token."""
        sent = {"authorization": f"Bearer {tenant}", **PROTOBUF, **headers}
        return httpx.post(f"{self.http}{path}", content=content, headers=sent, timeout=120)

    def score(self, tenant: str, trace_id: str, note: str) -> httpx.Response:
        """Send a score from elsewhere."""
        score = {"trace_id": trace_id, "name": "politeness", "value": 0.5, "explanation": note}
        content = json.dumps({"scores": [score]}).encode()
        return self.post("/v1/scores", tenant, content, **{"content-type": "application/json"})

    def api(self, method: str, path: str, tenant: str, **more: Any) -> httpx.Response:
        """Ask the console's API with a tenant's token."""
        headers = {"authorization": f"Bearer {tenant}"}
        url = f"{self.console}/api/v1/{path}"
        return httpx.request(method, url, headers=headers, timeout=120, **more)


def build_run(tenant: str, trace_id: str) -> bytes:
    """Return a run of two spans whose resource and spans name the other tenant's project."""
    request = ExportTraceServiceRequest()
    under = request.resource_spans.add()
    under.resource.attributes.add(key=COHORT_PROJECT, value=build_any_value(other(tenant)))
    scope = under.scope_spans.add()
    scope.scope.name = "openinference.instrumentation.smolagents"
    agent = {"openinference.span.kind": "AGENT", "input.value": "What?", "output.value": ANSWERS[tenant]}
    code = f"```python\nprint('{tenant}')\n```"
    model = {"openinference.span.kind": "LLM", "output.value": code}
    for span_id, parent, attributes in ((ROOT, "", agent), ("02" * 8, ROOT, model)):
        span = scope.spans.add(
            trace_id=bytes.fromhex(trace_id),
            span_id=bytes.fromhex(span_id),
            parent_span_id=bytes.fromhex(parent),
            name=f"{tenant} agent",
            start_time_unix_nano=START_NS,
            end_time_unix_nano=START_NS + 10**9,
        )
        for key, value in {**attributes, COHORT_PROJECT: other(tenant)}.items():
            span.attributes.add(key=key, value=build_any_value(value))
    return request.SerializeToString()


def build_feedback(tenant: str, trace_id: str) -> bytes:
    """Return a user's rating in a log record whose resource names the other tenant's project."""
    request = ExportLogsServiceRequest()
    under = request.resource_logs.add()
    under.resource.attributes.add(key=COHORT_PROJECT, value=build_any_value(other(tenant)))
    record = under.scope_logs.add().log_records.add(
        trace_id=bytes.fromhex(trace_id), span_id=bytes.fromhex(ROOT), time_unix_nano=START_NS
    )
    for key, value in (("kind", "rating"), ("value", "up"), ("comment", f"a rating of {tenant}")):
        record.attributes.add(key=f"spanproof.feedback.{key}", value=build_any_value(value))
    return request.SerializeToString()


@pytest.fixture(scope="module")
def service(tmp_path_factory) -> Iterator[Service]:
    """A collector that has evaluated the shared trace of both, and one of acme alone."""
    directory = tmp_path_factory.mktemp("tenants")
    tokens = [{"token": tenant, "roles": ["send", "read", "write"], "project": tenant} for tenant in TENANTS]
    tokens.append({"token": "all", "roles": ["read"]})
    settings = {"tokens": json.dumps(tokens), "console__port": "0"}
    with serving(directory, **settings) as (_, where):
        running = Service(where["http"], where["console"], directory)
        for tenant in TENANTS:
            assert running.post("/v1/traces", tenant, build_run(tenant, SHARED)).status_code == 200
        assert running.post("/v1/traces", "acme", build_run("acme", OF_ACME)).status_code == 200

        def count_evaluated() -> float:
            found = re.search(r"^spanproof_traces_evaluated_total (\S+)", read_metrics(running), re.MULTILINE)
            return float(found[1]) if found else 0

        wait_until(lambda: count_evaluated() >= 3, "three traces are evaluated")
        yield running


def read_metrics(service: Service) -> str:
    headers = {"authorization": "Bearer acme"}
    return httpx.get(f"{service.http}/metrics", headers=headers, timeout=120).text


@pytest.mark.parametrize("tenant", TENANTS)
def test_each_reads_its_own_trace_of_a_shared_id(service: Service, tenant: str) -> None:
    answer = service.api("GET", f"traces/{SHARED}", tenant)
    assert answer.status_code == 200
    assert ANSWERS[tenant] in answer.text
    assert ANSWERS[other(tenant)] not in answer.text
    assert service.api("GET", f"traces/{SHARED}?project={other(tenant)}", tenant).status_code == 404


def test_a_trace_that_one_has_is_none_to_the_other(service: Service) -> None:
    assert service.api("GET", f"traces/{OF_ACME}", "acme").status_code == 200
    assert service.api("GET", f"traces/{OF_ACME}", "globex").status_code == 404
    listed = service.api("GET", "traces", "globex").json()["traces"]
    assert [row["trace_id"] for row in listed] == [SHARED]


def test_a_page_that_ends_between_two_traces_of_one_id_and_time_leaves_none_out(service: Service) -> None:
    found, cursor = [], ""
    for _ in range(4):
        page = service.api("GET", f"traces?limit=1{cursor}", "all").json()
        found += [(row["trace_id"], row["project"]) for row in page["traces"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert sorted(found) == [(SHARED, "acme"), (SHARED, "globex"), (OF_ACME, "acme")]
    # A place in a list of everything opens nothing to one who may read a part of it.
    limited = service.api("GET", f"traces?limit=5{cursor}", "globex").json()["traces"]
    assert {row["project"] for row in limited} <= {"globex"}


@pytest.mark.parametrize("trace_id", [SHARED, OF_ACME])
def test_a_score_goes_to_the_trace_of_the_token_s_project_alone(service: Service, trace_id: str) -> None:
    assert service.score("globex", trace_id, "a score of globex").status_code == 200
    assert "a score of globex" not in service.api("GET", f"traces/{trace_id}", "acme").text
    if trace_id == SHARED:
        assert "a score of globex" in service.api("GET", f"traces/{trace_id}", "globex").text


@pytest.mark.parametrize("named", [{}, {"project": "acme"}])
def test_a_label_goes_to_the_trace_of_the_token_s_project_alone(service: Service, named: dict) -> None:
    label = {"run_span_id": ROOT, "layer": "groundedness", "verdict": "fail", "author": "globex", **named}
    refused = service.api("POST", "labels", "globex", json={**label, "trace_id": OF_ACME})
    assert refused.status_code in (403, 404)
    service.api("POST", "labels", "globex", json={**label, "trace_id": SHARED})
    assert service.api("GET", "labels", "acme").json()["labels"] == []
    trace = service.api("GET", f"traces/{SHARED}", "acme").json()
    assert '"settled_by": "globex"' not in json.dumps(trace)


def test_feedback_goes_to_the_trace_of_the_token_s_project_alone(service: Service) -> None:
    assert service.post("/v1/logs", "globex", build_feedback("globex", SHARED)).status_code == 200
    wait_until(
        lambda: "a rating of globex" in service.api("GET", f"traces/{SHARED}", "globex").text,
        "the rating is stored",
    )
    assert "a rating of globex" not in service.api("GET", f"traces/{SHARED}", "acme").text


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/metrics", "/v1/scores"])
def test_a_header_opens_no_other_project(service: Service, path: str) -> None:
    answer = service.post(path, "globex", b"", **{"x-spanproof-project": "acme"})
    assert answer.status_code == 403


OF_PROJECTS = {"labels", "review/assignments", "views", "views/x", "traces/x/replay"}
"""Paths to which the writers of one project may write."""


def test_a_view_is_kept_for_ones_own_project_alone(service: Service) -> None:
    view = {"name": "failing", "query": "label:fail"}
    assert service.api("POST", "views", "globex", json=view | {"project": "acme"}).status_code == 403
    assert service.api("POST", "views", "globex", json=view).json()["project"] == "globex"
    assert service.api("GET", "views", "acme").json()["views"] == []
    assert service.api("DELETE", "views/failing", "acme").status_code == 404
    assert service.api("DELETE", "views/failing?project=globex", "acme").status_code == 403
    assert [view["name"] for view in service.api("GET", "views", "globex").json()["views"]] == ["failing"]


def test_what_is_of_no_project_takes_no_write_of_a_tenant(service: Service) -> None:
    schema = service.api("GET", "openapi.json", "all").json()
    refused = {}
    for path, methods in schema["paths"].items():
        for method in {"post", "put", "patch", "delete"} & set(methods):
            filled = re.sub(r"\{.*?\}", "x", path.removeprefix("/api/v1/").lstrip("/"))
            if filled not in OF_PROJECTS:
                refused[filled] = service.api(method.upper(), filled, "globex", json={}).status_code
    assert refused
    assert set(refused.values()) == {403}, refused


def test_deleting_a_project_s_trace_leaves_the_other_s(service: Service) -> None:
    store = str(service.directory / "store")
    command = ["database", "delete", "--store", store, "--project", "globex", "--trace", SHARED, "--yes"]
    ran = subprocess.run(
        [sys.executable, "-m", "spanproof.cli", *command], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert service.api("GET", f"traces/{SHARED}", "globex").status_code == 404
    assert ANSWERS["acme"] in service.api("GET", f"traces/{SHARED}", "acme").text
