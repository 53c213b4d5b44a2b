"""The table of system calls is the kernel's own, on both architectures: held against its headers."""

from __future__ import annotations

import re

import pytest

from spanproof.sandbox.supervisor.seccomp.rules import NAMED
from spanproof.sandbox.supervisor.seccomp.syscalls import AARCH64, ARCHES, X86_64, Arch

from .system_call_headers import HEADERS, INCLUDE, read_numbers


@pytest.mark.parametrize(
    ("arch", "header"),
    [(X86_64, HEADERS["x86_64"]), (AARCH64, HEADERS["aarch64"])],
    ids=lambda value: value.machine if isinstance(value, Arch) else "",
)
def test_every_number_is_the_kernel_s(arch: Arch, header: str) -> None:
    kernel = read_numbers(header)
    wrong = {name: number for name, number in kernel.items() if arch.numbers.get(name, number) != number}
    assert not wrong, f"generate the table again: {wrong}"
    missing = NAMED & set(kernel) - set(arch.numbers)
    assert not missing, f"generate the table again, it lacks: {missing}"


def test_every_call_of_a_rule_is_one_of_some_architecture() -> None:
    unknown = NAMED - {name for arch in ARCHES.values() for name in arch.numbers}
    assert not unknown, f"no architecture has: {unknown}"


def test_the_audit_tokens_are_the_kernel_s() -> None:
    machines = dict(
        re.findall(r"^#define EM_(\w+)\s+(\d+)", (INCLUDE / "linux/elf-em.h").read_text(), re.MULTILINE)
    )
    flags = 0x80000000 | 0x40000000  # 64 bits, little end first
    assert X86_64.audit == flags | int(machines["X86_64"])
    assert AARCH64.audit == flags | int(machines["AARCH64"])
