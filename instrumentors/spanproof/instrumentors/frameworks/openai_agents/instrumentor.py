"""The OpenAI Agents SDK's traces and spans, turned into ours as they begin and end.

A trace becomes a CHAIN, an agent an AGENT, a turn a step, a generation or response an LLM call, a function a
TOOL call. Spans that only group (`task`) are left out, and their children hang on what is above. An agent's
input and output, which the SDK does not record, are its first call's question and its last call's answer;
its failure is its own error or its last turn's.

The SDK leaves the span of a model call to the model. So the calls of each model that is not the SDK's are
recorded as LLM calls; where a model makes a span after all, ours is left out.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final, TypeVar

from agents.result import RunResultStreaming
from agents.tracing import (
    TracingProcessor,
    add_trace_processor,
    get_current_span,
    get_current_trace,
    set_trace_processors,
)
from agents.tracing.setup import get_trace_provider

from spanproof.instrumentors.content.texts import as_text, get_attribute, get_member
from spanproof.instrumentors.frameworks import patching
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.messages import History
from spanproof.instrumentors.frameworks.openai_agents import records
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.spans.span_start import AGENT, CHAIN, LLM, TOOL, build_start
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing, was_abandoned
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_KINDS = {
    "agent": AGENT,
    "turn": CHAIN,
    "generation": LLM,
    "response": LLM,
    "function": TOOL,
    "handoff": CHAIN,
    "guardrail": "GUARDRAIL",
    "custom": CHAIN,
    "mcp_tools": CHAIN,
    "transcription": CHAIN,
    "speech": CHAIN,
    "speech_group": CHAIN,
}


class Record(OpenSpan):
    """A trace or span of the SDK's that has begun, and ours for it.

    Attributes:
        kind: of the span.
        handled: the exception that was being handled when it began: not what ended it.
        history: what the model calls of its agent were given.
        agent: the agent that it is a part of; an agent's own is itself.
        workflow: for an agent no other one called, what it is a part of.
        question, answered: for an agent or workflow, the question and answer its calls showed so far.
        last_failure: for an agent, the message of its last turn's error.
        handed_over: for an agent, another one has taken its place.
        calls: model calls that began under it.
        ended: its span has.
    """

    kind: str
    handled: BaseException | None
    history: History
    agent: Record | None = None
    workflow: Record | None = None
    question: str | None = None
    answered: str | None = None
    last_failure: str | None = None
    handed_over = False
    calls = 0
    ended = False

    def find_exception(self) -> BaseException | None:
        """Return the exception that is being raised through the span as it ends."""
        raised = sys.exception()
        return None if raised is self.handled else raised

    def record_conversation(self, question: str | None, answered: str | None) -> None:
        """Keep the conversation that a model's call showed of its agent."""
        if self.agent is not None:
            self.agent.question = self.agent.question or question
            self.agent.answered = answered

    def close_record(self) -> None:
        """End the span; an agent, which is its own, is not left to the garbage collector for that."""
        self.ended = True
        self.close()
        if self.agent is self:
            self.agent = None


class BareCall(Record):
    """A call of a model that may make no span of its own.

    Attributes:
        parent: what it belongs to.
        calls_before: how many calls the parent had before.
        given: what the model is given.
    """

    parent: Record
    calls_before: int
    given: Mapping[str, Any]


