"""LangChain's callbacks, turned into spans.

One handler serves all runs of the process, added to each root run; the runs within inherit it. It is called
inline, in the thread and task of the run, so that a context attached when a tool starts is the tool's; in
other callbacks none is attached, since start and end need not come in the same task. Parents come from
LangChain's own run ids.
"""

# LangChain gives by position what comes first and the rest by name: the rest, the run's id among it, is one
# dictionary.
# mypy: disable-error-code="override"

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, manager

from spanproof.instrumentors.content.texts import to_text
from spanproof.instrumentors.frameworks import patching
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.langchain import records
from spanproof.instrumentors.frameworks.langchain.records import RunRecord
from spanproof.instrumentors.frameworks.messages import History, record_agent
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.spans.span_start import (
    AGENT,
    CHAIN,
    LLM,
    RETRIEVER,
    TOOL,
    SpanStart,
    build_model_start,
    build_start,
    build_tool_start,
)
from spanproof.instrumentors.spans.tracing import Tracing
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours

# Exceptions by which a run is suspended until somebody answers.
_INTERRUPTS = frozenset({"GraphInterrupt", "NodeInterrupt"})
# Exceptions by which a run is given up, with all that is going on within it.
_GIVEN_UP = frozenset({"GeneratorExit", "CancelledError"})
# Exceptions by which a run is left. None of these, nor of the above, is a failure.
_CONTROL_FLOW = frozenset({"GraphBubbleUp", "ParentCommand"})
# Runs that are remembered at once: LangChain does not report the end of each (not of events that are closed
# before the second one), and what such a run was given would stay in memory.
_MAX_GOING_ON = 10_000


class SpanHandler(BaseCallbackHandler):
    """The callback handler; public methods are langchain-core's.

    Attributes:
        tracing: begins the spans, as long as it is not over.
    """

    run_inline = True
    raise_error = False
    ignore_retry = ignore_custom_event = True

    def __init__(self, tracing: Tracing) -> None:
        self.tracing = tracing
        self._runs: dict[UUID | None, RunRecord] = {}

    def __deepcopy__(self, _memo: object) -> SpanHandler:
        """Return itself: the host copies a run's configuration with its callbacks."""
        return self

    def __reduce__(self) -> tuple[type[BaseCallbackHandler], tuple[()]]:
        """Return an empty handler for another process, which may not have this package."""
        return BaseCallbackHandler, ()

    @shielded("langchain.chain.start")
    def on_chain_start(self, serialized: dict[str, Any] | None, inputs: Any, /, **options: Any) -> None:
        """Start the span of a graph, a node or any other runnable."""
        name = records.get_run_name(serialized, options, "chain")
        parent = self._runs.get(options.get("parent_run_id"))
        if parent is not None and not parent.graph and _is_graph_task(options.get("tags")):
            self._update_to_agent(parent)
        agent = _is_root_graph(parent, options.get("metadata")) or name == "AgentExecutor"
        kind = AGENT if agent else CHAIN
        record = self._find_opened(name, kind, build_start(name, kind), options)
        if record is None:
            return
        record.graph, record.inputs = agent, inputs
        if record.recording:
            if agent:
                record_agent(record, name)
            records.record_chain_input(record, inputs, agent=agent)

    def on_chain_end(self, outputs: Any, /, **options: Any) -> None:
        """End the span of a runnable that has returned."""
        self._close_span("langchain.chain.end", options, records.record_chain_output, outputs)

    @shielded("langchain.model.start")
    def on_chat_model_start(
        self, serialized: dict[str, Any] | None, messages: Sequence[Sequence[Any]], /, **options: Any
    ) -> None:
        """Start the span of a chat model's call."""
        self._start_model(serialized, options, [item for batch in messages for item in batch])

    @shielded("langchain.model.start")
    def on_llm_start(
        self, serialized: dict[str, Any] | None, prompts: Sequence[str], /, **options: Any
    ) -> None:
        """Start the span of a completion model's call."""
        self._start_model(serialized, options, [*map(to_text, prompts)])

    def on_llm_end(self, response: Any, /, **options: Any) -> None:
        """End the span of a model's call that has an answer."""
        self._close_span("langchain.model.end", options, records.record_answer, response)

    @shielded("langchain.tool.start")
    def on_tool_start(self, serialized: dict[str, Any] | None, input_str: str, /, **options: Any) -> None:
        """Start the span of a tool's call; what happens within it belongs under its span."""
        name = records.get_run_name(serialized, options, "tool")
        record = self._find_opened(name, TOOL, build_tool_start(name), options)
        if record is not None:
            record.enter()
            if record.recording:
                records.record_tool_call(record, name, input_str, options)

    def on_tool_end(self, output: Any, /, **options: Any) -> None:
        """End the span of a tool that has returned."""
        self._close_span("langchain.tool.end", options, records.record_tool_result, output)

    @shielded("langchain.retriever.start")
    def on_retriever_start(self, serialized: dict[str, Any] | None, query: str, /, **options: Any) -> None:
        """Start the span of a retriever's call."""
        name = records.get_run_name(serialized, options, "retriever")
        record = self._find_opened(name, RETRIEVER, build_start(name, RETRIEVER), options)
        if record is not None and record.recording:
            record.input(query)

    def on_retriever_end(self, documents: Sequence[Any], /, **options: Any) -> None:
        """End the span of a retriever that has answered."""
        self._close_span("langchain.retriever.end", options, records.record_documents, documents)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **options: Any) -> None:
        """End the span of a runnable that has raised, or was left."""
        record = self._runs.pop(run_id, None)
        if record is not None:
            with shielded("langchain.error"):
                self._record_error(record, error)
            record.close()

    on_llm_error = on_chain_error
    on_tool_error = on_chain_error
    on_retriever_error = on_chain_error

    def _record_error(self, record: RunRecord, error: BaseException) -> None:
        if _is_one_of(error, _INTERRUPTS):
            _record_suspended(record)
        elif _is_one_of(error, _GIVEN_UP):
            self._close_abandoned(record)
        elif not _is_one_of(error, _CONTROL_FLOW):
            record.fail(error)
            if record.kind == AGENT:
                limit = type(error).__name__ == "GraphRecursionError"
                record.fact(ours.RUN_ENDING, "max_steps" if limit else "failed")

    def _close_abandoned(self, record: RunRecord) -> None:
        """End what is in progress within an abandoned run, whose ends LangChain does not all report."""
        for run_id, other in [*self._runs.items()]:
            if record in _iter_ancestors(other):
                self._runs.pop(run_id, None)
                other.close()

    def _close_span(
        self,
        source: str,
        options: dict[str, Any],
        describe: Callable[[RunRecord, Any], object],
        result: Any,
    ) -> None:
        """End a run's span by what it has come to."""
        record = self._runs.pop(options["run_id"], None)
        if record is not None:
            with shielded(source):
                if record.recording:
                    describe(record, result)
            record.close()

    def _start_model(self, serialized: Any, options: dict[str, Any], messages: list[Any]) -> None:
        model = records.get_model_name(serialized, options)
        record = self._find_opened(model, LLM, build_model_start(model), options)
        if record is not None and record.recording:
            records.record_model_call(record, options, messages)

    def _find_opened(
        self, name: str, kind: str, start: SpanStart, options: dict[str, Any]
    ) -> RunRecord | None:
        if self.tracing.over:
            return None
        parent = self._runs.get(options.get("parent_run_id"))
        record = self.tracing.open(RunRecord, start, None if parent is None else parent.context)
        record.name, record.kind, record.parent = name, kind, parent
        record.history = History() if parent is None else parent.history
        if len(self._runs) >= _MAX_GOING_ON:
            with suppress(StopIteration, RuntimeError):  # another thread's run has ended or begun meanwhile
                oldest = self._runs.pop(next(iter(self._runs)), None)
                if oldest is not None:
                    oldest.close()
        self._runs[options["run_id"]] = record
        return record

    def _update_to_agent(self, record: RunRecord) -> None:
        """Make a runnable an AGENT whose child is a task of a graph."""
        record.graph = True
        record.kind = AGENT
        span = record.span
        span.set_attribute(openinference.SPAN_KIND, AGENT)
        span.set_attribute(genai.OPERATION_NAME, genai.OPERATION_INVOKE_AGENT)
        span.update_name(f"{genai.OPERATION_INVOKE_AGENT} {record.name}")
        if record.recording:
            record_agent(record, record.name)
            records.record_chain_input(record, record.inputs, agent=True)


