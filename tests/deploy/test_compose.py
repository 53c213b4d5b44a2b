"""Both Compose projects: read by Compose's own loader, and each service's configuration by its program."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from free_port import free_port
from go_programs import build_sources
from kafka_broker import kafka
from otlp_peers import otel_collector, telemetrygen
from waiting import wait_until

from spanproof.collector.roles import Role, find_lack
from spanproof.config.model import load_config
from spanproof.trace.otlp.protobuf import decode_protobuf

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
TOKEN = "a-token-of-the-tests"

# the Collector may have to be built first
pytestmark = [pytest.mark.peers, pytest.mark.timeout(1000)]


def load(file: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Load a project as `docker compose config` does."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SPANPROOF")}
    return subprocess.run(
        [build_sources("compose"), str(DEPLOY / file)],
        env={**clean, **environment}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def services(file: str) -> dict[str, dict[str, Any]]:
    done = load(file, SPANPROOF_BEARER_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = yaml.safe_load(done.stdout)["services"]
    return found


@pytest.mark.parametrize("file", ["compose.yaml", "compose.whole.yaml"])
def test_a_project_without_a_token_is_refused(file: str) -> None:
    done = load(file)
    assert done.returncode != 0
    assert "set it to a long random text" in done.stderr


def test_tokens_of_projects_targets_and_the_largest_trace_are_set_by_variables() -> None:
    done = load(
        "compose.yaml",
        SPANPROOF_BEARER_TOKEN=TOKEN,
        SPANPROOF_PROJECT_TOKENS="{token: of-the-shop, project: shop, roles: [send, read]}",
        SPANPROOF_FORWARD='[{endpoint: "http://tempo:4318", traces: all}]',
        SPANPROOF_MAX_SPANS="20000",
    )
    assert done.returncode == 0, done.stderr
    environment = yaml.safe_load(done.stdout)["services"]["spanproof"]["environment"]
    config = load_config(DEPLOY / "spanproof.yaml", environment)
    assert [(token.project, sorted(token.roles)) for token in config.tokens] == [
        (None, ["read", "send", "write"]),
        ("shop", ["read", "send"]),
    ]
    assert [target.traces for target in config.forward] == ["all"]
    assert config.evaluation.max_spans == 20_000


@pytest.mark.parametrize("file", ["compose.yaml", "compose.whole.yaml"])
def test_nothing_listens_beyond_this_machine_and_every_mounted_file_is_there(file: str) -> None:
    for name, service in services(file).items():
        for port in service.get("ports", []):
            assert port["host_ip"] == "127.0.0.1", f"{name} publishes {port}"
        for volume in service.get("volumes", []):
            if volume["type"] == "bind":
                assert Path(volume["source"]).exists(), f"{name} mounts {volume['source']}"
                assert volume["read_only"], f"{name} may write {volume['source']}"
        if build := service.get("build"):
            assert (Path(build["context"]) / build["dockerfile"]).exists()
        else:
            assert re.search(r":v?\d+\.\d+", service["image"]), f"pin the image of {name}"


def test_each_role_gets_a_configuration_that_it_can_start_with() -> None:
    alone, whole = services("compose.yaml"), services("compose.whole.yaml")
    roles = {"spanproof": Role.ALL, "worker": Role.WORKER, "alerter": Role.ALERTER, "console": Role.CONSOLE}
    for name, service in {**alone, **whole}.items():
        if service["image"] != "spanproof":
            continue
        role = roles.pop(name)
        config = load_config(DEPLOY / "spanproof.yaml", service["environment"])
        assert find_lack(config, role) is None
        assert role is Role.ALL or service["command"] == ["serve", "--role", role.value]
        assert service["read_only"]
        assert "/var/lib/spanproof" in [volume["target"] for volume in service["volumes"]]
        if role in (Role.ALL, Role.CONSOLE):
            assert config.console.host == "0.0.0.0"
            assert config.readers_are_checked
    assert not roles, f"no service has the roles {roles}"


def test_prometheus_and_alertmanager_take_their_configuration() -> None:
    for command in (
        ["promtool", "check", "config", str(DEPLOY / "prometheus" / "prometheus.yaml")],
        ["amtool", "check-config", str(DEPLOY / "alertmanager" / "alertmanager.yaml")],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr


def test_what_prometheus_scrapes_and_grafana_queries_are_services_of_the_project() -> None:
    names = set(services("compose.whole.yaml"))
    prometheus = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
    for job in prometheus["scrape_configs"]:
        hosts = {name for each in job.get("dns_sd_configs", []) for name in each["names"]}
        hosts |= {at.partition(":")[0] for each in job.get("static_configs", []) for at in each["targets"]}
        assert hosts <= names
    provisioned = DEPLOY / "grafana" / "provisioning"
    sources = yaml.safe_load((provisioned / "datasources" / "spanproof.yaml").read_text())["datasources"]
    hosts = {each.get("url", "").removeprefix("http://").partition(":")[0] for each in sources}
    hosts |= {each.get("jsonData", {}).get("host", "") for each in sources}
    assert hosts - {""} <= names
    kinds = {each["type"] for each in sources}
    for path in (DEPLOY / "grafana").glob("*.json"):
        dashboard = json.loads(path.read_text())
        wanted = {each["query"] for each in dashboard["templating"]["list"] if each["type"] == "datasource"}
        assert wanted <= kinds, f"provision a data source for {path.name}"
        mounted = services("compose.whole.yaml")["grafana"]["volumes"]
        assert path.name in {Path(each["target"]).name for each in mounted}, f"mount {path.name}"


@pytest.mark.parametrize("file", ["gateway.yaml", "kafka.yaml", "beside-your-backend.yaml"])
def test_the_collector_takes_its_configuration(file: str, tmp_path: Path) -> None:
    of_a_user = {"receivers": {"otlp": {"protocols": {"http": {}}}}, "exporters": {"debug": {}}}
    pipeline = {"receivers": ["otlp"], "exporters": ["debug"]}
    (tmp_path / "yours.yaml").write_text(
        yaml.safe_dump({**of_a_user, "service": {"pipelines": {"traces": pipeline}}})
    )
    merged = [f"--config={tmp_path / 'yours.yaml'}"] if file.startswith("beside") else []
    environment = {
        "SPANPROOF_ENDPOINT": "http://spanproof:4318",
        "SPANPROOF_BEARER_TOKEN": TOKEN,
        "KAFKA_BROKER": "kafka:9092",
    }
    done = subprocess.run(
        [otel_collector(), "validate", *merged, f"--config={DEPLOY / 'otelcol' / file}"],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_collector_writes_what_workers_read(tmp_path: Path) -> None:
    """Spans go through the real Collector and a real broker, to the topic and in the encoding of a worker."""
    from confluent_kafka import Consumer

    config = yaml.safe_load((DEPLOY / "otelcol" / "kafka.yaml").read_text())
    grpc = free_port()
    config["receivers"]["otlp"]["protocols"] = {"grpc": {"endpoint": f"127.0.0.1:{grpc}"}}
    config["service"]["telemetry"] = {"metrics": {"level": "none"}}
    (tmp_path / "kafka.yaml").write_text(yaml.safe_dump(config))
    with kafka(tmp_path / "broker") as broker, (tmp_path / "log").open("w") as log:
        make_topic(broker.admin, "otlp_spans", partitions=3)
        collector = subprocess.Popen(
            [otel_collector(), f"--config={tmp_path / 'kafka.yaml'}"],
            env={**os.environ, "KAFKA_BROKER": broker.address}, stdout=log, stderr=log,
        )  # fmt: skip
        consumer = Consumer(
            {"bootstrap.servers": broker.address, "group.id": "test", "auto.offset.reset": "earliest"}
        )
        try:
            wait_until(lambda: is_open(grpc), "the Collector listens")
            subprocess.run(
                [telemetrygen(), "traces", "--otlp-insecure", "--otlp-endpoint", f"127.0.0.1:{grpc}",
                 "--traces", "5"],
                check=True, capture_output=True, timeout=60,
            )  # fmt: skip
            consumer.subscribe(["otlp_spans"])
            partitions: dict[bytes, set[int]] = {}
            spans = 0

            def read() -> bool:
                nonlocal spans
                message = consumer.poll(1)
                if message is None or message.error():
                    return False
                for resource in decode_protobuf(message.value()).resource_spans:
                    for scope in resource.scope_spans:
                        for span in scope.spans:
                            assert message.key() == span.trace_id.hex().encode()
                            partitions.setdefault(span.trace_id, set()).add(message.partition())
                            spans += 1
                return spans == 10

            wait_until(read, "all spans are in the topic")
            assert len(partitions) == 5
            assert all(len(found) == 1 for found in partitions.values())
        finally:
            consumer.close()
            collector.terminate()
            collector.wait()


def is_open(port: int) -> bool:
    with socket.socket() as link:
        return link.connect_ex(("127.0.0.1", port)) == 0


def make_topic(admin: Any, name: str, *, partitions: int) -> None:
    from confluent_kafka.admin import NewTopic

    admin.create_topics([NewTopic(name, partitions, 1)])[name].result(30)
