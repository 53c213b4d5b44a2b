"""Runs that are in no store: trials of experiments and frozen runs of cases, as they were judged then.

They are shown like runs of the store. Code is scanned, so that findings are on their lines; nothing is run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from functools import cache

from spanproof.api.states import build_expected_outcome
from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.evaluators.runs import list_runs
from spanproof.experiments import Trial
from spanproof.experiments.folder import ExperimentFolder
from spanproof.gate import BadScores, iter_scores
from spanproof.sandbox.scanners.model import Scan
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.suites import Case, Expectation, SuiteError
from spanproof.trace import Run, Score, Trace, digest
from spanproof.trace.codec import encode_json
from spanproof.trace.dialects import read_traces
from spanproof.trace.otlp import read_what_is_good

_NOT_KEPT = NoReplay("an experiment keeps the verdicts of a trial, not its replay")
_FROZEN = NoReplay("a case keeps the verdicts of its run; `spanproof suite run` replays it")


def load_trial_evaluation(results: ExperimentFolder, trial: Trial) -> TraceEvaluation | None:
    """Return a trial's trace with the scores of its row; None where its trace cannot be read.

    A row that cannot be read has no scores.
    """
    traces = results.traces
    if not trial.trace_file or (traces / trial.trace_file).parent != traces:
        return None
    try:
        requests, _ = read_what_is_good(traces / trial.trace_file)
    except (OSError, ValueError):
        # A name with a zero byte is a ValueError.
        return None
    trace = next((trace for trace in read_traces(requests) if trace.trace_id == trial.trace_id), None)
    if trace is None:
        return None
    scores: dict[str, list[Score]] = {}
    with contextlib.suppress(BadScores):
        for score in iter_scores([encode_json(trial.row)] if trial.row else [], "the trial"):
            if isinstance(score, Score):
                scores.setdefault(score.run_span_id, []).append(score)
    return _build_evaluation(trace, list_runs(trace, list_snippets(trace)), scores, _NOT_KEPT)


def find_case_evaluation(case: Case) -> TraceEvaluation | None:
    """Return the frozen run of a case with the verdicts it was promoted with; None where it holds no run."""
    if case.trace is None or case.origin is None:
        return None
    runs = [
        run
        for run in list_runs(case.trace, list_snippets(case.trace))
        if run.span_id == case.origin.run_span_id
    ]
    scores = [
        _build_score(case, expectation, position) for position, expectation in enumerate(case.expectations)
    ]
    return _build_evaluation(case.trace, runs, {case.origin.run_span_id: scores}, _FROZEN)


def _build_evaluation(
    trace: Trace, runs: Iterable[Run], scores: Mapping[str, list[Score]], replay: NoReplay
) -> TraceEvaluation:
    found = tuple(
        RunEvaluation(run, _build_scans(run), replay, tuple(scores.get(run.span_id, ()))) for run in runs
    )
    return TraceEvaluation(trace, found, ())


def _build_scans(run: Run) -> dict[str, Scan]:
    return {
        snippet.id: _build_pipeline().scan(snippet.language.value, snippet.source) for snippet in run.snippets
    }


@cache
def _build_pipeline() -> Pipeline:
    return Pipeline()


def _build_score(case: Case, expected: Expectation, position: int) -> Score:
    if case.trace is None or case.origin is None:
        raise SuiteError(f"case {case.id} holds no frozen run")
    if expected.snippet is not None:
        snippet = case.snippets[expected.snippet - 1].id
    else:
        snippet = None
    return Score(
        id=digest("expectation", case.id, str(position)),
        trace_id=case.origin.trace_id,
        run_span_id=case.origin.run_span_id,
        span_id=expected.span_id,
        snippet_id=snippet,
        layer=expected.layer,
        name=expected.name,
        evaluator="",
        version="",
        outcome=build_expected_outcome(expected),
        cohort=case.cohort,
        span_time_ns=0,
        input_digest="",
    )
