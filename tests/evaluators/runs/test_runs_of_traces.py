from dataclasses import replace

import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.trace import (
    Ending,
    ExecutedCode,
    Executor,
    Message,
    Payload,
    SpanError,
    SpanKind,
    StepInfo,
    Usage,
    trace_of,
)

ASK = Message("user", "What do three boxes cost?")


def _runs(built):
    return list_runs(built, list_snippets(built))


def test_each_agent_is_a_run_and_a_called_one_names_its_caller(trace):
    outer = trace.agent("manager")
    step = trace.step(outer)
    inner = trace.agent("clerk", under=step)
    trace.tool("price", {"n": 3}, 36, under=inner)
    trace.tool("report", {}, "ok", under=outer)
    manager, clerk = _runs(trace.build())
    assert (manager.span_id, manager.parent_span_id) == (outer, None)
    assert (clerk.span_id, clerk.parent_span_id) == (inner, outer)
    assert [call.tool for one in manager.steps for call in one.calls] == ["report"]
    assert [call.tool for one in clerk.steps for call in one.calls] == ["price"]


def test_a_second_span_for_the_same_agent_is_no_run_of_its_own(trace):
    outer = trace.agent("clerk")
    inner = trace.agent("clerk", under=outer)
    trace.tool("price", {"n": 3}, 36, under=inner)
    (run,) = _runs(trace.build())
    assert (run.span_id, len(run.steps)) == (outer, 1)


def test_an_agent_that_calls_itself_is_two_runs(trace):
    outer = trace.agent("clerk")
    trace.says("I ask myself.", under=outer)
    trace.agent("clerk", under=outer)
    assert len(_runs(trace.build())) == 2


def test_a_handoff_links_the_run_that_took_over_and_gives_it_the_task(trace, call):
    root = trace.add(SpanKind.CHAIN, "workflow", end_ns=10**6)
    first = trace.add(SpanKind.AGENT, "triage", root, agent="triage", end_ns=45)
    trace.says("", call("transfer_to_prices", {}, "c"), under=first, input_messages=(ASK,))
    second = trace.add(SpanKind.AGENT, "prices", root, agent="prices", start_ns=50, end_ns=90)
    one, two = _runs(trace.build())
    assert (one.parent_span_id, two.span_id, two.parent_span_id) == (None, second, first)
    assert two.task == ASK.text


def test_a_trace_without_agents_is_one_run_over_its_root(trace):
    root = trace.add(SpanKind.OTHER, "request", end_ns=10**6)
    trace.says("36", under=root, input_messages=(ASK,))
    (run,) = _runs(trace.build())
    assert (run.span_id, run.task, run.answer.text) == (root, ASK.text, "36")


def test_independent_chains_under_one_plain_span_are_a_run_each(trace):
    root = trace.add(SpanKind.OTHER, "request", end_ns=10**6)
    for number in range(3):
        chain = trace.add(SpanKind.CHAIN, "sequence", root, end_ns=10**5)
        trace.says(str(number), under=chain, input_messages=(ASK,))
    assert [run.answer.text for run in _runs(trace.build())] == ["0", "1", "2"]


def test_chains_nested_by_mistake_are_known_by_outliving_the_one_above(trace):
    root = trace.add(SpanKind.OTHER, "request", end_ns=10**6)
    first = trace.add(SpanKind.CHAIN, "sequence", root, end_ns=1000)
    second = trace.add(SpanKind.CHAIN, "sequence", first, end_ns=1001)
    trace.says("0", under=first)
    trace.says("1", under=second)
    runs = _runs(trace.build())
    assert [(run.answer.text, run.parent_span_id) for run in runs] == [("0", None), ("1", None)]


def test_numbered_steps_are_the_steps_with_planning_and_final_answer_between(trace):
    agent = trace.agent(output=Payload("36", "36"))
    trace.says("First look, then answer.", under=agent)
    for number in (1, 2):
        step = trace.step(agent, step=StepInfo(number), observation=f"seen {number}")
        trace.says("look", under=step, usage=Usage(10, 2))
    trace.says("36", under=agent)
    (run,) = _runs(trace.build())
    assert [step.kind for step in run.steps] == ["planning", "action", "action", "final_answer"]
    assert [step.number for step in run.steps] == [1, 2, 3, 4]
    assert [step.observation for step in run.steps[1:3]] == ["seen 1", "seen 2"]
    assert [step.is_final for step in run.steps] == [False, False, False, True]


