"""The server of the tests: what the loopback services of all remote backends share.

A service module adds the routes and the messages of its protocol. What a machine is given to run is hostile
text: it runs in a `Machine` and nowhere else.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp
from starlette.websockets import WebSocketDisconnect
from waiting import wait_until

from .machine import Machine, require_machines

TroubleT = TypeVar("TroubleT")
Handler = Callable[[Request], Awaitable[Response]]


class RemoteService(Generic[TroubleT]):
    """The machines of a service, and the requests it got.

    Attributes:
        url: where it listens.
        created: what each machine was made from.
        trouble: how it behaves badly.
    """

    def __init__(self, build_trouble: Callable[[], TroubleT], prefix: str) -> None:
        require_machines()
        self.url = ""
        self.machines: dict[str, Machine] = {}
        self.created: list[Any] = []
        self.trouble = build_trouble()
        self._build_trouble = build_trouble
        self._names = (f"{prefix}{number}" for number in itertools.count(1))

    @property
    def live(self) -> list[str]:
        """Names of the machines that were not ended."""
        return [name for name, machine in self.machines.items() if not machine.ended]

    def forget(self) -> None:
        """Behave well again, and forget the requests."""
        self.trouble = self._build_trouble()
        self.created.clear()

    def add_machine(self, wanted: Any, *, as_root: bool = True, name: str = "") -> str:
        """Make a machine as a request wants it; returns its name."""
        self.created.append(wanted)
        name = name or next(self._names)
        self.machines[name] = Machine(asyncio.get_running_loop(), as_root=as_root)
        return name

    def close(self) -> None:
        """End every machine."""
        for machine in self.machines.values():
            machine.end()
        for machine in self.machines.values():
            machine.join()


async def write_file(machine: Machine, path: str, data: bytes) -> bool:
    """Write a file on a machine; returns whether the machine is still there to do so."""
    number, answers = machine.ask("write", path, base64.b64encode(data).decode())
    answer = await answers.get()
    machine.forget(number)
    return bool(answer[0] == "written")


async def stream_output(
    machine: Machine,
    number: int,
    events: asyncio.Queue[list[Any]],
    send: Callable[[str, bytes], Awaitable[None]],
    end: Callable[[int | None], Awaitable[None]],
    *,
    cut: bool,
) -> None:
    """Send what a command writes, stream by stream, and its exit code; then kill what is left of it.

    Args:
        machine: runs the command.
        number: of the command.
        events: of the command.
        send: sends a piece of a stream.
        end: sends the exit code, None where the machine is gone or the output was cut.
        cut: stop in the middle of the first piece.
    """
    code = None
    try:
        while True:
            kind, *rest = await events.get()
            if kind != "data":
                code = rest[0] if kind == "end" else None
                break
            data = base64.b64decode(rest[1])
            if cut:
                # A quick command may write all of its output at once, its end with it.
                await send(rest[0], data[: len(data) // 2])
                break
            await send(rest[0], data)
        await end(code)
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        machine.send("kill", number)
        machine.forget(number)


def require_header(handler: Handler, value: str, refusal: Response) -> Handler:
    """Return a handler that answers only requests whose Authorization header has this value."""

    async def checked(request: Request) -> Response:
        return await handler(request) if is_authorised(request.headers, value) else refusal

    return checked


def is_authorised(headers: Any, value: str) -> bool:
    """Whether the Authorization header has this value."""
    return bool(headers.get("authorization") == value)


@contextlib.contextmanager
def serve_http(application: ASGIApp, service: RemoteService[Any]) -> Iterator[None]:
    """Serve an application on the loopback; its address is the service's `url`."""
    listener = socket.create_server(("127.0.0.1", 0))
    service.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(application, log_level="error", lifespan="off", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    wait_until(lambda: server.started, "the loopback service listens")
    try:
        yield
    finally:
        service.close()
        server.should_exit = True
        thread.join(20)
