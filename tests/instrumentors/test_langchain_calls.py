"""LangChain and LangGraph: what the calls of models, tools and retrievers record."""

import json
from collections import UserDict
from typing import ClassVar

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, tool

from .coders import ScriptedChatModel, messages_of
from .graphs import add, calculator, calls, requested


def test_a_tool_call_has_arguments_result_and_id(recorded):
    calculator().invoke(requested())
    call = recorded.named("execute_tool add")
    assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"a": 1, "b": 2}
    assert call.attributes["gen_ai.tool.call.result"] == '"3"'
    assert call.attributes["gen_ai.tool.call.id"] == "c0"
    assert recorded.parent(call).name == "tools"


def test_a_tool_called_directly_keeps_the_type_of_its_result(recorded):
    assert add.invoke({"a": 1, "b": 2}) == 3
    assert recorded.named("execute_tool add").attributes["gen_ai.tool.call.result"] == "3"


def test_a_tool_message_is_recorded_by_its_content(recorded):
    message = add.invoke({"name": "add", "args": {"a": 1}, "id": "c9", "type": "tool_call"})
    assert isinstance(message, ToolMessage)
    assert recorded.named("execute_tool add").attributes["gen_ai.tool.call.id"] == "c9"


def test_model_calls_record_the_difference_only(recorded):
    calculator(calls(("add", {"a": 1})), calls(("add", {"a": 2})), AIMessage("done")).invoke(requested())
    llm = recorded.of_kind("LLM")
    assert [len(messages_of(call)) for call in llm] == [1, 1, 1]
    assert [call.attributes.get("spanproof.messages.omitted", 0) for call in llm] == [0, 2, 4]
    (answer,) = messages_of(llm[0], "gen_ai.output.messages")
    assert answer["parts"] == [{"type": "tool_call", "id": "c0", "name": "add", "arguments": {"a": 1}}]
    assert messages_of(llm[1])[0] == {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c0", "response": "2"}],
        "name": "add",
    }


def test_a_tools_long_answer_is_whole_in_the_next_calls_messages_and_begins_its_input(recorded):
    @tool
    def fetch() -> str:
        """Much."""
        return "abc " * 500

    calculator(calls(("fetch", {})), AIMessage("done"), tools=(fetch,)).invoke(requested())
    second = recorded.of_kind("LLM")[1]
    assert messages_of(second)[0]["parts"][0]["response"] == "abc " * 500
    assert second.attributes["input.value"] == "abc " * 30 + " … [2000 characters]"
    assert "spanproof.content.truncated" not in second.attributes
    assert recorded.named("execute_tool fetch").attributes["output.value"] == "abc " * 500


def test_the_bytes_of_a_run_grow_with_its_new_messages(recorded):
    @tool
    def echo(text: str) -> str:
        """Answers what it was given."""
        return text

    def size(turns: int) -> int:
        recorded.clear()
        answers = [calls(("echo", {"text": "x" * 500})) for _ in range(turns)]
        calculator(*answers, AIMessage("done"), tools=(echo,)).invoke(requested(), {"recursion_limit": 100})
        return sum(len(str(value)) for span in recorded.spans for value in span.attributes.values())

    ten, twenty = size(10), size(20)
    assert twenty < 2.2 * ten


def test_usage_and_model_are_taken_from_the_answer(recorded):
    answer = AIMessage(
        "Hi.",
        usage_metadata={"input_tokens": 12, "output_tokens": 3, "total_tokens": 15},
        response_metadata={"model_name": "tiny-2", "finish_reason": "length"},
    )
    ScriptedChatModel(answers=[answer]).invoke([SystemMessage("Be kind."), HumanMessage("Hello?")])
    call = recorded.spans[0].attributes
    assert call["gen_ai.usage.input_tokens"] == 12
    assert call["llm.token_count.completion"] == 3
    assert call["gen_ai.response.model"] == "tiny-2"
    assert call["gen_ai.response.finish_reasons"] == ("length",)


def test_a_completion_model_is_an_llm(recorded):
    assert FakeListLLM(responses=["four"]).invoke("2 + 2?") == "four"
    (call,) = recorded.of_kind("LLM")
    assert call.attributes["input.value"] == "2 + 2?"
    assert call.attributes["output.value"] == "four"