class Instrumentor(patching.Instrumentor):
    """LangChain under instrumentation, from `instrument` to `uninstrument`."""

    def __init__(self, tracing: Tracing) -> None:
        super().__init__(tracing)
        self._handler = SpanHandler(tracing)

    def instrument(self) -> None:
        """Join the runs of langchain-core, again where a reload has dropped it.

        Once uninstrumented, runs that hold the handler end their spans and start no new ones.
        """
        for kind in (manager.CallbackManager, manager.AsyncCallbackManager):
            self.patches.add_patch(kind, "configure", self._handle_configure)

    def _handle_configure(self, original: Method, kind: Any, args: Args, kwargs: Kwargs) -> Any:
        """Hook of a manager's `configure`: add the handler to root runs; the runs within inherit it."""
        configured = original(kind, *args, **kwargs)
        caller = args[0] if args else kwargs.get("inheritable_callbacks")
        # A plain `getattr`: the original has read the attribute by now.
        if getattr(caller, "parent_run_id", None) is None:
            with shielded("langchain.join"):
                configured.add_handler(self._handler, inherit=True)
        return configured


def _is_root_graph(parent: RunRecord | None, metadata: Any) -> bool:
    """Return whether it is a graph's own run, which has langgraph's mark and no node's."""
    return (
        parent is None
        and isinstance(metadata, dict)
        and metadata.get("ls_integration") == "langgraph"
        and "langgraph_node" not in metadata
    )


def _is_graph_task(tags: Any) -> bool:
    return isinstance(tags, list) and any(
        isinstance(tag, str) and tag.startswith("graph:step:") for tag in tags
    )


def _is_one_of(error: BaseException, names: frozenset[str]) -> bool:
    return any(kind.__name__ in names for kind in type(error).__mro__)


def _iter_ancestors(record: RunRecord) -> Iterator[RunRecord]:
    above = record.parent
    while above is not None:
        yield above
        above = above.parent


def _record_suspended(record: RunRecord) -> None:
    """Mark the runs above an interrupted one, which end in order but have not answered."""
    for ancestor in _iter_ancestors(record):
        ancestor.suspended = True
