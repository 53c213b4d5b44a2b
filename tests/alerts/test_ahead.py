"""A rule that is tried over the past: many windows are read at once, and nothing else is different."""

from __future__ import annotations

import gc
import random

import pytest

from spanproof.alerts import AlertRule
from spanproof.alerts.replay import iter_notifications, iter_stored_notifications
from spanproof.store import Store, ahead
from spanproof.store.measures import Measures
from spanproof.store.values import FailRate
from spanproof.trace import Cohort, Errored, Label, Layer, Score, Scored

from .conftest import NOW, OUTCOMES, evaluation

HOUR = 3600 * 10**9
DAYS_NS = 3 * 24 * HOUR
START = NOW - DAYS_NS
STEP_S = 6000.0
# Counts and releases in two or three lengths of window, then scores and causes of what is reported.
MOST_QUERIES = 8

RULES: dict[str, dict[str, object]] = {
    "fail rate": {"threshold": 0.4},
    "fail rate, evidence": {"threshold": 0.3, "lower_bound": True, "for_s": None, "resolve_after_s": None},
    "of a cohort": {"cohort": {"agent": "buyer"}, "threshold": 0.3},
    "of an agent that there is not": {"cohort": {"agent": "ghost"}, "no_data": "fire"},
    "by agent": {"group_by": ["agent"], "threshold": 0.5},
    "by agent and release, silent ones fire": {"group_by": ["agent", "release"], "no_data": "fire"},
    "errors": {"measure": "error_rate", "threshold": 0.1, "group_by": ["agent"]},
    "open": {"measure": "open_rate", "threshold": 0.3, "group_by": ["release"]},
    "open in all": {"measure": "open_rate", "threshold": 0.4},
    "absences": {"measure": "absence_rate", "threshold": 0.2, "group_by": ["agent"]},
    "failures in a row": {"measure": "consecutive_failures", "min_count": 3, "group_by": ["agent"]},
    "errors in a row": {"measure": "consecutive_errors", "min_count": 1},
    "mean": {"measure": "mean", "fires_when": "< 0.5", "group_by": ["agent"]},
    "cost": {"layer": "trajectory", "score": "cost_usd", "measure": "p95", "fires_when": "> 0.9 USD"},
    "median cost": {
        "layer": "trajectory", "score": "cost_usd", "measure": "p50", "fires_when": "> 0.4 USD",
        "group_by": ["agent"],
    },
    "costs that fail": {
        "layer": "trajectory", "score": "cost_usd", "fails_when": "> 0.5 USD", "threshold": 0.6,
    },
    "burn rate": {"burn_rate": {"budget": 0.05}, "group_by": ["agent"]},
    "against the day before": {"baseline": {"ago_s": 86400}, "threshold": 0.2},
    "against the release before": {
        "baseline": {"previous_release": True}, "threshold": 0.1, "group_by": ["agent"],
    },
    "by session": {"group_by": ["session"], "threshold": 0.4},
}  # fmt: skip


@pytest.fixture(scope="module")
def filled(shared_store: Store) -> Store:
    """Three days of verdicts and costs of three agents: the second is worse, and four hours are silent."""
    draw = random.Random(11)
    written = []
    for number in range(1, 401):
        at_ns = START + draw.randrange(DAYS_NS)
        day = (at_ns - START) // (24 * HOUR)
        if 30 * HOUR < at_ns - START < 34 * HOUR:
            continue
        bad = ["fail"] * (8 if day == 1 else 2)
        word = draw.choice([*bad, "pass", "pass", "pass", "pass", "open", "uncertain", "skipped", "errored"])
        cohort = Cohort(agent=draw.choice(["buyer", "pricer", "clerk"]), release=f"v{1 + day}")
        outcome = OUTCOMES[word]
        if word == "fail":
            outcome = Scored(0.0, Label.FAIL, f"$54.00 is said, {draw.randrange(9)} cents were returned")
        elif word == "errored":
            outcome = Errored("SandboxBroken", f"worker {draw.randrange(3)} is gone")
        written.append(evaluation(number, outcome, cohort, at_ns))
        cost = draw.random()
        priced = Scored(0.1 / (0.1 + cost), None, "its cost", raw=cost, unit="USD")
        written.append(evaluation(10_000 + number, priced, cohort, at_ns, Layer.TRAJECTORY, "cost_usd"))
    shared_store.write(written)
    while shared_store.refresh_rollups():
        pass
    return shared_store


