"""The collector in several processes, each with a role of its own; what joins them is a topic and a store.

A receiver takes spans and produces them to the topic. A worker consumes, stores and evaluates them. An
alerter watches the store: any number may run, one at a time does. A collector of all roles needs no topic.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from enum import StrEnum

from prometheus_client import start_http_server

from spanproof.collector.kafka.consumer import SpanConsumer
from spanproof.collector.kafka.offsets import Offsets
from spanproof.collector.kafka.producer import TopicLog
from spanproof.collector.kafka.spool import Spool
from spanproof.collector.pipeline import Pipeline
from spanproof.collector.receive.admission import Backlog
from spanproof.collector.receive.server import Endpoints
from spanproof.collector.receive.sockets import format_host
from spanproof.collector.service import Collector, add_to_queues
from spanproof.collector.sinks.sender import Sinks
from spanproof.config.model import Config
from spanproof.store import open_store

log = logging.getLogger(__name__)


class Role(StrEnum):
    """What a process does."""

    ALL = "all"
    RECEIVER = "receiver"
    WORKER = "worker"
    ALERTER = "alerter"
    CONSOLE = "console"


def find_lack(config: Config, role: Role) -> str | None:
    """Return what the configuration lacks for a role; None where it lacks nothing."""
    if role in (Role.RECEIVER, Role.WORKER) and not config.kafka.brokers:
        return f"the role {role} needs kafka.brokers"
    if role in (Role.WORKER, Role.ALERTER) and "://" not in config.store.location:
        return f"the role {role} needs a store on a server; store.location is a directory, for one process"
    return None


class ReceiverNode(Collector):
    """Takes spans, and acknowledges them once the brokers have them."""

    def _start(self) -> None:
        config, telemetry = self._config, self._telemetry
        topic = TopicLog(
            config.kafka, telemetry, project=config.project, queue_bytes=config.limits.max_backlog_bytes
        )
        self.on_stop("topic", topic.close)
        if "://" in config.store.location:
            store = self._store = open_store(config.store.location)
            self.on_stop("store", lambda _: store.close())
        forwarder = self._start_forwarding()
        # What waits for the brokers is bounded by the producer's queue.
        backlog = Backlog(config.limits.max_backlog_bytes)
        self._start_receivers(topic, backlog, lambda _: None, forwarder)


class WorkerNode(Collector):
    """Stores and evaluates the spans of its partitions."""

    def _start(self) -> None:
        config, telemetry = self._config, self._telemetry
        backlog, offsets = Backlog(config.limits.max_backlog_bytes), Offsets()
        pipeline = Pipeline(
            config=config, telemetry=telemetry, backlog=backlog, open_engine=self._open_engine
        )
        pipeline.open()
        self.on_stop("evaluating processes", lambda _: pipeline.close())
        store = self._store = open_store(config.store.location)
        self.on_stop("store", lambda _: store.close())
        spool = Spool(
            config.wal.directory, max_bytes=config.wal.max_bytes, on_done=offsets.record_finished_record
        )
        self.on_stop("spool", lambda _: spool.close())
        forwarder = self._start_forwarding()
        sinks = Sinks(config.sinks, config.sinks_directory, telemetry)
        sinks.start()
        self.on_stop("sinks", sinks.drain)
        pipeline.start(
            spool,
            store,
            [self._evaluated.record],
            lambda batch: add_to_queues(batch, forwarder, sinks),
            is_ours=offsets.is_held,
        )
        consumer = SpanConsumer(
            config.kafka,
            project=config.project,
            pipeline=pipeline,
            spool=spool,
            offsets=offsets,
            backlog=backlog,
            telemetry=telemetry,
        )
        consumer.start()
        # Last to first: nothing more is read, what is begun is finished, its offsets are committed.
        self.on_stop("consumer", lambda _: consumer.close())
        self.on_stop("pipeline", pipeline.drain)
        self.on_stop("reading", lambda _: consumer.stop_reading())
        self._endpoints = _start_metrics(self, config)


class AlerterNode(Collector):
    """Watches the store: alert rules, verdicts that are to be counted again, how long rows are kept."""

    def _start(self) -> None:
        store = self._store = open_store(self._config.store.location)
        self.on_stop("store", lambda _: store.close())
        self._update_retention(store)
        self._start_watching(store)
        self._endpoints = _start_metrics(self, self._config)


class ConsoleNode(Collector):
    """Opens the store for the console, which its caller serves."""

    def _start(self) -> None:
        store = self._store = open_store(self._config.store.location, read_only=True)
        self.on_stop("store", lambda _: store.close())
        self._endpoints = Endpoints(None, None)


NODES: Mapping[Role, type[Collector]] = {
    Role.ALL: Collector,
    Role.RECEIVER: ReceiverNode,
    Role.WORKER: WorkerNode,
    Role.ALERTER: AlerterNode,
    Role.CONSOLE: ConsoleNode,
}


def _start_metrics(node: Collector, config: Config) -> Endpoints:
    """Serve `GET /metrics` where a receiver would listen; returns where."""
    where = config.receivers.http
    if not where.enabled:
        return Endpoints(None, None)
    server, thread = start_http_server(where.port, where.host, node.telemetry.registry)

    def stop(timeout_s: float) -> None:
        server.shutdown()
        server.server_close()
        thread.join(timeout_s)

    node.on_stop("metrics", stop)
    return Endpoints(None, f"http://{format_host(where.host)}:{server.server_port}")
