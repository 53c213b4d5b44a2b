"""The snippets of a trace: gathers candidates from every place, then settles which are one.

Places, strongest first: code recorded as executed, steps whose code is in messages, arguments of code
tools, calls a model requested, blocks in a model's words and in what an agent or a chain answered.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import dedent

from spanproof.evaluators.actions import ANSWER_TOOLS
from spanproof.evaluators.detect.answers import iter_answer_texts
from spanproof.evaluators.detect.arguments import list_code
from spanproof.evaluators.detect.blocks import MARKS
from spanproof.evaluators.detect.calls import list_tape
from spanproof.evaluators.detect.exchanges import iter_exchanges
from spanproof.evaluators.detect.language import find_language
from spanproof.evaluators.detect.observation import parse_observation
from spanproof.evaluators.detect.steps import find_step_code
from spanproof.evaluators.detect.text import list_text_snippets
from spanproof.evaluators.refusals import find_ending_refusal, find_refusal
from spanproof.semconv import genai
from spanproof.semconv import openinference as oi
from spanproof.semconv import spanproof as ours
from spanproof.trace import (
    Executor,
    Language,
    Message,
    Payload,
    Snippet,
    Span,
    SpanError,
    SpanKind,
    Trace,
    snippet_id,
)

_FINAL_ANSWER = "final_answer"
_DATA = frozenset({Language.JSON, Language.YAML})
_ANSWERING = frozenset({SpanKind.AGENT, SpanKind.CHAIN})


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Code at a place. `strength` orders candidates for the same run of the same code."""

    span: Span
    path: str
    language: Language
    source: str
    executed: bool
    strength: int = 0
    observation: str | None = None
    logs: str | None = None
    output: Payload | None = None
    error: SpanError | None = None
    is_final: bool = False
    executor: Executor = field(default_factory=Executor)


def list_snippets(trace: Trace) -> list[Snippet]:
    """Return every snippet of this trace, in order of its spans."""
    recorded = [*_iter_recorded(trace), *_iter_steps(trace), *_iter_tool_calls(trace)]
    ran = _list_strongest(trace, [*recorded, *_iter_shown_exchanges(trace, recorded)])
    requested = list(_iter_requested(trace, ran))
    ran += [candidate for candidate in requested if candidate.executed]
    unrun = [candidate for candidate in requested if not candidate.executed]
    proposed = _select_proposed([*unrun, *_iter_words(trace)], ran)
    order = {span.span_id: index for index, span in enumerate(trace.spans)}
    found = sorted([*ran, *proposed], key=lambda candidate: order[candidate.span.span_id])
    return [_build_snippet(trace, candidate) for candidate in found]


def _build_snippet(trace: Trace, found: _Candidate) -> Snippet:
    span = found.span
    refusal = find_refusal(trace, span) if found.executed else None
    executed = found.executed and refusal is None
    if executed and span.kind is not SpanKind.LLM:
        tape = list_tape(trace, span.span_id)
    else:
        tape = ()
    gave_answer = any(call.tool == _FINAL_ANSWER and call.error is None for call in tape)
    is_cut = span.truncated and _may_be_cut(span, found)
    return Snippet(
        id=snippet_id(trace.trace_id, span.span_id, found.path, found.source),
        trace_id=trace.trace_id,
        span_id=span.span_id,
        path=found.path,
        language=found.language,
        source=found.source,
        executed=executed,
        observation=found.observation,
        logs=found.logs,
        output=found.output,
        error=found.error,
        tape=tape,
        is_final=found.is_final or (executed and gave_answer),
        truncated=is_cut,
        executor=found.executor,
        refusal=find_ending_refusal(trace, span) if executed else refusal,
    )


# Attributes of ours that hold code on spans which record none as such.
_HOLD_SOURCE = {
    SpanKind.TOOL: frozenset({genai.TOOL_CALL_ARGUMENTS, ours.TOOL_POSITIONAL, oi.INPUT_VALUE}),
    SpanKind.LLM: frozenset({genai.OUTPUT_MESSAGES, oi.OUTPUT_VALUE}),
}


def _may_be_cut(span: Span, found: _Candidate) -> bool:
    """Whether the clipping that the span reports may have hit this source."""
    clipped = span.attributes.get(ours.CONTENT_TRUNCATED)
    if not isinstance(clipped, list):
        return True
    holders = _HOLD_SOURCE.get(span.kind, frozenset())
    return any(name == found.path or name in holders for name in clipped if isinstance(name, str))


