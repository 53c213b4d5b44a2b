"""Alert rules, and what one says about the store now.

A rule watches the fail rate of one score in one cohort over a sliding window of span times. Only verdicts
count: what was skipped or errored says nothing about the agent and is neither in the rate nor in the volume.
Evaluating a rule reads and never sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from spanproof.config.alerts import AlertRule
from spanproof.store import FailRate, FailsWhen, Store


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
    watched, bound = rule.watched, rule.bound
    found = store.fail_rate(
        rule.layer,
        name=watched.row_name,
        cohort=rule.cohort,
        start_ns=start_ns,
        end_ns=end_ns,
        fails_when=FailsWhen(watched.is_raw, bound.comparison, bound.threshold) if bound else None,
    )
    # An exact fraction: 3 of 30 is 10 %, whatever 0.1 is in binary.
    threshold = Fraction(repr(rule.threshold))
    firing = found.judged >= rule.min_count and found.failed >= threshold * found.judged
    return Reading(rule, start_ns, end_ns, found, firing)
