"""A small interpreter of seccomp programs, so that a filter can be tested for a machine that is not there."""

from __future__ import annotations

import struct

from spanproof.sandbox.supervisor.seccomp.syscalls import Arch


def run_program(program: bytes, arch: Arch, number: int, *args: int, audit: int | None = None) -> int:
    """What the kernel would do with a call, by interpreting the program as the kernel does."""
    filled = [arg & (2**64 - 1) for arg in args] + [0] * (6 - len(args))
    data = struct.pack("=iIQ6Q", _as_int(number), arch.audit if audit is None else audit, 0, *filled)
    accumulator, position = 0, 0
    while True:
        code, jump_true, jump_false, k = struct.unpack_from("=HBBI", program, 8 * position)
        position += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, k)
        elif code == 0x54:
            accumulator &= k
        elif code == 0x05:
            position += k
        elif code == 0x06:
            return int(k)
        else:
            holds = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}[code]
            position += jump_true if holds else jump_false


def _as_int(number: int) -> int:
    return number - 2**32 if number >= 2**31 else number
