"""Peers that serve HTTP on loopback: started, waited for by their health, and stopped."""

from __future__ import annotations

import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from component_marks import require_mark
from waiting import becomes

_STARTS_WITHIN_S = 300


@contextmanager
def peer_server(
    command: Sequence[str], environment: Mapping[str, str], health: str, directory: Path
) -> Iterator[None]:
    """Run a server while this is open; its log is `server.log` in the directory, where it also runs.

    Args:
        command: the program and its arguments.
        environment: all that it gets.
        health: a URL that answers 200 once it is up.
        directory: an empty one.
    """
    require_mark("peers")
    log = directory / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, env=environment, cwd=directory, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        up = becomes(lambda: server.poll() is not None or _answers(health), _STARTS_WITHIN_S, pause_s=0.2)
        assert up, log.read_text()[-4000:]
        assert server.poll() is None, log.read_text()[-4000:]
        yield
    finally:
        server.terminate()
        server.wait(120)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
