"""Measures the judges on people's labels, at start and every week, for the processes that evaluate.

In: the store. Out: the file of `judge_bounds`, by which a judge that people call wrong too often fails
nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from spanproof.evaluators.judge.measure import list_judge_measurements
from spanproof.evaluators.judge_bounds import BOUNDS_FILE, is_below_bound, write_bounds
from spanproof.store import Store
from spanproof.store.labelled import iter_labelled_scores, list_person_labels

log = logging.getLogger(__name__)

_WEEK_S: Final = 7 * 86_400.0
# Older labels are of other prompts and other models.
_WINDOW_S: Final = 90 * 86_400.0


class JudgeMeasuring:
    """A watcher that measures once a week.

    Args:
        store: with the labels.
        directory: that the judge's processes share.
        least_precision: below which a judge is named in the log.
        now: Unix seconds.
    """

    def __init__(
        self,
        store: Store,
        directory: Path,
        least_precision: float,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._file = directory / BOUNDS_FILE
        self._least_precision = least_precision
        self._now = now
        self._due = 0.0

    def __call__(self) -> None:
        """Measure, where a week has passed."""
        now = self._now()
        if now < self._due:
            return
        self._due = now + _WEEK_S
        since_ns = int((now - _WINDOW_S) * 1e9)
        labels = list_person_labels(self._store, since_ns=since_ns)
        measured = [
            measurement
            for measurement in list_judge_measurements(labels, iter_labelled_scores(self._store, labels))
            if not measurement.week
        ]
        for measurement in measured:
            if is_below_bound(measurement.fails, self._least_precision):
                log.warning(
                    "%s fails nothing on %s: people agree with %d of its %d fails",
                    measurement.judge,
                    measurement.layer,
                    measurement.fails.right_fails,
                    measurement.fails.fails,
                )
        if measured or self._file.exists():
            write_bounds(self._file, [measurement.fails for measurement in measured])