def test_a_step_is_a_model_call_with_the_tools_that_follow_it(trace, call):
    agent = trace.agent()
    trace.says("", call("price", {"n": 3}, "a"), call("stock", {}, "b"), under=agent)
    trace.tool("price", {"n": 3}, 36, under=agent)
    trace.tool("stock", {}, under=agent, error=SpanError("KeyError", "9"))
    trace.says("36 euros", under=agent)
    (run,) = _runs(trace.build())
    first, last = run.steps
    assert [one.name for one in first.requested] == ["price", "stock"]
    assert [one.tool for one in first.calls] == ["price", "stock"]
    assert (first.observation, first.error.type, first.is_final) == ("36", "KeyError", False)
    assert (last.text, last.is_final, run.answer.text) == ("36 euros", True, "36 euros")


def test_a_run_without_model_calls_has_a_step_per_tool_call(trace):
    agent = trace.agent()
    trace.tool("price", {"n": 3}, 36, under=agent)
    trace.tool("run_python", {"code": "print(36)"}, "36\n", under=agent)
    (run,) = _runs(trace.build())
    assert [step.calls[0].tool for step in run.steps] == ["price", "run_python"]
    assert [snippet.source for snippet in run.snippets] == ["print(36)"]
    assert run.answer is None


def test_snippets_stand_in_the_step_that_ran_them_executed_first(trace):
    agent = trace.agent()
    step = trace.step(
        agent, step=StepInfo(1), code=ExecutedCode("x = f(1)", "spanproof.code.source", "python")
    )
    trace.says("```python\ny = g(2)\n```\n```python\nx = f(1)\n```", under=step)
    (run,) = _runs(trace.build())
    (only,) = run.steps
    assert [(snippet.source, snippet.executed) for snippet in only.snippets] == [
        ("x = f(1)", True),
        ("y = g(2)", False),
    ]


def test_hosted_calls_are_calls_and_do_not_keep_the_answer_back(trace, call):
    agent = trace.agent()
    answer = (Message("tool", "36", (), "ci"), Message("assistant", "36 euros"))
    trace.says("", call("code_interpreter", {"code": "print(36)"}, "ci"), under=agent, then=answer)
    (run,) = _runs(trace.build())
    (step,) = run.steps
    assert [(one.tool, one.result.text) for one in step.calls] == [("code_interpreter", "36")]
    assert (run.answer.text, step.is_final) == ("36 euros", True)


def test_the_answer_is_what_final_answer_was_given_not_the_printed_stream(trace):
    agent = trace.agent(output=Payload("ToolCall(...)ActionOutput(...)", "ToolCall(...)ActionOutput(...)"))
    step = trace.step(agent, step=StepInfo(1))
    trace.tool("final_answer", [4500], 4500, under=step)
    (run,) = _runs(trace.build())
    assert (run.answer.value, run.steps[0].is_final) == (4500, True)


def test_no_answer_where_the_model_stopped_for_tools(trace, call):
    agent = trace.agent()
    trace.says("I look it up.", call("price", {}, "c"), under=agent)
    (run,) = _runs(trace.build())
    assert (run.answer, run.ending) == (None, Ending.UNKNOWN)


@pytest.mark.parametrize(
    ("fields", "ending"),
    [
        ({"output": Payload("36", "36")}, Ending.ANSWERED),
        ({"attributes": {"spanproof.run.ending": "max_steps"}}, Ending.MAX_STEPS),
        ({"attributes": {"spanproof.run.ending": "tired"}}, Ending.UNKNOWN),
        ({"error": SpanError("MaxTurnsExceeded", "10")}, Ending.MAX_STEPS),
        ({"error": SpanError("ValueError", "no model")}, Ending.FAILED),
        ({"attributes": {"smolagents.max_steps": 2}, "output": Payload("?", "?")}, Ending.MAX_STEPS),
        ({"attributes": {"smolagents.max_steps": 3}, "output": Payload("?", "?")}, Ending.ANSWERED),
    ],
)
def test_how_a_run_ended(trace, fields, ending):
    agent = trace.agent(**fields)
    for number in (1, 2):
        trace.step(agent, step=StepInfo(number))
    (run,) = _runs(trace.build())
    assert run.ending is ending


