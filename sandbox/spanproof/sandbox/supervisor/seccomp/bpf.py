"""The language of a seccomp program: instructions that load, test and end, and how they are packed.

In: what a piece of a program is to test. Out: its instructions. Which call is tested for what is decided
elsewhere. A piece that is made here ends in a verdict whatever the arguments, unless it says otherwise.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence
from dataclasses import dataclass

RET_ALLOW = 0x7FFF0000
RET_NOTIFY = 0x7FC00000
RET_ERRNO = 0x00050000
"""With the error's number added; none is a call that does nothing and returns zero."""
RET_ENOSYS = RET_ERRNO | errno.ENOSYS
RET_EPERM = RET_ERRNO | errno.EPERM

LD_ABS, JEQ, JGE, JSET, JA, AND, RET = 0x20, 0x15, 0x35, 0x45, 0x05, 0x54, 0x06
_OFFSET_NR, _OFFSET_ARCH, _OFFSET_ARGS = 0, 4, 16
_INSTRUCTION = struct.Struct("=HBBI")
_MOST_INSTRUCTIONS = 4096  # BPF_MAXINSNS


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step; a jump passes over so many of those that follow."""

    code: int
    k: int
    jump_true: int = 0
    jump_false: int = 0


Program = list[Instruction]

NUMBER = Instruction(LD_ABS, _OFFSET_NR)
"""Loads the call's number."""
ARCHITECTURE = Instruction(LD_ABS, _OFFSET_ARCH)
"""Loads whose numbers the call is by."""


def encode_program(program: Program) -> bytes:
    """Return the bytes that the kernel takes.

    Raises:
        ValueError: there are more instructions than it takes.
    """
    if len(program) > _MOST_INSTRUCTIONS:
        raise ValueError(
            f"the seccomp program has {len(program)} instructions, the kernel takes {_MOST_INSTRUCTIONS}"
        )
    return b"".join(
        _INSTRUCTION.pack(line.code, line.jump_true, line.jump_false, line.k & 0xFFFFFFFF) for line in program
    )


def load_low(argument: int) -> Instruction:
    """Return what loads the lower half of an argument."""
    return Instruction(LD_ABS, _OFFSET_ARGS + 8 * argument)


def load_high(argument: int) -> Instruction:
    """Return what loads the upper half of an argument."""
    return Instruction(LD_ABS, _OFFSET_ARGS + 8 * argument + 4)


def build_verdict(verdict: int) -> Instruction:
    """Return what ends with a verdict."""
    return Instruction(RET, verdict)


def build_membership_jump(
    values: Sequence[int], then: Program, otherwise: Program, *, jump: int = JEQ
) -> Program:
    """Go on with a program where the accumulator is one of the values, or passes the jump's other test."""
    last = len(values) - 1 + len(otherwise)
    tests = [Instruction(jump, value, last - index, 0) for index, value in enumerate(values)]
    return [*tests, *otherwise, *then]