class SpanProcessor(TracingProcessor):
    """The tracing processor; methods are the SDK's, but those for cancelled runs and bare model calls."""

    def __init__(self, tracing: Tracing) -> None:
        self._tracing = tracing
        self._records: dict[str, Record] = {}
        self._cancelled: dict[str, Any] = {}

    @shielded("openai_agents.trace.start")
    def on_trace_start(self, trace: Any) -> None:
        """Start the span of a workflow."""
        self._records[trace.trace_id] = self._open(Record, trace.name, CHAIN, None)

    @shielded("openai_agents.trace.end")
    def on_trace_end(self, trace: Any) -> None:
        """End the span of a workflow."""
        self._cancelled.pop(trace.trace_id, None)
        record = self._records.pop(trace.trace_id, None)
        if record is not None:
            if record.recording:
                records.record_workflow(record, record.question, record.answered)
            self._close(record, None)

    @shielded("openai_agents.span.start")
    def on_span_start(self, span: Any) -> None:
        """Start the span of a part of a workflow."""
        data = span.span_data
        parent = self._records.get(span.parent_id or span.trace_id) or self._records.get(span.trace_id)
        kind = _KINDS.get(data.type)
        if kind is None:
            if parent is not None:
                self._records[span.span_id] = parent
            return
        record = self._records[span.span_id] = self._open(Record, records.get_name(data), kind, parent)
        if kind == AGENT:
            record.workflow = parent if record.agent is None else None
            record.agent = record
        if kind == TOOL:
            record.enter()
        if kind == LLM and parent is not None:
            parent.calls += 1

    @shielded("openai_agents.span.end")
    def on_span_end(self, span: Any) -> None:
        """End the span of a part of a workflow, with everything that is known of it."""
        record, data = self._records.pop(span.span_id, None), span.span_data
        if record is None or data.type not in _KINDS:
            return
        if data.type == "handoff" and record.agent is not None and span.error is None:
            record.agent.handed_over = True
        if record.recording:
            with shielded("openai_agents.span.describe"):
                self._record_span(
                    record, data, failed=record.find_exception() is not None or bool(span.error)
                )
        stopped = record.kind == AGENT and self._is_stopped(record, span.trace_id)
        self._close(record, span.error, is_turn=data.type == "turn", stopped=stopped)

    @shielded("openai_agents.cancel")
    def record_cancelled(self, result: Any) -> None:
        """Note a streamed run as cancelled: one that stops after its turn ends like one that answered."""
        trace = result.trace or get_current_trace()  # none of its own within a trace of the application's
        if trace is not None and trace.trace_id in self._records:
            self._cancelled[trace.trace_id] = result

    @shielded("openai_agents.model.start")
    def find_started_call(self, model: Any, arguments: Mapping[str, Any]) -> BareCall | None:
        """Start the span of a model's call; None where nothing traces it."""
        within, trace = get_current_span(), get_current_trace()
        parent = self._records.get(within.span_id) if within is not None else None
        parent = parent or (self._records.get(trace.trace_id) if trace is not None else None)
        if parent is None:
            return None
        name = as_text(get_attribute(model, "model")) or type(model).__name__
        call = self._open(BareCall, name, LLM, parent)
        call.parent, call.calls_before, call.given = parent, parent.calls, {**arguments, "model": name}
        return call

    def close_call(self, call: BareCall | None, response: Any) -> None:
        """End a model call's span; it is left unended, and so out, where the model made one itself."""
        if call is None or call.parent.calls != call.calls_before:
            return
        raised = call.find_exception()
        with shielded("openai_agents.model.end"):
            if call.recording:
                data = records.build_bare_call(call.given, response)
                call.parent.record_conversation(*records.read_call(call, data, call.history))
                records.record_hidden(call, data, failed=False)
            if raised is not None and not was_abandoned(raised):
                records.record_failure(call, raised)
        call.close()

    def shutdown(self) -> None:
        """Do nothing: the provider is the application's."""

    def force_flush(self) -> None:
        """Do nothing: nothing is held back here."""

    def close_all(self) -> None:
        """End all open spans: the SDK will not report their ends to us."""
        while self._records:
            _, record = self._records.popitem()
            if not record.ended:  # what only groups has the record of what is above
                record.close_record()

    def _open(self, kind: type[_Opened], name: str, span_kind: str, parent: Record | None) -> _Opened:
        record = self._tracing.open(kind, build_start(name, span_kind), parent.context if parent else None)
        record.kind, record.handled = span_kind, sys.exception()
        if parent and span_kind != AGENT:
            record.history = parent.history
        else:
            record.history = History()
        record.agent = parent.agent if parent else None
        return record

    def _record_span(self, record: Record, data: Any, *, failed: bool) -> None:
        if record.kind == LLM:
            record.record_conversation(*records.read_call(record, data, record.history))
            records.record_hidden(record, data, failed=failed)
        elif record.kind == TOOL:
            records.record_tool(record, data, failed=failed)
        elif record.kind == AGENT:
            records.record_agent_span(record, data, record.question, record.answered)
            if record.workflow is not None:
                record.workflow.question = record.workflow.question or record.question
                record.workflow.answered = record.answered
        else:
            records.record_other(record, data)
        if data.type == "response":  # which model answers is not known before it has
            record.span.update_name(f"{genai.OPERATION_CHAT} {records.get_name(data)}")
            records.record_hosted_code(self._tracing, record, data)

    def _is_stopped(self, record: Record, trace_id: str) -> bool:
        """Return whether the caller stopped the run before this agent or its tool answered."""
        result = self._cancelled.get(trace_id)
        return result is not None and result.final_output is None and record.answered is None

    def _close(self, record: Record, error: Any, *, is_turn: bool = False, stopped: bool = False) -> None:
        raised = record.find_exception()
        given_up = was_abandoned(raised)
        message = records.find_error(error) or (record.last_failure if record.kind == AGENT else None)
        failed = (raised is not None and not given_up) or message is not None
        with shielded("openai_agents.fail"):
            if raised is not None and not given_up:
                records.record_failure(record, raised)
            elif message is not None:
                # The SDK keeps a message and loses the type, where it handled the exception itself.
                record.fail_untyped(message)
        if is_turn and record.agent is not None:
            record.agent.last_failure = message
        was_left = given_up or stopped or record.handed_over
        if record.kind == AGENT and (failed or not was_left):
            record.fact(ours.RUN_ENDING, _get_ending(error, failed=failed))
        record.close_record()