def test_hidden_and_cut_content_shows_on_the_run(trace):
    agent = trace.agent()
    trace.tool("run_python", None, under=agent, hidden=True)
    trace.tool("price", {"n": 3}, 36, under=agent, truncated=True)
    (run,) = _runs(trace.build())
    assert (run.hidden, run.truncated) == (True, True)


def test_usage_counts_the_inner_of_two_calls(trace):
    agent = trace.agent()
    outer = trace.says("36", under=agent, usage=Usage(10, 2), end_ns=100)
    trace.says("36", under=outer, usage=Usage(10, 2))
    (run,) = _runs(trace.build())
    assert (run.usage, len(run.steps)) == (Usage(10, 2), 1)


def test_a_runs_cohort_comes_from_its_spans_and_resource(trace):
    agent = trace.agent(
        attributes={"spanproof.cohort.task": "prices", "spanproof.cohort.prompt_version": "7"}
    )
    executor = Executor("docker", image_name="agents:1")
    step = trace.step(
        agent, code=ExecutedCode("x = f(1)", "spanproof.code.source", "python", executor=executor)
    )
    trace.says("look", under=step, model="m-1")
    resource = {"service.name": "shop", "service.version": "2.1", "openinference.project.name": "boxes"}
    built = trace_of([replace(span, resource=resource) for span in trace.build().spans])
    (run,) = _runs(built)
    cohort = run.cohort
    assert (cohort.project, cohort.service, cohort.release) == ("boxes", "shop", "2.1")
    assert (cohort.agent, cohort.model, cohort.language) == ("clerk", "m-1", "python")
    assert (cohort.task, cohort.prompt_version, cohort.executor) == ("prices", "7", "docker:agents:1")


def test_a_failed_step_shows_what_the_next_call_says_the_agent_saw(trace):
    agent = trace.agent()
    error = SpanError("AgentToolCallError", "bad argument")
    trace.add(SpanKind.CHAIN, "step", agent, step=StepInfo(1), error=error)
    second = trace.step(agent, step=StepInfo(2))
    trace.says("Again.", under=second, input_messages=(ASK, Message("tool", "Error: bad argument")))
    (run,) = _runs(trace.build())
    assert run.steps[0].observation == "Error: bad argument"


def test_code_whose_parent_is_missing_is_a_run_of_its_own_beside_the_agents(trace):
    trace.agent(output=Payload("36", "36"))
    lost = trace.tool("run_python", {"code": "print(6 * 6)"}, "36", under="missing")
    beside = trace.tool("price", {"n": 3}, 36, under="missing too")
    runs = _runs(trace.build())
    assert [run.span_id for run in runs if run.snippets] == [lost]
    assert beside not in {run.span_id for run in runs}


def test_a_request_without_an_agents_work_is_no_run(trace):
    root = trace.add(SpanKind.OTHER, "GET /boxes", end_ns=100)
    trace.add(SpanKind.OTHER, "db.query", root)
    assert _runs(trace.build()) == []


def test_a_stray_tool_span_is_a_run_without_a_task(trace):
    trace.tool("price", {"n": 3}, 36, input=Payload('{"n": 3}', {"n": 3}))
    (run,) = _runs(trace.build())
    assert (run.task, run.answer, [call.tool for call in run.steps[0].calls]) == (None, None, ["price"])


def test_an_agent_called_within_a_step_is_one_of_its_calls(trace):
    agent = trace.agent("manager")
    step = trace.step(agent, step=StepInfo(1))
    inner = trace.agent("clerk", under=step, output=Payload("36", "36"))
    trace.tool("price", {"n": 3}, 36, under=inner)
    manager, _ = _runs(trace.build())
    (call,) = manager.steps[0].calls
    assert (call.tool, call.result.text, call.replayable) == ("clerk", "36", False)


def test_calls_made_by_code_given_to_a_tool_are_calls_of_the_step(trace):
    agent = trace.agent()
    outer = trace.tool("run_python", {"code": "print(price(3))"}, "36", under=agent)
    trace.tool("price", [3], 36, under=outer)
    (run,) = _runs(trace.build())
    assert [call.tool for call in run.steps[0].calls] == ["run_python", "price"]


def test_a_broken_trace_is_still_read_as_far_as_it_goes(trace):
    agent = trace.agent(under="missing")
    trace.tool("price", {"n": 3}, 36, under=agent)
    trace.tool("price", {"n": 4}, 48, under="gone")
    (run,) = _runs(trace.build())
    assert [call.kwargs for step in run.steps for call in step.calls] == [{"n": 3}]