def _iter_recorded(trace: Trace) -> Iterator[_Candidate]:
    for span in trace.spans:
        code = span.code
        if code is None or not code.source.strip():
            continue
        parts = parse_observation(span.observation)
        language = MARKS.get((code.language or "").lower()) or find_language(code.source) or Language.OTHER
        yield _Candidate(
            span,
            code.path,
            language,
            code.source,
            executed=True,
            strength=3,
            observation=span.observation if span.observation is not None else _find_output_text(span),
            logs=code.logs if code.logs is not None else parts.logs,
            output=code.output or parts.output,
            error=span.error,
            is_final=code.is_final,
            executor=code.executor,
        )


def _iter_steps(trace: Trace) -> Iterator[_Candidate]:
    stepped = [span for span in trace.spans if span.step is not None and span.code is None]
    calls = _group_calls(trace) if stepped else {}
    for span in stepped:
        of_agent = calls.get(trace.parents[span.span_id], ())
        after = bisect_left(of_agent, span.end_ns, key=lambda call: call.start_ns)
        found = find_step_code(trace, span, of_agent[after] if after < len(of_agent) else None)
        if found is None:
            continue
        parts = parse_observation(found.observation)
        yield _Candidate(
            span,
            found.path,
            Language.PYTHON,
            found.source,
            executed=True,
            strength=2,
            observation=found.observation,
            logs=parts.logs,
            output=parts.output,
            error=span.error,
        )


