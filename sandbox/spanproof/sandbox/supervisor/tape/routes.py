"""Every address leads here: by what the loopback of a network namespace answers for all.

On Linux by two routes. gVisor takes none; there an address whose network is all of IPv4 does the same.
"""

from __future__ import annotations

import errno
import os
import socket
import struct

_NEWADDR, _DELADDR, _NEWROUTE = 20, 21, 24
_REQUEST_ACK, _CREATE_EXCL = 0x1 | 0x4, 0x400 | 0x200
_TABLE_LOCAL, _STATIC, _SCOPE_HOST, _TYPE_LOCAL = 255, 4, 254, 2
_OUTPUT_INTERFACE, _ADDRESS, _LOCAL = 4, 1, 2
_ERROR = 2
_ONE_OF_ALL = socket.inet_aton("127.255.255.254")


def add_routes() -> None:
    """Install the routes of `ip route add local 0.0.0.0/0 dev lo`, and of `::/0` where there is IPv6.

    Raises:
        OSError: the kernel refused.
    """
    try:
        _add_route(socket.AF_INET)
    except OSError as failure:
        if failure.errno != errno.EOPNOTSUPP:
            raise
        _send_address(_NEWADDR, _CREATE_EXCL)
        return
    try:
        _add_route(socket.AF_INET6)
    except OSError as failure:
        if failure.errno not in (errno.EAFNOSUPPORT, errno.EOPNOTSUPP, errno.EACCES):
            raise


def remove_routes() -> None:
    """Remove the routes, in gVisor; on Linux the namespace is replaced.

    Raises:
        OSError: the kernel refused.
    """
    _send_address(_DELADDR, 0)


def _add_route(family: int) -> None:
    route = struct.pack("=BBBBBBBBI", family, 0, 0, 0, _TABLE_LOCAL, _STATIC, _SCOPE_HOST, _TYPE_LOCAL, 0)
    route += struct.pack("=HHI", 8, _OUTPUT_INTERFACE, socket.if_nametoindex("lo"))
    _send_request(_NEWROUTE, _CREATE_EXCL, route)


def _send_address(kind: int, flags: int) -> None:
    """Send what `ip address add 127.255.255.254/0 dev lo` sends, or its like."""
    address = struct.pack("=BBBBI", socket.AF_INET, 0, 0, 0, socket.if_nametoindex("lo"))
    for attribute in (_ADDRESS, _LOCAL):
        address += struct.pack("=HH4s", 8, attribute, _ONE_OF_ALL)
    _send_request(kind, flags, address)


def _send_request(kind: int, flags: int, message: bytes) -> None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
        head = struct.pack("=IHHII", 16 + len(message), kind, _REQUEST_ACK | flags, 1, 0)
        netlink.send(head + message)
        answer = netlink.recv(4096)
    _length, found, _flags, _sequence, _port, number = struct.unpack_from("=IHHIIi", answer)
    if found == _ERROR and number not in (0, -errno.EEXIST):
        raise OSError(-number, f"a way to the loopback: {os.strerror(-number)}")
