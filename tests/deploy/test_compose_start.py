"""Spanproof alone starts as its Compose service says, in a real container, and judges what it is sent.

No image can be pulled here: the base is made of this machine's interpreter, our wheel is installed into it,
and the packages and libraries that it needs are mounted. How it is run, the last stage of `deploy/Dockerfile`
says.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from docker import APIClient
from docker_daemon import DockerDaemon, write_image
from go_programs import build_sources
from waiting import wait_until

ROOT = Path(__file__).parents[2]
IMAGE = "spanproof-of-the-tests"
TOKEN = "a-token-of-the-tests"
WAIT_S = 180
# What `docker import --change` takes of the instructions of a Dockerfile.
KEPT = ("ENV", "USER", "WORKDIR", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD")
SEND = """
import sys, urllib.request
request = urllib.request.Request("http://127.0.0.1:4318/v1/traces", sys.argv[1].encode(), {
    "content-type": "application/json", "authorization": "Bearer " + sys.argv[2]})
print(urllib.request.urlopen(request, timeout=10).status)
"""

pytestmark = [pytest.mark.docker, pytest.mark.peers, pytest.mark.timeout(1000)]


@pytest.fixture(scope="module")
def client(docker_daemon: DockerDaemon) -> Iterator[APIClient]:
    opened = APIClient(base_url=docker_daemon.host, version="auto", timeout=300)
    yield opened
    opened.close()


def last_stage() -> dict[str, str]:
    """Return the instructions of the Dockerfile's last stage, each with what follows it."""
    text = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    stage = text.rpartition("\nFROM ")[2]
    return {
        word: " ".join(rest.split())
        for word, rest in re.findall(r"^([A-Z]+) (.+)$", stage, re.MULTILINE)
        if word in (*KEPT, "HEALTHCHECK", "STOPSIGNAL")
    }


@pytest.fixture(scope="module")
def image(client: APIClient, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An image with our wheel, and all that the Dockerfile says of how it is run."""
    folder = tmp_path_factory.mktemp("image")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
         "--target", str(folder / "lib"), str(ROOT)],
        check=True,
    )  # fmt: skip
    etc = folder / "etc"
    etc.mkdir()
    (etc / "spanproof.yaml").write_bytes((ROOT / "deploy" / "spanproof.yaml").read_bytes())
    program = folder / "bin" / "spanproof"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nexec python3 -m spanproof.cli "$@"\n')
    program.chmod(0o755)
    archive = folder / "image.tar"
    trees = {"opt/spanproof/lib": folder / "lib", "opt/spanproof/bin": program.parent, "etc/spanproof": etc}
    write_image(archive, trees=trees)
    with tarfile.open(archive, "a") as tar:
        member = tarfile.TarInfo("var/lib/spanproof")
        member.type, member.mode, member.uid, member.gid = tarfile.DIRTYPE, 0o755, 10001, 10001
        tar.addfile(member)
    stage = last_stage()
    stage["ENV"] = stage["ENV"].replace("$PATH", "/usr/local/bin:/usr/bin:/bin")
    stage["USER"] = "10001:10001"  # the base has no account of this name
    changes = [f"{word} {stage[word]}" for word in KEPT]
    reported = client.import_image_from_file(str(archive), repository=IMAGE, tag="latest", changes=changes)
    assert '"error"' not in reported, reported
    archive.unlink()
    return IMAGE


@pytest.fixture(scope="module")
def service() -> dict[str, Any]:
    """The service as Compose's own loader reads it."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SPANPROOF")}
    loaded = subprocess.run(
        [build_sources("compose"), str(ROOT / "deploy" / "compose.yaml")],
        env={**clean, "SPANPROOF_BEARER_TOKEN": TOKEN}, check=True,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    found: dict[str, Any] = yaml.safe_load(loaded.stdout)["services"]["spanproof"]
    return found


def create(client: APIClient, image: str, service: dict[str, Any], volume: str) -> str:
    """Create the container of the service; its network is its own loopback, for the daemon has no bridge."""
    (mounted,) = service["volumes"]
    _, _, test = last_stage()["HEALTHCHECK"].partition("CMD ")
    second = 10**9
    packages = sysconfig.get_path("purelib")
    libraries = f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}"
    created = client.create_container(
        image,
        environment={**service["environment"], "PYTHONPATH": "/opt/spanproof/lib:/packages"},
        stop_signal=last_stage()["STOPSIGNAL"],
        healthcheck={"test": ["CMD", *json.loads(test)], "interval": second, "timeout": 3 * second},
        host_config=client.create_host_config(
            network_mode="none",
            read_only=service["read_only"],
            tmpfs={each.partition(":")[0]: each.partition(":")[2] for each in service["tmpfs"]},
            cap_drop=service["cap_drop"],
            binds=[
                f"{volume}:{mounted['target']}", f"{packages}:/packages:ro", f"{libraries}:{libraries}:ro",
            ],
        ),
    )  # fmt: skip
    identity: str = created["Id"]
    return identity


def run(client: APIClient, container: str, *command: str) -> str:
    """Run a command in the container; return what it prints."""
    started = client.exec_create(container, list(command), stderr=False)["Id"]
    printed: bytes = client.exec_start(started)
    code = client.exec_inspect(started)["ExitCode"]
    assert code == 0, f"{command[:3]} exited with {code}: {printed.decode()}"
    return printed.decode()


def spans() -> str:
    """Return an agent's run whose code prints what it answers."""
    began = 1_790_000_000_000_000_000

    def text(key: str, value: str) -> dict[str, Any]:
        return {"key": key, "value": {"stringValue": value}}

    def span(number: int, parent: str, name: str, *attributes: dict[str, Any]) -> dict[str, Any]:
        return {
            "traceId": "5b" * 16, "spanId": f"{number:016x}", "parentSpanId": parent, "name": name, "kind": 1,
            "startTimeUnixNano": str(began + number), "endTimeUnixNano": str(began + 10**9 - number),
            "attributes": list(attributes),
        }  # fmt: skip

    agent = span(
        1, "", "clerk",
        text("openinference.span.kind", "AGENT"), text("agent.name", "clerk"),
        text("input.value", "What is 40 + 2?"), text("output.value", "It is 42."),
    )  # fmt: skip
    step = span(
        2, f"{1:016x}", "step 1",
        text("openinference.span.kind", "CHAIN"), text("spanproof.code.source", "print(40 + 2)"),
        text("spanproof.code.language", "python"), text("spanproof.execution.observation", "42\n"),
        text("spanproof.execution.logs", "42\n"),
    )  # fmt: skip
    scope = {"scope": {"name": "spanproof.instrumentors"}, "spans": [agent, step]}
    return json.dumps({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]})


