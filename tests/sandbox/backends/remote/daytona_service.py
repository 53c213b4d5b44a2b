"""A loopback server that speaks the Daytona API, written from the requests of its own SDK.

Sandboxes and their toolbox: files, sessions, and a command's output over a WebSocket with marks in it. What a
sandbox is given to run is hostile text: it runs in a `Machine` and nowhere else. `Trouble` makes the service
behave badly.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from .machine import Machine
from .server import RemoteService, is_authorised, require_header, serve_http, stream_output, write_file

KEY = "dtn_" + "0" * 40
_AUTHORISATION = f"Bearer {KEY}"
_MARKS = {"stdout": b"\x01\x01\x01", "stderr": b"\x02\x02\x02"}


@dataclass
class Trouble:
    """What goes wrong.

    Attributes:
        create: answers to the next creations, by status, counted down.
        state: of every sandbox, in place of `started`.
        cut: the next output sockets that are cut within the first that the command says.
    """

    create: list[int] = field(default_factory=list)
    state: str | None = None
    cut: int = 0


class DaytonaService(RemoteService[Trouble]):
    """The service: its sandboxes, and the requests it got."""

    def __init__(self) -> None:
        super().__init__(Trouble, "sandbox-")
        self.lives: list[str] = []
        self._commands: dict[str, tuple[Machine, int, asyncio.Queue[list[Any]]]] = {}
        self._looked_up: set[str] = set()

    def forget(self) -> None:
        """See `RemoteService.forget`."""
        super().forget()
        self.lives.clear()

    async def create(self, request: Request) -> Response:
        """POST /sandbox."""
        if self.trouble.create:
            return JSONResponse({"message": "as the test wants"}, self.trouble.create.pop(0))
        body = await request.json()
        if body.get("snapshot") == "none":
            return JSONResponse({"message": "Snapshot none not found"}, 404)
        name = self.add_machine(body, as_root=body["user"] == "root")
        return JSONResponse({"id": name, "state": "creating"})

    async def read(self, request: Request) -> Response:
        """GET /sandbox/ID: at first it is being started."""
        name = request.path_params["name"]
        if name not in self.live:
            return JSONResponse({"message": "not found"}, 404)
        state = self.trouble.state or ("started" if name in self._looked_up else "starting")
        self._looked_up.add(name)
        proxy = f"{self.url}/toolbox"
        return JSONResponse({"id": name, "state": state, "toolboxProxyUrl": proxy, "errorReason": "a reason"})

    async def list(self, request: Request) -> Response:
        """GET /sandbox."""
        return JSONResponse({"items": [], "total": 0})

    async def prolong(self, request: Request) -> Response:
        """POST /sandbox/ID/ttl/MINUTES."""
        self.lives.append(request.path_params["minutes"])
        return JSONResponse({})

    async def delete(self, request: Request) -> Response:
        """DELETE /sandbox/ID."""
        name = request.path_params["name"]
        if name not in self.live:
            return JSONResponse({"message": "not found"}, 404)
        self.machines[name].end()
        return JSONResponse({"id": name, "state": "destroying"})

    async def upload(self, request: Request) -> Response:
        """POST …/files/bulk-upload."""
        machine = self._machine(request.path_params)
        async with request.form(max_part_size=1 << 30) as form:
            path, data = str(form["files[0].path"]), await form["files[0].file"].read()  # type: ignore[union-attr]
        written = await write_file(machine, path, data)
        return JSONResponse({}) if written else JSONResponse({"errors": ["gone"]}, 502)

    async def session(self, request: Request) -> Response:
        """POST …/process/session."""
        return JSONResponse({}, 201) if (await request.json())["sessionId"] else JSONResponse({}, 400)

    async def execute(self, request: Request) -> Response:
        """POST …/process/session/ID/exec."""
        machine, body = self._machine(request.path_params), await request.json()
        assert body["runAsync"], "only commands that go on are expected"
        number, events = machine.ask("start", ["/bin/sh", "-c", body["command"]], True)
        self._commands[f"c{number}"] = machine, number, events
        return JSONResponse({"cmdId": f"c{number}"}, 202)

    async def input(self, request: Request) -> Response:
        """POST …/command/ID/input: a newline is put to what has none."""
        machine, number, _ = self._commands[request.path_params["command"]]
        data = (await request.json())["data"]
        data = data if data.endswith("\n") else f"{data}\n"
        machine.send("input", number, base64.b64encode(data.encode()).decode())
        return Response(status_code=204)

    async def logs(self, socket_: WebSocket) -> None:
        """GET …/command/ID/logs?follow=true."""
        if not is_authorised(socket_.headers, _AUTHORISATION):
            await socket_.close(1008)
            return
        machine, number, events = self._commands[socket_.path_params["command"]]
        await socket_.accept()
        cut = self.trouble.cut > 0
        self.trouble.cut -= cut

        async def send(stream: str, data: bytes) -> None:
            await socket_.send_bytes(_MARKS[stream] + data)

        async def end(code: int | None) -> None:
            await socket_.close(1011 if code is None else 1000)

        await stream_output(machine, number, events, send, end, cut=cut)

    def _machine(self, found: dict[str, Any]) -> Machine:
        return self.machines[found["name"]]


def _application(service: DaytonaService) -> Starlette:
    def allowed(handler: Any) -> Any:
        return require_header(handler, _AUTHORISATION, JSONResponse({"message": "Unauthorized"}, 401))

    box, session = "/api/sandbox/{name}", "/toolbox/{name}/process/session"
    command = f"{session}/{{session}}/command/{{command}}"
    return Starlette(
        routes=[
            Route("/api/sandbox", allowed(service.create), methods=["POST"]),
            Route("/api/sandbox", allowed(service.list), methods=["GET"]),
            Route(box, allowed(service.read), methods=["GET"]),
            Route(box, allowed(service.delete), methods=["DELETE"]),
            Route(f"{box}/ttl/{{minutes}}", allowed(service.prolong), methods=["POST"]),
            Route("/toolbox/{name}/files/bulk-upload", allowed(service.upload), methods=["POST"]),
            Route(session, allowed(service.session), methods=["POST"]),
            Route(f"{session}/{{session}}/exec", allowed(service.execute), methods=["POST"]),
            Route(f"{command}/input", allowed(service.input), methods=["POST"]),
            WebSocketRoute(f"{command}/logs", service.logs),
        ]
    )


@contextlib.contextmanager
def on_loopback() -> Iterator[tuple[DaytonaService, dict[str, str]]]:
    """The service, a key it takes in the environment, and the settings that lead to it."""
    service = DaytonaService()
    with serve_http(_application(service), service), pytest.MonkeyPatch.context() as environment:
        environment.setenv("DAYTONA_API_KEY", KEY)
        yield service, {"api_url": f"{service.url}/api"}
