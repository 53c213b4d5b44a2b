"""Interpreters started ahead: what the next program runs in is up in the next guest, and waits for it.

In: a job that has been run, because the next one is mostly like it. Out: a guest that has become the job's
interpreter, behind the walls and under the limits of any guest, with the job's seed, and has read nothing of
a program. It serves one run, as every guest does: Node.js and bash cannot be forked, so what costs time is
done before the job comes. For a program with tests, the process that is to hold them waits beside the guest.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from typing import Final

from spanproof.sandbox.guest.inbox import encode_message
from spanproof.sandbox.guest.prepared import PreparedTests, load_message
from spanproof.sandbox.guest.wire import FROM_GUEST, BadFrame, Decoder, Frame, Header
from spanproof.sandbox.supervisor.isolation import Armed, Isolation

BEGIN: Final = b"\n"
"""What an interpreter that waits is sent when its program is there."""
_START_S = 10.0
_PROCESSES = 4  # Of an interpreter that waits, at most: bash has the script checked by another
_BASH_AID = "ahead.sh"
# bash reads this file before it opens the script. The second shell, started by the first, waits, and reads
# the script without running it; then the first goes on to it, and has no descriptor or variable of ours left.
# A head is two lengths, of the text and of parts: with a token of 32 characters the texts have 72 and 71.
_BASH_SOURCE = r"""if [[ -v SPANPROOF_CHECKS ]]; then
  printf '\0\0\0\110\0\0\0\0{"kind":"waiting","token":"%s","parts":[]}' "$SPANPROOF_TOKEN" >&900
  read -r -u 900
  shopt -s extglob
  set -n
fi
if ! SPANPROOF_CHECKS=1 "$BASH" "$0"; then
  printf '\0\0\0\107\0\0\0\0{"kind":"syntax","token":"%s","parts":[]}' "$SPANPROOF_TOKEN" >&900
  exit 2
fi
exec 900>&-
unset BASH_ENV SPANPROOF_TOKEN
SECONDS=0
: "$BASH"
"""


def compute_ahead_plan(job: Header) -> Header | None:
    """Return what the interpreter of a job's successor is started with; None where it cannot be ahead.

    Returns:
        `environment`: variables by which it knows that it is to wait.
        `aids`: files that it loads.
    """
    is_started = "argv" in job or job["has_tests"]
    if not is_started or not _can_start_ahead(job) or job["limits"]["processes"] < _PROCESSES:
        return None
    if job["has_tests"]:
        return {"environment": {}, "aids": {}}
    if job["language"] == "bash":
        directory = os.path.dirname(job["argv"][-1])  # noqa: PTH120 - of the jail
        return {"environment": {"BASH_ENV": f"{directory}/{_BASH_AID}"}, "aids": {_BASH_AID: _BASH_SOURCE}}
    return {"environment": {"SPANPROOF_WAITS": "1"}, "aids": job["aids"]}


def serves(armed: Armed, job: Header) -> bool:
    """Return whether a guest can take a job: one that is an interpreter can take only that one's programs."""
    return not armed.ahead or ("ahead" in job and armed.ahead == _build_start_key(job))


def starts_ahead(frame: Frame, armed: Armed, isolation: Isolation, channel: int) -> bool:
    """Make a guest the interpreter of a job's successor; return whether it can take that.

    Args:
        frame: the job.
        armed: the guest.
        isolation: of both.
        channel: descriptor by which the successor comes; one with tests is not kept waiting for its judge.
    """
    job = frame.header
    plan = job["ahead"]
    write_aids(plan["aids"], isolation.box.code)
    watcher = isolation.watcher
    watcher.start_run(armed.guest.listener)
    watcher.own_execs, watcher.memory_bytes = job.get("own_execs", 0), job["limits"]["memory_bytes"]
    watcher.expects_judge = job["has_tests"]
    watcher.fixtures = armed.fixtures
    fields = {key: job.get(key) for key in ("language", "argv", "seed", "has_tests")}
    request = {**fields, "kind": "job", "token": armed.token, "waits": plan["environment"]}
    if job["has_tests"]:
        request["collectors"] = _list_collectors(frame)
    try:
        armed.control.send(encode_message(request, [b""]))
    except OSError:
        return False
    if not _wait_for_guest(armed, isolation, channel if job["has_tests"] else None):
        return False
    if job["has_tests"] and isolation.box.has_changed():
        return False  # what a module has written would be there for the next program
    armed.judge = watcher.judge
    armed.ahead = _build_start_key(job)
    return True


def remove_start_files(job: Header, armed: Armed, code: str) -> None:
    """Take away what an interpreter has loaded that is no file of the program's job."""
    for name in job["ahead"]["aids"]:
        if name not in job.get("aids", {}):
            os.unlink(f"{code}/{name}")  # noqa: PTH108 - in the path of every run
    with contextlib.suppress(OSError):  # that it is gone is seen as its end
        armed.control.send(BEGIN)


def write_aids(aids: dict[str, str], code: str) -> None:
    """Write the files that an interpreter loads before the program."""
    for name, text in aids.items():
        with open(f"{code}/{name}", "w", encoding="utf-8") as aid:  # noqa: PTH123
            aid.write(text)


def _can_start_ahead(job: Header) -> bool:
    """Whether nothing of it must be there before its interpreter starts, but a seed, which jobs share."""
    are_tests_held = not job["has_tests"] or job["language"] == "python"
    return job["clock"] is None and not job["tape"] and are_tests_held


def _build_start_key(job: Header) -> tuple[str, ...]:
    """Return what an interpreter starts with: jobs in which it is the same can take each other's."""
    return str(job["seed"]), *job.get("argv", ["python", "tests"])


def _list_collectors(frame: Frame) -> list[str]:
    """Return modules that collected a job's tests, and will collect those of the next one."""
    message = load_message(frame.parts[1], frame.header["entry_point"])
    if message is None:
        return []
    return PreparedTests.from_message(message).collectors


def _wait_for_guest(armed: Armed, isolation: Isolation, channel: int | None) -> bool:
    """Serve the guest's held calls until it says that it waits; False if it ends or takes too long.

    Until something comes by the channel, too, where there is one: then the guest is still starting.
    """
    deadline = time.monotonic() + _START_S
    decoder = Decoder(FROM_GUEST)
    listener, control, origin = armed.guest.listener, armed.control.fileno(), isolation.origin.fileno()
    fixtures = armed.fixtures
    poll = select.poll()
    for source in (listener, control, origin, fixtures, channel):
        if source is not None:
            poll.register(source, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0:
        for fd, events in poll.poll(left * 1000):
            if fd == origin or not events & select.POLLIN:
                return False
            if fd == listener:
                isolation.watcher.handle_notification()
            elif fd == control:
                if _waits(armed, decoder):
                    return True
            elif fd == channel:
                armed.is_starting = True
                return True
            elif fixtures is not None:
                fixtures.handle_waiting()
    return False


def _waits(armed: Armed, decoder: Decoder) -> bool:
    """Whether what the guest has sent is its word that it waits.

    No program has run in it: bytes that are no frame are a mistake of the runner's, and end in the deadline.
    """
    try:
        decoder.add_bytes(armed.control.recv(4096))
        frame = decoder.find_frame()
    except (BadFrame, OSError):
        return False
    waits = {"kind": "waiting", "token": armed.token}, {"kind": "judge", "token": armed.token, "hidden": True}
    return frame is not None and frame.header in waits
