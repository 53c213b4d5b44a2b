"""What a producer does not record is no accusation: a run without some of its parts fails in nothing new.

Each golden trace of a dialect or a framework, and right runs of three frameworks, are judged again as another
producer would have recorded them: without its tools, without their results, without errors, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from agents_of_a_shop import traced
from clean_runs import DATA_TOOLS, clean_runs

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Scored, Span, SpanKind, Trace, trace_of
from spanproof.trace.dialects import read_traces
from spanproof.trace.otlp import read_file

GOLDEN = Path(__file__).parents[2] / "golden"
FILES = sorted([*GOLDEN.glob("dialects/*.json"), *GOLDEN.glob("frameworks/*.json")])
CLEAN = list(clean_runs(200))[::20]
Change = Callable[[Span], Span | None]


def without_kind(kind: SpanKind) -> Change:
    return lambda span: None if span.kind is kind and span.parent_id is not None else span


def without_results(span: Span) -> Span:
    return replace(span, output=None) if span.kind is SpanKind.TOOL else span


def without_results_anywhere(span: Span) -> Span:
    sent = tuple(message for message in span.input_messages if message.role != "tool")
    return replace(without_results(span), input_messages=sent, observation=None)


def without_errors(span: Span) -> Span:
    return replace(span, error=None, failed=False, status_message="", events=())


def without_arguments(span: Span) -> Span:
    return replace(span, input=None, tool=replace(span.tool, arguments=None)) if span.tool else span


def without_code(span: Span) -> Span:
    return replace(span, code=None)


def without_observations(span: Span) -> Span:
    silent = replace(span.code, logs=None, output=None) if span.code is not None else None
    return replace(span, observation=None, code=silent, output=None if span.step is not None else span.output)


def without_content_of_model_calls(span: Span) -> Span:
    if span.kind is not SpanKind.LLM:
        return span
    return replace(span, input=None, output=None, input_messages=(), output_messages=())


def without_what_the_model_was_sent(span: Span) -> Span:
    return replace(span, input=None, input_messages=()) if span.kind is SpanKind.LLM else span


TAKEN_AWAY: dict[str, tuple[Change, ...]] = {
    "tools": (without_kind(SpanKind.TOOL),),
    "model calls": (without_kind(SpanKind.LLM),),
    "steps": (without_kind(SpanKind.CHAIN),),
    "all but the agent": tuple(without_kind(kind) for kind in SpanKind if kind is not SpanKind.AGENT),
    "results": (without_results,),
    "results anywhere": (without_results_anywhere,),
    "model calls and results": (without_kind(SpanKind.LLM), without_results),
    "errors": (without_errors,),
    "errors and results": (without_errors, without_results_anywhere),
    "arguments": (without_arguments,),
    "arguments and results": (without_arguments, without_results),
    "code": (without_code,),
    "observations": (without_observations,),
    "code and observations": (without_code, without_observations),
    "tools, and what the model was sent": (without_kind(SpanKind.TOOL), without_what_the_model_was_sent),
    "content of model calls": (without_content_of_model_calls,),
    "content of model calls and results": (without_content_of_model_calls, without_results),
}


def change_spans(spans: Iterable[Span], change: Change) -> list[Span]:
    """Return the spans after a change; children of one that is taken away go to its parent."""
    changed = {span.span_id: (span, change(span)) for span in spans}
    kept = []
    for _, after in changed.values():
        if after is None:
            continue
        parent = after.parent_id
        while parent in changed and changed[parent][1] is None:
            parent = changed[parent][0].parent_id
        kept.append(replace(after, parent_id=parent))
    return kept


def iter_accusations(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield the layer and the name of each score that fails, judged by the record alone."""
    for score in Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace).scores:
        if isinstance(score.outcome, Scored) and score.outcome.label is Label.FAIL:
            yield score.layer.value, score.name


def check_nothing_new_fails(trace: Trace) -> None:
    """Check that what fails without a part fails with it, too."""
    failed = set(iter_accusations(trace))
    for part, changes in TAKEN_AWAY.items():
        spans = list(trace.spans)
        for change in changes:
            spans = change_spans(spans, change)
        if spans:
            assert set(iter_accusations(trace_of(spans))) <= failed, part


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_golden_trace_without_a_part_fails_in_nothing_new(file: Path) -> None:
    for trace in read_traces(read_file(file)):
        check_nothing_new_fails(trace)


@pytest.fixture(scope="module")
def run_agent():
    with traced() as run:
        yield run


@pytest.mark.parametrize("clean", CLEAN, ids=lambda run: f"{run.framework}-{run.shape}")
def test_a_right_run_without_a_part_fails_in_nothing(run_agent, clean) -> None:
    clean.load()
    check_nothing_new_fails(run_agent(clean.framework, clean.task, clean.turns, DATA_TOOLS))


STORY = GOLDEN / "dialects" / "langfuse.json"


def test_the_error_of_one_tool_is_none_of_code_that_another_ran() -> None:
    """Where the code's own outcome is not on the trace, its step's error is that of the call beside it."""
    (trace,) = read_traces(read_file(STORY))
    spans = change_spans(trace.spans, without_results)
    found = Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace_of(spans)).scores
    outcomes = [
        score.outcome for score in found if (score.layer.value, score.name) == ("execution", "outcome")
    ]
    assert outcomes
    assert not any(isinstance(outcome, Scored) for outcome in outcomes)
