"""Small parts of the jail, each by itself: output, addresses, paths, control groups, values, tools."""

from __future__ import annotations

import asyncio
import json
import marshal
import os
import select
import socket
import struct
import subprocess
import sys
from collections import Counter
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox.backends.docker.inside import Loopback, Processes, Wiped
from spanproof.sandbox.guest.prepared import PreparedTests, build_tests, load_message
from spanproof.sandbox.guest.raising import build_exception
from spanproof.sandbox.guest.values import to_json_form
from spanproof.sandbox.guest.wire import FROM_HOST, Decoder, Frame
from spanproof.sandbox.supervisor.forkserver.warm import list_import_folders
from spanproof.sandbox.supervisor.isolation import Armed, Isolation, Origin, WaitingGuest
from spanproof.sandbox.supervisor.namespaces import cgroup
from spanproof.sandbox.supervisor.namespaces.process_tree import LookLeft, Namespace
from spanproof.sandbox.supervisor.namespaces.users import find_unused_id
from spanproof.sandbox.supervisor.run.output import Stream
from spanproof.sandbox.supervisor.run.run import Links, Run
from spanproof.sandbox.supervisor.seccomp import addresses
from spanproof.sandbox.supervisor.seccomp.paths import Boundary, Judged
from spanproof.sandbox.supervisor.seccomp.syscalls import find_arch
from spanproof.sandbox.supervisor.seccomp.watcher import Watcher


