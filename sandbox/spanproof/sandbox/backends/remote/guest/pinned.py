"""The clock and the chance of one Python interpreter, fixed from within, where nothing below it can be.

For backends whose kernel is not ours to query: code that looks for the real clock, or starts another program,
finds it. Honest code sees the time of its recording, and the same numbers again. Standard library only; works
on the interpreter it is called in, for good.
"""

from __future__ import annotations

import ctypes
import datetime
import gc
import os
import random
import time
from typing import Any

_NANO = 1_000_000_000


def start_seeded_random(seed: int) -> None:
    """Draw what the operating system gives (`uuid4`, `secrets`, numpy) from a seeded generator."""
    source = random.Random(f"operating system, {seed}")  # noqa: S311 - the point is that it repeats
    os.urandom = source.randbytes
    random._urandom = source.randbytes  # type: ignore[attr-defined]  # noqa: SLF001 - bound at import


def start_shifted_clock(start_s: float) -> None:
    """Make this moment `start_s` (Unix time) for `time` and `datetime`."""
    real_ns = time.time_ns
    offset_ns = int(start_s * _NANO) - real_ns()

    def now_ns() -> int:
        return real_ns() + offset_ns

    def now() -> float:
        return now_ns() / _NANO

    time.time_ns = now_ns
    time.time = now
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _with_default(getattr(time, name), now))
    real_strftime, real_asctime = time.strftime, time.asctime
    time.strftime = lambda form, moment=None: real_strftime(form, moment or time.localtime())
    time.asctime = lambda moment=None: real_asctime(moment or time.localtime())
    _update_datetime(now)


def _with_default(real: Any, now: Any) -> Any:
    def converted(seconds: float | None = None) -> Any:
        return real(now() if seconds is None else seconds)

    converted.__name__ = real.__name__
    return converted


def _update_datetime(now: Any) -> None:
    """Change methods in place: C extensions hold these classes themselves, and crash on a stand-in."""
    real = datetime.datetime
    date_from = datetime.date.fromtimestamp
    from_timestamp = real.fromtimestamp

    def shifted_now(cls: type[datetime.datetime], tz: datetime.tzinfo | None = None) -> Any:
        if cls is real:
            return from_timestamp(now(), tz)
        return cls.fromtimestamp(now(), tz)

    def shifted_utcnow(cls: type[datetime.datetime]) -> Any:
        return shifted_now(cls, datetime.UTC).replace(tzinfo=None)

    def shifted_today(cls: type[datetime.date]) -> Any:
        if cls is datetime.date:
            return date_from(now())
        return cls.fromtimestamp(now())

    _update_methods(datetime.datetime, now=shifted_now, utcnow=shifted_utcnow)
    _update_methods(datetime.date, today=shifted_today)


def _update_methods(kind: type, **methods: Any) -> None:
    """Put class methods into an immutable class."""
    (members,) = (found for found in gc.get_referents(kind.__dict__) if isinstance(found, dict))
    for name, method in methods.items():
        members[name] = classmethod(method)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
