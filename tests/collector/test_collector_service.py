"""The whole of the collector: what agents send is evaluated and stored once, and nothing else is."""

from __future__ import annotations

import time

from free_port import free_port
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from waiting import wait_until

from spanproof.collector.service import Collector
from spanproof.config.model import load_config
from spanproof.evaluators.engine import Engine
from spanproof.trace import Layer
from spanproof.trace.dialects import normalise
from spanproof.trace.otlp import read_file

from .collectors import AGENT, LLM, agent_request, metrics, post, running, settings_of


def run_agent(exporter: HttpExporter | GrpcExporter) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("openinference.instrumentation.smolagents")
    agent = tracer.start_as_current_span("CodeAgent.run", attributes=AGENT)
    model = tracer.start_as_current_span("LiteLLMModel.generate", attributes=LLM)
    with agent, model:
        pass
    provider.shutdown()


def test_traces_of_both_exporters_are_evaluated_and_stored(tmp_path) -> None:
    with running(tmp_path) as collector:
        run_agent(HttpExporter(f"{collector.endpoints.http}/v1/traces"))
        run_agent(GrpcExporter(collector.endpoints.grpc, insecure=True))
        assert collector.evaluated.wait_for(2, timeout_s=120)
        for evaluation in collector.evaluated.latest:
            assert len(evaluation.trace.spans) == 2
            assert {score.layer for score in evaluation.scores} == set(Layer)
            stored = collector.store.evaluation(evaluation.trace.trace_id)
            assert stored is not None
            assert [score.id for score in stored.scores] == [score.id for score in evaluation.scores]
        wait_until(lambda: "spanproof_wal_pending_records 0.0" in metrics(collector))
    assert list((tmp_path / "wal").glob("*.wal")) == []


def test_the_project_of_the_configuration_is_on_every_score(tmp_path, make_request) -> None:
    with running(tmp_path, project="billing") as collector:
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        assert collector.evaluated.wait_for(1, timeout_s=120)
        assert {score.cohort.project for score in collector.evaluated.latest[0].scores} == {"billing"}


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
        assert collector.evaluated.wait_for(1, timeout_s=120)
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
        assert collector.evaluated.wait_for(1, timeout_s=120)
        assert collector.evaluated.latest[0].trace.trace_id == f"{2:032x}"
        assert 'spanproof_spans_ignored_total{reason="own_evaluator"} 1.0' in metrics(collector)


def test_forwarding_that_leads_back_here_ends_at_once(tmp_path, make_request) -> None:
    port = free_port()
    here = {
        "receivers__http__port": str(port),
        "forward": f"[{{endpoint: 'http://127.0.0.1:{port}'}}]",
    }
    with running(tmp_path, **here) as collector:
        seen = []
        collector.evaluated.subscribe(seen.append)
        post(collector, agent_request(make_request, (1, 1, None), (1, 2, 1)))
        sent = 'spanproof_forward_requests_total{outcome="sent",signal="traces"} 1.0'
        wait_until(lambda: sent in metrics(collector))
        repeated = 'spanproof_spans_ignored_total{reason="repeated"} 2.0'
        wait_until(lambda: repeated in metrics(collector))
        time.sleep(1.5)
        assert len(seen) == 1
        assert sent in metrics(collector)
        assert repeated in metrics(collector)


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
