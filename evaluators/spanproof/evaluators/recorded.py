"""What the trace itself shows of a step's outcome.

In: a run, a step or a snippet. Out: facts of the record; nothing is replayed and nothing is judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spanproof.evaluators.actions import ANSWER_TOOLS, is_answer
from spanproof.evaluators.replay.record import read_record
from spanproof.trace import Language, Run, Snippet, Span, SpanKind, Step
from spanproof.trace.producers import Part, list_unrecorded

PROGRAMS = frozenset({Language.PYTHON, Language.BASH, Language.SQL, Language.JAVASCRIPT, Language.TYPESCRIPT})
"""Languages whose snippets do something; the rest are documents."""

_PICTURES = re.compile(
    r'"type":\s*"(?:image|image_url|input_image|file|input_file|blob|uri|audio|input_audio)"', re.IGNORECASE
)
_MAX_TEXT = 200_000
_LAST_OUTPUT = re.compile(r"\n?Last output from code snippet:\s*\n.*\Z", re.DOTALL)


def is_silent(run: Run) -> bool:
    """Whether the trace lacks the outcome of some program that ran, so that a replay is needed."""
    executed = [
        (step, snippet)
        for step in run.steps
        for snippet in step.snippets
        if snippet.executed and snippet.language in PROGRAMS
    ]
    return any(
        read_record(snippet).failure_class is None or not shows_outcome(step, snippet)
        for step, snippet in executed
    )


def shows_outcome(step: Step, snippet: Snippet, *, own: bool = False) -> bool:
    """Whether the trace shows anything of a snippet's outcome; with `own`, on the snippet itself."""
    if snippet.logs or snippet.output or snippet.observation or snippet.error:
        return True
    return not own and bool(step.observation)


def read_unseen_output(step: Step) -> str:
    """Return what a step printed whose code and calls are not on the trace; empty for nothing."""
    worked = any(not is_answer(call) for call in step.calls)
    if step.error is not None or worked or not step.observation:
        return ""
    return _LAST_OUTPUT.sub("", step.observation).partition("Execution logs:")[2].strip()


def records_calls(spans: Sequence[Span], run: Run) -> bool:
    """Whether calls of tools, had there been any, would be on this trace.

    A producer that records none leaves out the spans of its tools, and the turns of its model as well or the
    results in them: then nothing can be said of what the run did.
    """
    if Part.TOOL_CALLS in list_unrecorded(spans):
        return False
    if any(_is_missing_calls(step) for step in run.steps) or _is_missing_execution(run):
        return False
    if _has_execution(spans, run):
        return True
    turns = [span for span in spans if span.kind is SpanKind.LLM]
    if any(message.role == "tool" for span in turns for message in span.input_messages):
        return True
    if any(map(_requests_tool, run.steps)):
        return False
    return any(span.input_messages or span.output_messages for span in turns)


def _has_execution(spans: Sequence[Span], run: Run) -> bool:
    """Whether a call of a tool or an executed snippet is on the trace."""
    if any(span.kind is SpanKind.TOOL for span in spans):
        return True
    return any(step.calls for step in run.steps) or any(snippet.executed for snippet in run.snippets)


def _is_missing_calls(step: Step) -> bool:
    """Whether a model requested calls in this step of which the trace shows neither one nor its failure."""
    ran = step.calls or any(snippet.executed for snippet in step.snippets)
    failed = step.error is not None or step.refusal is not None
    return _requests_tool(step) and not ran and not failed


def _requests_tool(step: Step) -> bool:
    """Whether a model requested a tool in this step that does not only take the answer."""
    return any(call.name not in ANSWER_TOOLS for call in step.requested)


def _is_missing_execution(run: Run) -> bool:
    """Whether a model wrote programs, none is known to have worked, and the run went on after one of them.

    It went on where another turn follows, or where the answer is not in the model's own words. A program that
    was refused did not run. That one failed says nothing of the others, where theirs are not recorded.
    """
    writing = [step for step in run.steps if step.refusal is None and any(map(_is_program, step.snippets))]
    if not writing:
        return False
    executed = [snippet for snippet in run.snippets if snippet.executed]
    if executed:
        has_worked = any(snippet.error is None for snippet in executed)
        before_last = (step for step in writing if step is not run.steps[-1])
        return not has_worked and any(map(_is_outcome_unknown, before_last))
    if writing[0] is not run.steps[-1]:
        return True
    return run.answer is not None and run.answer.text.strip() not in writing[0].text


def _is_program(snippet: Snippet) -> bool:
    """Whether a snippet is a program that was not refused."""
    return snippet.language in PROGRAMS and snippet.refusal is None


def _is_outcome_unknown(step: Step) -> bool:
    """Whether nothing says what became of the programs of a step."""
    return step.error is None and not any(snippet.executed for snippet in step.snippets)


def shows_pictures(spans: Sequence[Span]) -> bool:
    """Whether the model was given what is not text: what it holds cannot be seen."""
    inputs = (
        value
        for span in spans
        if span.kind in (SpanKind.LLM, SpanKind.AGENT)
        for key, value in span.attributes.items()
        if "message" in key or "input" in key
    )
    return any(isinstance(value, str) and _PICTURES.search(value[:_MAX_TEXT]) for value in inputs)
