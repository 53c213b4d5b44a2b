"""Machine code that answers a program's questions for the time, and for random bytes, in the vDSO's place.

One listing per architecture: bytes on the left, what they say on the right, names on lines of their own. The
bytes are the code; the words are for people. Each function makes the real system call, so that errors and
other clocks stay the kernel's; for the real-time clocks (REALTIME, REALTIME_COARSE, TAI) it then reports
`start + (now - began) * rate`, in nanoseconds, where `rate` has 32 bits after the point.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_X86_64 = """
clock_gettime:
b8 e4 00 00 00        | mov $228, %eax
0f 05                 | syscall
85 c0                 | test %eax, %eax
75 27                 | jnz 9f
85 ff                 | test %edi, %edi
74 0a                 | jz 1f
83 ff 05              | cmp $5, %edi
74 05                 | je 1f
83 ff 0b              | cmp $11, %edi
75 19                 | jne 9f
48 69 06 00 ca 9a 3b  | 1: imul $1000000000, (%rsi), %rax
48 03 46 08           | add 8(%rsi), %rax
e8 61 00 00 00        | call shown
48 89 06              | mov %rax, (%rsi)
48 89 56 08           | mov %rdx, 8(%rsi)
31 c0                 | xor %eax, %eax
c3                    | 9: ret
gettimeofday:
b8 60 00 00 00        | mov $96, %eax
0f 05                 | syscall
85 c0                 | test %eax, %eax
75 30                 | jnz 9f
48 85 ff              | test %rdi, %rdi
74 2b                 | jz 9f
48 69 07 00 ca 9a 3b  | imul $1000000000, (%rdi), %rax
48 69 57 08 e8 03 00 00 | imul $1000, 8(%rdi), %rdx
48 01 d0              | add %rdx, %rax
e8 30 00 00 00        | call shown
48 89 07              | mov %rax, (%rdi)
89 d0                 | mov %edx, %eax
31 d2                 | xor %edx, %edx
b9 e8 03 00 00        | mov $1000, %ecx
f7 f1                 | div %ecx
48 89 47 08           | mov %rax, 8(%rdi)
31 c0                 | xor %eax, %eax
c3                    | 9: ret
time:
57                    | push %rdi
48 83 ec 10           | sub $16, %rsp
48 89 e6              | mov %rsp, %rsi
31 ff                 | xor %edi, %edi
e8 82 ff ff ff        | call clock_gettime
58                    | pop %rax
5a                    | pop %rdx
5f                    | pop %rdi
48 85 ff              | test %rdi, %rdi
74 03                 | jz 9f
48 89 07              | mov %rax, (%rdi)
c3                    | 9: ret
shown:
48 2b 05 27 00 00 00  | sub began(%rip), %rax
79 02                 | jns 1f
31 c0                 | xor %eax, %eax
48 f7 25 2c 00 00 00  | 1: mulq rate(%rip)
48 0f ac d0 20        | shrd $32, %rdx, %rax
48 03 05 18 00 00 00  | add start(%rip), %rax
31 d2                 | xor %edx, %edx
b9 00 ca 9a 3b        | mov $1000000000, %ecx
48 f7 f1              | div %rcx
c3                    | ret
cc | (padding)
cc | (padding)
cc | (padding)
cc | (padding)
cc | (padding)
began:
00 00 00 00 00 00 00 00 |
start:
00 00 00 00 00 00 00 00 |
rate:
00 00 00 00 00 00 00 00 |
getrandom:
48 c7 c0 da ff ff ff  | mov $-38, %rax
49 83 f8 ff           | cmp $-1, %r8
74 07                 | je 9f
b8 3e 01 00 00        | mov $318, %eax
0f 05                 | syscall
c3                    | 9: ret
"""

_AARCH64 = """
clock_gettime:
5f 24 03 d5           | bti c
e7 03 00 aa           | mov x7, x0
28 0e 80 d2           | mov x8, #113
01 00 00 d4           | svc #0
80 01 00 b5           | cbnz x0, 9f
a7 00 00 34           | cbz w7, 1f
ff 14 00 71           | cmp w7, #5
60 00 00 54           | b.eq 1f
ff 2c 00 71           | cmp w7, #11
e1 00 00 54           | b.ne 9f
e6 03 1e aa           | 1: mov x6, x30
22 0c 40 a9           | ldp x2, x3, [x1]
16 00 00 94           | bl shown
22 0c 00 a9           | stp x2, x3, [x1]
00 00 80 d2           | mov x0, #0
fe 03 06 aa           | mov x30, x6
c0 03 5f d6           | 9: ret
gettimeofday:
5f 24 03 d5           | bti c
e7 03 00 aa           | mov x7, x0
28 15 80 d2           | mov x8, #169
01 00 00 d4           | svc #0
80 01 00 b5           | cbnz x0, 9f
67 01 00 b4           | cbz x7, 9f
e6 03 1e aa           | mov x6, x30
e2 0c 40 a9           | ldp x2, x3, [x7]
04 7d 80 d2           | mov x4, #1000
63 7c 04 9b           | mul x3, x3, x4
07 00 00 94           | bl shown
04 7d 80 d2           | mov x4, #1000
63 08 c4 9a           | udiv x3, x3, x4
e2 0c 00 a9           | stp x2, x3, [x7]
00 00 80 d2           | mov x0, #0
fe 03 06 aa           | mov x30, x6
c0 03 5f d6           | 9: ret
shown:
04 40 99 d2           | movz x4, #0xca00
44 73 a7 f2           | movk x4, #0x3b9a, lsl #16
42 0c 04 9b           | madd x2, x2, x4, x3
a5 01 00 58           | ldr x5, began
42 00 05 eb           | subs x2, x2, x5
42 50 9f 9a           | csel x2, x2, xzr, pl
c5 01 00 58           | ldr x5, rate
43 7c c5 9b           | umulh x3, x2, x5
42 7c 05 9b           | mul x2, x2, x5
62 80 c2 93           | extr x2, x3, x2, #32
05 01 00 58           | ldr x5, start
42 00 05 8b           | add x2, x2, x5
45 08 c4 9a           | udiv x5, x2, x4
a3 88 04 9b           | msub x3, x5, x4, x2
e2 03 05 aa           | mov x2, x5
c0 03 5f d6           | ret
began:
00 00 00 00 00 00 00 00 |
start:
00 00 00 00 00 00 00 00 |
rate:
00 00 00 00 00 00 00 00 |
getrandom:
5f 24 03 d5           | bti c
9f 04 00 b1           | cmn x4, #1
80 00 00 54           | b.eq 8f
c8 22 80 d2           | mov x8, #278
01 00 00 d4           | svc #0
c0 03 5f d6           | ret
a0 04 80 92           | 8: mov x0, #-38
c0 03 5f d6           | ret
"""


@dataclass(frozen=True, slots=True)
class Stubs:
    """One architecture's code.

    Attributes:
        names: of the functions, as the vDSO exports them, to their label in the listing.
        labels: offset of each label.
    """

    code: bytes
    labels: dict[str, int]
    names: dict[str, str]
    machine: str

    @property
    def clock(self) -> bytes:
        """The part that gives the time, with its three numbers still nought."""
        return self.code[: self.labels["getrandom"]]

    @property
    def getrandom(self) -> bytes:
        """The part that calls `getrandom`: position-independent; the supervisor answers it."""
        return self.code[self.labels["getrandom"] :]

    def clock_from(self, began_ns: int, start_ns: int, rate: float) -> bytes:
        """Return the clock whose `start_ns` was at the real `began_ns`."""
        numbers = struct.pack("<QQQ", began_ns, start_ns, int(rate * (1 << 32)))
        at = self.labels["began"]
        return self.clock[:at] + numbers + self.clock[at + len(numbers) :]

    def jump(self, distance: int) -> bytes:
        """Return a function that goes on at another place, `distance` bytes from its own first."""
        if self.machine == "x86_64":
            return b"\xe9" + struct.pack("<i", distance - 5)
        return _LANDING + struct.pack("<I", 0x14000000 | ((distance - 4) >> 2 & 0x3FFFFFF))


# `bti c`: where the kernel guards branches, an indirect call must land on one.
_LANDING = bytes.fromhex("5f2403d5")


def _assemble_stubs(machine: str, listing: str, names: dict[str, str]) -> Stubs:
    code, labels = bytearray(), {}
    for line in listing.strip().splitlines():
        if line.endswith(":"):
            labels[line[:-1]] = len(code)
        else:
            code += bytes.fromhex(line.partition("|")[0])
    return Stubs(bytes(code), labels, names, machine)


_CALLS = ("clock_gettime", "gettimeofday", "getrandom")
X86_64 = _assemble_stubs("x86_64", _X86_64, {f"__vdso_{name}": name for name in (*_CALLS, "time")})
AARCH64 = _assemble_stubs("aarch64", _AARCH64, {f"__kernel_{name}": name for name in _CALLS})
STUBS = {stubs.machine: stubs for stubs in (X86_64, AARCH64)}
