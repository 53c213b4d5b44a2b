"""What the SDK's spans hold, as attributes: conversations, calls, errors, hosted code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.code_tools import record_call
from spanproof.instrumentors.content.texts import (
    as_count,
    as_text,
    get_attribute,
    get_member,
    is_a,
    list_elements,
    to_text,
)
from spanproof.instrumentors.frameworks.messages import (
    History,
    Message,
    build_message,
    build_tool_response_part,
    record_agent,
    record_input,
    record_output,
    record_usage,
)
from spanproof.instrumentors.spans.span_start import build_tool_start
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours


def get_name(data: Any) -> str:
    """Return a span's name: that of the agent, tool or model, or the turn's number."""
    if data.type == "turn":
        return f"step {data.turn}"
    if data.type == "response":
        return as_text(get_attribute(get_attribute(data, "response"), "model")) or "response"
    if data.type == "handoff":
        return f"handoff from {to_text(data.from_agent)}"
    return as_text(get_attribute(data, "name")) or as_text(get_attribute(data, "model")) or str(data.type)


def record_agent_span(content: Content, data: Any, question: str | None, answered: str | None) -> None:
    """Record an agent's name and tools, and the question and answer that its calls showed."""
    record_agent(content, as_text(data.name))
    names = [name for name in list_elements(data.tools) if is_a(name, str)]
    if names and content.visible:
        content.json(genai.TOOL_DEFINITIONS, [{"type": "function", "name": name} for name in names])
    record_workflow(content, question, answered)


def record_workflow(content: Content, question: str | None, answered: str | None) -> None:
    """Record the question to the workflow's first agent and the answer of its last one."""
    if question is not None:
        content.input(question)
    if answered is not None:
        content.output(answered)


def read_call(content: OpenSpan, data: Any, history: History) -> tuple[str | None, str | None]:
    """Record a call's conversation; returns the last question and the answer, if any."""
    response = get_attribute(data, "response")
    model = as_text(get_attribute(data, "model")) or as_text(get_attribute(response, "model"))
    content.fact(genai.REQUEST_MODEL, model)
    content.fact(openinference.LLM_MODEL_NAME, model)
    own, whole = get_attribute(data, "usage"), get_attribute(response, "usage")
    record_usage(content, get_attribute(whole, "input_tokens"), get_attribute(whole, "output_tokens"))
    record_usage(content, get_member(own, "input_tokens"), get_member(own, "output_tokens"))
    if not content.visible:
        return None, None
    messages = get_attribute(data, "input")
    question = [read_item(element) for element in list_elements(messages)]
    if is_a(messages, str):
        question = [build_message("user", to_text(messages))]
    record_input(content, question, attrgetter("key"), lambda message: message, history)
    outputs = list_elements(get_attribute(response, "output")) or list_elements(get_attribute(data, "output"))
    answers = [read_item(item) for item in outputs]
    answer = Message({"role": "assistant", "parts": [part for item in answers for part in item.parts]}, ())
    if outputs:
        record_output(content, answer, "tool_call" if answer.calls_tools else "stop")
        history.add_answers(content.span, [item.key for item in answers])
    last = next((item.text for item in reversed(question) if item.document["role"] == "user"), None)
    return last, None if answer.calls_tools or not answer.parts else answer.text


def build_bare_call(arguments: Mapping[str, Any], response: Any) -> Any:
    """Return the call of a model without a span in the form of the SDK's span data.

    Args:
        arguments: what the model was called with.
        response: what it answered; None where it failed.
    """
    if not getattr(arguments.get("tracing"), "include_data", lambda: True)():
        return SimpleNamespace(response=None, model=arguments.get("model"), usage=None, input=None)
    sent = arguments.get("input")
    if is_a(sent, str):
        items = [{"role": "user", "content": sent}]
    else:
        items = list(list_elements(sent))
    if as_text(arguments.get("system_instructions")):
        items.insert(0, {"role": "system", "content": arguments["system_instructions"]})
    return SimpleNamespace(response=response, model=arguments.get("model"), usage=None, input=items)


def record_tool(content: Content, data: Any, *, failed: bool) -> None:
    """Record a function tool's call, with the code where an argument is a program."""
    name = as_text(data.name) or "tool"
    content.fact(genai.TOOL_NAME, name)
    content.fact(openinference.TOOL_NAME, name)
    content.fact(genai.TOOL_TYPE, "extension" if data.mcp_data else "function")
    if data.input is None and data.output is None:
        record_hidden(content, data, failed=False)
        return
    record_call(content, name, _decode_arguments(data.input))
    if data.output is not None or not failed:
        content.result_type(data.output)
        content.output_json(genai.TOOL_CALL_RESULT, data.output)


def record_hidden(content: Content, data: Any, *, failed: bool) -> None:
    """Mark a call whose content the SDK holds back (`trace_include_sensitive_data=False`) as hidden."""
    content_of = (get_attribute(data, name) for name in ("input", "output", "response"))
    if not failed and all(item is None for item in content_of):
        content.attributes[ours.CONTENT_HIDDEN] = True


