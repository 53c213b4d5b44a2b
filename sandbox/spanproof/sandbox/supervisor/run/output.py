"""One output stream of a guest, bounded: its start and its end are kept, and the cut is marked."""

from __future__ import annotations


class Stream:
    """Takes bytes as they come; keeps at most `keep` of them."""

    def __init__(self, keep: int) -> None:
        self._head_room = keep - keep // 4
        self._tail_room = keep // 4
        self._head = bytearray()
        self._tail = bytearray()
        self.seen = 0

    @property
    def cut(self) -> bool:
        """Whether more was written than is kept."""
        return self.seen > self._head_room + self._tail_room

    def add(self, data: bytes) -> None:
        """Take more output."""
        self.seen += len(data)
        room = self._head_room - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data
            if len(self._tail) > 2 * self._tail_room + 65536:
                del self._tail[: len(self._tail) - self._tail_room]

    def get_kept_bytes(self) -> bytes:
        """Return what is kept, with a mark where bytes are missing."""
        if not self.cut:
            return bytes(self._head + self._tail)
        if self._tail_room:
            tail = bytes(self._tail[len(self._tail) - self._tail_room :])
        else:
            tail = b""
        missing = self.seen - len(self._head) - len(tail)
        return bytes(self._head) + f"\n[... {missing} bytes cut ...]\n".encode() + tail
