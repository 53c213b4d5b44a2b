"""The whole of the collector: what agents send is evaluated and stored once, and nothing else is."""

from __future__ import annotations

import time

from faulty_engines import open_faulty_engine
from free_port import free_port
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from waiting import wait_until

from spanproof.collector.service import Collector
from spanproof.config.model import load_config
from spanproof.trace import Errored, Layer

from .collectors import AGENT, LLM, agent_request, metrics, post, running, settings_of

USAGE = {
    "llm.model_name": "gpt-4.1-mini-2025-04-14",
    "llm.token_count.prompt": 1000,
    "llm.token_count.completion": 100,
    "llm.token_count.prompt_details.cache_read": 800,
}


def run_agent(exporter: HttpExporter | GrpcExporter) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("openinference.instrumentation.smolagents")
    agent = tracer.start_as_current_span(
        "CodeAgent.run", attributes=AGENT | {"spanproof.cohort.task": "sums"}
    )
    model = tracer.start_as_current_span("LiteLLMModel.generate", attributes=LLM | USAGE)
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
        run = '{agent="CodeAgent",model="gpt-4.1-mini-2025-04-14",project="default",task="sums"}'
        amounts = {
            f"spanproof_run_cost_usd_sum{run} 0.00112",
            f"spanproof_run_tokens_sum{run} 2200.0",
            f"spanproof_run_cached_tokens_sum{run} 1600.0",
            f"spanproof_run_steps_sum{run} 2.0",
            f"spanproof_run_steps_count{run} 2.0",
        }
        wait_until(lambda: amounts <= set(metrics(collector).splitlines()))
    assert list((tmp_path / "wal").glob("*.wal")) == []


def test_a_trace_the_engine_cannot_take_is_errored_and_the_next_one_goes_through(
    tmp_path, make_request
) -> None:
    settings = settings_of(tmp_path, evaluation__attempts="1", evaluation__max_spans="3")
    config = load_config(None, {}, settings)
    with Collector(config, open_engine=open_faulty_engine) as collector:
        post(collector, make_request((1, 1, None), service="raise").SerializeToString())
        post(collector, agent_request(make_request, (2, 1, None)))
        post(
            collector, agent_request(make_request, (3, 1, None), *((3, number, 1) for number in range(2, 6)))
        )
        assert collector.evaluated.wait_for(3, timeout_s=120)
        wait_until(lambda: 'spanproof_traces_failed_total{stage="evaluate"} 1.0' in metrics(collector))
        wait_until(lambda: 'spanproof_traces_failed_total{stage="size"} 1.0' in metrics(collector))
        wait_until(lambda: "spanproof_wal_pending_records 0.0" in metrics(collector))
        failed = collector.store.evaluation(f"{1:032x}")
        assert failed is not None
        assert {type(score.outcome) for score in failed.scores} == {Errored}
        too_large = collector.store.evaluation(f"{3:032x}")
        assert too_large is not None
        assert len(too_large.trace.spans) == 5
        reason = "the trace has 5 spans, more than evaluation.max_spans: 3"
        assert {score.outcome for score in too_large.scores} == {Errored("TraceTooLarge", reason)}
        letters = {letter.trace_id: letter.error for letter in collector.store.dead_letters()}
        assert letters == {f"{1:032x}": "broken", f"{3:032x}": reason}
        assert len(stored_spans(collector)) == 7


def test_spans_are_stored_once_while_nothing_is_evaluated(tmp_path, make_request) -> None:
    with running(tmp_path, assembly__quiet_s="300", assembly__orphan_quiet_s="300") as collector:
        again = make_request((1, 2, 1))
        again.resource_spans[0].scope_spans[0].spans[0].name = "another name"
        again.resource_spans[0].scope_spans[0].spans[0].start_time_unix_nano += 86_400 * 10**9
        for request in (make_request((1, 1, None), (1, 2, 1)), make_request((1, 1, None)), again):
            post(collector, request.SerializeToString())
        wait_until(lambda: "spanproof_store_spans_total 4.0" in metrics(collector))
        assert stored_spans(collector) == [("span 1", f"{1:016x}"), ("another name", f"{2:016x}")]
        assert collector.evaluated.traces == 0


def stored_spans(collector: Collector) -> list[tuple[str, str]]:
    """Name and id of each row of the table of spans."""
    with collector.store._connections.lease() as client:
        return client.query(
            "SELECT SpanName, SpanId FROM spanproof.otel_traces FINAL ORDER BY SpanId"
        ).result_rows


def test_our_own_evaluator_spans_are_never_evaluated_and_scores_are_of_the_configured_project(
    tmp_path, make_request
) -> None:
    with running(tmp_path, project="billing") as collector:
        own = make_request((1, 9, 1), scope="spanproof.evaluators")
        post(collector, own.SerializeToString())
        post(collector, agent_request(make_request, (2, 1, None), (2, 2, 1)))
        assert collector.evaluated.wait_for(1, timeout_s=120)
        (evaluation,) = collector.evaluated.latest
        assert evaluation.trace.trace_id == f"{2:032x}"
        assert {score.cohort.project for score in evaluation.scores} == {"billing"}
        assert 'spanproof_spans_ignored_total{reason="own_evaluator"} 1.0' in metrics(collector)


def test_forwarding_that_leads_back_here_ends_at_once(tmp_path, make_request) -> None:
    port = free_port()
    here = {
        "receivers__http__port": str(port),
        "forward": f"[{{endpoint: 'http://127.0.0.1:{port}', traces: all}}]",
    }
    with running(tmp_path, **here) as collector:
        seen = []
        collector.evaluated.add_subscriber(seen.append)
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
