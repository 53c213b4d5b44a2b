from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance
from starlette.testclient import TestClient

from spanproof.api import ConsoleServer, ConsoleSettings, build_app, trace_pages

TRACE = "5" * 32
PNG = b"\x89PNG\r\n\x1a\n" + bytes(60)
YEARS = 24 * 366


def test_a_trace_comes_with_steps_verdicts_and_claims(client):
    page = client.get(f"/api/v1/traces/{TRACE[:6]}").json()
    (run,) = page["runs"]
    assert run["verdict"] == "fail"
    assert run["sentence"].startswith("groundedness: The answer says $54.00; the tool returned")
    (claim,) = [each for each in run["claims"] if each["verdict"] == "contradicted"]
    assert run["answer"][claim["start"] : claim["end"]] == "$54.00"
    first = run["steps"][0]
    (snippet,) = first["snippets"]
    assert snippet["recorded"]["printed"] == "4500\n"
    assert snippet["replayed"]["printed"] == "4500\n"
    assert snippet["replayed"]["agrees"] is True
    assert 'class="n"' in snippet["lines"][0]
    assert first["calls"][0]["result"] == "4500"
    assert [layer["layer"] for layer in run["layers"]] == [
        "correctness", "boundary", "execution", "groundedness", "trajectory",
    ]  # fmt: skip


def test_a_page_of_steps_comes_with_their_scores_and_with_all_evidence(client, monkeypatch):
    path = f"/api/v1/traces/{TRACE}"
    (whole,) = client.get(path).json()["runs"]
    assert len(whole["steps"]) == whole["step_count"] > 1
    monkeypatch.setattr(trace_pages, "STEPS_OF_PAGE", 1)
    pages = [
        client.get(path, params={"first_step": 1 + at}).json()["runs"][0] for at in range(whole["step_count"])
    ]
    assert [each["steps"] for each in pages] == [[step] for step in whole["steps"]]
    assert all(each["layers"] == whole["layers"] for each in pages)
    assert all(each["step_of_span"] == whole["step_of_span"] != {} for each in pages)
    of_pages = {score["name"] + score["span_id"] for each in pages for score in each["scores"]}
    assert of_pages == {score["name"] + score["span_id"] for score in whole["scores"]}
    assert len(pages[1]["scores"]) < len(whole["scores"])


def test_a_span_comes_with_its_attributes(client):
    page = client.get(f"/api/v1/traces/{TRACE}/spans/{2:016x}").json()
    assert page["span"]["name"] == "price_of"
    assert client.get(f"/api/v1/traces/{TRACE}/spans/ffff").status_code == 404


def test_traces_are_listed_and_chosen(client):
    everything = client.get("/api/v1/traces").json()
    assert [row["trace_id"] for row in everything["traces"]] == [TRACE]
    assert everything["next"] is None
    assert client.get("/api/v1/traces?failing=true&layer=boundary").json()["traces"] == []
    assert client.get("/api/v1/traces?agent=nobody").json()["traces"] == []
    (row,) = client.get("/api/v1/traces?failing=true&layer=groundedness").json()["traces"]
    assert row["runs"][0]["layers"]["groundedness"]["verdict"] == "fail"


def test_pages_of_a_list_follow_each_other(store, client, evaluation_of):
    store.write([evaluation_of(number) for number in range(7)])
    seen, cursor = [], ""
    while cursor is not None:
        page = client.get(
            f"/api/v1/traces?limit=3&cursor={cursor}" if cursor else "/api/v1/traces?limit=3"
        ).json()
        seen += [row["trace_id"] for row in page["traces"]]
        cursor = page["next"]
    assert len(seen) == len(set(seen)) == 8


def test_an_image_of_a_trace_is_listed_and_served_as_nothing_but_an_image(store, client, evaluation_of):
    evaluation = evaluation_of(40)
    first, step, call, *others = evaluation.trace.spans
    held, other = (f"data:image/png;base64,{b64encode(content).decode()}" for content in (PNG, PNG + b"0"))
    first = replace(first, attributes={**first.attributes, "input.value": held})
    call = replace(call, attributes={"input.value": other})
    spans = (first, step, call, *others)
    store.write([replace(evaluation, trace=replace(evaluation.trace, spans=spans))])
    path = f"/api/v1/traces/{evaluation.trace.trace_id}"
    listed, called = client.get(path).json()["images"]
    assert (listed["run_span_id"], listed["step"]) == (None, None)
    assert (called["run_span_id"], called["step"]) == (evaluation.runs[0].run.span_id, 1)
    assert (listed["media_type"], listed["bytes"], listed["span_id"]) == (
        "image/png",
        len(PNG),
        first.span_id,
    )
    served = client.get(f"{path}/images/{listed['id']}")
    assert (served.status_code, served.content) == (200, PNG)
    assert served.headers["content-type"] == "image/png"
    assert served.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert served.headers["x-content-type-options"] == "nosniff"
    assert client.get(f"{path}/images/{'0' * 32}").status_code == 404
    assert client.get(f"/api/v1/traces/{TRACE}").json()["images"] == []


