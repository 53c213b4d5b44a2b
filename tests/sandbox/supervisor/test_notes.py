# ruff: noqa: E501 - programs keep their lines
"""Harm, not touch: what is a note of a program, what is an attempt, and what it finds of the machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from spanproof.sandbox import (
    Attempt,
    AttemptKind,
    Execution,
    ExecutionNote,
    FailureClass,
    Limits,
    NoteKind,
    Program,
    Sandbox,
    SessionSpec,
    ToolAnswer,
)
from spanproof.sandbox.guest.outcome import build_execution
from spanproof.sandbox.guest.wire import FROM_SUPERVISOR, encode_frame
from spanproof.sandbox.places import PROBED, WRITABLE, is_sensitive
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.fixtures.machine import PROCESSORS, build_texts
from spanproof.sandbox.supervisor.record import Record


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox() as sandbox:
        yield sandbox


def run_step(jail: Sandbox, source: str) -> Execution:
    session = jail.session(SessionSpec(), lambda _request: ToolAnswer())
    try:
        execution = session.execute(source)
    finally:
        session.close()
    return session.amended().get(0, execution)


@pytest.mark.parametrize(
    "path",
    [
        "/root/.ssh/id_rsa",
        "/home",
        "/home/ann/notes.txt",
        "/home/ann/.config/gh/hosts.yml",
        "/Users/ann/Library/Keychains/login.keychain-db",
        "/home/ann/id_rsa",
        "/opt/app/secrets.yaml",
        "/opt/app/config/credentials.json",
        "/srv/tls/server.crt",
        "/mnt/usb/server.key",
        "/mnt/vault/token",
        "/var/lib/postgresql/15/main/pg_hba.conf",
        "/var/log/auth.log.1",
        "/var/backups/shadow.bak",
        "/srv/app/.env",
        "/opt/x/.aws/credentials",
        "/etc/shadow",
        "/etc/ssl/private/key.pem",
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
        "/root/a\nb",
        "/proc/kcore",
        "/dev/sda",
    ],
)
def test_a_place_that_holds_what_is_not_the_program_s_is_sensitive(path: str) -> None:
    assert is_sensitive(path)
    assert not PROBED.fullmatch(path)


@pytest.mark.parametrize(
    "path", ["/etc/wgetrc", "/etc/pip.conf", "/etc/R/Rprofile.site", "/etc/postgresql/15", "/etc/my.cnf"]
)
def test_the_start_file_of_a_tool_is_looked_for_by_the_tool(path: str) -> None:
    assert PROBED.fullmatch(path)
    assert not is_sensitive(path)


def test_what_the_directory_of_a_server_holds_is_looked_for_by_no_tool() -> None:
    assert not PROBED.fullmatch("/etc/postgresql/15/main/pg_hba.conf")
    assert not PROBED.fullmatch("/etc/mysql/debian.cnf")


@pytest.mark.parametrize(
    "path",
    [
        "/data/in.csv",
        "/data/tokenizer.json",
        "/srv/report.txt",
        "/opt/model.bin",
        "/etc/app.toml",
        "/var/app.log",
        "/var/log/app/error.log",
        "/mnt/backup",
    ],
)
def test_any_other_place_is_not(path: str) -> None:
    assert not is_sensitive(path)


def test_a_look_is_a_note_where_nothing_lies_and_an_attempt_where_something_may() -> None:
    record = Record()
    for _ in range(2):
        record.record_look("/data/in.csv")
    header = {**record.to_header(), "status": 0, "outcome": "finished"}
    nowhere = build_execution(header, [], Limits(), may_exist=lambda _path: False)
    assert (nowhere.attempts, nowhere.notes) == ((), (ExecutionNote(NoteKind.MISSING_FILE, "/data/in.csv"),))
    assert nowhere.notes[0].count == 2
    somewhere = build_execution(header, [], Limits(), may_exist=lambda _path: True)
    assert somewhere.attempts == (Attempt(AttemptKind.FILE, "/data/in.csv", allowed=False),)
    assert somewhere.notes == ()


def test_a_look_before_a_write_at_the_same_path_is_part_of_the_attempt() -> None:
    record = Record()
    record.record_look("/data/x")
    record.add_attempt("file", "/data/x", allowed=False)
    record.record_look("/data/x")
    header = record.to_header()
    assert (header["attempts"], header["looks"]) == ([["file", "/data/x", False, 3]], [])


def test_names_that_take_twelve_bytes_a_character_fit_a_frame_with_all_that_is_recorded() -> None:
    record = Record()
    for number in range(2000):
        name = f"/{number}" + "\U0001f600" * 1000
        record.record_look(name)
        for kind in ("file", "process", "network", "privilege"):
            for allowed in (True, False):
                record.add_attempt(kind, f"{name}{allowed}", allowed=allowed, missing=not allowed)
    assert len(encode_frame(record.to_header())) < FROM_SUPERVISOR.header


def test_a_thousand_long_names_lose_no_attempt(jail: Sandbox) -> None:
    source = """
