"""What every sink promises, held against each product's API on loopback."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from waiting import wait_until

from spanproof.collector.sinks import lane, sender
from spanproof.collector.sinks.products import ADAPTERS, open_client
from spanproof.collector.sinks.sender import Sinks
from spanproof.collector.telemetry import Telemetry
from spanproof.config.sinks import Sink
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.trace import (
    Cause,
    Cohort,
    Errored,
    Label,
    Layer,
    Outcome,
    Run,
    Score,
    Scored,
    Skipped,
    Span,
    trace_of,
)
from spanproof.trace.model import SpanKind

from .products import PRODUCTS, Product, listening

TRACE = f"{0xA1:032x}"
FIRST, SECOND = f"{0xB1:016x}", f"{0xB2:016x}"
GOOD, BAD = Scored(0.9375, Label.PASS, "it holds"), Scored(0.25, Label.FAIL, "line 3 é \ud800 does not hold")


def score(outcome: Outcome, layer: Layer = Layer.BOUNDARY, span_id: str = FIRST, name: str = "") -> Score:
    return Score(
        id=f"{abs(hash((layer, span_id, name, str(outcome)))):032x}",
        trace_id=TRACE,
        run_span_id=FIRST,
        span_id=span_id,
        snippet_id=None,
        layer=layer,
        name=name or layer.value,
        evaluator=f"spanproof.{layer.value}",
        version="1",
        outcome=outcome,
        cohort=Cohort(agent="a", service="shop"),
        span_time_ns=1_760_000_000_123_456_789,
        input_digest="d",
    )


def evaluation(*scores: Score) -> TraceEvaluation:
    span = Span(
        trace_id=TRACE, span_id=FIRST, parent_id=None, name="run", kind=SpanKind.AGENT, start_ns=1, end_ns=2
    )
    run = Run(
        trace_id=TRACE, span_id=FIRST, name="run", task=None, answer=None, steps=(), start_ns=1, end_ns=2
    )
    return TraceEvaluation(trace_of([span]), (RunEvaluation(run, {}, NoReplay("none"), scores),), ())


@dataclass
class Connected:
    """Sinks that send to a product, and what they count."""

    product: Product
    sinks: Sinks
    telemetry: Telemetry

    def counted(self, outcome: str) -> float:
        labels = {"sink": self.product.kind, "outcome": outcome}
        return self.telemetry.registry.get_sample_value("spanproof_sink_scores_total", labels) or 0.0

    def waiting(self) -> float:
        name = "spanproof_sink_waiting_scores"
        return self.telemetry.registry.get_sample_value(name, {"sink": self.product.kind}) or 0.0

    def send(self, *scores: Score) -> None:
        """Have these taken, all of them."""
        self.sinks.keep([evaluation(*scores)])
        wait_until(lambda: self.waiting() == 0, "everything is sent")


def _kind(product: type[Product]) -> str:
    return product.kind


WITH_SPANS = [each for each in PRODUCTS if each.kind != "otlp"]
"""Products that join a score to a span; an event needs none."""


@pytest.fixture(params=PRODUCTS, ids=_kind)
def product(request: pytest.FixtureRequest) -> Product:
    made: Product = request.param()
    made.spans = {FIRST: TRACE, SECOND: TRACE}
    return made


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses are as long as they must be to be pauses."""
    for name in ("_LONGEST_PAUSE_S", "_LATE_FIRST_S", "_LATE_LONGEST_S"):
        monkeypatch.setattr(sender, name, 0.02)
    for name in ("_FIRST_PAUSE_S", "_LOOK_EVERY_S"):
        monkeypatch.setattr(lane, name, 0.02)


