"""An agent's program in a container: its files and processes are apart from this machine's.

The program sees the trial's work directory as `/work` and this machine's network, where its model
is and where it sends its spans. It has no privileges, can write to `/work` and `/tmp` only, and ends with the
trial.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanproof.experiments.errors import ExperimentError

if TYPE_CHECKING:
    from docker import APIClient

_WORK = "/work"
_MEMORY = "2g"
_PROCESSES = 512
_OUTPUT_LINES = 1000


def get_image_digest(name: str) -> str:
    """Return the digest of a local image, by which all trials run the same one.

    Raises:
        ExperimentError: there is no such image, no daemon, or no client for one.
    """
    from docker.errors import ImageNotFound

    with _open_daemon() as client:
        try:
            return str(client.inspect_image(name)["Id"])
        except ImageNotFound as problem:
            raise ExperimentError(
                f"there is no image {name!r} here; images are not pulled: run docker pull {name}, or build it"
            ) from problem


def run_in_container(
    image: str,
    words: Sequence[str],
    timeout_s: float,
    work: Path,
    environment: Mapping[str, str],
    stdin: bytes,
    readable: Sequence[Path] = (),
) -> tuple[int | None, float, bytes]:
    """Run a program to its end; returns its exit code, None where it was killed as late, time and output.

    `readable` are files of this machine that it finds at their own paths.

    Raises:
        ExperimentError: the daemon does not take it, as where the image has no such program.
    """
    with _open_daemon() as client:
        container = client.create_container(
            image,
            list(words),
            environment=dict(environment),
            stdin_open=True,
            user=f"{os.getuid()}:{os.getgid()}",
            working_dir=_WORK,
            host_config=_build_limits(client, work, readable),
        )["Id"]
        try:
            start = time.monotonic()
            _start_container(client, container, stdin)
            code = _wait_for_exit(client, container, timeout_s)
            return code, time.monotonic() - start, client.logs(container, tail=_OUTPUT_LINES)
        finally:
            client.remove_container(container, force=True, v=True)


@contextmanager
def _open_daemon() -> Iterator[APIClient]:
    """Open the daemon that `DOCKER_HOST` names, else this machine's."""
    try:
        from docker import APIClient
        from docker.errors import DockerException
        from docker.utils import kwargs_from_env
    except ImportError as problem:
        raise ExperimentError(
            "an agent in a container needs the package docker: pip install 'spanproof[docker]'"
        ) from problem
    try:
        with closing(APIClient(version="auto", **kwargs_from_env())) as client:
            yield client
    except DockerException as problem:
        why = " ".join(str(getattr(problem, "explanation", None) or problem).split())[:500]
        raise ExperimentError(
            f"no container daemon took it: {why}; see that one runs, or name another in DOCKER_HOST"
        ) from problem


def _build_limits(client: APIClient, work: Path, readable: Sequence[Path]) -> Any:
    return client.create_host_config(
        binds={
            str(work): {"bind": _WORK, "mode": "rw"},
            **{str(file): {"bind": str(file), "mode": "ro"} for file in readable},
        },
        network_mode="host",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        read_only=True,
        tmpfs={"/tmp": ""},  # noqa: S108 - of the container
        pids_limit=_PROCESSES,
        mem_limit=_MEMORY,
    )


def _start_container(client: APIClient, container: str, stdin: bytes) -> None:
    stream = client.attach_socket(container, {"stdin": 1, "stream": 1})
    with closing(stream):
        client.start(container)
        raw = getattr(stream, "_sock", stream)
        raw.sendall(stdin)
        raw.shutdown(socket.SHUT_WR)


def _wait_for_exit(client: APIClient, container: str, timeout_s: float) -> int | None:
    from requests import RequestException

    try:
        return int(client.wait(container, timeout=timeout_s)["StatusCode"])
    except RequestException:  # a read that takes too long
        return None
