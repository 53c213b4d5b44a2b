"""A loopback server that speaks the Kubernetes API, so that the real client has somebody to talk to.

Written from the API's reference: Jobs, their pods, NetworkPolicies, and `exec` over a WebSocket whose frames
begin with the number of their stream. What a pod is given to run is hostile text: it runs in a `Machine` and
nowhere else. `Trouble` makes the cluster behave badly.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from .machine import Machine
from .server import RemoteService, is_authorised, require_header, serve_http, stream_output

TOKEN = "a-test-token"
_AUTHORISATION = f"Bearer {TOKEN}"
NAMESPACE = "spanproof"
_STDIN, _STDOUT, _STDERR, _STATUS = 0, 1, 2, 3
_STREAMS = {"stdout": _STDOUT, "stderr": _STDERR}


@dataclass
class Trouble:
    """What goes wrong.

    Attributes:
        create: answers to the next creations of Jobs, by status, counted down.
        policy: answer to NetworkPolicies, by status; None makes them.
        waiting: why pods wait, for ever.
        cut: the next `exec` sockets that are cut within the first that the command says.
    """

    create: list[int] = field(default_factory=list)
    policy: int | None = None
    waiting: str | None = None
    cut: int = 0


class Cluster(RemoteService[Trouble]):
    """The cluster: its Jobs with a machine for each pod, and what it was given."""

    def __init__(self) -> None:
        super().__init__(Trouble, "job-")
        self.jobs: dict[str, dict[str, Any]] = {}
        self.policies: list[dict[str, Any]] = []
        self.patches: list[dict[str, Any]] = []
        self._listed: set[str] = set()

    def forget(self) -> None:
        """See `RemoteService.forget`."""
        super().forget()
        self.policies.clear()
        self.patches.clear()

    async def create(self, request: Request) -> Response:
        """POST …/jobs."""
        if self.trouble.create:
            return _status(self.trouble.create.pop(0), "as the test wants")
        body = await request.json()
        if request.path_params["namespace"] != NAMESPACE:
            return _status(404, "namespaces not found")
        name = body["metadata"]["name"]
        (container,) = body["spec"]["template"]["spec"]["containers"]
        added = container["securityContext"]["capabilities"].get("add", ())
        self.add_machine(body, as_root="SYS_ADMIN" in added, name=name)
        started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.jobs[name] = {**body, "status": {"active": 1, "startTime": started}}
        return JSONResponse(self.jobs[name], 201)

    async def list(self, request: Request) -> Response:
        """GET …/jobs."""
        jobs = {"apiVersion": "batch/v1", "kind": "JobList", "metadata": {}, "items": []}
        return JSONResponse(jobs)

    async def read(self, request: Request) -> Response:
        """GET …/jobs/NAME."""
        found = self.jobs.get(request.path_params["name"])
        return JSONResponse(found) if found else _status(404, "not found")

    async def patch(self, request: Request) -> Response:
        """PATCH …/jobs/NAME."""
        self.patches.append(await request.json())
        return await self.read(request)

    async def delete(self, request: Request) -> Response:
        """DELETE …/jobs/NAME."""
        name = request.path_params["name"]
        if self.jobs.pop(name, None) is None:
            return _status(404, "not found")
        self.machines[name].end()
        return JSONResponse({"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 200})

    async def pods(self, request: Request) -> Response:
        """GET …/pods with the label of a Job: at first its pod is pending."""
        name = request.query_params["labelSelector"].partition("=")[2]
        items = [self._pod(name)] if name in self.jobs else []
        return JSONResponse({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": items})

    def _pod(self, job: str) -> dict[str, Any]:
        runs = job in self._listed and self.trouble.waiting is None
        self._listed.add(job)
        state: dict[str, Any] = {"running": {}}
        if not runs:
            state = {
                "waiting": {"reason": self.trouble.waiting or "ContainerCreating", "message": "a message"}
            }
        container = {"name": "program", "ready": runs, "restartCount": 0, "image": "i", "imageID": "i"}
        return {
            "metadata": {"name": f"{job}-pod"},
            "status": {
                "phase": "Running" if runs else "Pending",
                "containerStatuses": [{**container, "state": state}],
            },
        }

    async def policy(self, request: Request) -> Response:
        """POST …/networkpolicies."""
        if self.trouble.policy is not None:
            return _status(self.trouble.policy, "as the test wants")
        if self.policies:
            return _status(409, "already exists")
        self.policies.append(await request.json())
        return JSONResponse(self.policies[0], 201)

    async def exec(self, socket_: WebSocket) -> None:
        """GET …/pods/NAME/exec: run a command, and stream both ways."""
        name = socket_.path_params["name"].removesuffix("-pod")
        machine = self.machines.get(name)
        if name not in self.jobs or machine is None or not is_authorised(socket_.headers, _AUTHORISATION):
            await socket_.close(1008)
            return
        wanted = socket_.query_params
        await socket_.accept("v4.channel.k8s.io")
        number, events = machine.ask(
            "start", wanted.getlist("command"), wanted.get("stdin", "").lower() == "true"
        )
        hearing = asyncio.create_task(_hear(socket_, machine, number))
        cut = self.trouble.cut > 0
        self.trouble.cut -= cut

        async def send(stream: str, data: bytes) -> None:
            await socket_.send_bytes(bytes([_STREAMS[stream]]) + data)

        async def end(code: int | None) -> None:
            if code is not None:
                await socket_.send_bytes(bytes([_STATUS]) + json.dumps(_result(code)).encode())
            await socket_.close()

        try:
            await stream_output(machine, number, events, send, end, cut=cut)
        finally:
            hearing.cancel()


async def _hear(socket_: WebSocket, machine: Machine, number: int) -> None:
    """Pass on what the client sends: a frame of text or bytes, its stream first."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            message = await socket_.receive()
            if message["type"] == "websocket.disconnect":
                return
            data = message.get("bytes") or (message.get("text") or "").encode()
            if data[:1] == bytes([_STDIN]):
                machine.send("input", number, base64.b64encode(data[1:]).decode())