@contextmanager
def connected(product: Product, tmp_path: Path, **more: object) -> Iterator[Connected]:
    with listening(product) as url:
        given = {
            "kind": product.kind,
            "url": url,
            "key": "secret",
            "timeout_s": 60,
            **product.settings,
            **more,
        }
        if product.kind == "otlp":
            given["headers"] = {"authorization": "Bearer secret"}
        telemetry = Telemetry()
        sinks = Sinks([Sink.model_validate(given)], tmp_path / "sinks", telemetry)
        sinks.start()
        try:
            yield Connected(product, sinks, telemetry)
        finally:
            sinks.drain(60)


NAME = "spanproof.boundary"


def test_by_default_the_layers_of_the_run_are_shown_and_nothing_else(product, tmp_path) -> None:
    with connected(product, tmp_path) as there:
        there.send(score(GOOD), score(BAD, Layer.EXECUTION, SECOND), score(BAD, name="scan"))
        assert product.shown() == {(FIRST, NAME): 0.9375}
        assert there.counted("sent") == 1


def test_layers_of_steps_are_shown_on_their_spans_where_they_are_wanted(product, tmp_path) -> None:
    with connected(product, tmp_path, scores="steps") as there:
        there.send(score(GOOD), score(BAD, Layer.EXECUTION, SECOND), score(BAD, name="scan"))
        assert product.shown() == {(FIRST, NAME): 0.9375, (SECOND, "spanproof.execution"): 0.25}
        assert there.counted("sent") == 2


def test_an_open_verdict_is_never_a_number_and_never_a_pass(product, tmp_path) -> None:
    with connected(product, tmp_path, scores="steps") as there:
        unsettled = Scored(0.5, None, "45.00 is in no output", cause=Cause.VALUE_NOT_FOUND)
        there.send(score(unsettled), score(GOOD, Layer.EXECUTION, SECOND))
        shown = product.shown()
        assert shown.pop((SECOND, "spanproof.execution")) == 0.9375
        assert set(shown.values()) <= {None}


def test_sub_scores_are_shown_where_they_are_wanted(product, tmp_path) -> None:
    steps = Scored(0.5, None, "7 steps", raw=0.75, unit="steps")
    with connected(product, tmp_path, scores="all") as there:
        there.send(score(GOOD), score(BAD, name="scan"), score(steps, Layer.TRAJECTORY, name="steps"))
        names = {name for _, name in product.shown()}
        assert names == {NAME, "spanproof.boundary.scan", "spanproof.trajectory.steps"}


def test_what_is_evaluated_again_is_shown_once_with_its_new_value(product, tmp_path) -> None:
    with connected(product, tmp_path) as there:
        there.send(score(GOOD))
        before = len(product.requests)
        there.send(score(GOOD))
        assert len(product.requests) == before, "nothing new, nothing sent"
        there.send(replace(score(BAD), id="f" * 32, input_digest="other"))
        assert product.shown() == {(FIRST, NAME): 0.25}


def test_no_value_is_shown_for_what_was_not_judged(product, tmp_path) -> None:
    with connected(product, tmp_path) as there:
        there.send(score(Skipped("no code")), score(Errored("ValueError", "broken"), Layer.EXECUTION))
        expected = {(FIRST, "spanproof.execution"): None} if product.shows_errors else {}
        assert product.shown() == expected


def test_a_score_that_a_later_evaluation_lacks_is_withdrawn(product, tmp_path) -> None:
    with connected(product, tmp_path) as there:
        there.send(score(GOOD), score(GOOD, Layer.EXECUTION))
        there.send(score(Skipped("the code is gone")))
        values = set(product.shown().values())
        # Datadog has no way to take a value back.
        assert values == ({0.9375} if product.kind == "datadog" else values & {None})
        there.send(score(BAD))
        assert product.shown()[FIRST, NAME] == 0.25


def test_a_product_that_is_down_gets_everything_later(product, tmp_path) -> None:
    product.trouble = [(503, {}), (429, {"retry-after": "0"}), (500, {}), (401, {}), (403, {})]
    with connected(product, tmp_path) as there:
        there.send(score(GOOD), score(BAD, Layer.EXECUTION))
        assert len(product.shown()) == 2
        assert there.counted("retried") == 5
        assert there.counted("refused") == 0


