"""The `kubernetes` backend: programs in Jobs of a cluster, through Kubernetes' own Python client.

A Job is made for each machine, and one NetworkPolicy that leaves it no way out. The client is imported when
the first machine is wanted, never before. Credentials are those of the kubeconfig or of the pod's own
account; they never pass through Spanproof.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from spanproof.sandbox.backend import Evidence, Feature
from spanproof.sandbox.backends.remote.backend import RemoteSandbox
from spanproof.sandbox.backends.remote.service import Fault, Host, Service, Stream, build_package_feature
from spanproof.sandbox.backends.remote.settings import RemoteSettings, build_setting
from spanproof.sandbox.backends.remote.write import write_by_command
from spanproof.sandbox.errors import BadSetting, SandboxUnavailable

_QUANTITY: Final = re.compile(r"\d+(\.\d+)?(m|[kMGTP]i?)?")
LABELS: Final = {"app.kubernetes.io/managed-by": "spanproof", "app.kubernetes.io/component": "sandbox"}
CONTAINER: Final = "program"
POLICY: Final = "spanproof-sandbox-no-network"
USER: Final = 64206
# What the guest needs to give a program namespaces of its own; the program itself has none of it.
_RIGHTS: Final = (
    *("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL"),
    *("NET_ADMIN", "NET_RAW", "SYS_PTRACE", "SYS_RESOURCE"),
)
_TICK_S: Final = 0.2
_REQUEST_S: Final = 30.0
_FORBIDDEN: Final = (401, 403)
_EXISTS: Final = 409
_GONE: Final = 404
# Reasons of a waiting container that do not pass by themselves.
_HOPELESS: Final = frozenset(
    ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError")
)

_REMEDY: Final = "check the kubeconfig, the setting `context`, and the network"


@dataclass(frozen=True, slots=True)
class Settings(RemoteSettings):
    """Of Jobs in a cluster."""

    image: str = build_setting(
        "python:3.12-slim", "image of the programs' container: needs python3, 3.11 or newer, and sh"
    )
    namespace: str = build_setting("spanproof", "the cluster's namespace that Jobs are made in")
    context: str | None = build_setting(None, "context of the kubeconfig, where it is not the current one")
    kubeconfig: str | None = build_setting(
        None, "path of the kubeconfig; default KUBECONFIG, ~/.kube/config, or a pod's own account"
    )
    runtime_class: str | None = build_setting(
        None, "RuntimeClass of the pods: gvisor, or Kata's kata-fc, which runs them in Firecracker"
    )
    rights: str = build_setting(
        "none",
        "`none`: programs run as a user; `namespaces`: the guest is root, and keeps programs apart, for which"
        " the runtime class should be a wall of its own",
        choices=("none", "namespaces"),
    )
    network: str = build_setting(
        "policy",
        "`policy`: a NetworkPolicy without any way out is made; `own`: there is one",
        choices=("policy", "own"),
    )
    cpu: str = build_setting("1", "limit of a pod's processors")
    memory: str = build_setting("1Gi", "limit of a pod's memory")
    start_s: int = build_setting(120, "seconds until a pod runs, its image's pull included", least=1)
    lifetime_s: int = build_setting(
        600, "seconds after which the cluster ends a Job that no one ended", least=60
    )

    @property
    def separates(self) -> bool:
        """Whether the guest may keep programs apart."""
        return self.rights == "namespaces"

    @classmethod
    def parse(cls, backend: str, settings: Mapping[str, str]) -> Self:
        """See `RemoteSettings.parse`; amounts are quantities of Kubernetes."""
        parsed = super(Settings, cls).parse(backend, settings)
        for name in ("cpu", "memory"):
            text = getattr(parsed, name)
            if not _QUANTITY.fullmatch(text):
                raise BadSetting(
                    f"sandbox backend {backend!r}: {name}={text!r} is no quantity of Kubernetes;"
                    " write 500m, 1 or 1Gi"
                )
        return parsed


def build_job(name: str, settings: Settings, lifetime_s: int) -> dict[str, Any]:
    """Return the Job of one machine: a container that waits for commands, with no right it can spare."""
    limits = {"cpu": settings.cpu, "memory": settings.memory}
    container = {
        "name": CONTAINER,
        "image": settings.image,
        "command": ["sleep", "2147483647"],
        "resources": {"limits": limits, "requests": limits},
        "securityContext": _build_security_context(settings),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - the container's
    }
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        # Programs are to reach neither the cluster's API nor its services.
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": settings.memory}}],
    }
    if settings.runtime_class is not None:
        pod["runtimeClassName"] = settings.runtime_class
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": LABELS},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": lifetime_s,
            "ttlSecondsAfterFinished": 0,
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        },
    }


def _build_security_context(settings: Settings) -> dict[str, Any]:
    if settings.separates:
        return {"runAsUser": 0, "capabilities": {"drop": ["ALL"], "add": list(_RIGHTS)}}
    return {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "runAsGroup": USER,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def build_policy() -> dict[str, Any]:
    """Return the NetworkPolicy of all machines: nothing in, nothing out."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": POLICY, "labels": LABELS},
        "spec": {"podSelector": {"matchLabels": LABELS}, "policyTypes": ["Ingress", "Egress"]},
    }


