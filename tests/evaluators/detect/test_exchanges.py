"""Code in a model's words ran where the conversation goes on with its outcome."""

from __future__ import annotations

import json

import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace.dialects import read_traces
from spanproof.trace.otlp import decode_json

CODE = "stock = shelf_stock(shelf=4)\nprint(stock)"
SAID = f"Thought: I look.\n<code>\n{CODE}\n</code>"


def message(role, text):
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def conversation(*behind, said=SAID):
    first = [message("user", "New task:\nHow many are on shelf 4?")]
    calls = [
        (first, message("assistant", said)),
        ([*first, message("assistant", said), *behind], message("assistant", "There are 36.")),
    ]
    spans = [("01", "", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, 1, 90)]
    for number, (given, answer) in enumerate(calls, 2):
        held = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(given),
            "gen_ai.output.messages": json.dumps([answer]),
        }
        spans.append((f"0{number}", "01", held, number * 10, number * 10 + 5))
    document = {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "scope": {"name": "opentelemetry.instrumentation.genai.openai"},
                        "spans": [
                            {
                                "traceId": "0b" * 16,
                                "spanId": span_id * 8,
                                "parentSpanId": parent * 8,
                                "name": "x",
                                "startTimeUnixNano": str(start),
                                "endTimeUnixNano": str(end),
                                "attributes": [
                                    {"key": key, "value": {"stringValue": value}}
                                    for key, value in held.items()
                                ],
                            }
                            for span_id, parent, held, start, end in spans
                        ],
                    }
                ]
            }
        ]
    }
    (trace,) = read_traces([decode_json(json.dumps(document).encode())])
    return trace


@pytest.mark.parametrize(
    "shown",
    [
        "Observation:\nExecution logs:\n36\nLast output from code snippet:\nNone",
        "exitcode: 0 (execution succeeded)\nCode output: 36\n",
        "OBSERVATION:\n36",
    ],
)
def test_code_with_an_observation_behind_it_ran(shown):
    trace = conversation(message("user", shown))
    (run,) = list_runs(trace, list_snippets(trace))
    (snippet,) = run.snippets
    assert (snippet.source, snippet.executed) == (CODE, True)
    assert "36" in snippet.observation
    assert snippet.error is None


def test_the_error_that_was_shown_is_the_snippets():
    shown = "Error:\nCode execution failed at line 'stock = …' due to: InterpreterError: no tool shelf_stock"
    (snippet,) = list_snippets(conversation(message("user", shown)))
    assert snippet.executed
    assert (snippet.error.type, snippet.error.message) == ("InterpreterError", "no tool shelf_stock")


@pytest.mark.parametrize(
    "behind",
    [
        [message("user", "Thanks. And shelf 5?")],
        [message("user", "Error in code parsing:\nYour code snippet is invalid")],
        [],
    ],
)
def test_code_without_an_observation_is_only_proposed(behind):
    assert [snippet.executed for snippet in list_snippets(conversation(*behind))] == [False]
