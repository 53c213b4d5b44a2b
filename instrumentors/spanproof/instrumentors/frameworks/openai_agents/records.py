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
    attribute,
    count_or_none,
    elements,
    is_a,
    member,
    text_of,
    text_or_none,
)
from spanproof.instrumentors.frameworks.messages import (
    History,
    Message,
    make_message,
    record_agent,
    record_input,
    record_output,
    record_usage,
    tool_response_part,
)
from spanproof.instrumentors.spans.span_start import make_tool_start
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours


def name_of(data: Any) -> str:
    """Return a span's name: that of the agent, tool or model, or the turn's number."""
    if data.type == "turn":
        return f"step {data.turn}"
    if data.type == "response":
        return text_or_none(attribute(attribute(data, "response"), "model")) or "response"
    if data.type == "handoff":
        return f"handoff from {text_of(data.from_agent)}"
    return text_or_none(attribute(data, "name")) or text_or_none(attribute(data, "model")) or str(data.type)


def describe_agent(content: Content, data: Any, question: str | None, answered: str | None) -> None:
    """Record an agent's name and tools, and the question and answer that its calls showed."""
    record_agent(content, text_or_none(data.name))
    names = [name for name in elements(data.tools) if is_a(name, str)]
    if names and content.visible:
        content.json(genai.TOOL_DEFINITIONS, [{"type": "function", "name": name} for name in names])
    describe_workflow(content, question, answered)


def describe_workflow(content: Content, question: str | None, answered: str | None) -> None:
    """Record the question to the workflow's first agent and the answer of its last one."""
    if question is not None:
        content.input(question)
    if answered is not None:
        content.output(answered)


def describe_call(content: OpenSpan, data: Any, history: History) -> tuple[str | None, str | None]:
    """Record a call's conversation; returns the last question and the answer, if any."""
    response = attribute(data, "response")
    model = text_or_none(attribute(data, "model")) or text_or_none(attribute(response, "model"))
    content.fact(genai.REQUEST_MODEL, model)
    content.fact(openinference.LLM_MODEL_NAME, model)
    own, whole = attribute(data, "usage"), attribute(response, "usage")
    record_usage(content, attribute(whole, "input_tokens"), attribute(whole, "output_tokens"))
    record_usage(content, member(own, "input_tokens"), member(own, "output_tokens"))
    if not content.visible:
        return None, None
    given = attribute(data, "input")
    question = [read_item(each) for each in elements(given)]
    if is_a(given, str):
        question = [make_message("user", text_of(given))]
    record_input(content, question, attrgetter("key"), lambda message: message, history)
    said = elements(attribute(response, "output")) or elements(attribute(data, "output"))
    answers = [read_item(each) for each in said]
    answer = Message({"role": "assistant", "parts": [part for each in answers for part in each.parts]}, ())
    if said:
        record_output(content, answer, "tool_call" if answer.calls_tools else "stop")
        history.add_answers(content.span, [each.key for each in answers])
    last = next((each.text for each in reversed(question) if each.document["role"] == "user"), None)
    return last, None if answer.calls_tools or not answer.parts else answer.text


def bare_call(given: Mapping[str, Any], response: Any) -> Any:
    """Return the call of a model without a span in the form of the SDK's span data.

    Args:
        given: what the model was called with.
        response: what it answered; None where it failed.
    """
    if not getattr(given.get("tracing"), "include_data", lambda: True)():
        return SimpleNamespace(response=None, model=given.get("model"), usage=None, input=None)
    sent = given.get("input")
    items = [{"role": "user", "content": sent}] if is_a(sent, str) else list(elements(sent))
    if text_or_none(given.get("system_instructions")):
        items.insert(0, {"role": "system", "content": given["system_instructions"]})
    return SimpleNamespace(response=response, model=given.get("model"), usage=None, input=items)


def describe_tool(content: Content, data: Any, *, failed: bool) -> None:
    """Record a function tool's call, with the code where an argument is a program."""
    name = text_or_none(data.name) or "tool"
    content.fact(genai.TOOL_NAME, name)
    content.fact(openinference.TOOL_NAME, name)
    content.fact(genai.TOOL_TYPE, "extension" if data.mcp_data else "function")
    if data.input is None and data.output is None:
        mark_hidden(content, data, failed=False)
        return
    record_call(content, name, _decoded(data.input))
    if data.output is not None or not failed:
        content.result_type(data.output)
        content.output_json(genai.TOOL_CALL_RESULT, data.output)


def mark_hidden(content: Content, data: Any, *, failed: bool) -> None:
    """Mark a call whose content the SDK holds back (`trace_include_sensitive_data=False`) as hidden."""
    content_of = (attribute(data, name) for name in ("input", "output", "response"))
    if not failed and all(each is None for each in content_of):
        content.attributes[ours.CONTENT_HIDDEN] = True


