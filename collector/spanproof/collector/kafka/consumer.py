"""A worker's consumer: messages of its partitions into the pipeline, offsets back once all of it is stored.

An offset is committed when the spans of its message and the scores of its traces are in the store, and those
of all messages before it. So a worker that is killed loses nothing: another reads again what was not
committed, and writing it again changes nothing. A partition that moves is finished first; what cannot be
finished in time is dropped and never written, as the next worker evaluates it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from spanproof.collector.kafka.offsets import Offsets
from spanproof.collector.kafka.producer import create_topic
from spanproof.collector.kafka.spool import Spool
from spanproof.collector.pipeline import Pipeline
from spanproof.collector.receive import body as bodies
from spanproof.collector.receive.accept import Accepted
from spanproof.collector.receive.admission import Backlog
from spanproof.collector.receive.refused import Refused
from spanproof.collector.stages.fragments import build_index
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.file import Encoding
from spanproof.config.kafka import Kafka

log = logging.getLogger(__name__)

_BATCH = 500
_POLL_S = 0.1
_COMMIT_EVERY_S = 1.0
# A paused consumer resumes below this share of `max_pending_traces`, so that it does not pause again at once.
_RESUME_SHARE = 0.8


class SpanConsumer:
    """One thread that reads the topic.

    Args:
        offsets: the spool calls it with each record that is done.
    """

    def __init__(
        self,
        rules: Kafka,
        *,
        project: str,
        pipeline: Pipeline,
        spool: Spool,
        offsets: Offsets,
        backlog: Backlog,
        telemetry: Telemetry,
    ) -> None:
        self._rules = rules
        self._project = project
        self._pipeline = pipeline
        self._spool = spool
        self._offsets = offsets
        self._backlog = backlog
        self._telemetry = telemetry
        self._paused = False
        self._stopping = threading.Event()
        self._stopped = threading.Event()
        self._consumer: Consumer
        self._thread = threading.Thread(target=self._run, name="spanproof-consume", daemon=True)

    def start(self) -> None:
        """Join the group and begin to read.

        Raises:
            OSError: the topic cannot be made, or the brokers do not answer.
        """
        create_topic(self._rules)
        self._consumer = Consumer(
            {
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 10_000,
                **self._rules.build_consumer_options(),
                "group.id": self._rules.group,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "partition.assignment.strategy": "cooperative-sticky",
            }
        )
        self._consumer.subscribe(
            [self._rules.topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )
        self._thread.start()

    def stop_reading(self) -> None:
        """Read nothing more and give up open traces; stay in the group, so that the others are finished."""
        self._stopping.set()
        # They are not settled: the next worker of the partition reads them again.
        self._pipeline.remove_open(self._offsets.list_records(self._offsets.partitions))

    def close(self) -> None:
        """Commit what is done and leave the group."""
        self._stopping.set()
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        ticks = 0.0
        try:
            while not self._stopped.is_set():
                self._update_pause()
                messages = self._consumer.consume(_BATCH, _POLL_S)
                for message in messages:
                    self._handle_message(message)
                ticks += _POLL_S
                if len(messages) == _BATCH or ticks >= _COMMIT_EVERY_S:
                    ticks = 0.0
                    self._write_positions(self._offsets.get_committable())
                    self._telemetry.kafka_lag.set(count_lag(self._consumer))
        except Exception:
            log.exception("reading the topic ended")
        finally:
            self._write_positions(self._offsets.get_committable(), wait=True)
            self._consumer.close()

    def _handle_message(self, message: Message) -> None:
        error = message.error()
        if error is not None:
            log.warning("kafka: %s", error.str())
            return
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        self._offsets.record_read(partition, offset)
        self._telemetry.kafka_messages.labels("consumed").inc()
        value = message.value() or b""
        try:
            request = bodies.decode_request(Encoding.PROTOBUF, value)
        except Refused as refusal:
            log.warning("partition %d offset %d is left out: %s", partition, offset, refusal.message)
            self._telemetry.kafka_messages.labels("unreadable").inc()
            self._offsets.record_finished(partition, offset)
            return
        index = build_index(request, value, self._project)
        if not index.spans:
            self._offsets.record_finished(partition, offset)
            return

        def hand_on(written: Future[int]) -> None:
            if written.exception() is None:
                self._offsets.record_held(partition, offset, written.result())
                self._pipeline.put(Accepted(written.result(), request, index, len(value)))
            else:
                log.error("the worker's log takes nothing: %s", written.exception())

        payload = request.SerializeToString() if index.changed else value
        self._spool.append(Encoding.PROTOBUF, payload).add_done_callback(hand_on)

    def _update_pause(self) -> None:
        max_pending = self._rules.max_pending_traces * (_RESUME_SHARE if self._paused else 1.0)
        has_no_room = self._backlog.full or self._spool.full
        overloaded = has_no_room or self._stopping.is_set() or self._pipeline.pending_traces >= max_pending
        if overloaded == self._paused:
            return
        assigned = self._consumer.assignment()
        if assigned:
            (self._consumer.pause if overloaded else self._consumer.resume)(assigned)
            self._paused = overloaded

    def _write_positions(self, positions: dict[int, int], *, wait: bool = False) -> None:
        if not positions:
            return
        offsets = [TopicPartition(self._rules.topic, partition, at) for partition, at in positions.items()]
        try:
            if wait:
                self._consumer.commit(offsets=offsets, asynchronous=False)
            else:
                self._consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException as failure:
            # What is not committed is read again.
            log.warning("kafka: offsets cannot be committed: %s", failure.args[0].str())

    def _on_assign(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        log.info("assigned partitions %s", [partition.partition for partition in partitions])
        self._telemetry.kafka_rebalances.labels("assigned").inc()
        self._telemetry.kafka_partitions.inc(len(partitions))
        # New ones are not paused: the next look at the load does that.
        self._paused = False

    def _on_revoke(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Finish what was begun of these partitions, commit it, and drop the rest."""
        if self._stopped.is_set():
            return  # the pipeline has ended, and what is done is committed
        self._telemetry.kafka_rebalances.labels("revoked").inc()
        numbers = [partition.partition for partition in partitions]
        dropped = self._pipeline.remove_open(self._offsets.list_records(numbers))
        begun = self._offsets.list_records(numbers) - set(dropped)
        if not self._offsets.wait_for(begun, self._rules.hand_over_s):
            log.warning("partitions %s move before all that was begun of them is stored", numbers)
        self._write_positions(self._offsets.get_committable(numbers), wait=True)
        self._remove_partitions(numbers, dropped)

    def _on_lost(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Drop these partitions: another worker reads them already."""
        if self._stopped.is_set():
            return
        self._telemetry.kafka_rebalances.labels("lost").inc()
        numbers = [partition.partition for partition in partitions]
        self._remove_partitions(numbers, self._pipeline.remove_open(self._offsets.list_records(numbers)))

    def _remove_partitions(self, partitions: Sequence[int], dropped: Sequence[int]) -> None:
        """Forget partitions; `dropped` are the records of their open traces."""
        log.info("gave up partitions %s", partitions)
        records = self._offsets.list_records(partitions)
        self._offsets.remove_partitions(partitions)
        # Only now, as the offset of a record that is settled counts as done.
        self._spool.settle(dropped)
        self._pipeline.remove_traces(records)
        self._telemetry.kafka_partitions.dec(len(partitions))


def count_lag(consumer: Consumer) -> int:
    """Return how many messages of the assigned partitions are not read, as far as the last answers say.

    It sends no request: the ends of partitions come with each batch that is read. A partition of which
    nothing came yet counts as read.
    """
    lag = 0
    for position in consumer.position(consumer.assignment()):
        _, end = consumer.get_watermark_offsets(position, cached=True)
        if position.offset >= 0 and end >= 0:  # negative: not known yet
            lag += max(0, end - position.offset)
    return lag
