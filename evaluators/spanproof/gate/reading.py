"""Scores out of a file, as `spanproof eval --json` writes them: a line of JSON per trace.

What those lines do not hold (evaluator, digest) stays empty. A line that is not one is an error that names
it: a gate that leaves out what it cannot read would pass on less than it was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from spanproof.gate.errors import BadScores
from spanproof.trace import Cohort, Errored, Label, Layer, Outcome, Score, Scored, Skipped, digest
from spanproof.trace.codec import MalformedDocument, load_json

_DIMENSIONS = frozenset(field.name for field in fields(Cohort))


def read_scores(lines: Iterable[str | bytes], source: str = "scores") -> Iterator[Score]:
    """The scores of these lines.

    Args:
        lines: as `spanproof eval --json` writes them.
        source: the file's name, for errors.

    Raises:
        BadScores: a line is not one; names file, line and field.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield from _scores_of(load_json(line))
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            what = f"no field {problem}" if isinstance(problem, KeyError) else str(problem)
            raise BadScores(
                f"{source}, line {number}: {what}; expected a line of `spanproof eval --json`"
            ) from problem


def _scores_of(trace: object) -> Iterator[Score]:
    given = _object(trace)
    if "error" in given:
        raise MalformedDocument(f"the trace was not evaluated: {given['error']}")
    trace_id = str(given["trace_id"])
    for run in map(_object, _list(given["runs"])):
        cohort = _cohort(run)
        for position, score in enumerate(_list(run["scores"])):
            yield _score(trace_id, str(run["span_id"]), cohort, _object(score), position)


def _cohort(run: Mapping[str, object]) -> Cohort:
    told = _object(run.get("cohort") or {})
    known = {name: str(value) for name, value in told.items() if name in _DIMENSIONS}
    return Cohort(**{"agent": str(run.get("name") or ""), **known})


def _score(
    trace_id: str, run_span_id: str, cohort: Cohort, given: Mapping[str, object], position: int
) -> Score:
    layer, name, span_id = Layer(str(given["layer"])), str(given["name"]), str(given["span_id"])
    known_id = given.get("id")
    return Score(
        id=str(known_id or digest("score-line", trace_id, run_span_id, span_id, layer, name, str(position))),
        trace_id=trace_id,
        run_span_id=run_span_id,
        span_id=span_id,
        snippet_id=str(given["snippet_id"]) if given.get("snippet_id") else None,
        layer=layer,
        name=name,
        evaluator=str(given.get("evaluator") or ""),
        version=str(given.get("version") or ""),
        outcome=_outcome(given),
        cohort=cohort,
        span_time_ns=0,
        input_digest="",
    )


def _outcome(given: Mapping[str, object]) -> Outcome:
    outcome, why = given["outcome"], str(given.get("reason") or given.get("explanation") or "")
    if outcome == "scored":
        value, label = _number(given, "value"), given.get("label")
        return Scored(
            value,
            Label(str(label)) if label else None,
            str(given.get("explanation") or ""),
            raw=_number(given, "raw") if given.get("raw") is not None else None,
            unit=str(given.get("unit") or ""),
        )
    if outcome == "skipped":
        return Skipped(why)
    if outcome == "errored":
        return Errored(str(given.get("error_type") or "error"), why)
    raise MalformedDocument(f"field 'outcome' must be scored, skipped or errored, got {outcome!r}")


def _number(given: Mapping[str, object], field: str) -> float:
    value = given[field]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedDocument(f"field {field!r} must be a number, got {value!r}")
    return float(value)


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise MalformedDocument(f"expected an object, got {type(value).__name__}")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise MalformedDocument(f"expected a list, got {type(value).__name__}")
    return value
