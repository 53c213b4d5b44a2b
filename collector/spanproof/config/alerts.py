"""The section of the configuration that holds alert rules, and its checks against the rest of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from spanproof.config.evaluation import Evaluation, JudgeChoice, OwnEvaluator
from spanproof.config.section import Seconds, Section
from spanproof.config.targets import Target
from spanproof.evaluators.scores import find_nearest
from spanproof.trace import Layer
from spanproof.trace.dimensions import get_dimension, get_dimensions

if TYPE_CHECKING:
    from spanproof.gate.assertion import Bound, ScoreRef

# Shares of a window. Prometheus rules over 1 h mostly wait for 5 min. The four numbers were chosen with those
# of `spanproof.alerts.evidence`, in the simulation of docs/alerts.md.
_FOR_SHARE = 1 / 12
_RESOLVE_SHARE = 1 / 4
# A rate of the threshold is below it for five windows once in a hundred; a person waits no longer than a day.
_SETTLING_WINDOWS = 5
_LONGEST_SETTLING_S = 86_400.0

_Dimension = Annotated[str, AfterValidator(get_dimension)]
_Chosen = Annotated[Mapping[str, str], AfterValidator(get_dimensions)]


class Measure(StrEnum):
    """What a rule computes from the scores of a window."""

    FAIL_RATE = "fail_rate"
    """Share of the verdicts that are fail."""
    OPEN_RATE = "open_rate"
    """Share that is open of what could have a verdict: pass, fail and open."""
    ERROR_RATE = "error_rate"
    """Share of the judgements that errored; skipped ones are left out."""
    ABSENCE_RATE = "absence_rate"
    """Share of the runs without a scored judgement: it was skipped, it errored, or there is none."""
    MEAN = "mean"
    P50 = "p50"
    P95 = "p95"
    CONSECUTIVE_FAILURES = "consecutive_failures"
    """The newest `min_count` verdicts are all fail."""
    CONSECUTIVE_ERRORS = "consecutive_errors"
    """The newest `min_count` judgements all errored."""

    @property
    def is_rate(self) -> bool:
        """Whether it is a share, which `threshold` bounds."""
        return self in (Measure.FAIL_RATE, Measure.OPEN_RATE, Measure.ERROR_RATE, Measure.ABSENCE_RATE)

    @property
    def is_amount(self) -> bool:
        """Whether it is an amount, which `fires_when` bounds."""
        return self in (Measure.MEAN, Measure.P50, Measure.P95)

    @property
    def needs_verdicts(self) -> bool:
        """Whether only scores with pass and fail have it."""
        return self in (Measure.FAIL_RATE, Measure.CONSECUTIVE_FAILURES)


class NoData(StrEnum):
    """What becomes of an alert when its window has nothing to measure any more."""

    RESOLVE = "resolve"
    KEEP = "keep"
    FIRE = "fire"


class Severity(StrEnum):
    """How bad it is, in PagerDuty's words."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class BurnWindow(Section):
    """A pair of windows: the rule fires when the rate of both is at least `factor` times the budget."""

    long_s: Seconds = Field(description="Length of the long window, to which `min_count` applies.")
    short_s: Seconds = Field(description="Length of the short window, which ends the alert early.")
    factor: float = Field(gt=0, description="Multiple of the budget that both rates must reach.")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.short_s >= self.long_s:
            raise ValueError(f"short_s < long_s must hold, got {self.short_s:g} and {self.long_s:g}")
        return self


class BurnRate(Section):
    """Several windows instead of `window_s` and `threshold`: how fast a budget of failures is used up."""

    budget: float = Field(gt=0, lt=1, description="Share that may fail in the long run: 0.01 is 1 %.")
    windows: tuple[BurnWindow, ...] = Field(
        default=(
            BurnWindow(long_s=3600, short_s=300, factor=14.4),
            BurnWindow(long_s=21600, short_s=1800, factor=6),
        ),
        min_length=1,
        description="Pairs of windows; the rule fires if one pair fires.",
    )


class Baseline(Section):
    """An earlier rate to compare with: the rule fires when the rate is higher by `threshold` or more."""

    ago_s: Seconds | None = Field(
        default=None, description="The same window this many seconds ago: 604800 is the same hour last week."
    )
    previous_release: bool = Field(
        default=False, description="The previous release: the one first seen before the newest."
    )

    @model_validator(mode="after")
    def _check_choice(self) -> Self:
        if (self.ago_s is None) is not self.previous_release:
            raise ValueError("give either ago_s or previous_release: true")
        return self


