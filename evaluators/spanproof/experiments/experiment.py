"""An experiment's results: by case, over all cases, and beside a baseline.

A case is *passed* when every trial passed, *failed* when none did, *flaky* when some did. Where none failed,
it is *errored* when its tests could not run in a trial, by no fault of the agent, *inconclusive* when trials
could not be judged, and *open* when some are open. Errored trials count as not passed in every rate, and so
do open ones unless the user says otherwise.

Beside a baseline, or beside the frozen run a case was promoted from, a failed case is *reproduced* where it
failed before and *regressed* where it passed, and a passed one is *fixed* where it failed before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import fsum, prod
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanproof.evaluators.intervals import Interval, compute_clustered_interval, compute_wilson_interval
from spanproof.experiments.case_result import (
    FAILED_STATUSES,
    GOOD_STATUSES,
    CaseResult,
    CaseStatus,
    build_result_row,
    classify_result,
    compute_ends,
    encode_case,
)
from spanproof.experiments.comparison import MAJORITY, BaselineRates, Comparison, compare_rates
from spanproof.experiments.folder import ExperimentFolder
from spanproof.experiments.statistics import has_fallen
from spanproof.experiments.trial import Trial, TrialVerdict
from spanproof.gate import LEAST_JUDGED_SHARE, OpenPolicy, describe_gravest_cause, describe_shortfall
from spanproof.gate.outputs import ResultRow, ResultTable, Verdict, format_count
from spanproof.gate.pass_rates import pass_at_k, pass_hat_k
from spanproof.suites import Case
from spanproof.suites.conditions import format_short_line
from spanproof.trace import Cohort, Label, Layer, State
from spanproof.trace.html_tables import format_html_table

if TYPE_CHECKING:
    import pandas as pd

# The `k` of pass@k and pass^k that a report has, where that many trials were run.
_REPORTED_TRIALS: Final = (1, 2, 3, 5, 10)
# Names of models that hold a date or a digest, and names that a provider moves from model to model.
_DATED = re.compile(r"\d{4}-?\d{2}-?\d{2}|-\d{4}$|@|sha256")
_HOSTED = re.compile(r"^(?:.*/)?(?:gpt|o\d|chatgpt|claude|gemini|mistral|grok|command)[-\d]|latest$")


class LayerCount(NamedTuple):
    """How many trials failed a layer, had a verdict on it, and left it open."""

    failed: int
    judged: int
    open: int


class GroupCount(NamedTuple):
    """How many trials passed, of those that count, and how many of these are open."""

    passed: int
    counted: int
    open: int


@dataclass(frozen=True)
class Experiment:
    """The trials of an experiment.

    Attributes:
        folder: where it is stored.
        wanted: trials per case that were wanted.
        stopped: why it ended before all trials were run; empty where it did not.
        baseline: what it is compared with.
        quarantine: whether cases that are flaky in both do not decide.
        suite: folder of the suite, as it was given.
        results: the folder's files, which hold the runs; None of trials that hold theirs themselves.
        open_policy: what open trials count as.
        least_judged: the share of what a layer could judge that it must have judged, from 0 to 1.
    """

    folder: str
    agent: str
    suite_cases: tuple[Case, ...]
    trials: tuple[Trial, ...]
    wanted: int
    stopped: str = ""
    baseline: BaselineRates | None = None
    quarantine: bool = False
    suite: str = ""
    results: ExperimentFolder | None = None
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED
    least_judged: float = LEAST_JUDGED_SHARE

    @cached_property
    def cases(self) -> tuple[CaseResult, ...]:
        """Every case of the suite with its trials."""
        by_case: dict[str, list[Trial]] = {}
        for trial in sorted(self.trials, key=lambda entry: entry.number):
            by_case.setdefault(trial.case, []).append(trial)
        return tuple(self._build_result(case, tuple(by_case.get(case.id, ()))) for case in self.suite_cases)

    @property
    def passed(self) -> bool:
        """Whether it passed: what the exit code, the reports and `passed` in JSON say."""
        return self.verdict is Verdict.PASSED

    @cached_property
    def verdict(self) -> Verdict:
        """Passed where every case that decides passed in every trial, and enough was judged.

        Failed where a case failed a trial; else inconclusive.
        """
        statuses = {case.status for case in self.cases if not case.quarantined}
        if statuses & FAILED_STATUSES:
            return Verdict.FAILED
        is_good = bool(statuses) and statuses <= GOOD_STATUSES
        if is_good and not self.stopped and not self.shortfalls:
            return Verdict.PASSED
        return Verdict.INCONCLUSIVE

    @property
    def conclusion(self) -> str:
        """The verdict and why, in one sentence."""
        passed = sum(case.status in GOOD_STATUSES for case in self.cases)
        text = (
            f"{self.verdict.value}: {passed} of {format_count(len(self.cases), 'case')} passed in every trial"
        )
        unsettled = sum(case.open > 0 for case in self.cases)
        parts = [text + (f", {unsettled} open" if unsettled else "")]
        if self.verdict is Verdict.INCONCLUSIVE:
            parts += filter(None, [self.stopped, *(self.shortfalls or [self._describe_undecided()])])
        return "; ".join(parts)

    def _describe_undecided(self) -> str:
        """Return why no case decides, or the most frequent reason of trials that could not be judged."""
        if self.cases and all(case.quarantined for case in self.cases):
            return "every case is quarantined: flaky here and in the baseline"
        reasons = Counter(
            trial.reason
            for case in self.cases
            for trial in case.trials
            if not case.quarantined and trial.verdict in (TrialVerdict.UNJUDGED, TrialVerdict.ERRORED)
        )
        reason, trials = reasons.most_common(1)[0] if reasons else ("", 0)
        if reason:
            return f"{format_count(trials, 'trial')}: {format_short_line(reason)}"
        return ""

    @cached_property
    def shortfalls(self) -> tuple[str, ...]:
        """The required layers of which too little was judged, a sentence each."""
        found = []
        for layer in Layer:
            judged, reasons = 0, []
            for case in self.cases:
                for trial in case.trials if not case.quarantined else ():
                    of_layer = [finding for finding in trial.findings if finding.layer is layer]
                    left = [finding for finding in of_layer if not finding.is_judged]
                    reasons += [finding.reason for finding in left[:1]]
                    state = trial.layers.get(layer.value, State.SKIPPED)
                    judged += bool(of_layer) and not left and state.is_judged
            reason = Counter(reasons).most_common(1)[0][0] if reasons else ""
            unjudged = [None] * len(reasons)
            found.append(
                describe_shortfall(f"trials' {layer.value}", judged, unjudged, self.least_judged, reason)
            )
        return tuple(filter(None, found))

    def count(self, status: CaseStatus) -> int:
        """Return how many cases have this status."""
        return sum(case.status is status for case in self.cases)

    @property
    def open_trials(self) -> int:
        """How many trials are open."""
        return sum(case.open for case in self.cases)

    def compute_pass_at(self, k: int) -> float | None:
        """Return the mean pass@k of the cases with at least `k` counted trials; None where there is none."""
        cases = [case for case in self.cases if case.counted >= k]
        if cases:
            return fmean(pass_at_k(case.counted, case.counted_passed, k) for case in cases)
        return None

    def compute_pass_hat(self, k: int) -> float | None:
        """Return the mean pass^k of the cases with at least `k` counted trials; None where there is none."""
        cases = [case for case in self.cases if case.counted >= k]
        if cases:
            return fmean(pass_hat_k(case.counted, case.counted_passed, k) for case in cases)
        return None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of pass@1, over cases: trials of one case are not independent of each other."""
        rates = [case.rate for case in self.cases if case.rate is not None]
        if rates:
            return compute_wilson_interval(fsum(rates), len(rates))
        return None

    @property
    def step_success(self) -> float | None:
        """The share of steps that ended without an error; None where there were none."""
        steps = sum(trial.steps for trial in self.trials)
        if steps:
            return sum(trial.ok_steps for trial in self.trials) / steps
        return None

    @property
    def run_success_by_steps(self) -> float | None:
        """Step success multiplied over the mean number of steps: the chance that no step of a run fails."""
        rate, counts = self.step_success, [trial.steps for trial in self.trials if trial.steps]
        return None if rate is None else prod([rate] * round(fmean(counts)))

    @property
    def cost_usd(self) -> float | None:
        """What all trials cost in US dollars; None where no model's price is known."""
        costs = [trial.cost_usd for trial in self.trials if trial.cost_usd is not None]
        return fsum(costs) if costs else None

    @property
    def left_out_layers(self) -> dict[str, int]:
        """The layers that cases leave out with `requires`, with the number of these cases."""
        found = Counter(
            layer.value for case in self.suite_cases for layer in Layer if layer not in case.required_layers
        )
        return dict(found)

    def count_by_layer(self) -> dict[str, LayerCount]:
        """Return the counts of each layer."""
        found = {}
        for layer in Layer:
            states = Counter(trial.layers.get(layer.value, State.SKIPPED) for trial in self.trials)
            judged = states[State.FAIL] + states[State.PASS]
            found[layer.value] = LayerCount(states[State.FAIL], judged, states[State.OPEN])
        return found

    def count_by_group(self, group: str) -> dict[str, GroupCount]:
        """Return the counts for each value of a group.

        Args:
            group: `tag`, or a dimension of the cohort of the cases.
        """
        found: dict[str, GroupCount] = {}
        for case in self.cases:
            if group == "tag":
                values = case.case.tags
            else:
                values = (getattr(case.case.cohort, group),)
            for value in filter(None, values):
                passed, counted, unsettled = found.get(value, (0, 0, 0))
                found[value] = GroupCount(
                    passed + case.counted_passed, counted + case.counted, unsettled + case.open
                )
        return found

    def compute_layer_interval(self, layer: str) -> Interval | None:
        """Return the 95 % interval of the share of failed trials of a layer, by case."""
        parts = []
        for case in self.cases:
            states = Counter(trial.layers.get(layer, State.SKIPPED) for trial in case.trials)
            parts.append((states[State.FAIL], states[State.FAIL] + states[State.PASS]))
        return compute_clustered_interval(parts)

    def compute_group_interval(self, dimension: str, value: str) -> Interval | None:
        """Return the 95 % interval of the share of passed trials of a group, by case."""
        parts = []
        for case in self.cases:
            if dimension == "tag":
                values = case.case.tags
            else:
                values = (getattr(case.case.cohort, dimension),)
            if value in values:
                parts.append((case.counted_passed, case.counted))
        return compute_clustered_interval(parts)

    @property
    def groups(self) -> Iterator[tuple[str, str, GroupCount]]:
        """Yield dimension, value and counts, of tags and of dimensions with several values."""
        for dimension in ("tag", *(dimension.name for dimension in fields(Cohort))):
            rates = self.count_by_group(dimension)
            if len(rates) > 1 or (rates and dimension == "tag"):
                yield from ((dimension, value, counts) for value, counts in sorted(rates.items()))

    @property
    def floating_models(self) -> tuple[str, ...]:
        """The models whose name is an alias: what they answer with may change from day to day."""
        names = {name for trial in self.trials for name in trial.models}
        return tuple(sorted(name for name in names if _HOSTED.search(name) and not _DATED.search(name)))

    def compare(self, baseline: Experiment) -> Comparison:
        """Compare this experiment with another one on the same cases."""
        return compare_rates(self.rates, baseline.rates, self.open_shares, baseline.open_shares)

    @property
    def comparison(self) -> Comparison | None:
        """The comparison with the baseline; None without one."""
        if self.baseline is None:
            return None
        before = self.baseline
        return compare_rates(self.rates, before.rates, self.open_shares, before.open_shares)

    @property
    def rates(self) -> dict[str, float]:
        """The pass rate of each case that has trials that count."""
        return {case.case.id: case.rate for case in self.cases if case.rate is not None}

    @property
    def open_shares(self) -> dict[str, float]:
        """The share of each case's trials that are open and undecided."""
        return {case.case.id: case.open_share for case in self.cases}

    def to_json(self) -> dict[str, Any]:
        """Return the experiment as JSON data, which `spanproof gate --scores` reads; docs/experiments.md."""
        return {**self.build_json_head(), "cases": list(self.iter_json_cases())}

    def build_json_head(self) -> dict[str, Any]:
        """Return the content of `to_json` without the cases."""
        counts_of_trials = [k for k in _REPORTED_TRIALS if k <= self.wanted]
        pass_at = {str(k): self.compute_pass_at(k) for k in counts_of_trials}
        pass_hat = {str(k): self.compute_pass_hat(k) for k in counts_of_trials}
        baseline = self.comparison.to_json() if self.comparison else None
        return {
            "agent": self.agent,
            "folder": self.folder,
            "passed": self.passed,
            "verdict": self.verdict.value,
            "conclusion": self.conclusion,
            "least_judged": self.least_judged,
            "layers_left_out": self.left_out_layers,
            "stopped": self.stopped or None,
            "open_counts_as": self.open_policy.value,
            "open_trials": self.open_trials,
            "trials_per_case": self.wanted,
            "pass_at": pass_at,
            "pass_hat": pass_hat,
            "interval": compute_ends(self.interval),
            "step_success": self.step_success,
            "run_success_by_steps": self.run_success_by_steps,
            "counts": self._encode_counts(),
            "wall_s": fsum(trial.wall_s for trial in self.trials),
            "judge_s": fsum(trial.judge_s for trial in self.trials),
            "cost_usd": self.cost_usd,
            "layers": self._encode_layers(),
            "groups": self._encode_groups(),
            "floating_models": list(self.floating_models),
            "baseline": baseline,
        }

    def _encode_counts(self) -> dict[str, int]:
        return {status.value: self.count(status) for status in CaseStatus}

    def _encode_layers(self) -> dict[str, Any]:
        return {
            layer: {**counts._asdict(), "interval": compute_ends(self.compute_layer_interval(layer))}
            for layer, counts in self.count_by_layer().items()
        }

    def _encode_groups(self) -> list[dict[str, Any]]:
        return [
            {
                "dimension": dimension,
                "value": value,
                **counts._asdict(),
                "interval": compute_ends(self.compute_group_interval(dimension, value)),
            }
            for dimension, value, counts in self.groups
        ]

    def iter_json_cases(self) -> Iterator[dict[str, Any]]:
        """Yield the cases of `to_json` one by one: together they hold the runs of all trials."""
        for case in self.cases:
            rows = [row for trial in case.trials if (row := self.load_row(trial))]
            yield encode_case(case, rows)

    def load_row(self, trial: Trial) -> Mapping[str, Any] | None:
        """Return a trial's run in the form of `spanproof eval --json`; None where it left none."""
        if self.results is None:
            return trial.row
        return self.results.load_row(trial)

    def to_table(self) -> ResultTable:
        """Return the experiment as the rows of a report, one per case."""
        unsettled = sum(case.open > 0 for case in self.cases)
        rows = tuple(self._build_row(result) for result in self.cases)
        return ResultTable(
            f"spanproof experiment {self.agent}",
            self.passed,
            self.conclusion,
            rows,
            tuple(self._iter_facts()),
            open=unsettled,
            open_remark=self.open_policy.remark,
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                case.case.id,
                case.status.value,
                f"{case.passed} of {len(case.trials)}",
                case.first_failure.reason if case.first_failure else "",
            )
            for case in self.cases
        ]
        return format_html_table(self.conclusion, ("case", "status", "passed", "why"), rows)

    def _build_row(self, result: CaseResult) -> ResultRow:
        failure = result.first_failure
        is_failed = failure is not None and classify_result(result) is Verdict.FAILED
        return build_result_row(result, self.suite, self.load_row(failure) if failure and is_failed else None)

    def _iter_facts(self) -> Iterator[tuple[str, str]]:
        yield from self._iter_rates()
        errored = sum(result.errored for result in self.cases)
        if errored:
            yield "errored", f"{format_count(errored, 'trial')}, counted as not passed"
        yield from self._iter_layer_counts()
        cause = describe_gravest_cause(cause for result in self.cases for cause in result.open_causes)
        if cause:
            yield "gravest cause of open trials", cause
        if self.comparison is not None:
            yield from self.comparison.iter_facts()
        for layer, cases in self.left_out_layers.items():
            yield f"{layer} not required", f"by {format_count(cases, 'case')} (requires)"
        if self.stopped:
            yield "stopped", self.stopped

    def _iter_rates(self) -> Iterator[tuple[str, str]]:
        rate, k = self.compute_pass_at(1), self.wanted
        if rate is not None:
            yield "pass@1", f"{rate:.1%}, {self.interval}"
        at, hat = self.compute_pass_at(k), self.compute_pass_hat(k)
        if k > 1 and at is not None and hat is not None:
            yield f"pass@{k}", f"{at:.1%}"
            yield f"pass^{k}", f"{hat:.1%}"

    def _iter_layer_counts(self) -> Iterator[tuple[str, str]]:
        for layer, counts in self.count_by_layer().items():
            if counts.failed or counts.open:
                unsettled = f", {counts.open} open" if counts.open else ""
                yield (
                    f"{layer} failed",
                    f"{counts.failed} of {format_count(counts.judged, 'trial')}{unsettled}",
                )

    def to_pandas(self) -> pd.DataFrame:
        """Return a table with a row per trial."""
        import pandas as pd

        rows = [
            {
                "case": trial.case,
                "trial": trial.number,
                "verdict": trial.verdict.value,
                "reason": trial.reason,
                "wall_s": trial.wall_s,
                "judge_s": trial.judge_s,
                "tokens": trial.tokens,
                "cost_usd": trial.cost_usd,
                "steps": trial.steps,
                **{layer.value: trial.layers.get(layer.value) for layer in Layer},
            }
            for result in self.cases
            for trial in result.trials
        ]
        return pd.DataFrame(rows)

    def _build_result(self, case: Case, trials: tuple[Trial, ...]) -> CaseResult:
        rate = self.baseline.rates.get(case.id) if self.baseline else None
        if self.baseline is None:
            before = find_promoted_result(case)
        else:
            before = None if rate is None else rate >= MAJORITY
        result = CaseResult(case, trials, before, open_policy=self.open_policy)
        is_flaky = rate is not None and 0 < rate < 1 and result.status is CaseStatus.FLAKY
        if not (self.quarantine and is_flaky and self.baseline):
            return result
        fell = has_fallen(self.baseline.counts.get(case.id, (0, 0)), (result.counted_passed, result.counted))
        return replace(result, quarantined=not fell, fell=fell)


def find_promoted_result(case: Case) -> bool | None:
    """Whether the run a case was promoted from failed no layer; None of a case without a run."""
    layers = [expectation.label for expectation in case.expectations if expectation.is_of_layer]
    return None if not layers else Label.FAIL not in layers