class KubernetesService(Service):
    """Jobs of a cluster."""

    name = "kubernetes"
    noun = "cluster"
    making = "make a Job"
    separating = "set `rights` to `namespaces`"
    remedy = _REMEDY
    remedies: ClassVar = {
        Fault.NO_ANSWER: f"the cluster does not answer ({{cause}}); {_REMEDY}",
        Fault.NO_CONFIGURATION: f"there is no configuration ({{cause}}); {_REMEDY}",
        Fault.REFUSED: "this account may not {doing} in the namespace {settings.namespace!r} ({cause});"
        " docs/sandbox.md lists the rights it needs",
        Fault.NO_IMAGE: "the cluster has no namespace {settings.namespace!r} ({cause});"
        " make it, or set `namespace`",
    }
    settings: Settings

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, f"image {settings.image!r}")
        self._has_policy = settings.network == "own"

    def list_requirements(self) -> tuple[Feature, ...]:
        """See `Service.list_requirements`."""
        missing = "Kubernetes' Python client is not installed"
        return (build_package_feature("kubernetes client", "kubernetes", missing, "kubernetes"),)

    def list_service_features(self) -> tuple[Feature, ...]:
        """See `Service.list_service_features`; lists Jobs."""
        self._batch.list_namespaced_job(self.settings.namespace, limit=1, _request_timeout=_REQUEST_S)
        detail = f"namespace {self.settings.namespace!r}"
        return (
            Feature(self.noun, present=True, required=True, detail=detail),
            self._build_isolation_feature(),
        )

    def _build_isolation_feature(self) -> Feature:
        runtime = self.settings.runtime_class
        return Feature(
            "a wall beside the container's",
            present=runtime is not None,
            required=False,
            detail=f"runtime class {runtime!r}" if runtime else "pods share the kernel of their node",
            remedy="" if runtime else "set `runtime_class` to one of gVisor's or Kata's",
        )

    def start_host(self, lifetime_s: int) -> Host:
        """See `Service.start_host`; waits until the Job's pod runs."""
        name = f"spanproof-{secrets.token_hex(8)}"
        self._close_network()
        manifest = build_job(name, self.settings, lifetime_s)
        self._batch.create_namespaced_job(self.settings.namespace, manifest, _request_timeout=_REQUEST_S)
        host = JobHost(name, self.settings.namespace, self._batch, self._core, self._open_exec)
        try:
            host.wait_until_running(self.settings.start_s)
        except BaseException:
            host.close()
            raise
        return host

    def _close_network(self) -> None:
        """Make the policy that leaves pods no way out, once."""
        if self._has_policy:
            return
        from kubernetes.client import ApiException, NetworkingV1Api

        networking: Any = NetworkingV1Api(self._api)  # it takes a manifest, though its types do not say so
        try:
            networking.create_namespaced_network_policy(
                self.settings.namespace, build_policy(), _request_timeout=_REQUEST_S
            )
        except ApiException as problem:
            if problem.status in _FORBIDDEN:
                raise SandboxUnavailable(
                    f"kubernetes: this account may not make the NetworkPolicy {POLICY}, without which"
                    " programs could use the network; have one made, and set `network` to `own`"
                ) from problem
            if problem.status != _EXISTS:
                raise
        self._has_policy = True

    def describe_problem(self, problem: Exception) -> str:
        """See `Service.describe_problem`; of an answer its status and its text."""
        from kubernetes.client import ApiException

        if isinstance(problem, ApiException):
            return f"{problem.status} {problem.reason}: {problem.body}"
        return super().describe_problem(problem)

    def find_fault(self, problem: Exception) -> Fault | None:
        """See `Service.find_fault`."""
        from kubernetes.client import ApiException
        from kubernetes.config import ConfigException
        from urllib3.exceptions import HTTPError

        if isinstance(problem, ConfigException):
            return Fault.NO_CONFIGURATION
        if isinstance(problem, HTTPError):
            return Fault.NO_ANSWER
        if isinstance(problem, ApiException) and problem.status in _FORBIDDEN:
            return Fault.REFUSED
        gone = isinstance(problem, ApiException) and problem.status == _GONE
        return Fault.NO_IMAGE if gone else None

    @cached_property
    def _api(self) -> Any:
        from kubernetes import config
        from kubernetes.client import ApiClient, Configuration

        loader: Any = config  # it has no types
        chosen = Configuration()
        if self.settings.kubeconfig is None and self.settings.context is None and _is_in_pod():
            loader.load_incluster_config(client_configuration=chosen)
        else:
            loader.load_kube_config(
                self.settings.kubeconfig, self.settings.context, client_configuration=chosen
            )
        return ApiClient(chosen)

    @cached_property
    def _batch(self) -> Any:
        from kubernetes.client import BatchV1Api

        return BatchV1Api(self._api)

    @cached_property
    def _core(self) -> Any:
        from kubernetes.client import CoreV1Api

        return CoreV1Api(self._api)

    def _open_exec(self, pod: str, command: str, talks: bool) -> Any:
        from kubernetes.client import ApiClient, CoreV1Api
        from kubernetes.stream import stream

        # A client of its own: `stream` replaces a method of the client while it connects.
        core = CoreV1Api(ApiClient(self._api.configuration))
        return stream(
            core.connect_get_namespaced_pod_exec,
            pod,
            self.settings.namespace,
            container=CONTAINER,
            command=["/bin/sh", "-c", command],
            stdin=talks,
            stdout=True,
            stderr=True,
            tty=False,
            _preload_content=False,
        )