def test_a_retriever_records_what_it_found(recorded):
    class Shelf(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document("about " + query)]

    Shelf().invoke("refunds")
    (found,) = recorded.of_kind("RETRIEVER")
    assert json.loads(found.attributes["output.value"]) == ["about refunds"]


@pytest.mark.parametrize(
    ("name", "arguments", "code", "language"),
    [
        ("run_python", {"code": "6*7"}, "6*7", "python"),
        ("python_repl_ast", {"query": "6*7"}, "6*7", "python"),
        ("query_database", {"sql": "SELECT 1"}, "SELECT 1", "sql"),
        ("sql_db_query", {"query": "-- all\nselect * from t"}, "-- all\nselect * from t", "sql"),
        ("terminal", {"command": "ls -l"}, "ls -l", "bash"),
        ("run_command", {"cmd": "ls"}, "ls", "bash"),
        ("sandbox", {"language": "js", "code": "x = 1"}, "x = 1", "javascript"),
    ],
)
def test_a_tool_that_takes_code_records_it(recorded, name, arguments, code, language):
    parameters = ", ".join(f"{each}: str" for each in arguments)
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in arguments}}
    runs = StructuredTool(name=name, description=parameters, args_schema=schema, func=lambda **_: "42")
    runs.invoke(arguments)
    call = recorded.spans[0].attributes
    assert json.loads(call["gen_ai.tool.call.arguments"])[call["spanproof.code.argument"]] == code
    assert call["spanproof.code.language"] == language
    assert call["gen_ai.tool.call.result"] == '"42"'


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("country", {"code": "US"}),
        ("postal", {"zip_code": "10115"}),
        ("vector_db_search", {"query": "what is a refund"}),
        ("python_docs_search", {"query": "how to sort"}),
        ("weather", {"input": "Berlin"}),
        ("connect", {"db": "sales"}),
    ],
)
def test_a_tool_that_takes_no_code_records_none(name, arguments):
    from spanproof.instrumentors.content.code_tools import find_code

    assert find_code(name, arguments) is None


@pytest.mark.parametrize(
    ("serialized", "given", "name"),
    [
        ({"name": "own"}, {"name": "shown"}, "shown"),
        ({"name": "own"}, {}, "own"),
        ({"name": "own"}, {"name": ""}, "own"),
        ({"name": "own"}, {"name": 3}, "own"),
        ({"name": None, "id": ["a", "B"]}, {}, "B"),
        ({"id": []}, {"name": None}, "other"),
        (None, {}, "other"),
    ],
)
def test_a_run_goes_by_the_name_it_is_shown_by(serialized, given, name):
    from spanproof.instrumentors.frameworks.langchain.records import get_run_name

    assert get_run_name(serialized, given, "other") == name


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"invocation_params": {"model": "m", "model_name": "n"}}, "m"),
        ({"invocation_params": {"model_name": "n"}, "metadata": {"ls_model_name": "l"}}, "n"),
        ({"invocation_params": {"model": None}, "metadata": {"ls_model_name": "l"}}, "l"),
        ({"invocation_params": None, "metadata": {"ls_model_name": 3}}, "Class"),
        ({"metadata": UserDict(ls_model_name="l"), "name": "run"}, "Class"),
        ({}, "Class"),
    ],
)
def test_a_call_goes_by_the_model_that_is_requested(given, name):
    from spanproof.instrumentors.frameworks.langchain.records import get_model_name

    assert get_model_name({"name": "Class"}, given) == name


def test_a_message_is_written_in_short_form_wherever_in_a_state_it_is(recorded):
    RunnableLambda(lambda state: state).invoke({"seen": [(AIMessage("hello"), 1)]})
    shown = json.loads(recorded.named("RunnableLambda").attributes["input.value"])
    assert shown == {"seen": [[{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}, 1]]}


def test_of_a_huge_or_circular_value_only_its_beginning_is_looked_at(recorded):
    class Watched(AIMessage):
        looked: ClassVar = 0

        def __getattribute__(self, name):
            Watched.looked += name == "content"
            return super().__getattribute__(name)

    loop = [1]
    loop.append(loop)
    RunnableLambda(lambda given: [Watched("x")] * 1_000_000).invoke(loop)
    assert Watched.looked < 30_000
    span = recorded.spans[0].attributes
    assert set(span["spanproof.content.truncated"]) == {"input.value", "output.value"}
