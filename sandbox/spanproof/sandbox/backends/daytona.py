"""The `daytona` backend: programs in sandboxes of the Daytona service, by its REST API.

The key is read from DAYTONA_API_KEY with each request, and from nowhere else.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import httpx

from spanproof.sandbox.backend import Feature
from spanproof.sandbox.backends.remote.backend import RemoteSandbox
from spanproof.sandbox.backends.remote.service import (
    Fault,
    Host,
    Service,
    Stream,
    build_package_feature,
    build_variable_feature,
)
from spanproof.sandbox.backends.remote.settings import RemoteSettings, build_setting
from spanproof.sandbox.errors import SandboxBroken, SandboxUnavailable

_STDOUT: Final = b"\x01\x01\x01"
_STDERR: Final = b"\x02\x02\x02"
_MARK: Final = re.compile(re.escape(_STDOUT) + b"|" + re.escape(_STDERR))
# What may be the first part of a mark whose rest has not come yet.
_BEGUN: Final = re.compile(rb"(?:\x01{1,2}|\x02{1,2})$")
_TICK_S: Final = 0.2
_REFUSED: Final = (401, 403)
_GONE: Final = 404
_ENDED: Final = frozenset(("error", "build_failed", "destroyed", "destroying", "stopped", "archived"))
_KEY: Final = "DAYTONA_API_KEY"


@dataclass(frozen=True, slots=True)
class Settings(RemoteSettings):
    """Of machines of Daytona."""

    snapshot: str | None = build_setting(
        None, "what machines are made of: a snapshot's name or ID; default the service's own"
    )
    target: str | None = build_setting(None, "region of the machines, where it is not the account's default")
    user: str = build_setting("root", "user of the guest's commands; only root keeps programs apart")
    api_url: str = build_setting("https://app.daytona.io/api", "address of the service's API")
    request_timeout_s: float = build_setting(30.0, "seconds a request to the service may take", least=0.1)
    start_s: int = build_setting(120, "seconds until a machine runs", least=1)


class Marked:
    """Takes marked bytes as they come; gives them by stream."""

    def __init__(self) -> None:
        self._held = b""
        self._stream = _STDOUT

    def iter_decoded(self, data: bytes) -> Iterator[tuple[str | None, str | None]]:
        """Yield what came, as text of stdout or of stderr."""
        data = self._held + data
        at = 0
        for mark in _MARK.finditer(data):
            yield from self._iter_pieces(data[at : mark.start()])
            self._stream = mark[0]
            at = mark.end()
        begun = _BEGUN.search(data, at)
        end = begun.start() if begun else len(data)
        yield from self._iter_pieces(data[at:end])
        self._held = data[end:]

    def _iter_pieces(self, data: bytes) -> Iterator[tuple[str | None, str | None]]:
        if data:
            # What is ours is ASCII.
            text = data.decode("utf-8", "replace")
            yield (text, None) if self._stream == _STDOUT else (None, text)


class CommandStream:
    """A command that runs in a session of a sandbox."""

    def __init__(self, socket: Any, send: Callable[[str], None], close: Callable[[], None]) -> None:
        self._socket = socket
        self._send = send
        self._close = close
        self._pending = b""

    def send_stdin(self, data: bytes) -> None:
        """Give it input, line by line: the service ends each piece with a newline of its own."""
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            self._send(line.decode("ascii") + "\n")

    def __iter__(self) -> Iterator[tuple[str | None, str | None, object]]:
        """See `Stream`; ends when the service closes the socket as it should."""
        from websocket import WebSocketConnectionClosedException

        marked = Marked()
        try:
            while True:
                opcode, data = self._socket.recv_data()
                if opcode == self._closes:
                    return
                for out, err in marked.iter_decoded(data):
                    yield out, err, None
        except WebSocketConnectionClosedException:
            return
        finally:
            self._close()

    @property
    def _closes(self) -> int:
        from websocket import ABNF

        return int(ABNF.OPCODE_CLOSE)


class DaytonaService(Service):
    """Sandboxes of Daytona."""

    name = "daytona"
    making = "make a sandbox"
    separating = "use a snapshot whose root may make namespaces"
    remedy = "check the network, the key, and the setting `api_url`"
    remedies: ClassVar = {
        Fault.REFUSED: f"the service refuses the key in {_KEY} ({{cause}}); set a valid one",
        Fault.NO_ANSWER: "the service does not answer ({cause}); check the network, and the setting"
        " `api_url`",
        Fault.NO_IMAGE: "there is no {image} ({cause}); set `snapshot`",
    }
    settings: Settings

    def __init__(self, settings: Settings) -> None:
        name = settings.snapshot
        super().__init__(settings, f"snapshot {name!r}" if name else "snapshot of the service")

    def list_requirements(self) -> tuple[Feature, ...]:
        """See `Service.list_requirements`."""
        missing = "the package websocket-client is not installed"
        return (
            build_package_feature("WebSocket client", "websocket", missing, "daytona"),
            build_variable_feature("key", _KEY),
        )

    def list_service_features(self) -> tuple[Feature, ...]:
        """See `Service.list_service_features`; lists one sandbox."""
        self.send_request("GET", "/sandbox", params={"limit": 1})
        return (Feature("service", present=True, required=True, detail=self.settings.api_url),)

    def start_host(self, lifetime_s: int) -> Host:
        """See `Service.start_host`; waits until the sandbox runs."""
        wanted = {
            "user": self.settings.user,
            "public": False,
            "networkBlockAll": True,
            "autoStopInterval": 0,  # it would count our silence, and a program may take long
            "autoDeleteInterval": 0,
            "ttlMinutes": _compute_minutes(lifetime_s),
            "labels": {"made-by": "spanproof"},
            "snapshot": self.settings.snapshot,
            "target": self.settings.target,
        }
        request = {name: value for name, value in wanted.items() if value is not None}
        made = self.send_request("POST", "/sandbox", json=request).json()
        host = SandboxHost(self, str(made["id"]))
        try:
            host.wait_until_started(self.settings.start_s)
        except BaseException:
            host.close()
            raise
        return host

    def send_request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send a request to the API, or to a full address, and return its answer.

        Raises:
            httpx.HTTPError: there is none, or it is an error.
        """
        if "://" in path:
            url = path
        else:
            url = f"{self.settings.api_url.rstrip('/')}{path}"
        answer = self._client.request(method, url, headers=self.headers, **more)
        answer.raise_for_status()
        return answer

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        return {"Authorization": f"Bearer {os.environ.get(_KEY, '')}"}

    @cached_property
    def _client(self) -> httpx.Client:
        return httpx.Client(timeout=self.settings.request_timeout_s)

    def describe_problem(self, problem: Exception) -> str:
        """See `Service.describe_problem`: of an answer its status and its text."""
        if isinstance(problem, httpx.HTTPStatusError):
            return f"{problem.response.status_code}: {problem.response.text}"
        return super().describe_problem(problem)

    def find_fault(self, problem: Exception) -> Fault | None:
        """See `Service.find_fault`."""
        if isinstance(problem, httpx.HTTPStatusError):
            status = problem.response.status_code
            if status in _REFUSED:
                return Fault.REFUSED
            return Fault.NO_IMAGE if status == _GONE else None
        unanswered = httpx.ConnectError | httpx.ConnectTimeout | httpx.UnsupportedProtocol
        return Fault.NO_ANSWER if isinstance(problem, unanswered) else None


