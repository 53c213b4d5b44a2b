"""The guest's first steps after the fork: leave everything behind, arm the filter, wait for code, run it.

In: one descriptor to the slot, and pipes for the standard streams. Out: an exit; never a return into the
slot's code, whatever the program does.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

from spanproof.sandbox.jail import kernel
from spanproof.sandbox.jail.guest import determinism
from spanproof.sandbox.jail.guest.python import run_program
from spanproof.sandbox.jail.guest.reporter import Reporter
from spanproof.sandbox.jail.guest.session import serve_session
from spanproof.sandbox.jail.guest.sql import run_sql
from spanproof.sandbox.jail.guest.tools import Inbox

CONTROL_FD = 900
"""Out of the way of programs that close what they know or count descriptors."""

_SETUP_FAILED = 125
_exit = os._exit  # a program may replace it


@dataclass(frozen=True, slots=True)
class Descriptors:
    """What the slot hands over."""

    control: int
    stdin: int
    stdout: int
    stderr: int


def guest_main(descriptors: Descriptors, seccomp_program: bytes, work: str) -> None:
    """Become the guest; does not return."""
    code = _SETUP_FAILED
    try:
        _leave_everything(descriptors)
        _arm(seccomp_program)
        os.chdir(work)
        code = _run_job()
    except BaseException as failure:  # noqa: BLE001 - must never unwind into the slot
        if code == _SETUP_FAILED:
            _tell(failure)
    finally:
        _exit(code)


def _leave_everything(descriptors: Descriptors) -> None:
    os.setsid()
    for number, fd in enumerate((descriptors.stdin, descriptors.stdout, descriptors.stderr)):
        os.dup2(fd, number)
    fcntl.fcntl(descriptors.control, fcntl.F_DUPFD_CLOEXEC, CONTROL_FD)
    os.closerange(3, CONTROL_FD)
    os.closerange(CONTROL_FD + 1, 65536)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def _arm(seccomp_program: bytes) -> None:
    """Install the filter, let the slot fetch the listener, and lose it."""
    flags = kernel.SECCOMP_FILTER_FLAG_NEW_LISTENER | kernel.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
    listener = kernel.install_filter(seccomp_program, flags)
    os.write(CONTROL_FD, b"%d\n" % listener)
    os.read(CONTROL_FD, 1)
    os.close(listener)


def _run_job() -> int:
    inbox = Inbox(CONTROL_FD)
    frame = inbox.next("job")
    job: dict[str, Any] = frame.header
    reporter = Reporter(CONTROL_FD, job.pop("token"))
    language = job["language"]
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if language == "session":
        return serve_session(job, inbox, reporter)
    determinism.seed(None)
    if job.get("argv"):
        return _become(job["argv"])
    source = frame.parts[0].decode("utf-8", "surrogatepass")
    if language == "sql":
        return run_sql(source, reporter)
    tests = frame.parts[1].decode("utf-8", "surrogatepass") if job["has_tests"] else None
    entry_point = job["entry_point"]
    del frame, job, inbox
    return run_program(source, tests, entry_point, reporter)


def _become(argv: list[str]) -> int:
    """Another language: the script lies in a file, and its interpreter takes this process over."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(argv[0], argv, dict(os.environ))  # noqa: S606 - replaces the process by an interpreter
    return _SETUP_FAILED


def _tell(failure: BaseException) -> None:
    try:
        os.write(CONTROL_FD, f"{type(failure).__name__}: {failure}\n".encode()[:4000])
    except OSError:
        return