def describe_other(content: Content, data: Any) -> None:
    """Record turns, handoffs, guardrails, and the application's own spans."""
    if data.type == "turn":
        content.fact(ours.STEP_NUMBER, count_or_none(data.turn))
        content.fact(ours.STEP_KIND, "action")
        usage = attribute(data, "usage")
        content.fact(ours.STEP_INPUT_TOKENS, count_or_none(member(usage, "input_tokens")))
        content.fact(ours.STEP_OUTPUT_TOKENS, count_or_none(member(usage, "output_tokens")))
    elif data.type == "guardrail":
        content.output({"triggered": bool(data.triggered)})
    elif data.type == "handoff":
        content.output({"from": data.from_agent, "to": data.to_agent})
    elif data.type == "custom" and content.visible:
        content.input(data.data)


def record_hosted_code(tracing: Tracing, opened: OpenSpan, data: Any) -> None:
    """Record each program that the hosted interpreter ran as a TOOL span."""
    for item in elements(attribute(attribute(data, "response"), "output")):
        if attribute(item, "type") != "code_interpreter_call" or not is_a(attribute(item, "code"), str):
            continue
        run = tracing.open(OpenSpan, make_tool_start("code_interpreter", "extension"), opened.context)
        run.fact(genai.TOOL_CALL_ID, text_or_none(attribute(item, "id")))
        run.fact(ours.EXECUTOR_TYPE, "openai")
        run.code(item.code, "python")
        run.input_json(genai.TOOL_CALL_ARGUMENTS, {"code": item.code})
        _describe_outputs(run, attribute(item, "outputs"))
        if attribute(item, "status") == "failed":
            run.fail_untyped("the hosted interpreter failed")
        run.close()


def _describe_outputs(content: Content, outputs: Any) -> None:
    """Record what hosted code printed and showed; the API includes it only if the application requests it."""
    if not is_a(outputs, list):
        return
    logs, shown = [], []
    for each in elements(outputs):
        printed = text_or_none(attribute(each, "logs"))
        if printed is not None:
            logs.append(printed)
        # Images are large and no evaluator reads them: only their presence is recorded.
        shown.append(printed if printed is not None else f"[{text_of(attribute(each, 'type'))}]\n")
    content.text(ours.EXECUTION_LOGS, "".join(logs))
    content.text(ours.EXECUTION_OBSERVATION, "".join(shown))
    content.output("".join(shown))


def error_message(error: Any) -> str | None:
    """Return the message of a span's error, with its details."""
    message = text_or_none(member(error, "message"))
    if message is None:
        return None
    details = text_or_none(member(member(error, "data"), "error"))
    return f"{message}: {details}" if details else message


def fail(opened: OpenSpan, error: BaseException) -> None:
    """Mark a span failed by the exception that was raised, which the SDK wraps where a tool has raised it."""
    cause = error.__cause__
    if cause is None or type(error).__name__ != "UserError" or type(error).__module__ != "agents.exceptions":
        opened.fail(error)
        return
    chain = [type(each).__name__ for each in (error, cause)]
    opened.fail(error, error_type=type(cause).__name__, chain=chain)


def read_item(item: Any) -> Message:
    """Return an item of the Responses API or a chat message in the conventions' form."""
    kind = _field(item, "type")
    if kind == "function_call":
        return make_message("assistant", "", [_call_in(item)])
    if kind == "function_call_output":
        return _answer_of_tool(_field(item, "output"), text_or_none(_field(item, "call_id")))
    if (
        _field(item, "object") == "response"
    ):  # a streamed chat completion, which the SDK keeps as several items
        items = elements(_field(item, "output"))
        texts = [_text(_field(each, "content")) for each in items if _field(each, "type") == "message"]
        calls = [_call_in(each) for each in items if _field(each, "type") == "function_call"]
        return make_message("assistant", "\n".join(text for text in texts if text), calls)
    role = text_or_none(_field(item, "role")) or "assistant"
    text = _text(_field(item, "content"))
    call_id = text_or_none(_field(item, "tool_call_id"))
    if role == "tool" and call_id is not None:
        return _answer_of_tool(text, call_id)
    calls = [
        _call_in(_field(each, "function"), text_or_none(_field(each, "id")))
        for each in elements(_field(item, "tool_calls"))
    ]
    return make_message(role, text, calls)


def _call_in(item: Any, call_id: str | None = None) -> tuple[str, object, str | None]:
    """Return a tool's name, arguments and the call's id, as `make_message` takes them."""
    call_id = call_id or text_or_none(_field(item, "call_id"))
    return text_of(_field(item, "name")), _decoded(_field(item, "arguments")), call_id


def _answer_of_tool(output: object, call_id: str | None) -> Message:
    document = {"role": "tool", "parts": [tool_response_part(output, call_id)]}
    return Message(document, ("output", call_id, text_of(output)))


def _text(content: Any) -> str:
    if is_a(content, str):
        return text_of(content)
    texts = [text_or_none(_field(part, "text")) for part in elements(content)]
    return "\n".join(text for text in texts if text)


def _field(item: Any, name: str) -> Any:
    return member(item, name) if is_a(item, dict) else attribute(item, name)


def _decoded(arguments: Any) -> Any:
    if not is_a(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