class AlertRule(Section):
    """A rule: it fires when one score of one cohort gets bad; see docs/alerts.md."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="Unique among the rules.")
    layer: Layer = Field(description="Layer of the score.")
    score: str | None = Field(
        default=None, description="A sub-score or a metric, such as `recovery`; null: the layer's own value."
    )
    measure: Measure = Field(
        default=Measure.FAIL_RATE,
        description="What is computed from the scores of the window; docs/alerts.md explains each.",
    )
    fails_when: str | None = Field(
        default=None,
        description="Comparison that decides whether a score fails, instead of its verdict: `> 0.05 USD`, `<"
        " 0.5`. Required for scores without a verdict, such as metrics.",
    )
    fires_when: str | None = Field(
        default=None,
        description="Comparison of a mean or percentile, instead of `threshold`: `> 20 steps`.",
    )
    cohort: _Chosen = Field(
        default={},
        description="Only scores with all of these values, by dimension; docs/query.md has the dimensions.",
    )
    group_by: tuple[_Dimension, ...] = Field(
        default=(), description="Dimensions; each of their values gets a separate alert."
    )
    window_s: float = Field(
        default=3600.0, gt=0, description="How far back scores count, by the time of the judged span."
    )
    min_count: int = Field(
        default=20,
        ge=1,
        description="The rule does not fire with fewer verdicts in the window; for `open_rate`, verdicts and"
        " open scores count together. Skipped and errored scores are no verdicts.",
    )
    threshold: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="The rule fires if this share or more is fail, or open for `open_rate`. The comparison"
        " is exact: 3 of 30 is 0.1.",
    )
    lower_bound: bool | None = Field(
        default=None,
        description="Compare the rate's interval: the rule fires when its lower end reaches the threshold,"
        " and ends when its upper end is below it. Default: on for every rate, except with a"
        " threshold of 1. `false` compares the rate itself.",
    )
    burn_rate: BurnRate | None = Field(
        default=None, description="Several windows instead of `window_s` and `threshold`."
    )
    baseline: Baseline | None = Field(
        default=None, description="An earlier rate to compare with; `threshold` is the increase."
    )
    for_s: float | None = Field(
        default=None,
        ge=0,
        description="How long the rate must stay that high before a notification is sent; default: a twelfth"
        " of the window, 5 min of 1 h.",
    )
    resolve_after_s: float | None = Field(
        default=None,
        ge=0,
        description="How long the rate must be below the threshold before the alert is resolved; default: a"
        " quarter of the window.",
    )
    no_data: NoData = Field(
        default=NoData.RESOLVE,
        description="If there is nothing to measure in the window: `resolve` ends the alert, `keep` leaves"
        " it as it is, `fire` fires.",
    )
    cooldown_s: float = Field(
        default=604800.0,
        ge=0,
        description="Time after which an alert that still fires is sent again.",
    )
    pages_per_day: int = Field(
        default=6,
        ge=1,
        description="Most incidents and reminders of this rule in 24 h. Further alerts wait and come in one"
        " notification.",
    )
    inhibited_by: tuple[str, ...] = Field(
        default=(),
        description="Names of rules; while one of them fires for the same cohort, this rule starts no"
        " notification.",
    )
    severity: Severity = Field(default=Severity.ERROR, description="How bad it is.")
    labels: Mapping[str, str] = Field(
        default={}, description="Further labels of its alerts, such as `{team: payments}`."
    )
    notify: tuple[Target, ...] = Field(default=(), description="Targets of the notifications.")

    @field_validator("fails_when")
    @classmethod
    def _check_fails_when(cls, fails_when: str | None, info: ValidationInfo) -> str | None:
        if not {"layer", "score", "measure"} <= info.data.keys():
            return fails_when  # their own errors are reported
        score, measure = _build_score_ref(info.data["layer"], info.data["score"]), info.data["measure"]
        if fails_when is None:
            has_verdict = score.spec is None or not score.spec.advisory
            if measure is Measure.OPEN_RATE and (score.spec is None or not has_verdict):
                raise ValueError(f"{score} is never open: open_rate is for scores that have a verdict")
            if measure.needs_verdicts and not has_verdict:
                raise ValueError(f"{score} has no verdict: set fails_when, as in '{_format_example(score)}'")
        elif measure is Measure.OPEN_RATE:
            raise ValueError(f"{measure.value} needs no fails_when: what is open has no value to compare")
        elif not measure.needs_verdicts:
            raise ValueError(f"{measure.value} needs no verdict: leave fails_when out")
        else:
            _check_comparison(fails_when, score)
        return fails_when

    @field_validator("fires_when")
    @classmethod
    def _check_fires_when(cls, fires_when: str | None, info: ValidationInfo) -> str | None:
        if not {"layer", "score", "measure"} <= info.data.keys():
            return fires_when
        score, measure = _build_score_ref(info.data["layer"], info.data["score"]), info.data["measure"]
        if fires_when is None:
            if measure.is_amount:
                raise ValueError(
                    f"{measure.value} needs a bound: set fires_when, as in '{_format_example(score)}'"
                )
        elif not measure.is_amount:
            raise ValueError(f"{measure.value} is no amount: set threshold, not fires_when")
        else:
            _check_comparison(fires_when, score)
        return fires_when

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        only_rates = [name for name in ("lower_bound", "burn_rate", "baseline") if getattr(self, name)]
        if only_rates and not self.measure.is_rate:
            raise ValueError(f"{only_rates[0]} is for rates, and measure is {self.measure.value}")
        if self.burn_rate and self.baseline:
            raise ValueError("give either burn_rate or baseline")
        self._check_reach()
        if constant := [name for name in self.group_by if name in self.cohort]:
            raise ValueError(f"group_by: {constant[0]} has one value only, that of cohort")
        if self.baseline and self.baseline.previous_release and "release" in {*self.cohort, *self.group_by}:
            raise ValueError("baseline.previous_release chooses the releases: leave release out of the rule")
        if self.name in self.inhibited_by:
            raise ValueError("inhibited_by names the rule itself")
        return self

    def _check_reach(self) -> None:
        """Raise `ValueError` where no rate can be high enough for the rule to fire."""
        if self.burn_rate is None:
            if self.lower_bound and self.threshold >= 1:
                raise ValueError("it can never fire: the lower end of an interval is always below 1")
            return
        for pair in self.burn_rate.windows:
            rate = pair.factor * self.burn_rate.budget
            if rate > 1 or (rate == 1 and self.lower_bound):
                raise ValueError(
                    f"it can never fire: {pair.factor:g} times the budget is a rate of {rate:.0%}"
                )

    @property
    def watched(self) -> ScoreRef:
        """The score that is watched."""
        return _build_score_ref(self.layer, self.score)

    @property
    def bound(self) -> Bound | None:
        """The comparison that takes the place of the verdict, None where the verdict counts."""
        return _find_bound(self.fails_when, self.watched)

    @property
    def limit(self) -> Bound | None:
        """The comparison of a mean or percentile, None for other measures."""
        return _find_bound(self.fires_when, self.watched)

    @property
    def metric(self) -> str:
        """The score's name, as the gate writes it."""
        return str(self.watched)

    @property
    def needs_evidence(self) -> bool:
        """Whether it compares the interval of a rate, and not the rate itself."""
        if self.lower_bound is not None or not self.measure.is_rate:
            return bool(self.lower_bound)
        if self.burn_rate:
            return all(pair.factor * self.burn_rate.budget < 1 for pair in self.burn_rate.windows)
        return self.threshold < 1

    @property
    def fires_after_s(self) -> float:
        """How long its condition holds before it fires."""
        if self.for_s is not None:
            return self.for_s
        # A streak is counted already: its length is the evidence.
        is_streak = not (self.measure.is_rate or self.measure.is_amount)
        return 0.0 if is_streak else self.shortest_s * _FOR_SHARE

    @property
    def ends_after_s(self) -> float:
        """How long its condition is over before it ends."""
        if self.resolve_after_s is None:
            return self.shortest_s * _RESOLVE_SHARE
        return self.resolve_after_s

    @property
    def settles_after_s(self) -> float:
        """How long its rate is below the threshold before it ends, where verdicts are too few to be sure."""
        most_s = max(_LONGEST_SETTLING_S, self.shortest_s)
        return max(self.ends_after_s, min(_SETTLING_WINDOWS * self.shortest_s, most_s))

    @property
    def shortest_s(self) -> float:
        """Length of the window that it fires and ends by: of burn rates the shortest long one."""
        if self.burn_rate:
            return min(pair.long_s for pair in self.burn_rate.windows)
        return self.window_s

    @property
    def longest_s(self) -> float:
        """Length of the longest window it reads."""
        if self.burn_rate:
            return max(pair.long_s for pair in self.burn_rate.windows)
        return self.window_s


