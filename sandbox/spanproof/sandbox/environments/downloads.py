"""What both downloaders share: running the user's own client, and saying why it could not."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from spanproof.sandbox.errors import EnvironmentUnavailable

_LONGEST_S = 1800.0
_NO_NETWORK = re.compile(
    r"Failed to establish a new connection|Temporary failure in name resolution|NewConnectionError"
    r"|ProxyError|ConnectTimeoutError|ReadTimeoutError|Network is unreachable|Connection refused"
    r"|Name or service not known|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH"
)
_NO_SPACE = re.compile(r"No space left on device|ENOSPC|Disk quota exceeded")


def run_client(command: Sequence[str], directory: Path, extra: Mapping[str, str]) -> tuple[int, str, str]:
    """Run pip or npm with the user's own configuration; returns exit code, stdout and stderr.

    Raises:
        EnvironmentUnavailable: it cannot be run, or does not end.
    """
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            env={**os.environ, **extra},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired as problem:
        raise EnvironmentUnavailable(
            f"{command[0]} was not done after {_LONGEST_S:.0f} s; is the package index reachable?"
        ) from problem
    except OSError as problem:
        raise EnvironmentUnavailable(f"{command[0]} cannot be run: {problem.strerror}") from problem
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def check_machine(output: str, client: str) -> None:
    """Raise where a client failed for want of a network or of room.

    Raises:
        EnvironmentUnavailable: it did.
    """
    if _NO_SPACE.search(output):
        raise build_space_error()
    if _NO_NETWORK.search(output):
        raise EnvironmentUnavailable(
            f"the package index cannot be reached ({_get_last_line(output)});"
            f" check the network and {client}'s"
            f" configuration ({client} config list), or build the environment where there is one"
        )


def build_space_error() -> EnvironmentUnavailable:
    """Return the error of a full disk."""
    return EnvironmentUnavailable(
        f"{os.strerror(errno.ENOSPC)}: an environment could not be built;"
        " free some, or `spanproof sandbox environment prune --keep-bytes 0`"
    )


def build_client_error(client: str, output: str) -> EnvironmentUnavailable:
    """Return the error of a client's failure that has no class of its own."""
    return EnvironmentUnavailable(f"{client} could not get the packages: {_get_last_line(output)}")


def compute_digest(path: Path, algorithm: str) -> bytes:
    """Return the digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).digest()


def compute_integrity(path: Path, algorithm: str) -> str:
    """Return a file's digest as npm writes it: `sha512-` and base64."""
    return f"{algorithm}-{base64.b64encode(compute_digest(path, algorithm)).decode()}"


def _get_last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:500] if lines else "it gave no reason"
