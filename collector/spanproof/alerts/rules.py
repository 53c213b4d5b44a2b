"""What an alert rule reads from the store at one time.

A rule measures one score of one cohort over a window of span times; each group of values is one reading. Of
verdicts only pass and fail count: what is open, was skipped or errored is neither in the fail rate nor in
its volume. An open rate is of what could have a verdict. Evaluating a rule reads and never sends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from spanproof.alerts.evidence import Standing, classify_interval, classify_share, compute_quantile
from spanproof.config.alerts import AlertRule, BurnRate, BurnWindow, Measure, NoData
from spanproof.evaluators.intervals import compute_difference_interval, compute_wilson_interval
from spanproof.gate.assertion import is_satisfied
from spanproof.store import AlertLog, CauseCount, FailRate, FailsWhen
from spanproof.store.filters import Filter
from spanproof.store.measures import Amount, Groups, Measures, Share, Values
from spanproof.trace import Score

# Of several pairs of windows the highest counts.
_RANKS = {standing: rank for rank, standing in enumerate(reversed(Standing))}

# How far back the release before is looked for.
_RELEASES_BACK_NS = 30 * 86_400 * 10**9

_SHOWN_SCORES = 20
_SHOWN_FAILURES = 3


class AlertStore(Protocol):
    """What alerts need of a store: what is measured, and the log of what happened to them."""

    @property
    def measures(self) -> Measures:
        """What rules compare."""

    @property
    def alerts(self) -> AlertLog:
        """What happened to alerts."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The measurement of one group by a rule, at one time.

    Attributes:
        group: dimension to value, of the dimensions the rule groups by.
        start_ns, end_ns: the window, Unix nanoseconds, the end exclusive.
        standing: where the value is beside the bound.
        value: the rate or amount; None where there is nothing to measure.
        part, whole: how many of how many; `part` is None for amounts.
        low, high: the ends of the rate's interval, which the window sets; None for other measures.
        before: the rate of the baseline; None where the rule has none, or there was nothing.
        release: the release that is compared with the one before, empty for none.
        verdicts: counted, for measures of verdicts.
        burn: of a burn rate, the windows that are highest beside their bound.
    """

    rule: AlertRule
    group: Mapping[str, str]
    start_ns: int
    end_ns: int
    standing: Standing
    value: float | None
    part: int | None
    whole: int
    low: float | None = None
    high: float | None = None
    before: float | None = None
    release: str = ""
    verdicts: FailRate | None = None
    burn: BurnWindow | None = None

    @property
    def window_s(self) -> float:
        """Length of the window that it measured."""
        if self.burn is not None:
            return self.burn.long_s
        return self.rule.longest_s

    @property
    def firing(self) -> bool:
        """Whether the bound is reached by enough verdicts."""
        return self.standing is Standing.ABOVE

    @property
    def cohort(self) -> dict[str, str]:
        """The cohort whose scores it read, the group's values among it."""
        return {**self.rule.cohort, **self.group, **({"release": self.release} if self.release else {})}


@dataclass(frozen=True, slots=True)
class Details:
    """The scores and failures that a reading counted.

    Attributes:
        scores: the newest or the worst.
        failures: the commonest explanations of fails and errors, with counts.
        causes: of what is open, the commonest first.
    """

    scores: tuple[Score, ...] = ()
    failures: tuple[tuple[str, int], ...] = ()
    causes: tuple[CauseCount, ...] = ()


def read_rule(rule: AlertRule, store: AlertStore, now_ns: int) -> list[Reading]:
    """Return what the rule sees in the window that ends now, a reading for each group.

    Raises:
        StoreError: the store cannot be read.
    """
    if rule.burn_rate is not None:
        found = _read_burn_rate(rule, rule.burn_rate, store, now_ns)
    elif rule.baseline is not None:
        found = _read_rise(rule, store, now_ns)
    else:
        counts = _compute_window_counts(rule, store, now_ns)
        found = {
            values: _build_plain_reading(rule, values, counted, now_ns) for values, counted in counts.items()
        }
    if rule.no_data is NoData.FIRE and rule.group_by:
        # A group that has gone silent is one that the window before still had.
        for values in (
            _compute_window_counts(rule, store, now_ns, rule.longest_s, rule.longest_s).keys() - found.keys()
        ):
            found[values] = build_empty_reading(rule, dict(zip(rule.group_by, values, strict=True)), now_ns)
    return list(found.values())


