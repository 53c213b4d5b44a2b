"""Each form in which other products write a run gives the same run: task, answer, call and result."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace.dialects import read_traces
from spanproof.trace.exports import read_file

from .foreign_forms import ANSWER, ARGUMENTS, DOCUMENTS, FILES, RESULT, TASK, TOOL
from .test_changed_forms import check_reading, iter_paths

BASH = "```bash\nls coaches\n```"


def write(tmp_path: Path, content: object, name: str = "given.json") -> Path:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def read_runs(path: Path) -> list[Any]:
    requests, malformed = read_file(path)
    assert not malformed
    return [run for trace in read_traces(requests) for run in list_runs(trace, list_snippets(trace))]


@pytest.mark.parametrize("name", [*DOCUMENTS, *FILES])
def test_a_form_gives_the_run(tmp_path, name) -> None:
    path = write(tmp_path, FILES[name], name) if name in FILES else write(tmp_path, DOCUMENTS[name])
    (run,) = read_runs(path)
    assert (run.task, run.answer.text) == (TASK, ANSWER)
    calls = [call for step in run.steps for call in step.calls]
    assert [(call.tool, dict(call.kwargs), call.error) for call in calls] == [(TOOL, ARGUMENTS, None)]
    (payload,) = [call.result for call in calls]
    assert (json.loads(payload.value) if isinstance(payload.value, str) else payload.value) == RESULT


@pytest.mark.parametrize("written", [("executableCode", "codeExecutionResult")])
def test_code_that_gemini_ran_is_the_runs_and_the_words_after_it_are_the_answer(tmp_path, written) -> None:
    code, printed = written
    parts = [{code: {"code": "print(6 * 7)"}}, {printed: {"output": "42\n"}}, {"text": "It is 42."}]
    (run,) = read_runs(write(tmp_path, {"candidates": [{"content": {"role": "model", "parts": parts}}]}))
    assert run.answer.text == "It is 42."
    assert [(snippet.source, snippet.executed, snippet.observation) for snippet in run.snippets] == [
        ("print(6 * 7)", True, "42\n")
    ]


def test_the_commands_of_mini_swe_agent_are_in_its_replies(tmp_path) -> None:
    shown = "<returncode>2</returncode>\n<output>\nno coaches\n</output>"
    messages = [
        {"role": "user", "content": "Which coaches are there?"},
        {"role": "assistant", "content": f"I look.\n\n{BASH}"},
        {"role": "user", "content": shown},
        {"role": "assistant", "content": "```bash\necho COMPLETE && echo none\n```"},
    ]
    (run,) = read_runs(write(tmp_path, {"messages": messages, "info": {"submission": "There are none."}}))
    assert run.answer.text == "There are none."
    (call,) = [call for step in run.steps for call in step.calls]
    assert (call.kwargs, call.error.message) == ({"command": "ls coaches"}, "no coaches")


def test_what_fails_in_a_foreign_form_is_the_calls_failure(tmp_path) -> None:
    ui_call = {"type": f"tool-{TOOL}", "toolCallId": "c1", "input": ARGUMENTS}
    failed: dict[str, Any] = {
        "ai sdk": [
            {"role": "user", "parts": [{"type": "text", "text": TASK}]},
            {"role": "assistant", "parts": [{**ui_call, "state": "output-error", "errorText": "no train"}]},
        ],
        "openhands": change_last(DOCUMENTS["OpenHands, its SDK"], "AgentErrorEvent"),
        "zipkin": [
            DOCUMENTS["Zipkin"][0],
            {**DOCUMENTS["Zipkin"][1], "tags": DOCUMENTS["Zipkin"][1]["tags"] | {"error": "no train"}},
        ],
        "logfire": [
            DOCUMENTS["Logfire, rows"][0],
            {**DOCUMENTS["Logfire, rows"][1], "is_exception": True, "exception_message": "no train"},
        ],
    }
    for form, document in failed.items():
        (run,) = read_runs(write(tmp_path, document))
        errors = [call.error.message for step in run.steps for call in step.calls if call.error]
        assert errors == ["no train"], form


def change_last(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return OpenHands' events with an error in place of the observation."""
    error = {"kind": kind, "tool_name": TOOL, "tool_call_id": "c1", "error": "no train"}
    return [*events[:2], error, *events[3:]]


def test_a_foreign_form_with_a_part_of_another_type_is_read_or_reported(tmp_path) -> None:
    path = tmp_path / "given.json"
    for name, document in DOCUMENTS.items():
        for number, place in enumerate(iter_paths(document)):
            changed = copy.deepcopy(document)
            holder = changed
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = (None, [], {}, 7, "x")[number % 5]
            path.write_text(json.dumps(changed))
            check_reading(path, (name, place))


def test_a_log_without_a_span_is_reported_once(tmp_path) -> None:
    _, problems = read_file(write(tmp_path, "starting\nlistening on 80\n", "server.log"))
    assert [str(problem).rpartition(": ")[2] for problem in problems] == [
        "no line of it is JSON, and none is a printed span"
    ]
