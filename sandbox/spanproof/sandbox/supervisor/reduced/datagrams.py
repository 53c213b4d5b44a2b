"""What replaces a guest's datagram sockets in the reduced tier: ends of pairs that lead to the resolver.

A client of DNS need not connect: it may send each question to an address, and look from where the answer
comes. Such a question is sent by the supervisor in its stead, answered at once, and received by the
supervisor too, which can say what address it came from. Nothing else is to be had by datagrams.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.namespaces.dns_stub import DnsStub
from spanproof.sandbox.supervisor.namespaces.kernel_memory import list_descriptor_links
from spanproof.sandbox.supervisor.namespaces.network import QUERY_BYTES
from spanproof.sandbox.supervisor.reduced.paths import ReducedBoundary
from spanproof.sandbox.supervisor.reduced.process_tree import Spared
from spanproof.sandbox.supervisor.run.proxied_sockets import ProxyingWatcher
from spanproof.sandbox.supervisor.seccomp.notifications import GO_ON, Answer, Notification, to_int
from spanproof.sandbox.supervisor.seccomp.syscalls import Arch

_MOST = 48  # At once, of which the supervisor holds a descriptor each; the oldest gives way
_ANSWER_BYTES = 65536
# A `msghdr`: address and its length, pieces and their number, control and its length, flags.
_HEADER = struct.Struct("=QI4xQQQQi4x")

_PIECE = struct.Struct("=QQ")
_PIECES = 64
_DONE = Answer(value=0)


@dataclass(slots=True)
class Datagram:
    """One of these sockets.

    Attributes:
        end: the guest's own, held by the supervisor too.
        address: the resolver's, as the guest last named it.
    """

    end: socket.socket
    address: bytes = b""


class DatagramWatcher(ProxyingWatcher):
    """The part of a `SocketWatcher` that answers for datagrams."""

    _dns_stub: DnsStub
    _tree: Spared

    def __init__(self, arch: Arch, boundary: ReducedBoundary, tree: Spared, dns_stub: DnsStub) -> None:
        # By the socket's number.
        self._datagrams: OrderedDict[int, Datagram] = OrderedDict()
        super().__init__(arch, boundary, tree, dns_stub)

    def start_run(self, listener: int) -> None:
        """See `Watcher`."""
        super().start_run(listener)
        while self._datagrams:
            self._close_datagram(next(iter(self._datagrams)))

    def _build_handlers(self) -> dict[str, Callable[[str, Notification], Answer]]:
        table = super()._build_handlers()
        table.update(recvfrom=self._handle_receive, recvmsg=self._handle_receive)
        return table

    def _build_datagram(self, kind: int) -> Answer:
        """Answer `socket`."""
        if len(self._datagrams) >= _MOST:
            self._close_unused()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.setblocking(not kind & socket.SOCK_NONBLOCK)
        self._datagrams[os.fstat(theirs.fileno()).st_ino] = Datagram(theirs)
        self._dns_stub.add_connection(ours)
        return self._handle_opened(os.dup(theirs.fileno()), kind)  # SOCK_CLOEXEC is O_CLOEXEC

    def _find_datagram(self, call: Notification) -> Datagram | None:
        """Return the one that a call is about, if it is about one."""
        try:
            number = os.stat(f"/proc/{call.pid}/fd/{to_int(call.args[0])}").st_ino  # noqa: PTH116
        except OSError:
            return None
        return self._datagrams.get(number)

    def _handle_datagram_query(
        self, datagram: Datagram, name: str, address: bytes, call: Notification
    ) -> Answer:
        """Connect one to the resolver, or send it a question in the guest's stead."""
        datagram.address = address
        if name == "connect":
            return _DONE
        query = self._read_sent(name, call)
        if len(query) > QUERY_BYTES:
            return Answer(errno.EMSGSIZE)
        if query:  # an empty one would be the end of the pair
            try:
                datagram.end.send(query, socket.MSG_DONTWAIT)
            except OSError as problem:
                return Answer(problem.errno or errno.EPIPE)
            self._handle_queries()
        if name != "sendmmsg":
            return Answer(value=len(query))
        kernel.write_memory(call.pid, call.args[1] + _HEADER.size, struct.pack("=I", len(query)))
        return Answer(value=1)

    def _handle_queries(self) -> None:
        """Answer queries, and report the names that no one knows."""
        for name in self._dns_stub.handle_queries():
            self.record.add_attempt("network", f"{name}:53", allowed=False)

    def _read_sent(self, name: str, call: Notification) -> bytes:
        """Return what a call sends, as far as it may be a question; of many messages the first."""
        if name == "sendto":
            return _read_from_process(call.pid, [(call.args[1], call.args[2])])
        _pointer, _size, pieces, count, *_rest = _read_header(call)
        return _read_from_process(call.pid, _read_pieces(call.pid, pieces, count))

    def _handle_receive(self, name: str, call: Notification) -> Answer:
        """Receive in the guest's stead what it may want to know the sender of."""
        datagram = self._find_datagram(call)
        if datagram is None:
            return GO_ON
        flags = call.args[3 if name == "recvfrom" else 2]
        try:
            data = datagram.end.recv(_ANSWER_BYTES, flags & socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return GO_ON  # it waits, or does not
        if name == "recvfrom":
            taken = _write_pieces(call.pid, [(call.args[1], call.args[2])], data)
            writes_address(call.pid, call.args[4], call.args[5], datagram.address)
            return Answer(value=taken)
        address, size, pieces, count, control, _length, _flags = _read_header(call)
        taken = _write_pieces(call.pid, _read_pieces(call.pid, pieces, count), data)
        if address:
            kernel.write_memory(call.pid, address, datagram.address[:size])
            size = len(datagram.address)
        reply = socket.MSG_TRUNC if taken < len(data) else 0
        kernel.write_memory(
            call.pid, call.args[1], _HEADER.pack(address, size, pieces, count, control, 0, reply)
        )
        return Answer(value=taken)

    def _close_datagram(self, number: int) -> None:
        self._datagrams.pop(number).end.close()

    def _close_unused(self) -> None:
        """Let go of those that no process has open; of the oldest, if all are open."""
        held = {
            target for pid in self._tree.list_pids() for _number, target in list_descriptor_links(int(pid))
        }
        closed = [number for number in self._datagrams if f"socket:[{number}]" not in held]
        for number in closed or [next(iter(self._datagrams))]:
            self._close_datagram(number)
        self._handle_queries()


def writes_address(pid: int, pointer: int, size_pointer: int, address: bytes) -> bool:
    """Write a `struct sockaddr` where a guest wants it; whether there was room for one at all."""
    reply = kernel.read_memory(pid, size_pointer, 4)
    room = int(struct.unpack("=i", reply)[0]) if len(reply) == 4 else -1
    if room < 0:
        return False
    kernel.write_memory(pid, pointer, address[:room])
    kernel.write_memory(pid, size_pointer, struct.pack("=i", len(address)))
    return True


def _read_header(call: Notification) -> tuple[int, ...]:
    """Return the `msghdr` of a call.

    Raises:
        OSError: it cannot be read.
    """
    data = kernel.read_memory(call.pid, call.args[1], _HEADER.size)
    if len(data) < _HEADER.size:
        raise OSError(errno.EFAULT, "a message ends where memory does")
    return _HEADER.unpack(data)


def _read_pieces(pid: int, pointer: int, count: int) -> list[tuple[int, int]]:
    """Return the addresses and lengths that a message is made of."""
    if count:
        data = kernel.read_memory(pid, pointer, _PIECE.size * min(count, _PIECES))
    else:
        data = b""
    whole = len(data) - len(data) % _PIECE.size
    return [(address, length) for address, length in _PIECE.iter_unpack(data[:whole])]


def _read_from_process(pid: int, pieces: list[tuple[int, int]]) -> bytes:
    """Read what lies there, and no more than shows that it is too much."""
    data = b""
    for address, length in pieces:
        if take := min(length, QUERY_BYTES + 1 - len(data)):
            data += kernel.read_memory(pid, address, take)
    return data


def _write_pieces(pid: int, pieces: list[tuple[int, int]], data: bytes) -> int:
    """Lay bytes there; how many found room."""
    taken = 0
    for address, length in pieces:
        if part := data[taken : taken + length]:
            taken += kernel.write_memory(pid, address, part)
    return taken
