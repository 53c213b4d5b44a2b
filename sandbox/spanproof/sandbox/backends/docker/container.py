"""A container with the jail's supervisor in it, and the stream to it. One caller at a time.

In: frames for the supervisor. Out: its frames. Whatever comes out of the container is taken apart under
bounds; one that is silent, ends, or is not itself is removed, and what is known of its end is reported.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

from spanproof.sandbox.backend import Evidence
from spanproof.sandbox.backends.docker.daemon import Daemon, Shape
from spanproof.sandbox.backends.docker.source import encode_modules
from spanproof.sandbox.errors import SandboxBroken, SandboxSilent, SandboxUnavailable
from spanproof.sandbox.guest.wire import FROM_SUPERVISOR, BadFrame, Decoder, Frame, Header, encode_frame
from spanproof.sandbox.supervisor.node import Node
from spanproof.sandbox.supervisor.run.job import Runtimes
from spanproof.sandbox.toolchains import TOOLCHAINS

_START_S = 60.0
_CLEAN_S = 20.0
_STREAM = struct.Struct("!BxxxI")
_STDOUT = 1
_LAST_WORDS_BYTES = 4096


class ContainerEnded(SandboxBroken):
    """The container ended while a program ran in it.

    Attributes:
        out_of_memory: whether the kernel ended it for memory.
    """

    def __init__(self, message: str, *, out_of_memory: bool) -> None:
        super().__init__(message)
        self.out_of_memory = out_of_memory


class Container:
    """A container that has said hello; it plays the part of the jail's `host.SupervisorLink`."""

    def __init__(self, daemon: Daemon, shape: Shape) -> None:
        """Make it and start it.

        Raises:
            SandboxUnavailable: it does not come up; says why.
        """
        self.shape = shape
        self.runs = 0
        self._daemon = daemon
        self._decoder = Decoder(FROM_SUPERVISOR)
        self._raw = bytearray()
        self._errors = bytearray()
        self._dirty = self._answered = False
        self._id = daemon.build_container(shape)
        try:
            self._stream = daemon.open_streams(self._id)
            daemon.start(self._id)
            self._send(encode_modules())
            self.facts = self._wait_for_kind("hello", _START_S).header
            self._wait_for_kind("armed", _START_S)
        except SandboxBroken as failure:
            self.close()
            raise SandboxUnavailable(f"the container does not come up: {failure}") from failure
        except BaseException:
            self.close()
            raise

    @property
    def watched(self) -> bool:
        """Whether the kernel reports what programs attempt."""
        return self.facts.get("watched") is True

    @property
    def serves_calls(self) -> bool:
        """Whether recorded calls can be answered in it."""
        return self.facts.get("tape") is True

    @property
    def evidence(self) -> frozenset[Evidence]:
        """What is known of its runs: attempts only where no other filter refuses before ours reports."""
        attempts = self.watched and self._daemon.has_own_profile
        observed = {
            Evidence.ATTEMPTS: attempts,
            Evidence.CALLS: self.serves_calls,
            Evidence.PEAK_MEMORY: True,
        }
        return frozenset(one for one, is_observed in observed.items() if is_observed)

    @property
    def runtimes(self) -> Runtimes:
        """What the image has."""
        bash, found = self.facts.get("bash"), self.facts.get("node")
        toolchains = self.facts.get("toolchains")
        path, version = found if isinstance(found, list) and len(found) == 2 else ("", ())
        return Runtimes(
            location="the container",
            bash=bash if isinstance(bash, str) else None,
            node=Node(str(path), tuple(map(int, version))) if path else None,
            duckdb=self.facts.get("duckdb") is True,
            toolchains=frozenset(TOOLCHAINS).intersection(
                map(str, toolchains) if isinstance(toolchains, list) else ()
            ),
            node_remedy="name an image with Node.js",
            duckdb_remedy="name an image that has it",
        )

    @property
    def idle(self) -> bool:
        """Whether it is as it was before its last run."""
        return not self._dirty

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Send a frame.

        Raises:
            SandboxBroken: the container is gone.
        """
        if header.get("kind") == "job":
            self._dirty, self._answered = True, False
            self.runs += 1
        self._send(encode_frame(header, parts))

    def wait_for_frame(self, timeout_s: float) -> Frame:
        """Wait for the next frame.

        Raises:
            ContainerEnded: the container is gone.
            SandboxSilent: it gave no answer in time.
            SandboxBroken: it is not itself.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                while (frame := self._decoder.find_frame()) is None:
                    self._handle_output(deadline - time.monotonic())
            except BadFrame as failure:
                raise SandboxBroken(f"a container sent no frame: {failure}") from failure
            if frame.header.get("kind") == "broken":
                raise SandboxBroken(f"a container's supervisor failed: {frame.header.get('reason')}")
            if frame.header.get("kind") != "clean":  # before a result, it is about a guest that never ran
                self._answered = frame.header.get("kind") == "result"
                return frame

    def is_clean(self) -> bool:
        """Whether it is as it was before its last run; waits for its word on that."""
        deadline = time.monotonic() + _CLEAN_S
        try:
            while self._dirty:
                while (frame := self._decoder.find_frame()) is None:
                    self._handle_output(deadline - time.monotonic())
                if not self._answered or frame.header.get("kind") != "clean":
                    return False
                self._dirty = False
        except (SandboxBroken, BadFrame):
            return False
        return not self._has_unexpected_data()

    def close(self) -> None:
        """End it with all in it, and take it away. Safe to call twice."""
        with contextlib.suppress(AttributeError, OSError):
            self._stream.close()
        self._daemon.remove(self._id)

    def _wait_for_kind(self, kind: str, timeout_s: float) -> Frame:
        frame = self.wait_for_frame(timeout_s)
        if frame.header.get("kind") != kind:
            raise SandboxBroken(f"it said {str(frame.header.get('kind'))[:40]!r} instead of {kind!r}")
        return frame

    def _send(self, data: bytes) -> None:
        try:
            self._stream.settimeout(_CLEAN_S)
            self._stream.sendall(data)
        except OSError as failure:
            raise self._build_end_error(str(failure)) from failure

    def _handle_output(self, timeout_s: float) -> None:
        """Take what the daemon passes on, and put each piece where it belongs."""
        self._stream.settimeout(max(0.001, timeout_s))
        try:
            data = self._stream.recv(262144)
        except TimeoutError:
            raise SandboxSilent("a container did not answer in time") from None
        except OSError as failure:
            raise self._build_end_error(str(failure)) from failure
        if not data:
            raise self._build_end_error("it closed its streams")
        self._raw += data
        while len(self._raw) >= _STREAM.size:
            stream, length = _STREAM.unpack_from(self._raw)
            end = _STREAM.size + length
            if len(self._raw) < end:
                break
            piece = bytes(self._raw[_STREAM.size : end])
            del self._raw[:end]
            if stream == _STDOUT:
                self._decoder.add_bytes(piece)
            else:
                self._errors = (self._errors + piece)[-_LAST_WORDS_BYTES:]

    def _has_unexpected_data(self) -> bool:
        """Whether something came unasked: an idle supervisor that speaks has ended."""
        self._stream.settimeout(0)
        try:
            return bool(self._raw) or self._stream.recv(1, socket.MSG_PEEK) is not None
        except (BlockingIOError, TimeoutError):
            return False
        except OSError:
            return True

    def _build_end_error(self, how: str) -> ContainerEnded:
        self._daemon.wait(self._id, 5)
        try:
            state: dict[str, Any] = self._daemon.get_state(self._id)
        except SandboxUnavailable:
            state = {}
        words = bytes(self._errors).decode(errors="replace").strip().rpartition("\n")[2]
        quote = f": {words}" if words else ""
        return ContainerEnded(
            f"a container ended with exit code {state.get('ExitCode', '?')} ({how}){quote}",
            out_of_memory=state.get("OOMKilled") is True,
        )
