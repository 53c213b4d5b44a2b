"""Is anything wrong now? Rates over time and by cohort, one score measured, the values of a dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request

from spanproof.api import models, pages
from spanproof.api.access import Opened
from spanproof.api.parameters import Cohort, Dimension, Hours, compute_window
from spanproof.api.query_line import QueryLineRoute
from spanproof.api.trace_terms import Chosen, MaybeLayer, MaybeState
from spanproof.store import FailRate, Store
from spanproof.store.schema import VERDICT_COUNTS
from spanproof.trace import Layer, State

router = APIRouter(route_class=QueryLineRoute)
_BUCKETS = 48
_POINTS = 24
_YEAR_HOURS = 24.0 * 366
_MOST_PROJECTS = 200
_MOST_GROUPS = 5000
_MOST_RELEASES = 24
# Names of the windows that the console offers, by their hours.
_WINDOW_NAMES = {1.0: "hour", 24.0: "day", 168.0: "week", 720.0: "month", 8784.0: "year"}


@router.get("/overview")
def overview(store: Opened, cohort: Cohort, hours: Hours = 24.0) -> models.Overview:
    """Return verdicts of each layer over time, and why layers gave none."""
    start, end = compute_window(hours)
    bucket = max(1, (end - start) // _POINTS)
    counted = store.verdict_timeline(start_ns=start, end_ns=end, bucket_ns=bucket, cohort=cohort)
    rows = [
        models.Bucket(layer=layer, start_ns=at, rate=pages.build_rate(counts))
        for layer, at, counts in counted
    ]
    of_layer: dict[Layer, list[FailRate]] = {layer: [] for layer in Layer}
    for layer, _, counts in counted:
        of_layer[layer].append(counts)
    causes = store.causes(start_ns=start, end_ns=end, cohort=cohort)
    layers = {layer: pages.build_rate(_compute_rate_sum(rates)) for layer, rates in of_layer.items()}
    state, sentence = build_summary(layers, hours)
    starts = list(range(start // bucket * bucket, end, bucket))
    by_start = {(row.layer, row.start_ns): row.rate for row in rows}
    over_time = {layer: [by_start.get((layer, at)) for at in starts] for layer in Layer}
    outcomes = {layer: _count_outcomes(rate) for layer, rate in layers.items()}
    return models.Overview(
        state=state,
        sentence=sentence,
        start_ns=start,
        end_ns=end,
        bucket_ns=bucket,
        layers=layers,
        timeline=rows,
        starts_ns=starts,
        rates=over_time,
        # Every run has an outcome of each layer that was evaluated.
        run_counts=[max(map(_count_outcomes, at)) for at in zip(*over_time.values(), strict=True)],
        runs=max(outcomes.values()),
        releases=_list_new_releases(store, cohort, start, end, bucket) if rows else [],
        not_judged=[pages.build_reason(cause, sum(outcomes.values())) for cause in causes],
    )


@router.get("/usage")
def usage(
    store: Opened,
    chosen: Chosen,
    hours: Hours = 24.0,
    state: MaybeState = None,
    layer: MaybeLayer = None,
    by_model: Annotated[bool, Query(description="Also tokens and cost by agent and model.")] = True,
) -> models.Usage:
    """Return states, latency, tokens and cost of traces over time, and tokens and cost by agent and model.

    There are no points for the traces of which one layer is in a state other than `fail`.
    """
    start, end = compute_window(hours)
    bucket = max(1, (end - start) // _POINTS)
    chosen = replace(chosen, since_ns=start)
    # Which layer is in a state is found row by row; only what fails is counted.
    is_counted = layer is None or state in (None, State.FAIL)
    if is_counted:
        points = store.browse.list_usage_points(chosen, start_ns=start, bucket_ns=bucket)
    else:
        points = []
    shares = store.browse.list_usage_shares(chosen) if by_model else []
    return models.Usage(
        start_ns=start,
        end_ns=end,
        bucket_ns=bucket,
        points=[models.UsagePoint.model_validate(point, from_attributes=True) for point in points],
        shares=[
            models.UsageShare(
                agent=pages.format_text(share.agent),
                model=pages.format_text(share.model),
                runs=share.runs,
                tokens=share.tokens,
                cost_usd=share.cost_usd,
            )
            for share in shares
        ],
    )


@router.get("/cohorts/{dimension}")
def cohorts(
    dimension: Dimension,
    store: Opened,
    cohort: Cohort,
    hours: Hours = 24.0,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> models.Cohorts:
    """Return verdicts by the values of one dimension, the commonest values first."""
    start, end = compute_window(hours)
    found: dict[str, dict[Layer, models.Rate]] = {}
    for value, layer, counted in store.verdicts_by(
        dimension, start_ns=start, end_ns=end, cohort=cohort, limit=limit
    ):
        found.setdefault(value, {})[layer] = pages.build_rate(counted)
    values = [pages.build_cohort_rates(value, layers) for value, layers in found.items()]
    return models.Cohorts(dimension=dimension, values=values)


@router.get("/projects")
def projects(request: Request, store: Opened) -> models.Projects:
    """Return the projects that the reader's token reads."""
    own: str | None = request.state.project
    found = store.browse.list_values("project", compute_window(_YEAR_HOURS)[0], "", _MOST_PROJECTS)
    names = sorted(pages.format_text(item) for item in found if item)
    return models.Projects(projects=names if own is None else [own], every=own is None)


