"""Parts of the reduced tier, each by itself: its filter, its tree, its paths, and its reasons."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seccomp_interpreter import run_program

from spanproof.sandbox import BadSetting, Tier
from spanproof.sandbox.backends.jail import reasons
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.reduced import calls, landlock
from spanproof.sandbox.supervisor.reduced.count import Counter
from spanproof.sandbox.supervisor.reduced.paths import ReducedBoundary
from spanproof.sandbox.supervisor.seccomp.bpf import RET_ALLOW, RET_EPERM, RET_NOTIFY
from spanproof.sandbox.supervisor.seccomp.filter import build_filter
from spanproof.sandbox.supervisor.seccomp.paths import Judged
from spanproof.sandbox.supervisor.seccomp.rules import REFUSED, WATCHED
from spanproof.sandbox.supervisor.seccomp.syscalls import AARCH64, X86_64, Arch

UID = 1000
PROGRAMS = {arch.machine: build_filter(arch, UID, namespaced=False) for arch in (X86_64, AARCH64)}
both = pytest.mark.parametrize("arch", [X86_64, AARCH64], ids=lambda arch: arch.machine)
NOTHING_DONE = 0x00050000


def call(arch: Arch, name: str, *args: int) -> int:
    return run_program(PROGRAMS[arch.machine], arch, arch.numbers[name], *args)


@both
def test_without_namespaces_calls_on_others_are_shown_to_the_supervisor(arch: Arch) -> None:
    for name in (WATCHED | REFUSED) & arch.numbers.keys():
        assert call(arch, name) == RET_NOTIFY, name
    assert call(arch, "kill", 0, 9) == RET_ALLOW
    for pid in (1, 7, -1, -7):
        assert call(arch, "kill", pid, 9) == RET_NOTIFY
    assert call(arch, "prlimit64", 0) == RET_ALLOW
    assert call(arch, "prlimit64", 7) == RET_NOTIFY
    for new, expected in ((0, RET_ALLOW), (1, RET_EPERM), (1 << 32, RET_EPERM)):
        assert call(arch, "prlimit64", 0, 6, new) == expected
    assert call(arch, "prlimit64", 0, 7, 1) == RET_ALLOW
    assert call(arch, "setrlimit", 6, 1) == RET_EPERM
    assert call(arch, "setrlimit", 7, 1) == RET_ALLOW
    assert call(arch, "setrlimit", 4, 1) == call(arch, "prlimit64", 0, 4, 1) == NOTHING_DONE
    assert call(arch, "setpriority", 0, 0) == RET_ALLOW
    assert call(arch, "setpriority", 0, 7) == RET_NOTIFY
    assert call(arch, "setpriority", 2, 0) == RET_NOTIFY


@both
def test_without_namespaces_no_socket_is_made_that_can_be_sent_anywhere(arch: Arch) -> None:
    no_protocol = 0x00050000 | errno.EPROTONOSUPPORT
    for kind, expected in (
        (1, RET_ALLOW),
        (5, RET_ALLOW),
        (2, no_protocol),
        (3, no_protocol),
    ):
        for flags in (0, 0o2000000, 0o4000):
            assert call(arch, "socket", 1, kind | flags, 0) == expected
            assert call(arch, "socketpair", 1, kind | flags, 0) == expected
    for family in (2, 10, 17, 40):
        assert call(arch, "socket", family, 1, 0) == RET_NOTIFY
    assert call(arch, "socket", 16, 3, 0) == 0x00050000 | errno.EAFNOSUPPORT
    for level in (0, 6, 17, 41):
        assert call(arch, "setsockopt", 3, level, 1) == NOTHING_DONE
        assert call(arch, "getsockopt", 3, level, 77) == RET_NOTIFY
    for option in (1, 4, 17, 75, 78):
        assert call(arch, "setsockopt", 3, 1, option) == RET_ALLOW
        assert call(arch, "getsockopt", 3, 1, option) == RET_ALLOW


@both
def test_without_namespaces_no_socket_gives_a_descriptor_of_the_supervisor_s_process(arch: Arch) -> None:
    no_option = 0x00050000 | errno.ENOPROTOOPT
    assert call(arch, "getsockopt", 900, 1, 77) == no_option  # SO_PEERPIDFD
    assert call(arch, "setsockopt", 900, 1, 76) == no_option  # SO_PASSPIDFD


@both
def test_without_namespaces_no_signal_comes_by_way_of_a_descriptor(arch: Arch) -> None:
    for command in (8, 15):
        assert call(arch, "fcntl", 3, command, 7) == RET_EPERM
    assert call(arch, "fcntl", 3, 2, 1) == RET_ALLOW
    for request in (0x8901, 0x8902, 0x5412):
        assert call(arch, "ioctl", 3, request) == RET_EPERM


@given(number=st.integers(0, 600), args=st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6))
def test_the_filter_without_namespaces_allows_nothing_the_other_refuses(number: int, args: list[int]) -> None:
    for arch in (X86_64, AARCH64):
        full = run_program(build_filter(arch, UID), arch, number, *args)
        reduced = run_program(PROGRAMS[arch.machine], arch, number, *args)
        if full != RET_ALLOW and reduced == RET_ALLOW:
            # The supervisor is no process 1 here; and aiming at oneself is no attempt.
            assert arch.get_name(number) in {
                "kill",
                "tkill",
                "tgkill",
                "prlimit64",
                "setpriority",
                "ioprio_set",
            }


def test_descendants_are_found_and_ended_wherever_they_went() -> None:
    source = "import os, time\nif os.fork() == 0: os.setsid(); print(os.getpid(), flush=True)\ntime.sleep(60)"
    program = f"""
