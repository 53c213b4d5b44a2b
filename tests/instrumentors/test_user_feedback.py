"""feedback(): given long after the run, in a trace of its own that names the run's."""

import pytest
from opentelemetry.trace import format_span_id, format_trace_id

from spanproof.instrumentors import ContentPolicy, feedback, trace
from spanproof.instrumentors.user_feedback import FEEDBACK_KINDS

from .coders import coder


@pytest.fixture
def run(recorded):
    trace.configure(recorded.provider)
    coder("final_answer(1)").run("Go.")
    yield recorded.of_kind("AGENT")[0]
    trace.configure()


@pytest.mark.parametrize("kind", FEEDBACK_KINDS)
def test_feedback_names_the_trace_and_is_no_part_of_it(recorded, run, kind):
    feedback(format_trace_id(run.context.trace_id), kind)
    span = recorded.named("feedback")
    assert span.attributes["spanproof.feedback.kind"] == kind
    assert span.attributes["spanproof.feedback.trace_id"] == format_trace_id(run.context.trace_id)
    assert span.context.trace_id != run.context.trace_id
    assert span.parent is None


def test_a_run_that_is_named_is_linked_to(recorded, run):
    feedback(run.context.trace_id, "thumbs_down", span_id=run.context.span_id, comment="wrong total")
    span = recorded.named("feedback")
    assert [(link.context.trace_id, link.context.span_id) for link in span.links] == [
        (run.context.trace_id, run.context.span_id)
    ]
    assert span.attributes["spanproof.feedback.span_id"] == format_span_id(run.context.span_id)
    assert span.attributes["spanproof.feedback.comment"] == "wrong total"


def test_a_comment_is_content(recorded, run):
    trace.configure(recorded.provider, ContentPolicy(capture=False))
    feedback(run.context.trace_id, "escalation", comment="call me under 555")
    assert "spanproof.feedback.comment" not in recorded.named("feedback").attributes


def test_a_block_reports_the_id_of_its_trace(recorded, run):
    with trace.step("request") as block:
        reported = block.trace_id
    assert reported == block.trace_id == format_trace_id(recorded.named("request").context.trace_id)
    assert trace.step("not begun").trace_id is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("0" * 31 + "1", "applause"), "choose from thumbs_up, thumbs_down, rerun, revert, escalation"),
        (("abc", "rerun"), "give 32 hexadecimal digits"),
        (("g" * 32, "rerun"), "give 32 hexadecimal digits"),
        ((0, "rerun"), "trace_id=0 is no id"),
        (("0" * 32, "rerun"), "not all 0"),
    ],
)
def test_a_wrong_argument_is_reported_with_its_remedy(arguments, message):
    with pytest.raises(ValueError, match=message):
        feedback(*arguments)
