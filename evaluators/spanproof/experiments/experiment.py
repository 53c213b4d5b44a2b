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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from math import fsum, prod
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanproof.evaluators.intervals import Interval, compute_clustered_interval, compute_wilson_interval
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.folder import ExperimentFolder
from spanproof.experiments.statistics import Change, PairedDifference, compare_pairs, has_fallen, mcnemar
from spanproof.experiments.trial import Trial, TrialVerdict
from spanproof.gate import LEAST_JUDGED_SHARE, OpenPolicy, describe_gravest_cause, describe_shortfall
from spanproof.gate.outputs import ResultRow, ResultTable, Verdict, count, mark_code
from spanproof.gate.pass_rates import pass_at_k, pass_hat_k
from spanproof.suites import Case
from spanproof.suites.conditions import shorten
from spanproof.trace import Cause, Cohort, Label, Layer, State
from spanproof.trace.html_tables import format_html_table

if TYPE_CHECKING:
    import pandas as pd

_DATED = re.compile(r"\d{4}-?\d{2}-?\d{2}|-\d{4}$|@|sha256")
_HOSTED = re.compile(r"^(?:.*/)?(?:gpt|o\d|chatgpt|claude|gemini|mistral|grok|command)[-\d]|latest$")


class CaseStatus(StrEnum):
    """How a case came out."""

    PASSED = "passed"
    FIXED = "fixed"
    FLAKY = "flaky"
    REPRODUCED = "reproduced"
    REGRESSED = "regressed"
    FAILED = "failed"
    ERRORED = "errored"
    OPEN = "open"
    INCONCLUSIVE = "inconclusive"


_GOOD: Final = frozenset((CaseStatus.PASSED, CaseStatus.FIXED))
_FAILED: Final = frozenset((CaseStatus.FLAKY, CaseStatus.REPRODUCED, CaseStatus.REGRESSED, CaseStatus.FAILED))

