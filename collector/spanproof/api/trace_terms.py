"""Parameters that choose traces: by verdict, cohort, words, and by what they took."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, HTTPException, Query
from pydantic import Field

from spanproof.api.parameters import Cohort, MaybeHours, compute_window
from spanproof.store.trace_list import TraceTerms
from spanproof.trace import Layer, State

_NS: Final = 10**9
Word = Annotated[str, Field(min_length=1, max_length=200)]


MaybeState = Annotated[State | None, Query(description="Only traces in this state.")]
MaybeLayer = Annotated[
    Layer | None, Query(description="With `failing`: which layer fails; with `state`: which is in it.")
]


def _read_amounts(
    min_seconds: Annotated[float | None, Query(ge=0, le=10**9, description="Took at least so long.")] = None,
    min_tokens: Annotated[int | None, Query(ge=0, le=2**53, description="Took at least so many.")] = None,
    min_cost_usd: Annotated[float | None, Query(ge=0, le=10**9, description="Cost at least so much.")] = None,
) -> Mapping[str, float]:
    """Return the least amounts that are given, as fields of `TraceTerms`."""
    conditions = {
        "min_latency_ns": None if min_seconds is None else int(min_seconds * _NS),
        "min_tokens": min_tokens,
        "min_cost_usd": min_cost_usd,
    }
    return {name: value for name, value in conditions.items() if value is not None}


def _read_terms(
    cohort: Cohort,
    amounts: Annotated[Mapping[str, float], Depends(_read_amounts)],
    hours: MaybeHours = None,
    failing: Annotated[
        bool | None, Query(description="Only traces with (or without) a run that fails.")
    ] = None,
    state: MaybeState = None,
    layer: MaybeLayer = None,
    text: Annotated[
        list[Word],
        Query(max_length=10, description="Each is in a task, an answer, code or an output, in any case."),
    ] = [],  # noqa: B006
    feedback: Annotated[
        str | None, Query(max_length=100, description="Only with a rating of this kind, as `thumbs_down`.")
    ] = None,
    q: Annotated[  # noqa: ARG001 - `QueryLineRoute` has expanded it
        str | None,
        Query(
            max_length=2000,
            description=(
                "A query line, in place of the parameters that it is short for:"
                " `state:fail layer:boundary tokens>1000 since:24h agent:shop words`."
            ),
        ),
    ] = None,
) -> TraceTerms:
    """Return which traces are chosen; the state of one layer is not among the terms.

    Raises:
        HTTPException: 422: a layer is given, and not what it is to be.
    """
    if layer is not None and failing is not True and state is None:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY, "layer: it says which layer fails; add failing=true, or a state"
        )
    is_of_layer = layer is not None and (failing or (state is State.FAIL and failing is None))
    states = [state] if state is not None and layer is None else []
    return TraceTerms(
        since_ns=None if hours is None else compute_window(hours)[0],
        failing=layer if is_of_layer else failing,
        states=states,
        cohort=cohort,
        texts=text,
        feedback=feedback,
        **amounts,  # type: ignore[arg-type]  # each name has its own type
    )


Chosen = Annotated[TraceTerms, Depends(_read_terms)]
