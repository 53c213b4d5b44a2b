"""Starting a program: a fork of the watcher gives everything up and does the job, as in the jail.

In: the job's limits and its place. Out: our ends of its descriptors. The child never returns.
"""

from __future__ import annotations

import os
import resource
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanproof.sandbox import kernel
from spanproof.sandbox.backends.remote.guest.pinned import fix_random_bytes, shift_clock
from spanproof.sandbox.backends.remote.guest.workspace import Workspace
from spanproof.sandbox.guest.descriptors import Descriptors
from spanproof.sandbox.guest.main import begin_alone, run_guest

# Of address space over the memory limit: stacks and arenas are mapped long before they are used.
_SLACK_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Started:
    """A program that waits for its job."""

    pid: int
    pidfd: int
    control: socket.socket
    stdout: int
    stderr: int


def start(job: dict[str, Any], workspace: Workspace, stdin: Path) -> Started:
    """Fork the program's process."""
    ours, theirs = socket.socketpair()
    out, out_end = os.pipe()
    err, err_end = os.pipe()
    descriptors = Descriptors(theirs.fileno(), os.open(stdin, os.O_RDONLY), out_end, err_end)
    pid = os.fork()
    if pid == 0:
        run_guest(
            lambda: begin_alone(descriptors, str(workspace.work), lambda _control: _give_up(job, workspace))
        )
    theirs.close()
    for fd in (descriptors.stdin, out_end, err_end):
        os.close(fd)
    for fd in (ours.fileno(), out, err):
        os.set_blocking(fd, False)
    return Started(pid, os.pidfd_open(pid), ours, out, err)


def _give_up(job: dict[str, Any], workspace: Workspace) -> None:
    if workspace.user is not None:
        os.setgroups([])
        os.setresgid(workspace.user, workspace.user, workspace.user)
        os.setresuid(workspace.user, workspace.user, workspace.user)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # what /proc shows itself is a program's own
    _set_limits(job)
    if job["seed"] is not None:
        fix_random_bytes(job["seed"])
    if job["clock_s"] is not None:
        shift_clock(job["clock_s"])
    sys.path[:] = [entry for entry in sys.path if "spanproof" not in entry]
    path = os.environ["PATH"]
    os.environ.clear()
    os.environ |= {
        "PATH": path,
        "HOME": str(workspace.work),
        "SHELL": "/bin/bash",
        "USER": "agent",
        "LOGNAME": "agent",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
    }


def _set_limits(job: dict[str, Any]) -> None:
    limits = job["limits"]
    bounds = [
        (resource.RLIMIT_CORE, 1),  # the value with which the kernel starts no handler
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_FSIZE, limits["disk_bytes"]),
    ]
    if job["language"] != "session":  # there the time is bounded by the step
        bounds.append((resource.RLIMIT_CPU, max(1, int(limits["cpu_s"] + 0.999))))
    if job["language"] not in ("javascript", "typescript"):  # V8 maps far more than it uses
        bounds.append((resource.RLIMIT_DATA, limits["memory_bytes"] + _SLACK_BYTES))
    for kind, value in bounds:
        highest = resource.getrlimit(kind)[1]
        value = value if highest == resource.RLIM_INFINITY else min(value, highest)
        resource.setrlimit(kind, (value, value))
