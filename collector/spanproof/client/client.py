"""The clients: one that waits, one to be awaited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Literal, Self, TypeVar

import httpx
from pydantic import BaseModel

from spanproof.api import models
from spanproof.api.models.alerts import AlertList
from spanproof.api.models.boundary import Boundary
from spanproof.api.models.compare import Comparison
from spanproof.api.models.gates import GatePage
from spanproof.api.models.review import AgreementPage, PersonsLabel
from spanproof.api.models.sessions import Session, SessionPage
from spanproof.api.models.suites import Promotions
from spanproof.api.models.traces import TracePage
from spanproof.client import calls
from spanproof.client.calls import Call
from spanproof.client.errors import ClientError
from spanproof.client.rows import Rows
from spanproof.trace import Layer, State

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R", bound=BaseModel)
_URL = "http://127.0.0.1:4319"


def _build_headers(token: str | None) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}


class Client:
    """Reads and writes through the API of a console; a context manager."""

    def __init__(self, url: str = _URL, *, token: str | None = None, timeout_s: float = 60.0) -> None:
        """Make a client; nothing is sent yet.

        Args:
            url: of the console.
            token: a reader's, or to label and promote a writer's, where the console demands one.
            timeout_s: for each request, in seconds.
        """
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1/", headers=_build_headers(token), timeout=timeout_s
        )

    def overview(self, hours: float = 24.0, **cohort: str) -> models.Overview:
        """Return verdicts of each layer over time, and why layers gave none."""
        return self._run(calls.build_overview_call(hours, cohort))

    def session(self, session_id: str) -> SessionPage:
        """Return one conversation judged as a whole."""
        return self._run(calls.build_session_call(session_id))

    def trace(self, trace_id: str, first_step: int = 1) -> TracePage:
        """Return one trace by the start of its id, with 1,000 steps of each run from `first_step` on."""
        return self._run(calls.build_trace_call(trace_id, first_step))

    def timeline(
        self,
        layer: Layer,
        score: str | None = None,
        *,
        by: Sequence[str] = (),
        hours: float = 24.0,
        buckets: int = 48,
        **cohort: str,
    ) -> models.Timeline:
        """Return one score counted and measured over time, split by dimensions."""
        return self._run(calls.build_timeline_call(layer, score, by, hours, buckets, cohort))

    def failure(self, cluster_id: str, hours: float = 168.0) -> models.FailurePage:
        """Return one cluster of failures: cause, fix, shares by cohort, runs."""
        return self._run(calls.build_failure_call(cluster_id, hours))

    def compare(
        self,
        before: str = "",
        after: str = "",
        *,
        dimension: str = "window",
        by: str = "task",
        hours: float = 168.0,
    ) -> Comparison:
        """Compare two values of a dimension, or a window with the one before it."""
        return self._run(calls.build_compare_call(dimension, before, after, by, hours))

    def alerts(self, every: bool = False) -> AlertList:
        """Return rules, alerts and silences."""
        return self._run(calls.build_alerts_call(every))

    def boundary(self, hours: float = 168.0, **cohort: str) -> Boundary:
        """Return what programs tried to reach, and scanners' findings."""
        return self._run(calls.build_boundary_call(hours, cohort))

    def gate(self, assertion: str, hours: float = 24.0, **cohort: str) -> GatePage:
        """Try an assertion on stored runs."""
        return self._run(calls.build_gate_call(assertion, hours, cohort))

    def agreement(self) -> AgreementPage:
        """Return how far each layer agrees with people."""
        return self._run(calls.build_agreement_call())

    def label(
        self,
        trace_id: str,
        run_span_id: str,
        layer: Layer,
        verdict: Literal["pass", "fail"],
        *,
        note: str = "",
        correction: str | None = None,
        author: str = "human",
    ) -> PersonsLabel:
        """Write a person's verdict on a layer of a run."""
        return self._run(
            calls.build_label_call(trace_id, run_span_id, layer, verdict, note, correction, author)
        )

    def promote(self, suite: str, runs: Sequence[tuple[str, str | None]]) -> Promotions:
        """Add runs (trace id, span id of the run or None for its first) to a suite."""
        return self._run(calls.build_promote_call(suite, runs))

    def traces(
        self,
        *,
        state: State | None = None,
        failing: bool | None = None,
        layer: Layer | None = None,
        hours: float | None = None,
        limit: int = 1000,
        **cohort: str,
    ) -> Rows[models.TraceRow]:
        """Return traces, newest first; with `state` those in it, with `layer` those whose layer is in it."""
        return self._fetch_rows(
            calls.build_traces_call(state, failing, layer, hours, cohort),
            lambda page: (page.traces, page.next),
            limit,
        )

    def sessions(self, *, hours: float = 168.0, limit: int = 1000) -> Rows[Session]:
        """Return conversations, the latest first."""
        return self._fetch_rows(
            calls.build_sessions_call(hours), lambda page: (page.sessions, page.next), limit
        )

    def labels(
        self, *, layer: Layer | None = None, wrong: bool = False, limit: int = 1000
    ) -> Rows[PersonsLabel]:
        """Return people's verdicts, newest first; with `wrong`, those that are not ours."""
        return self._fetch_rows(
            calls.build_labels_call(layer, wrong), lambda page: (page.labels, page.next), limit
        )

    def scores(self, trace_id: str, *, history: bool = False) -> Rows[models.VersionedScore]:
        """Return the scores of one trace; with `history`, replaced ones too."""
        return Rows((self._run(calls.build_scores_call(trace_id, history))).scores)

    def failures(self, hours: float = 168.0, **cohort: str) -> Rows[models.FailureCluster]:
        """Return clusters of failures, those with most runs first."""
        return Rows((self._run(calls.build_failures_call(hours, cohort))).failures)

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, call: Call[T]) -> T:
        try:
            response = self._http.request(call.method, call.path, params=call.parameters, json=call.body)
        except httpx.TransportError as problem:
            raise ClientError(0, f"{self._http.base_url} does not answer: {problem}") from problem
        return call.read(response)

    def _fetch_rows(
        self, call: Call[T], pick: Callable[[T], tuple[Sequence[R], str | None]], limit: int
    ) -> Rows[R]:
        rows: list[R] = []
        cursor: str | None = None
        while len(rows) < limit:
            some, cursor = pick(self._run(call.with_page(cursor, limit - len(rows))))
            rows += some
            if cursor is None:
                break
        return Rows(rows)


