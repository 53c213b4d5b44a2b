"""One machine of the loopback's service: hostile text runs in here, and nowhere else.

It is a bubblewrap container with root inside, as the service's machines have it, where our guest puts each
program behind walls of its own; or one without root, where nothing keeps programs apart. A daemon inside
starts processes and reports them: what it saw, and what it is to do next, are lines of JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

_ROOT_S = "SYS_ADMIN SETUID SETGID SETPCAP CHOWN DAC_OVERRIDE FOWNER KILL NET_ADMIN NET_RAW SYS_PTRACE"
_ROOT_S += " SYS_RESOURCE"
_CALLER = """
import json, sys
def exchange(events, busy):
    print(json.dumps({"events": events, "busy": busy}), flush=True)
    return json.loads(sys.stdin.readline() or sys.exit())
"""
_DAEMON = r"""
import base64, os, pathlib, select, signal, subprocess, threading
running, streams, events = {}, {}, []

def do(what, number, *rest):
    if what == "write":
        path = pathlib.Path(rest[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(rest[1]))
        events.append(["written", number])
    elif what == "start":
        process = subprocess.Popen(rest[0], stdin=subprocess.PIPE if rest[1] else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, close_fds=True)
        running[number] = process
        streams[process.stdout.fileno()] = (number, "stdout")
        streams[process.stderr.fileno()] = (number, "stderr")
    elif number in running and what == "input":
        process, data = running[number], base64.b64decode(rest[0])
        try:
            process.stdin.write(data)
            process.stdin.flush()
        except OSError:
            pass
    elif number in running and what == "kill":
        running[number].kill()

def look():
    for fd in select.select(list(streams), [], [], 0.01)[0]:
        number, name = streams[fd]
        data = os.read(fd, 65536)
        if data:
            events.append(["data", number, name, base64.b64encode(data).decode()])
        else:
            del streams[fd]
    for number, process in list(running.items()):
        open_ones = [of for of, _ in streams.values() if of == number]
        if not open_ones and process.poll() is not None:
            del running[number]
            events.append(["end", number, process.returncode])

while True:
    given, events = events, []
    for request in exchange(given, bool(running)):
        do(*request)
    look()
"""


class _Ended(Exception):
    pass


class Machine:
    """One sandbox of the service, bubblewrap's, and a thread that holds it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, as_root: bool = True) -> None:
        self._loop = loop
        self._requests: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        self._waiting: dict[int, asyncio.Queue[list[Any]]] = {}
        self._numbers = itertools.count(100)
        self.ended = False
        self._as_root = as_root
        self._thread = threading.Thread(target=self._hold, daemon=True)
        self._thread.start()

    def _hold(self) -> None:
        try:
            self._hold_container()
        finally:  # also where it could not start: requests that wait for it must end
            self.ended = True
            for waiting in list(self._waiting.values()):
                self._loop.call_soon_threadsafe(waiting.put_nowait, ["gone"])

    def _hold_container(self) -> None:
        pipe, empty_fd = subprocess.PIPE, os.open(os.devnull, os.O_RDONLY)
        command = _bubblewrap(empty_fd, as_root=self._as_root)
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, pass_fds=[empty_fd]) as container:
            os.close(empty_fd)
            assert container.stdin is not None
            assert container.stdout is not None
            with contextlib.suppress(_Ended, BrokenPipeError):
                for line in container.stdout:
                    container.stdin.write(json.dumps(self._exchange(**json.loads(line))) + "\n")
                    container.stdin.flush()
            container.kill()

    def _exchange(self, events: list[Any], busy: bool) -> list[Any]:
        """What the daemon saw since last time; what it is to do next."""
        for what, number, *rest in events:
            waiting = self._waiting.get(number)
            if waiting is not None:
                self._loop.call_soon_threadsafe(waiting.put_nowait, [what, *rest])
        todo = []
        with contextlib.suppress(queue.Empty):
            todo.append(self._requests.get(timeout=0.01 if busy else 60.0))
            while True:
                todo.append(self._requests.get_nowait())
        if self.ended:
            raise _Ended
        return todo

    def ask(self, what: str, *rest: Any) -> tuple[int, asyncio.Queue[list[Any]]]:
        """Have the daemon do something; what comes of it arrives in the queue."""
        number = next(self._numbers)
        self._waiting[number] = answers = asyncio.Queue()
        self._requests.put([what, number, *rest])
        if self.ended:
            answers.put_nowait(["gone"])
        return number, answers

    def send(self, what: str, number: int, *rest: Any) -> None:
        """Have the daemon do something to a process."""
        self._requests.put([what, number, *rest])

    def forget(self, number: int) -> None:
        """No caller waits for this any more."""
        self._waiting.pop(number, None)

    def end(self) -> None:
        """End the machine and all in it."""
        self.ended = True
        self._requests.put(["none", 0])

    def join(self) -> None:
        """Wait until it is over."""
        self._thread.join(30)


def require_machines() -> None:
    """Fail at once where no machine can be started."""
    if os.geteuid() != 0 or shutil.which("bwrap") is None:
        raise RuntimeError(
            "a machine of the loopback needs root and bubblewrap (apt-get install bubblewrap);"
            ' pytest -m "not machine" leaves these tests out'
        )


def _bubblewrap(empty_fd: int, *, as_root: bool) -> list[str]:
    """The command of a machine: our files, read-only, an empty /tmp, root with the rights the guest needs.

    Not `as_root` is a user without any right.
    """
    walls = "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-pid --unshare-net --unshare-ipc"
    walls += " --unshare-uts --die-with-parent --new-session --cap-drop ALL"
    walls += f" --ro-bind-data {empty_fd} /etc/profile"  # commands are run by a login shell
    rights = [word for right in _ROOT_S.split() for word in ("--cap-add", f"CAP_{right}")]
    if not as_root:
        rights = ["--unshare-user", "--uid", "64206", "--gid", "64206"]
    reachable: list[str] = []
    for prefix in sorted({Path(one).resolve() for one in (sys.prefix, sys.base_prefix)}):
        above = list(reversed(prefix.parents))
        first = next((number for number, one in enumerate(above) if _is_hidden(one)), None)
        if first is not None:  # an empty directory in its place, with the interpreter alone
            if str(above[first]) not in reachable:
                reachable += ["--tmpfs", str(above[first])]
            reachable += [
                word for one in above[first + 1 :] for word in ("--perms", "755", "--dir", str(one))
            ]
            reachable += ["--ro-bind", str(prefix), str(prefix)]
    path = f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"
    inside = ["--clearenv", "--setenv", "PATH", path, sys.executable, "-I", "-c", _CALLER + _DAEMON]
    return ["bwrap", *walls.split(), *reachable, *rights, *inside]


def _is_hidden(directory: Path) -> bool:
    """Whether programs of the machine see nothing below: it is empty there, or others may not enter."""
    return directory == Path("/tmp") or not directory.stat().st_mode & 0o001
