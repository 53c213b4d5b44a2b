"""Reads scores from lines of JSON, as `spanproof eval --json` and `spanproof suite run --json` write them.

A line of `eval` is a trace, the line of `suite run` is a report with a trace per case, and with the trials of
each case where an agent was run. What a line does not hold (evaluator, digest) stays empty. A line that
cannot be read is an error that names it: a gate that left it out would pass on less than it was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import fields

from spanproof.gate.errors import BadScores
from spanproof.gate.outputs import RunRow
from spanproof.gate.trials import CaseTrials
from spanproof.trace import Cause, Cohort, Errored, Label, Layer, Outcome, Score, Scored, Skipped, digest
from spanproof.trace.codec import MalformedDocument, load_json

_DIMENSIONS = frozenset(field.name for field in fields(Cohort))


_Runs = MutableMapping[tuple[str, str], RunRow]


def iter_scores(
    lines: Iterable[str | bytes], source: str = "scores", runs: _Runs | None = None
) -> Iterator[Score | CaseTrials]:
    """Yield the scores of these lines, and the trials of the cases that have them.

    Args:
        lines: as `spanproof eval --json` or `spanproof suite run --json` writes them.
        source: the file's name, for errors.
        runs: gets each run that has code, by the ids of its trace and its span.

    Raises:
        BadScores: a line is not one; names file, line and field.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield from _iter_line_scores(load_json(line), runs)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            if isinstance(problem, KeyError):
                what = f"no field {problem}"
            else:
                what = str(problem)
            raise BadScores(
                f"{source}, line {number}: {what}; expected a line of `spanproof eval --json`"
                " or of `spanproof suite run --json`"
            ) from problem


def _iter_line_scores(line: object, runs: _Runs | None) -> Iterator[Score | CaseTrials]:
    document = _get_object(line)
    if "cases" in document:
        for case in map(_get_object, _get_list(document["cases"])):
            if "runs" not in case:
                raise MalformedDocument(
                    f"case {case.get('id')!r} has no scores: run the suite again with this version"
                )
            if "trials" in case:
                yield _parse_trials(case)
            yield from _iter_line_scores(case, runs)
        return
    if "error" in document:
        raise MalformedDocument(f"the trace was not evaluated: {document['error']}")
    trace_id = str(document["trace_id"])
    for run in map(_get_object, _get_list(document["runs"])):
        cohort = _parse_cohort(run)
        if runs is not None and run.get("snippets"):
            runs[trace_id, str(run["span_id"])] = run
        for position, score in enumerate(_get_list(run["scores"])):
            yield _parse_score(trace_id, str(run["span_id"]), cohort, _get_object(score), position)


def _parse_trials(case: Mapping[str, object]) -> CaseTrials:
    """Return how often a case was run and passed, with the cohort of its first run."""
    verdicts = [_get_object(trial)["verdict"] for trial in _get_list(case["trials"])]
    runs: list[object] = []
    for row in map(_get_object, _get_list(case.get("cases") or [])):
        runs += _get_list(row.get("runs") or [])
    return CaseTrials(
        case=str(case["id"]),
        trials=len(verdicts),
        passed=verdicts.count("passed"),
        unjudged=verdicts.count("unjudged"),
        cohort=_parse_cohort(_get_object(runs[0])) if runs else None,
        open=verdicts.count("open"),
    )


def _parse_cohort(run: Mapping[str, object]) -> Cohort:
    cohort = _get_object(run.get("cohort") or {})
    dimensions = {name: str(value) for name, value in cohort.items() if name in _DIMENSIONS}
    return Cohort(**{"agent": str(run.get("name") or ""), **dimensions})


def _parse_score(
    trace_id: str, run_span_id: str, cohort: Cohort, row: Mapping[str, object], position: int
) -> Score:
    layer, name, span_id = Layer(str(row["layer"])), str(row["name"]), str(row["span_id"])
    score_id = row.get("id") or digest(
        "score-line", trace_id, run_span_id, span_id, layer, name, str(position)
    )
    snippet_id = row.get("snippet_id")
    return Score(
        id=str(score_id),
        trace_id=trace_id,
        run_span_id=run_span_id,
        span_id=span_id,
        snippet_id=str(snippet_id) if snippet_id else None,
        layer=layer,
        name=name,
        evaluator=str(row.get("evaluator") or ""),
        version=str(row.get("version") or ""),
        outcome=_parse_outcome(row),
        cohort=cohort,
        span_time_ns=0,
        input_digest="",
    )


def _parse_outcome(row: Mapping[str, object]) -> Outcome:
    outcome, explanation = row["outcome"], str(row.get("explanation") or "")
    why = str(row.get("reason") or explanation)
    detail = str(row.get("detail") or "")
    if outcome == "scored":
        label, raw = row.get("label"), row.get("raw")
        return Scored(
            _parse_number(row, "value"),
            Label(str(label)) if label else None,
            explanation,
            raw=_parse_number(row, "raw") if raw is not None else None,
            unit=str(row.get("unit") or ""),
            cause=_find_cause(row),
            detail=detail,
        )
    if outcome == "skipped":
        return Skipped(why, _find_cause(row) or Cause.EVALUATOR, detail)
    if outcome == "errored":
        return Errored(str(row.get("error_type") or "error"), why)
    raise MalformedDocument(f"field 'outcome' must be scored, skipped or errored, got {outcome!r}")


def _find_cause(row: Mapping[str, object]) -> Cause | None:
    """Return why a score is open or skipped; None where the line says nothing, as those of older versions."""
    cause = row.get("cause")
    return Cause(str(cause)) if cause else None


def _parse_number(row: Mapping[str, object], field: str) -> float:
    value = row[field]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedDocument(f"field {field!r} must be a number, got {value!r}")
    return float(value)


def _get_object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise MalformedDocument(f"expected an object, got {type(value).__name__}")
    return value


def _get_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise MalformedDocument(f"expected a list, got {type(value).__name__}")
    return value
