"""Run the command line as on macOS or Windows: without the modules and names that the system does not have.

    python other_system.py

Each line of stdin is a job in JSON: the system, `darwin` or `win32`; the arguments of the command line, or a
program, which runs instead; and files for stdout and stderr. Its exit code is answered as a line.

Packages of others are imported first, for all jobs: they have code of their own for each system. Each job
runs in a fork.
"""

from __future__ import annotations

import asyncio  # noqa: F401
import concurrent.futures.process  # noqa: F401
import importlib
import importlib.abc
import json
import logging.handlers  # noqa: F401
import multiprocessing.connection  # noqa: F401
import os
import signal
import socket
import socketserver  # noqa: F401
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401
import uuid  # noqa: F401
import webbrowser  # noqa: F401
from collections.abc import Sequence

_THEIRS = (
    "click clickhouse_connect google.protobuf httpx jinja2 jsonschema langchain_core.callbacks "
    "langgraph.graph opentelemetry.exporter.otlp.proto.http "
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2 opentelemetry.sdk.trace "
    "orjson pydantic pygments re2 rich.console rich.live rich.progress rich.syntax "
    "rich.table smolagents sqlglot tree_sitter tree_sitter_bash tree_sitter_javascript "
    "tree_sitter_typescript yaml zstandard"
)
_LINUX = {
    os: "eventfd memfd_create pidfd_open sched_getaffinity sched_setaffinity setns unshare sendfile splice",
    signal: "pidfd_send_signal sigtimedwait sigwaitinfo SIGRTMIN SIGPWR",
    socket: "AF_ALG AF_NETLINK AF_PACKET AF_VSOCK SO_PEERCRED SOCK_CLOEXEC",
}
_POSIX = {
    os: "fork forkpty geteuid getegid getgid getpgid getuid killpg mkfifo pread pwrite register_at_fork "
    "setsid fchmod fchown chown uname statvfs posix_spawn waitid",
    signal: "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGSYS SIGUSR1 SIGXCPU alarm "
    "pthread_sigmask setitimer",
    socket: "AF_UNIX SCM_RIGHTS recv_fds send_fds",
}
_MODULES = {
    "darwin": set[str](),
    "win32": {"chdb", "crypt", "fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "uvloop"},
}


class _Missing(importlib.abc.MetaPathFinder):
    def __init__(self, names: set[str]) -> None:
        self._names = names

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:
        if fullname.partition(".")[0] in self._names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def import_theirs() -> None:
    """Import the packages of others."""
    for name in _THEIRS.split():
        importlib.import_module(name)


def take_away(system: str) -> None:
    """Make this process look like one on another system."""
    for name in _MODULES[system]:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Missing(_MODULES[system]))
    for kind in [_LINUX, _POSIX] if system == "win32" else [_LINUX]:
        for module, names in kind.items():
            for name in names.split():
                if hasattr(module, name):
                    delattr(module, name)
    sys.platform = system


def run_job(system: str, arguments: list[str], program: str, stdout: str, stderr: str) -> int:
    """Run a job, and return its exit code."""
    for descriptor, path in ((1, stdout), (2, stderr)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    take_away(system)
    if program:
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
        return 0
    from spanproof.cli import main

    sys.argv = ["spanproof", *arguments]
    return main()


if __name__ == "__main__":
    import_theirs()
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            sys.stdin.close()
            sys.exit(run_job(**json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
