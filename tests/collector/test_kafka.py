"""Receivers, a topic and workers: what was acknowledged is stored and scored once, though workers die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import plain_http
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from kafka_broker import Broker, kafka
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import ValidationError
from waiting import wait_until

from spanproof.collector.kafka.consumer import count_lag
from spanproof.collector.kafka.messages import MESSAGE_BYTES, iter_trace_messages
from spanproof.collector.kafka.offsets import Offsets
from spanproof.collector.stages.fragments import build_index
from spanproof.config.kafka import Kafka
from spanproof.store import Store, open_store

from ..store.conftest import WritableFront
from .collectors import PROTOBUF, SETTINGS, agent_request

TOPIC, GROUP, PARTITIONS = "otlp_spans", "spanproof", 6
GONE_AFTER_MS = 20_000
"""Without a word for so long, a worker is gone for the broker, which has its messages read by the others."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[Broker]:
    with kafka(tmp_path_factory.mktemp("kafka") / "broker") as running:
        yield running


@pytest.fixture
def topic(broker, request) -> str:
    """A topic for one test."""
    return f"spans_{abs(hash(request.node.nodeid)):x}"


@pytest.fixture
def server(tmp_path) -> Iterator[str]:
    """DSN of a server, over an embedded engine of this process."""
    front = WritableFront(tmp_path / "server", "spanproof", {"max_partitions_per_insert_block": 0})
    yield f"{front.write_url}?compress=false"
    front.close()


