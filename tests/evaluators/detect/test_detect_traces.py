from spanproof.evaluators.detect import list_snippets
from spanproof.trace import ExecutedCode, Executor, Language, Message, Payload, SpanError, StepInfo

CODE = "total = price(3)\nprint(total)"
WORDS = f"Thought: I compute it.\n<code>\n{CODE}\n</code>"


def test_recorded_code_is_executed_with_its_tape_and_outcome(trace):
    agent = trace.agent()
    recorded = ExecutedCode(CODE, "spanproof.code.source", "python", logs="36\n", executor=Executor("docker"))
    step = trace.step(
        agent, code=recorded, observation="Execution logs:\n36\nLast output from code snippet:\nNone"
    )
    trace.says(WORDS, under=step)
    trace.tool("price", {"count": 3}, 36, under=step)
    (found,) = list_snippets(trace.build())
    assert (found.span_id, found.path, found.executed) == (step, "spanproof.code.source", True)
    assert (found.logs, found.output.text, found.executor.type) == ("36\n", "None", "docker")
    (call,) = found.tape
    assert (call.tool, call.kwargs, call.result.value, call.replayable) == ("price", {"count": 3}, 36, True)


def test_a_steps_code_is_read_from_the_models_words(trace):
    agent = trace.agent()
    step = trace.step(agent, step=StepInfo(1), observation="Execution logs:\n36\n")
    trace.says(WORDS, under=step)
    (found,) = list_snippets(trace.build())
    assert (found.span_id, found.source, found.executed, found.logs) == (step, CODE, True, "36\n")


def test_what_the_history_says_ran_is_believed_over_the_words(trace, call):
    agent = trace.agent()
    first = trace.step(agent, step=StepInfo(1), observation="Execution logs:\n36\n")
    trace.says("<code>\nfinal_answer = 1\nprint(1)\n</code>", under=first)
    second = trace.step(agent, step=StepInfo(2))
    ran = call("python_interpreter", "final_answer_variable = 1\nprint(1)", "call_1")
    trace.says(
        "Done.", under=second, input_messages=(Message("assistant", "", (ran,)), Message("tool", "36"))
    )
    snippets = [snippet for snippet in list_snippets(trace.build()) if snippet.executed]
    assert [snippet.source for snippet in snippets] == ["final_answer_variable = 1\nprint(1)"]


def test_several_blocks_of_one_step_ran_as_one(trace):
    agent = trace.agent()
    step = trace.step(agent, step=StepInfo(1), observation="Execution logs:\n")
    trace.says("```py\na = f(1)\n```\nand\n```py\nprint(a)\n```", under=step)
    assert [snippet.source for snippet in list_snippets(trace.build())] == ["a = f(1)\n\nprint(a)"]


def test_a_step_that_failed_before_running_only_proposed(trace):
    agent = trace.agent()
    step = trace.step(agent, step=StepInfo(1), error=SpanError("AgentParsingError", "no code"))
    trace.says(WORDS, under=step)
    (found,) = list_snippets(trace.build())
    assert not found.executed


def test_a_failed_step_ran_its_code_and_was_shown_the_error(trace):
    agent = trace.agent()
    error = SpanError("AgentExecutionError", "due to: KeyError: 'x'", ("AgentExecutionError", "KeyError"))
    step = trace.step(agent, step=StepInfo(1), error=error)
    trace.says(WORDS, under=step)
    second = trace.step(agent, step=StepInfo(2))
    trace.says("Sorry.", under=second, input_messages=(Message("tool", "Error: KeyError"),))
    (found,) = [snippet for snippet in list_snippets(trace.build()) if snippet.executed]
    assert (found.error, found.observation) == (error, "Error: KeyError")


def test_the_same_code_in_words_call_and_tool_is_one_snippet(trace, call):
    agent = trace.agent()
    requested = call("run_python", {"code": CODE}, "c1")
    trace.says(f"I run\n```python\n{CODE}\n```", requested, under=agent)
    tool = trace.tool("run_python", {"code": CODE}, "36\n", under=agent, call_id="c1")
    (found,) = list_snippets(trace.build())
    assert (found.span_id, found.executed, found.observation) == (tool, True, "36\n")


def test_code_that_ran_twice_is_two_snippets(trace):
    agent = trace.agent()
    first = trace.tool("run_python", {"code": CODE}, "36", under=agent)
    second = trace.tool("run_python", {"code": CODE}, "36", under=agent)
    found = list_snippets(trace.build())
    assert [snippet.span_id for snippet in found] == [first, second]
    assert len({snippet.id for snippet in found}) == 2


def test_spans_within_one_another_with_the_same_code_ran_it_once(trace):
    agent = trace.agent()
    step = trace.step(agent, code=ExecutedCode(CODE, "spanproof.code.source", "python"))
    trace.tool("python_interpreter", {"code": CODE}, "36", under=step)
    (found,) = list_snippets(trace.build())
    assert found.span_id == step


def test_a_call_that_only_its_answer_shows_ran_all_the_same(trace, call):
    agent = trace.agent()
    requested = call("run_python", {"code": CODE}, "c1")
    first = trace.says("", requested, under=agent)
    trace.says("36 euros", under=agent, input_messages=(Message("tool", "36\n", (), "c1"),))
    (found,) = list_snippets(trace.build())
    assert (found.span_id, found.executed, found.observation) == (first, True, "36\n")


def test_a_hosted_interpreters_call_ran(trace, call):
    requested = call("code_interpreter", {"code": CODE}, "ci")
    trace.says("", requested, then=(Message("tool", "36", (), "ci"), Message("assistant", "36 euros")))
    (found,) = list_snippets(trace.build())
    assert (found.executed, found.observation) == (True, "36")


