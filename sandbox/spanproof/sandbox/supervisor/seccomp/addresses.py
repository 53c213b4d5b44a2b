"""Socket addresses and DNS queries as a guest laid them into memory, read for people.

In: bytes from a hostile process, of any length and content. Out: a target, or None where there is none to
report. Never raises.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Sequence

from spanproof.sandbox.supervisor.tape.target import Target

DNS_PORT = 53
_DNS_HEAD_BYTES, _LABEL_BYTES, _NAME_CHARACTERS = 12, 63, 1024

_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_FAMILIES = {1: "AF_UNIX", 2: "AF_INET", 10: "AF_INET6", 16: "AF_NETLINK", 17: "AF_PACKET", 38: "AF_ALG"}
_FAMILIES |= {29: "AF_CAN", 31: "AF_BLUETOOTH", 40: "AF_VSOCK", 44: "AF_XDP", 21: "AF_RDS", 30: "AF_TIPC"}
_TYPES = {1: "SOCK_STREAM", 2: "SOCK_DGRAM", 3: "SOCK_RAW", 4: "SOCK_RDM", 5: "SOCK_SEQPACKET"}


def find_address(raw: bytes, *, sends: bool = False) -> Target | None:
    """Read a `struct sockaddr`.

    Args:
        raw: its bytes, as many as the call names.
        sends: whether something is sent there: without a family it is taken for an IPv4 address then.
    """
    if len(raw) < 2:
        return None
    (family,) = struct.unpack_from("=H", raw)
    if family == _AF_UNIX:
        if raw[2:3] == b"\0":
            return Target(format_abstract_name(raw[3:]), path="")
        return Target("", path=raw[2:].split(b"\0", 1)[0].decode("utf-8", "surrogateescape"))
    if (family == _AF_INET or (sends and family == 0)) and len(raw) >= 8:
        return _build_internet_target(ipaddress.IPv4Address(raw[4:8]), raw)
    if family == _AF_INET6 and len(raw) >= 24:
        return _build_internet_target(ipaddress.IPv6Address(raw[8:24]), raw)
    if family == 0:
        return None  # AF_UNSPEC: a disconnect
    return Target(_FAMILIES.get(family, f"address family {family}"))


def format_abstract_name(name: bytes) -> str:
    """Return the name of an abstract socket for people, as the kernel lists it."""
    return f"unix:@{name.replace(bytes(1), b'@').decode('utf-8', 'backslashreplace')}"


def _build_internet_target(address: ipaddress.IPv4Address | ipaddress.IPv6Address, raw: bytes) -> Target:
    (port,) = struct.unpack_from("!H", raw, 2)
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
    else:
        mapped = None
    shown = mapped or address
    host = f"[{shown}]" if shown.version == 6 else str(shown)
    # The unspecified address means this host.
    return Target(f"{host}:{port}", port, shown.is_loopback or shown.is_unspecified)


def find_queried_name(payload: bytes) -> str | None:
    """Return the name a DNS query requests, None where the bytes are no query."""
    if len(payload) < 17:
        return None
    _id, flags, questions, answers, authorities, _extra = struct.unpack_from("!6H", payload)
    if flags & 0xF800 or questions != 1 or answers or authorities:
        return None
    labels, end = _parse_labels(payload)
    whole = end < len(payload) and payload[end] == 0 and all(map(bytes.isascii, labels))
    return b".".join(labels).decode("ascii") or None if whole else None


def read_sought_name(payload: bytes) -> str:
    """Return what bytes for a name server ask for, whether or not they are a query that a server answers."""
    labels, _end = _parse_labels(payload)
    return b".".join(labels).decode("ascii", "backslashreplace")[:_NAME_CHARACTERS] or "(no name)"


def _parse_labels(payload: bytes) -> tuple[list[bytes], int]:
    """Return the labels behind the head of a query, and the position of what follows them."""
    labels, position = [], _DNS_HEAD_BYTES
    while position < len(payload) and 0 < payload[position] <= _LABEL_BYTES:
        end = position + 1 + payload[position]
        labels.append(payload[position + 1 : end])
        position = end
    return labels, position


def format_socket_call(args: Sequence[int]) -> str:
    """Format a `socket` call for people."""
    family, kind = args[0] & 0xFFFFFFFF, args[1] & 0xF
    name = _FAMILIES.get(family, f"family {family}")
    return f"socket({name}, {_TYPES.get(kind, f'type {kind}')}, {args[2] & 0xFFFFFFFF})"