import os
try: open("/etc/shadow")
except OSError: pass
deep = b"/".join([b"\\xff" * 250] * 15)
os.makedirs(deep)
for number in range(1000): open(deep + b"/%d" % number + b"\\xff" * 200, "w").close()
"""
    execution = jail.run(Program("python", source))
    assert (AttemptKind.FILE, "/etc/shadow") in [(each.kind, each.target) for each in execution.attempts]
    assert 0 < len(execution.files) < 1000


def test_the_machine_is_the_same_in_every_run_and_says_nothing_of_this_one(jail: Sandbox) -> None:
    source = "import os\nprint(os.uname(), os.cpu_count())\nfor path in PATHS: print(open(path).read())"
    paths = sorted(path for path, text in build_texts().items() if text)
    first, second = (jail.run(Program("python", source.replace("PATHS", repr(paths)))) for _ in range(2))
    assert (first.failure_class, first.attempts) == (FailureClass.OK, ())
    assert first.stdout == second.stdout
    assert first.stdout.startswith("posix.uname_result(sysname='Linux', nodename='sandbox', release='6.1.0'")
    assert f" {PROCESSORS}\n" in first.stdout.splitlines(keepends=True)[0]


def test_a_program_cannot_change_what_the_next_one_finds_of_the_machine(jail: Sandbox) -> None:
    source = """
import os
fd = os.open("/proc/meminfo", os.O_RDONLY)
for attempt in (
    lambda: os.write(fd, b"x"),
    lambda: os.write(os.open(f"/proc/self/fd/{fd}", os.O_RDWR), b"x"),
    lambda: os.ftruncate(fd, 0),
    lambda: os.ftruncate(os.open(f"/proc/self/fd/{fd}", os.O_RDWR), 0),
):
    try: attempt(); print("BREACH")
    except OSError: pass
