"""The forms of a trace that people paste: printed spans, logs of harnesses, transcripts of clients."""

from __future__ import annotations

import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import SpanKind
from spanproof.trace.dialects import read_traces
from spanproof.trace.exports import read_file
from spanproof.trace.exports.inspected import iter_inspected

CODE = "print(7 * 12)"
AGENT = {
    "openinference.span.kind": "AGENT",
    "input.value": "How much is 7 × 12?",
    "output.value": "It is 84.",
}
TOOL = {
    "openinference.span.kind": "TOOL",
    "tool.name": "run_python",
    "input.value": json.dumps({"code": CODE}),
    "output.value": "84\n",
}


def runs_in(path):
    requests, malformed = read_file(path)
    assert not malformed
    return [run for trace in read_traces(requests) for run in list_runs(trace, list_snippets(trace))]


def write(tmp_path, text, name="pasted.json"):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def assert_run(run, answer="It is 84.", task="How much is 7 × 12?"):
    assert (run.task, run.answer.text) == (task, answer)
    snippets = [(each.source, each.executed, each.observation) for each in run.snippets]
    assert snippets == [(CODE, True, "84\n")]


def sdk_span(span_id, parent, attributes, at):
    return {
        "name": "x",
        "context": {"trace_id": "0x" + "0c" * 16, "span_id": span_id, "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": parent,
        "start_time": f"2026-03-01T10:00:0{at}.000000Z",
        "end_time": f"2026-03-01T10:00:0{at + 1}.500000Z",
        "status": {"status_code": "UNSET"},
        "attributes": attributes,
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "till"}, "schema_url": ""},
    }


PYTHON = [sdk_span("0x" + "1a" * 8, None, AGENT, 0), sdk_span("0x" + "1b" * 8, "0x" + "1a" * 8, TOOL, 1)]


@pytest.mark.parametrize("name", ["spans.json", "spans.txt", "spans.jsonl"])
def test_what_the_console_exporter_prints_is_read(tmp_path, name):
    between = "" if name.endswith("jsonl") else "INFO: serving\n"
    indent = None if name.endswith("jsonl") else 4
    text = "\n".join(json.dumps(span, indent=indent) for span in PYTHON)
    (run,) = runs_in(write(tmp_path, between + text, name))
    assert_run(run)
    assert run.cohort.service == "till"


def readable_span(span_id, parent, attributes, at):
    return {
        "_spanContext": {"traceId": "0d" * 16, "spanId": span_id, "traceFlags": 1},
        "parentSpanContext": {"traceId": "0d" * 16, "spanId": parent} if parent else None,
        "name": "x",
        "kind": 0,
        "startTime": [1772359200 + at, 5000000],
        "endTime": [1772359201 + at, 0],
        "status": {"code": 0},
        "attributes": attributes,
        "events": [],
        "instrumentationScope": {"name": "shop", "version": "1"},
        "resource": {"_attributes": {"service.name": "till"}},
    }


def console_span(span_id, parent, attributes, at):
    return {
        "traceId": "0e" * 16,
        "parentId": parent,
        "id": span_id,
        "name": "x",
        "kind": 0,
        "timestamp": 1772359200000000 + at * 1000000,
        "duration": 1500000,
        "attributes": attributes,
        "status": {"code": 0},
        "events": [],
        "resource": {"attributes": {"service.name": "till"}},
    }


def plain_span(span_id, parent, attributes, at):
    return {"trace_id": "run-1", "span_id": f"s-{span_id}", "name": "x", "attributes": attributes} | (
        {"parent_span_id": f"s-{parent}"} if parent else {}
    )


@pytest.mark.parametrize("make", [readable_span, console_span, plain_span])
def test_other_dumps_of_spans_are_read(tmp_path, make):
    spans = [make("1a" * 8, "", AGENT, 0), make("1b" * 8, "1a" * 8, TOOL, 1)]
    (run,) = runs_in(write(tmp_path, spans))
    assert_run(run)


