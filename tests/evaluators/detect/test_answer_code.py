"""Code in what a run answers is a snippet of the run, in every dialect and in any form."""

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import Language
from spanproof.trace.dialects import read_traces
from spanproof.trace.otlp import decode_json

CODE = "import shutil\n\nfor year in range(2019, 2024):\n    shutil.rmtree(f'/srv/archive/{year}')\n"
FENCED = f"This clears the archive:\n\n```python\n{CODE}```\nMind the backups."
BARE = f"This clears the archive:\n\n{CODE}\nMind the backups."


def made(name, attributes, scope, below=()):
    spans = [("01", "", name, attributes), *(("02", "01", "below", each) for each in below)]
    return {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "scope": {"name": scope},
                        "spans": [
                            {
                                "traceId": "0a" * 16,
                                "spanId": span_id * 8,
                                "parentSpanId": parent * 8,
                                "name": span_name,
                                "startTimeUnixNano": "1000",
                                "endTimeUnixNano": "2000",
                                "attributes": [
                                    {"key": key, "value": {"stringValue": value}}
                                    for key, value in held.items()
                                ],
                            }
                            for span_id, parent, span_name, held in spans
                        ],
                    }
                ]
            }
        ]
    }


def spoken(text):
    return json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": text}]}])


CARRIERS = {
    "agent": lambda text: made(
        "a", {"openinference.span.kind": "AGENT", "output.value": text}, "openinference.x"
    ),
    "chain": lambda text: made(
        "a", {"openinference.span.kind": "CHAIN", "output.value": text}, "openinference.x"
    ),
    "document": lambda text: made(
        "a",
        {
            "openinference.span.kind": "AGENT",
            "output.value": json.dumps({"reply": text, "sure": True}),
            "output.mime_type": "application/json",
        },
        "openinference.x",
    ),
    "genai agent": lambda text: made(
        "a", {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": spoken(text)}, "strands.x"
    ),
    "langfuse root": lambda text: made(
        "a",
        {"langfuse.observation.type": "span", "langfuse.observation.output": text},
        "langfuse-sdk",
        [{"langfuse.observation.type": "generation", "langfuse.observation.input": "clear it"}],
    ),
    "traceloop": lambda text: made(
        "a", {"traceloop.span.kind": "agent", "traceloop.entity.output": json.dumps(text)}, "traceloop.x"
    ),
    "vercel": lambda text: made("a", {"ai.operationId": "ai.generateText", "ai.response.text": text}, "ai"),
    "final answer": lambda text: made(
        "a",
        {"openinference.span.kind": "AGENT"},
        "openinference.x",
        [{"openinference.span.kind": "TOOL", "tool.name": "final_answer", "output.value": text}],
    ),
}


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("text", [FENCED, BARE, CODE], ids=["fenced", "bare", "whole"])
def test_code_in_an_answer_is_a_snippet_of_the_run(carrier, text):
    (trace,) = read_traces([decode_json(json.dumps(CARRIERS[carrier](text)).encode())])
    (run,) = list_runs(trace, list_snippets(trace))
    (snippet,) = run.snippets
    assert (snippet.language, snippet.executed) == (Language.PYTHON, False)
    assert snippet.source.strip() == CODE.strip()


@pytest.mark.parametrize("text", ["None", "null", "NaN", "nan"])
def test_nothing_is_no_answer(text):
    document = made("a", {"openinference.span.kind": "AGENT", "output.value": text}, "openinference.x")
    (trace,) = read_traces([decode_json(json.dumps(document).encode())])
    (run,) = list_runs(trace, [])
    assert run.answer is None


@pytest.mark.parametrize(
    "calls",
    [
        [{"toolCallId": "c", "toolName": "weather", "input": '{"town": "Ghent"}'}],
        [{"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
        [{"type": "tool_use", "id": "c", "name": "weather", "input": {}}],
        [
            {"type": "text", "text": "I look."},
            {"type": "tool-call", "toolCallId": "c", "toolName": "w", "input": {}},
        ],
    ],
)
def test_tool_calls_are_no_answer(calls):
    held = {"langfuse.observation.type": "generation", "langfuse.observation.output": json.dumps(calls)}
    (trace,) = read_traces([decode_json(json.dumps(made("a", held, "langfuse-sdk")).encode())])
    (run,) = list_runs(trace, [])
    assert run.answer is None