class CountedMeasures(Measures):
    """Measures of a store that count their queries."""

    def __init__(self, measures: Measures, counts: list[str] | None = None) -> None:
        super().__init__(measures._connections, measures._windows)
        self.queries: list[str] = [] if counts is None else counts

    def with_windows(self, windows):
        return CountedMeasures(super().with_windows(windows), self.queries)

    def _fetch_rows(self, sql, parameters):
        self.queries.append(sql)
        return super()._fetch_rows(sql, parameters)


def watch(**changes: object) -> AlertRule:
    return AlertRule.model_validate(
        {
            "name": "tried",
            "layer": "groundedness",
            "window_s": 10800,
            "min_count": 3,
            "lower_bound": False,
            "for_s": 0,
            "resolve_after_s": 0,
            "pages_per_day": 50,
            **changes,
        }
    )


@pytest.mark.parametrize("name", RULES)
def test_windows_that_are_read_at_once_say_what_each_says_alone(filled, name):
    rule = watch(**RULES[name])
    counted = CountedMeasures(filled.measures)
    ahead = list(iter_stored_notifications(rule, counted, START, NOW, STEP_S))
    assert ahead == list(iter_notifications(rule, filled.measures, START, NOW, STEP_S))
    assert ahead, "the rule notifies"
    assert len(counted.queries) <= MOST_QUERIES


@pytest.mark.parametrize("name", ["by agent", "against the release before"])
def test_what_was_dropped_is_read_again(filled, monkeypatch, name):
    monkeypatch.setattr(ahead, "_MOST_ROWS", 30)
    monkeypatch.setattr(ahead, "_MOST_GROUPS", 3)
    monkeypatch.setattr(ahead, "_FIRST_GROUPED_WINDOWS", 5)
    rule = watch(**RULES[name])
    found = list(iter_stored_notifications(rule, filled.measures, START, NOW, STEP_S))
    assert found == list(iter_notifications(rule, filled.measures, START, NOW, STEP_S))


class FlappingMeasures(Measures):
    """Groups that fail in every second hour, each with as many scores as a reader wants."""

    groups = 50

    def __init__(self, windows=None, read: list[int] | None = None) -> None:
        self.windows = windows
        self.read: list[int] = [] if read is None else read

    def with_windows(self, windows):
        return FlappingMeasures(windows, self.read)

    def count_verdicts(self, chosen, by, fails_when):
        found = {}
        for number, start_ns in enumerate(self.windows.starts_ns):
            failed = 30 * (start_ns // HOUR % 2)
            for group in range(self.groups):
                found[str(number), f"agent {group}"] = FailRate(30 - failed, failed, 0, 0, 0)
        return found

    def count_failures(self, chosen, groups, fails_when, limit):
        return {}

    def group_failing_scores(self, chosen, groups, fails_when, limit):
        self.read.append(len(groups.values) * limit)
        return {values: [build_score(number) for number in range(limit)] for values in groups.values}


def build_score(number: int) -> Score:
    (run,) = evaluation(number, OUTCOMES["fail"], Cohort(), NOW).runs
    (score,) = run.scores
    return score


def test_a_trial_of_groups_that_flap_keeps_few_of_their_scores(monkeypatch):
    monkeypatch.setattr(ahead, "_MOST_GROUPS", 100)
    monkeypatch.setattr(ahead, "_MOST_ROWS", 10_000)
    for name in ("count_verdicts", "count_failures", "group_failing_scores"):
        monkeypatch.setattr(Measures, name, getattr(FlappingMeasures, name))
    rule = watch(group_by=["agent"], window_s=3600, pages_per_day=50)
    measures = FlappingMeasures()
    most = fired = 0
    for _ in iter_stored_notifications(rule, measures, START, NOW, 3600.0):
        fired += 1
        most = max(most, sum(isinstance(item, Score) for item in gc.get_objects()))
    assert fired > 10
    # Those of one query, those of the members that fire, and the notification's own.
    assert sum(measures.read) > 4 * most