print(open("/proc/meminfo").read() == os.pread(fd, 1 << 16, 0).decode())
"""
    assert jail.run(Program("python", source)).stdout == "True\n"


@pytest.mark.parametrize("place", WRITABLE)
def test_a_cache_of_the_machine_is_an_empty_directory_of_the_run(jail: Sandbox, place: str) -> None:
    source = f"import os\nprint(os.listdir({place!r})); open({place!r} + '/x', 'w').write('x')"
    for _ in range(2):
        execution = jail.run(Program("python", source))
        assert (execution.stdout, execution.attempts) == ("[]\n", ())


def test_git_and_version_1_uuids_are_no_attempts(jail: Sandbox) -> None:
    commit = "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"
    for program in (Program("bash", commit), Program("python", "import uuid; uuid.uuid1()")):
        execution = jail.run(program)
        assert execution.failure_class is FailureClass.OK, execution.stderr
        assert not [each for each in execution.attempts if not each.allowed]


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("threading.Timer(60, print).start()", "thread"),
        ("threading.Thread(target=queue.Queue().get, daemon=True).start()", "thread"),
        ("subprocess.Popen(['sleep', '60'])", "process"),
    ],
)
def test_what_waits_when_a_session_ends_is_noted_and_no_doubt(jail: Sandbox, source: str, left: str) -> None:
    execution = run_step(jail, f"import queue, subprocess, threading\n{source}\nNone")
    assert execution.attempts_whole
    assert not [each for each in execution.attempts if not each.allowed]
    assert execution.notes == (ExecutionNote(NoteKind.LEFT_RUNNING, left),)


def test_what_is_refused_as_a_session_s_interpreter_ends_is_on_record(jail: Sandbox) -> None:
    source = "class A:\n    def __del__(self, open=open): open('/etc/shadow')\na = A()"
    assert Attempt(AttemptKind.FILE, "/etc/shadow", allowed=False) in run_step(jail, source).attempts


def test_what_utf_8_has_no_form_for_is_printed_escaped_in_a_session(jail: Sandbox) -> None:
    execution = run_step(jail, "print('a\\ud83d')")
    assert (execution.failure_class, execution.stdout) == (FailureClass.OK, "a\\ud83d\n")


ENDS = {
    "a file that is not closed": "f = open('x', 'w'); f.write('hello')",
    "json": "import json\nf = open('x', 'w'); json.dump({'a': 1}, f)",
    "gzip": "import gzip\nf = gzip.GzipFile('x', 'wb', mtime=0); f.write(b'x' * 99)",
    "an archive": "import zipfile\nz = zipfile.ZipFile('x', 'w'); z.writestr('a', 'b' * 99)",
    "stdout that is a file": "import sys\nsys.stdout = open('x', 'w'); print('hello')",
    "a generator": "def g():\n    try: yield\n    finally: print('closed')\nx = g(); next(x)",
    "an object in a cycle": "class A:\n    def __del__(self): print('gone')\na = A(); a.me = a",
    "objects by name": "class A:\n    def __init__(self, n): self.n = n\n    def __del__(self): print(self.n)\na, _b, c = A(1), A(2), [A(3)]",
    "a class that is not tracked": "class A:\n    __slots__ = ()\n    def __del__(self): print('gone')\na = A()",
    "an exit function before a frame": "import atexit\nclass A:\n    def __del__(self): print('gone')\ndef f(): a = A(); 1 / 0\natexit.register(print, 'bye')\nf()",
    "a thread before an object": "import threading, time\nclass A:\n    def __del__(self): print('gone')\na = A()\nthreading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()",
    "a module of its own": "open('m.py', 'w').write('f = open(\"x\", \"w\"); f.write(\"m\")'); import sys; sys.path.insert(0, ''); import m",
}  # fmt: skip


@pytest.mark.parametrize("source", ENDS.values(), ids=ENDS)
def test_a_program_ends_as_the_interpreter_ends_it(
    jail: Sandbox, source: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("plain")
    plain = subprocess.run(
        [sys.executable, "-B", "-c", source], cwd=directory, capture_output=True, text=True, check=False
    )
    execution = jail.run(Program("python", source))
    assert (execution.stdout, execution.exit_code) == (plain.stdout, plain.returncode)
    assert execution.files == {path.name: path.stat().st_size for path in directory.iterdir()}


@pytest.mark.parametrize(
    "path",
    [
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/podman/podman.sock",
        "/run/containerd/containerd.sock",
        "/run/user/1000/bus",
        "/run/systemd/private",
    ],
)
def test_asking_for_a_service_that_starts_things_is_an_attempt(jail: Sandbox, path: str) -> None:
    source = f"import socket\ntry: socket.socket(socket.AF_UNIX).connect({path!r})\nexcept OSError: pass"
    refused = [(each.kind, each.target) for each in jail.run(Program("python", source)).attempts]
    assert refused == [(AttemptKind.FILE, path)]


def test_a_secret_that_an_orchestrator_mounts_is_an_attempt(jail: Sandbox) -> None:
    execution = jail.run(Program("python", "try: open('/run/secrets/token')\nexcept OSError: pass"))
    assert [each.target for each in execution.attempts] == ["/run/secrets/token"]


def test_what_a_program_puts_below_run_is_its_own(jail: Sandbox) -> None:
    source = """
import os, socket
open("/run/app.pid", "w").write("7"); print(open("/run/app.pid").read())
os.makedirs("/run/user/1000")
server = socket.socket(socket.AF_UNIX); server.bind("/run/user/1000/bus"); server.listen()
socket.socket(socket.AF_UNIX).connect("/run/user/1000/bus"); print(sorted(os.listdir("/run")))
"""
    execution = jail.run(Program("python", source))
    assert (execution.stdout, execution.attempts) == ("7\n['app.pid', 'user']\n", ())


def test_a_search_along_a_path_of_the_program_s_own_is_no_attempt(jail: Sandbox) -> None:
    source = """
mkdir -p bin tools && printf '#!/bin/sh\\necho found\\n' > tools/greet && chmod +x tools/greet
PATH=$PWD/bin:$PWD/tools:/node_modules/.bin:$PATH env greet
"""
    execution = jail.run(Program("bash", source))
    assert execution.stdout == "found\n"
    assert [each for each in execution.attempts if not each.allowed] == []


def test_starting_a_program_that_lies_nowhere_is_an_attempt(jail: Sandbox) -> None:
    source = "import subprocess\ntry: subprocess.run(['/opt/evil'])\nexcept OSError: pass"
    attempts = jail.run(Program("python", source)).attempts
    assert attempts == (Attempt(AttemptKind.PROCESS, "/opt/evil", allowed=False),)