def rows(client: APIClient, container: str) -> list[dict[str, Any]]:
    printed = run(client, container, "spanproof", "traces", "--json")
    return [json.loads(line) for line in printed.splitlines()]


def health(client: APIClient, container: str) -> str:
    state = client.inspect_container(container)["State"]
    assert state["Running"], client.logs(container).decode()[-3000:]
    found: str = state["Health"]["Status"]
    return found


def test_the_service_starts_judges_a_run_and_keeps_it(
    client: APIClient, image: str, service: dict[str, Any]
) -> None:
    volume = client.create_volume()["Name"]
    container = create(client, image, service, volume)
    try:
        client.start(container)
        wait_until(lambda: health(client, container) == "healthy", WAIT_S)
        assert run(client, container, "python3", "-c", SEND, spans(), TOKEN).strip() == "200"
        wait_until(lambda: rows(client, container), WAIT_S)
        (row,) = rows(client, container)
        (judged,) = row["runs"]
        labels = {layer: outcome.get("label") for layer, outcome in judged["layers"].items()}
        assert labels["groundedness"] == labels["execution"] == labels["correctness"] == "pass", labels
        shown = run(client, container, "spanproof", "show", "5b" * 16)
        assert "replay" in shown
        assert "reduced" in run(client, container, "sh", "-c", "spanproof doctor || true")
        client.stop(container, timeout=90)
        state = client.inspect_container(container)["State"]
        assert state["ExitCode"] == 0, client.logs(container).decode()[-3000:]
        client.remove_container(container)
        container = create(client, image, service, volume)
        client.start(container)
        wait_until(lambda: health(client, container) == "healthy", WAIT_S)
        assert [each["trace_id"] for each in rows(client, container)] == ["5b" * 16]
    finally:
        client.remove_container(container, force=True, v=True)
        client.remove_volume(volume, force=True)
