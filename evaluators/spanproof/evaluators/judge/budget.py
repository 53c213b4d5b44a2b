"""Limits on prompts to a judge: dollars by hour, cohort, day and trace, prompts at once and a minute.

A prompt is reserved at its highest price before it is sent and settled at its true one after, so that
several threads never spend more than allowed together. With a directory the limits hold for all processes
that name it, and for the next start of the service: what was spent is in a file there, and a turn is the lock
of a file, which the kernel releases when its process ends. The limit of a trace is of one process, as one
process evaluates a trace.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from spanproof.evaluators.judge.errors import OverBudget
from spanproof.sandbox.file_locks import LOCK_EX, LOCK_NB, flock

HOUR_S: Final = 3600.0

_LOOK_EVERY_S: Final = 0.02
# Traces whose cost is remembered; a trace is evaluated as a whole, so older ones are done.
_MAX_TRACES: Final = 10_000

# When, for which cohort, and how many dollars.
_Entries = list[tuple[float, str, float]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Dollars that may be spent; None is no limit.

    Attributes:
        hour: within any hour.
        cohort: within any hour for one cohort.
        day: within one day of UTC.
        trace: for one trace.
    """

    hour: float | None = None
    cohort: float | None = None
    day: float | None = None
    trace: float | None = None

    @property
    def are_set(self) -> bool:
        """Whether there is a limit at all."""
        return any(limit is not None for limit in (self.hour, self.cohort, self.day, self.trace))

    @property
    def are_shared(self) -> bool:
        """Whether there is a limit that holds for all processes."""
        return any(limit is not None for limit in (self.hour, self.cohort, self.day))


@dataclass(frozen=True, slots=True)
class Payer:
    """On whose budget a prompt is; `trace_id` is empty where it is about no trace."""

    cohort: str = ""
    trace_id: str = ""


class Budget:
    """Dollars by hour, cohort, day and trace. Thread-safe.

    Args:
        limits: what may be spent.
        now: Unix seconds.
        directory: where the limits are shared with other processes; None shares them with none.
    """

    def __init__(
        self, limits: Limits, now: Callable[[], float] = time.time, directory: Path | None = None
    ) -> None:
        self._limits = limits
        self._now = now
        self._state = _State(directory, "spent.json")
        self._lock = threading.Lock()
        self._by_trace: OrderedDict[str, float] = OrderedDict()

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._limits.are_set

    def add_reservation(self, payer: Payer, dollars: float) -> None:
        """Take this much from the budget.

        Raises:
            OverBudget: it is not there; the message has the limit that is reached.
        """
        limits = self._limits
        with self._lock:
            of_trace = self._by_trace.get(payer.trace_id, 0.0)
        if payer.trace_id:
            _check_limit(limits.trace, of_trace, dollars, "a trace")
        with self._locked_state() as state:
            spent: _Entries = state["spent"]
            of_cohort = sum(cost for _, cohort, cost in spent if cohort == payer.cohort)
            _check_limit(limits.hour, sum(cost for _, _, cost in spent), dollars, "an hour")
            _check_limit(limits.cohort, of_cohort, dollars, f"an hour for the cohort {payer.cohort}")
            _check_limit(limits.day, state["day_spent"], dollars, "a day")
            self._add(state, payer, dollars)

    def update_cost(self, payer: Payer, reserved: float, dollars: float) -> None:
        """Put the true cost in the place of what was reserved."""
        with self._locked_state() as state:
            self._add(state, payer, dollars - reserved)

    def _add(self, state: dict[str, Any], payer: Payer, dollars: float) -> None:
        state["spent"].append((self._now(), payer.cohort, dollars))
        state["day_spent"] += dollars
        if not payer.trace_id:
            return
        with self._lock:
            self._by_trace[payer.trace_id] = self._by_trace.get(payer.trace_id, 0.0) + dollars
            self._by_trace.move_to_end(payer.trace_id)
            while len(self._by_trace) > _MAX_TRACES:
                self._by_trace.popitem(last=False)

    @contextmanager
    def _locked_state(self) -> Iterator[dict[str, Any]]:
        """Yield what was spent within the hour and today; changes of it are kept."""
        if not self._limits.are_shared:
            yield {"spent": [], "day_spent": 0.0}
            return
        with self._state.locked() as state:
            now = self._now()
            today = datetime.fromtimestamp(now, UTC).date().isoformat()
            if state.get("day") != today:
                state |= {"day": today, "day_spent": 0.0}
            spent: _Entries = [
                # A clock that was set back must not keep an entry for ever.
                (min(at, now), cohort, cost)
                for at, cohort, cost in state.get("spent", [])
                if at > now - HOUR_S
            ]
            state["spent"] = spent
            yield state


def _check_limit(limit: float | None, spent: float, dollars: float, words: str) -> None:
    if limit is None or spent + dollars <= limit:
        return
    budget = f"the judge's budget of ${_format_dollars(limit)} {words}"
    if dollars > limit:
        raise OverBudget(f"one question may cost ${_format_dollars(dollars)}, more than {budget}")
    raise OverBudget(f"{budget} is used up")


def _format_dollars(dollars: float) -> str:
    """Return an amount without an exponent, however little it is."""
    return f"{dollars:.6f}".rstrip("0").rstrip(".")


class Pace:
    """How many prompts at once, and how many a minute. Thread-safe.

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
            state = _parse_state(os.read(descriptor, size))
            yield state
            content = json.dumps(state).encode()
            # Padded, so that a process that is killed before it truncates leaves valid JSON.
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, content.ljust(size))
            os.ftruncate(descriptor, len(content))


def _parse_state(content: bytes) -> dict[str, Any]:
    """Return the object of a file; one that a crash cut off counts as empty."""
    try:
        state = json.loads(content)
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def _open_private(path: Path) -> int:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
