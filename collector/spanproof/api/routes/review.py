"""Where people agree and disagree: a queue of runs, labels, corrections, and how far we agree with people."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from spanproof.api import pages
from spanproof.api.access import PROJECT_WRITER, Opened
from spanproof.api.models.review import (
    AgreementPage,
    Assigned,
    LabelList,
    LayerAgreement,
    NewAssignment,
    NewLabel,
    PersonsLabel,
    Queue,
    Share,
    Waiting,
    WaitingSentence,
    WeekAgreement,
)
from spanproof.api.parameters import (
    HOUR_NS,
    Cohort,
    Cursor,
    Hours,
    Limit,
    OfProject,
    build_not_found_error,
    compute_window,
    encode_cursor,
    find_cursor,
    get_trace_id,
)
from spanproof.api.problems import build_problem
from spanproof.evaluators.intervals import Interval, compute_wilson_interval
from spanproof.evaluators.judge.agreement import compute_agreement
from spanproof.evaluators.judge.sentences import list_open_sentences
from spanproof.evaluators.run_state import PERSON_VERDICT
from spanproof.store import ExternalScore, Store
from spanproof.store.assignments import Assignment
from spanproof.store.browse import CORRECTION_NAME, SENTENCE_NAME, LabelRow
from spanproof.store.summary import SHOWN_CHARACTERS
from spanproof.trace import CAUSE_WORDS, Cause, Label, Layer, Ruling, Score, Scored, State, get_state
from spanproof.trace.project import TraceKey, get_score_key

router = APIRouter()
_REFUSED: dict[int | str, dict[str, Any]] = {
    403: build_problem("this request may not write"),
    404: build_problem("there is none"),
    409: build_problem("several projects have a trace with this id"),
    415: build_problem("the body is not JSON"),
}
_MOST_LABELS = 20_000
# Of one person.
_MOST_ASSIGNED = 5_000
# Verdicts that are counted. A store of 100,000 traces has 50,000 that wait; to count them takes 0.7 s.
_MOST_COUNTED = 1_000
_WEEK_NS = 7 * 24 * HOUR_NS
# 1970-01-05.
_FIRST_MONDAY_NS = 4 * 24 * HOUR_NS
_RULING_VALUES = {Ruling.TRUE: 1.0, Ruling.UNKNOWN: 0.5, Ruling.FALSE: 0.0}


@router.get("/review")
def queue(
    store: Opened,
    cohort: Cohort,
    layer: Annotated[Layer | None, Query(description="Only on this one.")] = None,
    hours: Hours = 24.0 * 30,
    assignee: Annotated[
        str | None, Query(max_length=50, description="Only what this person is to review.")
    ] = None,
    limit: Annotated[int, Query(ge=0, le=200, description="0 counts them alone.")] = 50,
) -> Queue:
    """Return verdicts that wait for a person: open ones first, then fails, then a tenth of the passes."""
    start = compute_window(hours)[0]
    assigned = {assignment.verdict: assignment for assignment in store.assignments.list_assignments()}
    if assignee is None:
        if limit:
            found = store.browse.list_unlabelled(layer, start_ns=start, cohort=cohort, limit=limit)
        else:
            found = []
        total = store.browse.count_unlabelled(layer, start_ns=start, cohort=cohort, most=_MOST_COUNTED + 1)
    else:
        own = {verdict for verdict, row in assigned.items() if row.assignee == assignee}
        traces = sorted({TraceKey(project, trace_id) for project, trace_id, _, _ in own})
        some = store.browse.list_unlabelled(
            layer, start_ns=start, cohort=cohort, limit=_MOST_ASSIGNED, traces=traces
        )
        found = [score for score in some if _get_verdict_key(score) in own]
        found.sort(key=lambda score: assigned[_get_verdict_key(score)].due_ns or math.inf)
        total = len(found)
    texts = _read_texts(store, found[:limit])
    return Queue(
        layer=layer,
        total=min(total, _MOST_COUNTED),
        more=total > _MOST_COUNTED,
        waiting=[
            _build_waiting(
                score,
                *texts.get((get_score_key(score), score.run_span_id), (None, None)),
                assigned.get(_get_verdict_key(score)),
            )
            for score in found[:limit]
        ],
    )


@router.post("/review/assignments", status_code=201, responses=_REFUSED, dependencies=[PROJECT_WRITER])
def assign(new_assignment: NewAssignment, store: Opened) -> Assigned:
    """Assign a verdict to a person, or take it back."""
    trace_id = get_trace_id(store, new_assignment.trace_id, new_assignment.project)
    evaluation = store.evaluation(trace_id, new_assignment.project)
    if evaluation is None:
        raise build_not_found_error(new_assignment.trace_id)
    written = Assignment(
        evaluation.key.project,
        trace_id,
        new_assignment.run_span_id,
        new_assignment.layer.value,
        new_assignment.assignee,
        new_assignment.due_ns,
        new_assignment.author,
        time.time_ns(),
    )
    store.assignments.write_assignment(written)
    return Assigned(
        trace_id=trace_id,
        run_span_id=new_assignment.run_span_id,
        layer=new_assignment.layer,
        assignee=new_assignment.assignee,
        due_ns=new_assignment.due_ns,
    )


def _get_verdict_key(score: Score) -> tuple[str, str, str, str]:
    return score.cohort.project, score.trace_id, score.run_span_id, score.layer.value


def _read_texts(
    store: Store, found: Sequence[Score]
) -> dict[tuple[TraceKey, str], tuple[str | None, str | None]]:
    """Return task and answer of the runs of scores, by trace and run, where they are still stored.

    Documents, which take long to read, are read of the runs alone whose summary is cut.
    """
    keys = list(dict.fromkeys(get_score_key(score) for score in found))
    summaries = store.browse.get_run_summaries(keys)
    texts: dict[tuple[TraceKey, str], tuple[str | None, str | None]] = {
        run: (summary.task or None, summary.answer or None) for run, summary in summaries.items()
    }
    wanted = {(get_score_key(score), score.run_span_id) for score in found}
    cut = {
        key.trace_id
        for (key, span_id), summary in summaries.items()
        if (key, span_id) in wanted and SHOWN_CHARACTERS in (len(summary.task), len(summary.answer))
    }
    for evaluation in store.evaluations(sorted(cut)) if cut else ():
        for item in evaluation.runs:
            answer = item.run.answer.text if item.run.answer is not None else None
            texts[evaluation.key, item.run.span_id] = (item.run.task, answer)
    return texts


@router.get("/labels")
def labels(
    store: Opened,
    layer: Annotated[Layer | None, Query(description="Only on this one.")] = None,
    wrong: Annotated[bool, Query(description="Only those that are not our verdict.")] = False,
    project: OfProject = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> LabelList:
    """Return people's verdicts, newest first."""
    rows = store.browse.list_labels(
        layer=layer, wrong=wrong, project=project, limit=limit + 1, after=find_cursor(cursor)
    )
    following = None
    if len(rows) > limit:
        last = rows[limit - 1]
        key = f"{last.trace_id}.{last.run_span_id}.{last.layer.value}.{last.source}/{last.project}"
        following = encode_cursor(max(0, last.given_ns), key)
    return LabelList(labels=[_build_label(row) for row in rows[:limit]], next=following)