class SandboxHost:
    """One sandbox of the service."""

    def __init__(self, service: DaytonaService, name: str) -> None:
        self.id = name
        self._service = service
        self._made_at = time.monotonic()
        self._toolbox = ""

    def wait_until_started(self, within_s: float) -> None:
        """Wait until it takes commands.

        Raises:
            SandboxUnavailable: it does not in time, or never will; says why.
        """
        deadline = time.monotonic() + within_s
        state = "unknown"
        while time.monotonic() < deadline:
            found = self._service.send_request("GET", f"/sandbox/{self.id}").json()
            state = str(found.get("state", "unknown"))
            if state == "started":
                self._toolbox = f"{self._fetch_proxy_url(found)}/{self.id}"
                return
            if state in _ENDED:
                reason = str(found.get("errorReason") or "no reason given")[:300]
                raise SandboxBroken(f"daytona: sandbox {self.id} is {state}: {reason}")
            time.sleep(_TICK_S)
        raise SandboxUnavailable(
            f"daytona: sandbox {self.id} is {state} after {within_s:.0f} s;"
            " set `start_s`, or see the service's dashboard"
        )

    def _fetch_proxy_url(self, found: dict[str, Any]) -> str:
        url = found.get("toolboxProxyUrl")
        if not url:
            url = self._service.send_request("GET", f"/sandbox/{self.id}/toolbox-proxy-url").json()["url"]
        return str(url).rstrip("/")

    def write(self, path: str, data: bytes) -> None:
        """See `Host.write`."""
        self._service.send_request(
            "POST",
            f"{self._toolbox}/files/bulk-upload",
            data={"files[0].path": path},
            files={"files[0].file": (path, data)},
        )

    def start(self, command: str, *, talks: bool) -> Stream:
        """See `Host.start`: a session of its own, whose one command it is."""
        from websocket import create_connection

        session = f"spanproof-{secrets.token_hex(8)}"
        base = f"{self._toolbox}/process/session"
        self._service.send_request("POST", base, json={"sessionId": session})
        wanted = {
            # The session's shell must not become the command.
            "command": shlex.join(["/bin/sh", "-c", command]) + ("" if talks else " </dev/null"),
            "runAsync": True,
            "suppressInputEcho": True,
        }
        made = self._service.send_request("POST", f"{base}/{session}/exec", json=wanted).json()
        running = f"{base}/{session}/command/{made['cmdId']}"
        logs = f"ws{running.removeprefix('http')}/logs?follow=true"
        socket = create_connection(logs, header=self._service.headers)
        return CommandStream(
            socket,
            lambda line: self._send(running, line),
            socket.close,
        )

    def _send(self, running: str, line: str) -> None:
        self._service.send_request("POST", f"{running}/input", json={"data": line})

    def update_lifetime(self, seconds: int) -> None:
        """See `Host.update_lifetime`: the service counts from the sandbox's creation."""
        minutes = _compute_minutes(time.monotonic() - self._made_at + seconds)
        self._service.send_request("POST", f"/sandbox/{self.id}/ttl/{minutes}")

    def close(self) -> None:
        """See `Host.close`; one that is gone already has ended."""
        try:
            self._service.send_request("DELETE", f"/sandbox/{self.id}")
        except httpx.HTTPStatusError as problem:
            if problem.response.status_code != _GONE:
                raise


def _compute_minutes(seconds: float) -> int:
    return int(seconds // 60) + 1


class DaytonaSandbox(RemoteSandbox):
    """Runs programs in sandboxes of Daytona; `workers` of them at once."""

    name = "daytona"
    settings = Settings.read_descriptions()

    def __init__(self, *, workers: int = 1, **settings: str) -> None:
        super().__init__(DaytonaService(Settings.parse(self.name, settings)), workers=workers)
