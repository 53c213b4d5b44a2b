import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.trace import Message, ToolCall
from spanproof.trace.dialects.decode import NotDecoded, decode_document, parse_json, parse_literal, to_payload
from spanproof.trace.dialects.flattened import read_flattened_messages
from spanproof.trace.dialects.messages import read_messages
from spanproof.trace.dialects.printed import find_printed_fields

CALL = ToolCall("run", {"code": "x = 1"}, "c1")


@pytest.mark.parametrize(
    "written",
    [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c1", "name": "run", "arguments": {"code": "x = 1"}}],
        },
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "function": {"name": "run", "arguments": '{"code": "x = 1"}'}}],
        },
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "function": {"name": "run", "arguments": '"{\\"code\\": \\"x = 1\\"}"'}}
            ],
        },
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "function": {"name": "run", "arguments": "{'code': 'x = 1'}"}}],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "run", "input": {"code": "x = 1"}}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "c1", "toolName": "run", "input": {"code": "x = 1"}}
            ],
        },
        {"type": "function_call", "call_id": "c1", "name": "run", "arguments": '{"code": "x = 1"}'},
        {
            "type": "ai",
            "data": {
                "type": "ai",
                "content": "",
                "tool_calls": [{"name": "run", "args": {"code": "x = 1"}, "id": "c1"}],
            },
        },
        {
            "lc": 1,
            "kwargs": {
                "type": "ai",
                "content": "",
                "tool_calls": [{"name": "run", "args": {"code": "x = 1"}, "id": "c1"}],
            },
        },
        {
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "tool_calls": [
                            {"id": "c1", "function": {"name": "run", "arguments": '{"code": "x = 1"}'}}
                        ],
                    }
                }
            ]
        },
        "content='' additional_kwargs={} tool_calls=[{'name': 'run', 'args': {'code': 'x = 1'}, 'id': 'c1'}]",
        {
            "role": "tool-call",
            "content": "Calling tools:\n"
            "[{'id': 'c1', 'function': {'name': 'run', 'arguments': {'code': 'x = 1'}}}]",
        },
        {
            "role": "assistant",
            "parts": [
                {
                    "part_kind": "tool-call",
                    "tool_name": "run",
                    "args": {"code": "x = 1"},
                    "tool_call_id": "c1",
                }
            ],
        },
        {
            "role": "assistant",
            "content": "",
            "additional_kwargs": {
                "tool_calls": [{"id": "c1", "function": {"name": "run", "arguments": '{"code": "x = 1"}'}}]
            },
        },
        {
            "role": "tool",
            "content": '[{"function":{"name":"run","arguments":"{\\"code\\": \\"x = 1\\"}"},"id":"c1"}]',
        },
    ],
)
def test_a_call_for_a_tool_is_the_same_however_it_is_written(written):
    assert read_messages(written, "assistant") == (Message("assistant", "", (CALL,)),)


@pytest.mark.parametrize(
    "written",
    [
        {"role": "tool", "tool_call_id": "c1", "content": "36"},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "36"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": "36"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "36"}]}
            ],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "36"}}
            ],
        },
        {"type": "function_call_output", "call_id": "c1", "output": "36"},
        "content='36' name='run' tool_call_id='c1'",
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain_core", "messages", "ToolMessage"],
            "kwargs": {"content": "36", "tool_call_id": "c1", "name": "run"},
        },
    ],
)
def test_a_tools_answer_is_the_same_however_it_is_written(written):
    assert read_messages(written) == (Message("tool", "36", (), "c1"),)


def test_the_text_of_several_parts_is_joined_and_pictures_are_passed_over():
    parts = [
        {"type": "text", "text": "What is"},
        {"type": "image_url", "image_url": {"url": "https://shop.test/box.png"}},
        {"type": "input_text", "text": "on it?"},
        {"type": "reasoning", "content": "not said"},
    ]
    assert read_messages([{"role": "user", "content": parts}]) == (Message("user", "What is\non it?"),)


def test_a_hosted_interpreters_call_and_its_output_stand_one_after_the_other():
    response = {
        "output": [
            {
                "type": "code_interpreter_call",
                "id": "ci",
                "code": "1+1",
                "outputs": [{"type": "logs", "logs": "2"}],
            },
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two."}]},
        ]
    }
    call, answer, text = read_messages(response, "assistant")
    assert call.tool_calls == (ToolCall("code_interpreter", {"code": "1+1"}, "ci"),)
    assert (answer.role, answer.text, answer.tool_call_id) == ("tool", "2", "ci")
    assert text.text == "Two."