@router.post("/labels", status_code=201, responses=_REFUSED, dependencies=[PROJECT_WRITER])
def write_label(new_label: NewLabel, store: Opened) -> PersonsLabel:
    """Write a person's verdict, and the right answer where one is given."""
    trace_id = get_trace_id(store, new_label.trace_id, new_label.project)
    evaluation = store.evaluation(trace_id, new_label.project)
    if evaluation is None:
        raise build_not_found_error(new_label.trace_id)
    run = next((item for item in evaluation.runs if item.run.span_id == new_label.run_span_id), None)
    if run is None:
        raise HTTPException(
            HTTPStatus.NOT_FOUND, f"trace {trace_id} has no run {new_label.run_span_id[:16]!r}"
        )
    now, label = time.time_ns(), Label(new_label.verdict)
    value = 1.0 if label is Label.PASS else 0.0
    verdict = ExternalScore(
        trace_id=trace_id,
        span_id=new_label.run_span_id,
        layer=new_label.layer,
        name=PERSON_VERDICT,
        source=new_label.author,
        value=value,
        label=label,
        explanation=new_label.note,
        raw=None,
        unit="",
        given_ns=now,
        project=evaluation.key.project,
    )
    written = [verdict]
    if new_label.correction is not None:
        # Advice: it counts in no rate.
        written.append(replace(verdict, name=CORRECTION_NAME, label=None, explanation=new_label.correction))
    answer = run.run.answer.text if run.run.answer is not None else ""
    for sentence in new_label.sentences:
        # Advice as well; the name has the place, so that a later ruling replaces it.
        ruling = replace(
            verdict,
            name=f"{SENTENCE_NAME}_{sentence.start}_{sentence.end}",
            value=_RULING_VALUES[sentence.ruling],
            label=None,
            explanation=answer[sentence.start : sentence.end],
        )
        written.append(ruling)
    store.write_external(written)
    ours = next(
        (
            pages.build_outcome(score.outcome).verdict
            for score in run.scores
            if score.layer is new_label.layer and score.name == new_label.layer.value
        ),
        None,
    )
    return PersonsLabel(
        trace_id=trace_id,
        run_span_id=new_label.run_span_id,
        layer=new_label.layer,
        author=new_label.author,
        agent=pages.format_text(run.run.name),
        verdict=new_label.verdict,
        note=pages.format_text(new_label.note),
        given_ns=now,
        ours=ours.value if ours is not None and ours.is_judged else None,
        project=pages.format_text(evaluation.key.project),
    )


