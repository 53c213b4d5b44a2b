"""The daemon, as the backend uses it: what it can run, and containers made, found and removed.

In: the backend's settings. Out: containers, each under the same strict profile; of the host nothing is
mounted but the image of a package set. Whatever the daemon or its library raises leaves here as an error of
the sandbox, with the remedy.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanproof.sandbox.backends.docker.profile import build_seccomp_profile
from spanproof.sandbox.backends.docker.source import BOOT
from spanproof.sandbox.errors import SandboxUnavailable
from spanproof.sandbox.supervisor.forkserver.host import build_guest_environment
from spanproof.sandbox.supervisor.namespaces.root import Bind

if TYPE_CHECKING:
    from docker import APIClient

LABEL = "spanproof.sandbox.owner"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NAME = "sandbox"  # Of each container; it finds itself by it
_CALL_S = 60
_OWN_BYTES = 128 * 1024 * 1024  # For what runs a program inside, beside the program's own limit
_OWN_PROCESSES = 8
# Above what a program may have, which is bounded apart.
_OPEN_FILES = 4096
# Of all containers' programs together; Podman would request more than some machines allow.
_USER_PROCESSES = 32768
# More, for a runtime that brings a kernel of its own into the container's control group.
_RUNTIME_BYTES = 512 * 1024 * 1024

_RUNTIME_PROCESSES = 4096
RIGHTS = (
    *("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_ADMIN", "NET_BIND_SERVICE", "SETGID", "SETPCAP"),
    *("SETUID", "SYS_PTRACE", "SYS_RESOURCE"),
)
"""Of PID 1 in gVisor, where they reach nothing but gVisor's kernel: see `unwatched`. Programs have none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user sets; see `DockerSandbox.settings`."""

    image: str
    host: str
    runtime: str
    user: str
    cpus: float
    seccomp: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What a container is made with, and cannot change."""

    memory_bytes: int
    processes: int
    disk_bytes: int
    binds: tuple[Bind, ...] = ()
    """Directories of this machine: the image of a package set; where one is built, its parts."""
    user: str = ""
    """Another than that of the settings, where one is given."""


class Daemon:
    """One daemon. Thread-safe: its library keeps a pool of connections."""

    def __init__(self, settings: Settings) -> None:
        """Connect.

        Raises:
            SandboxUnavailable: the library is not installed, or no one answers; says what to do.
        """
        self._settings = settings
        self._client = _open_client(settings.host)
        name, version = self._read_version()
        self.version = f"{name} {version}"
        self.is_podman = "podman" in name.lower()

    def _read_version(self) -> tuple[str, str]:
        with self._build_error_translation("the container daemon does not report its version"):
            reply = self._client.version()
        parts = reply.get("Components") or [{}]
        return str(parts[0].get("Name", "Engine")), str(reply.get("Version", "?"))

    def find_image_problem(self) -> tuple[str, str] | None:
        """Return why the image cannot be used, and the remedy."""
        from docker.errors import ImageNotFound

        with self._build_error_translation("the container daemon does not report its images"):
            try:
                self._client.inspect_image(self._settings.image)
            except ImageNotFound:
                tool = "podman" if self.is_podman else "docker"
                missing = f"there is no image {self._settings.image!r} at the daemon"
                return missing, f"Get it with: {tool} pull {self._settings.image}"
        return None

    def find_runtime_problem(self) -> tuple[str, str] | None:
        """Return why the runtime cannot be used, and the remedy."""
        if not self._settings.runtime:
            return None
        with self._build_error_translation("the container daemon does not report its runtimes"):
            runtimes = sorted(self._client.info().get("Runtimes") or {})
        if self._settings.runtime in runtimes:
            return None
        return (
            f"the daemon knows no runtime {self._settings.runtime!r}, only {', '.join(runtimes)}",
            'Install it, add it to "runtimes" in /etc/docker/daemon.json, and restart the daemon.',
        )

    def build_container(self, shape: Shape) -> str:
        """Create a container that waits to be started; return its id.

        Raises:
            SandboxUnavailable: the image or the runtime is not there, or the daemon refuses the profile.
        """
        for missing in (self.find_runtime_problem(), self.find_image_problem()):
            if missing is not None:
                raise SandboxUnavailable(". ".join(missing))
        user = shape.user or self._settings.user
        with self._build_error_translation(f"no container of {self._settings.image!r} could be made"):
            container = self._client.create_container(
                image=self._settings.image,
                entrypoint=["python3", "-s", "-u", "-c", BOOT],
                command=[user],
                user="0:0" if self._is_gvisor else user,
                environment=_build_environment(),
                working_dir="/",
                labels={LABEL: _format_owner()},
                hostname=_NAME,
                stdin_open=True,
                tty=False,
                healthcheck={"test": ["NONE"]},
                host_config=self._client.create_host_config(**self._build_host_options(shape)),
            )
        return str(container["Id"])

    def _build_host_options(self, shape: Shape) -> dict[str, Any]:
        memory = shape.memory_bytes + _OWN_BYTES + (_RUNTIME_BYTES if self._own_kernel else 0)
        room = f"rw,nosuid,nodev,size={shape.disk_bytes},mode=1777"
        processes = shape.processes + _OWN_PROCESSES + (_RUNTIME_PROCESSES if self._own_kernel else 0)
        rights = list(RIGHTS) if self._is_gvisor else []
        limits = {"core": 0, "fsize": shape.disk_bytes, "nofile": _OPEN_FILES}
        if self.is_podman:
            limits["nproc"] = _USER_PROCESSES
        else:  # Podman does not take it; the memory limit bounds names too
            room += f",nr_inodes={max(1024, shape.disk_bytes // 4096)}"
        return {
            "network_mode": "none",
            "read_only": True,
            "tmpfs": {"/box": f"{room},exec", "/tmp": f"{room},exec", "/dev/shm": room},  # noqa: S108
            "mem_limit": memory,
            "memswap_limit": memory,
            "pids_limit": processes,
            "nano_cpus": int(self._settings.cpus * 1e9),
            "cap_drop": ["ALL"],
            "cap_add": rights,
            "security_opt": ["no-new-privileges", *self._build_seccomp_options()],
            "ipc_mode": "private",
            "mounts": [_build_mount(bind) for bind in shape.binds],
            "dns": ["127.0.0.1"],
            "extra_hosts": {_NAME: "127.0.0.1"},
            "ulimits": [{"Name": name, "Soft": most, "Hard": most} for name, most in limits.items()],
            "log_config": {"Type": "none"},
            "runtime": self._settings.runtime or None,
        }

    @property
    def _own_kernel(self) -> bool:
        """Whether the runtime may bring a kernel of its own, as gVisor's does."""
        return self._settings.runtime not in ("", "runc")

    @property
    def _is_gvisor(self) -> bool:
        """Whether the runtime is called as gVisor's is; PID 1 finds out whether that is true."""
        return any(name in self._settings.runtime.lower() for name in ("runsc", "gvisor"))

    @property
    def has_own_profile(self) -> bool:
        """Whether containers are under our seccomp profile; Podman takes none by its socket."""
        return self._settings.seccomp == "own" and not self.is_podman

    @property
    def is_local(self) -> bool:
        """Whether it is spoken to by a socket in this machine's files, so that it sees them, most likely."""
        return str(self._client.base_url) == "http+docker://localhost"

    def _build_seccomp_options(self) -> list[str]:
        if self.has_own_profile:
            return [f"seccomp={build_seccomp_profile()}"]
        return []

    def open_streams(self, container: str) -> socket.socket:
        """Return the container's standard streams, multiplexed as the daemon does."""
        with self._build_error_translation("the container's streams could not be had"):
            params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            stream = self._client.attach_socket(container, params=params)
        found: socket.socket = getattr(stream, "_sock", stream)
        return found

    def start(self, container: str) -> None:
        """Start it."""
        with self._build_error_translation(f"no container of {self._settings.image!r} could be started"):
            self._client.start(container)

    def get_state(self, container: str) -> dict[str, Any]:
        """Return its state, as the daemon reports it, with `Running`, `ExitCode` and `OOMKilled`."""
        with self._build_error_translation("the container's state could not be had"):
            found = self._client.inspect_container(container).get("State")
        return found if isinstance(found, dict) else {}

    def wait(self, container: str, timeout_s: float) -> None:
        """Wait until it has ended, at most so long."""
        with contextlib.suppress(SandboxUnavailable), self._build_error_translation(""):
            self._client.wait(container, timeout=timeout_s)

    def remove(self, container: str) -> None:
        """Kill it and take it away; one that is gone already is no error."""
        from docker.errors import NotFound

        failed = f"the container {container[:12]} could not be removed"
        with self._build_error_translation(failed), contextlib.suppress(NotFound):
            try:
                self._client.remove_container(container, force=True, v=True)
            except Exception as problem:
                if "already in progress" not in str(problem):
                    raise

    def run_sweep(self) -> list[str]:
        """Remove the containers of owners that were killed; return their ids."""
        with self._build_error_translation("the containers could not be listed"):
            found = self._client.containers(all=True, filters={"label": LABEL})
        left = [one["Id"] for one in found if _is_orphan(one["Labels"].get(LABEL, ""))]
        for container in left:
            self.remove(container)
        return left

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def _build_error_translation(self, what: str) -> contextlib.AbstractContextManager[None]:
        named = f"-H {self._settings.host} " if self._settings.host else ""
        remedy = f"The daemon does not answer any more; see that it runs: docker {named}info"
        return _translate_errors(what, remedy)


