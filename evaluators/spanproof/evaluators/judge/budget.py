"""Limits on questions to the judge: dollars by the hour and by cohort, questions at once and a minute.

A question is reserved at its highest price before it is sent and settled at its true one after, so that
several threads never spend more than allowed together. With a directory the limits hold for all processes
that name it, and for the next start of the service: what was spent is in a file there, and a turn is the lock
of a file, which the kernel releases when its process ends.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from spanproof.evaluators.judge.errors import OverBudget
from spanproof.sandbox.file_locks import LOCK_EX, LOCK_NB, flock

HOUR_S = 3600.0
MAX_REPLY_TOKENS = 700
"""Tokens a reply may have: reasoning of three sentences, some quotes, a number."""

_LOOK_EVERY_S = 0.02

# When, for which cohort, and how many dollars.
_Entries = list[tuple[float, str, float]]


class Budget:
    """Dollars by the hour, in all and by cohort. Thread-safe.

    Args:
        per_hour: at most so much within any hour; None is no limit.
        per_cohort: the same for each cohort.
        now: Unix seconds.
        directory: where the limits are shared with other processes; None shares them with none.
    """

    def __init__(
        self,
        per_hour: float | None,
        per_cohort: float | None = None,
        now: Callable[[], float] = time.time,
        directory: Path | None = None,
    ) -> None:
        self._limits = {"hour": per_hour, "cohort": per_cohort}
        self._now = now
        self._state = _State(directory, "spent.json")

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return any(limit is not None for limit in self._limits.values())

    def reserve(self, cohort: str, dollars: float) -> None:
        """Take this much from the budget.

        Raises:
            OverBudget: it is not there; the message has the limit that is reached.
        """
        with self._entries() as spent:
            of_cohort = sum(cost for _, whose, cost in spent if whose == cohort)
            self._check("hour", sum(cost for _, _, cost in spent), dollars, "an hour")
            self._check("cohort", of_cohort, dollars, f"an hour for the cohort {cohort}")
            spent.append((self._now(), cohort, dollars))

    def settle(self, cohort: str, reserved: float, dollars: float) -> None:
        """Put the true cost in the place of what was reserved."""
        with self._entries() as spent:
            spent.append((self._now(), cohort, dollars - reserved))

    @contextmanager
    def _entries(self) -> Iterator[_Entries]:
        """Yield what was spent within the hour; changes of it are kept."""
        if not self.limited:
            yield []
            return
        with self._state.locked() as state:
            now = self._now()
            spent: _Entries = [
                (min(at, now), cohort, cost)  # a clock that was set back must not keep an entry for ever
                for at, cohort, cost in state.get("spent", [])
                if at > now - HOUR_S
            ]
            state["spent"] = spent
            yield spent

    def _check(self, limit: str, spent: float, dollars: float, words: str) -> None:
        allowed = self._limits[limit]
        if allowed is None or spent + dollars <= allowed:
            return
        budget = f"the judge's budget of ${_format_dollars(allowed)} {words}"
        if dollars > allowed:
            raise OverBudget(f"one question may cost ${_format_dollars(dollars)}, more than {budget}")
        raise OverBudget(f"{budget} is used up")


def _format_dollars(dollars: float) -> str:
    """Return an amount without an exponent, however little it is."""
    return f"{dollars:.6f}".rstrip("0").rstrip(".")


class Pace:
    """How many questions at once, and how many a minute. Thread-safe.

    Args:
        directory: where the limits are shared with other processes; None shares them with none.
    """

    def __init__(self, at_once: int, per_minute: int | None, directory: Path | None = None) -> None:
        self._at_once = at_once
        self._room = threading.BoundedSemaphore(at_once)
        self._gap_s = 60.0 / per_minute if per_minute else 0.0
        self._directory = directory
        self._state = _State(directory, "pace.json")

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and hold it."""
        with self._room, self._shared_room():
            if self._gap_s:
                with self._state.locked() as state:
                    now = time.time()
                    starts = max(now, float(state.get("next", now)))
                    if starts - now > HOUR_S:  # the clock was set back
                        starts = now
                    state["next"] = starts + self._gap_s
                time.sleep(max(0.0, starts - now))
            yield

    @contextmanager
    def _shared_room(self) -> Iterator[None]:
        if self._directory is None:
            yield
            return
        while True:
            for number in range(self._at_once):
                descriptor = _open_private(self._directory / f"turn-{number}")
                try:
                    flock(descriptor, LOCK_EX | LOCK_NB)
                except BlockingIOError:
                    os.close(descriptor)
                    continue
                try:
                    yield
                    return
                finally:
                    os.close(descriptor)
            time.sleep(_LOOK_EVERY_S)


class _State:
    """A JSON object that threads share, and processes too where it is in a file."""

    def __init__(self, directory: Path | None, name: str) -> None:
        self._file = directory / name if directory is not None else None
        self._lock = threading.Lock()
        self._own: dict[str, Any] = {}

    @contextmanager
    def locked(self) -> Iterator[dict[str, Any]]:
        """Yield the object, which no other thread or process changes meanwhile; keep it at the end."""
        with self._lock, ExitStack() as stack:
            if self._file is None:
                yield self._own
                return
            descriptor = _open_private(self._file)
            stack.callback(os.close, descriptor)
            flock(descriptor, LOCK_EX)
            size = os.fstat(descriptor).st_size
            state = _parse(os.read(descriptor, size))
            yield state
            content = json.dumps(state).encode()
            # Padded, so that a process that is killed before it truncates leaves valid JSON.
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, content.ljust(size))
            os.ftruncate(descriptor, len(content))


def _parse(content: bytes) -> dict[str, Any]:
    """Return the object of a file; one that a crash cut off counts as empty."""
    try:
        state = json.loads(content)
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def _open_private(path: Path) -> int:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