@router.get("/agreement")
def agree(store: Opened, project: OfProject = None) -> AgreementPage:
    """Return how far each layer agrees with people: precision and recall of fails, and kappa."""
    rows = store.browse.list_labels(project=project, limit=_MOST_LABELS)
    found = [(layer, [row for row in rows if row.layer is layer]) for layer in Layer]
    return AgreementPage(
        layers=[_compute_agreement(layer, some) for layer, some in found if some],
        weeks=_compute_weeks(rows),
    )


def _compute_weeks(rows: Sequence[LabelRow]) -> list[WeekAgreement]:
    """Return the share of labels that our verdicts agreed with, by week and layer."""
    by_week: dict[tuple[int, Layer], list[bool]] = {}
    for row in rows:
        if row.label and row.ours:
            week = (row.given_ns - _FIRST_MONDAY_NS) // _WEEK_NS
            by_week.setdefault((week, row.layer), []).append(row.label is row.ours)
    return [
        WeekAgreement(
            layer=layer,
            start_ns=max(0, _FIRST_MONDAY_NS + week * _WEEK_NS),
            agreed=_compute_share(sum(agreed), len(agreed)),
        )
        for (week, layer), agreed in sorted(by_week.items(), key=lambda pair: (pair[0][0], pair[0][1].value))
    ]


def _compute_agreement(layer: Layer, rows: Sequence[LabelRow]) -> LayerAgreement:
    pairs = [(row.label is Label.FAIL, row.ours is Label.FAIL) for row in rows if row.label and row.ours]
    both_fail = pairs.count((True, True))
    people, ours = [not fail for fail, _ in pairs], [not fail for _, fail in pairs]
    found = compute_agreement(people, ours) if pairs else None
    kappa, low, high = (found.kappa, found.low, found.high) if found else (None, None, None)
    if kappa is None or math.isnan(kappa):
        kappa = low = high = None
    return LayerAgreement(
        layer=layer,
        labelled=len(rows),
        compared=len(pairs),
        both_pass=pairs.count((False, False)),
        both_fail=both_fail,
        only_people_fail=pairs.count((True, False)),
        only_we_fail=pairs.count((False, True)),
        precision=_compute_share(both_fail, sum(fail for _, fail in pairs)),
        recall=_compute_share(both_fail, sum(fail for fail, _ in pairs)),
        kappa=kappa,
        kappa_low=low,
        kappa_high=high,
    )


def _compute_share(part: int, whole: int) -> Share:
    interval: Interval | None = compute_wilson_interval(part, whole)
    return Share(
        part=part,
        whole=whole,
        share=part / whole if whole else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def _build_waiting(
    score: Score, task: str | None, answer: str | None, assigned: Assignment | None
) -> Waiting:
    """Return a verdict with task and answer of the run it is about, where they are known."""
    scored = score.outcome if isinstance(score.outcome, Scored) else None
    cause = scored.cause if scored else None
    words = _describe_cause(cause, scored.detail) if cause and scored else ""
    if score.layer is Layer.GROUNDEDNESS:
        sentences = _list_sentences(scored, answer)
    else:
        sentences = []
    return Waiting(
        trace_id=score.trace_id,
        run_span_id=score.run_span_id,
        agent=pages.format_text(score.cohort.agent),
        release=pages.format_text(score.cohort.release),
        started_ns=max(0, score.span_time_ns),
        layer=score.layer,
        outcome=pages.build_outcome(score.outcome),
        state=get_state(score.outcome),
        cause=cause,
        cause_words=words,
        task=pages.find_text(task),
        answer=pages.find_text(answer),
        evidence=pages.build_facts(score),
        project=pages.format_text(score.cohort.project),
        assignee=assigned.assignee if assigned else "",
        due_ns=assigned.due_ns if assigned else 0,
        sentences=sentences,
    )


def _list_sentences(outcome: Scored | None, answer: str | None) -> list[WaitingSentence]:
    if outcome is None or answer is None or get_state(outcome) is not State.OPEN:
        return []
    return [
        WaitingSentence(
            start=sentence.start,
            end=sentence.end,
            text=pages.format_text(sentence.text),
            bindings=[pages.format_text(binding) for binding in sentence.bindings],
        )
        for sentence in list_open_sentences(answer, outcome)
    ]


def _describe_cause(cause: Cause, detail: str) -> str:
    words = CAUSE_WORDS[cause][0]
    if detail:
        return f"{words}: {pages.format_text(detail)}"
    return words


def _build_label(row: LabelRow) -> PersonsLabel:
    return PersonsLabel(
        trace_id=row.trace_id,
        run_span_id=row.run_span_id,
        layer=row.layer,
        author=row.source,
        agent=pages.format_text(row.agent),
        verdict=row.label.value if row.label else "",
        note=pages.format_text(row.note),
        given_ns=max(0, row.given_ns),
        ours=row.ours.value if row.ours else None,
        project=pages.format_text(row.project),
    )
