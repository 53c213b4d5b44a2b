"""Alert rules, and what one says about the store now.

A rule watches the fail rate of one score in one cohort over a sliding window of span times. Only verdicts
count: what was skipped or errored says nothing about the agent and is neither in the rate nor in the volume.
Evaluating a rule reads and never sends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from spanproof.store import FailRate, Store
from spanproof.store.schema import DIMENSIONS
from spanproof.trace import Layer


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Webhook(_Frozen):
    """Where a notification is posted.

    Attributes:
        url: of the receiver.
        secret: sent in the header `secret_header`, so that the receiver knows who speaks.
        timeout_s: of one attempt.
        attempts: how often at most one notification is tried.
    """

    kind: Literal["webhook"] = "webhook"
    url: Annotated[str, Field(pattern=r"^https?://[^\s/]")]
    secret: SecretStr | None = None
    secret_header: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")] = "X-Spanproof-Secret"  # noqa: S105
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 5.0
    attempts: Annotated[int, Field(ge=1, le=10)] = 3


Target: TypeAlias = Webhook
"""Where notifications go; one kind so far."""


class AlertRule(_Frozen):
    """One rule.

    Attributes:
        name: unique among the rules.
        layer: whose fail rate.
        score: of which sub-score; the layer's own value when None.
        cohort: dimension to value; the rule watches what has them all.
        window_s: how far back span times are counted.
        min_count: verdicts below this number fire nothing.
        threshold: the rule fires when the fail rate is at least this, over 0 to 1.
        for_s: the rate must stay that high for this long before anybody is told.
        cooldown_s: a firing rule is told again after this time, not before.
        notify: who is told.
    """

    name: Annotated[str, Field(min_length=1, max_length=200)]
    layer: Layer
    score: str | None = None
    cohort: Mapping[str, str] = Field(default_factory=dict)
    window_s: Annotated[float, Field(gt=0)] = 3600.0
    min_count: Annotated[int, Field(ge=1)] = 20
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.1
    for_s: Annotated[float, Field(ge=0)] = 0.0
    cooldown_s: Annotated[float, Field(ge=0)] = 3600.0
    notify: tuple[Target, ...] = ()

    @field_validator("cohort")
    @classmethod
    def _known_dimensions(cls, cohort: Mapping[str, str]) -> Mapping[str, str]:
        for dimension in cohort:
            if dimension not in DIMENSIONS:
                raise ValueError(
                    f"unknown dimension {dimension!r}; the dimensions are {', '.join(DIMENSIONS)}"
                )
        return cohort

    @property
    def metric(self) -> str:
        """`layer.score` or `layer.name`, as gates write it."""
        return f"{self.layer.value}.{self.score or 'score'}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a rule sees at one time.

    Attributes:
        start_ns, end_ns: the window, Unix nanoseconds, the end exclusive.
        firing: whether the threshold is reached with enough verdicts.
    """

    rule: AlertRule
    start_ns: int
    end_ns: int
    fail_rate: FailRate
    firing: bool


def read(rule: AlertRule, store: Store, now_ns: int) -> Reading:
    """What the rule says about the window that ends now.

    Raises:
        StoreError: the store cannot be read.
    """
    start_ns, end_ns = max(0, now_ns - int(rule.window_s * 1e9)), now_ns + 1
    found = store.fail_rate(rule.layer, name=rule.score, cohort=rule.cohort, start_ns=start_ns, end_ns=end_ns)
    # An exact fraction: 3 of 30 is 10 %, whatever 0.1 is in binary.
    threshold = Fraction(repr(rule.threshold))
    firing = found.judged >= rule.min_count and found.failed >= threshold * found.judged
    return Reading(rule, start_ns, end_ns, found, firing)
