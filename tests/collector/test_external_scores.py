"""`POST /v1/scores`: scores from elsewhere count in cohorts, gate and queries, whenever they come."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import plain_http
import pytest
from waiting import wait_until

from spanproof.cli.app import run
from spanproof.collector.service import Collector
from spanproof.config.model import ConfigError, load_config
from spanproof.store.external import without_external
from spanproof.trace import Label, Layer, Score, Scored

from .collectors import agent_request, metrics, post, running

TRACE, RUN, STEP = f"{1:032x}", f"{1:016x}", f"{2:016x}"
THUMB = {"trace_id": TRACE, "name": "thumb", "label": "fail", "explanation": "the total is wrong"}


def send(collector: Collector, *scores: dict[str, Any]) -> httpx.Response:
    return plain_http.post(
        f"{collector.endpoints.http}/v1/scores", json={"scores": list(scores)}, timeout=120
    )


@pytest.fixture
def collector(tmp_path, make_request) -> Iterator[Collector]:
    """One with a trace of a run and a step."""
    with running(tmp_path) as collector:
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        assert collector.evaluated.wait_for(1, 120)
        yield collector


def external(collector: Collector, **more: Any) -> list[Score]:
    return [each for each in collector.store.scores(**more) if each.evaluator.startswith("external.")]


def test_a_label_is_a_score_of_its_run_with_the_runs_cohort(collector) -> None:
    assert send(collector, THUMB, THUMB | {"name": "tone", "span_id": STEP, "value": 0.5}).json() == {
        "stored": 2,
        "waiting": 0,
    }
    thumb, tone = sorted(external(collector, trace_id=TRACE), key=lambda each: each.name)
    assert (thumb.run_span_id, thumb.span_id, thumb.layer) == (RUN, RUN, Layer.TRAJECTORY)
    assert thumb.outcome == Scored(0.0, Label.FAIL, "the total is wrong")
    assert (tone.run_span_id, tone.span_id, tone.outcome.value) == (RUN, STEP, 0.5)
    (own,) = {each.cohort for each in collector.store.scores(trace_id=TRACE)}
    assert thumb.cohort == own
    rate = collector.store.fail_rate(
        Layer.TRAJECTORY, name="thumb", cohort={"agent": own.agent}, start_ns=0, end_ns=time.time_ns()
    )
    assert (rate.failed, rate.judged) == (1, 1)
    stored = collector.store.evaluation(TRACE)
    assert stored is not None
    assert {"thumb", "tone"} <= {score.name for score in stored.runs[0].scores}
    assert without_external(stored) == collector.evaluated.latest[-1]


def test_given_again_the_later_one_counts_and_another_source_is_another_score(collector) -> None:
    send(collector, THUMB)
    send(collector, THUMB | {"label": "pass"})
    send(collector, THUMB | {"source": "harness"})
    labels = {each.evaluator: each.outcome.label for each in external(collector)}
    assert labels == {"external.human": Label.PASS, "external.harness": Label.FAIL}


def test_evaluating_again_loses_none_and_doubles_none(collector, make_request) -> None:
    send(collector, THUMB)
    before = {each.id for each in external(collector)}
    post(collector, agent_request(make_request, (1, 3, 1)))
    wait_until(lambda: len(collector.evaluated.latest) == 2, "it is evaluated again")
    assert {each.id for each in external(collector)} == before
    # What is read has them, and writing that again changes nothing.
    stored = collector.store.evaluation(TRACE)
    assert stored is not None
    collector.store.write([stored])
    again = collector.store.evaluation(TRACE)
    assert again == stored
    assert len(external(collector)) == 1


def test_a_score_waits_for_its_trace(tmp_path, make_request) -> None:
    with running(tmp_path) as collector:
        assert send(collector, THUMB).json() == {"stored": 1, "waiting": 1}
        assert external(collector) == []
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        assert collector.evaluated.wait_for(1, 120)
        (score,) = external(collector)
        assert score.run_span_id == RUN
        assert 'spanproof_external_scores_total{layer="trajectory"} 1.0' in metrics(collector)


def test_gate_query_and_show_read_it(tmp_path, make_request, capfd) -> None:
    with running(tmp_path) as collector:
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        assert collector.evaluated.wait_for(1, 120)
        send(collector, THUMB)
    store = ["--store", str(tmp_path / "store")]
    assert run(["gate", *store, "--assert", "trajectory.thumb == pass for all cases"]) == 1
    assert run(["gate", *store, "--assert", "trajectory.thumb == fail for all cases"]) == 0
    capfd.readouterr()
    assert run(["query", "trajectory.thumb", *store, "--since", "9999d", "--json"]) == 0
    assert '"failed":1' in capfd.readouterr().out.replace(" ", "")
    assert run(["show", TRACE, *store]) == 0
    assert "the total is wrong" in capfd.readouterr().out


RESULT = {"trace_id": TRACE, "span_id": STEP}


def test_results_of_a_harness_are_scores_of_their_step_and_decide_the_release_gate(
    tmp_path, make_request, capfd
) -> None:
    with running(tmp_path) as collector:
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        assert collector.evaluated.wait_for(1, 120)
        tests = {"tests_passed": 8, "tests_total": 10}
        ended = {"exit_code": 1, "stderr_class": "ImportError", "execution_seconds": 2.5}
        assert send(collector, RESULT | tests | ended).json() == {"stored": 4, "waiting": 0}
        found = {each.name: each for each in external(collector, trace_id=TRACE)}
        assert {each.evaluator for each in found.values()} == {"external.harness"}
        assert {each.span_id for each in found.values()} == {STEP}
        assert found["tests_passed"].outcome == Scored(0.8, Label.FAIL, "", raw=8, unit="tests")
        assert found["exit_code"].outcome == Scored(0.0, Label.FAIL, "", raw=1)
        assert found["stderr_class"].outcome == Scored(0.0, None, "ImportError")
        assert found["execution_seconds"].outcome.raw == 2.5
    store = ["--store", str(tmp_path / "store")]
    release = tmp_path / "release.json"
    fields = ["exit_code", "stderr_class"]
    release.write_text(json.dumps({"required_sandbox_pass_rate": 0.95, "failure_fields": fields}))
    capfd.readouterr()
    gate = ["gate", *store, "--since", "9999d", "--assertions", str(release), "--json"]
    assert run(gate) == 1
    (assertion,) = json.loads(capfd.readouterr().out)["assertions"]
    assert "over 1 cases with code" in assertion["reason"]
    assert assertion["failing"][0]["failure_fields"] == {"exit_code": 1.0, "stderr_class": "ImportError"}
    presence = tmp_path / "presence.json"
    presence.write_text('{"presence_eval": "ContainsCode"}')
    window = ["--since", "1h", "--baseline-window", "9999d"]
    assert run(["gate", *store, *window, "--assertions", str(presence)]) in (0, 1)
    assert run(["gate", *store, "--baseline-window", "7d", "--assertions", str(presence)]) == 2


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ({"tests_passed": 8}, "give tests_total"),
        ({"tests_passed": 8, "tests_total": 7}, "give tests_total"),
        ({"exit_code": 0, "name": "mine", "value": 1}, "not both"),
        ({"execution_seconds": -1}, "execution_seconds"),
        ({}, "give a name with a value or label"),
    ],
)
def test_a_result_that_says_too_little_is_refused(collector_of_module, result, says) -> None:
    response = send(collector_of_module, RESULT | result)
    assert response.status_code == 400
    assert says in response.text


@pytest.mark.parametrize(
    ("score", "says"),
    [
        ({"name": "recovery"}, "a score of Spanproof's own"),
        ({"name": "trajectory"}, "a score of Spanproof's own"),
        ({"name": "Not a word"}, "scores.0.name"),
        ({"label": None}, "give a value"),
        ({"value": 1.5}, "scores.0.value"),
        ({"value": "NaN"}, "scores.0.value"),
        ({"label": "good"}, "scores.0.label"),
        ({"trace_id": "A" * 32}, "scores.0.trace_id"),
        ({"span_id": "1"}, "scores.0.span_id"),
        ({"layer": "feelings"}, "scores.0.layer"),
        ({"raw": "inf"}, "scores.0.raw"),
        ({"stars": 5}, "scores.0.stars"),
    ],
)
def test_what_is_no_score_is_refused_whole(collector_of_module, score, says) -> None:
    answer = send(collector_of_module, THUMB, THUMB | score)
    good = send(collector_of_module, THUMB | score)
    assert (answer.status_code, good.status_code) == (400, 400)
    assert says in good.json()["message"]
    assert external(collector_of_module) == []


@pytest.fixture(scope="module")
def collector_of_module(tmp_path_factory) -> Iterator[Collector]:
    folder = tmp_path_factory.mktemp("scores")
    with running(folder, external_scores="[trajectory.thumb]") as collector:
        yield collector


def test_a_name_that_is_not_listed_is_refused(collector_of_module) -> None:
    answer = send(collector_of_module, THUMB | {"name": "thumbs"})
    assert (answer.status_code, "external_scores" in answer.json()["message"]) == (400, True)


def test_a_page_of_another_site_cannot_write(collector_of_module) -> None:
    url = f"{collector_of_module.endpoints.http}/v1/scores"
    body = json.dumps({"scores": [THUMB]})
    as_form = plain_http.post(url, content=body, headers={"content-type": "text/plain"}, timeout=120)
    rebound = plain_http.post(
        url, content=body, headers={"content-type": "application/json", "host": "evil.example"}, timeout=120
    )
    assert (as_form.status_code, rebound.status_code) == (415, 401)
    assert "access-control-allow-origin" not in rebound.headers
    assert httpx.options(url, timeout=120).status_code == 405


def test_an_alert_can_watch_a_score_that_is_named() -> None:
    rule = json.dumps([{"name": "thumbs", "layer": "trajectory", "score": "thumb"}])
    assert load_config(None, {}, {"alerts": rule, "external_scores": "[trajectory.thumb]"}).alerts
    with pytest.raises(ConfigError, match="no score trajectory"):
        load_config(None, {}, {"alerts": rule})
    with pytest.raises(ConfigError, match="external_scores"):
        load_config(None, {}, {"external_scores": "[thumb]"})
