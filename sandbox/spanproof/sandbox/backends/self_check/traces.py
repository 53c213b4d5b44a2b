"""Promises that no byte of one job can be read in the next one, nor a hidden test by the program it tests.

A marker is put into everything that a job consists of, and into everything a program can leave: files, the
environment, memory that processes share, queues, names of sockets. The next program searches its memory,
environment, descriptors, files and shared memory for it. It knows the marker in two pieces only, so that it
does not find its own text.
"""

from __future__ import annotations

import secrets
import sys
from contextlib import suppress
from dataclasses import replace

from spanproof.sandbox.backend import Sandbox
from spanproof.sandbox.backends.self_check.promise import Promise, check_holds
from spanproof.sandbox.errors import UnsupportedFixtures
from spanproof.sandbox.model import Exchange, Fixtures, Program, SessionSpec, ToolAnswer

_LEAVES = r"""
import ctypes, mmap, os, socket, tempfile
text = input()
libc, kept = ctypes.CDLL(None, use_errno=True), []
def leave_file(): open('left.txt', 'w').write('{m}left')
def leave_removed_file():
    kept.append(tempfile.TemporaryFile()); kept[-1].write(b'{m}removed'); kept[-1].flush()
def leave_variable(): os.environ['{m}variable'] = '{m}value'
def leave_pages(): kept.append(mmap.mmap(-1, 1 << 20)); kept[-1].write(b'{m}pages' * 1000)
def leave_shared(): open('/dev/shm/{m}shm', 'w').write('{m}shared')
def leave_segment():
    libc.shmat.restype, number = ctypes.c_void_p, libc.shmget(4711, 4096, 0o1666)
    if number >= 0: ctypes.memmove(libc.shmat(number, None, 0), b'{m}segment', 31)
def leave_message(): libc.msgsnd(libc.msgget(4712, 0o1666), b'\1' + bytes(7) + b'{m}message', 32, 0)
def leave_name(): kept.append(socket.socket(socket.AF_UNIX)); kept[-1].bind('\0{m}socket')
def leave_pipe(): kept.append(os.pipe()); os.write(kept[-1][1], b'{m}pipe')
for leave in [leave for name, leave in globals().copy().items() if name.startswith('leave_')]:
    try: leave()
    except (OSError, ValueError, ctypes.ArgumentError): pass
print('{m}output', text)
def f(): return 1
"""
_SEARCHES = r"""
import ctypes, os, re
head, tail = b"@HEAD", b"@TAIL"[::-1]
found = set()
def look(data, where):
    at = data.find(head)
    while at >= 0:
        end = at + len(head) + len(tail)
        rest = at + len(head)
        if all(data[rest + n : rest + n + 1] == tail[n : n + 1] for n in range(len(tail))):
            found.add((where, re.match(rb"\w{0,12}", data[end : end + 12])[0].decode()))
        at = data.find(head, at + 1)
def memory():
    regions = re.findall(r"^(\w+)-(\w+) (?:rw|r..s)", open("/proc/self/maps").read(), re.M)
    try: mem = os.open("/proc/self/mem", os.O_RDONLY)
    except OSError: mem = None
    for start, end in regions:
        at, end = int(start, 16), int(end, 16)
        while at < end:
            size = min(1 << 20, end - at)
            try: data = os.pread(mem, size + 64, at) if mem is not None else ctypes.string_at(at, size)
            except OSError: data = b""
            look(data, "memory")
            at += size
def files():
    for name in ("/proc/sysvipc/shm", "/proc/sysvipc/msg", "/proc/net/unix", "/proc/keys", "/proc/locks"):
        try: look(open(name, "rb").read(), name)
        except OSError: pass
    for top in (os.getcwd(), os.path.dirname(os.getcwd()), "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue"):
        for directory, inner, names in os.walk(top):
            if directory.endswith("@PREFIX"):  # the libraries of an interpreter that lies there
                inner.clear()
                continue
            for name in names:
                look(os.path.join(directory, name).encode(errors="replace"), "name")
                try: look(open(os.path.join(directory, name), "rb").read(1 << 20), "file")
                except OSError: pass
look(repr(dict(os.environ)).encode(), "environment")
for fd in range(1024):
    try:
        look(os.readlink(f"/proc/self/fd/{fd}").encode(), "descriptor")
        look(os.pread(fd, 1 << 20, 0), "what a descriptor is of")
    except OSError: pass
def shared():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    for number in (libc.shmget(4711, 0, 0), *range(64)):
        libc.shmat(number, None, 0o10000)  # what is there is searched with the rest of the memory
    queue, message = libc.msgget(4712, 0), ctypes.create_string_buffer(4096)
    if queue >= 0 and libc.msgrcv(queue, message, 4000, 0, 0o4000) > 0: look(message.raw, "queue")
shared()
memory()
files()
print(sorted(found))
def f(): return 1
"""


def _build_search(marker: str) -> str:
    middle = len(marker) // 2
    filled = _SEARCHES.replace("@HEAD", marker[:middle]).replace("@TAIL", marker[middle:][::-1])
    return filled.replace('"@PREFIX"', repr(sys.prefix))


def _check_no_trace(sandbox: Sandbox) -> None:
    marker = secrets.token_hex(12)
    program = Program(
        "python",
        _LEAVES.replace("{m}", marker) + f"# {marker}source\n",
        tests=f"assert f() == 1, '{marker}test'\nassert f() != '{marker}expected'\n",
        stdin=f"{marker}input\n".encode(),
        files={f"{marker}name.txt": f"{marker}file".encode()},
    )
    _check_left(sandbox, program, marker)
    with suppress(UnsupportedFixtures):  # a seed takes another filter, so another guest
        _check_left(sandbox, replace(program, fixtures=Fixtures(seed=1)), marker)
    with suppress(UnsupportedFixtures):
        recorded = Exchange("GET", f"http://{marker}.example/{marker}url", body=f"{marker}body".encode())
        _check_left(sandbox, replace(program, fixtures=Fixtures(http=(recorded,))), marker)
    with sandbox.session(SessionSpec(), lambda _request: ToolAnswer()) as session:
        session.execute(f"x = '{marker}step'")
    _check_nothing_left(sandbox, marker)


def _check_left(sandbox: Sandbox, program: Program, marker: str) -> None:
    made = sandbox.run(program)
    check_holds(f"{marker}output" in made.stdout, made)
    _check_nothing_left(sandbox, marker)


def _check_nothing_left(sandbox: Sandbox, marker: str) -> None:
    searched = sandbox.run(Program("python", _build_search(marker)))
    check_holds(searched.stdout == "[]\n", searched)


def _check_hidden_tests(sandbox: Sandbox) -> None:
    marker = secrets.token_hex(12)
    program = Program("python", _build_search(marker), tests=f"assert f() == 1, '{marker}test'\n")
    for memory_mib in (512, 400):  # a guest is armed anew for another limit
        limits = replace(program.limits, memory_bytes=memory_mib << 20)
        searched = sandbox.run(replace(program, limits=limits))
        check_holds(searched.stdout == "[]\n", searched)


TRACES = (
    Promise(
        "no trace",
        "no byte of a job is readable in the next: source, input, files, output, tests, tape, session",
        "python",
        _check_no_trace,
    ),
    Promise("hidden tests", "a program cannot read its own hidden tests", "python", _check_hidden_tests),
)
"""Checked as all others; see `promises`."""
