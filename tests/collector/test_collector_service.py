from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from spanproof.cli.serve import collector_for
from spanproof.collector.config import load_config
from spanproof.collector.dialects import normalise
from spanproof.collector.receive.server import PortTaken
from spanproof.collector.service import Collector
from spanproof.evaluators.engine import Engine
from spanproof.store import Store, open_store
from spanproof.trace import Layer, Scored
from spanproof.trace.otlp import any_value, read_file

SETTINGS = {
    "receivers.grpc.port": "0",
    "receivers.http.port": "0",
    "assembly.quiet_s": "0.4",
    "assembly.orphan_quiet_s": "1.5",
    "evaluation.store_every_s": "0.1",
    "evaluation.replay": "false",
}
PROTOBUF = {"content-type": "application/x-protobuf"}
AGENT = {"openinference.span.kind": "AGENT", "input.value": "What is 2 + 2?", "output.value": "4"}
LLM = {"openinference.span.kind": "LLM", "output.value": "Let me see.\n```python\nprint(2 + 2)\n```"}


def settings_of(tmp_path: Path, **more: str) -> dict[str, str]:
    places = {"wal.directory": str(tmp_path / "wal"), "store.location": str(tmp_path / "store")}
    return {**SETTINGS, **places, **{key.replace("__", "."): value for key, value in more.items()}}


@contextmanager
def running(tmp_path: Path, **more: str) -> Iterator[Collector]:
    with collector_for(load_config(None, {}, settings_of(tmp_path, **more))) as collector:
        yield collector


def run_agent(exporter: HttpExporter | GrpcExporter) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("openinference.instrumentation.smolagents")
    agent = tracer.start_as_current_span("CodeAgent.run", attributes=AGENT)
    model = tracer.start_as_current_span("LiteLLMModel.generate", attributes=LLM)
    with agent, model:
        pass
    provider.shutdown()


def agent_request(make_request: Callable[..., object], *spans: tuple[int, int, int | None]) -> bytes:
    request = make_request(*spans, scope="openinference.instrumentation.smolagents")
    for span in request.resource_spans[0].scope_spans[0].spans:
        for key, value in (LLM if span.parent_span_id else AGENT).items():
            span.attributes.add(key=key, value=any_value(value))
    return bytes(request.SerializeToString())


def post(collector: Collector, body: bytes) -> None:
    response = httpx.post(f"{collector.endpoints.http}/v1/traces", content=body, headers=PROTOBUF)
    assert response.status_code == 200


def wait_until(true: Callable[[], bool], timeout_s: float = 30) -> None:
    until = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < until, "not in time"
        time.sleep(0.05)


def test_traces_of_both_exporters_are_evaluated_and_stored(tmp_path) -> None:
    with running(tmp_path) as collector:
        run_agent(HttpExporter(f"{collector.endpoints.http}/v1/traces"))
        run_agent(GrpcExporter(collector.endpoints.grpc, insecure=True))
        assert collector.evaluated.wait_for(2, timeout_s=30)
        for evaluation in collector.evaluated.latest:
            assert len(evaluation.trace.spans) == 2
            assert {score.layer for score in evaluation.scores} == set(Layer)
            stored = collector.store.evaluation(evaluation.trace.trace_id)
            assert stored is not None
            assert [score.id for score in stored.scores] == [score.id for score in evaluation.scores]
        wait_until(lambda: "spanproof_wal_pending_records 0.0" in metrics(collector))
    assert list((tmp_path / "wal").glob("*.wal")) == []


def metrics(collector: Collector) -> str:
    return httpx.get(f"{collector.endpoints.http}/metrics").text


def test_the_project_of_the_configuration_is_on_every_score(tmp_path, make_request) -> None:
    with running(tmp_path, project="billing") as collector:
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        assert collector.evaluated.wait_for(1, timeout_s=30)
        assert {score.cohort.project for score in collector.evaluated.latest[0].scores} == {"billing"}