def fetch_details(readings: Sequence[Reading], store: AlertStore) -> list[Details]:
    """Return the scores and explanations of readings of one rule, in their order.

    Raises:
        StoreError: the store cannot be read.
    """
    # Groups of one window are read at once: a thousand of them may fire together.
    windows: dict[tuple[int, int, str], list[Reading]] = {}
    for reading in readings:
        windows.setdefault((reading.start_ns, reading.end_ns, reading.release), []).append(reading)
    found: dict[int, Details] = {}
    for together in windows.values():
        details = _fetch_window_details(together, store)
        for reading in together:
            found[id(reading)] = details.get(tuple(reading.group.values()), Details())
    return [found[id(reading)] for reading in readings]


def _fetch_window_details(readings: Sequence[Reading], store: AlertStore) -> dict[Values, Details]:
    """Return the details of readings of one window, by group."""
    first, measures = readings[0], store.measures
    rule, fails_when = first.rule, _find_fails_when(first.rule)
    cohort = {**rule.cohort, **({"release": first.release} if first.release else {})}
    chosen = _build_filter(rule, first.start_ns, first.end_ns, cohort)
    groups = Groups(tuple(first.group), [tuple(reading.group.values()) for reading in readings])
    failures: dict[Values, list[tuple[str, int]]] = {}
    causes: dict[Values, list[CauseCount]] = {}
    if rule.limit is not None:
        highest = rule.limit.comparison.value.startswith(">")
        raw = rule.watched.is_raw
        scores = measures.group_extreme_scores(chosen, groups, _SHOWN_SCORES, raw=raw, highest=highest)
    elif rule.measure in (Measure.ERROR_RATE, Measure.CONSECUTIVE_ERRORS):
        scores = measures.group_errored_scores(chosen, groups, _SHOWN_SCORES)
        failures = measures.count_errors(chosen, groups, _SHOWN_FAILURES)
    elif rule.measure is Measure.OPEN_RATE:
        scores = measures.group_open_scores(chosen, groups, _SHOWN_SCORES)
        causes = measures.group_open_causes(chosen, groups)
    elif rule.measure is Measure.ABSENCE_RATE:
        return {}
    else:
        scores = measures.group_failing_scores(chosen, groups, fails_when, _SHOWN_SCORES)
        failures = measures.count_failures(chosen, groups, fails_when, _SHOWN_FAILURES)
    return {
        values: Details(
            tuple(scores.get(values, ())),
            tuple(failures.get(values, ())),
            tuple(causes.get(values, ())[:_SHOWN_FAILURES]),
        )
        for values in scores.keys() | failures.keys()
    }


def build_empty_reading(rule: AlertRule, group: Mapping[str, str], now_ns: int) -> Reading:
    """Return the reading of a group that the window has nothing of."""
    start, end = _compute_start_ns(rule.longest_s, now_ns), now_ns + 1
    return Reading(rule, group, start, end, Standing.BELOW, value=None, part=None, whole=0)


_Counts = Mapping[Values, FailRate | Share | Amount]


def _compute_window_counts(
    rule: AlertRule,
    store: AlertStore,
    now_ns: int,
    window_s: float | None = None,
    ago_s: float = 0.0,
) -> _Counts:
    """Measure the window that ended `ago_s` ago."""
    end = now_ns - int(ago_s * 1e9)
    chosen = _build_filter(rule, _compute_start_ns(window_s or rule.window_s, end), end + 1, rule.cohort)
    return _compute_counts(rule, store, chosen, rule.group_by)


def _compute_counts(rule: AlertRule, store: AlertStore, chosen: Filter, by: tuple[str, ...]) -> _Counts:
    measures, fails_when = store.measures, _find_fails_when(rule)
    match rule.measure:
        case Measure.FAIL_RATE | Measure.OPEN_RATE | Measure.ERROR_RATE:
            return measures.count_verdicts(chosen, by, fails_when)
        case Measure.ABSENCE_RATE:
            return measures.count_absences(chosen, by)
        case Measure.MEAN | Measure.P50 | Measure.P95:
            return measures.compute_amounts(chosen, by, rule.measure.value, raw=rule.watched.is_raw)
        case Measure.CONSECUTIVE_FAILURES | Measure.CONSECUTIVE_ERRORS:
            errors = rule.measure is Measure.CONSECUTIVE_ERRORS
            return measures.count_streaks(chosen, by, rule.min_count, fails_when, errors=errors)