class AsyncClient:
    """The same as `Client`, to be awaited; an asynchronous context manager."""

    def __init__(self, url: str = _URL, *, token: str | None = None, timeout_s: float = 60.0) -> None:
        """Make a client; see `Client`."""
        self._http = httpx.AsyncClient(
            base_url=f"{url.rstrip('/')}/api/v1/", headers=_build_headers(token), timeout=timeout_s
        )

    async def overview(self, hours: float = 24.0, **cohort: str) -> models.Overview:
        """Return verdicts of each layer over time, and why layers gave none."""
        return await self._run(calls.build_overview_call(hours, cohort))

    async def session(self, session_id: str) -> SessionPage:
        """Return one conversation judged as a whole."""
        return await self._run(calls.build_session_call(session_id))

    async def trace(self, trace_id: str, first_step: int = 1) -> TracePage:
        """Return one trace by the start of its id, with 1,000 steps of each run from `first_step` on."""
        return await self._run(calls.build_trace_call(trace_id, first_step))

    async def timeline(
        self,
        layer: Layer,
        score: str | None = None,
        *,
        by: Sequence[str] = (),
        hours: float = 24.0,
        buckets: int = 48,
        **cohort: str,
    ) -> models.Timeline:
        """Return one score counted and measured over time, split by dimensions."""
        return await self._run(calls.build_timeline_call(layer, score, by, hours, buckets, cohort))

    async def failure(self, cluster_id: str, hours: float = 168.0) -> models.FailurePage:
        """Return one cluster of failures: cause, fix, shares by cohort, runs."""
        return await self._run(calls.build_failure_call(cluster_id, hours))

    async def compare(
        self,
        before: str = "",
        after: str = "",
        *,
        dimension: str = "window",
        by: str = "task",
        hours: float = 168.0,
    ) -> Comparison:
        """Compare two values of a dimension, or a window with the one before it."""
        return await self._run(calls.build_compare_call(dimension, before, after, by, hours))

    async def alerts(self, every: bool = False) -> AlertList:
        """Return rules, alerts and silences."""
        return await self._run(calls.build_alerts_call(every))

    async def boundary(self, hours: float = 168.0, **cohort: str) -> Boundary:
        """Return what programs tried to reach, and scanners' findings."""
        return await self._run(calls.build_boundary_call(hours, cohort))

    async def gate(self, assertion: str, hours: float = 24.0, **cohort: str) -> GatePage:
        """Try an assertion on stored runs."""
        return await self._run(calls.build_gate_call(assertion, hours, cohort))

    async def agreement(self) -> AgreementPage:
        """Return how far each layer agrees with people."""
        return await self._run(calls.build_agreement_call())

    async def label(
        self,
        trace_id: str,
        run_span_id: str,
        layer: Layer,
        verdict: Literal["pass", "fail"],
        *,
        note: str = "",
        correction: str | None = None,
        author: str = "human",
    ) -> PersonsLabel:
        """Write a person's verdict on a layer of a run."""
        return await self._run(
            calls.build_label_call(trace_id, run_span_id, layer, verdict, note, correction, author)
        )

    async def promote(self, suite: str, runs: Sequence[tuple[str, str | None]]) -> Promotions:
        """Add runs (trace id, span id of the run or None for its first) to a suite."""
        return await self._run(calls.build_promote_call(suite, runs))

    async def traces(
        self,
        *,
        state: State | None = None,
        failing: bool | None = None,
        layer: Layer | None = None,
        hours: float | None = None,
        limit: int = 1000,
        **cohort: str,
    ) -> Rows[models.TraceRow]:
        """Return traces, newest first; with `state` those in it, with `layer` those whose layer is in it."""
        return await self._fetch_rows(
            calls.build_traces_call(state, failing, layer, hours, cohort),
            lambda page: (page.traces, page.next),
            limit,
        )

    async def sessions(self, *, hours: float = 168.0, limit: int = 1000) -> Rows[Session]:
        """Return conversations, the latest first."""
        return await self._fetch_rows(
            calls.build_sessions_call(hours), lambda page: (page.sessions, page.next), limit
        )

    async def labels(
        self, *, layer: Layer | None = None, wrong: bool = False, limit: int = 1000
    ) -> Rows[PersonsLabel]:
        """Return people's verdicts, newest first; with `wrong`, those that are not ours."""
        return await self._fetch_rows(
            calls.build_labels_call(layer, wrong), lambda page: (page.labels, page.next), limit
        )

    async def scores(self, trace_id: str, *, history: bool = False) -> Rows[models.VersionedScore]:
        """Return the scores of one trace; with `history`, replaced ones too."""
        return Rows((await self._run(calls.build_scores_call(trace_id, history))).scores)

    async def failures(self, hours: float = 168.0, **cohort: str) -> Rows[models.FailureCluster]:
        """Return clusters of failures, those with most runs first."""
        return Rows((await self._run(calls.build_failures_call(hours, cohort))).failures)

    async def close(self) -> None:
        """End the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _run(self, call: Call[T]) -> T:
        try:
            response = await self._http.request(
                call.method, call.path, params=call.parameters, json=call.body
            )
        except httpx.TransportError as problem:
            raise ClientError(0, f"{self._http.base_url} does not answer: {problem}") from problem
        return call.read(response)

    async def _fetch_rows(
        self, call: Call[T], pick: Callable[[T], tuple[Sequence[R], str | None]], limit: int
    ) -> Rows[R]:
        rows: list[R] = []
        cursor: str | None = None
        while len(rows) < limit:
            some, cursor = pick(await self._run(call.with_page(cursor, limit - len(rows))))
            rows += some
            if cursor is None:
                break
        return Rows(rows)