import os, signal, subprocess, sys
from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.reduced.process_tree import Descendants
kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
tree = Descendants(own_user=False)
child = subprocess.Popen([sys.executable, "-c", {source!r}], stdout=subprocess.PIPE)
orphan = int(child.stdout.readline())
os.kill(child.pid, signal.SIGKILL); os.waitpid(child.pid, 0)
print(tree.holds(orphan), tree.holds(os.getppid()), tree.holds(os.getpid()), tree.holds_group(orphan))
tree.remove_all_processes()
print(tree.list_pids(), os.path.exists(f"/proc/{{orphan}}"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["True False False True", "[] False"]


_AS_ANOTHER = """
import os, secrets, sys, threading, time
from spanproof.sandbox.supervisor.reduced.count import Counter
from spanproof.sandbox.supervisor.reduced.process_tree import Descendants
if os.geteuid() == 0:
    user = 700_000 + secrets.randbelow(100_000)
    os.setgroups([]); os.setresgid(user, user, user); os.setresuid(user, user, user)
"""


def as_another_user(program: str) -> list[str]:
    """What a program prints that runs as a user of whom there is nothing else, where we are root."""
    done = subprocess.run(
        [sys.executable, "-c", _AS_ANOTHER + program], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_the_processes_of_a_user_are_counted_wherever_they_are() -> None:
    program = """
counter = Counter()
before = counter.count_tasks()
for number in range(40):
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
print(counter.counts(), counter.count_tasks() - before, Counter().count_tasks() - before, flush=True)
os._exit(0)
"""
    assert as_another_user(program) == ["True 40 40"]
    assert os.geteuid() != 0 or not Counter().counts()


@pytest.mark.skipif(os.geteuid() != 0, reason="processes of this user, who tests, come and go")
def test_the_bound_of_processes_holds_beside_others_of_the_same_user() -> None:
    program = """
def sleeper():
    pid = os.fork()
    if pid == 0: time.sleep(30); os._exit(0)
    return pid

def go_on_in_a_child():
    if pid := os.fork(): os.waitpid(pid, 0); os._exit(0)

others = [sleeper() for _ in range(7)]
go_on_in_a_child()  # this one has a single supervisor
go_on_in_a_child()
tree = Descendants(own_user=False)
detail, tell = os.pipe(); go, on = os.pipe()
guest = os.fork()
if guest == 0:  # asks for more until it is refused, and again
    while os.read(go, 1):
        born = 0
        try:
            while True: sleeper(); born += 1
        except BlockingIOError: os.write(tell, b"%d" % born)
tree.update_process_limit(guest, 10)
for _ in range(2):
    os.write(on, b"g"); print(os.read(detail, 9).decode(), flush=True)
    tree.run_bound_check()
os.kill(others.pop(), 9)
os.write(on, b"g"); print(os.read(detail, 9).decode(), flush=True)
tree.remove_all_processes()
for pid in others: os.kill(pid, 9)
os._exit(0)
"""
    assert as_another_user(program) == ["9", "0", "0"]


def test_a_path_that_leads_out_is_not_opened(tmp_path: Path) -> None:
    box, outside = tmp_path / "box", tmp_path / "outside"
    box.mkdir()
    outside.write_text("secret")
    (box / "inside").write_text("x")
    (box / "link").symlink_to("inside")
    (box / "out").symlink_to(outside)
    os.close(calls.open_beneath(str(box), "link", os.O_RDONLY))
    for path, links in (("out", True), ("../outside", True), ("link", False)):
        with pytest.raises(OSError, match=r"."):
            calls.open_beneath(str(box), path, os.O_RDONLY, links=links)


@pytest.mark.parametrize(
    ("path", "writes", "judged"),
    [
        ("{box}/work/x", True, Judged.INSIDE),
        ("/dev/null", True, Judged.INSIDE),
        ("/dev/stdout", True, Judged.INSIDE),
        ("/usr/bin/env", False, Judged.INSIDE),
        ("/usr/bin/env", True, Judged.OUTSIDE),
        ("/tmp/anything", False, Judged.OUTSIDE),
        ("/etc/shadow", False, Judged.FORBIDDEN),
        ("/proc", False, Judged.FORBIDDEN),
        ("/proc/1/environ", False, Judged.FORBIDDEN),
        ("/proc/self/status", False, Judged.INSIDE),
        ("/proc/self/oom_score_adj", True, Judged.FORBIDDEN),
        ("/proc/meminfo", False, Judged.INSIDE),
        ("/proc/net/tcp", False, Judged.FORBIDDEN),
        ("/etc/hosts", False, Judged.INSIDE),
        ("/var/lib", False, Judged.OUTSIDE),
    ],
)
def test_in_the_reduced_tier_existing_is_no_reason_to_be_inside(
    tmp_path: Path, path: str, writes: bool, judged: Judged
) -> None:
    boundary = ReducedBoundary(str(tmp_path), (sys.prefix,), "/usr/bin:/bin")
    assert boundary.judge(path.format(box=tmp_path), os.getpid(), writes=writes)[0] is judged


def test_credentials_among_packages_are_not_readable(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "pip.conf").write_text("[global]\nindex-url = https://user:secret@example.test\n")
    walls = ReducedBoundary(str(tmp_path / "box"), (str(prefix),), "/usr/bin").walls
    assert str(prefix / "lib") in walls.readable
    assert not {str(prefix), str(prefix / "pip.conf")} & set(walls.readable)
    assert "/usr/local/etc" not in walls.readable


def test_landlock_holds_a_process_to_its_walls(tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    (tmp_path / "outside").write_text("secret")
    program = f"""
import os
from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.reduced import landlock
kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
landlock.add_walls(landlock.Walls(("/usr",), ({str(tmp_path / "box")!r},), ("/dev/null",)))
open({str(tmp_path / "box/own")!r}, "w").write("x")
open("/dev/null", "w").write("x")
for path, mode in (({str(tmp_path / "outside")!r}, "r"), ("/usr/new", "w"), ("/etc/shadow", "r")):
    try: open(path, mode)
    except PermissionError: print("refused")
try: os.mkfifo({str(tmp_path / "fifo")!r})
except PermissionError: print("refused")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused"] * 4


def test_what_an_older_landlock_lacks_is_named() -> None:
    assert landlock.list_missing(1) == ("moves between directories", "truncation", "TCP", "signals")
    assert landlock.list_missing(6) == ()


@pytest.mark.parametrize(
    ("error", "as_root", "filtered", "sysctls", "reason", "remedy"),
    [
        (
            errno.ENOSPC,
            False,
            False,
            reasons.Sysctls(max_user_namespaces=0),
            "max_user_namespaces is 0",
            "sysctl -w",
        ),
        (
            errno.EPERM,
            False,
            False,
            reasons.Sysctls(unprivileged_userns_clone=0),
            "userns_clone is 0",
            "sysctl -w",
        ),
        (
            errno.EACCES,
            False,
            False,
            reasons.Sysctls(apparmor_restrict_unprivileged_userns=1),
            "apparmor_restrict_unprivileged_userns is 1",
            "AppArmor",
        ),
        (errno.EPERM, True, True, reasons.Sysctls(), "seccomp profile", "seccomp=unconfined"),
        (errno.EPERM, True, False, reasons.Sysctls(), "lacks CAP_SYS_ADMIN", "tier=reduced"),
        (errno.EINVAL, True, False, reasons.Sysctls(), "built without it", "CONFIG_NAMESPACES"),
        (errno.EPERM, False, False, reasons.Sysctls(), "not permitted", "root"),
    ],
)
def test_a_refused_namespace_has_a_reason_and_a_remedy(
    error: int, as_root: bool, filtered: bool, sysctls: reasons.Sysctls, reason: str, remedy: str
) -> None:
    detail, help_ = reasons.get_refusal_reason(error, as_root=as_root, filtered=filtered, sysctls=sysctls)
    assert reason in detail
    assert remedy in help_


def test_a_tier_that_is_none_is_refused_and_a_stronger_one_holds_a_weaker() -> None:
    with pytest.raises(BadSetting, match="full or reduced"):
        open_sandbox("jail", settings={"tier": "none"})
    assert Tier.FULL.holds(Tier.REDUCED)
    assert not Tier.REDUCED.holds(Tier.FULL)