def test_a_call_without_an_answer_is_proposed(trace, call):
    trace.says("", call("run_python", {"code": CODE}, "c1"))
    (found,) = list_snippets(trace.build())
    assert not found.executed


def test_code_in_words_alone_is_proposed_once(trace):
    agent = trace.agent()
    for _ in range(2):
        trace.says(f"Try this:\n```sql\nSELECT 1\n```\nand this:\n```python\n{CODE}\n```", under=agent)
    found = list_snippets(trace.build())
    assert [(snippet.language, snippet.executed) for snippet in found] == [
        (Language.SQL, False),
        (Language.PYTHON, False),
    ]


def test_a_block_in_a_list_item_loses_the_items_indentation(trace):
    trace.says("1. Run this:\n   ```python\n   for x in [1]:\n       print(x)\n   ```\n2. Done.")
    (found,) = list_snippets(trace.build())
    assert found.source == "for x in [1]:\n    print(x)"


def test_data_in_a_models_words_is_no_code(trace):
    trace.says('```json\n{"boxes": [{"price": 12}]}\n```\nand\n```yaml\na:\n  b: 1\nc: 2\n```')
    assert list_snippets(trace.build()) == []


def test_an_agent_of_ordinary_tools_carries_no_code(trace, call):
    agent = trace.agent()
    trace.says("", call("get_refund", {"order_id": "A-17"}, "c1"), under=agent)
    trace.tool("get_refund", {"order_id": "A-17"}, {"cents": 4500}, under=agent)
    trace.says("Your refund is $45.00.", under=agent)
    assert list_snippets(trace.build()) == []


def test_a_call_within_a_call_repeats_no_words(trace):
    outer = trace.says(WORDS, end_ns=100)
    trace.says(WORDS, under=outer)
    (found,) = list_snippets(trace.build())
    assert found.span_id == outer


def test_a_tape_stops_at_tools_and_agents_and_says_what_it_cannot_answer(trace):
    agent = trace.agent()
    step = trace.step(agent, code=ExecutedCode(CODE, "spanproof.code.source", "python"))
    outer = trace.tool("lookup", {"x": 1}, "found", under=step)
    trace.tool("db", {"q": 1}, "row", under=outer)
    trace.tool("secret", None, under=step, hidden=True)
    trace.tool("cut", ["a"], "b", under=step, truncated=True)
    trace.tool("fails", ["a"], under=step, error=SpanError("KeyError", "'a'"))
    helper = trace.agent("helper", under=step, input=Payload("find", "find"), output=Payload("ok", "ok"))
    trace.tool("inner", ["a"], 1, under=helper)
    (found,) = list_snippets(trace.build())
    assert [(call.tool, call.replayable) for call in found.tape] == [
        ("lookup", True),
        ("secret", False),
        ("cut", False),
        ("fails", True),
        ("helper", False),
    ]
    assert "kept" in found.tape[1].reason
    assert found.tape[2].args == ("a",)
    assert found.tape[3].error.type == "KeyError"


def test_final_answer_ends_the_run(trace):
    step = trace.step(code=ExecutedCode("final_answer(36)", "spanproof.code.source", "python"))
    trace.tool("final_answer", [36], 36, under=step)
    (found,) = list_snippets(trace.build())
    assert found.is_final


def test_a_clipped_source_is_truncated_and_another_clipped_value_is_not(trace):
    for clipped in (["spanproof.code.source"], ["output.value"]):
        trace.step(
            code=ExecutedCode(f"x = {len(clipped[0])}", "spanproof.code.source", "python"),
            truncated=True,
            attributes={"spanproof.content.truncated": clipped},
        )
    assert [snippet.truncated for snippet in list_snippets(trace.build())] == [True, False]


def test_clipped_arguments_cut_the_code_in_them_and_a_clipped_result_does_not(trace):
    for number, clipped in enumerate(("gen_ai.tool.call.arguments", "output.value")):
        trace.tool(
            "run_python",
            {"code": f"print({number})"},
            "1",
            truncated=True,
            attributes={"spanproof.content.truncated": [clipped]},
        )
    assert [snippet.truncated for snippet in list_snippets(trace.build())] == [True, False]


def test_ids_are_the_same_each_time(trace):
    trace.tool("run_python", {"code": CODE}, "36")
    built = trace.build()
    assert [snippet.id for snippet in list_snippets(built)] == [
        snippet.id for snippet in list_snippets(built)
    ]


def test_code_in_an_agents_answer_is_proposed_code(trace):
    answer = f"Run this:\n```python\n{CODE}\n```"
    agent = trace.agent(output=Payload(answer, answer))
    (found,) = list_snippets(trace.build())
    assert (found.span_id, found.path, found.source, found.executed) == (agent, "output.text[0]", CODE, False)


def test_an_answer_that_its_model_call_said_is_found_once(trace):
    answer = f"Run this:\n```python\n{CODE}\n```"
    agent = trace.agent(output=Payload(answer, answer))
    call = trace.says(answer, under=agent)
    assert [found.span_id for found in list_snippets(trace.build())] == [call]


def test_code_that_a_final_call_hands_over_is_proposed_code(trace, call):
    answer = f"```python\n{CODE}\n```"
    agent = trace.agent(output=Payload(answer, answer))
    trace.says("Done.", call("final_answer", {"answer": answer}), under=agent)
    trace.tool("final_answer", {"answer": answer}, answer, under=agent)
    found = list_snippets(trace.build())
    assert [(each.source, each.executed) for each in found] == [(CODE, False)]
