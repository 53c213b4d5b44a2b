"""A collector that sends scores to the real Phoenix, and one that is killed while it does."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import plain_http
import pytest
from phoenix_server import phoenix_server
from waiting import wait_until

from spanproof.cli.app import run
from spanproof.config.model import ConfigError, load_config

from ..contract.products import Phoenix, listening
from ..instrumentors.environments import phoenix_python
from .collectors import PROTOBUF, agent_request, metrics, post, running, serving

TRACES = 12


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with phoenix_server(phoenix_python(), tmp_path_factory.mktemp("phoenix")) as url:
        yield url


def annotations(url: str, span_id: str) -> list[dict]:
    """What Phoenix shows on a span."""
    answer = plain_http.get(
        f"{url}/v1/projects/default/span_annotations",
        params={"span_ids": span_id, "limit": 1000},
        timeout=120,
    )
    return answer.json()["data"] if answer.status_code == 200 else []


def to_sink(tmp_path: Path, url: str, **more: object) -> dict[str, str]:
    sink = {"kind": "phoenix", "url": url, "timeout_s": 60, **more}
    return {"sinks": json.dumps([sink]), "sinks_directory": str(tmp_path / "sinks")}


def test_phoenix_shows_the_layers_on_the_runs_span_and_no_spans_of_ours(
    phoenix, tmp_path, make_request
) -> None:
    body = agent_request(make_request, (900, 901, None), (900, 902, 901))
    with running(tmp_path, **to_sink(tmp_path, phoenix)) as collector:
        # The scores come first: Phoenix gets the spans from the agent, and not from us.
        post(collector, body)
        assert collector.evaluated.wait_for(1, 120)
        wait_until(
            lambda: 'outcome="postponed",sink="phoenix"' in metrics(collector), "Phoenix lacks the span"
        )
        plain_http.post(
            f"{phoenix}/v1/traces", content=body, headers=PROTOBUF, timeout=120
        ).raise_for_status()
        span_id = f"{901:016x}"
        given = {
            score.layer: score.outcome
            for score in collector.evaluated.latest[-1].scores
            if score.name == score.layer and hasattr(score.outcome, "value")
        }
        wait_until(lambda: len(annotations(phoenix, span_id)) == len(given), "Phoenix shows the scores")
        wait_until(lambda: 'spanproof_sink_waiting_scores{sink="phoenix"} 0.0' in metrics(collector))
    shown = {each["name"]: each for each in annotations(phoenix, span_id)}
    assert {name.removeprefix("spanproof.") for name in shown} == {str(layer) for layer in given}
    for layer, outcome in given.items():
        result = shown[f"spanproof.{layer}"]["result"]
        # An open verdict has no value.
        assert result["score"] == (outcome.value if outcome.label else None)
        assert result["label"] == (outcome.label.value if outcome.label else "open")
        assert result["explanation"] == (outcome.explanation or None)
        assert shown[f"spanproof.{layer}"]["annotator_kind"] == "CODE"
    spans = plain_http.get(f"{phoenix}/v1/projects/default/spans", timeout=120).json()["data"]
    assert {span["context"]["trace_id"] for span in spans} == {f"{900:032x}"}
    assert len(spans) == 2


def test_evaluated_again_phoenix_shows_each_score_once(phoenix, tmp_path, make_request) -> None:
    late = agent_request(make_request, (910, 913, 911))
    body = agent_request(make_request, (910, 911, None), (910, 912, 911))
    for part in (body, late):
        plain_http.post(
            f"{phoenix}/v1/traces", content=part, headers=PROTOBUF, timeout=120
        ).raise_for_status()
    with running(tmp_path, **to_sink(tmp_path, phoenix)) as collector:
        post(collector, body)
        assert collector.evaluated.wait_for(1, 120)
        post(collector, late)
        wait_until(lambda: len(collector.evaluated.latest) == 2, "it is evaluated again")
        wait_until(lambda: 'spanproof_sink_waiting_scores{sink="phoenix"} 0.0' in metrics(collector))
    names = [each["name"] for each in annotations(phoenix, f"{911:016x}")]
    assert names
    assert len(set(names)) == len(names)


def test_kill_9_while_scores_are_sent_loses_and_doubles_none(tmp_path, make_request) -> None:
    product = Phoenix()
    product.spans = {f"{1:016x}": ""}
    # Every third request is answered late or not at all: the collector is killed amid its attempts.
    product.trouble = [(503, {"retry-after": "0"})] * 3
    with listening(product) as url:
        settings = to_sink(tmp_path, url, key="secret")
        with serving(tmp_path, **settings) as (process, where):
            with httpx.Client(timeout=120) as client:
                for number in range(1, TRACES + 1):
                    body = agent_request(make_request, (number, 1, None), (number, 2, 1))
                    assert client.post(
                        f"{where['http']}/v1/traces", content=body, headers=PROTOBUF
                    ).is_success
                wait_until(lambda: product.requests or product.kept, "something was sent")
            process.send_signal(signal.SIGKILL)
            process.wait()
        with running(tmp_path, **settings) as collector:
            wait_until(lambda: len(collector.store.traces(limit=1000)) == TRACES, "every trace is stored")
            wait_until(lambda: 'spanproof_sink_waiting_scores{sink="phoenix"} 0.0' in metrics(collector))
            stored = {
                f"spanproof.{score.layer}"
                for score in collector.store.scores(trace_id=f"{1:032x}")
                if score.name == score.layer and hasattr(score.outcome, "value")
            }
    # Spans of all traces have one id here: each score of each trace is there once, under its own key.
    by_name = {name: sum(each[0] == name for each in product.kept) for name in stored}
    assert by_name == dict.fromkeys(stored, TRACES)
    assert len(product.kept) == TRACES * len(stored)


@pytest.mark.parametrize(
    ("sinks", "says"),
    [
        ([{"kind": "otlp"}], "needs a url"),
        ([{"kind": "weave"}], "needs project"),
        ([{"kind": "weave", "project": "shop"}], "entity/project"),
        ([{"kind": "phoenix"}, {"kind": "phoenix"}], "two sinks are named 'phoenix'"),
        ([{"kind": "phoenix", "url": "localhost:6006"}], "begins with http"),
    ],
)
def test_a_sink_that_cannot_work_is_refused(sinks, says) -> None:
    with pytest.raises(ConfigError, match=says):
        load_config(None, {}, {"sinks": json.dumps(sinks)})


def test_a_sink_without_its_key_is_a_warning(monkeypatch) -> None:
    monkeypatch.delenv("LANGFUSE_SECRET_KEY", raising=False)
    monkeypatch.delenv("LANGFUSE_PUBLIC_KEY", raising=False)
    config = load_config(None, {}, {"sinks": '[{"kind": "langfuse"}]'})
    assert [warning.partition(" is not set")[0] for warning in config.warnings] == [
        "sink langfuse: LANGFUSE_SECRET_KEY",
        "sink langfuse: LANGFUSE_PUBLIC_KEY",
    ]


def test_runs_that_phoenix_has_already_get_their_verdicts_there(phoenix, tmp_path, make_request) -> None:
    number = 930
    body = agent_request(make_request, (number, 931, None), (number, 932, 931))
    plain_http.post(f"{phoenix}/v1/traces", content=body, headers=PROTOBUF, timeout=120).raise_for_status()
    url = f"{phoenix}/v1/projects/default/spans"
    wait_until(
        lambda: (
            len(plain_http.get(url, params={"trace_id": f"{number:032x}"}, timeout=120).json()["data"]) == 2
        ),
        "Phoenix has both spans",
    )
    with running(tmp_path, **to_sink(tmp_path, phoenix)) as collector:
        pull = [
            "pull",
            "phoenix",
            "--url",
            phoenix,
            "--since",
            "99999d",
            "--to",
            str(collector.endpoints.http),
        ]
        assert run([*pull, "--json"]) == 0
        wait_until(lambda: annotations(phoenix, f"{931:016x}"), "Phoenix shows the verdicts")
        stored = collector.store.evaluation(f"{number:032x}")
        assert stored is not None
        assert [run.run.name for run in stored.runs] == ["span 931"]
        assert [snippet.source for run in stored.runs for snippet in run.run.snippets] == ["print(2 + 2)"]