@pytest.mark.parametrize(
    "parts",
    [
        [
            {
                "type": "server_tool_use",
                "id": "s",
                "name": "bash_code_execution",
                "input": {"command": "ls -l"},
            },
            {
                "type": "bash_code_execution_tool_result",
                "tool_use_id": "s",
                "content": {"stdout": "a.txt", "stderr": ""},
            },
        ],
        [
            {"type": "executable_code", "language": "PYTHON", "code": "print(1)"},
            {"type": "code_execution_result", "outcome": "OUTCOME_OK", "output": "a.txt"},
        ],
    ],
)
def test_other_providers_hosted_code_is_answered_in_place_too(parts):
    call, answered = read_messages([{"role": "model", "content": parts}])
    assert call.role == "assistant"
    assert call.tool_calls[0].call_id == answered.tool_call_id
    assert answered.text == "a.txt"


def test_roles_of_other_vocabularies_become_ours():
    written = [
        {"role": role, "content": "x"} for role in ("human", "ai", "model", "developer", "tool-response")
    ]
    assert [message.role for message in read_messages(written)] == [
        "user",
        "assistant",
        "assistant",
        "system",
        "tool",
    ]


def test_flattened_messages_are_put_together_whatever_indices_are_missing():
    attributes = {
        "llm.input_messages.10.message.role": "user",
        "llm.input_messages.10.message.content": "last",
        "llm.input_messages.2.message.role": "user",
        "llm.input_messages.2.message.contents.0.message_content.text": "a",
        "llm.input_messages.2.message.contents.1.message_content.text": "b",
        "llm.input_messages": "not a message",
        "llm.input_messages.x.message.role": "user",
    }
    assert read_flattened_messages(attributes, "llm.input_messages", "user") == (
        Message("user", "a\nb"),
        Message("user", "last"),
    )


def test_a_message_without_role_after_calls_is_their_result():
    call = "llm.input_messages.1.message.tool_calls.0.tool_call.function"
    attributes = {
        "llm.input_messages.0.message.content": "Weigh both.",
        f"{call}.name": "weigh",
        f"{call}.arguments": "{}",
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.content": "",
        "llm.input_messages.2.message.content": "4 kg",
        "llm.input_messages.3.message.content": "5 kg",
        "llm.input_messages.4.message.role": "assistant",
        "llm.input_messages.4.message.content": "9 kg",
        "llm.input_messages.5.message.content": "And the box?",
    }
    messages = read_flattened_messages(attributes, "llm.input_messages", "user")
    assert [message.role for message in messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
    ]


def test_a_text_written_both_ways_is_read_once():
    prefix = "llm.output_messages.0.message"
    attributes = {
        f"{prefix}.role": "assistant",
        f"{prefix}.content": "Hello",
        f"{prefix}.contents.0.message_content.text": "Hello",
    }
    assert read_flattened_messages(attributes, "llm.output_messages", "assistant") == (
        Message("assistant", "Hello"),
    )


def test_a_printed_message_keeps_quotes_and_brackets_inside_its_literals():
    text = "content='a b [c] = \\'d\\'' additional_kwargs={'x': [1, (2, 3)]} id=None odd=<Thing>"
    assert find_printed_fields(text) == {
        "content": "a b [c] = 'd'",
        "additional_kwargs": {"x": [1, [2, 3]]},
        "id": None,
        "odd": "<Thing>",
    }
    assert find_printed_fields("the content='x' of a sentence") is None


@pytest.mark.parametrize(
    ("value", "mime_type", "expected", "typed"),
    [
        ("4500", "application/json", 4500, True),
        ("4500", None, "4500", False),
        ("4500", "text/plain", "4500", True),
        ('{"a": 1}', None, {"a": 1}, False),
        ('{"a": 1', "application/json", '{"a": 1', False),
        ("[NaN]", "application/json", ["nan"], True),
        (4500, None, 4500, True),
        (b"\xff", None, "\ufffd", True),
        ({"a": [b"x"]}, None, {"a": ["x"]}, True),
    ],
)
def test_a_payload_has_a_type_only_where_the_producer_gave_it_one(value, mime_type, expected, typed):
    read = to_payload(value, mime_type)
    assert (read.value, read.typed) == (expected, typed)


def test_code_that_happens_to_begin_like_a_list_stays_text():
    assert decode_document("[x for x in range(3)]") == "[x for x in range(3)]"
    assert decode_document("{'a': (1, 2)}") == {"a": [1, 2]}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(value=_JSON)
def test_no_document_raises_when_read_as_messages(value):
    for message in read_messages(value):
        assert isinstance(message.text, str)


@given(text=st.text())
def test_decoders_give_data_or_say_that_it_is_none(text):
    for decode in (parse_json, parse_literal):
        try:
            decode(text)
        except NotDecoded:
            continue
    decode_document(text)
    find_printed_fields("content='" + text)
