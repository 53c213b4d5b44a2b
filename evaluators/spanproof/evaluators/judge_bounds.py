"""Bounds of judges: one whose fails people too often call wrong may fail nothing.

In: what judges were measured at on people's labels, in a file that the service writes and its evaluating
processes read. Out: whether a judge may fail a layer.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.trace import Layer

JUDGE_PREFIXES: Final = ("judge:", "local-model:")
"""What the evaluator's name of a judge begins with."""

BOUNDS_FILE: Final = "measured.json"
"""Name of the file within the directory that a judge's processes share."""

LEAST_PRECISION: Final = 0.7
"""Default of the lower end of the precision's 95 % interval."""

LEAST_FAILS: Final = 30
"""Labelled fails from which on a bound counts: with fewer the interval is wider than .3, and says little."""


@dataclass(frozen=True, slots=True)
class MeasuredFails:
    """How often people agreed with what a judge failed on a layer."""

    judge: str
    layer: Layer
    fails: int
    right_fails: int


class JudgeBounds:
    """Which judges may fail something. Thread-safe.

    Args:
        file: with what was measured; None, or one that is not there, lets each judge fail.
        least_precision: at the lower end of the interval.
    """

    def __init__(self, file: Path | None = None, least_precision: float = LEAST_PRECISION) -> None:
        self._file = file
        self._least_precision = least_precision
        self._lock = threading.Lock()
        self._read_at: int | None = None
        self._below: frozenset[tuple[str, Layer]] = frozenset()

    def may_fail(self, judge: str, layer: Layer) -> bool:
        """Whether a judge is not below its bound on a layer; one with too few labels is not."""
        if self._file is None:
            return True
        with self._lock:
            self._update_bounds(self._file)
            return (judge, layer) not in self._below

    def _update_bounds(self, file: Path) -> None:
        """Read the file where it changed."""
        try:
            changed_at = file.stat().st_mtime_ns
            if changed_at == self._read_at:
                return
            measured = [_parse_row(row) for row in json.loads(file.read_text("utf-8"))]
        except (OSError, ValueError, KeyError, TypeError):
            # No measurement, or one that is being written: what was read last counts.
            return
        self._read_at = changed_at
        self._below = frozenset(
            (fails.judge, fails.layer) for fails in measured if is_below_bound(fails, self._least_precision)
        )


def is_below_bound(measured: MeasuredFails, least_precision: float) -> bool:
    """Whether the lower end of a judge's precision is below the bound, on enough labelled fails."""
    interval = compute_wilson_interval(measured.right_fails, measured.fails)
    return interval is not None and measured.fails >= LEAST_FAILS and interval.low < least_precision


def write_bounds(file: Path, measured: Iterable[MeasuredFails]) -> None:
    """Write what was measured, whole or not at all."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps([asdict(fails) for fails in measured]), "utf-8")
    part.replace(file)


def _parse_row(row: dict[str, Any]) -> MeasuredFails:
    return MeasuredFails(str(row["judge"]), Layer(row["layer"]), int(row["fails"]), int(row["right_fails"]))
