"""What the instrumentors write is what the collector's own dialect reads: nothing is lost on the way."""

from langchain_core.tools import tool
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from spanproof.trace import SpanKind
from spanproof.trace.dialects import normalise_request

from .coders import coder


def read_back(recorded):
    return {span.name: span for span in normalise_request(encode_spans(recorded.spans))}


def test_a_step_reads_back_with_code_outcome_and_executor(recorded):
    coder("print('one')\n40 + 2", "1 / 0", "final_answer('It is 42.')").run("Go.")
    spans = read_back(recorded)
    step = spans["step 1"]
    assert step.dialect == "spanproof"
    assert step.kind is SpanKind.CHAIN
    assert step.step.number == 1
    assert step.code.source == "print('one')\n40 + 2"
    assert step.code.logs == "one\n"
    assert step.code.output.value == 42
    assert step.code.executor.type == "local"
    assert step.observation.startswith("Execution logs:")
    failed = spans["step 2"]
    assert failed.error.type == "ZeroDivisionError"
    assert failed.error.chain == ("AgentExecutionError", "InterpreterError", "ZeroDivisionError")
    assert failed.code.logs == ""
    assert spans["step 3"].code.is_final
    assert spans["invoke_agent CodeAgent"].output.value == "It is 42."


def test_a_tool_call_reads_back_with_typed_arguments_and_result(recorded):
    coder("final_answer(cents_of('A-17', 2))").run("Go.")
    call = read_back(recorded)["execute_tool cents_of"]
    assert call.tool.name == "cents_of"
    assert call.tool.arguments == {"order_id": "A-17", "factor": 2}
    assert call.output.value == 9000
    assert call.output.typed


def test_a_model_call_reads_back_with_messages_and_usage(recorded):
    coder("final_answer(1)").run("Go.")
    call = read_back(recorded)["chat scripted-coder"]
    assert [message.role for message in call.input_messages] == ["system", "user"]
    assert "final_answer(1)" in call.output_messages[0].text
    assert (call.usage.input_tokens, call.usage.output_tokens) == (11, 5)


def test_hidden_content_reads_back_as_hidden(recorded):
    from spanproof.instrumentors import ContentPolicy, instrument_smolagents, uninstrument

    uninstrument()
    instrument_smolagents(recorded.provider, content=ContentPolicy(capture=False))
    coder("final_answer(1)").run("Go.")
    assert all(span.hidden for span in read_back(recorded).values())


def test_cut_content_reads_back_as_truncated(recorded):
    coder("echo(value='x' * 70000)", "final_answer(1)").run("Go.")
    spans = read_back(recorded)
    call = spans["execute_tool echo"]
    assert call.truncated
    marked = call.attributes["spanproof.content.truncated"]
    assert {"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"} <= set(marked)
    assert not spans["step 2"].truncated


@tool
def run_python(code: str, timeout_s: str = "") -> str:
    """Runs code."""
    return "42"


def test_a_tool_that_ran_code_reads_back_with_its_result_as_what_was_shown(recorded):
    run_python.invoke({"code": "print(6 * 7)"})
    call = read_back(recorded)["execute_tool run_python"]
    assert call.code.source == call.input.value == "print(6 * 7)"
    assert call.code.path == "gen_ai.tool.call.arguments.code"
    assert call.code.language == "python"
    assert call.tool.arguments == {"code": "print(6 * 7)"}
    assert call.observation == "42"


def test_a_text_that_looks_like_json_reads_back_as_text(recorded):
    run_python.invoke({"code": "[42]"})
    call = read_back(recorded)["execute_tool run_python"]
    assert (call.input.value, call.input.typed) == ("[42]", True)
    assert (call.output.value, call.output.typed) == ("42", True)


def test_code_in_arguments_that_are_cut_reads_back_whole(recorded):
    long = f"x = '{'a' * 70_000}'"
    run_python.invoke({"code": long})
    call = read_back(recorded)["execute_tool run_python"]
    assert call.code.source == long
    assert call.code.path == "spanproof.code.source"
    recorded.clear()
    run_python.invoke({"code": "print(1)", "timeout_s": "1" * 70_000})
    call = read_back(recorded)["execute_tool run_python"]
    assert call.code.source == "print(1)"
