"""Writing to a store that cannot be reached at times: again and again, for as long as the collector runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from spanproof.collector.telemetry import Telemetry
from spanproof.store import StoreUnavailable

log = logging.getLogger(__name__)

LONGEST_PAUSE_S = 10.0
_FIRST_PAUSE_S = 0.2


class PatientWrites:
    """Writes of one thread; another thread may end the patience."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._given_up = threading.Event()

    def record_given_up(self) -> None:
        """Try nothing again from now on."""
        self._given_up.set()

    def write(self, write: Callable[[], object]) -> bool:
        """Write; while the store cannot be reached try again. False when that was given up.

        Raises:
            StoreError: the store refused.
        """
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                write()
            except StoreUnavailable as unavailable:
                self._telemetry.store_retries.inc()
                log.warning("the store cannot be reached, trying again in %.1f s: %s", pause_s, unavailable)
                if self._given_up.wait(pause_s):
                    return False
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            else:
                return True
