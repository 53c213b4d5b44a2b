"""Requests of the API as values: what is sent where, and what comes back. Both clients send these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from spanproof.api import models
from spanproof.api.gate_pages import GatePage
from spanproof.api.routes.alerts import AlertList
from spanproof.api.routes.boundary import Boundary
from spanproof.api.routes.compare import Comparison
from spanproof.api.routes.review import AgreementPage, LabelList, PersonsLabel
from spanproof.api.routes.sessions import SessionList, SessionPage
from spanproof.api.routes.suites import Promotions
from spanproof.client.errors import ClientError
from spanproof.trace import Layer
from spanproof.trace.dimensions import check_dimensions, is_carried

T = TypeVar("T", bound=BaseModel)
PAGE = 500


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and the model of its answer."""

    path: str
    answer: type[T]
    query: Mapping[str, Any]
    body: Mapping[str, Any] | None = None

    @property
    def method(self) -> str:
        """POST where something is sent."""
        return "GET" if self.body is None else "POST"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that are given."""
        return {name: value for name, value in self.query.items() if value is not None}

    def page(self, cursor: str | None, limit: int) -> Call[T]:
        """Return the request for one page of a list."""
        return replace(self, query={**self.query, "cursor": cursor, "limit": min(PAGE, limit)})

    def read(self, response: httpx.Response) -> T:
        """Return the answer.

        Raises:
            ClientError: the request was refused.
        """
        if response.is_success:
            return self.answer.model_validate_json(response.content)
        try:
            detail = str(response.json()["detail"])
        except (ValueError, KeyError, TypeError):
            detail = response.reason_phrase
        raise ClientError(response.status_code, detail)


def overview(hours: float, cohort: Mapping[str, str]) -> Call[models.Overview]:
    """Verdicts per layer over time."""
    return Call("overview", models.Overview, {"hours": hours, **_chosen(cohort)})


def traces(
    failing: bool | None, layer: Layer | None, hours: float | None, cohort: Mapping[str, str]
) -> Call[models.TraceList]:
    """Traces, newest first."""
    return Call(
        "traces", models.TraceList, {"failing": failing, "layer": layer, "hours": hours, **_chosen(cohort)}
    )


def trace(trace_id: str) -> Call[models.TracePage]:
    """One trace whole."""
    return Call(f"traces/{_part(trace_id)}", models.TracePage, {})


def scores(trace_id: str, history: bool) -> Call[models.ScoreList]:
    """The scores of one trace."""
    return Call(f"traces/{_part(trace_id)}/scores", models.ScoreList, {"history": history, "limit": 5000})


def timeline(
    layer: Layer, score: str | None, by: Sequence[str], hours: float, buckets: int, cohort: Mapping[str, str]
) -> Call[models.Timeline]:
    """One score counted and measured over time."""
    query = {
        "layer": layer,
        "score": score,
        "by": list(by),
        "hours": hours,
        "buckets": buckets,
        "limit": 10_000,
    }
    return Call("timelines", models.Timeline, {**query, **_chosen(cohort)})


def failures(hours: float, cohort: Mapping[str, str]) -> Call[models.FailureList]:
    """Clusters of failures."""
    return Call("failures", models.FailureList, {"hours": hours, "limit": PAGE, **_chosen(cohort)})


def failure(cluster_id: str, hours: float) -> Call[models.FailurePage]:
    """One cluster of failures."""
    return Call(f"failures/{_part(cluster_id)}", models.FailurePage, {"hours": hours, "limit": 100})


def compare(dimension: str, before: str, after: str, by: str, hours: float) -> Call[Comparison]:
    """Two values of a dimension, or two windows."""
    query = {"dimension": dimension, "before": before, "after": after, "by": by, "hours": hours}
    return Call("compare", Comparison, query)


def alerts(every: bool) -> Call[AlertList]:
    """Rules, alerts and silences."""
    return Call("alerts", AlertList, {"every": every, "limit": PAGE})


def boundary(hours: float, cohort: Mapping[str, str]) -> Call[Boundary]:
    """What programs tried to reach."""
    return Call("boundary", Boundary, {"hours": hours, "limit": PAGE, **_chosen(cohort)})


def sessions(hours: float) -> Call[SessionList]:
    """Conversations."""
    return Call("sessions", SessionList, {"hours": hours})


def session(session_id: str) -> Call[SessionPage]:
    """One conversation."""
    return Call(f"sessions/{_part(session_id)}", SessionPage, {})


def gate(assertion: str, hours: float, cohort: Mapping[str, str]) -> Call[GatePage]:
    """An assertion tried on stored runs."""
    return Call("gate", GatePage, {"assertion": assertion, "hours": hours, **_chosen(cohort)})


def labels(layer: Layer | None, wrong: bool) -> Call[LabelList]:
    """People's verdicts."""
    return Call("labels", LabelList, {"layer": layer, "wrong": wrong})


def agreement() -> Call[AgreementPage]:
    """How far each layer agrees with people."""
    return Call("agreement", AgreementPage, {})


def label(
    trace_id: str,
    run_span_id: str,
    layer: Layer,
    verdict: Literal["pass", "fail"],
    note: str,
    correction: str | None,
    author: str,
) -> Call[PersonsLabel]:
    """Write a person's verdict."""
    body = {
        "trace_id": trace_id, "run_span_id": run_span_id, "layer": layer, "verdict": verdict,
        "note": note, "correction": correction, "author": author,
    }  # fmt: skip
    return Call("labels", PersonsLabel, {}, body)


def promote(suite: str, runs: Sequence[tuple[str, str | None]]) -> Call[Promotions]:
    """Add runs to a suite."""
    given = [{"trace_id": trace_id, "run_span_id": run} for trace_id, run in runs]
    return Call("promotions", Promotions, {}, {"suite": suite, "runs": given})


def _chosen(cohort: Mapping[str, str]) -> dict[str, str | list[str]]:
    """Return the parameters that choose a cohort; what spans carry goes into `where`.

    Raises:
        ValueError: there is no such dimension.
    """
    check_dimensions(cohort)
    carried = [f"{name}={value}" for name, value in cohort.items() if is_carried(name)]
    own = {name: value for name, value in cohort.items() if not is_carried(name)}
    return {**own, "where": carried} if carried else {**own}


def _part(text: str) -> str:
    return quote(text, safe="")