class JobHost:
    """One Job and its pod."""

    def __init__(
        self, name: str, namespace: str, batch: Any, core: Any, open_exec: Callable[[str, str, bool], Any]
    ) -> None:
        self.id = name
        self._namespace = namespace
        self._batch = batch
        self._core = core
        self._open_exec = open_exec
        self._pod = ""

    def wait_until_running(self, within_s: float) -> None:
        """Wait for the pod.

        Raises:
            SandboxUnavailable: it does not run in time, or never will; says why.
        """
        deadline = time.monotonic() + within_s
        reason = "it has no pod"
        while time.monotonic() < deadline:
            pods = self._core.list_namespaced_pod(
                self._namespace, label_selector=f"job-name={self.id}", _request_timeout=_REQUEST_S
            )
            for pod in pods.items:
                if pod.status.phase == "Running":
                    self._pod = pod.metadata.name
                    return
                reason, is_hopeless = _read_pod_problem(pod)
                if is_hopeless:
                    raise SandboxUnavailable(f"kubernetes: the pod of Job {self.id} does not run: {reason}")
            time.sleep(_TICK_S)
        raise SandboxUnavailable(
            f"kubernetes: Job {self.id} does not run within {within_s:.0f} s: {reason};"
            " see `kubectl describe job`, or set `start_s`"
        )

    def write(self, path: str, data: bytes) -> None:
        """See `Host.write`."""
        write_by_command("kubernetes", self, path, data)

    def start(self, command: str, *, talks: bool) -> Stream:
        """See `Host.start`."""
        return ExecStream(self._open_exec(self._pod, command, talks))

    def update_lifetime(self, seconds: int) -> None:
        """See `Host.update_lifetime`: a deadline counts from the Job's start."""
        job = self._batch.read_namespaced_job(self.id, self._namespace, _request_timeout=_REQUEST_S)
        if job.status.start_time:
            lived = time.time() - job.status.start_time.timestamp()
        else:
            lived = 0.0
        patch = {"spec": {"activeDeadlineSeconds": int(lived) + seconds}}
        self._batch.patch_namespaced_job(self.id, self._namespace, patch, _request_timeout=_REQUEST_S)

    def close(self) -> None:
        """See `Host.close`; one that is gone already has ended."""
        from kubernetes.client import ApiException

        try:
            self._batch.delete_namespaced_job(
                self.id, self._namespace, propagation_policy="Background", _request_timeout=_REQUEST_S
            )
        except ApiException as problem:
            if problem.status != _GONE:
                raise