def record_other(content: Content, data: Any) -> None:
    """Record turns, handoffs, guardrails, and the application's own spans."""
    if data.type == "turn":
        content.fact(ours.STEP_NUMBER, as_count(data.turn))
        content.fact(ours.STEP_KIND, "action")
        usage = get_attribute(data, "usage")
        content.fact(ours.STEP_INPUT_TOKENS, as_count(get_member(usage, "input_tokens")))
        content.fact(ours.STEP_OUTPUT_TOKENS, as_count(get_member(usage, "output_tokens")))
    elif data.type == "guardrail":
        content.output({"triggered": bool(data.triggered)})
    elif data.type == "handoff":
        content.output({"from": data.from_agent, "to": data.to_agent})
    elif data.type == "custom" and content.visible:
        content.input(data.data)


def record_hosted_code(tracing: Tracing, opened: OpenSpan, data: Any) -> None:
    """Record each program that the hosted interpreter ran as a TOOL span."""
    for item in list_elements(get_attribute(get_attribute(data, "response"), "output")):
        if get_attribute(item, "type") != "code_interpreter_call" or not is_a(
            get_attribute(item, "code"), str
        ):
            continue
        run = tracing.open(OpenSpan, build_tool_start("code_interpreter", "extension"), opened.context)
        run.fact(genai.TOOL_CALL_ID, as_text(get_attribute(item, "id")))
        run.fact(ours.EXECUTOR_TYPE, "openai")
        run.code(item.code, "python")
        run.input_json(genai.TOOL_CALL_ARGUMENTS, {"code": item.code})
        _record_outputs(run, get_attribute(item, "outputs"))
        if get_attribute(item, "status") == "failed":
            run.fail_untyped("the hosted interpreter failed")
        run.close()


def _record_outputs(content: Content, outputs: Any) -> None:
    """Record what hosted code printed and showed; the API includes it only if the application requests it."""
    if not is_a(outputs, list):
        return
    logs, shown = [], []
    for element in list_elements(outputs):
        printed = as_text(get_attribute(element, "logs"))
        if printed is not None:
            logs.append(printed)
        # Images are large and no evaluator reads them: only their presence is recorded.
        shown.append(printed if printed is not None else f"[{to_text(get_attribute(element, 'type'))}]\n")
    content.text(ours.EXECUTION_LOGS, "".join(logs))
    content.text(ours.EXECUTION_OBSERVATION, "".join(shown))
    content.output("".join(shown))


def find_error(error: Any) -> str | None:
    """Return the message of a span's error, with its details."""
    message = as_text(get_member(error, "message"))
    if message is None:
        return None
    details = as_text(get_member(get_member(error, "data"), "error"))
    return f"{message}: {details}" if details else message


def record_failure(opened: OpenSpan, error: BaseException) -> None:
    """Mark a span failed by the exception that was raised, which the SDK wraps where a tool has raised it."""
    cause = error.__cause__
    if cause is None or type(error).__name__ != "UserError" or type(error).__module__ != "agents.exceptions":
        opened.fail(error)
        return
    chain = [type(item).__name__ for item in (error, cause)]
    opened.fail(error, error_type=type(cause).__name__, chain=chain)


def read_item(item: Any) -> Message:
    """Return an item of the Responses API or a chat message in the conventions' form."""
    kind = _get_field(item, "type")
    if kind == "function_call":
        return build_message("assistant", "", [_read_call(item)])
    if kind == "function_call_output":
        return _build_tool_answer(_get_field(item, "output"), as_text(_get_field(item, "call_id")))
    if (
        _get_field(item, "object") == "response"
    ):  # a streamed chat completion, which the SDK keeps as several items
        items = list_elements(_get_field(item, "output"))
        texts = [
            _get_text(_get_field(entry, "content"))
            for entry in items
            if _get_field(entry, "type") == "message"
        ]
        calls = [_read_call(entry) for entry in items if _get_field(entry, "type") == "function_call"]
        return build_message("assistant", "\n".join(text for text in texts if text), calls)
    role = as_text(_get_field(item, "role")) or "assistant"
    text = _get_text(_get_field(item, "content"))
    call_id = as_text(_get_field(item, "tool_call_id"))
    if role == "tool" and call_id is not None:
        return _build_tool_answer(text, call_id)
    calls = [
        _read_call(_get_field(element, "function"), as_text(_get_field(element, "id")))
        for element in list_elements(_get_field(item, "tool_calls"))
    ]
    return build_message(role, text, calls)


def _read_call(item: Any, call_id: str | None = None) -> tuple[str, object, str | None]:
    """Return a tool's name, arguments and the call's id, as `build_message` takes them."""
    call_id = call_id or as_text(_get_field(item, "call_id"))
    return to_text(_get_field(item, "name")), _decode_arguments(_get_field(item, "arguments")), call_id


def _build_tool_answer(output: object, call_id: str | None) -> Message:
    document = {"role": "tool", "parts": [build_tool_response_part(output, call_id)]}
    return Message(document, ("output", call_id, to_text(output)))


def _get_text(content: Any) -> str:
    if is_a(content, str):
        return to_text(content)
    texts = [as_text(_get_field(part, "text")) for part in list_elements(content)]
    return "\n".join(text for text in texts if text)


def _get_field(item: Any, name: str) -> Any:
    if is_a(item, dict):
        return get_member(item, name)
    return get_attribute(item, name)


def _decode_arguments(arguments: Any) -> Any:
    if not is_a(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
