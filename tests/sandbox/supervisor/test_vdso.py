"""The code in the place of the vDSO's: run for real on this machine, and read bit by bit for aarch64."""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox.supervisor.fixtures import vdso
from spanproof.sandbox.supervisor.fixtures.stubs import AARCH64, STUBS, X86_64, Stubs

NANO = 1_000_000_000


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_int64), ("rest", ctypes.c_int64))


@pytest.fixture
def run_here():
    """Machine code of ours, callable: the label's function in memory of this process."""
    pages = []

    def callable_at(code: bytes, offset: int, *types: type) -> object:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(code)
        pages.append(page)
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        return ctypes.CFUNCTYPE(ctypes.c_long, *types)(address + offset)

    return callable_at


def _here() -> Stubs:
    return STUBS[platform.machine()]


def test_the_code_gives_the_time_by_its_three_numbers(run_here) -> None:
    stubs, start_ns = _here(), 1_500_000_000 * NANO
    code = stubs.encode_clock(time.time_ns(), start_ns, 0.0)
    spec = _Timespec()
    clock_gettime = run_here(code, stubs.labels["clock_gettime"], ctypes.c_int, ctypes.c_void_p)
    for clock in (time.CLOCK_REALTIME, 5, time.CLOCK_TAI):
        assert clock_gettime(clock, ctypes.addressof(spec)) == 0
        assert (spec.seconds, spec.rest) == (1_500_000_000, 0)
    gettimeofday = run_here(code, stubs.labels["gettimeofday"], ctypes.c_void_p, ctypes.c_void_p)
    assert gettimeofday(ctypes.addressof(spec), None) == 0
    assert (spec.seconds, spec.rest) == (1_500_000_000, 0)
    assert gettimeofday(None, None) == 0
    if "time" in stubs.labels:
        assert run_here(code, stubs.labels["time"], ctypes.c_void_p)(None) == 1_500_000_000
        assert run_here(code, stubs.labels["time"], ctypes.c_void_p)(ctypes.addressof(spec)) == 1_500_000_000
        assert spec.seconds == 1_500_000_000


def test_other_clocks_and_errors_are_the_kernel_s(run_here) -> None:
    stubs = _here()
    code = stubs.encode_clock(time.time_ns(), 0, 0.0)
    clock_gettime = run_here(code, 0, ctypes.c_int, ctypes.c_void_p)
    spec = _Timespec()
    before = time.monotonic_ns()
    assert clock_gettime(time.CLOCK_MONOTONIC, ctypes.addressof(spec)) == 0
    assert before <= spec.seconds * NANO + spec.rest <= time.monotonic_ns()
    assert clock_gettime(99, ctypes.addressof(spec)) == -22
    assert clock_gettime(0, 8) == -14


@given(
    start_ns=st.integers(0, 2**62),
    ago_ns=st.integers(0, 3600 * NANO),
    rate=st.floats(0, 100_000, allow_nan=False),
)
def test_the_clock_runs_at_its_rate(start_ns: int, ago_ns: int, rate: float) -> None:
    stubs = _here()
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    before = time.time_ns()
    page.write(stubs.encode_clock(before - ago_ns, start_ns, rate))
    spec = _Timespec()
    function = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_int, ctypes.c_void_p)
    assert function(ctypes.addressof(ctypes.c_char.from_buffer(page)))(0, ctypes.addressof(spec)) == 0
    fixed = int(rate * 2**32)
    least = start_ns + (ago_ns * fixed >> 32)
    most = start_ns + ((ago_ns + time.time_ns() - before) * fixed >> 32)
    assert least <= spec.seconds * NANO + spec.rest <= most
    assert 0 <= spec.rest < NANO


def test_random_bytes_are_requested_of_the_kernel(run_here) -> None:
    types = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t)
    getrandom = run_here(_here().getrandom, 0, *types)
    buffer = ctypes.create_string_buffer(32)
    assert getrandom(ctypes.addressof(buffer), 32, 0, None, 0) == 32
    assert buffer.raw != bytes(32)
    assert getrandom(None, 0, 0, None, 2**64 - 1) == -38  # libc finds out so whether it may keep a state


def test_the_image_of_this_machine_has_room_for_the_clock() -> None:
    image, stubs = vdso.read_own_image(), _here()
    patch = vdso.build_clock_patch(image, stubs, 1, 2, 1.0)
    for offset, data in patch.writes:
        assert 0 < offset <= offset + len(data) <= image.size
    assert len(patch.writes[0][1]) == len(stubs.clock)


@pytest.mark.parametrize("stubs", [X86_64, AARCH64], ids=lambda stubs: stubs.machine)
def test_where_the_function_is_too_small_the_code_lies_behind_the_image(stubs: Stubs) -> None:
    small = {name: (0x800 + 64 * index, 40) for index, name in enumerate(stubs.names)}
    patch = vdso.build_clock_patch(vdso.Image(small, 0x1A25, 0x2000), stubs, 1, 2, 1.0)
    place, code = patch.writes[0]
    assert place == 0x1A30
    assert len(code) == len(stubs.clock)
    for offset, jump in patch.writes[1:]:
        assert offset + len(jump) <= offset + 40
    assert len(patch.writes) == len(stubs.names)  # the code, and a jump from each but getrandom
    with pytest.raises(OSError, match="no room"):
        vdso.build_clock_patch(vdso.Image(small, 0x1FF0, 0x2000), stubs, 1, 2, 1.0)


def test_jumps_reach_their_target() -> None:
    code, distance = X86_64.encode_jump(0x123), 0x123
    assert code[:1] == b"\xe9"
    assert struct.unpack("<i", code[1:])[0] + len(code) == distance
    for distance in (0x400, -0x400):
        landing, branch = struct.unpack("<II", AARCH64.encode_jump(distance))
        assert landing == 0xD503245F  # bti c
        assert branch >> 26 == 0b000101
        offset = branch & 0x3FFFFFF
        assert 4 + 4 * (offset - (1 << 26) if offset >> 25 else offset) == distance


def test_aarch64_code_is_whole_words_with_its_numbers_aligned_and_its_calls_right() -> None:
    words = struct.unpack(f"<{len(AARCH64.code) // 4}I", AARCH64.code)
    assert AARCH64.labels["began"] % 8 == 0
    calls = {words[index - 1] for index, word in enumerate(words) if word == 0xD4000001}  # svc #0
    numbers = {word >> 5 & 0xFFFF for word in calls if word & 0xFFE0001F == 0xD2800008}  # mov x8, #number
    assert numbers == {113, 169, 278}
    shown = AARCH64.labels["shown"] // 4
    branches = [(at, word & 0x3FFFFFF) for at, word in enumerate(words) if word >> 26 == 0b100101]  # bl
    assert [at + offset for at, offset in branches] == [shown, shown]
