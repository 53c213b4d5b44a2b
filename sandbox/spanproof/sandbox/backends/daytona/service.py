"""The service, by its REST API: sandboxes are made here, and its errors become ours.

The key is read from DAYTONA_API_KEY with each request, and from nowhere else.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import shlex
import time
from functools import cached_property
from typing import Any, Final

import httpx

from spanproof.sandbox.backend import Feature
from spanproof.sandbox.backends.daytona.settings import Settings
from spanproof.sandbox.backends.daytona.stream import CommandStream
from spanproof.sandbox.backends.remote.service import Host, Service, Stream
from spanproof.sandbox.errors import SandboxBroken, SandboxError, SandboxUnavailable

_TICK_S: Final = 0.2
_REFUSED: Final = (401, 403)
_GONE: Final = 404
_ENDED: Final = frozenset(("error", "build_failed", "destroyed", "destroying", "stopped", "archived"))
_KEY: Final = "DAYTONA_API_KEY"


class DaytonaService(Service):
    """Sandboxes of Daytona."""

    name = "daytona"
    separating = "use a snapshot whose root may make namespaces"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.image = f"snapshot {settings.snapshot!r}" if settings.snapshot else "snapshot of the service"
        self.lifetime_s = settings.lifetime_s
        self.reuse = settings.reuse
        self.retries = settings.retries
        self.price_per_second = settings.price_per_second

    def features(self) -> tuple[Feature, ...]:
        """See `Service.features`; lists one sandbox."""
        needed = (_probe_websocket(), _probe_key())
        if not all(each.present for each in needed):
            return needed
        try:
            self.request("GET", "/sandbox", params={"limit": 1})
        except Exception as problem:  # noqa: BLE001 - whatever is raised, there is no service for us
            detail = str(self.explain(problem, "list sandboxes"))
            remedy = "check the network, the key, and the setting `api_url`"
            return (*needed, Feature("service", present=False, required=True, detail=detail, remedy=remedy))
        return (*needed, Feature("service", present=True, required=True, detail=self._settings.api_url))

    def make(self, lifetime_s: int) -> Host:
        """See `Service.make`; waits until it runs."""
        for feature in (_probe_websocket(), _probe_key()):
            if not feature.present:
                raise SandboxUnavailable(f"daytona: {feature.detail}; {feature.remedy}")
        wanted = {
            "user": self._settings.user,
            "public": False,
            "networkBlockAll": True,
            "autoStopInterval": 0,  # it would count our silence, and a program may take long
            "autoDeleteInterval": 0,
            "ttlMinutes": _round_up_to_minutes(lifetime_s),
            "labels": {"made-by": "spanproof"},
            "snapshot": self._settings.snapshot,
            "target": self._settings.target,
        }
        host: SandboxHost | None = None
        try:
            given = {name: value for name, value in wanted.items() if value is not None}
            made = self.request("POST", "/sandbox", json=given).json()
            host = SandboxHost(self, str(made["id"]))
            host.wait_until_started(self._settings.start_s)
        except BaseException as problem:
            if host is not None:
                host.end()
            if isinstance(problem, Exception):
                raise self.explain(problem, "make a sandbox") from problem
            raise
        return host

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send a request to the API, or to a full address, and return its answer.

        Raises:
            httpx.HTTPError: there is none, or it is an error.
        """
        url = path if "://" in path else f"{self._settings.api_url.rstrip('/')}{path}"
        answer = self._client.request(method, url, headers=self.headers, **more)
        answer.raise_for_status()
        return answer

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        return {"Authorization": f"Bearer {os.environ.get(_KEY, '')}"}

    @cached_property
    def _client(self) -> httpx.Client:
        return httpx.Client(timeout=self._settings.request_timeout_s)

    def explain(self, problem: Exception, doing: str) -> SandboxError:
        """See `Service.explain`."""
        if isinstance(problem, SandboxError):
            return problem
        cause = f"{type(problem).__name__}: {problem}"[:300]
        if isinstance(problem, httpx.HTTPStatusError):
            status, said = problem.response.status_code, problem.response.text[:300]
            cause = f"{status}: {said}"
            if status in _REFUSED:
                return SandboxUnavailable(
                    f"daytona: the service refuses the key in {_KEY} ({cause}); set a valid one"
                )
            if status == _GONE and doing == "make a sandbox":
                return SandboxUnavailable(f"daytona: there is no {self.image} ({cause}); set `snapshot`")
        elif isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout | httpx.UnsupportedProtocol):
            return SandboxUnavailable(
                f"daytona: the service does not answer ({cause});"
                " check the network, and the setting `api_url`"
            )
        return SandboxBroken(f"daytona: could not {doing}: {cause}")


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
            found = self._service.request("GET", f"/sandbox/{self.id}").json()
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
        given = found.get("toolboxProxyUrl")
        if not given:
            given = self._service.request("GET", f"/sandbox/{self.id}/toolbox-proxy-url").json()["url"]
        return str(given).rstrip("/")

    def write(self, path: str, data: bytes) -> None:
        """See `Host.write`."""
        self._service.request(
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
        self._service.request("POST", base, json={"sessionId": session})
        wanted = {
            # The session's shell must not become the command.
            "command": shlex.join(["/bin/sh", "-c", command]) + ("" if talks else " </dev/null"),
            "runAsync": True,
            "suppressInputEcho": True,
        }
        made = self._service.request("POST", f"{base}/{session}/exec", json=wanted).json()
        running = f"{base}/{session}/command/{made['cmdId']}"
        logs = f"ws{running.removeprefix('http')}/logs?follow=true"
        socket = create_connection(logs, header=self._service.headers)
        return CommandStream(
            socket,
            lambda line: self._send(running, line),
            socket.close,
        )

    def _send(self, running: str, line: str) -> None:
        self._service.request("POST", f"{running}/input", json={"data": line})

    def prolong(self, seconds: int) -> None:
        """See `Host.prolong`: the service counts from the sandbox's creation."""
        minutes = _round_up_to_minutes(time.monotonic() - self._made_at + seconds)
        self._service.request("POST", f"/sandbox/{self.id}/ttl/{minutes}")

    def end(self) -> None:
        """See `Host.end`; one that is gone already has ended."""
        try:
            self._service.request("DELETE", f"/sandbox/{self.id}")
        except httpx.HTTPStatusError as problem:
            if problem.response.status_code != _GONE:
                raise


def _round_up_to_minutes(seconds: float) -> int:
    return int(seconds // 60) + 1


def _probe_key() -> Feature:
    present = bool(os.environ.get(_KEY))
    detail = "" if present else f"{_KEY} is not set"
    return Feature("key", present, required=True, detail=detail, remedy=f"set {_KEY} in the environment")


def _probe_websocket() -> Feature:
    present = importlib.util.find_spec("websocket") is not None
    detail = "" if present else "the package websocket-client is not installed"
    return Feature(
        "WebSocket client", present, required=True, detail=detail, remedy="pip install 'spanproof[daytona]'"
    )
