"""The topic as the log of a receiver: a request is acknowledged once all brokers in sync have it."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import Future

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from spanproof.collector.kafka.messages import iter_trace_messages
from spanproof.collector.receive.body import decode_record
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.file import Encoding, Record
from spanproof.collector.wal.log import WalClosed, WalFull
from spanproof.config.kafka import Kafka

_TOPIC_S = 30.0
_POLL_S = 0.05
_LARGEST_MESSAGE = 64 * 1024 * 1024


class TopicLog:
    """Appends to the topic. Thread-safe.

    Args:
        project: of spans that name none, and whose resource names none.

    Raises:
        OSError: the topic cannot be made.
    """

    def __init__(self, rules: Kafka, telemetry: Telemetry, *, project: str, queue_bytes: int) -> None:
        create_topic(rules)
        self._topic = rules.topic
        self._project = project
        self._telemetry = telemetry
        self._producer = Producer(
            {
                "linger.ms": 5,
                "compression.type": "zstd",
                "queue.buffering.max.kbytes": max(1, queue_bytes // 1024),
                # Shorter than clients wait: they then send again what was not acknowledged.
                "delivery.timeout.ms": 10_000,
                "request.timeout.ms": 5_000,
                "message.max.bytes": _LARGEST_MESSAGE,
                **rules.build_producer_options(),
                "enable.idempotence": True,
                "acks": "all",
                # As the OpenTelemetry Collector's exporter has it: both send a trace to one partition.
                "partitioner": "fnv1a_random",
            }
        )
        self._numbers = itertools.count(1)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run_polling, name="spanproof-kafka", daemon=True)
        self._thread.start()

    @property
    def full(self) -> bool:
        """Whether nothing more is taken now: never known before it is tried."""
        return False

    @property
    def broken(self) -> bool:
        """Whether nothing more is taken at all."""
        return self._closed.is_set()

    def append(self, encoding: Encoding, payload: bytes) -> Future[int]:
        """Write a request to the topic; the future gives a number once it is durable, or an OSError.

        Raises:
            WalClosed: `close` was called.
            WalFull: too much waits for the brokers.
        """
        if self._closed.is_set():
            raise WalClosed("the receiver is stopping")
        number = next(self._numbers)
        record = Record(number, encoding, payload, number, 0)
        messages = list(iter_trace_messages(decode_record(record), self._project))
        delivery = _Delivery(number, len(messages))
        for key, value in messages:
            try:
                self._producer.produce(self._topic, value, key, on_delivery=delivery.handle_report)
            except BufferError as full:
                raise WalFull("too many spans wait for the brokers") from full
            except KafkaException as refusal:
                raise OSError(f"kafka: {refusal.args[0].str()}") from refusal
        self._telemetry.kafka_messages.labels("produced").inc(len(messages))
        return delivery.durable

    def close(self, timeout_s: float) -> bool:
        """Wait until everything is delivered, then end; False when there was not enough time."""
        self._closed.set()
        left = self._producer.flush(timeout_s)
        self._thread.join()
        return left == 0

    def _run_polling(self) -> None:
        while not self._closed.is_set():
            self._producer.poll(_POLL_S)


class _Delivery:
    """The messages of one request: done with the last of them, failed with the first that fails."""

    def __init__(self, number: int, messages: int) -> None:
        self.durable: Future[int] = Future()
        self.durable.set_running_or_notify_cancel()
        self._number = number
        self._left = messages

    def handle_report(self, error: KafkaError | None, _: Message) -> None:
        if self.durable.done():
            return
        self._left -= 1
        if error is not None:
            self.durable.set_exception(OSError(f"kafka: {error.str()}"))
        elif not self._left:
            self.durable.set_result(self._number)


def create_topic(rules: Kafka) -> None:
    """Make the topic where it is not there and its number of partitions is configured.

    Raises:
        OSError: the brokers do not answer, or refuse.
    """
    admin = AdminClient({**rules.build_client_options()})
    try:
        topics = admin.list_topics(timeout=_TOPIC_S).topics
        if rules.topic in topics or rules.partitions is None:
            return
        made = admin.create_topics([NewTopic(rules.topic, rules.partitions)])
        made[rules.topic].result(_TOPIC_S)
    except KafkaException as failure:
        error = failure.args[0]
        if error.code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise OSError(f"kafka {', '.join(rules.brokers)}: {error.str()}") from failure
