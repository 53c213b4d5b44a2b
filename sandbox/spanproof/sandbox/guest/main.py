"""The guest's first steps after the fork: leave everything behind, wait for code, run it.

In: one descriptor to the supervisor, and pipes for the standard streams. Out: an exit; never a return into
the code of the process that forked it, whatever the program does.

The first write to each page that a guest shares with whom it was forked from costs a copy of the page, more
than most of what is written for, and to use an object is to write to it: so whatever can be done before the
fork is, once for all, and what is done after it uses few objects.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from spanproof.sandbox.guest import determinism
from spanproof.sandbox.guest.descriptors import Descriptors
from spanproof.sandbox.guest.ending import record_modules, run_shutdown
from spanproof.sandbox.guest.inbox import Inbox, encode_message
from spanproof.sandbox.guest.python import run_program, run_tested
from spanproof.sandbox.guest.reporter import CONTROL_FD, STEPS_FD, Reporter
from spanproof.sandbox.guest.session import run_session
from spanproof.sandbox.guest.sql import run_sql

_SETUP_FAILED = 125
_STDERR = 2
_SYNTAX_EXIT = 2  # Of bash, for a script it cannot read
_exit = os._exit  # a program may replace it
# Of the guest that this process becomes, or one that is forked from it.
_inbox = Inbox(CONTROL_FD)


def run_guest(begin: Callable[[], None]) -> NoReturn:
    """Become the guest; does not return.

    Args:
        begin: leaves what the process it was forked from had, so that the descriptors of the guest are in
            their places, and raises the walls that are not there yet.
    """
    code, failure_fd = _SETUP_FAILED, CONTROL_FD
    try:
        begin()
        failure_fd = _STDERR  # from here on the supervisor receives reports only
        record_modules()
        code, waits = run_job(_inbox, CONTROL_FD)
        run_shutdown(code, waits=waits)
    except BaseException as failure:  # noqa: BLE001 - must never unwind into who forked it
        _write_failure(failure, failure_fd)
    finally:
        _exit(code)


def start_alone(
    descriptors: Descriptors, work: str, arm: Callable[[int], None], *, observed: bool = False
) -> None:
    """Begin as the fork of a process that has prepared nothing.

    Args:
        descriptors: what the supervisor hands over.
        work: its directory.
        arm: raises the walls; gets the control descriptor.
        observed: its random bytes are shown to the supervisor, and not before there is a job: draw none.
    """
    os.setsid()
    for number, fd in enumerate((descriptors.stdin, descriptors.stdout, descriptors.stderr)):
        os.dup2(fd, number)
    fcntl.fcntl(descriptors.control, fcntl.F_DUPFD_CLOEXEC, CONTROL_FD)
    os.closerange(3, CONTROL_FD)
    os.closerange(CONTROL_FD + 1, 65536)
    start_process()
    arm(CONTROL_FD)
    os.chdir(work)
    if not observed:
        determinism.update_generators()


def start_process() -> None:
    """Set this process up as a program expects its interpreter to be."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def encode_rehearsal(source: str) -> bytes:
    """Return a program of ours as a job, to go through."""
    job = {"kind": "job", "language": "python", "has_tests": False, "seed": None, "token": "0" * 32}
    return encode_message(job, [source.encode()])


def run_rehearsed_job(job: bytes, inbox: Inbox) -> int:
    """Run all that a run does, but speak to no one; returns the exit code.

    Before any fork, for the interpreter's specialised code and caches.
    """
    inbox.add_bytes(job)
    return run_job(inbox, -1)[0]


def run_job(inbox: Inbox, control: int) -> tuple[int, bool]:
    """Wait for a job and do it; returns the exit code, and whether threads are waited for at the end.

    Args:
        inbox: where it comes from.
        control: descriptor that reports go to.
    """
    job, parts = inbox.wait_for_message("job")
    reporter = Reporter(control, job.pop("token"))
    language = job["language"]
    if "environment" in job:
        os.environ.update(job["environment"])
    if job["seed"] is not None:
        determinism.start_generators(job["seed"])
    if language == "session":
        if job["seed"] is None:
            determinism.update_generators()  # now that the supervisor lets the kernel answer
        if job.get("held"):
            inbox, reporter = Inbox(STEPS_FD), Reporter(STEPS_FD, "")
        return run_session(job, inbox, reporter)
    if job.get("argv"):
        return _run_interpreter(job["argv"], reporter, language, job.get("waits")), False
    source = parts[0].decode("utf-8", "surrogatepass")
    if language == "sql":
        return run_sql(source, job["database"], reporter), True
    if job["has_tests"]:
        return run_tested(inbox, reporter, job.get("collectors", [])), True
    return run_program(source, reporter), True


def _run_interpreter(argv: list[str], reporter: Reporter, language: str, waits: dict[str, str] | None) -> int:
    """Become the interpreter of another language: the script lies in a file.

    Args:
        argv: the command of the interpreter.
        reporter: bears what it reports with.
        language: of the script.
        waits: variables by which the interpreter waits until there is a script; see `supervisor.run.ahead`.
    """
    environment = {**os.environ, **(waits or {})}
    if language == "bash" and waits is None:
        if not _parses(argv):
            reporter.send("syntax")
            return _SYNTAX_EXIT
    else:
        os.set_inheritable(CONTROL_FD, True)  # noqa: FBT003 - takes no name
        environment["SPANPROOF_TOKEN"] = reporter.token  # what `node.cjs` and bash report with
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(argv[0], argv, environment)  # noqa: S606 - replaces the process by an interpreter
    return _SETUP_FAILED


def _parses(argv: list[str]) -> bool:
    """Whether bash can read the script; it says on stderr why not.

    A script may turn extended patterns on for the lines below, which bash reads when it has run those above.
    """
    pid = os.posix_spawn(argv[0], [argv[0], "-n", "-O", "extglob", *argv[1:]], os.environ)
    return os.waitpid(pid, 0)[1] == 0


def _write_failure(failure: BaseException, failure_fd: int) -> None:
    text = f"the guest failed: {type(failure).__name__}: {failure}\n"
    try:
        os.write(failure_fd, text.encode(errors="replace")[:4000])
    except OSError:
        return
