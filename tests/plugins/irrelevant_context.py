"""What may be on a trace beside a run's own data: none of it may change the verdict on the answer.

Default prompts of agent frameworks are read from the packages that are installed. Each `Variation` makes of
a trace another one, with a prompt, earlier turns, a failed call, code or an output of another matter.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import yaml

from spanproof.reading.envelopes.emptiness import is_empty
from spanproof.reading.envelopes.read import find_failure
from spanproof.reading.tool_kinds import ToolKind
from spanproof.trace import (
    ExecutedCode,
    Message,
    Payload,
    Span,
    SpanError,
    SpanKind,
    ToolCall,
    Trace,
    trace_of,
)

PROMPT_FILES: Final = {
    "smolagents code": "smolagents/prompts/code_agent.yaml",
    "smolagents structured code": "smolagents/prompts/structured_code_agent.yaml",
    "smolagents tool calls": "smolagents/prompts/toolcalling_agent.yaml",
    "agents sdk handoffs": "agents/extensions/handoff_prompt.py",
    "agents sdk sandbox": "agents/sandbox/instructions/prompt.md",
    "crewai": "crewai/translations/en.json",
    "llama-index react": "llama_index/core/agent/react/templates/system_header_template.md",
    "autogen magentic-one": "autogen_agentchat/teams/_group_chat/_magentic_one/_prompts.py",
    "langchain structured chat": "langchain_classic/agents/structured_chat/prompt.py",
    "langchain react": "langchain_classic/agents/mrkl/prompt.py",
    "dspy react": "dspy/predict/react.py",
}
"""Where the packages keep their default prompts."""
_SHORTEST_PROMPT: Final = 120
# What parts the cells of a table, or a name from its value in a document.
_TABLE: Final = re.compile(r"\s\s|[|\t{\[=]|[,;:]\S|:$")
_LOG_LINES: Final = 200
_SECOND_NS: Final = 1_000_000_000
# What smolagents writes of code that prints nothing.
_NOTHING_SHOWN: Final = "Execution logs:\nLast output from code snippet:\nNone"

TOOL_DEFINITIONS: Final = json.dumps(
    [
        {
            "name": "search_invoices",
            "description": "Searches invoices. Example: search_invoices(limit=25, min_total=1294.67)"
            " returns at most 25 invoices of 100 a page, each with a total such as 54.00 or 3,210.50.",
            "parameters": {
                "type": "object",
                "properties": {
                    "limit": {"type": "integer", "default": 25, "maximum": 100, "examples": [10, 45, 60]},
                    "min_total": {"type": "number", "default": 0.5, "examples": [19.99, 120.0]},
                    "status": {"enum": ["open", "paid", "overdue"], "default": "open"},
                    "since": {"type": "string", "format": "date", "examples": ["2026-03-14"]},
                    "vat_percent": {"type": "number", "default": 19, "examples": [7, 8.1, 20]},
                },
            },
        },
        {
            "name": "convert",
            "description": "Converts units: convert(12.5, 'mi', 'km') is 20.12; 1 kg is 2.2046 lb.",
            "parameters": {
                "type": "object",
                "properties": {
                    "amount": {"type": "number", "examples": [3, 365, 1000]}, "timeout_s": {"default": 30},
                },
            },
        },
    ],
    indent=2,
)  # fmt: skip
HISTORY: Final = (
    (
        "Before that: my gym plan has 42 sessions at 17.50 each. What does it cost with 8% off?",
        "42 sessions cost 735.00, and with 8 % off you pay 676.20.",
    ),
    ("And how long are 12 laps of 400 m?", "12 laps are 4,800 m, or 4.8 km."),
)
CODE: Final = """import math

VAT = 0.19
RETRIES = 3
LIMITS = {"daily": 250, "weekly": 1294.5, "monthly": 4800}

def gross(net, rate=VAT):
    return round(net * (1 + rate), 2)