# What a report says of a case that did not fail, and did not pass.
_UNDECIDED = {
    CaseStatus.ERRORED: Verdict.ERRORED,
    CaseStatus.OPEN: Verdict.INCONCLUSIVE,
    CaseStatus.INCONCLUSIVE: Verdict.INCONCLUSIVE,
}


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


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case with its trials, in the order of their numbers.

    Attributes:
        before: whether it passed before, by the baseline or by the frozen run; None where that is not known.
        quarantined: it was flaky in the baseline, too, its rate did not fall, and it does not decide.
        fell: it was flaky in the baseline, too, and its rate fell: a regression, quarantine or not.
        open_policy: what open trials count as.
    """

    case: Case
    trials: tuple[Trial, ...]
    before: bool | None = None
    quarantined: bool = False
    fell: bool = False
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED

    @property
    def judged(self) -> tuple[Trial, ...]:
        """The trials with a verdict: passed or failed."""
        return tuple(trial for trial in self.trials if trial.verdict.is_judged)

    @property
    def passed(self) -> int:
        """How many trials passed; open ones are not among them."""
        return sum(trial.passed for trial in self.trials)

    @property
    def errored(self) -> int:
        """How many trials could not be tested, by no fault of the agent."""
        return sum(trial.verdict is TrialVerdict.ERRORED for trial in self.trials)

    @property
    def open(self) -> int:
        """How many trials are open."""
        return sum(trial.verdict is TrialVerdict.OPEN for trial in self.trials)

    @property
    def counted(self) -> int:
        """How many trials rates are over: all but unjudged ones, and open ones where they are left out."""
        ignored = self.open_policy is OpenPolicy.IGNORE
        return len(self.judged) + self.errored + (0 if ignored else self.open)

    @property
    def counted_passed(self) -> int:
        """How many of the counted trials count as passed."""
        return self.passed + (self.open if self.open_policy is OpenPolicy.PASS else 0)

    @property
    def rate(self) -> float | None:
        """The share of the counted trials that count as passed, None where none counts."""
        return self.counted_passed / self.counted if self.counted else None

    @property
    def open_share(self) -> float:
        """The share of the counted trials that may still turn out either way."""
        is_undecided = self.open_policy is OpenPolicy.NOT_PASSED and self.open > 0
        return self.open / self.counted if is_undecided else 0.0

    @property
    def status(self) -> CaseStatus:
        """How it came out."""
        failed = len(self.judged) - self.passed
        failed += self.open if self.open_policy is OpenPolicy.FAIL else 0
        if self.counted_passed and failed:
            return CaseStatus.REGRESSED if self.fell else CaseStatus.FLAKY
        if failed:
            known = {True: CaseStatus.REGRESSED, False: CaseStatus.REPRODUCED, None: CaseStatus.FAILED}
            return known[self.before]
        if self.errored:
            return CaseStatus.ERRORED
        if len(self.judged) + self.open < len(self.trials) or not self.counted:
            return CaseStatus.INCONCLUSIVE
        if self.open and self.open_policy is OpenPolicy.NOT_PASSED:
            return CaseStatus.OPEN
        return CaseStatus.FIXED if self.before is False else CaseStatus.PASSED

    @property
    def first_failure(self) -> Trial | None:
        """The first trial that did not pass; one that failed comes before one that is open."""
        order = (TrialVerdict.FAILED, *(each for each in TrialVerdict if each is not TrialVerdict.FAILED))
        missed = [trial for trial in self.trials if not trial.passed]
        return min(missed, key=lambda trial: order.index(trial.verdict), default=None)

    @property
    def open_causes(self) -> tuple[Cause | None, ...]:
        """Why its open trials are open: of each the causes of the findings that are."""
        return tuple(
            finding.cause
            for trial in self.trials
            if trial.verdict is TrialVerdict.OPEN
            for finding in trial.findings
            if finding.is_open
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """An experiment beside a baseline, over the cases that both judged.

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
        """What the comparison shows at the stated level."""
        return self.difference.change if self.difference is not None else Change.NONE_SHOWN

    @property
    def flipped(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The cases that came out differently, by how."""
        return (
            ("fixed", self.fixed),
            ("regressed", self.regressed),
            ("were judged, are open now", self.opened),
            ("were open, are judged now", self.closed),
        )

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
        """Return the cases that came out differently as a table: `case` and `change`."""
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
        shown = f": {by.mean:+.1%} ({by.low:+.1%} to {by.high:+.1%}), p = {by.p_value:.3g}" if by else ""
        rows = [(word, ", ".join(ids)) for word, ids in self.flipped if ids]
        return format_html_table(f"{self.change}{shown}", ("cases that", ""), rows)


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
        for trial in sorted(self.trials, key=lambda each: each.number):
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
        statuses = {each.status for each in self.cases if not each.quarantined}
        if statuses & _FAILED:
            return Verdict.FAILED
        is_good = bool(statuses) and statuses <= _GOOD
        if is_good and not self.stopped and not self.shortfalls:
            return Verdict.PASSED
        return Verdict.INCONCLUSIVE

    @property
    def conclusion(self) -> str:
        """The verdict and why, in one sentence."""
        passed = sum(each.status in _GOOD for each in self.cases)
        text = f"{self.verdict.value}: {passed} of {count(len(self.cases), 'case')} passed in every trial"
        unsettled = sum(each.open > 0 for each in self.cases)
        parts = [text + (f", {unsettled} open" if unsettled else "")]
        if self.verdict is Verdict.INCONCLUSIVE:
            parts += filter(None, [self.stopped, *(self.shortfalls or [self._describe_undecided()])])
        return "; ".join(parts)

    def _describe_undecided(self) -> str:
        """Return why no case decides, or the most frequent reason of trials that could not be judged."""
        if self.cases and all(each.quarantined for each in self.cases):
            return "every case is quarantined: flaky here and in the baseline"
        reasons = Counter(
            trial.reason
            for each in self.cases
            for trial in each.trials
            if not each.quarantined and trial.verdict in (TrialVerdict.UNJUDGED, TrialVerdict.ERRORED)
        )
        reason, trials = reasons.most_common(1)[0] if reasons else ("", 0)
        return f"{count(trials, 'trial')}: {shorten(reason)}" if reason else ""

    @cached_property
    def shortfalls(self) -> tuple[str, ...]:
        """The required layers of which too little was judged, a sentence each."""
        found = []
        for layer in Layer:
            judged, reasons = 0, []
            for each in self.cases:
                for trial in each.trials if not each.quarantined else ():
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
        """Return how many cases came out like this."""
        return sum(each.status is status for each in self.cases)

    @property
    def open_trials(self) -> int:
        """How many trials are open."""
        return sum(each.open for each in self.cases)

    def pass_at(self, k: int) -> float | None:
        """Return the mean pass@k of the cases with at least `k` counted trials; None where there is none."""
        cases = [each for each in self.cases if each.counted >= k]
        return fmean(pass_at_k(each.counted, each.counted_passed, k) for each in cases) if cases else None

    def pass_hat(self, k: int) -> float | None:
        """Return the mean pass^k of the cases with at least `k` counted trials; None where there is none."""
        cases = [each for each in self.cases if each.counted >= k]
        return fmean(pass_hat_k(each.counted, each.counted_passed, k) for each in cases) if cases else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of pass@1, over cases: trials of one case are not independent of each other."""
        rates = [each.rate for each in self.cases if each.rate is not None]
        return compute_wilson_interval(fsum(rates), len(rates)) if rates else None

    @property
    def step_success(self) -> float | None:
        """The share of steps that ended without an error; None where there were none."""
        steps = sum(trial.steps for trial in self.trials)
        return sum(trial.ok_steps for trial in self.trials) / steps if steps else None

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

    def fail_rates(self) -> dict[str, LayerCount]:
        """Return the counts of each layer."""
        found = {}
        for layer in Layer:
            states = Counter(trial.layers.get(layer.value, State.SKIPPED) for trial in self.trials)
            judged = states[State.FAIL] + states[State.PASS]
            found[layer.value] = LayerCount(states[State.FAIL], judged, states[State.OPEN])
        return found

    def rates_by(self, group: str) -> dict[str, GroupCount]:
        """Return the counts for each value of a group.

        Args:
            group: `tag`, or a dimension of the cohort of the cases.
        """
        found: dict[str, GroupCount] = {}
        for each in self.cases:
            values = each.case.tags if group == "tag" else (getattr(each.case.cohort, group),)
            for value in filter(None, values):
                passed, counted, unsettled = found.get(value, (0, 0, 0))
                found[value] = GroupCount(
                    passed + each.counted_passed, counted + each.counted, unsettled + each.open
                )
        return found

    def compute_layer_interval(self, layer: str) -> Interval | None:
        """Return the 95 % interval of the share of failed trials of a layer, by case."""
        parts = []
        for each in self.cases:
            states = Counter(trial.layers.get(layer, State.SKIPPED) for trial in each.trials)
            parts.append((states[State.FAIL], states[State.FAIL] + states[State.PASS]))
        return compute_clustered_interval(parts)

    def compute_group_interval(self, dimension: str, value: str) -> Interval | None:
        """Return the 95 % interval of the share of passed trials of a group, by case."""
        parts = []
        for each in self.cases:
            values = each.case.tags if dimension == "tag" else (getattr(each.case.cohort, dimension),)
            if value in values:
                parts.append((each.counted_passed, each.counted))
        return compute_clustered_interval(parts)

    @property
    def groups(self) -> Iterator[tuple[str, str, GroupCount]]:
        """Yield dimension, value and counts, of tags and of dimensions with several values."""
        for dimension in ("tag", *(each.name for each in fields(Cohort))):
            rates = self.rates_by(dimension)
            if len(rates) > 1 or (rates and dimension == "tag"):
                yield from ((dimension, value, counts) for value, counts in sorted(rates.items()))

    @property
    def floating_models(self) -> tuple[str, ...]:
        """The models whose name is an alias: what they answer with may change from day to day."""
        names = {name for trial in self.trials for name in trial.models}
        return tuple(sorted(each for each in names if _HOSTED.search(each) and not _DATED.search(each)))

    def compare(self, baseline: Experiment) -> Comparison:
        """Return this experiment beside another one on the same cases."""
        return compare_rates(self.rates, baseline.rates, self.open_shares, baseline.open_shares)

    @property
    def comparison(self) -> Comparison | None:
        """The experiment beside its baseline, None where it has none."""
        if self.baseline is None:
            return None
        before = self.baseline
        return compare_rates(self.rates, before.rates, self.open_shares, before.open_shares)

    @property
    def rates(self) -> dict[str, float]:
        """The pass rate of each case that has trials that count."""
        return {each.case.id: each.rate for each in self.cases if each.rate is not None}

    @property
    def open_shares(self) -> dict[str, float]:
        """The share of each case's trials that are open and undecided."""
        return {each.case.id: each.open_share for each in self.cases}

    def to_json(self) -> dict[str, Any]:
        """Return the experiment as JSON data, which `spanproof gate --scores` reads; docs/experiments.md."""
        return {**self.json_head(), "cases": list(self.json_cases())}

    def json_head(self) -> dict[str, Any]:
        """Return what `to_json` has beside the cases."""
        ks = [k for k in (1, 2, 3, 5, 10) if k <= self.wanted]
        comparison = self.comparison
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
            "pass_at": {str(k): self.pass_at(k) for k in ks},
            "pass_hat": {str(k): self.pass_hat(k) for k in ks},
            "interval": [self.interval.low, self.interval.high] if self.interval else None,
            "step_success": self.step_success,
            "run_success_by_steps": self.run_success_by_steps,
            "counts": {status.value: self.count(status) for status in CaseStatus},
            "wall_s": fsum(trial.wall_s for trial in self.trials),
            "judge_s": fsum(trial.judge_s for trial in self.trials),
            "cost_usd": self.cost_usd,
            "layers": {
                name: {
                    "failed": counts.failed,
                    "judged": counts.judged,
                    "open": counts.open,
                    "interval": _list_ends(self.compute_layer_interval(name)),
                }
                for name, counts in self.fail_rates().items()
            },
            "groups": [
                {
                    "dimension": dimension,
                    "value": value,
                    "passed": counts.passed,
                    "counted": counts.counted,
                    "open": counts.open,
                    "interval": _list_ends(self.compute_group_interval(dimension, value)),
                }
                for dimension, value, counts in self.groups
            ],
            "floating_models": list(self.floating_models),
            "baseline": comparison.to_json() if comparison else None,
        }

    def json_cases(self) -> Iterator[dict[str, Any]]:
        """Yield the cases of `to_json` one by one: together they hold the runs of all trials."""
        for each in self.cases:
            rows = [row for trial in each.trials if (row := self.row_of(trial))]
            yield _encode_case(each, rows)

    def row_of(self, trial: Trial) -> Mapping[str, Any] | None:
        """Return a trial's run in the form of `spanproof eval --json`; None where it left none."""
        return trial.row if self.results is None else self.results.read_row(trial)

    def to_table(self) -> ResultTable:
        """Return the experiment as the rows of a report, one per case."""
        unsettled = sum(each.open > 0 for each in self.cases)
        rows = tuple(self._build_row(each) for each in self.cases)
        return ResultTable(
            f"spanproof experiment {self.agent}",
            self.passed,
            self.conclusion,
            rows,
            tuple(self._list_facts()),
            open=unsettled,
            open_remark=self.open_policy.remark,
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                each.case.id,
                each.status.value,
                f"{each.passed} of {len(each.trials)}",
                each.first_failure.reason if each.first_failure else "",
            )
            for each in self.cases
        ]
        return format_html_table(self.conclusion, ("case", "status", "passed", "why"), rows)

    def _build_row(self, result: CaseResult) -> ResultRow:
        first, verdict, reason = result.first_failure, Verdict.PASSED, ""
        if result.status in (CaseStatus.PASSED, CaseStatus.FIXED):
            first = None
        if result.quarantined:
            reason = "quarantined: flaky here and in the baseline"
        elif result.status not in (CaseStatus.PASSED, CaseStatus.FIXED):
            verdict = _UNDECIDED.get(result.status, Verdict.FAILED)
            reason = f"{result.status.value}: {first.reason if first else 'no trial was run'}"
        row = self.row_of(first) if first and verdict is Verdict.FAILED else None
        run = next(iter((row or {}).get("runs") or ()), None)
        place = f"traces/{result.case.id}-{first.number:03d}" if first else ""
        return ResultRow(
            group="spanproof.experiment",
            name=result.case.id,
            verdict=verdict,
            reason=reason,
            details=tuple(_describe_trials(result)),
            layer=first.layer.value if first and first.layer else "",
            file=f"{self.suite}/cases/{result.case.id}/case.yaml" if self.suite else "",
            wall_s=fsum(trial.wall_s for trial in result.trials),
            open=result.open,
            marks=mark_code(run, first.layer, place) if run and first else (),
        )

    def _list_facts(self) -> Iterable[tuple[str, str]]:
        rate, k = self.pass_at(1), self.wanted
        if rate is not None:
            yield "pass@1", f"{rate:.1%}, {self.interval}"
        at, hat = self.pass_at(k), self.pass_hat(k)
        if k > 1 and at is not None and hat is not None:
            yield f"pass@{k}", f"{at:.1%}"
            yield f"pass^{k}", f"{hat:.1%}"
        errored = sum(each.errored for each in self.cases)
        if errored:
            yield "errored", f"{count(errored, 'trial')}, counted as not passed"
        for layer, counts in self.fail_rates().items():
            if counts.failed or counts.open:
                unsettled = f", {counts.open} open" if counts.open else ""
                yield f"{layer} failed", f"{counts.failed} of {count(counts.judged, 'trial')}{unsettled}"
        cause = describe_gravest_cause(cause for each in self.cases for cause in each.open_causes)
        if cause:
            yield "gravest cause of open trials", cause
        found = self.comparison
        if found is not None and found.difference is not None:
            by = found.difference
            interval = f"95% interval {by.low:+.1%} to {by.high:+.1%}"
            yield "beside the baseline", f"{found.change}: {by.mean:+.1%}, {interval}, p = {by.p_value:.3g}"
            yield from ((word, ", ".join(ids)) for word, ids in found.flipped if ids)
        for layer, cases in self.left_out_layers.items():
            yield f"{layer} not required", f"by {count(cases, 'case')} (requires)"
        if self.stopped:
            yield "stopped", self.stopped

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
                **{name: trial.layers.get(name) for name in (each.value for each in Layer)},
            }
            for each in self.cases
            for trial in each.trials
        ]
        return pd.DataFrame(rows)

    def _build_result(self, case: Case, trials: tuple[Trial, ...]) -> CaseResult:
        rate = self.baseline.rates.get(case.id) if self.baseline else None
        before = (
            _has_passed_before(case) if self.baseline is None else (None if rate is None else rate >= 0.5)
        )
        result = CaseResult(case, trials, before, open_policy=self.open_policy)
        is_flaky = rate is not None and 0 < rate < 1 and result.status is CaseStatus.FLAKY
        if not (self.quarantine and is_flaky and self.baseline):
            return result
        fell = has_fallen(self.baseline.counts.get(case.id, (0, 0)), (result.counted_passed, result.counted))
        return replace(result, quarantined=not fell, fell=fell)


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
    results = ExperimentFolder(folder)
    results.read_head()
    trials: dict[str, list[Trial]] = {}
    for trial in results.read_trials():
        trials.setdefault(trial.case, []).append(trial)
    found = {
        case: CaseResult(Case(case), tuple(of_case), open_policy=open_policy)
        for case, of_case in trials.items()
    }
    rates = {case: result.rate for case, result in found.items() if result.rate is not None}
    if not rates:
        raise ExperimentError(f"{folder} has no judged trial to compare with")
    return BaselineRates(
        str(folder),
        rates,
        {case: result.open_share for case, result in found.items()},
        {case: (result.counted_passed, result.counted) for case, result in found.items()},
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
    fixed = tuple(case for case in both if now[case] >= 0.5 > most_before[case])
    regressed = tuple(case for case in both if before[case] >= 0.5 > most_now[case])
    opened = tuple(case for case in both if open_now.get(case) and not open_before.get(case))
    closed = tuple(case for case in both if open_before.get(case) and not open_now.get(case))
    difference = compare_pairs([before[c] for c in both], [now[c] for c in both]) if both else None
    mcnemar_p = mcnemar(len(regressed), len(fixed))
    return Comparison(len(both), difference, mcnemar_p, fixed, regressed, opened, closed)


def _has_passed_before(case: Case) -> bool | None:
    """Whether the run a case was promoted from failed no layer; None of a case without a run."""
    layers = [each.label for each in case.expectations if each.is_of_layer]
    return None if not layers else Label.FAIL not in layers


def _list_ends(interval: Interval | None) -> list[float] | None:
    return [interval.low, interval.high] if interval else None


def _encode_case(result: CaseResult, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    costs = [trial.cost_usd for trial in result.trials if trial.cost_usd is not None]
    return {
        "id": result.case.id,
        "status": result.status.value,
        "quarantined": result.quarantined,
        "passed": result.passed,
        "open": result.open,
        "judged": len(result.judged),
        "errored": result.errored,
        "counted": result.counted,
        "interval": _list_ends(compute_wilson_interval(result.counted_passed, result.counted)),
        "wall_s": fsum(trial.wall_s for trial in result.trials),
        "judge_s": fsum(trial.judge_s for trial in result.trials),
        "cost_usd": fsum(costs) if costs else None,
        "tags": list(result.case.tags),
        "trials": [_encode_trial(trial) for trial in result.trials],
        "runs": [],
        "cases": [dict(row) for row in rows],
    }


def _encode_trial(trial: Trial) -> dict[str, Any]:
    return {
        "trial": trial.number,
        "verdict": trial.verdict.value,
        "reason": trial.reason,
        "layer": trial.layer.value if trial.layer else None,
        "layers": dict(trial.layers),
        "answer": trial.answer,
        "wall_s": trial.wall_s,
        "judge_s": trial.judge_s,
        "tokens": trial.tokens,
        "cost_usd": trial.cost_usd,
        "steps": trial.steps,
        "unknown_calls": [dict(each) for each in trial.unknown_calls],
        "trace_id": trial.trace_id,
        "requirements": [
            {
                "requirement": each.requirement,
                "holds": each.holds,
                "errored": each.errored,
                "open": each.is_open,
                "cause": each.cause.value if each.cause else None,
                "reason": each.reason,
            }
            for each in trial.findings
        ],
    }


def _describe_trials(result: CaseResult) -> Iterator[str]:
    unsettled = f", {result.open} open" if result.open else ""
    yield f"{result.passed} of {count(len(result.trials), 'trial')} passed{unsettled}"
    for trial in result.trials:
        trace = f"trace {trial.trace_id}" if trial.trace_id else "no trace"
        yield f"trial {trial.number}: {trial.verdict.value} {trial.reason}".rstrip() + f"; {trace}"
