"""One machine of the service: made, furnished with our guest, talked to line by line, and ended in every way.

Whatever happens to the process, a machine does not outlive its lifetime at the service.
"""

from __future__ import annotations

import io
import logging
import secrets
import shlex
import time
import weakref
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spanproof.sandbox.backends.remote.conversation import Conversation
from spanproof.sandbox.backends.remote.job import encode_job
from spanproof.sandbox.backends.remote.service import Host, Service
from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.guest.wire import Header

_LOG = logging.getLogger(__name__)
_KILL_TRIES = 3
_MARGIN_S = 30
_UNPACK = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])"
_FIND_PYTHON = """
found=false
python3 -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && found=true
printf '{"token": "%s", "found": %s}\\n' TOKEN $found
"""


@dataclass(slots=True)
class Life:
    """How long a machine has been paid for, in seconds of a monotonic clock."""

    began_at: float
    ended_at: float | None = None

    @property
    def seconds(self) -> float:
        """So far."""
        return (time.monotonic() if self.ended_at is None else self.ended_at) - self.began_at


class Machine:
    """A remote machine with our guest on it. One caller at a time; `kill` from anywhere."""

    def __init__(self, service: Service, needed_s: float) -> None:
        """Make one that lives for `needed_s` seconds at least."""
        self._service = service
        self.service = service.name
        self._lifetime_s = max(service.settings.lifetime_s, int(needed_s) + 2 * _MARGIN_S)
        self.life = Life(time.monotonic())
        self._host = service.start_machine(self._lifetime_s)
        self.id = self._host.id
        self.runs = 0
        self._base = f"/tmp/spanproof-{secrets.token_hex(8)}"  # noqa: S108 - on the machine, and unguessable
        self._archive = f"{self._base}.zip"
        # Runs at the interpreter's end too.
        self.kill: Callable[[], object] = weakref.finalize(self, _close_host, self._host, self.life, service)
        try:
            self._write(self._archive, build_guest_archive())
        except BaseException:
            self.kill()
            raise

    def start(self, header: Header, parts: list[bytes]) -> Conversation:
        """Start the guest with a job.

        Raises:
            SandboxBroken: the machine failed.
        """
        self.runs += 1
        token = _build_token()
        path = f"{self._base}-job-{self.runs}"
        self._write(path, encode_job(header, parts, token))
        talks = header["language"] == "session"
        return self._start_conversation(self._build_command(path), token, talks=talks)

    def has_python(self, within_s: float) -> bool:
        """Whether its python3 can run our guest.

        Raises:
            SandboxBroken: the machine failed.
            TimeoutError: it did not answer in time.
        """
        token = _build_token()
        conversation = self._start_conversation(_FIND_PYTHON.replace("TOKEN", token), token, talks=False)
        try:
            return conversation.wait_for_frame(within_s).header.get("found") is True
        finally:
            conversation.close()

    def can_outlast(self, seconds: float) -> bool:
        """Whether the service lets it live for as long, or can be made to."""
        return self._service.prolongs or self._has_lifetime_for(seconds)

    def update_lifetime(self, seconds: float) -> None:
        """Make sure that the service lets it live for as long.

        Raises:
            SandboxBroken: the service failed, or cannot prolong a life.
        """
        if self._has_lifetime_for(seconds):
            return
        if not self._service.prolongs:
            raise SandboxBroken(
                f"{self.service}: the service ends machine {self.id} before {seconds:.0f} s have passed,"
                " and prolongs no life; set a longer `lifetime_s`"
            )
        more = int(max(seconds + 2 * _MARGIN_S, self._service.settings.lifetime_s))
        self._run_service_call("keep the machine", lambda: self._host.update_lifetime(more))
        self._lifetime_s = int(self.life.seconds) + more

    def _has_lifetime_for(self, seconds: float) -> bool:
        return self.life.seconds + seconds + _MARGIN_S <= self._lifetime_s

    def _start_conversation(self, command: str, token: str, *, talks: bool) -> Conversation:
        def translate(problem: Exception) -> Exception:
            return SandboxBroken(
                str(self._service.build_error(problem, f"run a command on machine {self.id}"))
            )

        return Conversation(self.service, lambda: self._host.start(command, talks=talks), translate, token)

    def _build_command(self, path: str) -> str:
        """Return the command that does a job; the first one unpacks our guest."""
        fixed = f'env -i PATH="$PATH" PYTHONPATH={self._base} PYTHONHASHSEED=0 PYTHONUTF8=1'
        run = f"cd / && exec {fixed} python3 -s -P -m spanproof.sandbox.backends.remote.guest {path}"
        if self.runs > 1:
            return run
        return f"{shlex.join(['python3', '-I', '-c', _UNPACK, self._archive, self._base])} && {run}"

    def _write(self, path: str, data: bytes) -> None:
        self._run_service_call("write a file", lambda: self._host.write(path, data))

    def _run_service_call(self, doing: str, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as problem:
            cause = self._service.build_error(problem, f"{doing} on machine {self.id}")
            raise SandboxBroken(str(cause)) from problem


def _build_token() -> str:
    return secrets.token_hex(16)


def _close_host(host: Host, life: Life, service: Service) -> None:
    """End a machine; a failure is reported, because it goes on to cost until its lifetime is over."""
    cause = ""
    for _ in range(_KILL_TRIES):
        try:
            host.close()
            break
        except Exception as problem:  # noqa: BLE001 - tried again, then reported
            cause = f"{type(problem).__name__}: {problem}"
    else:
        _LOG.warning(
            "%s machine %s could not be ended (%s); the service ends it when its lifetime is over",
            service.name,
            host.id,
            cause[:300],
        )
    life.ended_at = time.monotonic()
    price = service.settings.price_per_second
    cost = "" if price is None else f", cost {life.seconds * price:.6f}"
    _LOG.info("%s machine %s lived %.1f s%s", service.name, host.id, life.seconds, cost)


@cache
def build_guest_archive() -> bytes:
    """Return the guest's source, as one file: ours, and of the sandbox package what it rests on."""
    package = Path(__file__).parents[2]
    sources = [
        *package.glob("*.py"),
        *(
            path
            for room in ("guest", "places", "supervisor")
            for path in (package / room).rglob("*")
            if path.suffix in (".py", ".cjs", ".txt")
        ),
        *(package / "backends").glob("__init__.py"),
        *(package / "backends/remote").glob("__init__.py"),
        *(package / "backends/remote/guest").glob("*.py"),
    ]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(sources):
            archive.write(source, str(Path("spanproof/sandbox") / source.relative_to(package)))
    return buffer.getvalue()
