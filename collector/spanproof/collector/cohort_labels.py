"""Labels of metrics that come from traces, bounded in number and length.

A series for each cohort that traces name would have no bound. Beyond it a new cohort is counted as `(other)`,
all of its values, so that no rate has its parts in two series.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spanproof.trace import Cohort

OTHER: Final = "(other)"
_MOST_CHARACTERS: Final = 200


class CohortLabels:
    """Assigns the label values of cohorts; the caller holds a lock.

    Args:
        names: the dimensions that are labels.
        most: so many cohorts have values of their own.
    """

    def __init__(self, names: Sequence[str], most: int) -> None:
        self.names = tuple(names)
        self.folded = 0
        self._most = most
        self._cohorts: set[tuple[str, ...]] = set()

    def list_labels(self, cohort: Cohort) -> tuple[str, ...]:
        """Return the label values of a cohort, those of `(other)` beyond the bound."""
        labels = tuple(_format_label(getattr(cohort, name)) for name in self.names)
        if labels not in self._cohorts:
            if len(self._cohorts) >= self._most:
                self.folded += 1
                return (OTHER,) * len(self.names)
            self._cohorts.add(labels)
        return labels


def _format_label(text: str) -> str:
    """Return text of a trace as a label can hold it."""
    return text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