def test_a_late_span_opens_its_trace_again_and_the_store_has_the_whole_of_it(tmp_path, make_request) -> None:
    with running(tmp_path) as collector:
        seen = []
        collector.evaluated.subscribe(seen.append)
        post(collector, agent_request(make_request, (1, 1, None)))
        assert collector.evaluated.wait_for(1, timeout_s=30)
        post(collector, agent_request(make_request, (1, 2, 1)))
        wait_until(lambda: len(seen) == 2)
        assert [len(evaluation.trace.spans) for evaluation in seen] == [1, 2]
        stored = collector.store.evaluation(f"{1:032x}")
        assert stored is not None
        assert len(stored.trace.spans) == 2
        assert collector.evaluated.traces == 1


def test_a_span_that_is_later_than_memory_finds_its_trace_in_the_store(tmp_path, make_request) -> None:
    with running(tmp_path, assembly__reopen_s="0.1") as collector:
        seen = []
        collector.evaluated.subscribe(seen.append)
        post(collector, agent_request(make_request, (1, 1, None)))
        assert collector.evaluated.wait_for(1, timeout_s=30)
        time.sleep(0.5)
        post(collector, agent_request(make_request, (1, 2, 1)))
        wait_until(lambda: len(seen) == 2)
        assert len(seen[1].trace.spans) == 2


def test_a_root_that_ends_long_after_its_children_does_not_replace_them(tmp_path, make_request) -> None:
    with running(tmp_path, assembly__reopen_s="0.1") as collector:
        seen = []
        collector.evaluated.subscribe(seen.append)
        post(collector, agent_request(make_request, (1, 2, 1), (1, 3, 1)))
        assert collector.evaluated.wait_for(1, timeout_s=30)
        time.sleep(0.5)
        post(collector, agent_request(make_request, (1, 1, None)))
        wait_until(lambda: len(seen) == 2)
        assert [len(evaluation.trace.spans) for evaluation in seen] == [2, 3]


def test_states_of_one_trace_are_evaluated_one_after_the_other(tmp_path, make_request) -> None:
    with running(tmp_path, assembly__max_bytes="1") as collector:  # every span is given out at once
        seen = []
        collector.evaluated.subscribe(seen.append)
        for number in range(2, 12):
            post(collector, agent_request(make_request, (1, number, 1)))
        post(collector, agent_request(make_request, (1, 1, None)))
        wait_until(lambda: bool(seen) and len(seen[-1].trace.spans) == 11)
        assert [len(evaluation.trace.spans) for evaluation in seen] == sorted(
            len(evaluation.trace.spans) for evaluation in seen
        )


def test_stopping_evaluates_what_was_received_without_waiting_for_quiet(tmp_path, make_request) -> None:
    with running(tmp_path, assembly__quiet_s="300", assembly__orphan_quiet_s="300") as collector:
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        began = time.monotonic()
    assert time.monotonic() - began < 20
    assert collector.evaluated.traces == 1
    with open_store(tmp_path / "store") as store:
        assert store.evaluation(f"{1:032x}") is not None


def test_an_incomplete_trace_is_taken_up_again_after_a_restart(tmp_path, make_request) -> None:
    with running(tmp_path) as collector:
        post(collector, agent_request(make_request, (1, 2, 1)))
    with running(tmp_path) as collector:
        post(collector, agent_request(make_request, (1, 1, None)))
        assert collector.evaluated.wait_for(1, timeout_s=30)
        assert len(collector.evaluated.latest[-1].trace.spans) == 2


def test_a_trace_the_engine_cannot_take_is_set_aside_and_the_next_one_goes_through(
    tmp_path, make_request, monkeypatch
) -> None:
    with running(tmp_path) as collector:
        real = Engine.evaluate

        def fails_on_the_first(self, trace):
            if trace.trace_id == f"{1:032x}":
                raise RuntimeError("broken")
            return real(self, trace)

        monkeypatch.setattr(Engine, "evaluate", fails_on_the_first)
        post(collector, agent_request(make_request, (1, 1, None), (2, 1, None)))
        assert collector.evaluated.wait_for(1, timeout_s=30)
        wait_until(lambda: 'spanproof_traces_failed_total{stage="evaluate"} 1.0' in metrics(collector))
        assert collector.evaluated.latest[0].trace.trace_id == f"{2:032x}"
        wait_until(lambda: "spanproof_wal_pending_records 0.0" in metrics(collector))
    (kept,) = read_file(tmp_path / "wal" / "set-aside" / f"{1:032x}.pb")
    assert [span.trace_id for span in normalise(kept)] == [f"{1:032x}"]


