"""Seccomp's notifications: the calls the kernel holds up, and what it does with them.

In: the listener of a guest's filter. Out: one held call at a time; and to the kernel the answer, which others
have found. A caller that is killed meanwhile is no error: there is no caller to answer.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from dataclasses import dataclass

_RECV, _SEND, _ADD_DESCRIPTOR = 0xC0502100, 0xC0182101, 0x40182103
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_RESPONSE = struct.Struct("=QqiI")
_CONTINUE = 1
_DESCRIPTOR = struct.Struct("=QIIII")
_IN_PLACE_OF, _AND_SEND = 1, 2


@dataclass(slots=True)
class Notification:
    """One call the kernel holds up."""

    id: int
    pid: int
    number: int
    arch: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to the kernel; by default that the call goes on.

    Attributes:
        error: the number it fails with.
        value: what the call returns, in place of going on.
        descriptor: of ours, of which the caller gets a copy as what it opened.
        flags: of that open.
    """

    error: int = 0
    value: int | None = None
    descriptor: int | None = None
    flags: int = 0


GO_ON = Answer()
NONE_YET = Answer()
"""The kernel goes on holding it up."""
EPERM = Answer(errno.EPERM)


def fetch_notification(listener: int) -> Notification | None:
    """Return the next held call; None when its caller is gone."""
    buffer = bytearray(_NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, _RECV, buffer)
    except OSError:
        return None  # ENOENT: killed before we looked
    id_, pid, _flags, number, arch, _ip, *args = _NOTIFICATION.unpack(buffer)
    return Notification(id_, pid, number, arch, tuple(args))


def send_answer(listener: int, id_: int, answer: Answer) -> None:
    """Answer a held call; does nothing where its caller is gone."""
    if answer.descriptor is not None:
        closes = answer.flags & os.O_CLOEXEC
        handed = _DESCRIPTOR.pack(id_, _AND_SEND, answer.descriptor, 0, closes)
        try:
            fcntl.ioctl(listener, _ADD_DESCRIPTOR, handed)
        except OSError as failure:
            answer = Answer(failure.errno or errno.EMFILE)  # it has as many open as it may
        else:
            return
    goes_on = not answer.error and answer.value is None
    flags = _CONTINUE if goes_on else 0
    try:
        fcntl.ioctl(listener, _SEND, _RESPONSE.pack(id_, answer.value or 0, -answer.error, flags))
    except OSError:
        return


def add_descriptor(listener: int, id_: int, descriptor: int, number: int, flags: int) -> None:
    """Put a copy of a descriptor of ours in the place of one of the caller's, which waits on.

    Args:
        listener: of its filter.
        id_: of the held call.
        descriptor: ours.
        number: the caller's.
        flags: that the copy is to have: O_CLOEXEC or none.

    Raises:
        OSError: the caller is gone.
    """
    fcntl.ioctl(listener, _ADD_DESCRIPTOR, _DESCRIPTOR.pack(id_, _IN_PLACE_OF, descriptor, number, flags))


def to_int(value: int) -> int:
    """Return a register as the C int it holds."""
    low = value & 0xFFFFFFFF
    return low - (1 << 32) if low & 0x80000000 else low