def _result(code: int) -> dict[str, Any]:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}


def _status(code: int, message: str) -> Response:
    return JSONResponse(
        {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}, code
    )


def _application(cluster: Cluster) -> Starlette:
    def allowed(handler: Any) -> Any:
        return require_header(handler, _AUTHORISATION, _status(401, "Unauthorized"))

    jobs = "/apis/batch/v1/namespaces/{namespace}/jobs"
    policies = "/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies"
    return Starlette(
        routes=[
            Route(jobs, allowed(cluster.create), methods=["POST"]),
            Route(jobs, allowed(cluster.list), methods=["GET"]),
            Route(f"{jobs}/{{name}}", allowed(cluster.read), methods=["GET"]),
            Route(f"{jobs}/{{name}}", allowed(cluster.patch), methods=["PATCH"]),
            Route(f"{jobs}/{{name}}", allowed(cluster.delete), methods=["DELETE"]),
            Route("/api/v1/namespaces/{namespace}/pods", allowed(cluster.pods), methods=["GET"]),
            Route(policies, allowed(cluster.policy), methods=["POST"]),
            WebSocketRoute("/api/v1/namespaces/{namespace}/pods/{name}/exec", cluster.exec),
        ]
    )


@contextlib.contextmanager
def on_loopback() -> Iterator[tuple[Cluster, dict[str, str]]]:
    """The cluster, and the settings that lead to it by a kubeconfig."""
    cluster = Cluster()
    with serve_http(_application(cluster), cluster), tempfile.TemporaryDirectory() as directory:
        kubeconfig = Path(directory, "kubeconfig")
        kubeconfig.write_text(yaml.safe_dump(_kubeconfig(cluster.url)))
        yield cluster, {"kubeconfig": str(kubeconfig)}


def _kubeconfig(url: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "loopback",
        "clusters": [{"name": "loopback", "cluster": {"server": url}}],
        "users": [{"name": "tester", "user": {"token": TOKEN}}],
        "contexts": [{"name": "loopback", "context": {"cluster": "loopback", "user": "tester"}}],
    }
