"""Every address leads here: two routes by which the loopback of a network namespace answers for all."""

from __future__ import annotations

import errno
import os
import socket
import struct

_NEWROUTE = 24
_REQUEST_ACK_CREATE_EXCL = 0x1 | 0x4 | 0x400 | 0x200
_TABLE_LOCAL, _STATIC, _SCOPE_HOST, _TYPE_LOCAL = 255, 4, 254, 2
_OUTPUT_INTERFACE = 4
_ERROR = 2


def lead_here() -> None:
    """`ip route add local 0.0.0.0/0 dev lo`, and the same for `::/0` where the kernel has IPv6.

    Raises:
        OSError: the kernel refused.
    """
    loopback = socket.if_nametoindex("lo")
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
        _add(netlink, socket.AF_INET, loopback)
        try:
            _add(netlink, socket.AF_INET6, loopback)
        except OSError as failure:
            if failure.errno not in (errno.EAFNOSUPPORT, errno.EOPNOTSUPP, errno.EACCES):
                raise


def _add(netlink: socket.socket, family: int, interface: int) -> None:
    route = struct.pack("=BBBBBBBBI", family, 0, 0, 0, _TABLE_LOCAL, _STATIC, _SCOPE_HOST, _TYPE_LOCAL, 0)
    route += struct.pack("=HHI", 8, _OUTPUT_INTERFACE, interface)
    netlink.send(struct.pack("=IHHII", 16 + len(route), _NEWROUTE, _REQUEST_ACK_CREATE_EXCL, 1, 0) + route)
    answer = netlink.recv(4096)
    _length, kind, _flags, _sequence, _port, number = struct.unpack_from("=IHHIIi", answer)
    if kind == _ERROR and number not in (0, -errno.EEXIST):
        raise OSError(-number, f"a route to the loopback: {os.strerror(-number)}")