def iter_alert_problems(
    rules: Sequence[AlertRule],
    evaluators: Sequence[OwnEvaluator],
    judge: JudgeChoice,
    evaluation: Evaluation,
    external: Sequence[str] = (),
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with rules beside the rest of the configuration: dotted key and message."""
    names = [rule.name for rule in rules]
    targets: dict[str, Target] = {}
    for position, rule in enumerate(rules):
        if rule.name in names[:position]:
            yield f"alerts.{position}.name", f"{rule.name!r} is the name of an earlier rule too"
        if str(rule.watched) not in external and (
            reason := _find_unknown_problem(rule, evaluators, judge) or _find_switch(rule, evaluation, judge)
        ):
            yield f"alerts.{position}.score", reason
        for other in rule.inhibited_by:
            if other not in names:
                yield f"alerts.{position}.inhibited_by", f"there is no rule {other!r}"
        for number, target in enumerate(rule.notify):
            if targets.setdefault(target.id, target) != target:
                key = f"alerts.{position}.notify.{number}"
                yield key, f"{target.label!r} is an earlier target with other settings; name each of them"


def _find_unknown_problem(
    rule: AlertRule, evaluators: Sequence[OwnEvaluator], judge: JudgeChoice
) -> str | None:
    """Return why no run can have the score or a verdict of it."""
    score = rule.watched
    if score.spec is not None:
        return None
    own = {(item.layer, item.name): item for item in evaluators}
    if evaluator := own.get((score.layer, score.name)):
        if evaluator.pass_at is None and rule.fails_when is None and rule.measure.needs_verdicts:
            return f"{score} has no verdict: set pass_at of the evaluator, or fails_when of this rule"
        return None
    if meant := find_nearest(score.layer, score.name, own):
        return f"there is no score {score.layer}.{score.name}; did you mean {meant}?"
    from spanproof.evaluators.evaluator import GROUP  # loads every layer

    if entry_points(group=GROUP) or judge.rubrics is not None:
        return None  # an installed evaluator or a rubric may give it
    return f"there is no score {score}, and no evaluator of that name is configured under `evaluators`"


_OF_STRUCTURE = ("complexity", "code_lines", "duplication", "dead_code", "growth", "public_api")
_OF_SUITES = ("tests_pass", "inputs_unchanged", "within_budget")


def _find_switch(rule: AlertRule, evaluation: Evaluation, judge: JudgeChoice) -> str | None:
    """Return which setting keeps every run from having the score."""
    if rule.layer not in evaluation.layers:
        return f"it can never fire: evaluation.layers leaves {rule.layer.value} out"
    missing = {
        (Layer.CORRECTNESS, "lint"): not evaluation.lint,
        **{(Layer.CORRECTNESS, name): not evaluation.structure for name in _OF_STRUCTURE},
        (Layer.CORRECTNESS, "judge_correctness"): not (judge.model and judge.beside_share),
        (Layer.BOUNDARY, "no_code"): not evaluation.without_code,
        **{(Layer.CORRECTNESS, name): True for name in _OF_SUITES},
    }
    score = rule.watched
    if missing.get((score.layer, score.name)) and score.spec is not None:
        return f"it can never fire: {score.spec.given}"
    return None


def _find_bound(text: str | None, score: ScoreRef) -> Bound | None:
    from spanproof.gate.grammar import parse_comparison

    return parse_comparison(text, score) if text is not None else None


def _check_comparison(text: str, score: ScoreRef) -> None:
    from spanproof.gate.errors import AssertionRefused, AssertionSyntaxError

    try:
        _find_bound(text, score)
    except AssertionSyntaxError as problem:
        raise ValueError(f"{text!r}, column {problem.column}: expected {problem.expected}") from problem
    except AssertionRefused as problem:
        raise ValueError(problem.reason) from problem


def _build_score_ref(layer: Layer, name: str | None) -> ScoreRef:
    from spanproof.gate.assertion import ScoreRef  # here: only rules need the gate

    return ScoreRef(layer, layer.value if name in (None, "score") else str(name))


def _format_example(score: ScoreRef) -> str:
    unit = score.unit.value
    return f"> 20 {unit}" if unit else "< 0.5"