def test_our_own_evaluator_spans_are_taken_and_never_evaluated(tmp_path, make_request) -> None:
    with running(tmp_path) as collector:
        own = make_request((1, 9, 1), scope="spanproof.evaluators")
        post(collector, own.SerializeToString())
        post(collector, agent_request(make_request, (2, 1, None)))
        assert collector.evaluated.wait_for(1, timeout_s=30)
        assert collector.evaluated.latest[0].trace.trace_id == f"{2:032x}"
        assert 'spanproof_spans_ignored_total{reason="own_evaluator"} 1.0' in metrics(collector)


def test_forwarding_that_leads_back_here_ends_at_once(tmp_path, make_request, free_port) -> None:
    here = {
        "receivers__http__port": str(free_port),
        "forward": f"[{{endpoint: 'http://127.0.0.1:{free_port}'}}]",
    }
    with running(tmp_path, **here) as collector:
        seen = []
        collector.evaluated.subscribe(seen.append)
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        sent = 'spanproof_forward_requests_total{outcome="sent",signal="traces"} 1.0'
        wait_until(lambda: sent in metrics(collector))
        time.sleep(1.5)
        assert len(seen) == 1
        assert sent in metrics(collector)
        assert 'spanproof_spans_ignored_total{reason="repeated"} 2.0' in metrics(collector)


def test_watchers_are_called_after_something_was_stored_and_may_fail(tmp_path, make_request) -> None:
    seen: list[int] = []

    def watch(store):
        def tick() -> None:
            seen.append(len(store.traces()))
            raise RuntimeError("a watcher that fails")

        return tick

    config = load_config(None, {}, settings_of(tmp_path))
    with Collector(config, watch=[watch]) as collector:
        post(collector, agent_request(make_request, (1, 1, None)))
        wait_until(lambda: 1 in seen)
        post(collector, agent_request(make_request, (2, 1, None)))
        wait_until(lambda: 2 in seen)


@contextmanager
def serving(tmp_path: Path, **more: str) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str]]]:
    flags = [
        part for key, value in settings_of(tmp_path, **more).items() for part in ("--set", f"{key}={value}")
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "spanproof.cli", "serve", "--json", *flags],
        stdout=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if not key.startswith("SPANPROOF_")},
    )
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def test_serve_says_where_it_listens_and_drains_on_sigterm(tmp_path, make_request) -> None:
    with serving(tmp_path, assembly__quiet_s="200", assembly__orphan_quiet_s="200") as (process, where):
        body = agent_request(make_request, (1, 1, None), (1, 2, 1))
        assert httpx.post(f"{where['http']}/v1/traces", content=body, headers=PROTOBUF).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    with open_store(tmp_path / "store") as store:
        stored = store.evaluation(f"{1:032x}")
        assert stored is not None
        assert any(isinstance(score.outcome, Scored) for score in stored.scores)


def test_what_was_acknowledged_before_kill_9_is_evaluated_after_a_restart(tmp_path, make_request) -> None:
    acknowledged = 0
    with serving(tmp_path, assembly__quiet_s="200", assembly__orphan_quiet_s="200") as (process, where):
        with httpx.Client() as client:
            for number in range(1, 41):
                body = agent_request(make_request, (number, 1, None), (number, 2, 1))
                response = client.post(f"{where['http']}/v1/traces", content=body, headers=PROTOBUF)
                acknowledged += response.status_code == 200
        process.kill()
        process.wait()
    assert acknowledged == 40
    with running(tmp_path) as collector:
        assert collector.evaluated.wait_for(40, timeout_s=60)
        assert len(collector.store.traces(limit=100)) == 40


CODE = ["price = 12\nprint(price * 3)", "print(1 / 0)", "import random\nprint(sorted({'a', 'b'}))"]
LOGS = ["36\n", "", "['a', 'b']\n"]
TRACES = 24


