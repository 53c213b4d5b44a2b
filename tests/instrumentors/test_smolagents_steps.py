"""CHAIN spans: the code as it ran and its outcome, for every way a step can go."""

import json
from typing import ClassVar

import pytest
from smolagents import LocalPythonExecutor, PythonExecutor, Tool, ToolCallingAgent
from smolagents.monitoring import LogLevel

from .coders import StreamingModel, ToolCallingModel, cents_of, coder, echo, written


def test_a_step_records_code_logs_output_and_observation(recorded):
    coder("print('one')\n40 + 2", "final_answer(1)").run("Go.")
    step = recorded.named("step 1").attributes
    assert step["spanproof.code.source"] == "print('one')\n40 + 2"
    assert step["spanproof.code.language"] == "python"
    assert "spanproof.code.sha256" not in step  # the code is there whole
    assert step["spanproof.execution.logs"] == "one\n"
    assert step["spanproof.execution.output"] == "42"
    assert step["spanproof.execution.output.mime_type"] == "application/json"
    assert step["spanproof.execution.observation"] == (
        "Execution logs:\none\nLast output from code snippet:\n42"
    )
    assert "spanproof.execution.is_final" not in step
    assert step["spanproof.execution.duration_s"] > 0
    assert step["spanproof.executor.type"] == "local"
    assert step["spanproof.executor.version"].startswith("python 3.")


def test_the_string_of_digits_is_reported_from_the_number(recorded):
    coder("'42'", "42", "final_answer(1)").run("Go.")
    text, number = recorded.named("step 1").attributes, recorded.named("step 2").attributes
    assert text["spanproof.execution.output.mime_type"] == "text/plain"
    assert number["spanproof.execution.output.mime_type"] == "application/json"


def test_a_final_step_says_so(recorded):
    coder("final_answer(None)").run("Go.")
    step = recorded.named("step 1").attributes
    assert step["spanproof.execution.is_final"] is True
    assert step["spanproof.execution.output"] == "null"


def test_code_that_failed_keeps_what_it_printed(recorded):
    coder("print('before')\n1 / 0", "final_answer(1)").run("Go.")
    step = recorded.named("step 1")
    assert step.attributes["spanproof.execution.logs"].strip() == "before"
    assert step.attributes["error.type"] == "ZeroDivisionError"


def test_a_step_with_a_syntax_error_does_not_repeat_the_output_of_the_step_before(recorded):
    coder("print('of step one')", "print('broken", "final_answer(1)").run("Go.")
    step = recorded.named("step 2").attributes
    assert step["error.type"] == "SyntaxError"
    assert step["spanproof.code.source"] == "print('broken"
    assert "spanproof.execution.observation" not in step
    assert "spanproof.execution.logs" not in step


@pytest.mark.parametrize(
    ("code", "error_type"),
    [
        ("raise ValueError('own')", "ValueError"),
        ("cents_of('missing')", "LookupError"),
        ("undefined_name", "InterpreterError"),
        ("import subprocess", "InterpreterError"),
        ("{}['key']", "KeyError"),
        ("[][3]", "IndexError"),
        ("int('x')", "ValueError"),
        ("''.nothing", "AttributeError"),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('second')", "ValueError"),
    ],
)
def test_a_failed_step_names_the_exception_that_was_raised(recorded, code, error_type):
    coder(code, "final_answer(1)").run("Go.")
    assert recorded.named("step 1").attributes["error.type"] == error_type


def test_what_the_host_was_handling_is_no_cause_of_a_step(recorded):
    try:
        raise RuntimeError("the host's own")
    except RuntimeError:
        coder("1 / 0", "undefined_name", "final_answer(1)").run("Go.")
    assert recorded.named("step 1").attributes["error.type"] == "ZeroDivisionError"
    assert recorded.named("step 2").attributes["error.type"] == "InterpreterError"
    for name in ("step 1", "step 2"):
        assert "RuntimeError" not in recorded.named(name).attributes["spanproof.execution.error.chain"]


def test_exceptions_that_compare_as_they_like_are_reported_by_identity(recorded):
    class Odd(Exception):
        def __eq__(self, other):
            raise ValueError("not comparable")

        def __bool__(self):
            raise ValueError("neither")

        __hash__ = None

    class Failing(Tool):
        name = "failing"
        description = "Fails."
        inputs: ClassVar = {}
        output_type = "any"

        def forward(self):
            try:
                raise Odd("inner")
            except Odd as inner:
                inner.__cause__ = inner
                raise Odd("outer") from inner

    coder("failing()", tools=(Failing(),)).run("Go.")
    step = recorded.named("step 1").attributes
    assert step["error.type"] == "Odd"
    assert step["spanproof.execution.error.chain"][-2:] == ("Odd", "Odd")


def test_an_answer_without_code_is_a_parsing_error(recorded):
    coder("", "final_answer(1)").run("Go.")
    step = recorded.named("step 1").attributes
    assert step["error.type"] == "AgentParsingError"
    assert "spanproof.code.source" not in step


def test_code_that_takes_too_long_is_an_execution_timeout(recorded):
    agent = coder(
        "import time\ntime.sleep(3)",
        "final_answer(1)",
        executor_kwargs={"timeout_seconds": 1},
        additional_authorized_imports=["time"],
    )
    agent.run("Go.")
    step = recorded.named("step 1").attributes
    assert step["error.type"] == "ExecutionTimeoutError"
    assert step["spanproof.executor.authorized_imports"] == ("time",)