def _build_plain_reading(
    rule: AlertRule, values: Values, counted: FailRate | Share | Amount, now_ns: int
) -> Reading:
    """Return the reading of a rule with one window and no baseline."""
    start, end = _compute_start_ns(rule.window_s, now_ns), now_ns + 1
    group = dict(zip(rule.group_by, values, strict=True))
    if isinstance(counted, Amount):
        limit = rule.limit
        assert limit is not None, "the configuration gives every amount a bound"
        value = counted.value if counted.count >= rule.min_count else None
        reached = value is not None and is_satisfied(value, limit.comparison, limit.threshold)
        standing = Standing.ABOVE if reached else Standing.BELOW
        return Reading(rule, group, start, end, standing, counted.value, None, counted.count)
    share = _to_share(rule, counted)
    if rule.measure.is_rate:
        standing = _classify_rate(rule, share, _to_fraction(rule.threshold), rule.window_s)
    elif share.whole == share.part == rule.min_count:
        standing = Standing.ABOVE
    else:
        standing = Standing.BELOW
    return _build_share_reading(rule, group, (start, end), share, counted, standing)


def _read_burn_rate(rule: AlertRule, burn: BurnRate, store: AlertStore, now_ns: int) -> dict[Values, Reading]:
    found: dict[Values, Reading] = {}
    for pair in burn.windows:
        least = _to_fraction(pair.factor) * _to_fraction(burn.budget)
        short = _compute_window_counts(rule, store, now_ns, pair.short_s)
        for values, counted in _compute_window_counts(rule, store, now_ns, pair.long_s).items():
            share, recent = _to_share(rule, counted), short.get(values)
            if recent is not None:
                recent_share = _to_share(rule, recent)
            else:
                recent_share = Share(0, 0)
            standing = _classify_burn(rule, pair, share, recent_share, least)
            earlier = found.get(values)
            if earlier is None or _RANKS[standing] > _RANKS[earlier.standing]:
                group = dict(zip(rule.group_by, values, strict=True))
                window = _compute_start_ns(pair.long_s, now_ns), now_ns + 1
                found[values] = _build_share_reading(rule, group, window, share, counted, standing, burn=pair)
    return found


def _read_rise(rule: AlertRule, store: AlertStore, now_ns: int) -> dict[Values, Reading]:
    assert rule.baseline is not None
    if rule.baseline.ago_s is not None:
        now = _compute_window_counts(rule, store, now_ns)
        before = _compute_window_counts(rule, store, now_ns, ago_s=rule.baseline.ago_s)
        releases = dict.fromkeys(now, "")
    else:
        now, before, releases = _compute_release_counts(rule, store, now_ns)
    window = _compute_start_ns(rule.window_s, now_ns), now_ns + 1
    found = {}
    for values, counted in now.items():
        share, earlier = _to_share(rule, counted), before.get(values)
        if earlier is not None:
            old = _to_share(rule, earlier)
        else:
            old = Share(0, 0)
        standing = _classify_rise(rule, old, share)
        group = dict(zip(rule.group_by, values, strict=True))
        found[values] = _build_share_reading(
            rule, group, window, share, counted, standing, before=old, release=releases[values]
        )
    return found


def _compute_release_counts(
    rule: AlertRule, store: AlertStore, now_ns: int
) -> tuple[_Counts, _Counts, dict[Values, str]]:
    """Measure the newest release of each group in the window, and the release before in all its time."""
    by = (*rule.group_by, "release")
    far = _build_filter(rule, max(0, now_ns - _RELEASES_BACK_NS), now_ns + 1, rule.cohort)
    recent = _compute_counts(
        rule,
        store,
        _build_filter(rule, _compute_start_ns(rule.window_s, now_ns), now_ns + 1, rule.cohort),
        by,
    )
    history = _compute_counts(rule, store, far, by)
    now: dict[Values, FailRate | Share | Amount] = {}
    before: dict[Values, FailRate | Share | Amount] = {}
    newest = {}
    for values, names in store.measures.group_releases(far, rule.group_by).items():
        if len(names) > 1 and (*values, names[-1]) in recent:
            newest[values] = names[-1]
            now[values] = recent[*values, names[-1]]
            before[values] = history[*values, names[-2]]
    return now, before, newest


