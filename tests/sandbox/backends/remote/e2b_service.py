"""A loopback server that speaks the E2B API, so that the real SDK has somebody to talk to.

The control plane and the files are plain HTTP; processes are served by the protocol's own generated server,
which the SDK brings. What a machine is given to run is hostile text: it runs in a `Machine` and nowhere else.
`Trouble` makes the service behave badly.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from e2b.envd.process import process_connect, process_pb
from protobuf import Oneof
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .machine import Machine
from .server import RemoteService, serve_http, write_file

KEY = "e2b_" + "0" * 40


@dataclass
class Trouble:
    """What goes wrong, counted down.

    Attributes:
        create: answers to the next creations, by status; `kill`, to the next kills.
        start: what happens to the next commands: `cut` the stream once the program has begun, `gone` the
            machine then, `garbage` instead of frames, `refuse` with an error, `noise` that is no line of
            ours, `hang`.
        rootless: machines made from now on give no root, so that nothing keeps programs apart there.
        slow_s: before each creation.
    """

    create: list[int] = field(default_factory=list)
    kill: list[int] = field(default_factory=list)
    start: list[str] = field(default_factory=list)
    rootless: bool = False
    slow_s: float = 0.0


class E2BService(RemoteService[Trouble]):
    """The service: its machines, and the requests it got."""

    def __init__(self) -> None:
        super().__init__(Trouble, "machine")
        self.killed: list[str] = []
        self.templates = {"base", "pinned:v1"}

    def forget(self) -> None:
        """See `RemoteService.forget`."""
        super().forget()
        self.killed.clear()

    async def create(self, request: Request) -> Response:
        """POST /v2/sandboxes."""
        body = await request.json()
        await asyncio.sleep(self.trouble.slow_s)
        if self.trouble.create:
            status = self.trouble.create.pop(0)
            return JSONResponse({"code": status, "message": "as the test wants"}, status)
        if request.headers.get("X-API-Key") != KEY:
            return JSONResponse({"code": 401, "message": "unknown key"}, 401)
        if body["templateID"] not in self.templates:
            return JSONResponse({"code": 404, "message": "template not found"}, 404)
        name = self.add_machine(body, as_root=not self.trouble.rootless)
        made = {"templateID": body["templateID"], "sandboxID": name, "clientID": "c", "envdVersion": "0.5.5"}
        return JSONResponse({**made, "envdAccessToken": "token", "domain": None}, 201)

    async def kill(self, request: Request) -> Response:
        """DELETE /sandboxes/ID."""
        if self.trouble.kill:
            return JSONResponse({"code": 500, "message": "as the test wants"}, self.trouble.kill.pop(0))
        name = request.path_params["name"]
        machine = self.machines.get(name)
        if machine is None or machine.ended:
            return JSONResponse({"code": 404, "message": "not found"}, 404)
        self.killed.append(name)
        machine.end()
        return Response(status_code=204)

    async def prolong(self, request: Request) -> Response:
        """POST /sandboxes/ID/timeout."""
        return Response(status_code=204 if request.path_params["name"] in self.live else 404)

    async def list(self, request: Request) -> Response:
        """GET /v2/sandboxes."""
        if request.headers.get("X-API-Key") != KEY:
            return JSONResponse({"code": 401, "message": "unknown key"}, 401)
        return JSONResponse([])

    async def alias(self, request: Request) -> Response:
        """GET /templates/aliases/NAME."""
        name = request.path_params["name"]
        if name not in self.templates:
            return JSONResponse({"code": 404, "message": "not found"}, 404)
        return JSONResponse({"templateID": name, "public": True})

    async def health(self, request: Request) -> Response:
        """GET /health."""
        return Response(status_code=204) if self._machine(request.headers) else _gone()

    async def write(self, request: Request) -> Response:
        """POST /files."""
        machine = self._machine(request.headers)
        if machine is None:
            return _gone()
        async with request.form(max_part_size=1 << 30) as form:
            data = await form["file"].read()  # type: ignore[union-attr]
        path = request.query_params["path"]
        if not await write_file(machine, path, data):
            return _gone()
        return JSONResponse([{"path": path, "name": Path(path).name, "type": "file"}])

    def _machine(self, headers: Any) -> Machine | None:
        machine = self.machines.get(headers.get("E2b-Sandbox-Id") or headers.get("e2b-sandbox-id") or "")
        return None if machine is None or machine.ended else machine


def _gone() -> Response:
    return JSONResponse({"code": 502, "message": "The sandbox was not found"}, 502)


class Processes(process_connect.Process):
    """The process service of every machine."""

    def __init__(self, service: E2BService) -> None:
        self._service = service

    async def start(self, request: Any, ctx: Any, /) -> AsyncIterator[Any]:
        """Run a command and stream its output as it comes."""
        machine = self._find_pids(ctx)
        trouble = self._service.trouble.start.pop(0) if self._service.trouble.start else None
        if trouble == "refuse":
            raise ConnectError(Code.INTERNAL, "as the test wants")
        command = [request.process.cmd, *request.process.args]
        number, events = machine.ask("start", command, request.stdin)
        yield _event("start", process_pb.ProcessEvent.StartEvent(pid=number))
        if trouble == "noise":
            yield _data("stdout", b"this is not JSON\n")
        try:
            while (event := await events.get())[0] == "data":
                data = base64.b64decode(event[2])
                if trouble != "hang":
                    yield _data(event[1], data)
                if trouble == "gone":
                    machine.end()
                elif trouble == "cut":
                    raise RuntimeError("the connection is cut, as the test wants")
            if trouble == "hang" and event[0] == "end":
                event = await events.get()  # until the machine is ended
            if event[0] == "gone":
                raise ConnectError(Code.UNAVAILABLE, "the connection to sandbox ended")
            code = event[1]
            yield _event(
                "end", process_pb.ProcessEvent.EndEvent(exit_code=code, exited=True, status="exited")
            )
        finally:
            machine.send("kill", number)
            machine.forget(number)

    async def send_input(self, request: Any, ctx: Any, /) -> Any:
        """Give a process input."""
        data = base64.b64encode(request.input.input.value).decode()
        self._find_pids(ctx).send("input", request.process.selector.value, data)
        return process_pb.SendInputResponse()

    async def send_signal(self, request: Any, ctx: Any, /) -> Any:
        """Kill a process."""
        self._find_pids(ctx).send("kill", request.process.selector.value)
        return process_pb.SendSignalResponse()

    def _find_pids(self, ctx: Any) -> Machine:
        machine = self._service._machine(ctx.request_headers)
        if machine is None:
            raise ConnectError(Code.UNAVAILABLE, "The sandbox was not found")
        return machine


def _event(name: str, value: Any) -> Any:
    return process_pb.StartResponse(event=process_pb.ProcessEvent(event=Oneof(name, value)))


def _data(name: str, data: bytes) -> Any:
    return _event("data", process_pb.ProcessEvent.DataEvent(output=Oneof(name, data)))


def _application(service: E2BService) -> ASGIApp:
    processes = process_connect.ProcessASGIApplication(Processes(service))
    routes = [
        Route("/v2/sandboxes", service.create, methods=["POST"]),
        Route("/v2/sandboxes", service.list, methods=["GET"]),
        Route("/sandboxes/{name}", service.kill, methods=["DELETE"]),
        Route("/sandboxes/{name}/timeout", service.prolong, methods=["POST"]),
        Route("/templates/aliases/{name:path}", service.alias, methods=["GET"]),
        Route("/health", service.health, methods=["GET"]),
        Route("/files", service.write, methods=["POST"]),
    ]
    rest = Starlette(routes=routes)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/process.Process/"):
            await rest(scope, receive, send)
        elif scope["path"].endswith("/Start") and service.trouble.start[:1] == ["garbage"]:
            service.trouble.start.pop(0)
            headers = [(b"content-type", b"application/connect+json")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send(
                {"type": "http.response.body", "body": b"\x00\x00\x00\x00\x05{{{{{\xff\xff\xff\xff\xff"}
            )
        else:
            await processes(scope, receive, send)

    return application


@contextlib.contextmanager
def on_loopback() -> Iterator[tuple[E2BService, dict[str, str]]]:
    """The service, a key it takes in the environment, and the settings that lead to it."""
    service = E2BService()
    with serve_http(_application(service), service), pytest.MonkeyPatch.context() as environment:
        environment.setenv("E2B_API_KEY", KEY)
        yield service, {"api_url": service.url, "sandbox_url": service.url}