def _get_ending(error: Any, *, failed: bool) -> str:
    if as_text(get_member(error, "message")) == "Max turns exceeded":
        return "max_steps"
    return "failed" if failed else "answered"


_Opened = TypeVar("_Opened", bound=Record)


# The arguments of a model's call, in order.
_POSITIONS: Final = (
    "system_instructions",
    "input",
    "model_settings",
    "tools",
    "output_schema",
    "handoffs",
    "tracing",
)


class Instrumentor(patching.Instrumentor):
    """The OpenAI Agents SDK under instrumentation, from `instrument` to `uninstrument`."""

    def __init__(self, tracing: Tracing) -> None:
        super().__init__(tracing)
        self._processor = SpanProcessor(tracing)
        self._stood_in_for: list[Any] | None = None

    def instrument(self) -> None:
        """Register the processor beside the SDK's own upload, again where it is no longer there."""
        if self._processor in _list_processors():
            return
        self.patches.add_patch(RunResultStreaming, "cancel", self._handle_cancel)
        try:
            from agents.run_internal import run_loop
        except ImportError:
            pass  # another version of the SDK: its own models are recorded all the same
        else:
            self.patches.add_patch(run_loop, "get_model", self._handle_model)
        add_trace_processor(self._processor)

    def start_alone(self) -> None:
        """Replace the processors that are there, among them the SDK's own upload."""
        if self._stood_in_for is None:
            self._stood_in_for = [
                processor for processor in _list_processors() if processor is not self._processor
            ]
            set_trace_processors([self._processor])

    def uninstrument(self) -> None:
        """Remove the processor, restore those it replaced, and end open spans."""
        super().uninstrument()
        self._processor.close_all()
        left = [processor for processor in _list_processors() if processor is not self._processor]
        set_trace_processors([*(self._stood_in_for or ()), *left])

    def _handle_cancel(self, original: Method, result: Any, args: Args, kwargs: Kwargs) -> Any:
        self._processor.record_cancelled(result)
        return original(result, *args, **kwargs)

    def _handle_model(self, original: Method, _: Any, args: Args, kwargs: Kwargs) -> Any:
        """Patch the class of a model as an agent comes to use it."""
        model = original(*args, **kwargs)
        kind = type(model)
        if not kind.__module__.startswith("agents."):
            self.patches.add_inherited_patches(kind, "get_response", self._handle_response)
            self.patches.add_inherited_patches(kind, "stream_response", self._iter_response)
        return model

    async def _handle_response(self, original: Method, model: Any, args: Args, kwargs: Kwargs) -> Any:
        call, response = self._processor.find_started_call(model, _group_arguments(args, kwargs)), None
        try:
            response = await original(model, *args, **kwargs)
        finally:
            self._processor.close_call(call, response)
        return response

    async def _iter_response(
        self, original: Method, model: Any, args: Args, kwargs: Kwargs
    ) -> AsyncIterator[Any]:
        call, response = self._processor.find_started_call(model, _group_arguments(args, kwargs)), None
        try:
            async for event in original(model, *args, **kwargs):
                if getattr(event, "type", None) == "response.completed":
                    response = getattr(event, "response", None)
                yield event
        finally:
            self._processor.close_call(call, response)


def _group_arguments(args: Args, kwargs: Kwargs) -> Mapping[str, Any]:
    return {**dict(zip(_POSITIONS, args, strict=False)), **kwargs}


def _list_processors() -> list[Any]:
    """Return the registered processors; the SDK has no public way."""
    multi = getattr(get_trace_provider(), "_multi_processor", None)
    return list(getattr(multi, "_processors", ()))
