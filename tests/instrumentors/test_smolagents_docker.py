"""smolagents' own DockerExecutor, in a container of a real daemon."""

import contextlib
import socket
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from free_port import free_port
from smolagents import remote_executors
from waiting import becomes

from .coders import coder
from .environments import jupyter_packages


class _Unpublished(dict):
    """No ports: the daemon of the tests has no bridge, and docker-py refuses ports on the host's network."""

    def __setitem__(self, port, where):
        """The executor wants to publish one."""


def _until_it_answers(port, seconds):
    """So long, and on a busy machine until it listens, which takes ten times as long at most."""

    def listens():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True
        return False

    becomes(listens, 10 * seconds, pause_s=0.1)
    time.sleep(seconds)


def _real_time_library(packages: Path) -> str:
    """Where this machine has the library that ZeroMQ needs and the tests' image lacks."""
    (module,) = packages.glob("zmq/backend/cython/_zmq*.so")
    reported = subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout
    return next(line.split()[2] for line in reported.splitlines() if line.split()[0] == "librt.so.1")


@pytest.fixture
def gateway(docker_daemon, monkeypatch):
    """Arguments by which the executor starts a kernel gateway from what is installed here."""
    monkeypatch.setenv("DOCKER_HOST", docker_daemon.host)
    packages, port = jupyter_packages(), free_port()
    # It tries ten times, a second apart; on a busy machine the gateway takes longer to start.
    patient = SimpleNamespace(sleep=lambda seconds: _until_it_answers(port, seconds))
    monkeypatch.setattr(remote_executors, "time", patient)
    return {
        "port": port,
        "image_name": docker_daemon.image,
        "build_new_image": False,
        "container_run_kwargs": {
            "network_mode": "host",
            "ports": _Unpublished(),
            "volumes": {
                str(packages): {"bind": "/packages", "mode": "ro"},
                _real_time_library(packages): {"bind": "/libraries/librt.so.1", "mode": "ro"},
            },
            "environment": {"PYTHONPATH": "/packages", "LD_LIBRARY_PATH": "/libraries", "HOME": "/tmp"},
            "command": [
                *("python3", "-m", "kernel_gateway"),
                *("--KernelGatewayApp.ip=127.0.0.1", f"--KernelGatewayApp.port={port}"),
            ],
        },
    }


def test_code_that_ran_in_a_container_is_recorded_with_the_images_name_and_digest(recorded, gateway):
    agent = coder(
        "x = 6 * 7\nprint(x)",
        "1 / 0",
        "final_answer(x)",
        executor_type="docker",
        executor_kwargs=gateway,
        # A kernel drops requests while it reports an error; a model takes longer than that.
        step_callbacks=[lambda step: time.sleep(3 if step.error else 0)],
    )
    try:
        assert agent.run("Go.") == 42, [getattr(step, "error", None) for step in agent.memory.steps]
        image = agent.python_executor.container.image
    finally:
        agent.cleanup()
    steps = [span for span in recorded.of_kind("CHAIN") if span.name.startswith("step")]
    for step in steps:
        assert step.attributes["spanproof.executor.type"] == "docker"
        assert step.attributes["spanproof.executor.image.name"] == gateway["image_name"]
        assert step.attributes["spanproof.executor.image.digest"] == image.id
        assert image.id.startswith("sha256:")
    first, second, third = (step.attributes for step in steps)
    assert first["spanproof.code.source"] == "x = 6 * 7\nprint(x)"
    assert first["spanproof.execution.logs"] == "42\n"
    assert second["error.type"]
    assert third["spanproof.execution.is_final"]
    assert third["spanproof.execution.output"] == "42"
