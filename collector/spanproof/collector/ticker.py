"""Calls watchers soon after something was stored, and every now and then besides.

Watchers look at the store over time (alert rules do): they must see a failure soon, and the end of one even
when nothing comes in any more. They run in a thread of their own, so that a slow one delays no other work.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from spanproof.collector.telemetry import Telemetry

log = logging.getLogger(__name__)

_SOON_S = 1.0
_AT_LEAST_EVERY_S = 15.0

Watcher = Callable[[], object]
"""Called without arguments; what it raises is logged and counted."""


class Ticker:
    """The thread that calls the watchers."""

    def __init__(self, watchers: Sequence[Watcher], telemetry: Telemetry) -> None:
        self._watchers = tuple(watchers)
        self._telemetry = telemetry
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spanproof-ticks", daemon=True)

    def start(self) -> None:
        """Begin to call."""
        self._thread.start()

    def nudge(self) -> None:
        """Wake the watchers soon: something was stored."""
        self._wake.set()

    def stop(self) -> None:
        """Call the watchers a last time and end."""
        self._stopping.set()
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait(_AT_LEAST_EVERY_S)
            self._wake.clear()
            self._run_watchers()
            # A busy collector stores several times a second; its watchers need not look that often.
            self._stopping.wait(_SOON_S)
        self._run_watchers()

    def _run_watchers(self) -> None:
        for watcher in self._watchers:
            try:
                watcher()
            except Exception:
                self._telemetry.tick_failures.inc()
                log.exception("a watcher failed")
