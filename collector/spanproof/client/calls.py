"""Requests of the API as values: what is sent where, and what comes back. Both clients send these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from spanproof.api import models
from spanproof.api.models.alerts import AlertList
from spanproof.api.models.boundary import Boundary
from spanproof.api.models.compare import Comparison
from spanproof.api.models.gates import GatePage
from spanproof.api.models.review import AgreementPage, LabelList, PersonsLabel
from spanproof.api.models.sessions import SessionList, SessionPage
from spanproof.api.models.suites import Promotions
from spanproof.api.models.traces import TracePage
from spanproof.client.errors import ClientError
from spanproof.trace import Layer, State
from spanproof.trace.dimensions import get_dimensions, is_carried

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

    def with_page(self, cursor: str | None, limit: int) -> Call[T]:
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


def build_overview_call(hours: float, cohort: Mapping[str, str]) -> Call[models.Overview]:
    """Return the request for the verdicts per layer over time."""
    return Call("overview", models.Overview, {"hours": hours, **_to_cohort_parameters(cohort)})


def build_traces_call(
    state: State | None,
    failing: bool | None,
    layer: Layer | None,
    hours: float | None,
    cohort: Mapping[str, str],
) -> Call[models.TraceList]:
    """Return the request for traces, newest first."""
    return Call(
        "traces",
        models.TraceList,
        {"state": state, "failing": failing, "layer": layer, "hours": hours, **_to_cohort_parameters(cohort)},
    )


def build_trace_call(trace_id: str, first_step: int) -> Call[TracePage]:
    """Return the request for one trace with a page of the steps of its runs."""
    return Call(f"traces/{_encode_part(trace_id)}", TracePage, {"first_step": first_step})


def build_scores_call(trace_id: str, history: bool) -> Call[models.ScoreList]:
    """Return the request for the scores of one trace."""
    return Call(
        f"traces/{_encode_part(trace_id)}/scores", models.ScoreList, {"history": history, "limit": 5000}
    )


def build_timeline_call(
    layer: Layer, score: str | None, by: Sequence[str], hours: float, buckets: int, cohort: Mapping[str, str]
) -> Call[models.Timeline]:
    """Return the request for one score counted and measured over time."""
    query = {
        "layer": layer,
        "score": score,
        "by": list(by),
        "hours": hours,
        "buckets": buckets,
        "limit": 10_000,
    }
    return Call("timelines", models.Timeline, {**query, **_to_cohort_parameters(cohort)})


def build_failures_call(hours: float, cohort: Mapping[str, str]) -> Call[models.FailureList]:
    """Return the request for clusters of failures."""
    return Call(
        "failures", models.FailureList, {"hours": hours, "limit": PAGE, **_to_cohort_parameters(cohort)}
    )


def build_failure_call(cluster_id: str, hours: float) -> Call[models.FailurePage]:
    """Return the request for one cluster of failures."""
    return Call(f"failures/{_encode_part(cluster_id)}", models.FailurePage, {"hours": hours, "limit": 100})


def build_compare_call(dimension: str, before: str, after: str, by: str, hours: float) -> Call[Comparison]:
    """Return the request that compares two values of a dimension, or two windows."""
    query = {"dimension": dimension, "before": before, "after": after, "by": by, "hours": hours}
    return Call("compare", Comparison, query)


def build_alerts_call(every: bool) -> Call[AlertList]:
    """Return the request for rules, alerts and silences."""
    return Call("alerts", AlertList, {"every": every, "limit": PAGE})


def build_boundary_call(hours: float, cohort: Mapping[str, str]) -> Call[Boundary]:
    """Return the request for what programs tried to reach."""
    return Call("boundary", Boundary, {"hours": hours, "limit": PAGE, **_to_cohort_parameters(cohort)})


def build_sessions_call(hours: float) -> Call[SessionList]:
    """Return the request for conversations."""
    return Call("sessions", SessionList, {"hours": hours})


def build_session_call(session_id: str) -> Call[SessionPage]:
    """Return the request for one conversation."""
    return Call(f"sessions/{_encode_part(session_id)}", SessionPage, {})


def build_gate_call(assertion: str, hours: float, cohort: Mapping[str, str]) -> Call[GatePage]:
    """Return the request that tries an assertion on stored runs."""
    return Call("gate", GatePage, {"assertion": assertion, "hours": hours, **_to_cohort_parameters(cohort)})


def build_labels_call(layer: Layer | None, wrong: bool) -> Call[LabelList]:
    """Return the request for people's verdicts."""
    return Call("labels", LabelList, {"layer": layer, "wrong": wrong})


def build_agreement_call() -> Call[AgreementPage]:
    """Return the request for how far each layer agrees with people."""
    return Call("agreement", AgreementPage, {})


def build_label_call(
    trace_id: str,
    run_span_id: str,
    layer: Layer,
    verdict: Literal["pass", "fail"],
    note: str,
    correction: str | None,
    author: str,
) -> Call[PersonsLabel]:
    """Return the request that writes a person's verdict."""
    body = {
        "trace_id": trace_id, "run_span_id": run_span_id, "layer": layer, "verdict": verdict,
        "note": note, "correction": correction, "author": author,
    }  # fmt: skip
    return Call("labels", PersonsLabel, {}, body)


def build_promote_call(suite: str, runs: Sequence[tuple[str, str | None]]) -> Call[Promotions]:
    """Return the request that adds runs to a suite."""
    entries = [{"trace_id": trace_id, "run_span_id": run} for trace_id, run in runs]
    return Call("promotions", Promotions, {}, {"suite": suite, "runs": entries})


def _to_cohort_parameters(cohort: Mapping[str, str]) -> dict[str, str | list[str]]:
    """Return the parameters that choose a cohort; what spans carry goes into `where`.

    Raises:
        ValueError: there is no such dimension.
    """
    get_dimensions(cohort)
    carried = [f"{name}={value}" for name, value in cohort.items() if is_carried(name)]
    own = {name: value for name, value in cohort.items() if not is_carried(name)}
    return {**own, "where": carried} if carried else {**own}


def _encode_part(text: str) -> str:
    return quote(text, safe="")