@contextmanager
def node(role: str, directory: Path, **more: str) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str]]]:
    """A process of the collector, and where it listens."""
    directory.mkdir()
    settings = {
        **SETTINGS,
        "wal.directory": str(directory / "wal"),
        **{key.replace("__", "."): value for key, value in more.items()},
    }
    flags = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    process = subprocess.Popen(
        [sys.executable, "-m", "spanproof.cli", "serve", "--role", role, "--json", *flags],
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


def of_kafka(broker: Broker, topic: str) -> dict[str, str]:
    return {
        "kafka__brokers": json.dumps([broker.address]),
        "kafka__topic": topic,
        "kafka__group": f"{topic}_group",
        "kafka__partitions": str(PARTITIONS),
        "kafka__consumer_options": json.dumps({"session.timeout.ms": str(GONE_AFTER_MS)}),
    }


def send(url: str, make_request, first: int, count: int) -> None:
    """Send so many traces of three spans, each in two requests; all are acknowledged."""
    with httpx.Client(timeout=120) as client:
        for part in (((1, None), (2, 1)), ((3, 2),)):
            for start in range(first, first + count, 10):
                numbers = range(start, min(start + 10, first + count))
                spans = [(number, span, parent) for number in numbers for span, parent in part]
                body = agent_request(make_request, *spans)
                assert client.post(f"{url}/v1/traces", content=body, headers=PROTOBUF).status_code == 200


def rows(store: Store, sql: str) -> list[tuple[object, ...]]:
    with store._connections.lease() as client:
        return list(client.query(sql).result_rows)


def test_three_workers_of_which_one_is_killed_lose_nothing_and_score_nothing_twice(
    broker, topic, server, tmp_path, make_request
):
    shared = {**of_kafka(broker, topic), "store__location": server}
    with ExitStack() as stack:
        store = stack.enter_context(open_store(server))
        workers = [
            stack.enter_context(node("worker", tmp_path / f"worker-{number}", **shared))[0]
            for number in range(3)
        ]
        _, where = stack.enter_context(node("receiver", tmp_path / "receiver", **shared))
        send(where["http"], make_request, 1, 60)
        # In the middle of its work: some is stored, and some waits for its trace to be complete.
        wait_until(lambda: rows(store, "SELECT count() FROM spanproof.traces FINAL")[0][0] > 10)
        send(where["http"], make_request, 61, 60)
        workers[0].send_signal(signal.SIGKILL)
        workers[0].wait()
        send(where["http"], make_request, 121, 30)
        wait_until(
            lambda: broker.committed(f"{topic}_group", topic) >= 300,
            "every message is committed by the two that are left",
        )
        assert rows(store, "SELECT count(), uniqExact(TraceId, SpanId) FROM spanproof.otel_traces FINAL") == [
            (450, 450)
        ]
        whole = rows(store, "SELECT trace_id, spans FROM spanproof.traces FINAL ORDER BY trace_id")
        assert whole == [(f"{number:032x}", 3) for number in range(1, 151)]
        own = "SELECT count(), uniqExact(trace_id) FROM spanproof.scores FINAL WHERE name = layer AND current"
        assert rows(store, own) == [(750, 150)]
        for worker in workers[1:]:
            worker.send_signal(signal.SIGTERM)
        assert [worker.wait(120) for worker in workers[1:]] == [0, 0]


def test_a_partition_moves_to_a_worker_that_joins_with_traces_that_are_not_complete(
    broker, topic, server, tmp_path, make_request
):
    shared = {**of_kafka(broker, topic), "store__location": server, "assembly__orphan_quiet_s": "90"}
    with ExitStack() as stack:
        store = stack.enter_context(open_store(server))
        stack.enter_context(node("worker", tmp_path / "worker-1", **shared))
        _, where = stack.enter_context(node("receiver", tmp_path / "receiver", **shared))
        with httpx.Client(timeout=120) as client:

            def send_spans(*spans: tuple[int, int, int | None]) -> None:
                body = agent_request(make_request, *spans)
                url = f"{where['http']}/v1/traces"
                assert client.post(url, content=body, headers=PROTOBUF).status_code == 200

            send_spans(*((number, 2, 1) for number in range(1, 41)))
            wait_until(lambda: rows(store, "SELECT count() FROM spanproof.otel_traces FINAL")[0][0] == 40)
            stack.enter_context(node("worker", tmp_path / "worker-2", **shared))
            send_spans(*((number, 1, None) for number in range(1, 41)))
            wait_until(lambda: rows(store, "SELECT count() FROM spanproof.traces FINAL")[0][0] == 40)
            wait_until(lambda: broker.committed(f"{topic}_group", topic) >= 80)
            send_spans((41, 1, None), (41, 2, 1))
            wait_until(lambda: rows(store, "SELECT count() FROM spanproof.traces FINAL")[0][0] == 41)
        assert rows(store, "SELECT DISTINCT spans FROM spanproof.traces FINAL") == [(2,)]
        verdicts = (
            "SELECT layer, name, outcome, value, label, explanation, uniqExact(trace_id)"
            " FROM spanproof.scores FINAL WHERE current GROUP BY ALL"
        )
        traces_of_verdict = {row[-1] for row in rows(store, verdicts)}
        assert traces_of_verdict == {41}, "the trace that came at once has the same verdicts"


def test_messages_are_those_of_the_collectors_exporter_and_its_messages_are_read(
    broker, topic, server, tmp_path, make_request
):
    shared = {**of_kafka(broker, topic), "store__location": server}
    with ExitStack() as stack:
        store = stack.enter_context(open_store(server))
        _, where = stack.enter_context(node("receiver", tmp_path / "receiver", **shared))
        send(where["http"], make_request, 1, 4)
        consumer = Consumer(
            {"bootstrap.servers": broker.address, "group.id": "check", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe([topic])
        messages = []
        wait_until(lambda: messages.extend(consumer.consume(10, 0.2)) or len(messages) == 8)
        consumer.close()
        partitions: dict[bytes, set[int]] = {}
        for message in messages:
            request = ExportTraceServiceRequest.FromString(message.value())
            (fragment,) = build_index(request, message.value()).fragments
            assert message.key() == fragment.key.trace_id.encode()
            partitions.setdefault(message.key(), set()).add(message.partition())
        assert [len(each) for each in partitions.values()] == [1, 1, 1, 1]
        # Without `partition_traces_by_id` the exporter sends whole requests, without a key.
        producer = Producer({"bootstrap.servers": broker.address})
        producer.produce(topic, agent_request(make_request, (91, 1, None), (92, 1, None)))
        producer.produce(topic, b"no request")
        producer.flush(30)
        stack.enter_context(node("worker", tmp_path / "worker", **shared))
        wait_until(lambda: broker.committed(f"{topic}_group", topic) == 10)
        assert len(store.traces(limit=100)) == 6


def test_a_receiver_without_a_store_gives_verdicts_and_refuses_scores(broker, topic, tmp_path):
    settings = {**of_kafka(broker, topic), "verdicts__enabled": "true"}
    with node("receiver", tmp_path / "receiver", **settings) as (_, where):
        verdict = plain_http.post(
            f"{where['http']}/v1/verdict", json={"code": "print(1)", "language": "python"}
        )
        assert verdict.json()["verdict"] == "allow"
        score = {"trace_id": "a" * 32, "name": "tone", "label": "pass"}
        refused = plain_http.post(f"{where['http']}/v1/scores", json={"scores": [score]})
        assert refused.status_code == 503
        assert "set store.location to a server" in refused.text


def test_options_reach_the_clients_that_have_them():
    given = {
        "brokers": ["kafka:9092"],
        "options": {"security.protocol": "SSL"},
        "consumer_options": {"session.timeout.ms": "9000"},
        "producer_options": {"linger.ms": "20"},
    }
    rules = Kafka.model_validate(given)
    common = {"bootstrap.servers": "kafka:9092", "client.id": "spanproof", "security.protocol": "SSL"}
    assert rules.build_client_options() == common
    assert rules.build_consumer_options() == {**common, "session.timeout.ms": "9000"}
    assert rules.build_producer_options() == {**common, "linger.ms": "20"}
    with pytest.raises(ValidationError, match="acks is set by Spanproof"):
        Kafka.model_validate({**given, "producer_options": {"acks": "0"}})


@pytest.mark.parametrize(
    ("role", "settings", "words"),
    [
        ("worker", {"store__location": "http://127.0.0.1:1/x"}, "the role worker needs kafka.brokers"),
        ("worker", {"kafka__brokers": '["127.0.0.1:1"]'}, "needs a store on a server"),
        ("alerter", {}, "the role alerter needs a store on a server"),
    ],
)
def test_a_role_names_what_it_lacks(tmp_path, role, settings, words):
    flags = [
        part for key, value in settings.items() for part in ("--set", f"{key.replace('__', '.')}={value}")
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "spanproof.cli", "serve", "--role", role, *flags],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert ended.returncode == 2
    assert words in " ".join(ended.stderr.split())


def test_a_large_trace_is_split_into_messages_of_its_key_without_loss(make_request):
    request = make_request(*((1, number, None) for number in range(1, 41)), text="x" * 50_000)
    request.MergeFrom(make_request((2, 1, None)))
    parts = list(iter_trace_messages(request))
    assert {key for key, _ in parts} == {f"{number:032x}".encode() for number in (1, 2)}
    assert max(len(value) for _, value in parts) < 1.1 * MESSAGE_BYTES
    found = [ExportTraceServiceRequest.FromString(value) for _, value in parts]
    names = [s.name for each in found for r in each.resource_spans for c in r.scope_spans for s in c.spans]
    assert len(names) == 41
    assert all(each.resource_spans[0].resource.attributes for each in found)


def test_an_offset_may_be_committed_once_all_before_it_are_done():
    offsets = Offsets()
    for offset in range(5):
        offsets.record_read(0, offset)
        offsets.record_held(0, offset, 100 + offset)
    offsets.record_finished_record(101)
    assert offsets.get_committable() == {0: 0}
    offsets.record_finished_record(100)
    assert offsets.get_committable() == {0: 2}
    assert offsets.get_committable() == {}
    assert offsets.list_records([0]) == {102, 103, 104}
    offsets.record_finished(0, 2)
    offsets.remove_partitions([0])
    offsets.record_finished_record(103)
    assert offsets.get_committable() == {}
    assert not offsets.is_held([103])


class Positions:
    """A consumer that has read so far of partitions, by what was last heard of their ends."""

    def __init__(self, *read_and_end: tuple[int, int]) -> None:
        self._places = [TopicPartition("t", number, at) for number, (at, _) in enumerate(read_and_end)]
        self._ends = [end for _, end in read_and_end]

    def assignment(self) -> list[TopicPartition]:
        return self._places

    def position(self, places: list[TopicPartition]) -> list[TopicPartition]:
        return places

    def get_watermark_offsets(self, place: TopicPartition, *, cached: bool) -> tuple[int, int]:
        assert cached, "no request to a broker"
        return 0, self._ends[place.partition]


@pytest.mark.parametrize(
    ("read_and_end", "lag"),
    [([], 0), ([(3, 10)], 7), ([(3, 10), (5, 5)], 7), ([(-1001, 10), (4, -1001), (2, 6)], 4)],
)
def test_the_lag_is_what_is_known_and_not_read(read_and_end: list[tuple[int, int]], lag: int) -> None:
    assert count_lag(Positions(*read_and_end)) == lag  # type: ignore[arg-type]
