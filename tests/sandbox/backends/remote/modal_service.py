"""A loopback server that speaks Modal's protocol, so that the real SDK has somebody to talk to.

It is built on the service definitions that the SDK brings: the control plane (apps, images, sandboxes) and
the command router (commands and their streams), of which it has what the SDK calls for sandboxes; all else is
`UNIMPLEMENTED`. What a sandbox is given to run is hostile text: it runs in a `Machine` and nowhere else.
`Trouble` makes the service behave badly.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from grpclib import GRPCError, Status
from grpclib.const import Handler
from grpclib.server import Server
from modal_proto import api_pb2, task_command_router_pb2
from modal_proto.api_grpc import ModalClientBase
from modal_proto.task_command_router_grpc import TaskCommandRouterBase
from waiting import wait_until

from .machine import Machine
from .server import RemoteService

TOKEN_ID, TOKEN_SECRET = "ak-" + "0" * 22, "as-" + "0" * 22
_BUILDER = "2025.06"
_DONE = api_pb2.GenericResult(status=api_pb2.GenericResult.GENERIC_STATUS_SUCCESS)
_STREAMS = {
    task_command_router_pb2.TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDOUT: "stdout",
    task_command_router_pb2.TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDERR: "stderr",
}


@dataclass
class Trouble:
    """What goes wrong.

    Attributes:
        create: answers to the next creations, by status, counted down; `terminate`, to the next ends.
        cut: output streams that are cut after the first half of what they say, counted down.
        gone: sandboxes that end once a program has begun, counted down.
        rootless: sandboxes made from now on give no root, so that nothing keeps programs apart there.
        no_python: shells find no python3.
    """

    create: list[Status] = field(default_factory=list)
    terminate: list[Status] = field(default_factory=list)
    cut: int = 0
    gone: int = 0
    rootless: bool = False
    no_python: bool = False


@dataclass
class Command:
    """A command in a sandbox: all that it wrote, and how far its input was accepted."""

    machine: Machine
    number: int
    written: dict[str, bytearray] = field(
        default_factory=lambda: {"stdout": bytearray(), "stderr": bytearray()}
    )
    accepted: int = 0
    code: int | None = None
    gone: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def over(self) -> bool:
        """Whether nothing more comes."""
        return self.gone or self.code is not None


class ModalService(RemoteService[Trouble]):
    """The service: its sandboxes, and the requests it got."""

    def __init__(self) -> None:
        super().__init__(Trouble, "sb-")
        self.images: list[list[str]] = []
        self.commands: dict[str, Command] = {}
        self._pumps: set[asyncio.Task[None]] = set()

    def start(self, name: str, command: str, argv: list[str]) -> None:
        """Start a command in a sandbox."""
        if name not in self.live:
            raise GRPCError(Status.NOT_FOUND, "the sandbox has ended")
        machine = self.machines[name]
        if self.trouble.no_python:
            argv = [*argv[:-1], f"python3() {{ return 127; }}\n{argv[-1]}"]
        number, events = machine.ask("start", argv, True)
        self.commands[command] = started = Command(machine, number)
        pump = asyncio.create_task(self._pump(started, events))
        self._pumps.add(pump)
        pump.add_done_callback(self._pumps.discard)

    async def _pump(self, command: Command, events: asyncio.Queue[list[Any]]) -> None:
        while not command.over:
            what, *rest = await events.get()
            async with command.changed:
                if what == "data":
                    command.written[rest[0]] += base64.b64decode(rest[1])
                    if self.trouble.gone and rest[0] == "stdout" and b"started" in command.written["stdout"]:
                        self.trouble.gone -= 1
                        command.machine.end()
                elif what == "end":
                    command.code = rest[0]
                else:
                    command.gone = True
                command.changed.notify_all()
        command.machine.forget(command.number)


def serves_what_it_implements(service: type[Any]) -> type[Any]:
    """Make a class of a generated service usable though it lacks methods: those are UNIMPLEMENTED."""
    service.__abstractmethods__ = frozenset()
    return service


class _Implemented:
    """Of a generated service, what its subclass implements; the generated methods would answer nothing."""

    def __mapping__(self) -> dict[str, Handler]:
        found: dict[str, Handler] = super().__mapping__()  # type: ignore[misc]
        return {path: each for path, each in found.items() if path.rpartition("/")[2] in type(self).__dict__}


@serves_what_it_implements
class Control(_Implemented, ModalClientBase):
    """The control plane."""

    def __init__(self, service: ModalService) -> None:
        self._service = service

    async def AuthTokenGet(self, stream: Any) -> None:
        await _read(stream)
        await stream.send_message(api_pb2.AuthTokenGetResponse(token=_token()))

    async def AppGetOrCreate(self, stream: Any) -> None:
        request = await _read(stream)
        if request.environment_name == "none":
            raise GRPCError(Status.NOT_FOUND, "Environment 'none' not found")
        await stream.send_message(api_pb2.AppGetOrCreateResponse(app_id=f"ap-{request.app_name}"))

    async def EnvironmentGetOrCreate(self, stream: Any) -> None:
        await _read(stream)
        settings = api_pb2.EnvironmentSettings(image_builder_version=_BUILDER)
        metadata = api_pb2.EnvironmentMetadata(name="main", settings=settings)
        answer = api_pb2.EnvironmentGetOrCreateResponse(environment_id="en-1", metadata=metadata)
        await stream.send_message(answer)

    async def ImageGetOrCreate(self, stream: Any) -> None:
        request = await _read(stream)
        self._service.images.append(list(request.image.dockerfile_commands))
        metadata = api_pb2.ImageMetadata(image_builder_version=_BUILDER)
        result = _DONE
        if any("FROM none" in line for line in request.image.dockerfile_commands):
            result = api_pb2.GenericResult(
                status=api_pb2.GenericResult.GENERIC_STATUS_FAILURE, exception="no such image"
            )
        await stream.send_message(
            api_pb2.ImageGetOrCreateResponse(image_id="im-1", result=result, metadata=metadata)
        )

    async def ImageFromId(self, stream: Any) -> None:
        request = await _read(stream)
        if request.image_id == "im-none":
            raise GRPCError(Status.NOT_FOUND, "Image 'im-none' not found")
        await stream.send_message(api_pb2.ImageFromIdResponse(image_id=request.image_id))

    async def SandboxCreateV2(self, stream: Any) -> None:
        request = await _read(stream)
        if self._service.trouble.create:
            raise GRPCError(self._service.trouble.create.pop(0), "as the test wants")
        name = self._service.add_machine(request.definition, as_root=not self._service.trouble.rootless)
        await stream.send_message(
            api_pb2.SandboxCreateV2Response(
                sandbox_id=name, task_id=name, command_router_access=self._access()
            )
        )

    async def SandboxGetCommandRouterAccess(self, stream: Any) -> None:
        await _read(stream)
        access = self._access()
        await stream.send_message(
            api_pb2.SandboxGetCommandRouterAccessResponse(url=access.url, jwt=access.jwt)
        )

    async def SandboxTerminateV2(self, stream: Any) -> None:
        request = await _read(stream)
        if self._service.trouble.terminate:
            raise GRPCError(self._service.trouble.terminate.pop(0), "as the test wants")
        if request.sandbox_id not in self._service.live:
            raise GRPCError(Status.NOT_FOUND, "the sandbox has ended")
        self._service.machines[request.sandbox_id].end()
        await stream.send_message(api_pb2.SandboxTerminateResponse())

    def _access(self) -> api_pb2.CommandRouterAccess:
        return api_pb2.CommandRouterAccess(url=self._service.url, jwt=_token())


@serves_what_it_implements
class Router(_Implemented, TaskCommandRouterBase):
    """The command router of every sandbox."""

    def __init__(self, service: ModalService) -> None:
        self._service = service

    async def TaskExecStart(self, stream: Any) -> None:
        request = await stream.recv_message()
        self._service.start(request.task_id, request.exec_id, list(request.command_args))
        await stream.send_message(task_command_router_pb2.TaskExecStartResponse())

    async def TaskExecStdioRead(self, stream: Any) -> None:
        request = await stream.recv_message()
        command = self._found(request.exec_id)
        written, at = command.written[_STREAMS[request.file_descriptor]], request.offset
        while True:
            async with command.changed:
                while not command.over and len(written) == at:
                    await command.changed.wait()
                data = bytes(written[at:])
            if data and self._service.trouble.cut:
                self._service.trouble.cut -= 1
                if half := data[: len(data) // 2]:
                    await stream.send_message(task_command_router_pb2.TaskExecStdioReadResponse(data=half))
                raise GRPCError(Status.UNAVAILABLE, "as the test wants")
            for first in range(0, len(data), 65536):
                piece = data[first : first + 65536]
                await stream.send_message(task_command_router_pb2.TaskExecStdioReadResponse(data=piece))
            at += len(data)
            if command.gone:
                raise GRPCError(Status.NOT_FOUND, "the sandbox has ended")
            if command.over and at == len(written):
                return

    async def TaskExecStdinWrite(self, stream: Any) -> None:
        request = await stream.recv_message()
        command = self._found(request.exec_id)
        fresh = request.data[max(0, command.accepted - request.offset) :]  # a repeated piece is taken once
        command.accepted += len(fresh)
        command.machine.send("input", command.number, base64.b64encode(fresh).decode())
        await stream.send_message(task_command_router_pb2.TaskExecStdinWriteResponse())

    def _found(self, command: str) -> Command:
        found = self._service.commands.get(command)
        if found is None:
            raise GRPCError(Status.NOT_FOUND, "there is no such command")
        return found


async def _read(stream: Any) -> Any:
    """Return the request, if the client may make it."""
    request = await stream.recv_message()
    given = stream.metadata.get("x-modal-token-id"), stream.metadata.get("x-modal-token-secret")
    if given != (TOKEN_ID, TOKEN_SECRET):
        raise GRPCError(Status.UNAUTHENTICATED, "Token ID not found")
    return request


def _token() -> str:
    """Return a token as the SDK reads it: when it expires, and nothing else."""
    parts = ({"alg": "none"}, {"exp": time.time() + 3600})
    head, body = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"{head}.{body}.unsigned"


@contextlib.contextmanager
def on_loopback() -> Iterator[tuple[ModalService, dict[str, str]]]:
    """The service, a token it takes in the environment, and the settings that lead to it."""
    service = ModalService()
    listener = socket.create_server(("127.0.0.1", 0))
    service.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    loop = asyncio.new_event_loop()
    listens, stops = threading.Event(), asyncio.Event()

    async def serve() -> None:
        server = Server([Control(service), Router(service)])
        await server.start(sock=listener)
        listens.set()
        await stops.wait()
        server.close()
        await server.wait_closed()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    wait_until(listens.is_set, "the loopback service listens")
    try:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("MODAL_SERVER_URL", service.url)
            environment.setenv("MODAL_TOKEN_ID", TOKEN_ID)
            environment.setenv("MODAL_TOKEN_SECRET", TOKEN_SECRET)
            yield service, {}
    finally:
        service.close()
        loop.call_soon_threadsafe(stops.set)
        thread.join(20)