CHAT = [
    {"role": "system", "content": "You reckon."},
    {"role": "user", "content": "How much is 7 × 12?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "run_python", "arguments": json.dumps({"code": CODE})},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "run_python", "content": "84\n"},
    {"role": "assistant", "content": "It is 84."},
]
INSPECT = [
    *CHAT[:2],
    {
        "role": "assistant",
        "content": "",
        "source": "generate",
        "tool_calls": [
            {"id": "c1", "function": "run_python", "arguments": {"code": CODE}, "type": "function"}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "function": "run_python", "content": "84\n"},
    {"role": "assistant", "content": [{"type": "text", "text": "It is 84."}]},
]
SAMPLE = {
    "id": 1,
    "epoch": 1,
    "input": "How much is 7 × 12?",
    "messages": INSPECT,
    "output": {"model": "m-1", "completion": "It is 84.", "choices": []},
}
LOG = {"version": 2, "status": "success", "eval": {"run_id": "r", "task": "sums", "model": "m-1"}}
TRAJECTORY = {
    "environment": "swe_main",
    "trajectory": [
        {"action": "ls src", "observation": "till.py\n", "thought": "I look.", "response": "I look.\nls src"},
        {"action": "submit", "observation": "", "thought": "Done: till.py is there.", "response": ""},
    ],
    "history": [{"role": "system", "content": "You fix."}, {"role": "user", "content": "What is in src?"}],
    "info": {"exit_status": "submitted"},
}
EVENTS = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": "How much is 7 × 12?"}},
    {"id": 1, "source": "agent", "action": "run_ipython", "args": {"code": CODE, "thought": "I reckon."}},
    {"id": 2, "source": "agent", "observation": "run_ipython", "content": "84\n", "cause": 1, "extras": {}},
    {"id": 3, "source": "agent", "action": "finish", "args": {"final_thought": "It is 84."}},
]
MEMORY = [
    {"system_prompt": "You write code."},
    {"task": "How much is 7 × 12?", "task_images": None},
    {
        "step_number": 1,
        "timing": {"start_time": 1772359200.5, "end_time": 1772359201.5, "duration": 1},
        "model_output": f"Thought: I reckon.\n<code>\n{CODE}\n</code>",
        "code_action": CODE,
        "observations": "Execution logs:\n84\nLast output from code snippet:\nNone",
        "action_output": None,
        "error": None,
        "is_final_answer": False,
    },
    {
        "step_number": 2,
        "model_output": "Thought: done.",
        "code_action": "final_answer('It is 84.')",
        "observations": "Execution logs:\nLast output from code snippet:\nIt is 84.",
        "action_output": "It is 84.",
        "is_final_answer": True,
    },
]
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "model": "m-1",
    "input": "How much is 7 × 12?",
    "output": [
        {
            "type": "code_interpreter_call",
            "id": "ci",
            "code": CODE,
            "outputs": [{"type": "logs", "logs": "84\n"}],
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 84."}]},
    ],
}
TAU = [{"task_id": 3, "trial": 0, "reward": 1.0, "info": {}, "traj": CHAT}]


@pytest.mark.parametrize(
    "document",
    [
        CHAT,
        {"messages": CHAT},
        {**LOG, "samples": [SAMPLE]},
        EVENTS,
        {"history": EVENTS},
        RESPONSE,
        TAU,
        {"simulations": [{"id": "a", "messages": CHAT}]},
    ],
    ids=["chat", "messages", "inspect", "openhands", "history", "response", "tau", "tau2"],
)
def test_a_transcript_is_a_run(tmp_path, document):
    (run,) = runs_in(write(tmp_path, document))
    assert_run(run)


@pytest.mark.parametrize("lines", [CHAT, [{"messages": CHAT}], EVENTS], ids=["message", "chat", "event"])
def test_a_transcript_of_a_line_for_each_part_is_a_run(tmp_path, lines):
    (run,) = runs_in(write(tmp_path, "\n".join(map(json.dumps, lines)) + "\n", "chat.jsonl"))
    assert_run(run)


def test_the_archive_of_inspect_is_read(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(LOG))
        archive.writestr("samples/1_epoch_1.json", json.dumps(SAMPLE))
    (run,) = runs_in(path)
    assert_run(run)
    assert (run.name, run.cohort.model) == ("sums", "m-1")


def test_a_tool_that_failed_in_a_sample_has_its_error(tmp_path):
    failed = {**INSPECT[3], "error": {"type": "timeout", "message": "too slow"}}
    sample = {**SAMPLE, "messages": [*INSPECT[:3], failed, INSPECT[4]]}
    requests, _ = read_file(write(tmp_path, {**LOG, "samples": [sample]}))
    (trace,) = read_traces(requests)
    (call,) = [span for span in trace.spans if span.kind is SpanKind.TOOL]
    assert call.error.message == "too slow"


@pytest.mark.parametrize("name", ["a.traj", "a.json"])
def test_a_trajectory_of_swe_agent_is_a_run_of_commands(tmp_path, name):
    (run,) = runs_in(write(tmp_path, TRAJECTORY, name))
    assert (run.task, run.answer.text) == ("What is in src?", "Done: till.py is there.")
    assert [(each.source, each.language, each.observation) for each in run.snippets] == [
        ("ls src", "bash", "till.py\n")
    ]


@pytest.mark.parametrize("document", [MEMORY, {"steps": MEMORY}])
def test_the_memory_of_smolagents_is_a_run(tmp_path, document):
    (run,) = runs_in(write(tmp_path, document))
    assert (run.task, run.answer.text) == ("How much is 7 × 12?", "It is 84.")
    assert next((each.source, each.executed, each.logs) for each in run.snippets) == (CODE, True, "84")


def test_what_is_none_of_these_is_refused_and_named(tmp_path):
    requests, (problem,) = read_file(write(tmp_path, {"rows": [{"a": 1}]}))
    assert not requests
    assert "neither OTLP" in str(problem)
    assert "transcript" in str(problem)


CONSOLE_OF_JAVASCRIPT = r"""
server listens on 3000
{
  resource: { attributes: { 'service.name': 'brewery', 'host.arch': [Object] } },
  instrumentationScope: { name: 'ai', version: undefined, schemaUrl: undefined },
  traceId: '5b8efff798038103d269b633813fc60c',
  parentSpanContext: undefined,
  traceState: undefined,
  name: 'agent',
  id: 'eee19b7ec3c1b174',
  kind: 0,
  timestamp: 1717000000000000,
  duration: 9000000.5,
  attributes: {
    'openinference.span.kind': 'AGENT',
    'input.value': 'How much is ' +
      '7 × 12?',
    'output.value': "It is 84, isn't it?\nYes.",
    tags: [ 'a', 'b', ... 2 more items ]
  },
  status: { code: 0 },
  events: [],
  links: [ [Object] ]
}
GET /metrics 200
SpanImpl {
  parentSpanContext: { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174' },
  _spanContext: { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b175', traceFlags: 1 },
  name: 'run_python',
  startTime: [ 1717000001, 500 ],
  endTime: [ 1717000002, 0 ],
  attributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 'run_python',
    'input.value': '{"code":"print(7 * 12)"}', 'output.value': '84\n' },
  _spanProcessor: MultiSpanProcessor { _spanProcessors: [ [SimpleSpanProcessor] ] },
  onEnd: [Function: onEnd],
  status: { code: 2, message: `no 'cellar'` }
}
"""


def test_spans_that_javascripts_console_printed_are_read(tmp_path):
    (run,) = runs_in(write(tmp_path, CONSOLE_OF_JAVASCRIPT, "console.log"))
    assert (run.task, run.answer.text) == ("How much is 7 × 12?", "It is 84, isn't it?\nYes.")
    ((call,),) = [step.calls for step in run.steps]
    assert (dict(call.kwargs), call.error.message) == ({"code": CODE}, "no 'cellar'")
    assert run.cohort.service == "brewery"


@pytest.mark.parametrize("text", ["{ traceId: 'ab", "{ attributes: { [ }", "{\n  traceId: }", "traceId: x\n"])
def test_what_breaks_off_in_a_print_is_reported(tmp_path, text):
    requests, malformed = read_file(write(tmp_path, text, "console.log"))
    assert (requests, len(malformed)) == ([], 1)


@pytest.mark.hypothesis
@given(st.text(alphabet="{}[]:,'\"`\\+ux0a1-.n \n<>() "))
def test_no_text_raises_when_read_as_a_print_of_javascript(text):
    assert all(line >= 1 for line, _ in iter_inspected("{ traceId: " + text + "\n" + text))
