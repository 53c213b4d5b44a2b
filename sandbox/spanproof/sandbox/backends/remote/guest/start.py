"""What a process does over there before it runs a program: it gives up its rights, and bounds itself."""

from __future__ import annotations

import os
import resource
import sys

from spanproof.sandbox import kernel
from spanproof.sandbox.backends.remote.guest.pinned import start_seeded_random, start_shifted_clock
from spanproof.sandbox.backends.remote.guest.workspace import Workspace
from spanproof.sandbox.guest.wire import Header

# Of address space over the memory limit: stacks and arenas are mapped long before they are used.
_SLACK_BYTES = 256 * 1024 * 1024


def remove_rights(job: Header, workspace: Workspace) -> None:
    """Give up every right, in the process that is to run the program, and find what is fixed for it.

    Args:
        job: limits, language, seed and clock.
        workspace: the program's.
    """
    if workspace.user is not None:
        os.setgroups([])
        os.setresgid(workspace.user, workspace.user, workspace.user)
        os.setresuid(workspace.user, workspace.user, workspace.user)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # what /proc shows itself is a program's own
    _update_limits(job)
    if job["seed"] is not None:
        start_seeded_random(job["seed"])
    if job["clock"] is not None:
        start_shifted_clock(job["clock"][0])
    sys.path[:] = [entry for entry in sys.path if "spanproof" not in entry]
    path = os.environ["PATH"]
    os.environ.clear()
    os.environ |= {
        "PATH": path,
        "HOME": workspace.work,
        "SHELL": "/bin/bash",
        "USER": "agent",
        "LOGNAME": "agent",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
    }


def _update_limits(job: Header) -> None:
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
        if highest == resource.RLIM_INFINITY:
            value = value
        else:
            value = min(value, highest)
        resource.setrlimit(kind, (value, value))
