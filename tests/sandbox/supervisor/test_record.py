"""The record of attempts: a flood hides no refusal, and what is merged is reported."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from spanproof.sandbox import Program, Sandbox
from spanproof.sandbox.guest.outcome import build_execution
from spanproof.sandbox.guest.wire import FROM_SUPERVISOR, encode_frame
from spanproof.sandbox.model import Attempt, AttemptKind, FailureClass, Limits
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.record import MERGED, Record

# An interpreter below /tmp is in the box, too, where it cannot be removed.
_REMOVABLE = ("work", *(() if sys.prefix.startswith("/tmp/") else ("tmp",)), "shm", "code")
_FLOOD = """
import os, socket
for port in range(1, 1200):
    with socket.socket() as s: s.connect_ex(("127.0.0.1", port))
"""


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox() as sandbox:
        yield sandbox


def test_equal_attempts_are_one_with_a_count_and_a_refusal_outweighs() -> None:
    record = Record()
    for allowed in (True, False, True):
        record.add_attempt("network", "a:1", allowed=allowed)
    assert record.to_header()["attempts"] == [["network", "a:1", False, 3]]
    assert not record.to_header()["merged"]


def test_a_flood_of_one_kind_displaces_no_other_and_is_counted() -> None:
    record = Record()
    for number in range(5000):
        record.add_attempt("network", f"127.0.0.1:{number}", allowed=True)
        record.add_attempt("file", f"/nowhere/{number}", allowed=False)
    record.add_attempt("privilege", "mount", allowed=False)
    rows = record.list_rows()
    assert ["privilege", "mount", False, 1] in rows
    assert ["network", MERGED, True, 4000] in rows
    assert ["file", MERGED, False, 4000] in rows
    execution = build_execution(record.to_header() | {"status": 0, "outcome": "finished"}, [], Limits())
    assert not execution.attempts_whole
    assert execution.failure_class is FailureClass.UNSAFE_OPERATION


def test_targets_of_any_bytes_fit_a_frame() -> None:
    record = Record()
    for number in range(2000):
        for kind in ("file", "process", "network"):
            for allowed in (True, False):
                record.add_attempt(
                    kind, f"/{number}{allowed}" + "\udcff" * 4090, allowed=allowed, missing=not allowed
                )
    assert len(encode_frame(record.to_header())) < FROM_SUPERVISOR.header


@pytest.mark.parametrize(
    ("attempt", "kind", "target"),
    [
        ("try: open('/etc/shadow')\nexcept OSError: pass", AttemptKind.FILE, "/etc/shadow"),
        ("import ctypes; ctypes.CDLL(None).mount(0, 0, 0, 0, 0)", AttemptKind.PRIVILEGE, "mount"),
    ],
)
def test_a_refusal_after_a_flood_is_on_record(
    jail: Sandbox, attempt: str, kind: AttemptKind, target: str
) -> None:
    done = jail.run(Program("python", _FLOOD + attempt))
    assert Attempt(kind, target, allowed=False) in done.attempts
    assert not done.attempts_whole


def test_a_program_started_by_its_descriptor_alone_is_on_record(jail: Sandbox) -> None:
    done = jail.run(
        Program("python", "import os\nos.execve(os.open('/bin/true', os.O_RDONLY), ['true'], {})")
    )
    assert [(each.kind, each.allowed) for each in done.attempts] == [(AttemptKind.PROCESS, True)]
    assert done.attempts[0].target.endswith("/bin/true")


def test_names_of_any_bytes_that_a_program_leaves_make_no_frame_too_large(jail: Sandbox) -> None:
    source = """
import os
for number in range(900):
    os.makedirs(b"/".join([b"\\xff" * 200] * 8 + [b"%d" % number]), exist_ok=True)
    open(b"/".join([b"\\xff" * 200] * 8 + [b"%d" % number, b"\\xff" * 200]), "w").close()
"""
    done = jail.run(Program("python", source))
    assert done.failure_class is FailureClass.OK
    assert 0 < len(done.files) < 900


@pytest.mark.parametrize(
    "source",
    [
        f"import os, shutil\nfor d in {_REMOVABLE}: shutil.rmtree(f'/box/{{d}}', True)",
        "import ctypes\nopen('f', 'w').close()\nctypes.CDLL(None).truncate(b'f', ctypes.c_long(-1))",
        "import os\nos.symlink('a', 'a')\ntry: open('a')\nexcept OSError: pass",
    ],
    ids=["no work directory", "negative size", "a link to itself"],
)
def test_hostile_arguments_break_no_supervisor_and_are_no_attempt(jail: Sandbox, source: str) -> None:
    done = jail.run(Program("python", source))
    assert (done.failure_class, done.attempts, done.attempts_whole) == (FailureClass.OK, (), True)


def test_each_message_of_one_call_is_on_record(jail: Sandbox) -> None:
    source = """
import ctypes, socket, struct
plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def address(host):
    return ctypes.create_string_buffer(struct.pack("=H", 2) + struct.pack("!H", 99) + bytes(host))
both = [address((127, 0, 0, 1)), address((203, 0, 113, 9))]
piece = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(both[0]), 4))
heads = [
    struct.pack("=QI4xQQQQi4xI4x", ctypes.addressof(one), 16, ctypes.addressof(piece), 1, 0, 0, 0, 0)
    for one in both
]
ctypes.CDLL(None).sendmmsg(plain.fileno(), ctypes.create_string_buffer(b"".join(heads)), 2, 0)
"""
    done = jail.run(Program("python", source))
    assert Attempt(AttemptKind.NETWORK, "203.0.113.9:99", allowed=False) in done.attempts


def test_files_of_a_directory_that_a_call_takes_for_its_root_are_the_program_s_own(jail: Sandbox) -> None:
    source = """
import ctypes, os, struct
os.makedirs("root/etc")
with open("root/etc/passwd", "w") as file: file.write("mine")
os.symlink("/etc/passwd", "root/link")
os.symlink("../../etc", "root/up")
root = os.open("root", os.O_PATH)
how = struct.pack("QQQ", 0, 0, 16)
for path in (b"/etc/passwd", b"../../etc/passwd", b"link", b"/up/passwd"):
    print(os.read(ctypes.CDLL(None).syscall(437, root, path, how, 24), 9).decode())
"""
    execution = jail.run(Program("python", source))
    assert (execution.stdout, execution.attempts) == ("mine\n" * 4, ())
