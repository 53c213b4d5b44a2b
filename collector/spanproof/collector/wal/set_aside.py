"""Traces that a stage failed on, kept as files that `spanproof eval` reads.

One bad trace must neither block the log for ever nor be lost, so its bytes go into a file of their own. What
is kept is bounded: beyond the limit the oldest files give way, and the log says so.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path

log = logging.getLogger(__name__)

_MOST_BYTES = 512 * 1024 * 1024


class SetAside:
    """A directory of traces, `<trace id>.pb` each. Thread-safe."""

    def __init__(self, directory: Path, most_bytes: int = _MOST_BYTES) -> None:
        self._directory = directory
        self._most = most_bytes
        self._guard = threading.Lock()

    def keep(self, trace_id: str, body: bytes) -> Path | None:
        """Write a trace; None where even that fails, which is logged and must not hurt other traces."""
        path = self._directory / f"{trace_id}.pb"
        try:
            with self._guard:
                self._directory.mkdir(parents=True, exist_ok=True)
                fresh = path.with_suffix(".new")
                fresh.write_bytes(body)
                now_ns = time.time_ns()  # a file system's own clock may stand for some milliseconds
                os.utime(fresh, ns=(now_ns, now_ns))
                fresh.replace(path)
                self._make_room(path)
        except OSError:
            log.exception("trace %s could not be set aside", trace_id)
            return None
        return path

    def _make_room(self, newest: Path) -> None:
        files = sorted(self._directory.glob("*.pb"), key=lambda file: file.stat().st_mtime_ns)
        total = sum(file.stat().st_size for file in files)
        for oldest in files:
            if total <= self._most or oldest == newest:
                return
            total -= oldest.stat().st_size
            oldest.unlink(missing_ok=True)
            log.error("%s was deleted: traces set aside take more than %d bytes", oldest, self._most)
