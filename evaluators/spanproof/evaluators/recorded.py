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
    return any(
        read_record(snippet).failure_class is None or not shows_outcome(step, snippet)
        for step in run.steps
        for snippet in step.snippets
        if snippet.executed and snippet.language in PROGRAMS
    )


def shows_outcome(step: Step, snippet: Snippet, *, own: bool = False) -> bool:
    """Whether the trace shows anything of a snippet's outcome; with `own`, on the snippet itself."""
    shown = snippet.logs or snippet.output or snippet.observation or (None if own else step.observation)
    return bool(shown or snippet.error)


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
    if any(span.kind is SpanKind.TOOL for span in spans) or any(step.calls for step in run.steps):
        return True
    if any(snippet.executed for snippet in run.snippets):
        return True
    turns = [span for span in spans if span.kind is SpanKind.LLM]
    if any(message.role == "tool" for span in turns for message in span.input_messages):
        return True
    if any(call.name not in ANSWER_TOOLS for step in run.steps for call in step.requested):
        return False
    return any(span.input_messages or span.output_messages for span in turns)


def _is_missing_calls(step: Step) -> bool:
    """Whether a model requested calls in this step of which the trace shows neither one nor its failure."""
    requested = any(call.name not in ANSWER_TOOLS for call in step.requested)
    ran = step.calls or any(snippet.executed for snippet in step.snippets)
    return requested and not ran and step.error is None and step.refusal is None


def _is_missing_execution(run: Run) -> bool:
    """Whether a model wrote programs, none is known to have worked, and the run went on after one of them.

    It went on where another turn follows, or where the answer is not in the model's own words. A program that
    was refused did not run. That one failed says nothing of the others, where theirs are not recorded.
    """
    writing = [
        step
        for step in run.steps
        if step.refusal is None
        and any(program.language in PROGRAMS and program.refusal is None for program in step.snippets)
    ]
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


def _is_outcome_unknown(step: Step) -> bool:
    """Whether nothing says what became of the programs of a step."""
    return step.error is None and not any(snippet.executed for snippet in step.snippets)


def shows_pictures(spans: Sequence[Span]) -> bool:
    """Whether the model was given what is not text: what it holds cannot be seen."""
    return any(
        isinstance(value, str) and _PICTURES.search(value[:_MAX_TEXT]) is not None
        for span in spans
        if span.kind in (SpanKind.LLM, SpanKind.AGENT)
        for key, value in span.attributes.items()
        if "message" in key or "input" in key
    )
