"""The section of the configuration that holds alert rules, and its checks against the rest of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from spanproof.config.evaluation import Cohorted, JudgeChoice, OwnEvaluator
from spanproof.config.section import Section
from spanproof.evaluators.scores import nearest
from spanproof.gate.assertion import Bound, ScoreRef
from spanproof.gate.errors import AssertionRefused, AssertionSyntaxError
from spanproof.gate.grammar import parse_comparison
from spanproof.trace import Layer


class Webhook(Section):
    """A target of notifications: they are posted to it as JSON; docs/alerts.md shows the document."""

    kind: Literal["webhook"] = Field(default="webhook", description="Kind of the target.")
    url: str = Field(pattern=r"^https?://[^\s/]", description="An `http://` or `https://` URL.")
    secret: SecretStr | None = Field(
        default=None, description="Sent in a header, so that the receiver can verify the sender."
    )
    secret_header: str = Field(
        default="X-Spanproof-Secret", pattern=r"^[A-Za-z0-9-]+$", description="That header."
    )
    timeout_s: float = Field(default=5.0, gt=0, le=60, description="Longest time of one attempt.")
    attempts: int = Field(
        default=3,
        ge=1,
        le=10,
        description="How often one notification is tried at most: again after no connection, 429 and 5xx.",
    )


Target: TypeAlias = Webhook
"""Where notifications go; one kind so far."""


class AlertRule(Section):
    """A rule: it fires when the fail rate of one score in one cohort is too high; see docs/alerts.md."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="Unique among the rules.")
    layer: Layer = Field(description="Layer of the score.")
    score: str | None = Field(
        default=None, description="A sub-score or a metric, such as `recovery`; none: the layer's own value."
    )
    fails_when: str | None = Field(
        default=None,
        description="Comparison with which a score fails, in place of its verdict: `> 0.05 USD`, `< 0.5`."
        " Required for scores without a verdict, such as metrics.",
    )
    cohort: Cohorted = Field(
        default={}, description="Only scores with all of these values, by dimension of the cohort."
    )
    window_s: float = Field(
        default=3600.0, gt=0, description="How far back scores count, by the time of the judged span."
    )
    min_count: int = Field(default=20, ge=1, description="With fewer verdicts in the window nothing fires.")
    threshold: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="Fires when this share of the verdicts, or more, is fail; exact: 3 of 30 is 0.1.",
    )
    for_s: float = Field(
        default=0.0, ge=0, description="How long the rate must stay that high before anything is sent."
    )
    cooldown_s: float = Field(
        default=3600.0, ge=0, description="A rule that goes on firing is sent again after this time."
    )
    notify: tuple[Target, ...] = Field(default=(), description="Targets of the notifications.")

    @field_validator("fails_when")
    @classmethod
    def _can_fail(cls, fails_when: str | None, info: ValidationInfo) -> str | None:
        layer = info.data.get("layer")
        if layer is None or "score" not in info.data:
            return fails_when  # their own errors are reported
        score = _score_of(layer, info.data["score"])
        if score.spec is not None and not score.spec.stored:
            raise ValueError(f"{score} is added when the store is read: no rule can watch it")
        if fails_when is not None:
            try:
                parse_comparison(fails_when, score)
            except AssertionSyntaxError as problem:
                raise ValueError(
                    f"{fails_when!r}, column {problem.column}: expected {problem.expected}"
                ) from problem
            except AssertionRefused as problem:
                raise ValueError(problem.reason) from problem
        elif score.spec is not None and score.spec.advisory:
            raise ValueError(f"{score} has no verdict: set fails_when, as in '{_example(score)}'")
        return fails_when

    @property
    def watched(self) -> ScoreRef:
        """The score whose fail rate is watched."""
        return _score_of(self.layer, self.score)

    @property
    def bound(self) -> Bound | None:
        """The comparison that takes the place of the verdict, None where the verdict counts."""
        return parse_comparison(self.fails_when, self.watched) if self.fails_when is not None else None

    @property
    def metric(self) -> str:
        """The score's name, as the gate writes it."""
        return str(self.watched)


def check_alerts(
    rules: Sequence[AlertRule], evaluators: Sequence[OwnEvaluator], judge: JudgeChoice
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with rules beside the rest of the configuration: dotted key and message."""
    names = [rule.name for rule in rules]
    for position, rule in enumerate(rules):
        if rule.name in names[:position]:
            yield f"alerts.{position}.name", f"{rule.name!r} is the name of an earlier rule too"
        if reason := _refuse_unknown(rule, evaluators, judge):
            yield f"alerts.{position}.score", reason


def _refuse_unknown(rule: AlertRule, evaluators: Sequence[OwnEvaluator], judge: JudgeChoice) -> str | None:
    """Return why no run can have the score or a verdict of it."""
    score = rule.watched
    if score.spec is not None:
        return None
    own = {(each.layer, each.name): each for each in evaluators}
    if evaluator := own.get((score.layer, score.name)):
        if evaluator.pass_at is None and rule.fails_when is None:
            return f"{score} has no verdict: set pass_at of the evaluator, or fails_when of this rule"
        return None
    if meant := nearest(score.layer, score.name, own):
        return f"there is no score {score.layer}.{score.name}; did you mean {meant}?"
    from spanproof.evaluators.evaluator import GROUP  # loads every layer

    if entry_points(group=GROUP) or judge.rubrics is not None:
        return None  # an installed evaluator or a rubric may give it
    return f"there is no score {score}, and no evaluator of that name is configured under `evaluators`"


def _score_of(layer: Layer, name: str | None) -> ScoreRef:
    return ScoreRef(layer, layer.value if name in (None, "score") else str(name))


def _example(score: ScoreRef) -> str:
    unit = score.unit.value
    return f"> 20 {unit}" if unit else "< 0.5"
