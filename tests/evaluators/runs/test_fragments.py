"""Traces that are parts of one run are reported with how to join them; turns of a conversation are not."""

from __future__ import annotations

from spanproof.evaluators.runs.fragments import list_split_runs
from spanproof.trace import Span, SpanKind, trace_of

TALK = {"gen_ai.conversation.id": "c-7"}


def make_trace(name, *spans, attributes=TALK):
    """Return a trace of (kind, start, end), the first span its root."""
    return trace_of(
        Span(
            name,
            f"{name}{number}",
            f"{name}0" if number else None,
            "x",
            kind,
            start,
            end,
            attributes=attributes,
        )
        for number, (kind, start, end) in enumerate(spans)
    )


AGENT = make_trace("a", (SpanKind.AGENT, 0, 100), (SpanKind.LLM, 1, 20))


def test_calls_of_tools_beside_their_agent_are_parts_of_its_run():
    tools = make_trace("b", (SpanKind.TOOL, 30, 40))
    (split,) = list_split_runs([tools, AGENT])
    assert (split.conversation, split.trace_ids, split.fragments) == ("c-7", ("a", "b"), 1)


def test_model_calls_within_an_agents_time_are_parts_of_its_run():
    (split,) = list_split_runs([AGENT, make_trace("b", (SpanKind.LLM, 30, 40))])
    assert split.fragments == 1


def test_tools_beside_model_calls_are_parts_of_one_run_without_any_agent():
    model, tool = make_trace("a", (SpanKind.LLM, 0, 9)), make_trace("b", (SpanKind.TOOL, 10, 20))
    (split,) = list_split_runs([model, tool])
    assert split.trace_ids == ("a", "b")


def test_turns_of_a_conversation_are_runs_of_their_own():
    later = make_trace("b", (SpanKind.AGENT, 200, 300), (SpanKind.TOOL, 210, 220))
    assert not list_split_runs([AGENT, later])
    assert not list_split_runs(
        [make_trace("a", (SpanKind.LLM, 0, 9)), make_trace("b", (SpanKind.LLM, 20, 30))]
    )


def test_traces_of_different_conversations_or_of_none_have_nothing_to_do_with_each_other():
    tool = [(SpanKind.TOOL, 30, 40)]
    assert not list_split_runs([AGENT, make_trace("b", *tool, attributes={"session.id": "c-8"})])
    assert not list_split_runs([AGENT, make_trace("b", *tool, attributes={})])
