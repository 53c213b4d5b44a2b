"""An experiment beside an earlier one: how its pass rates changed, and which cases came out differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from spanproof.experiments.case_result import CaseResult
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.folder import ExperimentFolder
from spanproof.experiments.statistics import Change, PairedDifference, compare_pairs, compute_mcnemar
from spanproof.experiments.trial import Trial
from spanproof.gate import OpenPolicy
from spanproof.suites import Case
from spanproof.trace.html_tables import format_html_table

if TYPE_CHECKING:
    import pandas as pd

# The share of trials from which a case counts as one that passes.
MAJORITY: Final = 0.5


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of an experiment with a baseline, over the cases that both judged.

    Attributes:
        difference: of the mean pass rates, now less before, with its interval and its test over cases; None
            where no case is in both.
        mcnemar_p: p value of McNemar's exact test over the cases that flipped.
        fixed, regressed: ids of the cases that flipped: by the majority of their trials, however their open
            ones turn out.
        opened, closed: ids of the cases that had no open trial and have one now, and the other way round.
    """

    cases: int
    difference: PairedDifference | None
    mcnemar_p: float
    fixed: tuple[str, ...]
    regressed: tuple[str, ...]
    opened: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()

    @property
    def change(self) -> Change:
        """The result of the comparison at the stated level."""
        if self.difference is not None:
            return self.difference.change
        return Change.NONE_SHOWN

    @property
    def flipped(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The cases with another result, by the change."""
        return (
            ("fixed", self.fixed),
            ("regressed", self.regressed),
            ("were judged, are open now", self.opened),
            ("were open, are judged now", self.closed),
        )

    def iter_facts(self) -> Iterator[tuple[str, str]]:
        """Yield what the head of a report says: names and values."""
        if self.difference is None:
            return
        difference = self.difference
        interval = f"95% interval {difference.low:+.1%} to {difference.high:+.1%}"
        shown = f"{self.change}: {difference.mean:+.1%}, {interval}, p = {difference.p_value:.3g}"
        yield "beside the baseline", shown
        yield from ((word, ", ".join(ids)) for word, ids in self.flipped if ids)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON data."""
        return {
            "cases": self.cases,
            "change": self.change.value,
            "difference": self.difference.mean if self.difference else None,
            "interval": [self.difference.low, self.difference.high] if self.difference else None,
            "p_value": self.difference.p_value if self.difference else None,
            "mcnemar_p": self.mcnemar_p,
            "fixed": list(self.fixed),
            "regressed": list(self.regressed),
            "opened": list(self.opened),
            "closed": list(self.closed),
        }

    def to_pandas(self) -> pd.DataFrame:
        """Return the cases with another result as a table: `case` and `change`."""
        import pandas as pd

        changes = {
            "fixed": self.fixed,
            "regressed": self.regressed,
            "opened": self.opened,
            "closed": self.closed,
        }
        rows = [(case, change) for change, cases in changes.items() for case in cases]
        return pd.DataFrame(rows, columns=["case", "change"])

    def _repr_html_(self) -> str:
        by = self.difference
        if by:
            shown = f": {by.mean:+.1%} ({by.low:+.1%} to {by.high:+.1%}), p = {by.p_value:.3g}"
        else:
            shown = ""
        rows = [(word, ", ".join(ids)) for word, ids in self.flipped if ids]
        return format_html_table(f"{self.change}{shown}", ("cases that", ""), rows)


@dataclass(frozen=True, slots=True)
class BaselineRates:
    """The pass rate of each case of an earlier experiment.

    Attributes:
        open_shares: by case the share of its trials that are open and undecided.
        counts: by case how many of the counted trials passed, and how many there are.
    """

    origin: str
    rates: Mapping[str, float]
    open_shares: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def read_baseline(folder: Path, open_policy: OpenPolicy = OpenPolicy.NOT_PASSED) -> BaselineRates:
    """Return the pass rates of the experiment in a folder.

    Args:
        folder: of the experiment.
        open_policy: what open trials count as.

    Raises:
        ExperimentError: there is none, or none of its trials was judged.
    """
    files = ExperimentFolder(folder)
    files.read_head()
    trials: dict[str, list[Trial]] = {}
    for trial in files.read_trials():
        trials.setdefault(trial.case, []).append(trial)
    results = {
        case: CaseResult(Case(case), tuple(of_case), open_policy=open_policy)
        for case, of_case in trials.items()
    }
    baseline = build_baseline(str(folder), results)
    if not baseline.rates:
        raise ExperimentError(f"{folder} has no judged trial to compare with")
    return baseline


def build_baseline(origin: str, results: Mapping[str, CaseResult]) -> BaselineRates:
    """Return the pass rates of results.

    Args:
        origin: the name of the experiment.
        results: by case.
    """
    return BaselineRates(
        origin,
        {case: result.rate for case, result in results.items() if result.rate is not None},
        {case: result.open_share for case, result in results.items()},
        {case: (result.counted_passed, result.counted) for case, result in results.items()},
    )


def compare_rates(
    now: Mapping[str, float],
    before: Mapping[str, float],
    open_now: Mapping[str, float] = MappingProxyType({}),
    open_before: Mapping[str, float] = MappingProxyType({}),
) -> Comparison:
    """Return the comparison of pass rates by case; cases that are in one of both only are left out.

    Args:
        now: pass rates, open trials counted as not passed.
        before: those of the baseline.
        open_now: the share of open trials, by case.
        open_before: those of the baseline.
    """
    both = sorted(now.keys() & before.keys())
    most_now = {case: now[case] + open_now.get(case, 0.0) for case in both}
    most_before = {case: before[case] + open_before.get(case, 0.0) for case in both}
    fixed = tuple(case for case in both if now[case] >= MAJORITY > most_before[case])
    regressed = tuple(case for case in both if before[case] >= MAJORITY > most_now[case])
    opened = tuple(case for case in both if open_now.get(case) and not open_before.get(case))
    closed = tuple(case for case in both if open_before.get(case) and not open_now.get(case))
    if both:
        difference = compare_pairs([before[c] for c in both], [now[c] for c in both])
    else:
        difference = None
    mcnemar_p = compute_mcnemar(len(regressed), len(fixed))
    return Comparison(len(both), difference, mcnemar_p, fixed, regressed, opened, closed)