@router.get("/dimensions/{dimension}")
def values(
    dimension: Dimension,
    store: Opened,
    hours: Hours = 24.0 * 30,
    prefix: Annotated[str, Query(max_length=200, description="What the value starts with.")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> models.Values:
    """Return the commonest values of a dimension, to complete a filter."""
    found = store.browse.list_values(dimension, compute_window(hours)[0], prefix, limit)
    return models.Values(dimension=dimension, values=[pages.format_text(item) for item in found])


@router.get("/timelines")
def timelines(
    store: Opened,
    cohort: Cohort,
    layer: Layer,
    score: Annotated[
        str | None, Query(max_length=100, description="Of the layer; its own value when not given.")
    ] = None,
    by: Annotated[list[Dimension], Query(max_length=3, description="Dimensions to split by.")] = [],  # noqa: B006
    hours: Hours = 24.0,
    buckets: Annotated[int, Query(ge=1, le=500)] = _BUCKETS,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> models.Timeline:
    """Return one score counted and measured over time, split by dimensions of the cohort."""
    start, end = compute_window(hours)
    length = max(1, (end - start) // buckets)
    found = store.groups(
        layer,
        score or layer.value,
        list(dict.fromkeys(by)),
        start_ns=start,
        end_ns=end,
        bucket_ns=length,
        cohort=cohort,
        limit=limit,
    )
    return models.Timeline(
        layer=layer,
        score=score or layer.value,
        by=list(dict.fromkeys(by)),
        bucket_ns=length,
        points=[pages.build_measured(group) for group in found],
    )


def _count_outcomes(rate: models.Rate | None) -> int:
    """Return the verdicts that a layer gave or could not give."""
    if rate:
        return rate.passed + rate.failed + rate.errored + rate.skipped + rate.open
    return 0


def build_summary(layers: Mapping[Layer, models.Rate], hours: float) -> tuple[State, str]:
    """Return the gravest state of a window, and what is wrong, as a person would say it."""
    window = f"the last {_WINDOW_NAMES.get(hours, f'{hours:g} hours')}"
    worst = max(layers, key=lambda layer: layers[layer].rate or 0)
    if layers[worst].failed:
        return State.FAIL, f"{worst.value.capitalize()} fails most in {window}: {layers[worst].words}"
    errored = max(layers, key=lambda layer: layers[layer].errored)
    opened = max(layers, key=lambda layer: layers[layer].open)
    rest = []
    if layers[errored].errored:
        rest.append(f"{layers[errored].errored:,} errored on {errored.value}")
    if layers[opened].open:
        rest.append(f"{layers[opened].open:,} are open on {opened.value}")
    if rest:
        state = State.ERRORED if layers[errored].errored else State.OPEN
        return state, f"No run failed in {window}, and {' and '.join(rest)}"
    if any(rate.passed for rate in layers.values()):
        return State.PASS, f"No run failed in {window}"
    return State.SKIPPED, f"No run was judged in {window}"


def _list_new_releases(
    store: Store, cohort: Mapping[str, str], start: int, end: int, bucket: int
) -> list[models.NewRelease]:
    """Return the releases whose first run is in the window, but not in its first stretch."""
    found = store.groups(
        Layer.TRAJECTORY,
        Layer.TRAJECTORY.value,
        ["release"],
        start_ns=start,
        end_ns=end,
        bucket_ns=bucket,
        cohort=cohort,
        limit=_MOST_GROUPS,
    )
    first: dict[str, int] = {}
    for group in found:
        first.setdefault(group.values[0], group.start_ns)
    began = min(first.values(), default=0)
    return [
        models.NewRelease(release=pages.format_text(release), first_ns=max(0, at))
        for release, at in first.items()
        if release and at > began
    ][:_MOST_RELEASES]


def _compute_rate_sum(rates: Sequence[FailRate]) -> FailRate:
    return FailRate(*(sum(getattr(rate, name) for rate in rates) for name in VERDICT_COUNTS))
