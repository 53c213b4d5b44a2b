"""What a list of traces shows and searches, as columns of the row of a trace.

In: an evaluation. Out: task, answer, tokens and cost of its runs, the sums of these, and the tasks, code,
outputs and answers of its runs as one text in lower case, which a search reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.store.cells import Row, to_storable_text
from spanproof.trace import Layer, Run, Scored

# A line of a list has room for less; the whole is in the document of the trace.
SHOWN_CHARACTERS: Final = 500

# 100,000 traces of this size are 2 GB, which the index keeps a search from reading whole.
SEARCHED_CHARACTERS: Final = 20_000
# So that one long output leaves room for the steps after it.
_CHARACTERS_OF_A_PART: Final = 4_000
_MOST_PARTS: Final = 500

_COST_NAME: Final = "cost_usd"


def build_summary_columns(evaluation: TraceEvaluation) -> Row:
    """Return the columns of `traces` that describe its runs, as `schema.TRACES` names them."""
    runs = evaluation.runs
    costs = [_find_cost(run) for run in runs]
    tokens = [run.run.usage.input_tokens + run.run.usage.output_tokens for run in runs]
    known_costs = [cost for cost in costs if cost is not None]
    tasks = [_format_excerpt(run.run.task or "") for run in runs]
    text = _build_text(run.run for run in runs)
    answers = [_format_excerpt(run.run.answer.text if run.run.answer else "") for run in runs]
    return {
        "Runs.SpanId": [run.run.span_id for run in runs],
        "Runs.Task": tasks,
        "Runs.Answer": answers,
        "Runs.Tokens": [max(0, count) for count in tokens],
        "Runs.CostUsd": costs,
        "tokens": max(0, sum(tokens)),
        "cost_usd": sum(known_costs) if known_costs else None,
        "text": text,
    }


def _find_cost(run: RunEvaluation) -> float | None:
    """Return what the tokens of a run cost in US dollars; None where the price is not known."""
    for score in run.scores:
        is_cost = score.layer is Layer.TRAJECTORY and score.name == _COST_NAME
        if is_cost and isinstance(score.outcome, Scored):
            return score.outcome.raw
    return None


def _format_excerpt(text: str) -> str:
    return to_storable_text(text[:SHOWN_CHARACTERS])


def _build_text(runs: Iterable[Run]) -> str:
    """Return what a search looks through, in lower case: tasks and answers, then code and outputs."""
    listed = list(runs)
    parts = [text for run in listed for text in (run.task, run.answer.text if run.answer else None)]
    parts += islice((text for run in listed for text in _iter_steps(run)), _MOST_PARTS)
    # A part that a later one repeats, such as code that is quoted in a message, is searched once.
    distinct = dict.fromkeys(text[:_CHARACTERS_OF_A_PART] for text in parts if text)
    return normalise_case("\n".join(distinct)[:SEARCHED_CHARACTERS])


def _iter_steps(run: Run) -> Iterator[str | None]:
    for step in run.steps:
        for snippet in step.snippets:
            yield snippet.source
            yield snippet.logs
            yield snippet.output.text if snippet.output else snippet.observation
        for call in step.calls:
            yield call.tool
            yield call.result.text if call.result else None
        yield step.error.message if step.error else None


def normalise_case(text: str) -> str:
    """Return text as it is stored and searched: in lower case."""
    return to_storable_text(text.lower())
