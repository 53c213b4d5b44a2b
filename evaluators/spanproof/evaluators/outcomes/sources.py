"""The texts of a run that support values, and the code, queries and tables among them.

In: a trace, a run and how its parts ended. Out: what the run was given, what its tools returned, and what its
code showed. Nothing is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spanproof.evaluators.actions import ANSWER_TOOLS, is_answer, is_answer_only
from spanproof.evaluators.outcomes.broadened import Query
from spanproof.evaluators.outcomes.calls import CallOutcomes, MadeCall, find_call_snippet
from spanproof.evaluators.outcomes.flow import CodeStep
from spanproof.evaluators.outcomes.model import NOT_DONE, WORKED, Account, KnownBy, State
from spanproof.reading.described_tables import Result
from spanproof.reading.python_facts import find_python_facts, has_only_literals
from spanproof.reading.sql_queries import is_constant
from spanproof.reading.sql_schema import Schema, build_schema
from spanproof.trace import Language, Run, Snippet, Span, SpanKind, Trace

_PRINTERS = ANSWER_TOOLS | {"print"}
# So many spans of the turns before a run are read, the latest ones.
_MAX_EARLIER_SPANS = 40
_ALTERS_TABLES = re.compile(r"\b(?:ALTER|CREATE|DROP|RENAME)\b", re.IGNORECASE)


def iter_given_texts(spans: Sequence[Span], run: Run, account: Account) -> Iterator[str]:
    """Yield the texts given to the run that support values: the task, prompts, users' words, errors."""
    yield run.task or ""
    for span in spans:
        if span.kind is SpanKind.LLM:
            yield from (
                message.text
                for message in span.input_messages
                if message.role in {"system", "user", "developer"}
            )
        elif span.kind is SpanKind.AGENT and span.input is not None:
            yield span.input.text
    for step in run.steps:
        yield account.steps[step.number].quote
        if step.refusal is not None and step.error is not None:
            yield step.error.message
        # What a refused call returned is the refusal.
        yield from (call.result.text for call in step.calls if call.refusal is not None and call.result)
        yield from (call.error.message for call in step.calls if call.error is not None)


def iter_earlier_texts(trace: Trace, run: Run, spans: Sequence[Span]) -> Iterator[str]:
    """Yield what was said and returned on the trace before the run began: the turns before it."""
    own = {span.span_id for span in spans}
    # What still goes on holds the run's own answer.
    before = [span for span in trace.spans if span.end_ns <= run.start_ns and span.span_id not in own]
    for span in before[-_MAX_EARLIER_SPANS:]:
        yield from (payload.text for payload in (span.input, span.output) if payload is not None)


def iter_result_texts(run: Run) -> Iterator[str]:
    """Yield the texts of what tools returned."""
    for step in run.steps:
        for call in step.calls:
            has_own_result = call.refusal is None and find_call_snippet(step, call) is None
            if call.result is not None and not is_answer(call) and has_own_result:
                yield call.result.text
        for snippet in step.snippets:
            if snippet.language is not Language.PYTHON and not is_constant_query(snippet):
                yield from filter(None, (snippet.logs, snippet.observation))
        # A step without calls shows what code printed that is not on the trace itself.
        only_answers = bool(step.calls) and all(map(is_answer, step.calls))
        if not step.snippets and step.observation and not only_answers:
            yield step.observation


def iter_code_steps(run: Run, account: Account, outcomes: CallOutcomes) -> Iterator[CodeStep]:
    """Yield the Python of a run, and its queries that hold only constants, with what became of each."""
    for step in run.steps:
        for snippet in step.snippets:
            is_query = is_constant_query(snippet)
            is_code = snippet.language is Language.PYTHON or is_query
            if snippet.id not in account.snippets or not is_code:
                continue
            made = snippet.tape or tuple(call for call in step.calls if call.span_id != snippet.span_id)
            states = [(call.tool, outcomes.get(call).state) for call in made]
            working = frozenset(tool for tool, state in states if state is State.OK)
            failed = frozenset(tool for tool, state in states if state in NOT_DONE)
            outcome = account.get_snippet_outcome(snippet)
            went_on = outcome.ok is True or outcome.known_by is KnownBy.SWALLOWED
            yield CodeStep(
                step.number,
                snippet.span_id,
                snippet.source,
                "\n".join(filter(None, (snippet.logs, snippet.observation, step.observation))),
                working_tools=working,
                failing_tools=failed - working,
                is_stopped=outcome.state is State.STOPPED,
                is_query=is_query,
                swallows_failure=bool(failed) and went_on,
                found_nothing=any(state is State.EMPTY for _, state in states),
                hands_over=hands_over(snippet),
            )


def iter_queries(run: Run, account: Account) -> Iterator[Query]:
    """Yield the queries of a run, in order, with what they gave."""
    for step in run.steps:
        for snippet in step.snippets:
            if snippet.language is Language.SQL and (snippet.executed or snippet.refusal is not None):
                result = snippet.observation or snippet.logs or ""
                yield Query(
                    step.number,
                    snippet.span_id,
                    snippet.source,
                    account.get_snippet_outcome(snippet).state,
                    result,
                )


def read_run_schema(spans: Sequence[Span], run: Run, account: Account, calls: Sequence[MadeCall]) -> Schema:
    """Return the tables that the run was shown; none where it has no SQL, or SQL that changes tables."""
    queries = [snippet for snippet in run.snippets if snippet.language is Language.SQL]
    if not queries or any(_ALTERS_TABLES.search(query.source) for query in queries):
        return Schema()
    worked = [query.source for query in queries if account.get_snippet_outcome(query).state in WORKED]
    texts = (*iter_given_texts(spans, run, account), *iter_result_texts(run))
    return build_schema(texts, _iter_results(run, account, calls), worked)


def _iter_results(run: Run, account: Account, calls: Sequence[MadeCall]) -> Iterator[Result]:
    """Yield what the queries, tools and code of a run gave, each with its query or its code."""
    for made in calls:
        result = made.call.result
        if account.calls[made.key].state is State.OK and result is not None:
            texts = tuple(value for value in made.arguments.values() if isinstance(value, str))
            only = texts[0] if len(texts) == 1 else ""
            source = made.snippet.source if made.snippet is not None else only
            yield Result(result.text, source, made.call.tool, texts, result.value)
    for snippet in run.snippets:
        shown = snippet.observation or snippet.logs or ""
        if account.get_snippet_outcome(snippet).state is State.OK and shown:
            yield Result(shown, snippet.source)


def hands_over(snippet: Snippet) -> bool:
    """Whether code only hands over an answer written down in it."""
    if snippet.language is not Language.PYTHON:
        return False
    if is_answer_only(snippet.source):
        return True
    facts = find_python_facts(snippet.source)
    return (
        facts is not None
        and bool(facts.called_names & ANSWER_TOOLS)
        and has_only_literals(facts.tree, _PRINTERS)
    )


def writes_only_literals(snippet: Snippet) -> bool:
    """Whether code only binds and prints values written down in it."""
    if snippet.language is Language.PYTHON:
        facts = find_python_facts(snippet.source)
    else:
        facts = None
    return facts is not None and bool(facts.tree.body) and has_only_literals(facts.tree, _PRINTERS)


def is_constant_query(snippet: Snippet) -> bool:
    """Whether a snippet is a query that selects only values that it writes down."""
    return snippet.language is Language.SQL and is_constant(snippet.source)
