"""The table of system calls is the kernel's own, on both architectures: held against its headers.

x86-64 has a list; aarch64 takes the generic one, which is in every machine's `linux-libc-dev`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spanproof.sandbox.backends.jail.seccomp.syscalls import AARCH64, ARCHES, X86_64, Arch

INCLUDE = Path("/usr/include")
_MOST_UNKNOWN = 8
"""Calls that are newer than the headers may be."""


def numbers_in(pattern: str) -> dict[str, int]:
    found = sorted(INCLUDE.glob(pattern))
    if not found:
        pytest.fail(f"there is no {INCLUDE}/{pattern}: apt-get install linux-libc-dev")
    text = found[0].read_text()
    shared = {
        name: int(number)
        for name, number in re.findall(r"^#define __NR3264_(\w+)\s+(\d+)", text, re.MULTILINE)
    }
    own = re.findall(r"^#define __NR_(\w+)\s+(?:__NR3264_(\w+)|(\d+))", text, re.MULTILINE)
    plain = {name: int(number) for name, _alias, number in own if number}
    return plain | {name: shared[alias] for name, alias, _number in own if alias in shared}


@pytest.mark.parametrize(
    ("arch", "header"),
    [(X86_64, "*/asm/unistd_64.h"), (AARCH64, "asm-generic/unistd.h")],
    ids=lambda value: value.machine if isinstance(value, Arch) else "",
)
def test_every_number_is_the_kernel_s(arch: Arch, header: str) -> None:
    kernel = numbers_in(header)
    assert {name: number for name, number in arch.numbers.items() if kernel.get(name, number) != number} == {}
    assert len(set(arch.numbers) - set(kernel)) <= _MOST_UNKNOWN
    missing = {name for known in ARCHES.values() for name in known.numbers} - set(arch.numbers)
    assert missing & set(kernel) == set(), "the table says that the architecture has none of these"


def test_the_audit_tokens_are_the_kernel_s() -> None:
    machines = dict(
        re.findall(r"^#define EM_(\w+)\s+(\d+)", (INCLUDE / "linux/elf-em.h").read_text(), re.MULTILINE)
    )
    flags = 0x80000000 | 0x40000000  # 64 bits, little end first
    assert X86_64.audit == flags | int(machines["X86_64"])
    assert AARCH64.audit == flags | int(machines["AARCH64"])
