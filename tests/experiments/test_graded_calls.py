"""Calls over HTTP are graded: those that a case requires, and those that it has no answer to."""

from __future__ import annotations

import base64
import json

import pytest
import yaml

from spanproof.experiments import Settings, TrialVerdict, build_module_agent, run_experiment
from spanproof.suites.requests import HttpRequest, find_pattern, find_request
from spanproof.suites.requirements import Attempt, read_requirements

SHOP = "http://shop.example.com/orders"
ONE = {"tool": f"GET {SHOP}", "query": {"id": "A-17"}, "count": 1}


def write_tape(suite, case):
    request = {"method": "GET", "url": f"{SHOP}?id=A-17", "headers": [], "queryString": []}
    text = {"encoding": "base64", "text": base64.b64encode(b"45.00").decode(), "mimeType": "text/plain"}
    entry = {"request": request, "response": {"status": 200, "headers": [], "content": text}}
    folder = suite / "cases" / case
    (folder / "calls.har").write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    (folder / "fixtures.yaml").write_text(yaml.safe_dump({"sets": [{"name": "shop", "http": "calls.har"}]}))


def judge(write_suite, tmp_path, engine, agent, **about):
    suite = write_suite(refund={"recorded": [], **about})
    write_tape(suite, "refund")
    found = run_experiment(
        build_module_agent(f"calling_agents:{agent}"), suite, tmp_path / agent, engine, Settings(timeout_s=60)
    )
    (trial,) = found.trials
    return trial


def test_a_required_call_was_made_through_the_proxy(write_suite, tmp_path, engine):
    trial = judge(write_suite, tmp_path, engine, "clerk", must=[{"call": ONE}])
    assert trial.verdict is TrialVerdict.PASSED, trial


def test_a_call_without_an_answer_fails_the_trial_unless_the_case_allows_it(write_suite, tmp_path, engine):
    trial = judge(write_suite, tmp_path, engine, "busy_clerk", must=[{"call": ONE}])
    assert trial.verdict is TrialVerdict.FAILED
    assert f"the case has no answer to POST {SHOP}" in trial.reason


@pytest.mark.parametrize(
    ("entry", "holds"),
    [
        (f"GET {SHOP}", True),
        (f"GET {SHOP}?id=A-17", True),
        (f"GET {SHOP}?id=B-2", False),
        (f"POST {SHOP}", True),
        (f"DELETE {SHOP}", False),
        ({**ONE, "count": 2}, False),
        ({"tool": f"GET {SHOP}", "count": 2}, True),
        ({"tool": f"POST {SHOP}", "body": {"cents": 4500, "order": "A-17"}}, True),
        ({"tool": f"POST {SHOP}", "body": {"order": "A-17"}}, False),
        ({"tool": f"PUT {SHOP}", "count": 0}, True),
    ],
)
def test_a_requirement_names_method_address_query_body_and_count(entry, holds):
    made = (
        HttpRequest("GET", f"{SHOP}?id=A-17&page=1"),
        HttpRequest("GET", f"{SHOP}?id=C-3"),
        HttpRequest("POST", SHOP, '{"order": "A-17", "cents": 4500}', is_recorded=False),
    )
    (requirement,) = read_requirements("case.yaml", [{"call": entry}], None)
    assert requirement.evaluate(Attempt(None, requests=made)).holds is holds


def test_a_call_of_a_tool_is_one_over_http_by_its_arguments():
    pattern = find_pattern("POST https://api.example.com/refunds", {}, {"id": 1})
    assert pattern is not None
    called = find_request("http_post", {"url": "https://api.example.com/refunds", "json": {"id": 1}})
    assert called is not None
    assert pattern.matches(called)
    assert find_request("look_up", {"order": "A-17"}) is None
