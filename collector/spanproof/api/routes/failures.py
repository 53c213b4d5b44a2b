"""Which few causes are behind the many? Clusters of failures, and what people decide about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query
from pydantic import Field

from spanproof.api import models, pages
from spanproof.api.access import WRITER, Opened
from spanproof.api.parameters import Cohort, Hours, compute_window
from spanproof.api.problems import build_problem
from spanproof.store import FailureCluster, TriageAction
from spanproof.trace.dimensions import DIMENSIONS

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {404: build_problem("there is none")}
_REFUSED: dict[int | str, dict[str, Any]] = {
    **_MISSING,
    403: build_problem("this request may not write"),
    415: build_problem("the body is not JSON"),
}


class Decision(models.Answer):
    """The state of the work on a cluster."""

    state: Literal["open", "acknowledged", "resolved"]
    note: Annotated[str, Field(max_length=2000)] = ""


@router.get("/failures")
def failures(
    store: Opened,
    cohort: Cohort,
    hours: Hours = 24.0 * 7,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> models.FailureList:
    """Return clusters of failures with a run in the window, those with most runs first."""
    start, end = compute_window(hours)
    found = store.failure_clusters(start_ns=start, end_ns=end, cohort=cohort)
    trends = store.browse.count_failure_trends(
        start_ns=start, end_ns=end, buckets=pages.TREND_PARTS, cohort=cohort
    )
    shown = [pages.build_failure_cluster(cluster, trends) for cluster in found[:limit]]
    return models.FailureList(start_ns=start, end_ns=end, failures=shown)


@router.get("/failures/{cluster_id}", responses=_MISSING)
def failure(
    cluster_id: str,
    store: Opened,
    cohort: Cohort,
    hours: Hours = 24.0 * 7,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> models.FailurePage:
    """Return one cluster of failures: its cause, the share of each cohort, runs that represent it."""
    start, end = compute_window(hours)
    found = store.failure_clusters(start_ns=start, end_ns=end, cohort=cohort)
    chosen = _get_cluster(found, cluster_id)
    trends = store.browse.count_failure_trends(
        start_ns=start, end_ns=end, buckets=pages.TREND_PARTS, cohort=cohort
    )
    shares = {
        name: [
            pages.build_failure_share(share)
            for share in store.failure_shares(chosen, name, start_ns=start, end_ns=end)
            if share.value
        ]
        for name in DIMENSIONS
    }
    runs = store.failing_runs(chosen, start_ns=start, end_ns=end, limit=limit)
    return models.FailurePage(
        failure=pages.build_failure_cluster(chosen, trends),
        rule=_format_rule(chosen),
        shares={name: values for name, values in shares.items() if values},
        runs=[models.FailingRun.model_validate(run, from_attributes=True) for run in runs],
    )


@router.post("/failures/{cluster_id}/state", responses=_REFUSED, dependencies=[WRITER])
def settle(cluster_id: str, decision: Decision, store: Opened) -> models.FailureCluster:
    """Write where the work on a cluster is."""
    start, end = compute_window(24.0 * 366)
    found = store.failure_clusters(start_ns=start, end_ns=end)
    chosen = _get_cluster(found, cluster_id)
    store.triage(chosen.id, TriageAction.STATE, decision.state, decision.note)
    again = store.failure_clusters(start_ns=start, end_ns=end)
    return pages.build_failure_cluster(_get_cluster(again, chosen.id), {})


def _format_rule(cluster: FailureCluster) -> str:
    """Return an alert on the layer of a cluster, for the configuration."""
    name = json.dumps(pages.format_text(cluster.name)[:80], ensure_ascii=False)
    return (
        f"alerts:\n  - name: {name}\n    layer: {cluster.signature.layer.value}\n    measure: fail_rate\n"
        "    threshold: 0.05\n    group_by: [agent, release]"
    )


def _get_cluster(found: Sequence[FailureCluster], cluster_id: str) -> FailureCluster:
    for cluster in found:
        if cluster_id in (cluster.id, *cluster.fingerprints):
            return cluster
    raise HTTPException(
        HTTPStatus.NOT_FOUND, f"there is no cluster {cluster_id[:64]!r} with a run in the window"
    )
