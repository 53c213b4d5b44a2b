"""Changing the time that a process reads: its vDSO, which every libc reads, is overwritten.

In: the image all processes of this machine share, and the machine code of `stubs`. Out: a `Patch`, bytes to
write at places relative to the image, which the supervisor writes into each process that is to see it. Below
every language, so that C code sees the same clock; no wall, so that a program that looks for the kernel's own
time finds it. The supervisor's own image is never changed: limits rest on it.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spanproof.sandbox.fixed.stubs import Stubs

_AT_SYSINFO_EHDR = 33
_SHT_DYNSYM = 11
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ALIGNMENT = 16


@dataclass(frozen=True, slots=True)
class Image:
    """The vDSO of this machine.

    Attributes:
        functions: offset and size in bytes of each it exports, by name.
        end: where the ELF file ends; the rest of the last page is executable and empty.
        size: of the mapping, in bytes.
    """

    functions: Mapping[str, tuple[int, int]]
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class Patch:
    """What to write, by offset in the image."""

    writes: tuple[tuple[int, bytes], ...]

    def apply(self, pid: int) -> None:
        """Write it into a process that is stopped; twice is as once.

        By /proc/pid/mem, which writes past the protection of a page into a copy of the process's own, as a
        debugger sets a breakpoint.

        Raises:
            OSError: the process is gone, or the kernel is configured to forbid such writes.
        """
        base = find_image_address(pid)
        if base is None:
            return
        with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:  # noqa: PTH123 - in the path of a run
            for offset, data in self.writes:
                memory.seek(base + offset)
                memory.write(data)


def build_clock_patch(image: Image, stubs: Stubs, began_ns: int, start_ns: int, rate: float) -> Patch:
    """Build a clock that showed `start_ns` at the real `began_ns`, and runs at `rate`; all since 1970.

    Raises:
        OSError: this machine's vDSO has no room for it.
    """
    code = stubs.clock_from(began_ns, start_ns, rate)
    place = _find_room(image, stubs, len(code))
    writes = [(place, code)]
    for name, label in stubs.names.items():
        found = image.functions.get(name)
        target = place + stubs.labels[label]
        if found is not None and label != "getrandom" and found[0] != target:
            writes.append((found[0], stubs.jump(target - found[0])))
    return Patch(tuple(writes))


def build_entropy_patch(image: Image, stubs: Stubs) -> Patch:
    """Build what calls the kernel for random bytes each time: newer ones give them in user space else."""
    name = next(name for name, label in stubs.names.items() if label == "getrandom")
    found = image.functions.get(name)
    return Patch(((found[0], stubs.getrandom),) if found is not None else ())


def _find_room(image: Image, stubs: Stubs, length: int) -> int:
    """Return where the clock's code fits: over the function it replaces, or behind the image's end."""
    name = next(name for name, label in stubs.names.items() if label == "clock_gettime")
    offset, size = image.functions.get(name, (0, 0))
    if size >= length:
        return offset
    end = -(-image.end // _ALIGNMENT) * _ALIGNMENT
    if image.size - end < length:
        raise OSError("this kernel's vDSO has no room for another clock; run without `Fixtures.clock`")
    return end


def read_own_image() -> Image:
    """Read the calling process's image, which all others share.

    Raises:
        OSError: the kernel gives processes no vDSO.
    """
    with open("/proc/self/maps") as file:  # noqa: PTH123
        spans = [line.split()[0] for line in file if line.rstrip().endswith("[vdso]")]
    if not spans:
        raise OSError("this kernel gives processes no vDSO, so their clock cannot be set")
    first, last = (int(edge, 16) for edge in spans[0].split("-"))
    return read_image(ctypes.string_at(first, last - first))


def read_image(data: bytes) -> Image:
    """Read a vDSO: a 64-bit little-endian ELF file with its section headers, padded to whole pages."""
    table = int.from_bytes(data[0x28:0x30], "little")
    entry, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [_SECTION.unpack_from(data, table + index * entry) for index in range(count)]
    functions: dict[str, tuple[int, int]] = {}
    for section in sections:
        if section[1] == _SHT_DYNSYM:
            functions.update(_read_functions(data, section[4], section[5], sections[section[6]][4]))
    return Image(functions, table + count * entry, len(data))


def _read_functions(
    data: bytes, offset: int, length: int, strings: int
) -> Iterator[tuple[str, tuple[int, int]]]:
    for place in range(offset, offset + length, _SYMBOL.size):
        name, _info, _other, _section, value, size = _SYMBOL.unpack_from(data, place)
        start = strings + name
        if size:
            yield data[start : data.index(b"\0", start)].decode("ascii"), (value, size)


def find_image_address(pid: int) -> int | None:
    """Return where a process has the vDSO; None where it has none."""
    with open(f"/proc/{pid}/auxv", "rb") as file:  # noqa: PTH123
        words = struct.iter_unpack("=QQ", file.read())
    return next((value for key, value in words if key == _AT_SYSINFO_EHDR), None)
