"""The host's end: starts the master, requests supervisors of it, and speaks to each over its own socket.

In: jobs. Out: the supervisors' answers. Never forks this process: it may have threads. Whatever a supervisor
says is decoded under bounds; a supervisor that says nothing in time is killed and reported as broken.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

from spanproof.sandbox.errors import SandboxBroken, SandboxSilent, SandboxUnavailable
from spanproof.sandbox.guest.wire import (
    FROM_SUPERVISOR,
    BadFrame,
    Decoder,
    Frame,
    Header,
    encode_frame,
    wait_for_frame,
)
from spanproof.sandbox.model import Tier
from spanproof.sandbox.supervisor.namespaces import cgroup
from spanproof.sandbox.supervisor.namespaces.root import Bind

_START_S = 60.0
_SUPERVISOR_START_S = 20.0
_ENTRY = (
    "import sys; sys.path.insert(0, {root!r});"
    " from spanproof.sandbox.supervisor.{module} import main; sys.path.remove({root!r}); main({fd})"
)

_MODULES = {Tier.FULL: "forkserver.master", Tier.REDUCED: "reduced.master"}


def build_guest_environment(hash_seed: int = 0) -> dict[str, str]:
    """Return all a program sees of an environment: nothing of the host's."""
    programs = [str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
    return {
        "PATH": ":".join(programs),
        "HOME": "/box/work",
        "SHELL": "/bin/bash",
        "USER": "agent",
        "LOGNAME": "agent",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TMPDIR": "/tmp",  # noqa: S108 - inside the jail
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONUTF8": "1",
        # One thread each: the master must be single-threaded when it forks.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
    }


class JobNotBegun(SandboxBroken):
    """The supervisor ended over what was before the job; another may take it."""


class SupervisorLink:
    """The host's end of one supervisor. Not thread-safe: one caller at a time."""

    def __init__(self, stream: socket.socket) -> None:
        self.ahead = ""  # The language whose interpreter its next guest is; none where that waits as Python
        self._stream = stream
        self._decoder = Decoder(FROM_SUPERVISOR)
        self._run_polling = select.poll()  # select() knows no descriptor beyond 1023
        self._run_polling.register(stream, select.POLLIN)

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Send a frame.

        Raises:
            JobNotBegun: the supervisor is gone.
        """
        try:
            self._stream.settimeout(_SUPERVISOR_START_S)
            self._stream.sendall(encode_frame(header, parts))
        except OSError as failure:
            raise JobNotBegun(f"a jail supervisor is gone: {failure}") from failure

    def wait_for_frame(self, timeout_s: float) -> Frame:
        """Wait for a frame.

        Raises:
            SandboxSilent: it gave no answer in time.
            JobNotBegun: it failed while no program was at work.
            SandboxBroken: the supervisor is gone, or not itself.
        """
        self._stream.settimeout(timeout_s)
        try:
            frame = wait_for_frame(self._stream, self._decoder)
        except TimeoutError:
            raise SandboxSilent(f"a jail supervisor did not answer within {timeout_s:.0f} s") from None
        except ConnectionResetError as failure:  # it has ended with something unread
            raise JobNotBegun(f"a jail supervisor ended: {failure}") from failure
        except (EOFError, BadFrame, OSError) as failure:
            raise SandboxBroken(f"a jail supervisor ended: {failure}") from failure
        if frame.header.get("kind") == "broken":
            kind = SandboxBroken if frame.header.get("at_work") else JobNotBegun
            raise kind(f"a jail supervisor failed: {frame.header.get('reason')}")
        return frame

    @property
    def alive(self) -> bool:
        """Whether an idle supervisor still waits: one that speaks unasked has ended."""
        return not self._run_polling.poll(0)

    @property
    def open(self) -> bool:
        """Whether it has not been closed."""
        return self._stream.fileno() >= 0

    def close(self) -> None:
        """Let the supervisor end: it does so when its socket closes."""
        self._stream.close()


def _start_master(tier: Tier, control: int, hash_seed: int) -> subprocess.Popen[bytes]:
    """Start a master of a tier, that is spoken to over a descriptor of ours."""
    root = str(Path(__file__).resolve().parents[4])
    entry = _ENTRY.format(root=root, module=_MODULES[tier], fd=control)
    return subprocess.Popen(
        [sys.executable, "-s", "-P", "-c", entry],
        env=build_guest_environment(hash_seed),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(control,),
        start_new_session=True,
    )


class Master:
    """The master process, as the host holds it. Thread-safe."""

    def __init__(
        self,
        preload: Sequence[str] = (),
        *,
        binds: Sequence[Bind] = (),
        site: str | None = None,
        hash_seed: int = 0,
        tier: Tier = Tier.FULL,
    ) -> None:
        """Start it.

        Args:
            preload: modules that guests find loaded; their code runs outside of any jail.
            binds: directories that guests see beside the usual.
            site: the directory below one of them that takes the place of the interpreter's packages.
            hash_seed: of string hashes in guests.
            tier: the wall to build.

        Raises:
            SandboxUnavailable: the kernel refused what a jail needs; the message says what.
        """
        self._lock = threading.Lock()
        self._gone = False
        self._groups: tuple[str, ...] = ()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = _start_master(tier, theirs.fileno(), hash_seed)
        options = {
            "preload": list(preload),
            "owner": os.getpid(),
            "binds": [astuple(bind) for bind in binds],
            "site": site,
            "base": tempfile.gettempdir(),
        }
        try:
            self._send_options(options)
        except BaseException:
            self.close()
            raise

    def _send_options(self, options: dict[str, object]) -> None:
        """Send its options, and wait until it is ready.

        Raises:
            SandboxUnavailable: it cannot.
            SandboxBroken: it has ended.
        """
        self._control.settimeout(_START_S)
        self._control.send(json.dumps(options).encode())
        answer = self._wait_for_answer()
        groups = answer.get("cgroups")
        self._groups = tuple(map(str, groups)) if isinstance(groups, list) else ()
        if "failed" in answer:
            raise SandboxUnavailable(f"the jail cannot be built here: {answer['failed']}")

    def start_supervisor(self) -> SupervisorLink:
        """Start a supervisor.

        Raises:
            SandboxBroken: the master is gone, or could not.
        """
        ours, theirs = socket.socketpair()
        link = SupervisorLink(ours)
        try:
            with theirs:
                self._send_supervisor_request(theirs.fileno())
            link.wait_for_frame(_SUPERVISOR_START_S)  # it says that it is armed, or why it cannot be
        except BaseException:
            link.close()
            raise
        return link

    def _send_supervisor_request(self, channel: int) -> None:
        with self._lock:
            try:
                socket.send_fds(self._control, [b"supervisor"], [channel])
                answer = self._wait_for_answer()
            except OSError as failure:
                self._gone = True
                raise SandboxBroken(f"the jail's master is gone: {failure}") from failure
        if "failed" in answer:
            raise SandboxBroken(f"the jail's master could not start a supervisor: {answer['failed']}")

    @property
    def alive(self) -> bool:
        """Whether it runs, as far as is known: what waits for its end may outlive it by a moment."""
        return not self._gone and self._process.poll() is None

    def close(self) -> None:
        """End the master and every supervisor. Safe to call twice."""
        self._control.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        cgroup.remove_stale_groups(self._groups)

    def _wait_for_answer(self) -> dict[str, object]:
        data = self._control.recv(65536)
        if not data:
            self._gone = True
            raise SandboxBroken(f"the jail's master ended: {self._read_last_words()}")
        answer = json.loads(data)
        assert isinstance(answer, dict)
        return answer

    def _read_last_words(self) -> str:
        self._process.kill()
        stderr = self._process.stderr
        words = stderr.read(65536).decode(errors="replace") if stderr is not None else ""
        return words.strip().rpartition("\n")[2] or "no reason given"