def _open_client(host: str) -> APIClient:
    try:
        from docker import APIClient
        from docker.utils import kwargs_from_env
    except ImportError as problem:
        raise SandboxUnavailable(
            f"the docker backend needs the package docker ({problem}); install it with:"
            " pip install 'spanproof[docker]'"
        ) from problem
    options = {"base_url": host} if host else kwargs_from_env()
    address = options.get("base_url") or "unix:///var/run/docker.sock"
    with _translate_errors(
        f"no container daemon answers at {address}",
        "Start one (systemctl start docker), or name another: host=unix:///run/podman/podman.sock",
    ):
        return APIClient(version="auto", timeout=_CALL_S, **options)


@contextlib.contextmanager
def _translate_errors(what: str, remedy: str) -> Iterator[None]:
    """Raise the daemon's refusals as our error, and its silence, with the remedy for that."""
    import docker.errors
    import requests

    try:
        yield
    except (docker.errors.DockerException, requests.RequestException, OSError) as problem:
        why = " ".join(str(getattr(problem, "explanation", None) or problem).split())[:500]
        refused = isinstance(problem, docker.errors.APIError)
        raise SandboxUnavailable(f"{what}: {why}." + ("" if refused else f" {remedy}")) from problem


def _build_mount(bind: Bind) -> Any:
    """Build a mount and not a volume: a source that is not there is an error, and is not made."""
    from docker.types import Mount

    return Mount(bind.target, bind.source, type="bind", read_only=not bind.writable)


def _build_environment() -> dict[str, str]:
    """Return what a program sees beside the image's own variables."""
    ours = build_guest_environment()
    del ours["PATH"]
    return {**ours, "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def _format_owner() -> str:
    """Return what names this process, so that another one can find out later whether it still lives."""
    namespace = Path("/proc/self/ns/pid").readlink()
    return f"{_BOOT_ID.read_text().strip()}/{namespace}/{os.getpid()}/{_read_start_ticks(os.getpid())}"


def _is_orphan(owner: str) -> bool:
    """Whether a container's owner is known to be dead; one that cannot be seen from here is left alone."""
    here = _format_owner().split("/")
    boot, namespace, pid, started = (*owner.split("/"), "", "", "", "")[:4]
    if [boot, namespace] != here[:2] or not pid.isdigit():
        return False
    return _read_start_ticks(int(pid)) != started


def _read_start_ticks(pid: int) -> str:
    """Return when a process started, in ticks since boot; empty when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""
