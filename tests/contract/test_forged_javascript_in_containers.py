"""No forgery in JavaScript passes behind Docker's and gVisor's walls, in an image that has Node.js."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from docker import APIClient
from docker_daemon import DockerDaemon, write_image

from spanproof.sandbox import FailureClass, Program
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.node import find_node

from .conftest import PATIENT
from .javascript_forgeries import FORGERIES, RIGHT, TESTS

IMAGE = "spanproof-node:latest"


@pytest.fixture(scope="module")
def image(docker_daemon: DockerDaemon, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerDaemon]:
    """An image with the Node.js of this machine."""
    node = find_node()
    assert node is not None, "spanproof[javascript] brings it"
    archive = tmp_path_factory.mktemp("node") / "image.tar"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(node.path).parent}{os.pathsep}{os.environ['PATH']}")
        write_image(archive, programs=("node",))
    client = APIClient(base_url=docker_daemon.host, version="auto")
    name, _, tag = IMAGE.rpartition(":")
    path = "ENV PATH=/usr/local/bin:/usr/bin:/bin"
    reported = client.import_image_from_file(str(archive), repository=name, tag=tag, changes=[path])
    assert "error" not in reported
    yield docker_daemon
    client.remove_image(IMAGE, force=True)
    client.close()


@pytest.mark.docker
@pytest.mark.gvisor
@pytest.mark.parametrize("runtime", ["runc", "runsc"])
def test_a_right_program_passes_apart_and_no_forgery_does(image: DockerDaemon, runtime: str) -> None:
    settings = {"host": image.host, "image": IMAGE}
    settings |= {"runtime": runtime} if runtime == "runsc" else {}
    program = Program("javascript", RIGHT, tests=TESTS, limits=PATIENT)
    with open_sandbox("docker", settings=settings) as sandbox:
        right = sandbox.run(program)
        assert right.failure_class is FailureClass.OK, right
        assert (right.tests_passed, right.tests_apart) == (5, True)
        passed = []
        for name, source in FORGERIES.items():
            forged = sandbox.run(replace(program, source=source))
            is_passed = forged.failure_class is FailureClass.OK or forged.tests_passed == forged.tests_total
            if is_passed or forged.tests_apart is False:
                passed.append((name, forged))
        assert not passed
