"""What users thought of runs, from the `feedback` spans that agents' processes sent.

Feedback comes when the run is long over, in a trace of its own; it is joined with the run's scores as they
are read, so that evaluating a trace anew loses none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from clickhouse_connect.driver.client import Client

from spanproof.semconv import spanproof as ours
from spanproof.trace import Label, Layer, Score, Scored, digest
from spanproof.trace.project import TraceKey, get_score_key

SCORE_NAME: Final = "feedback"
_EVALUATOR: Final = "spanproof.feedback"
_VERSION: Final = "1"
_GOOD: Final = "thumbs_up"


@dataclass(frozen=True, slots=True)
class Feedback:
    """One rating of a run by a user.

    Attributes:
        trace_id: the run's trace.
        span_id: the run's span where it was named, else all runs of the trace are meant.
        kind: `thumbs_up`, `thumbs_down`, `rerun`, `revert`, `escalation`.
        comment: the user's words, if any.
        given_ns: Unix time in nanoseconds.
        project: of its sender; it is about a trace of that one alone.
    """

    trace_id: str
    span_id: str | None
    kind: str
    comment: str | None
    given_ns: int
    project: str = "default"

    @property
    def key(self) -> TraceKey:
        """What identifies the run's trace."""
        return TraceKey(self.project, self.trace_id)

    def is_about(self, run_span_id: str) -> bool:
        """Whether it is about this run of its trace."""
        return self.span_id in (None, run_span_id)


def fetch_feedback(client: Client, database: str, key: TraceKey | None) -> list[Feedback]:
    """Return all feedback, or that about one trace, in order of time."""
    rows = client.query(
        "SELECT SpanAttributes[{trace:String}], SpanAttributes[{span:String}], SpanAttributes[{kind:String}],"  # noqa: S608
        " SpanAttributes[{comment:String}], toUnixTimestamp64Nano(Timestamp), SpanproofProject"
        f" FROM {database}.otel_traces FINAL"
        " WHERE SpanName = 'feedback' AND mapContains(SpanAttributes, {kind:String})"
        " AND ({id:String} = ''"
        " OR SpanAttributes[{trace:String}] = {id:String} AND SpanproofProject = {project:String})"
        " ORDER BY Timestamp, SpanId",
        parameters={
            "trace": ours.FEEDBACK_TRACE_ID,
            "span": ours.FEEDBACK_SPAN_ID,
            "kind": ours.FEEDBACK_KIND,
            "comment": ours.FEEDBACK_COMMENT,
            "id": key.trace_id if key else "",
            "project": key.project if key else "",
        },
    ).result_rows
    return [
        Feedback(about, span or None, kind, comment or None, int(given_ns), project)
        for about, span, kind, comment, given_ns, project in rows
    ]


def with_feedback(scores: Iterable[Score], feedback: Sequence[Feedback]) -> Iterator[Score]:
    """Yield the scores, then a sub-score `trajectory.feedback` for each rating of their runs."""
    by_trace: dict[TraceKey, list[Feedback]] = {}
    for rating in feedback:
        by_trace.setdefault(rating.key, []).append(rating)
    runs: dict[tuple[TraceKey, str], Score] = {}
    for score in scores:
        yield score
        if (key := get_score_key(score)) in by_trace:
            runs.setdefault((key, score.run_span_id), score)
    yield from _iter_scores(runs, by_trace)


def _iter_scores(
    runs: Mapping[tuple[TraceKey, str], Score], by_trace: Mapping[TraceKey, Sequence[Feedback]]
) -> Iterator[Score]:
    for (key, run_span_id), score in runs.items():
        for rating in by_trace[key]:
            if rating.is_about(run_span_id):
                yield _build_score(rating, score)


def _build_score(feedback: Feedback, of_run: Score) -> Score:
    """Return the feedback as a score of the run that another score is of."""
    good = feedback.kind == _GOOD
    comment = f": {feedback.comment}" if feedback.comment else ""
    explanation = f"user feedback: {feedback.kind.replace('_', ' ')}{comment}"
    return replace(
        of_run,
        id=digest("feedback", feedback.trace_id, of_run.run_span_id, feedback.kind, str(feedback.given_ns)),
        span_id=of_run.run_span_id,
        snippet_id=None,
        layer=Layer.TRAJECTORY,
        name=SCORE_NAME,
        evaluator=_EVALUATOR,
        version=_VERSION,
        outcome=Scored(float(good), Label.PASS if good else Label.FAIL, explanation),
    )