samples = [12, 45.5, 60, 87.25, 365]
mean_of_samples = sum(samples) / len(samples)
"""
ERROR: Final = (
    "429 Too Many Requests: the limit of 100 requests per 60 s is exceeded; retry after 30 seconds"
    " (request 7f3a9c21, attempt 2 of 5)"
)


@dataclass(frozen=True)
class Variation:
    """A change of a trace that says nothing about the answer."""

    name: str
    change: Callable[[Trace], Trace]


def list_variations() -> list[Variation]:
    """Return all variations, with one for each prompt of an installed framework."""
    prompts = {**dict(iter_framework_prompts()), "tool definitions": TOOL_DEFINITIONS}
    return [
        *(Variation(f"prompt: {name}", _with_prompt(text)) for name, text in prompts.items()),
        Variation("turns before", add_earlier_turns),
        Variation("code", lambda trace: add_first_step(trace, _build_code_step)),
        Variation("failed call", lambda trace: add_first_step(trace, _build_failed_step)),
        Variation("page", lambda trace: add_output(trace, "fetch_page", read_page())),
        Variation("listing", lambda trace: add_output(trace, "list_directory", write_listing())),
        Variation("log", lambda trace: add_output(trace, "read_log", write_log())),
        Variation("order of outputs", exchange_first_outputs),
        Variation("timestamps", stamp_lines),
    ]


def iter_framework_prompts() -> Iterator[tuple[str, str]]:
    """Yield the default prompts of the installed frameworks, by name."""
    for name, place in PROMPT_FILES.items():
        package = find_spec(place.partition("/")[0])
        folder = package.submodule_search_locations if package is not None else None
        path = Path(folder[0]).parent / place if folder else None
        if path is not None and path.is_file():
            yield name, _read_prompt(path)


def _read_prompt(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".yaml":
        return str(yaml.safe_load(text)["system_prompt"])
    if path.suffix != ".py":
        return text
    constants = [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return "\n".join(each for each in constants if len(each) >= _SHORTEST_PROMPT)


def remove_prompts(trace: Trace) -> Trace:
    """Return a trace without the system prompts of its model calls."""
    return trace_of(
        [
            replace(span, input_messages=tuple(each for each in span.input_messages if each.role != "system"))
            for span in trace.spans
        ],
    )


def _with_prompt(text: str) -> Callable[[Trace], Trace]:
    def change(trace: Trace) -> Trace:
        said = Message("system", text)
        return trace_of(
            [
                replace(span, input_messages=(said, *span.input_messages))
                if span.kind is SpanKind.LLM
                else span
                for span in trace.spans
            ],
        )

    return change


def add_earlier_turns(trace: Trace) -> Trace:
    """Return a trace with turns on another matter before the last run, without steps."""
    root = _find_root(trace)
    spans = []
    for number, (task, answer) in enumerate(HISTORY):
        start = root.start_ns - (len(HISTORY) - number) * 1_000 * _SECOND_NS
        spans.append(
            replace(
                root, span_id=f"{0xE0 + number:016x}", start_ns=start, end_ns=start + _SECOND_NS,
                input=Payload(task, task), output=Payload(answer, answer), input_messages=(),
                output_messages=(), attributes={}, error=None,
            )
        )  # fmt: skip
    return trace_of([*spans, *trace.spans])


def add_first_step(trace: Trace, build: Callable[[Span], Span]) -> Trace:
    """Return a trace whose last run begins with another step; `build` makes its span below a given one.

    A run that no call gave anything is left as it is: it would be another run.
    """
    if not any(map(_has_result, trace.spans)):
        return trace
    root = _find_root(trace)
    earlier = replace(root, start_ns=root.start_ns - 10 * _SECOND_NS)
    others = [earlier if span is root else span for span in trace.spans]
    first = _find_first_step(trace, root)
    if first is None:
        return trace_of([*others, build(earlier)])
    step = _build_step(earlier, first.name)
    step = replace(step, kind=first.kind, step=first.step, observation=None, end_ns=step.end_ns + _SECOND_NS)
    below = build(step)
    if below.code is None:
        return trace_of([*others, step, below])
    # An agent whose code is its action writes it in the model's message.
    said = Message("assistant", f"So.\n<code>\n{below.code.source}\n</code>")
    model = next(span for span in trace.spans if span.kind is SpanKind.LLM)
    call = replace(
        model, span_id=below.span_id, parent_id=step.span_id, start_ns=below.start_ns, end_ns=below.end_ns,
        output_messages=(said,),
    )  # fmt: skip
    return trace_of([*others, replace(step, observation=_NOTHING_SHOWN), call])


def _find_first_step(trace: Trace, root: Span) -> Span | None:
    steps = [span for span in trace.spans if span.parent_id == root.span_id and span.step is not None]
    return min(steps, key=lambda span: span.start_ns, default=None)


def add_output(trace: Trace, tool: str, text: str) -> Trace:
    """Return a trace whose last run first calls a tool that returns a text."""
    call = ToolCall(tool, {"name": "overview"})
    return add_first_step(
        trace, lambda above: replace(_build_step(above, tool), tool=call, output=Payload(text, text))
    )


def _has_result(span: Span) -> bool:
    if span.kind is not SpanKind.TOOL or span.output is None or span.error is not None:
        return False
    is_failure = find_failure(span.output.text, ToolKind.OTHER) is not None
    return not (_is_answer(span) or is_failure or is_empty(span.output.text))


def _is_answer(span: Span) -> bool:
    return span.tool is not None and span.tool.name == "final_answer"


def _build_step(above: Span, name: str) -> Span:
    """Return the span of a call right below another span."""
    depth = 0 if above.step is None else 1
    start = above.start_ns + _SECOND_NS
    return Span(
        above.trace_id, f"{0xF0 + depth:016x}", above.span_id, name, SpanKind.TOOL, start, start + _SECOND_NS,
        dialect=above.dialect, scope=above.scope,
    )  # fmt: skip


def _build_code_step(above: Span) -> Span:
    code = ExecutedCode(CODE, "code", "python", logs="")
    call = ToolCall("run_python", {"code": CODE})
    return replace(_build_step(above, "run_python"), code=code, tool=call, output=Payload("", ""))


def _build_failed_step(above: Span) -> Span:
    step = _build_step(above, "notify_channel")
    error = SpanError("RateLimitError", ERROR)
    return replace(
        step, tool=ToolCall("notify_channel", {"channel": "ops", "ttl_s": 45}), error=error, failed=True
    )


def exchange_first_outputs(trace: Trace) -> Trace:
    """Return a trace whose first two steps changed places, where more follow and the tools differ."""
    steps = [span for span in trace.spans if span.kind is SpanKind.TOOL and span.error is None]
    steps.sort(key=lambda span: span.start_ns)
    if (
        len(steps) < 3
        or steps[0].parent_id != steps[1].parent_id
        or _get_name(steps[0]) == _get_name(steps[1])
    ):
        return trace
    one, two = steps[:2]
    first = replace(one, start_ns=two.start_ns, end_ns=two.end_ns)
    second = replace(two, start_ns=one.start_ns, end_ns=one.end_ns)
    moved = {one.span_id: first, two.span_id: second}
    return trace_of([moved.get(span.span_id, span) for span in trace.spans])


def _get_name(span: Span) -> str:
    return span.tool.name if span.tool is not None else span.name


def stamp_lines(trace: Trace) -> Trace:
    """Return a trace with a time before each line of what its steps returned as plain text."""
    return trace_of([_stamp_span(span) if span.kind is SpanKind.TOOL else span for span in trace.spans])


def _stamp_span(span: Span) -> Span:
    is_text = span.output is not None and isinstance(span.output.value, str)
    if span.output is None or not is_text or _is_answer(span) or not _is_plain(span.output.text):
        return span
    text = _stamp(span.output.text)
    code = (
        replace(span.code, logs=_stamp(span.code.logs))
        if span.code is not None and span.code.logs
        else span.code
    )
    return replace(span, output=Payload(text, text), code=code)


def _is_plain(text: str) -> bool:
    """Return whether a text is lines of words, and no document or table."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(line[:1].isalpha() and not _TABLE.search(line) for line in lines)