def _build_share_reading(
    rule: AlertRule,
    group: Mapping[str, str],
    window: tuple[int, int],
    share: Share,
    counted: FailRate | Share | Amount,
    standing: Standing,
    *,
    before: Share | None = None,
    release: str = "",
    burn: BurnWindow | None = None,
) -> Reading:
    low: float | None = None
    high: float | None = None
    if rule.measure.is_rate:
        interval = compute_wilson_interval(share.part, share.whole, compute_quantile(rule.shortest_s))
        if interval is not None:
            low, high = interval.low, interval.high
    return Reading(
        rule,
        group,
        *window,
        standing,
        _compute_ratio(share),
        share.part,
        share.whole,
        low=low,
        high=high,
        before=_compute_ratio(before) if before is not None else None,
        release=release,
        verdicts=counted if isinstance(counted, FailRate) else None,
        burn=burn,
    )


def _compute_ratio(share: Share) -> float | None:
    return share.part / share.whole if share.whole else None


def _to_share(rule: AlertRule, counted: FailRate | Share | Amount) -> Share:
    if isinstance(counted, FailRate):
        if rule.measure is Measure.ERROR_RATE:
            return Share(counted.errored, counted.scored + counted.errored)
        if rule.measure is Measure.OPEN_RATE:
            return Share(counted.open, counted.judgeable)
        return Share(counted.failed, counted.judged)
    assert isinstance(counted, Share)
    return counted


def _classify_rate(rule: AlertRule, share: Share, bound: Fraction, window_s: float) -> Standing:
    """Return where a rate is beside a bound, with too few verdicts never above it."""
    enough = share.whole >= rule.min_count
    if not rule.needs_evidence or not share.whole:
        if enough:
            return classify_share(share, bound)
        return Standing.BELOW
    interval = compute_wilson_interval(share.part, share.whole, compute_quantile(window_s))
    standing = classify_interval(interval, Fraction(share.part, share.whole), bound)
    if standing is Standing.ABOVE and not enough:
        return Standing.HIGH
    return standing


def _classify_burn(
    rule: AlertRule, pair: BurnWindow, share: Share, recent: Share, least: Fraction
) -> Standing:
    """Return where a pair of windows is beside its bound: the short one has the last word."""
    if classify_share(recent, least) is Standing.BELOW:
        return Standing.BELOW
    return _classify_rate(rule, share, least, pair.long_s)


def _classify_rise(rule: AlertRule, before: Share, after: Share) -> Standing:
    """Return where the difference of two rates is beside the rule's threshold."""
    if not before.whole or not after.whole:
        return Standing.BELOW
    bound = _to_fraction(rule.threshold)
    rise = Fraction(after.part, after.whole) - Fraction(before.part, before.whole)
    enough = min(before.whole, after.whole) >= rule.min_count
    if not rule.needs_evidence:
        if enough and rise >= bound:
            return Standing.ABOVE
        return Standing.BELOW
    interval = compute_difference_interval(
        (before.part, before.whole), (after.part, after.whole), compute_quantile(rule.window_s)
    )
    standing = classify_interval(interval, rise, bound)
    if standing is Standing.ABOVE and not enough:
        return Standing.HIGH
    return standing


def _to_fraction(number: float) -> Fraction:
    """Return the number as it is written, whatever 0.1 is in binary."""
    return Fraction(repr(number))


def _compute_start_ns(window_s: float, end_ns: int) -> int:
    return max(0, end_ns - int(window_s * 1e9))


def _build_filter(rule: AlertRule, start_ns: int, end_ns: int, cohort: Mapping[str, str]) -> Filter:
    return Filter(rule.layer, rule.watched.row_name, cohort, None, start_ns, end_ns)


def _find_fails_when(rule: AlertRule) -> FailsWhen | None:
    bound = rule.bound
    if bound:
        return FailsWhen(rule.watched.is_raw, bound.comparison, bound.threshold)
    return None
