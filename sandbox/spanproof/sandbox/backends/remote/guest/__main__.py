"""`python -m spanproof.sandbox.backends.remote.guest FILE`: supervise the one job that a file holds.

The file's first line is what must be known before a process is forked for the program, in JSON; the job
follows as a frame. It is read after the fork: so no program can search its own memory for its tests.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.backends.remote.guest.lines import Lines
from spanproof.sandbox.backends.remote.guest.served import OwnNetwork, ServedFixtures
from spanproof.sandbox.backends.remote.guest.start import remove_rights
from spanproof.sandbox.backends.remote.guest.workspace import Workspace, enters_namespaces
from spanproof.sandbox.errors import UnsupportedLanguage
from spanproof.sandbox.guest.wire import FROM_HOST, Decoder, Frame, Header
from spanproof.sandbox.model import Fixtures, Limits, Program, Tier
from spanproof.sandbox.supervisor.forkserver.arming import Forked, Silent
from spanproof.sandbox.supervisor.forkserver.supervisor import Supervisor, send_failure
from spanproof.sandbox.supervisor.isolation import Isolation
from spanproof.sandbox.supervisor.reduced.process_tree import Descendants
from spanproof.sandbox.supervisor.run.job import build_language_fields, check_language, read_runtimes
from spanproof.sandbox.supervisor.run.proxied_sockets import ProxyingWatcher
from spanproof.sandbox.supervisor.seccomp.paths import Boundary
from spanproof.sandbox.supervisor.seccomp.syscalls import get_arch

_BASH = "/bin/bash"


class Processes(Descendants):
    """The processes of a program that has bounded itself; see `start`."""

    def update_limit(self, pid: int, kind: int, value: int) -> None:
        """See `Namespace`; done."""


class MachineSupervisor(Supervisor):
    """Serves one job, and ends."""

    _box: Workspace
    _fixtures = ServedFixtures

    def run_one(self, lines: Lines, file: int, fields: Header, *, separated: bool) -> None:
        """Arm a guest, and then read the rest of its job.

        Args:
            lines: to the host.
            file: descriptor of the rest.
            fields: of the job, that depend on this machine.
            separated: whether the program is kept apart from all else.
        """
        armed = self._start_guest()
        lines.send("started", separated=separated)
        decoder = Decoder(FROM_HOST)
        with open(file, "rb") as rest:
            decoder.add_bytes(rest.read())
        frame = decoder.find_frame()
        assert frame is not None, "the host writes whole files"
        frame.header.update(fields)
        self._run_job(frame, armed)

    def _write_files(self, frame: Frame) -> None:
        super()._write_files(frame)
        self._box.update_owner()


def main(path: str) -> None:
    """Do a job."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    Path(path).unlink()
    head: Header = json.loads(_read_line(file))
    lines = Lines(head["token"], listens=head["language"] == "session")
    try:
        fields = _get_language_fields(head)  # before what lies in /tmp is covered, our own source too
    except UnsupportedLanguage:
        lines.send("lacking")
        return
    separated = enters_namespaces(head["limits"]["disk_bytes"])
    for is_requested, refusal in ((head["has_tests"], "in_reach"), (head["tape"], "unserved")):
        if is_requested and not separated:
            lines.send(refusal)
            return
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    supervisor = MachineSupervisor(_build_isolation(head, separated=separated), lines, None)
    try:
        supervisor.run_one(lines, file, fields, separated=separated)
    except Exception as failure:  # noqa: BLE001 - reported to the host
        send_failure(lines, failure, at_work=supervisor.at_work)
    os._exit(0)


def _read_line(file: int) -> bytes:
    """Read to the end of a line, and no further: the rest is for after a fork."""
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(file, 1)
    return line


def _get_language_fields(head: Header) -> Header:
    """Return what this machine's runtime needs of a job.

    Raises:
        UnsupportedLanguage: there is none.
    """
    language = head["language"]
    if language == "session":
        return {}
    if language == "sql":
        import_module("spanproof.sandbox.guest.sql_sqlite")
    found = read_runtimes()
    if not Path(_BASH).exists():
        found = replace(found, bash=None)
    check_language(language, found)
    fixtures = Fixtures(seed=head["seed"])
    return build_language_fields(
        Program(language, "", limits=Limits(**head["limits"]), fixtures=fixtures), found
    )


def _build_isolation(head: Header, *, separated: bool) -> Isolation:
    workspace = Workspace(separated=separated)
    arming = Silent(partial(remove_rights, head, workspace))
    origin, processes = Forked(arming, arming, workspace.work), Processes(own_user=True)
    processes.zygote = origin.zygote
    return Isolation(
        tree=processes,
        box=workspace,
        network=OwnNetwork(),
        watcher=ProxyingWatcher(get_arch(), Boundary((), os.environ["PATH"]), processes, None),
        origin=origin,
        tier=Tier.REDUCED,
        holds_calls=False,
    )


if __name__ == "__main__":
    main(sys.argv[1])