def _stamp(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(
        f"2031-08-19T08:{at // 60 % 60:02}:{at % 60:02}.{137 + at}Z {line}" if line.strip() else line
        for at, line in enumerate(lines)
    )


def read_page() -> str:
    """Return a page of documentation: the description of a package."""
    return str(metadata("httpx").get_payload())


def write_listing() -> str:
    rows = [
        f"-rw-r--r-- 1 app app {1_024 + 7_919 * at % 90_000:>8} Mar {1 + at % 28:>2} 09:{at % 60:02}"
        f" part-{at:05}.parquet"
        for at in range(60)
    ]
    return "\n".join(["total 2848", *rows])


def write_log() -> str:
    return "\n".join(
        f"2026-11-02 07:{at // 60:02}:{at % 60:02},{100 + 37 * at % 900} INFO worker-{at % 8} handled request"
        f" {51_000 + 13 * at} in {20 + 17 * at % 480} ms, {1_200 + 311 * at % 9_000} bytes"
        for at in range(_LOG_LINES)
    )


def _find_root(trace: Trace) -> Span:
    """Return the span of the agent that answered last; else the first span."""
    agents = [span for span in trace.spans if span.kind is SpanKind.AGENT and span.parent_id is None]
    return max(agents or trace.spans[:1], key=lambda span: span.start_ns)
