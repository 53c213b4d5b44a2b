"""A real Apache Kafka of one node, in KRaft mode, from its Maven artifacts."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from component_marks import require_mark
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from waiting import wait_until

VERSION = "4.1.1"
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>spanproof</groupId><artifactId>broker</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version>
</dependency></dependencies></project>"""


@dataclass(frozen=True, slots=True)
class Broker:
    """A running broker; `address` is its `host:port`."""

    address: str
    admin: AdminClient

    def committed(self, group: str, topic: str) -> int:
        """How many messages of the topic the group is done with."""
        from confluent_kafka import ConsumerGroupTopicPartitions

        found = self.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        partitions = found[group].result(30).topic_partitions
        return sum(max(0, each.offset) for each in partitions if each.topic == topic)


def jars() -> Path:
    """Return the folder of Kafka's jars, which Maven fetches once into a cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "spanproof-tests"
    folder = cache / f"kafka-{VERSION}"
    if folder.exists():
        return folder
    for program in ("mvn", "java"):
        if shutil.which(program) is None:
            pytest.fail(f"{program} is missing: install a JDK and Maven (apt-get install maven)")
    partial = cache / f"kafka-{VERSION}.{uuid.uuid4().hex}"
    partial.mkdir(parents=True)
    (partial / "pom.xml").write_text(_POM)
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    subprocess.run([*command, "-DincludeScope=runtime"], cwd=partial, check=True, timeout=600)
    try:
        partial.rename(folder)
    except OSError:  # another test was quicker
        shutil.rmtree(partial)
    return folder


@contextmanager
def kafka(directory: Path) -> Iterator[Broker]:
    """Run a broker that keeps its data in a directory."""
    require_mark("peers")
    port, controller = _free_port(), _free_port()
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(directory / "data"),
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
    }
    directory.mkdir(parents=True)
    properties = directory / "server.properties"
    properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    java = ["java", "-Xmx512m", "-cp", f"{jars()}/lib/*"]
    identity = ["-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(properties)]
    with open(directory / "log", "wb") as log:  # noqa: PTH123
        subprocess.run(
            [*java, "kafka.tools.StorageTool", "format", *identity],
            stdout=log,
            stderr=log,
            check=True,
            timeout=120,
        )
        broker = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=log)
        try:
            admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0})
            wait_until(lambda: _answers(admin, broker), f"Kafka answers; see {directory / 'log'}")
            yield Broker(f"127.0.0.1:{port}", admin)
        finally:
            broker.kill()
            broker.wait()


def _answers(admin: AdminClient, broker: subprocess.Popen[bytes]) -> bool:
    if broker.poll() is not None:
        pytest.fail(f"Kafka ended with exit code {broker.returncode}")
    try:
        return bool(admin.list_topics(timeout=2).brokers)
    except KafkaException:
        return False


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
