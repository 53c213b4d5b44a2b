"""Judges: what is open, what a judge settles of it and costs, and how far each judge agrees with people."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import Field

from spanproof.api import pages
from spanproof.api.access import Opened
from spanproof.api.models import Answer
from spanproof.api.models.review import Share
from spanproof.api.parameters import Cohort, Hours, compute_window
from spanproof.api.settings import ConsoleSettings
from spanproof.evaluators.judge.estimate import EXAMPLE_MODEL
from spanproof.evaluators.judge.measure import JudgeMeasurement, list_judge_measurements
from spanproof.evaluators.judge.measure import Share as MeasuredShare
from spanproof.evaluators.judge_bounds import is_below_bound
from spanproof.evaluators.prices import find_price
from spanproof.store.judging import OpenVerdicts, list_open_verdicts
from spanproof.store.labelled import iter_labelled_scores, list_person_labels
from spanproof.trace import Layer

router = APIRouter()
# Labels that a page measures judges on; `spanproof judge measure` takes more.
_MAX_LABELS = 500


class OpenLayer(Answer):
    """What is open on a layer, and what a judge does about it."""

    layer: Layer
    open: Share = Field(description="Of the verdicts that could be given, those that are open.")
    settled: Share = Field(description="Of the verdicts that a judge was called for, those that it settled.")
    dollars_per_1000_runs: float | None = Field(
        description="What a judge of what is open costs; null where nothing is, or the price is not known."
    )


class MeasuredJudge(Answer):
    """A judge on a layer, measured on people's labels."""

    judge: str
    layer: Layer
    week: str = Field(description="Of the runs, as `2026-W48`; empty for all weeks together.")
    labels: int = Field(description="Runs that both a person and the judge gave a verdict on.")
    undecided: int
    precision: Share = Field(description="Of the judge's fails, those that people fail.")
    recall: Share = Field(description="Of people's fails, those that the judge fails.")
    below_bound: bool = Field(description="Whether it is below `judge.least_precision` and fails nothing.")


class JudgesPage(Answer):
    """What is open, and the judges of it."""

    model: str = Field(description="The configured judge's model; empty where there is none.")
    endpoint: str
    priced_as: str = Field(description="Whose price the estimate takes: the model's, else an example's.")
    layers: list[OpenLayer]
    judges: list[MeasuredJudge]


@router.get("/judges")
def judges(request: Request, store: Opened, cohort: Cohort, hours: Hours = 24.0 * 7) -> JudgesPage:
    """Return what is open by layer, what a judge settles of it and costs, and each judge's precision."""
    settings: ConsoleSettings = request.app.state.settings
    choice = settings.judge
    start, end = compute_window(hours)
    priced_as = choice.model or EXAMPLE_MODEL
    price = find_price(priced_as, choice.load_prices())
    found = list_open_verdicts(store, price, start_ns=start, end_ns=end, cohort=cohort)
    labels = list_person_labels(store, limit=_MAX_LABELS)
    measured = list_judge_measurements(labels, iter_labelled_scores(store, labels))
    return JudgesPage(
        model=pages.format_text(choice.model),
        endpoint=pages.format_text(choice.endpoint),
        priced_as=priced_as,
        layers=[_build_layer(item) for item in found],
        judges=[_build_judge(item, choice.least_precision) for item in measured],
    )


def _build_layer(found: OpenVerdicts) -> OpenLayer:
    return OpenLayer(
        layer=found.layer,
        open=_build_share(found.open),
        settled=_build_share(found.settled),
        dollars_per_1000_runs=found.dollars_per_1000_runs,
    )


def _build_judge(measured: JudgeMeasurement, least_precision: float) -> MeasuredJudge:
    return MeasuredJudge(
        judge=pages.format_text(measured.judge),
        layer=measured.layer,
        week=measured.week,
        labels=measured.labels,
        undecided=measured.undecided,
        precision=_build_share(measured.precision),
        recall=_build_share(measured.recall),
        below_bound=is_below_bound(measured.fails, least_precision),
    )


def _build_share(share: MeasuredShare) -> Share:
    interval = share.interval
    return Share(
        part=share.part,
        whole=share.whole,
        share=share.value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )
