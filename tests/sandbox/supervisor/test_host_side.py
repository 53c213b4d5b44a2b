"""The host's side of a guest takes anything: held calls, what a guest says of itself, the files it leaves."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproof.sandbox import kernel
from spanproof.sandbox.guest.wire import FROM_GUEST, BadFrame, Decoder, Frame, encode_frame
from spanproof.sandbox.supervisor.namespaces.dns_stub import DnsStub
from spanproof.sandbox.supervisor.namespaces.process_tree import Namespace
from spanproof.sandbox.supervisor.namespaces.root import read_regular_files
from spanproof.sandbox.supervisor.reduced.box import Directory
from spanproof.sandbox.supervisor.reduced.paths import ReducedBoundary
from spanproof.sandbox.supervisor.reduced.watcher import GuardedWatcher
from spanproof.sandbox.supervisor.run import guest_report as guest_report
from spanproof.sandbox.supervisor.run.steps import SessionRun
from spanproof.sandbox.supervisor.seccomp.notifications import Notification
from spanproof.sandbox.supervisor.seccomp.paths import Boundary
from spanproof.sandbox.supervisor.seccomp.rules import REFUSED, WATCHED
from spanproof.sandbox.supervisor.seccomp.syscalls import find_arch
from spanproof.sandbox.supervisor.seccomp.watcher import Watcher

from .begun import Alone, begun_in

ARCH = find_arch()
assert ARCH is not None
HELD = sorted(
    (
        WATCHED
        | REFUSED
        | {"socket", "sendto", "mmap", "mremap", "kill", "prctl", "getpeername", "getsockname"}
        | {"recvfrom", "recvmsg"}
    )
    & set(ARCH.numbers)
)
calm = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], deadline=None
)


@pytest.fixture(scope="module")
def page() -> Iterator[tuple[int, mmap.mmap]]:
    """A page of memory, and none after it: what lies at its end can be read in part only."""
    size = mmap.PAGESIZE
    pages = mmap.mmap(-1, 2 * size)
    address = ctypes.addressof(view := ctypes.c_char.from_buffer(pages))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    assert libc.mprotect(address + size, size, 0) == 0
    yield address, pages
    assert libc.mprotect(address + size, size, mmap.PROT_READ | mmap.PROT_WRITE) == 0
    del view
    pages.close()


@pytest.fixture(params=["full", "reduced"])
def new_watcher(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Watcher]:
    """Makes the handler of a tier; the reduced one's does in `tmp_path` what is requested."""
    assert ARCH is not None
    if request.param == "full":
        return lambda: Watcher(ARCH, Boundary(("/usr",), "/usr/bin"), Namespace())
    tree = Alone(own_user=False)
    box = Directory(str(tmp_path), tree)
    box.start_empty(1 << 20)
    boundary = ReducedBoundary(str(tmp_path), (sys.prefix,), "/usr/bin")
    return lambda: GuardedWatcher(ARCH, boundary, tree, box, DnsStub())


