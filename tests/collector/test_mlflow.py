"""Scores at the real MLflow: assessments of the traces that it was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plain_http
import pytest
from mlflow_server import mlflow_server
from waiting import wait_until

from ..instrumentors.environments import mlflow_python
from .collectors import PROTOBUF, agent_request, metrics, post, running

POSTPONED = 'outcome="postponed",sink="mlflow"'
SENT = 'spanproof_sink_waiting_scores{sink="mlflow"} 0.0'


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mlflow_server(mlflow_python(), tmp_path_factory.mktemp("mlflow")) as url:
        yield url


def send_spans(url: str, body: bytes) -> None:
    """Send spans to MLflow's default experiment, as an agent's exporter does."""
    headers = PROTOBUF | {"x-mlflow-experiment-id": "0"}
    plain_http.post(f"{url}/v1/traces", content=body, headers=headers, timeout=120).raise_for_status()


def assessments(url: str, number: int) -> list[dict[str, Any]]:
    """What MLflow shows on a trace."""
    answer = plain_http.get(f"{url}/api/3.0/mlflow/traces/tr-{number:032x}", timeout=120).raise_for_status()
    return answer.json()["trace"]["trace_info"].get("assessments", [])


def test_mlflow_shows_the_layers_of_a_run_once_and_the_latest(mlflow, tmp_path: Path, make_request) -> None:
    body = agent_request(make_request, (900, 901, None), (900, 902, 901))
    late = agent_request(make_request, (900, 903, 901))
    sinks = {
        "sinks": json.dumps([{"kind": "mlflow", "url": mlflow, "timeout_s": 60}]),
        "sinks_directory": str(tmp_path / "sinks"),
    }
    with running(tmp_path, **sinks) as collector:
        # The scores come first: MLflow gets the spans from the agent, and not from us.
        post(collector, body)
        assert collector.evaluated.wait_for(1, 120)
        wait_until(
            lambda: 'outcome="postponed",sink="mlflow"' in metrics(collector), "MLflow lacks the trace"
        )
        send_spans(mlflow, body)
        given = {
            score.layer: score.outcome
            for score in collector.evaluated.latest[-1].scores
            if score.name == score.layer and hasattr(score.outcome, "value")
        }
        wait_until(lambda: len(assessments(mlflow, 900)) == len(given), "MLflow shows the scores")
        post(collector, late)
        wait_until(lambda: len(collector.evaluated.latest) == 2, "it is evaluated again")
        wait_until(lambda: SENT in metrics(collector))
    shown = {each["assessment_name"]: each for each in assessments(mlflow, 900)}
    assert {name.removeprefix("spanproof.") for name in shown} == {str(layer) for layer in given}
    assert len(assessments(mlflow, 900)) == len(given)
    for layer, outcome in given.items():
        found = shown[f"spanproof.{layer}"]
        # An open verdict has no value.
        assert found["feedback"]["value"] == (outcome.value if outcome.label else None)
        assert found["source"]["source_type"] == "CODE"
        assert found["span_id"] == f"{901:016x}"
