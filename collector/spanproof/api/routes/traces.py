"""Which runs, and what happened in one? Traces, spans, code, replays, scores with their history."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Query

from spanproof.api import models, pages
from spanproof.api.access import Opened
from spanproof.api.parameters import (
    Cohort,
    Cursor,
    Hours,
    Limit,
    MaybeHours,
    Project,
    compute_window,
    decode_cursor,
    encode_cursor,
    find_trace_id,
    make_not_found_error,
)
from spanproof.api.problems import describe_problem
from spanproof.store import TraceRow
from spanproof.store.browse import Page
from spanproof.trace import Layer, State, get_state

router = APIRouter()
_MISSING: dict[int | str, dict[str, Any]] = {
    404: describe_problem("there is none"),
    409: describe_problem("several projects have a trace with this id"),
}
# Rows that one request looks through for those in a state, and how many it reads at once.
_MOST_LOOKED_AT: Final = 20_000
_LOOKED_AT_ONCE: Final = 500


@router.get("/traces")
def traces(
    store: Opened,
    cohort: Cohort,
    hours: MaybeHours = None,
    failing: Annotated[
        bool | None, Query(description="Only traces with (or without) a run that fails.")
    ] = None,
    state: Annotated[State | None, Query(description="Only traces in this state.")] = None,
    layer: Annotated[
        Layer | None, Query(description="With `failing`: which layer fails; with `state`: which is in it.")
    ] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> models.TraceList:
    """Return evaluated traces, newest first."""
    if layer is not None and failing is not True and state is None:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY, "layer: it says which layer fails; add failing=true, or a state"
        )
    since = None if hours is None else compute_window(hours)[0]
    wanted: Layer | bool | None = layer if layer is not None and failing else failing
    if state is State.FAIL and layer is not None and failing is None:
        wanted = layer

    # The store knows the state of a trace; that of one layer is read from the rows.
    states = [state] if state is not None and layer is None else []

    def fetch(after: Page, count: int) -> list[TraceRow]:
        return store.traces(
            since_ns=since, failing=wanted, states=states, limit=count, cohort=cohort, before=after
        )

    if state is None or layer is None:
        rows = fetch(decode_cursor(cursor), limit + 1)
        shown, last = rows[:limit], rows[limit - 1] if len(rows) > limit else None
    else:
        shown, last = _collect_in_state(fetch, decode_cursor(cursor), state, layer, limit)
    return models.TraceList(
        traces=[pages.build_trace_row(row) for row in shown],
        next=encode_cursor(*last.place) if last else None,
    )


def _collect_in_state(
    fetch: Callable[[Page, int], list[TraceRow]],
    after: Page,
    state: State,
    layer: Layer,
    limit: int,
) -> tuple[list[TraceRow], TraceRow | None]:
    """Return the next traces in a state, and the last row that was looked at where more may follow.

    Args:
        fetch: gives so many rows that follow a place.
        after: the place of the last row before, None at the start.
        state: of that layer, in any run of a trace.
        layer: whose state counts.
        limit: rows at most; fewer where `_MOST_LOOKED_AT` are looked at before.
    """
    found: list[TraceRow] = []
    for _ in range(_MOST_LOOKED_AT // _LOOKED_AT_ONCE):
        rows = fetch(after, _LOOKED_AT_ONCE)
        for position, row in enumerate(rows):
            if _has_layer_in(row, layer, state):
                found.append(row)
            if len(found) == limit:
                is_end = position == len(rows) - 1 and len(rows) < _LOOKED_AT_ONCE
                return found, None if is_end else row
        if len(rows) < _LOOKED_AT_ONCE:
            return found, None
        after = rows[-1].place
    return found, rows[-1]


def _has_layer_in(row: TraceRow, layer: Layer, state: State) -> bool:
    return any(layer in run.layers and get_state(run.layers[layer]) is state for run in row.runs)


@router.get("/traces/{trace_id}", responses=_MISSING)
def trace(trace_id: str, store: Opened, project: Project = None) -> models.TracePage:
    """Return one trace whole: its spans, and each run with steps, verdicts, evidence and claims."""
    evaluation = store.evaluation(find_trace_id(store, trace_id, project), project)
    if evaluation is None:
        raise make_not_found_error(trace_id)
    return pages.build_trace_page(evaluation, store.feedback(evaluation.key))


@router.get("/traces/{trace_id}/spans/{span_id}", responses=_MISSING)
def span(trace_id: str, span_id: str, store: Opened, project: Project = None) -> models.SpanPage:
    """Return one span with its attributes, as they were received."""
    evaluation = store.evaluation(find_trace_id(store, trace_id, project), project)
    spans = evaluation.trace.spans if evaluation else ()
    found = next((each for each in spans if each.span_id == span_id), None)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"trace {trace_id[:64]!r} has no span {span_id[:64]!r}")
    return pages.build_span_page(found)


@router.get("/traces/{trace_id}/snippets/{snippet_id}", responses=_MISSING)
def snippet(trace_id: str, snippet_id: str, store: Opened, project: Project = None) -> models.Snippet:
    """Return one snippet: its code, what scanners say of it, the record and the replay."""
    evaluation = store.evaluation(find_trace_id(store, trace_id, project), project)
    found = pages.find_snippet(evaluation, snippet_id) if evaluation else None
    if found is None:
        raise HTTPException(
            HTTPStatus.NOT_FOUND, f"trace {trace_id[:64]!r} has no snippet {snippet_id[:64]!r}"
        )
    return found


@router.get("/traces/{trace_id}/scores", responses=_MISSING)
def scores(
    trace_id: str,
    store: Opened,
    project: Project = None,
    history: Annotated[
        bool, Query(description="Also scores that a newer version of an evaluator has replaced.")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
) -> models.ScoreList:
    """Return the scores of one trace, with the versions of their evaluators."""
    cohort = {} if project is None else {"project": project}
    found = store.scores(
        trace_id=find_trace_id(store, trace_id, project), cohort=cohort, every_version=history
    )
    rows = [pages.build_versioned_score(score) for score, _ in zip(found, range(limit), strict=False)]
    return models.ScoreList(scores=rows)


@router.get("/snippets")
def snippets(
    store: Opened,
    hours: Hours = 24.0 * 7,
    verdict: Annotated[models.ScanVerdict | None, Query(description="What the scanners decided.")] = None,
    rule: Annotated[str | None, Query(max_length=200, description="A rule that fired.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> models.CodeList:
    """Return snippets of code, newest first."""
    rows = store.browse.snippets(
        start_ns=compute_window(hours)[0],
        verdict=verdict.value if verdict else None,
        rule=rule,
        limit=limit + 1,
        after=decode_cursor(cursor),
    )
    last = rows[limit - 1] if len(rows) > limit else None
    return models.CodeList(
        snippets=[pages.build_code_row(row) for row in rows[:limit]],
        next=encode_cursor(*last.place) if last else None,
    )


@router.get("/replays")
def replays(
    store: Opened,
    hours: Hours = 24.0 * 7,
    failure_class: Annotated[str | None, Query(max_length=100, description="How the replay ended.")] = None,
    agrees: Annotated[bool | None, Query(description="Whether it agrees with the record.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> models.ReplayList:
    """Return replayed snippets, newest first."""
    rows = store.browse.replays(
        start_ns=compute_window(hours)[0],
        failure_class=failure_class,
        agrees=agrees,
        limit=limit + 1,
        after=decode_cursor(cursor),
    )
    last = rows[limit - 1] if len(rows) > limit else None
    return models.ReplayList(
        replays=[pages.build_replay_row(row) for row in rows[:limit]],
        next=encode_cursor(*last.place) if last else None,
    )
