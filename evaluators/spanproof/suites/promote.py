"""Production runs to cases of a suite.

Takes what the store kept about a trace; writes files. It freezes what the run did and what it was judged as,
wrong verdicts' explanations included, and needs no network, store or sandbox. Secrets are replaced by made-up
ones of the same form before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from enum import StrEnum
from pathlib import Path

from spanproof.evaluators.model import TraceEvaluation
from spanproof.suites.behaviour import compute_behaviour_digest
from spanproof.suites.case import Case, Origin, build_case_id, select_expectations
from spanproof.suites.errors import SuiteError
from spanproof.suites.files import load_case, load_suite, write_case
from spanproof.suites.redact import build_redacted_case
from spanproof.suites.strata import list_tags


class Change(StrEnum):
    """What promoting a run did to the suite."""

    ADDED = "added"
    KNOWN = "known"
    REPLACED = "replaced"
    DUPLICATE = "duplicate"
    """A case of the suite behaves the same; nothing was written."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """The result of promoting one run.

    Attributes:
        case: the case of the suite; of a duplicate the one that behaves the same.
        redacted: how many different secrets were replaced.
        same_as: the id of another case of the suite that behaves the same; empty where there is none.
    """

    case: Case
    change: Change
    redacted: int = 0
    same_as: str = ""


@dataclass(frozen=True, slots=True)
class Promoting:
    """How runs are promoted.

    Attributes:
        replace: freeze anew what is there already, keeping what people wrote.
        redact: patterns of RE2 whose matches are replaced, beside secrets.
        duplicates: also add a run that behaves as a case of the suite does.
    """

    replace: bool = False
    redact: tuple[str, ...] = ()
    duplicates: bool = True


def promote_run(evaluation: TraceEvaluation, run_span_id: str, suite: Path, *, replace: bool = False) -> Case:
    """Freeze a run into a suite, which is made where it is not there; returns the case of the suite.

    A run that is in the suite already stays as it is, with its notes and the expectation as people edited it.

    Args:
        evaluation: what was found about the trace.
        run_span_id: which of its runs.
        suite: folder of the suite.
        replace: freeze anew what is there already, keeping what people wrote.

    Raises:
        SuiteError: the trace has no such run, or what is there already cannot be read.
        OSError: a file cannot be written.
    """
    (promotion,) = iter_promotions([(evaluation, run_span_id)], suite, Promoting(replace=replace))
    return promotion.case


def iter_promotions(
    runs: Iterable[tuple[TraceEvaluation, str]], suite: Path, how: Promoting = Promoting()
) -> Iterator[Promotion]:
    """Freeze runs into a suite, one after another, and yield the result of each.

    The same runs in the same order always give the same suite, however often they are promoted.

    Args:
        runs: evaluations with the span id of the run that is meant.
        suite: folder of the suite; it is made where it is not there.
        how: what is written.

    Raises:
        SuiteError: a trace has no such run, a case of the suite cannot be read, or a pattern is none.
        OSError: a file cannot be written.
    """
    existing = load_suite(suite) if (suite / "suite.yaml").exists() else []
    behaviours: dict[str, str] = {}
    for case in existing:
        behaviours.setdefault(compute_behaviour_digest(case), case.id)
    for evaluation, run_span_id in runs:
        promotion = _add_case(evaluation, run_span_id, suite, how, behaviours)
        behaviours.setdefault(compute_behaviour_digest(promotion.case), promotion.case.id)
        yield promotion


def _add_case(
    evaluation: TraceEvaluation, run_span_id: str, suite: Path, how: Promoting, behaviours: dict[str, str]
) -> Promotion:
    case, redacted = build_redacted_case(build_case(evaluation, run_span_id), evaluation, how.redact)
    folder = suite / "cases" / case.id
    exists = (folder / "case.yaml").exists()
    if exists and not how.replace:
        return Promotion(load_case(folder), Change.KNOWN)
    twin = behaviours.get(compute_behaviour_digest(case), "")
    same_as = twin if twin != case.id else ""
    if same_as and not exists and not how.duplicates:
        return Promotion(load_case(suite / "cases" / same_as), Change.DUPLICATE, same_as=same_as)
    if exists:
        case = _with_what_people_wrote(case, load_case(folder))
    write_case(suite, case)
    return Promotion(load_case(folder), Change.REPLACED if exists else Change.ADDED, redacted, same_as)


def _with_what_people_wrote(case: Case, stored: Case) -> Case:
    return replace_fields(
        case,
        notes=stored.notes,
        requirements=stored.requirements,
        inputs=stored.inputs,
        files=stored.files,
        recorded=stored.recorded,
        tags=stored.tags,
        source=stored.source,
    )


def build_case(evaluation: TraceEvaluation, run_span_id: str) -> Case:
    """Return the case a run would become, secrets included; writes nothing.

    Raises:
        SuiteError: the trace has no such run.
    """
    run = next((run for run in evaluation.runs if run.run.span_id == run_span_id), None)
    if run is None:
        there = ", ".join(f"{run.run.span_id} ({run.run.name})" for run in evaluation.runs) or "none"
        raise SuiteError(f"trace {evaluation.trace.trace_id} has no run {run_span_id}; its runs are: {there}")
    origin = Origin(run.run.trace_id, run.run.span_id, run.run.cohort.project)
    snippets = run.run.snippets
    agent = run.run.cohort.agent or run.run.name
    return Case(
        id=build_case_id(agent, origin),
        origin=origin,
        agent=agent,
        task=run.run.task,
        cohort=run.run.cohort,
        expectations=select_expectations(run.scores, snippets),
        snippets=snippets,
        trace=evaluation.trace,
        tags=list_tags(evaluation.trace, run),
    )