def code_request(make_request: Callable[..., object], number: int) -> bytes:
    """A run with a step of code, one of three."""
    request = make_request((number, 1, None), (number, 2, 1), scope="spanproof.instrumentors.smolagents")
    root, step = request.resource_spans[0].scope_spans[0].spans
    kind = number % len(CODE)
    of_step = {
        "openinference.span.kind": "CHAIN",
        "spanproof.step.number": 1,
        "spanproof.code.source": CODE[kind],
        "spanproof.code.language": "python",
        "spanproof.execution.logs": LOGS[kind],
    }
    for span, attributes in ((root, AGENT), (step, of_step)):
        for key, value in attributes.items():
            span.attributes.add(key=key, value=any_value(value))
    return bytes(request.SerializeToString())


def said_of(store: Store) -> dict[int, list[tuple[object, ...]]]:
    """What was said of each trace, by number; each score once."""
    said = {}
    for number in range(1, TRACES + 1):
        stored = store.evaluation(f"{number:032x}")
        assert stored is not None
        of_trace = sorted(
            (score.layer, score.name, score.span_id, repr(score.outcome)) for score in stored.scores
        )
        assert len({each[:3] for each in of_trace}) == len(of_trace)
        said[number] = of_trace
    return said


def test_several_workers_say_what_one_says_and_kill_9_amid_their_work_loses_nothing(
    tmp_path, make_request
) -> None:
    (tmp_path / "one").mkdir()
    bodies = [code_request(make_request, number) for number in range(1, TRACES + 1)]
    replaying = {"evaluation__replay": "true", "evaluation__store_batch": "4"}
    with running(tmp_path / "one", evaluation__workers="1", **replaying) as collector:
        for body in bodies:
            post(collector, body)
        assert collector.evaluated.wait_for(TRACES, timeout_s=60)
        by_one = said_of(collector.store)
    with serving(tmp_path, evaluation__workers="4", sandbox__workers="3", **replaying) as (process, where):
        with httpx.Client() as client:
            for body in bodies:
                assert client.post(f"{where['http']}/v1/traces", content=body, headers=PROTOBUF).is_success
            wait_until(
                lambda: "spanproof_traces_completed_total{" in client.get(f"{where['http']}/metrics").text
            )
        process.kill()
        process.wait()
    with running(tmp_path, evaluation__workers="3", **replaying) as collector:
        wait_until(lambda: len(collector.store.traces(limit=1000)) == TRACES, timeout_s=60)
        by_several = said_of(collector.store)
    assert by_several == by_one
    assert len({str(said) for said in by_one.values()}) == len(CODE)


def test_a_second_collector_on_the_same_directory_says_so(tmp_path) -> None:
    with running(tmp_path):
        flags = [part for key, value in settings_of(tmp_path).items() for part in ("--set", f"{key}={value}")]
        second = subprocess.run(
            [sys.executable, "-m", "spanproof.cli", "serve", *flags],
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert second.returncode == 2
        assert b"cannot start" in second.stderr
        assert b"Traceback" not in second.stderr


def test_a_start_that_fails_lets_go_of_everything(tmp_path, taken_port) -> None:
    settings = settings_of(tmp_path, receivers__http__port=str(taken_port), receivers__fallback_port="false")
    with pytest.raises(PortTaken):
        collector_for(load_config(None, {}, settings)).start()
    with running(tmp_path):
        pass


def test_a_start_that_fails_leaves_the_signals_to_whom_they_belonged(tmp_path, taken_port) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    settings = settings_of(tmp_path, receivers__http__port=str(taken_port), receivers__fallback_port="false")
    with pytest.raises(PortTaken):
        collector_for(load_config(None, {}, settings)).run_forever()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_json_log_lines_can_be_read_by_machines(tmp_path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "spanproof.cli", "serve", "--json", "--log-format", "json"]
        + [part for key, value in settings_of(tmp_path).items() for part in ("--set", f"{key}={value}")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    where = json.loads(process.stdout.readline())
    httpx.post(f"{where['http']}/v1/traces", content=b"\xff", headers=PROTOBUF)
    process.send_signal(signal.SIGINT)
    _, lines = process.communicate(timeout=60)
    messages = [json.loads(line)["message"] for line in lines.splitlines() if line.startswith(b"{")]
    assert any(message.startswith("refused a request over http") for message in messages)
    assert process.returncode == 0