@pytest.mark.parametrize("name", ["openat", "connect", "flock", "execveat"])
def test_what_a_process_does_that_may_not_be_looked_at_is_refused_and_the_record_says_so(
    new_watcher: Callable[[], Watcher], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refuse(*_arguments: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "not to be looked at")

    watcher = new_watcher()
    with monkeypatch.context() as patch:
        for module, function in ((kernel, "_read_vectors"), (os, "open"), (os, "lstat")):
            patch.setattr(module, function, refuse)
        assert ARCH is not None
        call = Notification(1, os.getpid(), ARCH.numbers[name], ARCH.audit, (3, 1 << 20, 16, 0, 0, 0))
        answer = watcher._handle_call(call)
    assert answer.error == errno.EPERM
    assert watcher.record.unjudged == 1


words = st.one_of(
    st.integers(0, 0xFFFF),
    st.integers(0, (1 << 64) - 1),
    st.sampled_from([0xFFFFFFFFFFFFFF9C, 0xFFFFFF9C, (1 << 64) - 1, 1 << 63, 0x7FFFFFFFF000]),
)


paths_in_memory = st.text(st.sampled_from("/.abcprocself1\0\udc80é"), max_size=60).map(
    lambda text: text.encode("utf-8", "surrogateescape")
)
addresses_in_memory = st.builds(
    lambda family, rest: family.to_bytes(2, "little") + rest,
    st.sampled_from([0, 1, 2, 10, 16, 40]),
    st.binary(max_size=30),
)


@calm
@given(
    name=st.sampled_from(HELD),
    args=st.lists(words, min_size=6, max_size=6),
    pointing=st.lists(st.integers(0, 5), max_size=4),
    content=st.one_of(st.binary(max_size=200), paths_in_memory, addresses_in_memory),
    at_the_end=st.booleans(),
    memory=st.integers(0, 1 << 40),
)
def test_any_held_call_gets_an_answer(
    page: tuple[int, mmap.mmap],
    new_watcher: Callable[[], Watcher],
    name: str,
    args: list[int],
    pointing: list[int],
    content: bytes,
    at_the_end: bool,
    memory: int,
) -> None:
    address, pages = page
    start = mmap.PAGESIZE - len(content) if at_the_end else 0
    pages[start : start + len(content)] = content
    for number in pointing:
        args[number] = address + start
    assert ARCH is not None
    watcher = new_watcher()
    watcher.memory_bytes = memory
    answer = watcher._handle_call(Notification(1, os.getpid(), ARCH.numbers[name], ARCH.audit, tuple(args)))
    if answer.descriptor is not None:
        os.close(answer.descriptor)
    assert 0 <= answer.error < 4096
    assert watcher.record.unjudged == 0 or name == "sendmmsg", "a handler failed"
    for kind, target, allowed, count in watcher.record.list_rows():
        assert kind in ("network", "file", "process", "privilege")
        assert isinstance(target, str)
        assert target.encode(errors="surrogateescape") is not None
        assert isinstance(allowed, bool)
        assert count == 1


@calm
@given(
    name=st.sampled_from(["sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "connect", "bind"]),
    args=st.lists(words, min_size=5, max_size=5),
    pointing=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 250)), max_size=5),
    content=st.lists(st.one_of(st.none(), st.integers(0, 600), words, addresses_in_memory), max_size=12),
    waiting=st.binary(max_size=100),
    at_the_end=st.booleans(),
)
def test_any_call_on_a_datagram_s_socket_gets_an_answer(
    page: tuple[int, mmap.mmap],
    tmp_path: Path,
    name: str,
    args: list[int],
    pointing: list[tuple[int, int]],
    content: list[int | bytes | None],
    waiting: bytes,
    at_the_end: bool,
) -> None:
    assert ARCH is not None
    address, pages = page
    tree = Alone(own_user=False)
    boundary = ReducedBoundary(str(tmp_path), (sys.prefix,), "/usr/bin")
    watcher = GuardedWatcher(ARCH, boundary, tree, Directory(str(tmp_path), tree), DnsStub())
    made = Notification(1, os.getpid(), ARCH.numbers["socket"], ARCH.audit, (2, 2, 0, 0, 0, 0))
    given_fd = watcher._handle_call(made).descriptor
    assert given_fd is not None
    text = b""
    for one in content:
        word = address if one is None else one  # a pointer to the page itself
        text += word.to_bytes(8, "little") if isinstance(word, int) else word
    start = mmap.PAGESIZE - len(text) if at_the_end else 0
    pages[start : start + len(text)] = text
    args = [given_fd, *args]
    for number, offset in pointing:
        args[1 + number] = address + start + offset
    try:
        if waiting:
            os.write(given_fd, waiting)
        call = Notification(2, os.getpid(), ARCH.numbers[name], ARCH.audit, tuple(args))
        assert 0 <= watcher._handle_call(call).error < 4096
    finally:
        os.close(given_fd)
        watcher.start_run(-1)


def test_times_that_begin_at_the_end_of_memory_are_a_bad_pointer(
    page: tuple[int, mmap.mmap], tmp_path: Path
) -> None:
    assert ARCH is not None
    tree = Alone(own_user=False)
    boundary = ReducedBoundary(str(tmp_path), (sys.prefix,), "/usr/bin")
    watcher = GuardedWatcher(ARCH, boundary, tree, Directory(str(tmp_path), tree), DnsStub())
    args = (0, 0, page[0] + mmap.PAGESIZE - 8, 0, 0, 0)
    call = Notification(1, os.getpid(), ARCH.numbers["utimensat"], ARCH.audit, args)
    assert watcher._handle_call(call).error == errno.EFAULT


