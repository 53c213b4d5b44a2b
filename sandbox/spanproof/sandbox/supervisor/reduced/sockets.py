"""A guest's sockets where the network is the machine's: none of them leads out of it, whatever it is called.

In the place of an internet socket a guest has a unix one that leads nowhere, and cannot: it is no datagram's
(those are in `datagrams`), and each `connect` of it is answered here, never by the kernel. Where a connection
is to be had (a listener of the guest's own, the resolver, the tape), a connected socket of ours is put in its
place, which has no other end to go to. What an internet socket would say of itself is answered as far as
clients query.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections import OrderedDict
from collections.abc import Callable

from spanproof.sandbox import kernel
from spanproof.sandbox.supervisor.reduced.datagrams import DatagramWatcher, writes_address
from spanproof.sandbox.supervisor.reduced.paths import ReducedBoundary
from spanproof.sandbox.supervisor.seccomp import addresses, paths
from spanproof.sandbox.supervisor.seccomp.conditions import NETWORK_REQUESTS, PLAIN_PROTOCOLS, PLAIN_TYPES
from spanproof.sandbox.supervisor.seccomp.notifications import EPERM, GO_ON, Answer, Notification, to_int
from spanproof.sandbox.supervisor.seccomp.watcher import is_missing
from spanproof.sandbox.supervisor.tape.target import Target

_DONE = Answer(value=0)
_ACCESS = Answer(errno.EACCES)
_NAMES_KEPT = 1024
_OPTION_BYTES = 256
# Where clients bind a socket to find out (urllib3 does when it is loaded): yes, and that is no attempt.
_HAS_IPV6 = "[::1]:0"
# Where the kernel takes ports from for who names none.
_FIRST_OWN_PORT, _OWN_PORTS = 49152, 16384


class SocketWatcher(DatagramWatcher):
    """The part of a `GuardedWatcher` that answers for sockets."""

    _boundary: ReducedBoundary

    def start_run(self, listener: int) -> None:
        """See `Watcher`."""
        super().start_run(listener)
        # The address a connection leads to, as its program named it, by the socket's number.
        self._proxied: OrderedDict[int, bytes] = OrderedDict()

    def _build_handlers(self) -> dict[str, Callable[[str, Notification], Answer]]:
        table = super()._build_handlers()
        table.update(
            getpeername=self._handle_name, getsockname=self._handle_name, getsockopt=self._handle_option
        )
        table.update(ioctl=self._handle_request)
        return table

    def _handle_socket(self, name: str, call: Notification) -> Answer:
        """Put one that leads nowhere in the place of an internet socket."""
        family, kind, protocol = (value & 0xFFFFFFFF for value in call.args[:3])
        plain = (kind & 0xF) in PLAIN_TYPES and protocol in PLAIN_PROTOCOLS
        if family not in (socket.AF_INET, socket.AF_INET6) or not plain:
            return super()._handle_socket(name, call)
        if kind & 0xF == socket.SOCK_DGRAM:
            return self._build_datagram(kind)
        placeholder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        placeholder.setblocking(not kind & socket.SOCK_NONBLOCK)
        return self._handle_opened(placeholder.detach(), kind)  # SOCK_CLOEXEC is O_CLOEXEC

    def _evaluate_destination(self, name: str, pointer: int, length: int, call: Notification) -> Answer:
        if pointer and length:
            raw = kernel.read_memory(call.pid, pointer, min(length, 128))
        else:
            raw = b""
        target = addresses.find_address(raw, sends=name.startswith("send"))
        if target is None:
            # No address: what is sent stays on a pair, because no socket here can be sent elsewhere.
            if name == "connect":
                return Answer(errno.EISCONN)
            return GO_ON
        if target.path is not None:
            return self._evaluate_own_unix(name, target, call)
        if name == "bind" and (target.text == _HAS_IPV6 or self._is_any_port(target, call)):
            return _DONE
        return self._evaluate_internet(name, target, raw, call)

    def _evaluate_internet(self, name: str, target: Target, raw: bytes, call: Notification) -> Answer:
        """Lead what goes to the resolver or to the tape there, and record and refuse the rest."""
        if target.loopback and target.port == addresses.DNS_PORT and name != "bind":
            self.record.network_used = True
            datagram = self._find_datagram(call)
            if datagram is None:
                return self._handle_resolver_query(name, call)
            return self._handle_datagram_query(datagram, name, raw, call)
        text, served = self._get_target(target)
        if served and name == "connect" and target.port:  # the call itself will be reported
            return self._handle_tape_connect(call, text, raw)
        if name == "bind" or not target.goes_nowhere:
            self.record.add_attempt("network", text, allowed=False)
        if name == "bind":
            return _ACCESS
        return Answer(errno.ECONNREFUSED if target.loopback else errno.ENETUNREACH)

    def _is_any_port(self, target: Target, call: Notification) -> bool:
        """Whether a client of datagrams is to have any port: no one can send to it, so it needs none."""
        return target.goes_nowhere and self._find_datagram(call) is not None

    def _evaluate_own_unix(self, name: str, target: Target, call: Notification) -> Answer:
        if not target.path:  # unnamed, or abstract: no one of the program's own can have such a name
            if target.text:
                self.record.add_attempt("network", target.text, allowed=False)
            if name == "bind":
                return EPERM
            return Answer(errno.ECONNREFUSED)
        path, writes = self._build_absolute(target.path, call.pid), name == "bind"
        judged, resolved = self._boundary.judge(path, call.pid, writes=writes)
        if not self._boundary.is_own(resolved):
            if judged is paths.Judged.INSIDE:
                return Answer(errno.ENOENT)  # what libc looks for by itself
            self._record_file(judged, resolved, writes=writes)
            if not writes and is_missing(judged, resolved):
                return Answer(errno.ENOENT)
            return _ACCESS
        if name == "bind":
            return GO_ON  # making it is Landlock's to allow
        if name == "connect":
            return self._handle_inside_connect(resolved, call)
        return Answer(errno.EISCONN)

    def _handle_inside_connect(self, resolved: str, call: Notification) -> Answer:
        """Connect to a listener of the program's own: by a socket of ours, put in place of the guest's."""
        try:
            fd = self._boundary.open_own_path(resolved)
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as ours:
                    ours.setblocking(False)  # noqa: FBT003
                    ours.connect(f"/proc/self/fd/{fd}")
                    self._update_socket(ours, call)
            finally:
                os.close(fd)
        except OSError as problem:
            return Answer(problem.errno or errno.ECONNREFUSED)
        return _DONE

    def _build_pair(self, address: bytes) -> tuple[socket.socket, socket.socket]:
        """See `ProxyingWatcher`; not of the internet: such a one could be listened at, or sent elsewhere."""
        ours, theirs = socket.socketpair()
        self._proxied[os.fstat(theirs.fileno()).st_ino] = address
        if len(self._proxied) > _NAMES_KEPT:
            self._proxied.popitem(last=False)
        return ours, theirs

    def _handle_name(self, name: str, call: Notification) -> Answer:
        """Answer for a connection that was proxied: the address it leads to, or one it may well come from.

        Of a datagram socket too: c-ares, by which Node.js looks names up, sends nothing before it sees one.
        """
        try:
            number = os.stat(f"/proc/{call.pid}/fd/{to_int(call.args[0])}").st_ino  # noqa: PTH116
        except OSError:
            return GO_ON
        datagram = self._datagrams.get(number)
        address = self._proxied.get(number) or (datagram.address if datagram is not None else b"")
        if not address:
            return GO_ON
        if name == "getsockname":
            address = _to_loopback(address, _FIRST_OWN_PORT + number % _OWN_PORTS)
        reply = writes_address(call.pid, call.args[1], call.args[2], address)
        return _DONE if reply else Answer(errno.EINVAL)

    def _handle_request(self, name: str, call: Notification) -> Answer:
        """Refuse what is requested of the machine's interfaces and routes."""
        request = call.args[1] & 0xFFFFFFFF
        if request not in NETWORK_REQUESTS:
            return self._handle_lock(name, call)
        self.record.add_attempt("network", f"ioctl {request:#06x}", allowed=False)
        return EPERM

    def _handle_option(self, _name: str, call: Notification) -> Answer:
        """Answer an option of an internet socket for what replaces it: as none was set."""
        room = _decode_size(kernel.read_memory(call.pid, call.args[4], 4))
        if room < 0:
            return Answer(errno.EINVAL)
        option = bytes(min(room, _OPTION_BYTES))
        kernel.write_memory(call.pid, call.args[3], option)
        kernel.write_memory(call.pid, call.args[4], struct.pack("=i", len(option)))
        return _DONE


def _to_loopback(address: bytes, port: int) -> bytes:
    """Return the loopback's address, in the form of another one."""
    (family,) = struct.unpack_from("=H", address)
    if family == socket.AF_INET:
        return struct.pack("=H", family) + struct.pack("!H4s8x", port, socket.inet_aton("127.0.0.1"))
    return struct.pack("=H", family) + struct.pack("!HI16sI", port, 0, bytes(15) + b"\1", 0)


def _decode_size(data: bytes) -> int:
    """Unpack a `socklen_t`, negative where it is none."""
    if len(data) == 4:
        return int(struct.unpack("=i", data)[0])
    return -1
