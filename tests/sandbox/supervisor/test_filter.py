"""The seccomp program, run by a small interpreter of its own: for x86-64, and for aarch64 unseen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seccomp_interpreter import run_program

from spanproof.sandbox.guest.reporter import STEPS_FD
from spanproof.sandbox.supervisor.seccomp.bpf import RET_ALLOW, RET_ENOSYS, RET_EPERM, RET_NOTIFY
from spanproof.sandbox.supervisor.seccomp.conditions import LARGE_MAPPING_BYTES
from spanproof.sandbox.supervisor.seccomp.filter import build_filter, build_silent_filter
from spanproof.sandbox.supervisor.seccomp.rules import ALLOWED, CONDITIONAL, FORKS, NAMED, REFUSED, WATCHED
from spanproof.sandbox.supervisor.seccomp.syscalls import AARCH64, ARCHES, X86_64, Arch

UID = 1000
PROGRAMS = {arch.machine: build_filter(arch, UID) for arch in ARCHES.values()}


def verdict(arch: Arch, number: int, *args: int, audit: int | None = None) -> int:
    """What the kernel would do."""
    return run_program(PROGRAMS[arch.machine], arch, number, *args, audit=audit)


both = pytest.mark.parametrize("arch", [X86_64, AARCH64], ids=lambda arch: arch.machine)


@both
def test_each_named_call_is_treated_as_its_rule_says(arch: Arch) -> None:
    for names, expected in ((ALLOWED, RET_ALLOW), (WATCHED, RET_NOTIFY), (REFUSED, RET_NOTIFY)):
        for name in names & arch.numbers.keys():
            assert verdict(arch, arch.numbers[name]) == expected, name


@both
def test_where_no_listener_is_there_what_the_supervisor_would_refuse_fails(arch: Arch) -> None:
    program = build_silent_filter(arch, UID)

    def call(name: str, *args: int) -> int:
        return run_program(program, arch, arch.numbers[name], *args)

    for names, expected in ((ALLOWED, RET_ALLOW), (WATCHED, RET_ALLOW), (REFUSED, RET_EPERM)):
        for name in names & arch.numbers.keys():
            assert call(name) == expected, name
    assert call("clone", 0x01200011) == call("mmap", 0, 1 << 40, 3) == call("kill", 2, 9) == RET_ALLOW
    assert call("clone", 0x10000011) == call("socket", 17, 3, 0) == call("kill", 1, 9) == RET_EPERM
    assert call("mknodat", 0, 0, 0o060600) == call("setuid", 0) == RET_EPERM
    assert call("setuid", UID) == RET_ALLOW
    named = {arch.numbers[name] for name in NAMED & arch.numbers.keys()}
    for number in {*range(600), 1 << 30, (1 << 30) + 1} - named:
        assert run_program(program, arch, number) == RET_ENOSYS, number
    assert run_program(program, arch, arch.numbers["read"], audit=0x40000003) == RET_ENOSYS


@both
def test_every_other_number_is_unknown(arch: Arch) -> None:
    named = {arch.numbers[name] for name in NAMED & arch.numbers.keys()}
    for number in set(range(600)) - named:
        assert verdict(arch, number) == RET_ENOSYS, number


@both
def test_calls_of_another_architecture_are_reported(arch: Arch) -> None:
    assert verdict(arch, arch.numbers["read"], audit=0x40000003) == RET_NOTIFY
    assert verdict(arch, arch.numbers["read"] | 0x40000000) == RET_NOTIFY


@both
def test_arguments_decide_where_they_matter(arch: Arch) -> None:
    def call(name: str, *args: int) -> int:
        return verdict(arch, arch.numbers[name], *args)

    assert call("clone", 0x01200011) == RET_ALLOW
    assert call("clone", 0x10000011) == RET_NOTIFY
    assert call("clone", 0x00008011) == RET_NOTIFY
    assert call("socket", 2, 1 | 0o2000000, 6) == RET_ALLOW
    assert call("socket", 10, 2, 17) == RET_ALLOW
    assert call("socket", 1, 5, 0) == RET_ALLOW
    assert call("socket", 2, 3, 1) == RET_NOTIFY
    assert call("socket", 2, 1, 132) == RET_NOTIFY
    assert call("socket", 40, 1, 0) == RET_NOTIFY
    assert call("socket", 16, 3, 0) == 0x00050000 | 97
    assert call("kill", 1, 9) == RET_NOTIFY
    assert call("kill", 7, 9) == RET_ALLOW
    assert call("kill", -1, 9) == RET_ALLOW
    assert call("prlimit64", 1) == RET_NOTIFY
    done = 0x00050000
    assert call("prlimit64", 0, 4, 0) == RET_ALLOW
    assert call("prlimit64", 0, 4, 0x1000) == call("setrlimit", 4, 0x1000) == done, "no core for a handler"
    assert call("prlimit64", 0, 7, 0x1000) == call("setrlimit", 7, 0x1000) == RET_ALLOW
    assert call("sync") == call("syncfs", 3) == done
    assert call("prctl", 15) == RET_ALLOW
    assert call("prctl", 4) == RET_NOTIFY
    assert call("ioctl", 0, 0x5412) == RET_EPERM
    assert call("ioctl", 0, 0x5401) == RET_ALLOW
    assert call("sendto", 3, 1, 1, 0, 0, 0) == RET_ALLOW
    assert call("sendto", 3, 1, 1, 0, 1 << 40, 16) == RET_NOTIFY
    assert call("sendto", 3, 1, 1, 0, 0x1000, 16) == RET_NOTIFY
    assert call("mmap", 0, LARGE_MAPPING_BYTES, 3) == RET_NOTIFY
    assert call("mmap", 0, 1 << 40, 3) == RET_NOTIFY
    assert call("mmap", 0, 1 << 40, 0) == RET_ALLOW
    assert call("mmap", 0, 4096, 3) == RET_ALLOW
    assert call("mremap", 0, 4096, 1 << 33) == RET_NOTIFY
    assert call("ioctl", 3, 0x5401) == RET_ALLOW
    assert call("ioctl", 3, 0x40086602) == RET_NOTIFY
    for name in ("pidfd_open", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
        assert call(name, 7) == RET_ALLOW
        assert call(name, 1) == RET_NOTIFY
    assert call("setuid", UID) == RET_ALLOW
    assert call("setuid", 0) == RET_NOTIFY
    assert call("setresuid", UID, 0xFFFFFFFF, UID) == RET_ALLOW
    assert call("setresuid", UID, UID, 0) == RET_NOTIFY
    assert call("setpriority", 0, 0) == RET_ALLOW
    assert call("setpriority", 0, 1) == RET_NOTIFY
    assert call("setpriority", 2, 0) == RET_NOTIFY
    assert call("personality", 0xFFFFFFFF) == RET_ALLOW
    assert call("personality", 0x40000) == RET_EPERM


@given(number=st.integers(0, 2**32 - 1), args=st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6))
def test_any_call_has_a_verdict_and_none_kills(number: int, args: list[int]) -> None:
    for arch in ARCHES.values():
        assert verdict(arch, number, *args) & 0xFFFF0000 in (RET_ALLOW, RET_NOTIFY, 0x00050000)


def test_no_call_is_under_two_rules() -> None:
    groups = [ALLOWED, WATCHED, REFUSED, CONDITIONAL]
    assert sum(map(len, groups)) == len(NAMED)


def test_every_named_call_has_a_number_somewhere_and_no_number_two_names() -> None:
    for name in NAMED:
        assert any(name in arch.numbers for arch in ARCHES.values()), name
    for arch in ARCHES.values():
        assert len(set(arch.numbers.values())) == len(arch.numbers)


def test_what_escapes_a_filter_is_not_allowed() -> None:
    for name in ("io_uring_setup", "io_uring_enter", "clone3", "memfd_create", "memfd_secret", "shmget"):
        assert name not in NAMED


@both
def test_an_observed_guest_shows_its_chance_its_forks_and_its_steps(arch: Arch) -> None:
    PROGRAMS["observed"] = build_filter(arch, UID, observed=True)
    observed = Arch("observed", arch.audit, arch.numbers)
    for name in ("getrandom", *(FORKS & arch.numbers.keys())):
        assert verdict(arch, arch.get_number(name)) == RET_ALLOW, name
        assert verdict(observed, arch.get_number(name)) == RET_NOTIFY, name
    for name in ("read", "write"):
        assert verdict(observed, arch.get_number(name), 900) == RET_ALLOW
        assert verdict(observed, arch.get_number(name), STEPS_FD) == RET_NOTIFY
        assert verdict(arch, arch.get_number(name), STEPS_FD) == RET_ALLOW