class ExecStream:
    """A command's streams over the WebSocket of `exec`."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket

    def send_stdin(self, data: bytes) -> None:
        """Give it input: ASCII, as all that is sent to the guest."""
        self._socket.write_stdin(data.decode("ascii"))

    def __iter__(self) -> Iterator[tuple[str | None, str | None, object]]:
        """See `Stream`; ends when the cluster closes the socket."""
        while self._socket.is_open():
            self._socket.update(timeout=1)
            yield self._read()
        yield self._read()

    def _read(self) -> tuple[str | None, str | None, object]:
        if self._socket.peek_stdout(timeout=0):
            out = self._socket.read_stdout(timeout=0)
        else:
            out = None
        if self._socket.peek_stderr(timeout=0):
            err = self._socket.read_stderr(timeout=0)
        else:
            err = None
        return out, err, None


def _read_pod_problem(pod: Any) -> tuple[str, bool]:
    """Return why a pod does not run, and whether waiting is of no use."""
    for status in pod.status.container_statuses or ():
        waiting = status.state.waiting if status.state is not None else None
        if waiting is not None:
            return f"{waiting.reason}: {waiting.message or ''}".strip(": "), waiting.reason in _HOPELESS
    for condition in pod.status.conditions or ():
        if condition.status == "False" and condition.message:
            return f"{condition.reason}: {condition.message}", False
    return f"its phase is {pod.status.phase}", pod.status.phase in ("Failed", "Succeeded")


def _is_in_pod() -> bool:
    """Return whether this process is in a pod of a cluster, and has no kubeconfig of its own."""
    has_own = "KUBECONFIG" in os.environ or Path("~/.kube/config").expanduser().exists()
    return "KUBERNETES_SERVICE_HOST" in os.environ and not has_own


class KubernetesSandbox(RemoteSandbox):
    """Runs programs in Jobs; `workers` of them at once."""

    name = "kubernetes"
    settings = Settings.read_descriptions()

    def __init__(self, *, workers: int = 1, **settings: str) -> None:
        chosen = Settings.parse(self.name, settings)
        super().__init__(KubernetesService(chosen), workers=workers)
        calls = {Evidence.CALLS} if chosen.separates else set[Evidence]()
        self.evidence = frozenset({Evidence.PEAK_MEMORY} | calls)