@pytest.mark.parametrize("product", WITH_SPANS, ids=_kind, indirect=True)
def test_a_score_waits_for_a_span_that_comes_late_and_holds_up_no_other(product, tmp_path) -> None:
    product.spans = {FIRST: TRACE}
    late = f"{0xA2:032x}"
    # In MLflow a trace is there or not, in the others a span.
    other = replace(score(BAD, Layer.EXECUTION, SECOND), trace_id=late)
    with connected(product, tmp_path, scores="steps") as there:
        there.sinks.keep([evaluation(other, score(GOOD))])
        wait_until(lambda: there.counted("postponed") >= 2, "it was tried twice")
        assert product.shown() == {(FIRST, NAME): 0.9375}
        product.spans[SECOND] = late
        wait_until(lambda: there.waiting() == 0, "it is sent")
        assert product.shown()[SECOND, "spanproof.execution"] == 0.25


@pytest.mark.parametrize("product", WITH_SPANS, ids=_kind, indirect=True)
def test_what_never_comes_is_given_up_in_the_end(product, tmp_path) -> None:
    product.spans = {}
    with connected(product, tmp_path, keep_for_s=0.001) as there:
        there.sinks.keep([evaluation(score(GOOD))])
        wait_until(lambda: there.counted("expired") == 1, "it is given up")
        assert there.waiting() == 0


def test_a_score_that_is_refused_costs_no_other(product, tmp_path) -> None:
    product.refused_spans = {SECOND}
    with connected(product, tmp_path, scores="steps") as there:
        there.send(score(BAD, Layer.EXECUTION, SECOND), *(score(GOOD, layer) for layer in Layer))
        assert {span for span, _ in product.shown()} == {FIRST}
        assert len(product.shown()) == len(Layer)
        assert there.counted("refused") == 1


def test_what_a_crash_cut_off_is_sent_once(product, tmp_path) -> None:
    """The product took it, and the process ended before it was noted."""
    with connected(product, tmp_path) as there:
        there.send(score(GOOD))
    path = tmp_path / "sinks" / f"{product.kind}.sqlite3"
    with sqlite3.connect(path) as db:
        db.execute("UPDATE items SET state = 0, was_sent = 0")
    db.close()
    before = len(product.requests)
    with connected(product, tmp_path) as there:
        wait_until(lambda: there.waiting() == 0, "it is sent again")
        assert len(product.requests) > before
    assert list(product.shown().values()) == [0.9375]
    assert len(product.kept) == 1


def test_what_waits_survives_the_process(product, tmp_path) -> None:
    product.trouble = [(503, {"retry-after": "3600"})]
    with connected(product, tmp_path) as there:
        there.sinks.keep([evaluation(score(GOOD))])
        wait_until(lambda: there.counted("retried") == 1, "it was tried")
        assert product.shown() == {}
    with connected(product, tmp_path) as there:
        wait_until(lambda: there.waiting() == 0, "it is sent")
    assert product.shown() == {(FIRST, NAME): 0.9375}


def test_a_full_queue_drops_and_counts(product, tmp_path) -> None:
    product.trouble = [(503, {"retry-after": "3600"})]
    with connected(product, tmp_path, max_waiting=2) as there:
        there.sinks.keep([evaluation(*(score(GOOD, layer) for layer in Layer))])
        assert there.counted("dropped") == 3


def test_a_check_says_what_answers(product) -> None:
    with listening(product) as url:
        headers = {"authorization": "Bearer secret"} if product.kind == "otlp" else {}
        given = {"kind": product.kind, "url": url, "key": "secret", "headers": headers, **product.settings}
        sink = Sink.model_validate(given)
        with open_client(sink) as client:
            assert ADAPTERS[sink.kind](sink).fetch_status(client)
