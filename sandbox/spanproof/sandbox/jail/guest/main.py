"""The guest's first steps after the fork: leave everything behind, wait for code, run it.

In: one descriptor to the slot, and pipes for the standard streams. Out: an exit; never a return into the
code of whoever forked it, whatever the program does.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from spanproof.sandbox.jail.guest import determinism
from spanproof.sandbox.jail.guest.python import run_program, run_tested
from spanproof.sandbox.jail.guest.reporter import CONTROL_FD, Reporter
from spanproof.sandbox.jail.guest.session import serve_session
from spanproof.sandbox.jail.guest.sql import run_sql
from spanproof.sandbox.jail.guest.tools import Inbox
from spanproof.sandbox.jail.place import Descriptors
from spanproof.sandbox.jail.wire import FROM_HOST, Decoder, encode

_SETUP_FAILED = 125
_SYNTAX_EXIT = 2
"""Of bash, for a script it cannot read."""
_TOUCHING = encode({"kind": "job", "limits": {"a": 1.5}, "token": "0" * 32}, [b"pass"])
_exit = os._exit  # a program may replace it


def guest_main(descriptors: Descriptors, work: str, arm: Callable[[int], None], *, seeded: bool) -> NoReturn:
    """Become the guest; does not return.

    Args:
        descriptors: what the slot hands over.
        work: its directory.
        arm: what is to be done before it waits for code; gets the control descriptor.
        seeded: its random bytes are answered by the slot, and not before there is a job: draw none.
    """
    code = _SETUP_FAILED
    try:
        leave_everything(descriptors)
        arm(CONTROL_FD)
        os.chdir(work)
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        if not seeded:
            determinism.reseed()
        _touch()
        code = run_job()
    except BaseException as failure:  # noqa: BLE001 - must never unwind into who forked it
        if code == _SETUP_FAILED:
            _tell(failure)
    finally:
        _exit(code)


def leave_everything(descriptors: Descriptors) -> None:
    """Keep nothing of the process this is a fork of: descriptors, session, capabilities."""
    os.setsid()
    for number, fd in enumerate((descriptors.stdin, descriptors.stdout, descriptors.stderr)):
        os.dup2(fd, number)
    fcntl.fcntl(descriptors.control, fcntl.F_DUPFD_CLOEXEC, CONTROL_FD)
    os.closerange(3, CONTROL_FD)
    os.closerange(CONTROL_FD + 1, 65536)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _touch() -> None:
    """Write while waiting to what every run writes to: the first write to a forked page copies it."""
    decoder = Decoder(FROM_HOST)
    decoder.feed(_TOUCHING)
    decoder.next()
    exec(compile("f = print\nf", "<touch>", "exec"), {})  # noqa: S102 - our own text
    Reporter(-1, "").send("finished")


def run_job() -> int:
    """Wait for a job on the control descriptor and do it; returns the exit code."""
    inbox = Inbox(CONTROL_FD)
    frame = inbox.next("job")
    job: dict[str, Any] = frame.header
    reporter = Reporter(CONTROL_FD, job.pop("token"))
    language = job["language"]
    os.environ.update(job.get("environment", {}))
    if job["seed"] is not None:
        determinism.fix(job["seed"])
    if language == "session":
        return serve_session(job, inbox, reporter)
    if job.get("argv"):
        return _become(job["argv"], reporter, language)
    source = frame.parts[0].decode("utf-8", "surrogatepass")
    if language == "sql":
        return run_sql(source, job["database"], reporter)
    if job["has_tests"]:
        return run_tested(source, job["entry_point"], inbox, reporter)
    return run_program(source, reporter)


def _become(argv: list[str], reporter: Reporter, language: str) -> int:
    """Another language: the script lies in a file, and its interpreter takes this process over."""
    environment = dict(os.environ)
    if language == "bash":
        if not _parses(argv):
            reporter.send("syntax")
            return _SYNTAX_EXIT
    else:
        os.set_inheritable(CONTROL_FD, True)  # noqa: FBT003 - takes no name
        environment["SPANPROOF_TOKEN"] = reporter.token  # what node.cjs reports with
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(argv[0], argv, environment)  # noqa: S606 - replaces the process by an interpreter
    return _SETUP_FAILED


def _parses(argv: list[str]) -> bool:
    """Whether bash can read the script; it says on stderr why not."""
    pid = os.posix_spawn(argv[0], [argv[0], "-n", *argv[1:]], os.environ)
    return os.waitpid(pid, 0)[1] == 0


def _tell(failure: BaseException) -> None:
    try:
        os.write(CONTROL_FD, f"{type(failure).__name__}: {failure}\n".encode()[:4000])
    except OSError:
        return
