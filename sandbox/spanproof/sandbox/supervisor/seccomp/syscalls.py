"""System calls by architecture: names, numbers and audit tokens; `numbers.txt` is generated."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.resources import files

from spanproof.sandbox.catalogue import read_sections


@dataclass(frozen=True, slots=True)
class Arch:
    """One architecture: its name in `uname -m`, its audit token, and its numbers by name."""

    machine: str
    audit: int
    numbers: dict[str, int]

    def get_number(self, name: str) -> int:
        """Return the number of a call that must exist.

        Raises:
            KeyError: the architecture has no such call.
        """
        return self.numbers[name]

    def get_name(self, number: int) -> str:
        """Return the name of a call, for people; `syscall 999` where the table does not know it."""
        for name, own_number in self.numbers.items():
            if own_number == number:
                return name
        return f"syscall {number}"


def _read_numbers(machine: str) -> dict[str, int]:
    words = _NUMBERS[machine].split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


_NUMBERS = read_sections(files(__package__) / "numbers.txt")["numbers"]
X86_64 = Arch("x86_64", 0xC000003E, _read_numbers("x86_64"))
AARCH64 = Arch("aarch64", 0xC00000B7, _read_numbers("aarch64"))
ARCHES: dict[str, Arch] = {arch.machine: arch for arch in (X86_64, AARCH64)}


def find_arch() -> Arch | None:
    """Return the running machine's, None where the jail has no table for it."""
    return ARCHES.get(os.uname().machine)


def get_arch() -> Arch:
    """Return the running machine's.

    Raises:
        OSError: the jail has no table for it.
    """
    arch = find_arch()
    if arch is None:
        raise OSError(f"the jail has no system call table for {os.uname().machine}")
    return arch