def test_a_message_that_begins_at_the_end_of_memory_is_a_bad_pointer(page: tuple[int, mmap.mmap]) -> None:
    assert ARCH is not None
    watcher = Watcher(ARCH, Boundary(("/usr",), "/usr/bin"), Namespace())
    args = (3, page[0] + mmap.PAGESIZE - 8, 0, 0, 0, 0)
    call = Notification(1, os.getpid(), ARCH.numbers["sendmsg"], ARCH.audit, args)
    assert watcher._handle_call(call).error == errno.EFAULT


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
message_header = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["finished", "raised", "syntax", "judge", "inside", "planned", "test", "x"])
        | anything,
        "token": st.just("right") | anything,
        "total": anything,
        "number": anything,
        "passed": anything,
        "raised": anything,
        "hidden": anything,
    },
)


@calm
@given(st.lists(message_header, max_size=12))
def test_anything_may_be_said_and_no_test_passes_for_it(messages: list[dict[str, object]]) -> None:
    heard = guest_report.GuestReport("right", guest_report.HiddenTests(b"assert True", b"", None, []))
    for message in messages:
        heard.handle(message)
    # The token of the tests' process was never shown.
    assert not {"tests_total", "tests_passed", "tests_failed"} & heard.to_header().keys()


@calm
@given(st.lists(st.binary(max_size=100) | message_header.map(encode_frame), max_size=6), st.data())
def test_a_control_channel_of_anything_ends_in_messages_or_a_refusal(
    pieces: list[bytes], data: st.DataObject
) -> None:
    decoder, heard, stream = Decoder(FROM_GUEST), guest_report.GuestReport("right", None), b"".join(pieces)
    try:
        while stream:
            cut = data.draw(st.integers(1, len(stream)))
            decoder.add_bytes(stream[:cut])
            stream = stream[cut:]
            while (frame := decoder.find_frame()) is not None:
                heard.handle(frame.header)
    except BadFrame:
        return


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> SessionRun:
    """A session that has begun, seen from its supervisor."""
    return begun_in(tmp_path_factory.mktemp("box"))[0]


in_a_session = message_header.map(lambda message: {**message, "token": "right"})
of_a_session = st.fixed_dictionaries(
    {"kind": st.sampled_from(["call", "step", "ready"]), "token": st.just("right")},
    optional=dict.fromkeys(("step", "call", "tool", "args", "kwargs", "result", "text"), anything),
)


@calm
@given(st.lists(in_a_session | of_a_session, max_size=8), st.booleans())
def test_a_session_may_be_sent_anything_and_no_step_ends_for_it(
    session: SessionRun, messages: list[dict[str, object]], begun: bool
) -> None:
    if begun:
        session._handle_frame(Frame({"kind": "step"}, (b"1",)))
    running = session._in_step
    for message in messages:
        session._handle(message)
    session._clock.close_pause()
    assert session._in_step is running  # the secret name of the step was never shown


names = st.text(st.characters(blacklist_characters="/\0", max_codepoint=0x2FFF), min_size=1, max_size=20)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.sampled_from(["file", "link", "loop", "directory", "pipe", "unreadable"]), names),
        max_size=12,
        unique_by=lambda pair: pair[1],
    )
)
def test_any_directory_can_be_listed_and_no_link_is_followed(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, str]]
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("x")
    work = place = tmp_path_factory.mktemp("work")
    wanted: dict[str, int] = {}
    makers: dict[str, Callable[[Path], object]] = {
        "link": lambda path: path.symlink_to(outside),
        "loop": lambda path: path.symlink_to(path),
        "pipe": os.mkfifo,
        "directory": Path.mkdir,
        "unreadable": lambda path: path.mkdir(0),
        "file": lambda path: path.write_bytes(b"xy"),
    }
    for kind, name in made:
        path = place / name
        if name in (".", "..") or len(os.fsencode(path)) > 900:
            continue
        makers[kind](path)
        if kind == "file":
            wanted[str(path.relative_to(work))] = 2
        if kind == "directory":
            place = path
    assert read_regular_files(str(work)) == wanted