def test_a_failed_check_of_the_answer_belongs_to_the_step_that_answered(recorded):
    def is_large(answer, memory, agent=None):
        return answer > 10

    assert coder("final_answer(1)", "final_answer(11)", final_answer_checks=[is_large]).run("Go.") == 11
    first, second = recorded.named("step 1").attributes, recorded.named("step 2").attributes
    assert "spanproof.execution.is_final" not in first
    assert first["error.type"] == "AssertionError"
    assert second["spanproof.execution.is_final"] is True


def test_planning_is_a_step_with_its_model_call(recorded):
    coder("final_answer(1)", planning_interval=1).run("Go.")
    plan = recorded.named("planning 1")
    assert plan.attributes["spanproof.step.kind"] == "planning"
    assert plan.attributes["gen_ai.operation.name"] == "plan"
    calls = [span for span in recorded.of_kind("LLM") if recorded.parent(span) is plan]
    assert len(calls) == 1


def test_a_planning_model_that_fails_ends_every_span(recorded):
    from .coders import RaisingModel

    with pytest.raises(ConnectionError):
        coder(model=RaisingModel(ConnectionError("away")), planning_interval=1).run("Go.")
    assert recorded.named("planning 1").attributes["error.type"] == "ConnectionError"
    assert recorded.of_kind("AGENT")[0].attributes["spanproof.run.ending"] == "failed"


def test_a_plan_given_up_while_it_streams_ends_its_spans(recorded):
    agent = coder(
        model=StreamingModel([written("final_answer(1)")]), stream_outputs=True, planning_interval=1
    )
    stream = agent.run("Go.", stream=True)
    next(stream)
    stream.close()
    assert sorted(span.name for span in recorded.spans) == [
        "chat scripted-coder",
        "invoke_agent CodeAgent",
        "planning 1",
    ]
    assert {span.status.status_code.name for span in recorded.spans} == {"UNSET"}


def test_a_run_out_of_steps_ends_with_a_forced_answer(recorded):
    coder("print(1)", max_steps=1).run("Go.")
    run, forced = recorded.of_kind("AGENT")[0], recorded.named("final answer 2")
    assert run.attributes["spanproof.run.ending"] == "max_steps"
    assert forced.attributes["spanproof.step.kind"] == "final_answer"
    assert forced.attributes["error.type"] == "AgentMaxStepsError"


def test_steps_of_a_tool_calling_agent_call_tools_in_parallel_under_one_step(recorded):
    model = ToolCallingModel(
        [("cents_of", {"order_id": "A-17"}), ("cents_of", {"order_id": "B-02", "factor": 2})],
        [("final_answer", {"answer": "13500"})],
    )
    agent = ToolCallingAgent(tools=[cents_of], model=model, verbosity_level=LogLevel.OFF)
    assert agent.run("Go.") == "13500"
    calls = [span for span in recorded.of_kind("TOOL") if span.name.endswith("cents_of")]
    assert {recorded.parent(span).name for span in calls} == {"step 1"}
    assert {span.attributes["gen_ai.tool.call.result"] for span in calls} == {"4500", "9000"}
    assert recorded.named("step 2").attributes["spanproof.execution.is_final"] is True
    assert "spanproof.code.source" not in recorded.named("step 1").attributes


class RemoteExecutor(PythonExecutor):
    """An executor of the user's own, which is not local."""

    def __init__(self) -> None:
        self.image_name = "registry/agent:7"
        self._inner = LocalPythonExecutor([])

    def send_tools(self, tools):
        self._inner.send_tools(tools)

    def send_variables(self, variables):
        self._inner.send_variables(variables)

    def __call__(self, code_action):
        return self._inner(code_action)


def test_an_executor_takes_its_code_by_name_too(recorded):
    agent = coder("final_answer(1)")
    agent.run("Go.")
    assert agent.python_executor(code_action="40 + 2").output == 42


def test_an_executor_of_the_users_own_is_seen_as_well(recorded):
    coder("print(40 + 2)", "final_answer(1)", executor=RemoteExecutor()).run("Go.")
    step = recorded.named("step 1").attributes
    assert step["spanproof.executor.type"] == "RemoteExecutor"
    assert step["spanproof.executor.image.name"] == "registry/agent:7"
    assert step["spanproof.execution.logs"] == "42\n"


def test_variables_across_steps_are_not_disturbed(recorded):
    assert coder("total = 40", "total += 2", "final_answer(total)").run("Go.") == 42
    outputs = [span.attributes["spanproof.execution.output"] for span in recorded.of_kind("CHAIN")]
    assert [json.loads(output) for output in outputs] == [40, 42, 42]


def test_code_longer_than_a_values_limit_is_kept_whole(recorded):
    long = "\n".join(f"value_{number} = {number}" for number in range(8000))
    coder(long, "final_answer(1)", tools=()).run("Go.")
    step = recorded.named("step 1").attributes
    assert step["spanproof.code.source"] == long
    assert "spanproof.code.source" not in step.get("spanproof.content.truncated", ())


def test_the_shared_tools_are_left_as_they_were(recorded):
    assert echo("x") == "x"


def test_a_step_reports_the_tokens_of_its_model_call_under_a_name_of_its_own(recorded):
    coder("0", "1", "final_answer(2)", planning_interval=5).run("Go.")
    steps = [span.attributes for span in recorded.of_kind("CHAIN")]
    assert [step["spanproof.step.kind"] for step in steps] == ["planning", "action", "action"]
    for step in steps:
        assert (step["spanproof.step.input_tokens"], step["spanproof.step.output_tokens"]) == (11, 5)
        assert not [name for name in step if name.startswith(("gen_ai.usage.", "llm.token_count."))]