@given(st.lists(st.binary(max_size=50)), st.integers(4, 200))
def test_output_within_its_bound_is_kept_whole_and_more_is_marked(pieces: list[bytes], keep: int) -> None:
    stream = Stream(keep)
    for piece in pieces:
        stream.add(piece)
    whole = b"".join(pieces)
    assert stream.seen == len(whole)
    if len(whole) <= keep:
        assert stream.get_kept_bytes() == whole
    else:
        assert stream.cut
        assert stream.get_kept_bytes().startswith(whole[: keep - keep // 4])
        assert stream.get_kept_bytes().endswith(whole[len(whole) - keep // 4 :])
        assert len(stream.get_kept_bytes()) <= keep + 60


def test_a_look_at_processes_is_left_when_its_time_is_over_or_a_step_would_pass_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree, clock = Namespace(), iter([0.0, 0.0, 0.1, 0.2, 3.0, 3.1, 3.1])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    tree.look_until = 10.0
    looked_at = tree.iter_until_left("abcd")
    assert [next(looked_at) for _ in range(3)] == ["a", "b", "c"]
    with pytest.raises(LookLeft):  # the third took 2.8 s
        next(looked_at)
    tree.look_until = 3.1
    with pytest.raises(LookLeft):
        list(tree.iter_until_left("a"))


def ipv4(host: str, port: int) -> bytes:
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + socket.inet_aton(host) + bytes(8)


def ipv6(host: str, port: int) -> bytes:
    address = socket.inet_pton(socket.AF_INET6, host)
    return struct.pack("=H", socket.AF_INET6) + struct.pack("!HI", port, 0) + address + bytes(4)


@pytest.mark.parametrize(
    ("raw", "text", "loopback"),
    [
        (ipv4("8.8.8.8", 53), "8.8.8.8:53", False),
        (ipv4("127.9.9.9", 80), "127.9.9.9:80", True),
        (ipv4("0.0.0.0", 80), "0.0.0.0:80", True),
        (ipv6("2001:db8::1", 443), "[2001:db8::1]:443", False),
        (ipv6("::1", 443), "[::1]:443", True),
        (ipv6("::ffff:10.0.0.1", 5), "10.0.0.1:5", False),
        (ipv6("::ffff:127.0.0.1", 5), "127.0.0.1:5", True),
    ],
)
def test_an_address_is_read_as_the_kernel_reads_it(raw: bytes, text: str, loopback: bool) -> None:
    target = addresses.find_address(raw)
    assert target is not None
    assert (target.text, target.loopback) == (text, loopback)


def test_a_dns_query_gives_its_name() -> None:
    query = (
        struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0) + b"\x06secret\x07example\x00" + struct.pack("!HH", 1, 1)
    )
    assert addresses.find_queried_name(query) == addresses.read_sought_name(query) == "secret.example"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", "(no name)"),
        (b"x" * 12 + b"\x06sec", "sec"),
        (b"x" * 12 + b"\x02\xff.\x01b\xc0\x0c", "\\xff..b"),
        (b"x" * 12 + b"\x01a" * 9000, ("a." * 512)),
    ],
)
def test_what_is_no_query_is_named_by_what_can_be_read_of_it(raw: bytes, text: str) -> None:
    assert addresses.find_queried_name(raw) is None
    assert addresses.read_sought_name(raw) == text


@given(st.binary(max_size=200))
def test_any_bytes_are_an_address_or_a_query_or_neither(raw: bytes) -> None:
    addresses.find_address(raw)
    addresses.find_queried_name(raw)
    assert addresses.read_sought_name(raw)


@pytest.fixture
def boundary(tmp_path: Path) -> Boundary:
    return Boundary((str(tmp_path / "python"),), "/usr/bin:/bin")


@pytest.mark.parametrize(
    ("path", "writes", "judged"),
    [
        ("/box/work/data.csv", True, Judged.INSIDE),
        ("/dev/null", True, Judged.INSIDE),
        ("/usr/lib/python3/x.py", False, Judged.INSIDE),
        ("/usr/lib/python3/x.py", True, Judged.OUTSIDE),
        ("/etc/ld.so.cache", False, Judged.INSIDE),
        ("/etc/shadow", False, Judged.FORBIDDEN),
        ("/root", False, Judged.FORBIDDEN),
        ("/home/", False, Judged.FORBIDDEN),
        ("/", False, Judged.INSIDE),
        ("/etc/../etc//passwd", False, Judged.FORBIDDEN),
        ("/box/work/../../etc/passwd", False, Judged.FORBIDDEN),
        ("/home/someone/report.csv", False, Judged.OUTSIDE),
        ("/proc/self/status", False, Judged.INSIDE),
        ("/proc/self/oom_score_adj", True, Judged.FORBIDDEN),
        ("/proc/1/environ", False, Judged.FORBIDDEN),
        ("/proc/cpuinfo", False, Judged.INSIDE),
        ("/proc/kcore", False, Judged.OUTSIDE),
        ("/dev/sda", False, Judged.OUTSIDE),
    ],
)
def test_a_path_is_judged_by_where_it_leads(
    boundary: Boundary, path: str, writes: bool, judged: Judged
) -> None:
    assert boundary.judge(path, os.getpid(), writes=writes)[0] is judged


def test_prepared_tests_reach_their_process_as_they_are() -> None:
    text = "import math\ndef test_a(): assert type(f(1)) is int\nassert f(2) == math.inf\n"
    message = marshal.loads(marshal.dumps(load_message(text.encode(), "f")))
    assert PreparedTests.from_message(message) == build_tests(text, "f")


@pytest.mark.parametrize("tests", [b"def (", b"x = '\xff'", b"assert f()\n" * 10_000])
def test_tests_that_do_not_compile_or_are_long_are_left_to_their_process(tests: bytes) -> None:
    assert load_message(tests, None) is None


def test_what_an_editable_installation_maps_is_no_look_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finder = ModuleType("__editable___plug_1_0_finder")
    vars(finder)["MAPPING"] = {"plug": "/home/ann/plug/src/plug", "one": "/home/ann/one.py"}
    monkeypatch.setitem(sys.modules, finder.__name__, finder)
    monkeypatch.syspath_prepend("/srv/path of a team")
    boundary = Boundary(("/usr",), "/bin", list_import_folders())
    imported = ["plug", "plug/__init__.py", "plug/__pycache__/a.cpython-311.pyc", "plug/b/c.abi3.so"]
    imported = [f"/home/ann/plug/src/{name}" for name in imported]
    imported += ["/home/ann/one.py", "/srv/path of a team", "/srv/path of a team/x-1.dist-info/METADATA"]
    others = [
        "/home/ann",
        "/home/ann/.ssh/id_rsa",
        "/home/ann/plug/src/plug/.env",
        "/home/ann/plug/src/plug/key.pem",
        "/home/ann/plug/src/plug2/__init__.py",
        "/home/ann/two.py",
        "/srv/path of a team/data.csv",
    ]
    assert [path for path in imported if not _is_inside(boundary, path)] == []
    assert [path for path in others if _is_inside(boundary, path)] == []
    assert boundary.judge(imported[0], os.getpid(), writes=True)[0] is Judged.OUTSIDE


def _is_inside(boundary: Boundary, path: str) -> bool:
    return boundary.judge(path, os.getpid(), writes=False)[0] is Judged.INSIDE


def test_tmp_is_the_program_s_own_where_its_interpreter_lies_below_it() -> None:
    boundary = Boundary(("/tmp/a clone/.venv", "/opt/python"), "/usr/bin")
    assert boundary.judge("/tmp", os.getpid(), writes=True, follows=False)[0] is Judged.INSIDE
    assert boundary.judge("/tmp/a clone/.venv/x", os.getpid(), writes=True)[0] is Judged.OUTSIDE
    assert boundary.judge("/opt", os.getpid(), writes=False)[0] is Judged.FORBIDDEN


@given(st.text(alphabet=st.characters(exclude_characters="\0", codec="utf-8"), max_size=60))
def test_any_path_can_be_judged(path: str) -> None:
    Boundary(("/usr",), "/bin").judge(f"/{path}", os.getpid(), writes=False)


DYING = """
import os, signal, socket
from spanproof.sandbox.supervisor.forkserver.arming import Forked
from spanproof.sandbox.supervisor.reduced.arming import Passed
from spanproof.sandbox.guest.descriptors import Descriptors

class Dying(Passed):
    def start_confinement(self, control):
        os.kill(os.getpid(), signal.SIGKILL)

ours, theirs = socket.socketpair()
ours.settimeout(60)
given = Descriptors(theirs.detach(), *(os.open(os.devnull, os.O_RDWR) for _ in range(3)))
origin = Forked(Dying(b""), Dying(b""), "/")
origin.send_request(given, observed=False)
try:
    origin.wait_for_guest(ours)
except RuntimeError as failure:
    print(failure)
os.kill(origin.zygote, signal.SIGKILL)
"""
"""In an interpreter with one thread, as a supervisor is: a fork beside threads may find their locks held."""


def test_a_guest_that_dies_while_it_raises_its_walls_is_reported() -> None:
    done = subprocess.run([sys.executable, "-c", DYING], capture_output=True, text=True, timeout=120)
    assert "could not be armed: it ended" in done.stdout, done


V1 = (
    "31 23 0:27 / {root}/memory rw - cgroup cgroup rw,memory\n"
    "32 23 0:28 / {root}/pids rw - cgroup cgroup rw,pids\n"
)


def test_v1_groups_are_made_under_our_own(tmp_path: Path) -> None:
    (tmp_path / "memory/ours").mkdir(parents=True)
    (tmp_path / "pids").mkdir()
    base = cgroup.find_base(os.getpid(), V1.format(root=tmp_path), "4:memory:/ours\n8:pids:/\n0::/\n")
    assert base is not None
    assert base.version == 1
    memory, processes = map(Path, base.paths)
    assert (memory.parent, processes.parent) == (tmp_path / "memory/ours", tmp_path / "pids")
    assert memory.name == processes.name
    assert memory.name.endswith(f"-{os.getpid()}")


def test_two_who_have_the_same_number_have_groups_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    made = [cgroup.find_base(os.getpid(), V1.format(root=tmp_path), "4:memory:/\n") for _ in range(2)]
    assert len({base.paths for base in made if base is not None}) == 2


def test_v2_needs_the_memory_controller(tmp_path: Path) -> None:
    mounts = f"31 23 0:27 / {tmp_path} rw - cgroup2 cgroup2 rw\n"
    (tmp_path / "cgroup.controllers").write_text("cpu")
    assert cgroup.find_base(os.getpid(), mounts, "0::/\n") is None
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    base = cgroup.find_base(os.getpid(), mounts, "0::/\n")
    assert base is not None
    assert base.version == 2
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_a_delegated_group_hands_its_controllers_down_once_its_processes_are_below(tmp_path: Path) -> None:
    try:
        os.setxattr(tmp_path, "user.delegate", b"1")
    except OSError:
        pytest.skip("this file system has no attributes of users")
    mounts = f"31 23 0:27 / {tmp_path} rw - cgroup2 cgroup2 rw\n"
    (tmp_path / "cgroup.controllers").write_text("memory pids")
    (tmp_path / "cgroup.procs").write_text("7\n8\n")
    base = cgroup.find_base(os.getpid(), mounts, "0::/\n")
    assert base is not None
    assert (tmp_path / "spanproof-host/cgroup.procs").read_text() == "8"
    base.close()
    # A process that lies there already makes its groups beside that.
    again = cgroup.find_base(os.getpid(), mounts, "0::/spanproof-host\n")
    assert again is not None
    assert Path(again.paths[0]).parent == tmp_path
    again.close()


def test_groups_of_a_dead_host_are_swept(tmp_path: Path) -> None:
    dead = tmp_path / "memory" / "spanproof-jail-999999999"
    (dead / "supervisor-1").mkdir(parents=True)
    cgroup.find_base(os.getpid(), V1.format(root=tmp_path), "4:memory:/\n")
    assert not dead.exists()


_UNSEEN_HOST = """
import sys
from spanproof.sandbox.supervisor.namespaces import cgroup
print(*cgroup.find_base(999999999, sys.argv[1], sys.argv[2]).paths, flush=True)
sys.stdin.read()
"""


def test_groups_of_a_host_that_cannot_be_seen_are_swept_once_it_is_dead(tmp_path: Path) -> None:
    """As one in another process namespace, with the same groups in sight."""
    (tmp_path / "memory").mkdir()
    where = V1.format(root=tmp_path), "4:memory:/\n"
    arguments = [sys.executable, "-c", _UNSEEN_HOST, *where]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as unseen:
        assert unseen.stdout is not None
        path = Path(unseen.stdout.readline().strip())
        cgroup.find_base(os.getpid(), *where)
        assert path.exists()
        unseen.kill()
        unseen.wait()
    cgroup.find_base(os.getpid(), *where)
    assert not path.exists()


def test_a_look_at_what_the_machine_gives_leaves_nothing_open() -> None:
    """In a process of its own: another of this one's threads may open something meanwhile."""
    script = """
import os
from spanproof.sandbox.backends.jail import probe
for _ in range(2):
    probe.get_availability()
    print(len(os.listdir("/proc/self/fd")))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, second = ran.stdout.split()
    assert first == second


def test_without_control_groups_there_is_no_base() -> None:
    assert cgroup.find_base(os.getpid(), "", "") is None


class Loud(dict):  # type: ignore[type-arg]
    def items(self):  # type: ignore[no-untyped-def]
        raise AssertionError("a program's method was called")


class Size(IntEnum):
    SMALL = 1


class Point(NamedTuple):
    x: int
    y: int


class Mute:
    def __str__(self) -> str:
        raise ValueError("no")


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "a", [1, "b"], {"a": [None]}])
def test_json_values_cross(value: object) -> None:
    assert to_json_form(value, 100) == (value, True)


@pytest.mark.parametrize(
    ("value", "crosses_as"),
    [
        ({1: 2, None: 3, 1.5: 4, False: 5}, {"1": 2, "null": 3, "1.5": 4, "false": 5}),
        (Loud(a=1), {"a": 1}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (Point(1, 2), [1, 2]),
        (Size.SMALL, 1),
        ({Size.SMALL: [Size.SMALL]}, {"1": [1]}),
    ],
)
def test_what_derives_from_a_json_type_crosses_as_that_type(value: object, crosses_as: object) -> None:
    form, has_one = to_json_form(value, 100)
    assert has_one
    assert json.dumps(form) == json.dumps(crosses_as)


def test_what_json_cannot_say_crosses_as_its_text_where_that_is_requested() -> None:
    value = [{1}, {(1, 2): float("nan")}, Mute(), 1 << 20_000]
    texts = [
        "{1}",
        {"(1, 2)": "nan"},
        "<Mute without a text: ValueError>",
        "<int without a text: ValueError>",
    ]
    assert to_json_form(value, 500, texts=True) == (texts, True)
    assert to_json_form(value, 50, texts=True) == (None, False)


@pytest.mark.parametrize(
    "value", [{1: 2, "1": 3}, {(1,): 2}, {1, 2}, object(), float("nan"), b"x", "x" * 101, 1 << 5000]
)
def test_what_json_cannot_say_does_not_cross(value: object) -> None:
    assert to_json_form(value, 100) == (None, False)


def test_a_value_that_holds_itself_does_not_cross() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert to_json_form(loop, 100) == (None, False)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("KeyError", KeyError),
        ("UnicodeDecodeError", UnicodeDecodeError),
        ("SystemExit", SystemExit),
        ("json.decoder.JSONDecodeError", json.JSONDecodeError),
        ("asyncio.exceptions.CancelledError", asyncio.CancelledError),
        ("ExceptionGroup", Exception),
        ("Invented", Exception),
        ("nowhere.at.all.Invented", Exception),
        ("print", Exception),
        ("os.path", Exception),
        ("__import__", Exception),
    ],
)
def test_a_tool_s_error_has_the_name_it_was_given_and_is_of_its_class(name: str, kind: type) -> None:
    error = build_exception(name, "why")
    assert type(error).__name__ == name.rpartition(".")[2]
    assert isinstance(error, kind)
    assert str(error) in ("why", "'why'")


def test_the_guest_s_rehearsal_ends_well() -> None:
    from spanproof.sandbox.guest.rehearsal import run_rehearsal

    run_rehearsal()


@pytest.mark.parametrize(
    ("uid", "uid_map", "expected"),
    [
        (0, "         0          0 4294967295\n", 0xFFFE7),
        (0, "0 100000 65536\n", 65535),
        (0, "0 1000 1\n1 100000 65536\n", 65536),
        (0, "0 1000 1\n", None),
        (1000, "0 0 4294967295\n", None),
    ],
)
def test_root_becomes_another_user_where_there_is_one(uid: int, uid_map: str, expected: int | None) -> None:
    assert find_unused_id(uid, uid_map) == expected


class _Born:
    """Where a guest came from: a process that its supervisor looks at."""

    def __init__(self, pid: int) -> None:
        self._pidfd = os.pidfd_open(pid)

    def fileno(self) -> int:
        return self._pidfd


@pytest.mark.parametrize(("ended", "stopped"), [(True, None), (False, "timeout")])
def test_a_deadline_is_for_what_still_runs_when_the_supervisor_looks(
    ended: bool, stopped: str | None
) -> None:
    arch = find_arch()
    assert arch is not None
    control, _guest = socket.socketpair()
    channel, _host = socket.socketpair()
    (out, printing), (err, _), (listener, _), (_, stdin) = (os.pipe() for _ in range(4))
    os.write(printing, b"x")
    guest = subprocess.Popen(["sleep", "3600"])
    try:
        processes = Processes()
        watcher = Watcher(arch, Boundary((), ""), processes)
        place = Isolation(
            processes, Wiped(None), Loopback(watched=True), watcher, cast(Origin, _Born(guest.pid))
        )
        armed = Armed(WaitingGuest(guest.pid, listener, 0, 0), control, stdin, out, err, "")
        limits = {"memory_bytes": 1, "output_bytes": 9, "output_kill_bytes": 9, "processes": 9}
        job = Frame({"limits": limits | {"wall_s": 0.0, "cpu_s": 1}}, (b"", b"", b""))
        run = Run(job, armed, Links(channel, Decoder(FROM_HOST), place, None, channel.fileno()))
        run.start()
        if ended:
            guest.kill()
            over = select.poll()  # select() knows no descriptor beyond 1023
            over.register(place.origin, select.POLLIN)
            over.poll()
        run._handle_next()
    finally:
        guest.kill()
        guest.wait()
    assert (run._ended, run._stopped) == (ended, stopped)