def test_the_overview_counts_verdicts_with_their_interval(client):
    found = client.get(f"/api/v1/overview?hours={YEARS}").json()
    rate = found["layers"]["groundedness"]
    assert rate["failed"] >= 1
    assert 0 <= rate["low"] < rate["rate"] <= rate["high"] <= 1
    assert (
        sum(each["rate"]["failed"] for each in found["timeline"] if each["layer"] == "groundedness")
        == rate["failed"]
    )


def test_cohorts_count_by_value(client):
    found = client.get(f"/api/v1/cohorts/agent?hours={YEARS}").json()
    assert "pricing agent" in [each["value"] for each in found["values"]]


def test_failures_are_listed_and_shown_by_cluster(client):
    (found,) = client.get(f"/api/v1/failures?hours={YEARS}").json()["failures"]
    assert found["name"] == "The answer contradicts the outputs: currency"
    assert (found["state"], found["runs"], found["kind"]) == ("open", 1, "contradicted_claim")
    page = client.get(f"/api/v1/failures/{found['id']}?hours={YEARS}").json()
    assert page["failure"] == found
    assert page["shares"]["agent"][0]["failing"] == 1
    assert [run["trace_id"] for run in page["runs"]] == [TRACE]
    assert client.get(f"/api/v1/failures?hours={YEARS}&agent=other").json()["failures"] == []


def test_a_file_of_the_console_is_compressed_and_sent_once(client):
    page = client.get("/traces")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.text == client.get("/", headers={"accept-encoding": "identity"}).text
    (script,) = re.findall(r'script [^>]*src="([^"]*)"', page.text)
    first = client.get(script)
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    assert first.headers["content-encoding"] == "gzip"
    assert first.headers["cache-control"] == "no-cache"
    again = client.get(script, headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/api/v1/health").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/api/v1/traces?limit=0", 400, "limit"),
        ("/api/v1/traces?layer=boundary", 422, "failing=true"),
        ("/api/v1/traces?cursor=x", 400, "cursor"),
        ("/api/v1/traces?limt=5", 400, "unknown parameter 'limt'; did you mean 'limit'?"),
        ("/api/v1/traces?session=a", 400, "did you mean 'where=session=VALUE'?"),
        ("/api/v1/settings?colour=red", 400, "this path takes none"),
        ("/api/v1/traces/zz", 404, "there is not one trace"),
        ("/api/v1/cohorts/colour", 400, "unknown dimension 'colour'; the dimensions are project"),
        ("/api/v1/overview?where=colour%3Dred", 400, "where 'colour=red': unknown dimension 'colour'"),
        ("/api/v1/overview?where=agent", 400, "where 'agent': write DIMENSION=VALUE"),
        ("/api/v1/timelines?layer=boundary&by=attribute:", 400, "attribute:KEY"),
        ("/api/v1/failures/zz", 404, "there is no cluster"),
        ("/api/v1/nothing", 404, "openapi.json"),
    ],
)
def test_an_error_is_a_problem_that_names_the_input(client, path, status, says):
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert says in answer.json()["detail"]


def test_a_token_is_demanded_where_there_are_tokens(store):
    client = TestClient(build_app(lambda: store, ConsoleSettings(tokens=("first", "second"))))
    assert client.get("/api/v1/traces").status_code == 401
    assert client.get("/api/v1/traces", headers={"authorization": "Bearer third"}).status_code == 401
    assert client.get("/api/v1/traces", headers={"authorization": "Bearer second"}).status_code == 200
    assert client.get("/").status_code == 200  # the page itself holds nothing


def test_another_site_s_name_is_refused_on_loopback(store):
    client = TestClient(build_app(lambda: store, ConsoleSettings(hosts=frozenset(("127.0.0.1",)))))
    assert client.get("/api/v1/traces", headers={"host": "evil.example:4319"}).status_code == 421
    assert client.get("/api/v1/traces", headers={"host": "127.0.0.1:4319"}).status_code == 200


def test_every_answer_forbids_frames_scripts_from_elsewhere_and_guessing_of_types(client):
    for path in ("/", "/traces", "/api/v1/traces", "/api/v1/nothing"):
        headers = client.get(path).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


@pytest.mark.load
def test_every_answer_of_a_live_server_is_as_described(store, tmp_path):
    settings_ = ConsoleSettings(tokens=("reader",), writers=("writer",), workspace=tmp_path)
    with ConsoleServer(lambda: store, "127.0.0.1", 0, settings_) as server:
        schema = schemathesis.openapi.from_url(f"{server.url}/api/v1/openapi.json")
        # A stream is open for as long as its reader wants; test_live.py has it.
        operations = [each.ok() for each in schema.exclude(path="/api/v1/live").get_all_operations()]
        assert len(operations) == 64
        check_operations(operations)


def check_operations(operations):
    session = requests.Session()
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
        def check(case):
            case.call_and_validate(
                headers={"authorization": "Bearer writer", "content-type": "application/json"}
                if case.method != "GET"
                else {"authorization": "Bearer writer"},
                session=session,
                excluded_checks=[ignored_auth, positive_data_acceptance],
            )

        check()
