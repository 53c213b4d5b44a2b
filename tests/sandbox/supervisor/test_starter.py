"""The starter of supervisors: where one cannot be started, its host gets the reason, and nothing stays."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap

import pytest

_A_USER = """
import os, resource, secrets, socket, sys
from pathlib import Path
from spanproof.sandbox.supervisor.namespaces import cgroup
from spanproof.sandbox.supervisor.reduced.master import _Boxes
from spanproof.sandbox.supervisor.forkserver.starter import Host, Starter

home = Path(sys.argv[1])
groups = cgroup.find_base(os.getpid())
bases = [Path(path) for path in groups.paths] if groups is not None else []
if os.geteuid() == 0:  # whom the kernel bounds in nothing
    user = 700_000 + secrets.randbelow(100_000)
    for path in (home, *bases):
        os.chown(path, user, user)
    os.setgroups([]); os.setresgid(user, user, user); os.setresuid(user, user, user)
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
host = Host(theirs, os.pidfd_open(os.getpid()), {"owner": os.getpid()})
starter = Starter(host, _Boxes(home, None, (), ()), groups)

def found():
    names = os.listdir("/proc/self/fd")
    held = {name for name in names if os.path.exists(f"/proc/self/fd/{name}")}  # not the one that looked
    return held, [*home.iterdir()], [path for base in bases for path in base.glob("supervisor-*")]

def ask():
    channel, given = socket.socketpair()
    with channel, given:
        socket.send_fds(ours, [b"supervisor"], [given.fileno()])
        assert starter._handle_request()
    return ours.recv(4096).decode()
"""


def run(program: str) -> list[str]:
    """What a program prints that has a starter, as a user of whom there is nothing else where we are root."""
    source = _A_USER + textwrap.dedent(program)
    with tempfile.TemporaryDirectory() as home:  # all may enter what lies above it
        done = subprocess.run(
            [sys.executable, "-c", source, home], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_supervisor_that_cannot_be_forked_leaves_no_descriptor_no_group_and_no_box() -> None:
    shown = run(
        """
        before = found()
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        for _ in range(3):
            print(ask())
        print(found() == before, before[1:])
        if groups is not None:
            groups.remove_itself()
        """
    )
    assert shown[0] == shown[1] == shown[2]
    assert "Resource temporarily unavailable" in shown[0]
    assert shown[3] == "True ([], [])"


@pytest.mark.parametrize("spare", range(0, 12, 2))
def test_a_starter_out_of_descriptors_leaves_nothing_either(spare: int) -> None:
    shown = run(
        f"""
        before = found()
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        channel, given = socket.socketpair()
        resource.setrlimit(resource.RLIMIT_NOFILE, (given.fileno() + 1 + {spare}, hard))
        try:
            starter._start(given.fileno())
        except OSError as failure:
            pass
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        channel.close(); given.close()
        print(found()[0] == before[0], found()[2])
        starter._factory.close_all()
        print(found() == before)
        if groups is not None:
            groups.remove_itself()
        """
    )
    assert shown == ["True []", "True"]