def _iter_shown_exchanges(trace: Trace, recorded: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """Yield code that a conversation shows to have run, of agents whose code is recorded nowhere else."""
    coding = {_find_agent(trace, candidate.span) for candidate in recorded if candidate.executed}
    for agent, calls in _group_calls(trace).items():
        if agent in coding:
            continue
        for found in iter_exchanges(calls):
            parts = parse_observation(found.observation)
            yield _Candidate(
                found.call,
                found.path,
                found.language,
                found.source,
                executed=True,
                observation=found.observation,
                logs=parts.logs,
                output=parts.output,
                error=found.error,
            )


def _find_agent(trace: Trace, span: Span) -> str | None:
    above = trace.ancestors(span.span_id)
    return next((ancestor.span_id for ancestor in above if ancestor.kind is SpanKind.AGENT), None)


def _group_calls(trace: Trace) -> Mapping[str | None, Sequence[Span]]:
    """Return model calls in order of their start, by the agent nearest above them."""
    found: dict[str | None, list[Span]] = {}
    for span in trace.spans:
        if span.kind is SpanKind.LLM:
            found.setdefault(_find_agent(trace, span), []).append(span)
    return found


def _iter_tool_calls(trace: Trace) -> Iterator[_Candidate]:
    for span in trace.spans:
        if span.kind is not SpanKind.TOOL or span.tool is None or span.code is not None:
            continue
        for code in list_code(span.tool):
            yield _Candidate(
                span,
                f"tool.{code.path}",
                code.language,
                code.source,
                executed=code.runs,
                strength=1,
                observation=_find_output_text(span) if code.runs else None,
                error=span.error if code.runs else None,
            )


def _list_strongest(trace: Trace, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return one candidate per time code ran: of nested spans with the same code, the strongest."""
    kept: list[_Candidate] = []
    taken: dict[str, set[str]] = {}
    above_taken: dict[str, set[str]] = {}
    for candidate in sorted(candidates, key=lambda candidate: -candidate.strength):
        source, own = _normalise_source(candidate.source), candidate.span.span_id
        above = {span.span_id for span in trace.ancestors(own)}
        spans, outer = taken.setdefault(source, set()), above_taken.setdefault(source, set())
        if own in spans or own in outer or above & spans:
            continue
        spans.add(own)
        outer |= above
        kept.append(candidate)
    return kept


def _iter_requested(trace: Trace, ran: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """Yield calls with code that a model requested and that no span records as run.

    Answered by a `tool` message they ran all the same: at the provider, or where nothing is recorded.
    """
    by_call = {span.tool.call_id: span for span in trace.spans if span.tool is not None and span.tool.call_id}
    answers = _group_answers(trace)
    sources = {_normalise_source(candidate.source) for candidate in ran}
    for span, number, message in _iter_messages(trace):
        for index, call in enumerate(message.tool_calls):
            call_id = call.call_id or ""
            own_span, is_recorded = by_call.get(call_id, span), call_id in by_call
            if is_recorded:
                observation = _find_output_text(own_span)
            else:
                observation = answers.get(call_id)
            error = own_span.error if is_recorded else None
            for code in list_code(call):
                if _normalise_source(code.source) in sources:
                    continue
                executed = code.runs and (is_recorded or call_id in answers)
                yield _Candidate(
                    own_span,
                    f"output_messages[{number}].tool_calls[{index}].{code.path}",
                    code.language,
                    code.source,
                    executed=executed,
                    observation=observation if executed else None,
                    error=error if executed else None,
                )


def _group_answers(trace: Trace) -> Mapping[str, str]:
    """Return what tools answered, by the id of the call: from any message a model said or was sent."""
    return {
        message.tool_call_id: message.text
        for span in trace.spans
        if span.kind is SpanKind.LLM
        for message in (*span.input_messages, *span.output_messages)
        if message.role == "tool" and message.tool_call_id
    }


def _iter_words(trace: Trace) -> Iterator[_Candidate]:
    """Yield code in a model's own words, and in an agent's or a chain's answer."""
    for span, source_path, text in (*_iter_texts(trace), *_iter_unrepeated_answers(trace)):
        for index, block in enumerate(list_text_snippets(text)):
            if block.language in _DATA:
                continue
            path = f"{source_path}.text[{index}]"
            # A block inside a list item is indented with it; that is no part of the code.
            yield _Candidate(span, path, block.language, dedent(block.source), executed=False)


def _iter_texts(trace: Trace) -> Iterator[tuple[Span, str, str]]:
    for span, number, message in _iter_messages(trace):
        yield span, f"output_messages[{number}]", message.text


def _iter_unrepeated_answers(trace: Trace) -> Iterator[tuple[Span, str, str]]:
    """Yield answers of runs; a text that a model call below said is not repeated."""
    below: dict[str, list[str]] = {}
    for span in reversed(trace.spans):
        own = _read_answer(trace, span)
        texts = list(below.get(span.span_id, ()))
        if own and not any(own in text for text in texts):
            yield span, "output", own
            texts.append(own)
        if span.kind is SpanKind.LLM:
            texts += [message.text for message in span.output_messages]
        parent = trace.parents[span.span_id]
        if parent is not None:
            below.setdefault(parent, []).extend(dict.fromkeys(filter(None, texts)))


def _read_answer(trace: Trace, span: Span) -> str:
    """Return what an agent, a topmost chain, an application's root or an answering tool ended with."""
    if not _gives_answer(trace, span):
        return ""
    spoken = [message.text for message in span.output_messages if message.role == "assistant"]
    if spoken:
        return spoken[-1]
    if span.output is not None:
        return "\n\n".join(iter_answer_texts(span.output))
    return ""


def _gives_answer(trace: Trace, span: Span) -> bool:
    """Whether what a span gave is an answer: of a run, or of a chain that has no run around it."""
    if span.step is not None or span.code is not None:
        return False
    if span.kind is SpanKind.TOOL:
        return span.tool is not None and span.tool.name in ANSWER_TOOLS
    if span.kind is SpanKind.CHAIN:
        above = (ancestor for ancestor in trace.ancestors(span.span_id) if ancestor.kind in _ANSWERING)
        return not any(ancestor.output is not None or ancestor.output_messages for ancestor in above)
    is_application = span.kind is SpanKind.OTHER and trace.parents[span.span_id] is None
    return span.kind is SpanKind.AGENT or is_application


def _iter_messages(trace: Trace) -> Iterator[tuple[Span, int, Message]]:
    """Yield what models said, once: a call within a call repeats it."""
    for span in trace.spans:
        if span.kind is not SpanKind.LLM:
            continue
        if any(above.kind is SpanKind.LLM for above in trace.ancestors(span.span_id)):
            continue
        for number, message in enumerate(span.output_messages):
            if message.role == "assistant":
                yield span, number, message


def _select_proposed(candidates: Sequence[_Candidate], ran: Sequence[_Candidate]) -> list[_Candidate]:
    """Return candidates that are not what ran, nor part of it, each source once."""
    whole = {_normalise_source(candidate.source) for candidate in ran}
    sources = sorted(whole)
    kept: dict[str, _Candidate] = {}
    for candidate in candidates:
        plain = _normalise_source(candidate.source)
        if plain not in kept and plain not in whole and not any(plain in source for source in sources):
            kept[plain] = candidate
    return list(kept.values())


def _normalise_source(source: str) -> str:
    """Return a source without the white space that copying changes."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _find_output_text(span: Span) -> str | None:
    return span.output.text if span.output is not None else None
