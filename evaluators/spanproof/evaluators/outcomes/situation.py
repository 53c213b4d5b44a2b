"""What a run was to do and what it had for it, read off its trace.

In: a trace, a run and what became of its calls. Out: a `Situation`. The tools an agent had are those that its
definitions list, those whose signatures its system prompt holds, and those it called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spanproof.evaluators.outcomes.actions import ANSWER_TOOLS
from spanproof.evaluators.outcomes.flow import CodeStep
from spanproof.evaluators.outcomes.inventing import Situation
from spanproof.evaluators.outcomes.known import find_numbers
from spanproof.evaluators.outcomes.model import NOT_DONE, Account, State
from spanproof.evaluators.outcomes.topics import extract_topics, gives_leave, reports_failure
from spanproof.evaluators.replay import tools_in
from spanproof.evaluators.runs import spans_of
from spanproof.trace import Run, SpanKind, Trace

_SIGNATURE = re.compile(r"(?m)^\s*def ([a-z]\w*)\(")
_RUNS_CODE = re.compile(r"python|interpreter|jupyter|execute_code|run_code|bash|shell|terminal")
_OURS = re.compile(r"\b(?:our|ours|we|unsere?[rnms]?|wir|notre|nos|nuestr[oa]s?)\b", re.IGNORECASE)
_PICTURES = re.compile(
    r'"type":\s*"(?:image|image_url|input_image|file|input_file|blob|uri|audio|input_audio)"', re.IGNORECASE
)
_MAX_TEXT = 200_000
# Numbers of the task that the code uses from which the task gives its data itself.
_FEWEST_GIVEN = 2


def build_situation(
    trace: Trace, run: Run, account: Account, code: Sequence[CodeStep], lacking_since: int | None
) -> Situation:
    """Return what this run was to do and what it had for it."""
    task = run.task or ""
    offered = {name for name in _list_offered_tools(trace, run) if name not in ANSWER_TOOLS}
    data_tools = {name for name in offered if not _RUNS_CODE.search(name.lower())}
    worked, failed = set[str](), set[str]()
    for step in run.steps:
        for position, call in enumerate(step.calls):
            state = account.of_call(step, position).state
            if state is State.OK:
                worked.add(call.tool)
            elif state in NOT_DONE:
                failed.add(call.tool)
    used = frozenset(number for each in code for number in find_numbers(each.source))
    given = [number for number in find_numbers(task) if number in used and len(number) > 1]
    return Situation(
        task=extract_topics(task),
        offered=frozenset().union(*map(extract_topics, data_tools)),
        has_tools=bool(data_tools),
        lost=frozenset().union(*map(extract_topics, failed - worked)),
        looked_up=frozenset().union(*map(extract_topics, worked)),
        lacking_since=lacking_since,
        sees_prompt=any(
            message.role in {"user", "system", "developer"}
            for span in spans_of(trace, run)
            for message in span.input_messages
        ),
        gives_leave=gives_leave(task),
        in_words=len(given) >= _FEWEST_GIVEN,
        admits=run.answer is not None and reports_failure(run.answer.text, task),
        is_ours=_OURS.search(task) is not None,
    )


def shows_pictures(trace: Trace, run: Run) -> bool:
    """Whether the model was given what is not text: what it holds cannot be seen."""
    return any(
        isinstance(value, str) and _PICTURES.search(value[:_MAX_TEXT]) is not None
        for span in spans_of(trace, run)
        if span.kind in (SpanKind.LLM, SpanKind.AGENT)
        for key, value in span.attributes.items()
        if "message" in key or "input" in key
    )


def _list_offered_tools(trace: Trace, run: Run) -> Iterator[str]:
    yield from tools_in(spans_of(trace, run))
    for step in run.steps:
        for call in step.calls:
            yield call.tool
    for span in spans_of(trace, run):
        if span.kind is SpanKind.LLM:
            for message in span.input_messages:
                if message.role == "system":
                    yield from _SIGNATURE.findall(message.text[:_MAX_TEXT])
