"""The table of producers: it says what their recordings hold, and the page has its rows."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.trace import Span, SpanKind, trace_of
from spanproof.trace.dialects import read_traces
from spanproof.trace.otlp import read_file
from spanproof.trace.producers import Extent, Part, Producer, find_producer, list_unrecorded, load_producers

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
RECORDED = [
    (producer, path)
    for producer in load_producers()
    for path in (GOLDEN / folder / f"{producer.source}.json" for folder in ("dialects", "frameworks"))
    if path.exists()
]


def list_shown(producer: Producer, path: Path) -> set[Part]:
    """Return the parts of a run that the spans of a producer hold in a recording."""
    shown: set[Part] = set()
    for trace in read_traces(read_file(path)):
        ran = {snippet.span_id for snippet in list_snippets(trace) if snippet.executed}
        for span in trace.spans:
            if find_producer(span.scope, span.scope_version) is producer:
                shown |= set(Part) - list_absent(span, ran)
    return shown


def list_absent(span: Span, ran: set[str]) -> set[Part]:
    """Return the parts that a span does not hold."""
    is_tool, is_model_call = span.kind is SpanKind.TOOL, span.kind is SpanKind.LLM
    held = {
        Part.MODEL_CALLS: is_model_call and bool(span.input_messages or span.output_messages),
        Part.TOOL_CALLS: is_tool,
        Part.ARGUMENTS: span.tool is not None and span.tool.arguments is not None,
        Part.RESULTS: is_tool and span.output is not None,
        Part.CODE: span.span_id in ran,
        Part.OBSERVATIONS: span.observation is not None
        or any(message.role == "tool" for message in span.input_messages),
        Part.ERRORS: span.error is not None,
    }
    return {part for part, is_held in held.items() if not is_held}


@pytest.mark.parametrize(("producer", "path"), RECORDED, ids=[producer.name for producer, _ in RECORDED])
def test_a_recording_holds_nothing_that_the_table_denies(producer: Producer, path: Path) -> None:
    denied = {part for part, extent in producer.records.items() if extent is Extent.NO}
    assert not list_shown(producer, path) & denied


@pytest.mark.parametrize(("producer", "path"), RECORDED, ids=[producer.name for producer, _ in RECORDED])
def test_a_recording_holds_what_the_table_promises(producer: Producer, path: Path) -> None:
    promised = {part for part, extent in producer.records.items() if extent is Extent.YES}
    # Stories in which nothing fails, or no code runs, cannot show these.
    assert promised - list_shown(producer, path) <= {Part.ERRORS, Part.CODE}


def make_span(scope: str, version: str = "", kind: SpanKind = SpanKind.AGENT, span_id: str = "a") -> Span:
    parent = None if span_id == "a" else "a"
    return Span("t", span_id, parent, "span", kind, 1, 2, scope=scope, scope_version=version)


SMOLAGENTS = "opentelemetry.instrumentation.genai.smolagents"
OPENAI = "opentelemetry.instrumentation.genai.openai"


def test_what_no_producer_of_a_trace_writes_is_not_recorded() -> None:
    assert Part.TOOL_CALLS in list_unrecorded([make_span(SMOLAGENTS, "1.2b0")])


def test_another_producer_of_the_trace_may_write_what_one_leaves_out() -> None:
    missing = list_unrecorded([make_span(SMOLAGENTS), make_span(OPENAI, kind=SpanKind.LLM, span_id="b")])
    assert Part.TOOL_CALLS not in missing


def test_a_version_that_the_table_does_not_cover_says_nothing() -> None:
    assert not list_unrecorded([make_span(SMOLAGENTS, "2.0")])


def test_what_a_span_shows_is_learned_from_the_trace() -> None:
    spans = [make_span(SMOLAGENTS), make_span(SMOLAGENTS, kind=SpanKind.TOOL, span_id="b")]
    assert Part.TOOL_CALLS not in list_unrecorded(spans)


def test_some_of_a_part_does_not_show_the_whole() -> None:
    assert Part.TOOL_CALLS in list_unrecorded([make_span("mcp-python-sdk", kind=SpanKind.TOOL)])


def test_a_producer_without_a_row_says_nothing() -> None:
    assert not list_unrecorded([make_span("my.own.scope")])
    assert trace_of([make_span("my.own.scope")]).spans[0].scope_version == ""


def read_page_rows() -> dict[str, list[str]]:
    """Return the cells of the page's table of producers, by producer."""
    page = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    lines = takewhile(bool, page[page.index("| producer |") :].splitlines()[2:])
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {row[0]: row[1:] for row in rows}


def test_the_page_has_the_rows_of_the_table() -> None:
    words = {Extent.YES: "yes", Extent.MESSAGES: "in messages", Extent.PART: "part", Extent.NO: "–"}
    rows = {
        producer.name: [*(words[extent] for extent in producer.records.values()), producer.note]
        for producer in load_producers()
    }
    assert read_page_rows() == rows
