"""A production run to a case of a suite.

Takes what the store kept about a trace; writes files. It freezes what the run did and what it was judged as,
wrong verdicts' explanations included, and needs no network, store or sandbox.
"""

from __future__ import annotations

from dataclasses import replace as replace_fields
from pathlib import Path

from spanproof.evaluators.model import TraceEvaluation
from spanproof.suites.case import Case, Origin, case_id, expectations_of
from spanproof.suites.errors import SuiteError
from spanproof.suites.files import load_case, write_case


def promote(evaluation: TraceEvaluation, run_span_id: str, suite: Path, *, replace: bool = False) -> Case:
    """Freeze a run into a suite, which is made where it is not there.

    A run that is in the suite already stays as it is, with its notes and the expectation as people edited it.

    Args:
        evaluation: what was found about the trace.
        run_span_id: which of its runs.
        suite: folder of the suite.
        replace: freeze anew what is there already, keeping what people wrote.

    Returns:
        The case of the suite.

    Raises:
        SuiteError: the trace has no such run, or what is there already cannot be read.
        OSError: a file cannot be written.
    """
    case = case_of(evaluation, run_span_id)
    folder = suite / "cases" / case.id
    if (folder / "case.yaml").exists():
        known = load_case(folder)
        if not replace:
            return known
        case = replace_fields(
            case,
            notes=known.notes,
            requirements=known.requirements,
            inputs=known.inputs,
            files=known.files,
            recorded=known.recorded,
            tags=known.tags,
        )
    write_case(suite, case)
    return load_case(folder)


def case_of(evaluation: TraceEvaluation, run_span_id: str) -> Case:
    """The case a run would become; writes nothing.

    Raises:
        SuiteError: the trace has no such run.
    """
    run = next((each for each in evaluation.runs if each.run.span_id == run_span_id), None)
    if run is None:
        there = ", ".join(f"{each.run.span_id} ({each.run.name})" for each in evaluation.runs) or "none"
        raise SuiteError(f"trace {evaluation.trace.trace_id} has no run {run_span_id}; its runs are: {there}")
    origin = Origin(run.run.trace_id, run.run.span_id)
    snippets = run.run.snippets
    agent = run.run.cohort.agent or run.run.name
    return Case(
        id=case_id(agent, origin),
        origin=origin,
        agent=agent,
        task=run.run.task,
        cohort=run.run.cohort,
        expectations=expectations_of(run.scores, snippets),
        snippets=snippets,
        trace=evaluation.trace,
    )
