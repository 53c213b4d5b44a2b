from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import Replay, ReplayedStep, TraceEvaluation
from spanproof.failures import Failure, build_explanation
from spanproof.failures.extract import list_failures
from spanproof.failures.targets import classify_host, classify_path
from spanproof.sandbox import Attempt, AttemptKind, Execution, FailureClass
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    ExecutedCode,
    Label,
    Layer,
    Payload,
    Scored,
    Span,
    SpanError,
    SpanKind,
    StepInfo,
    ToolCall,
    trace_of,
)

TRACE, RUN = "7" * 32, "a" * 16
TASK = "What is the total of order 12?"


def span(number: int, kind: SpanKind, name: str, **more: Any) -> Span:
    at = 1_790_000_000_000_000_000 + number * 1_000_000
    parent = None if number == 0 else RUN
    span_id = RUN if number == 0 else f"{number:016x}"
    return Span(TRACE, span_id, parent, name, kind, at, at + 900_000, "spanproof", **more)


def code(number: int, source: str, error: SpanError | None = None, printed: str | None = None) -> Span:
    return span(
        number, SpanKind.CHAIN, f"Step {number}", step=StepInfo(number),
        code=ExecutedCode(source, "spanproof.code.source", "python", logs=printed), error=error,
    )  # fmt: skip


def evaluated(
    steps: Sequence[Span], answer: str | None = None, error: SpanError | None = None
) -> TraceEvaluation:
    root = span(
        0, SpanKind.AGENT, "agent", agent="agent", input=Payload(TASK, TASK), error=error,
        output=Payload(answer, answer) if answer is not None else None,
    )  # fmt: skip
    return Engine(pipeline=Pipeline(), sandbox=None).evaluate(trace_of([root, *steps]))


def names(found: Sequence[Failure]) -> list[tuple[str, str, str]]:
    return [(each.signature.layer.value, each.signature.cause, each.signature.subject) for each in found]


def test_a_run_that_passes_has_no_failure():
    assert list_failures(evaluated([code(1, "print(45)", printed="45\n")], "The total is 45.")) == []


def test_code_that_raised_is_one_failure_of_all_layers_that_fail_for_it():
    found = list_failures(evaluated([code(1, "rows[9]", SpanError("IndexError", "list index out of range"))]))
    assert names(found) == [("execution", "index", "")]
    assert found[0].sample == "IndexError: list index out of range"
    assert found[0].span_id == f"{1:016x}"


def test_what_follows_from_the_first_mistake_is_no_failure_of_its_own():
    undefined = SpanError("NameError", "name 'rows' is not defined")
    steps = [
        code(1, "rows = load()", SpanError("RuntimeError", "HTTP 403 from crm")),
        *(code(number, "print(rows)", undefined) for number in range(2, 7)),
    ]
    (found,) = list_failures(evaluated(steps))
    assert (found.signature.cause, found.span_id) == ("http-403", f"{1:016x}")


def test_a_mistake_that_was_mended_is_not_the_cause_of_a_wrong_answer():
    steps = [
        code(1, "print(orders[0]['sum'])", SpanError("KeyError", "'sum'")),
        code(2, "print(orders[0]['total'])", printed="total: $45.00\n"),
    ]
    (found,) = list_failures(evaluated(steps, "The total of order 12 is $54.00."))
    assert found.signature.layer is Layer.GROUNDEDNESS


def test_a_tool_that_raised_is_named():
    call = span(
        1, SpanKind.TOOL, "orders", tool=ToolCall("orders", {"id": 12}),
        error=SpanError("OrderNotFound", "no order 12 for customer Ada Lovelace"),
    )  # fmt: skip
    (found,) = [each for each in list_failures(evaluated([call])) if each.signature.layer is Layer.EXECUTION]
    assert found.signature.subject == "orders"
    assert (
        build_explanation(found.signature).name
        == "OrderNotFound: no order <value> for customer <value> (tool orders)"
    )


def test_the_same_failure_has_the_same_fingerprint_in_another_run():
    def fingerprint(order: int, customer: str) -> str:
        error = SpanError("OrderNotFound", f"no order {order} for customer {customer}")
        call = span(1, SpanKind.TOOL, "orders", tool=ToolCall("orders", {"id": order}), error=error)
        return list_failures(evaluated([call]))[0].signature.fingerprint

    assert fingerprint(12, "Ada Lovelace") == fingerprint(9_113, "Ben")


def test_a_contradicted_claim_is_named_by_its_kind():
    steps = [code(1, "print(total)", printed="total: $45.00\n")]
    found = list_failures(evaluated(steps, "The total of order 12 is $54.00."))
    assert names(found) == [("groundedness", "claim-contradicted", "currency")]


def test_denied_code_is_a_failure_of_its_rule():
    source = "import socket\nsocket.create_connection(('203.0.113.9', 4444))"
    found = list_failures(evaluated([code(1, source, printed="")], "Done."))
    boundary = [each for each in found if each.signature.layer is Layer.BOUNDARY]
    assert boundary
    assert all(each.signature.check == "scan" and each.signature.subject for each in boundary)
    assert not [each for each in found if each.signature.cause == "unsafe-action"]


def test_an_attempt_is_named_by_the_kind_of_its_target():
    evaluation = evaluated([code(1, "go()", printed="")], "Done.")
    (run,) = evaluation.runs
    (snippet,) = run.run.snippets
    attempts = (Attempt(AttemptKind.NETWORK, "169.254.169.254:80", allowed=False),)
    replay = Replay(RUN, "jail", (ReplayedStep(snippet, Execution(FailureClass.OK, attempts=attempts)),))
    fails = Scored(0.0, Label.FAIL, "it tried")
    scores = [
        replace(score, outcome=fails) if score.layer is Layer.BOUNDARY and score.name != "scan" else score
        for score in run.scores
    ]
    (found,) = list_failures(replace(evaluation, runs=(replace(run, replay=replay, scores=tuple(scores)),)))
    assert names([found]) == [("boundary", "attempt-network", "metadata service")]


def test_a_run_that_failed_by_itself_is_named_by_its_exception():
    found = list_failures(evaluated([], error=SpanError("RateLimitError", "Error code: 429")))
    assert [(each.signature.layer, each.signature.cause) for each in found] == [
        (Layer.TRAJECTORY, "rate-limit")
    ]


def test_a_score_of_the_users_own_is_a_failure():
    evaluation = evaluated([code(1, "print(45)", printed="45\n")], "The total is 45.")
    (run,) = evaluation.runs
    own = replace(run.scores[0], name="tone", layer=Layer.TRAJECTORY, outcome=Scored(0, Label.FAIL, "rude"))
    found = list_failures(replace(evaluation, runs=(replace(run, scores=(*run.scores, own)),)))
    assert [(each.signature.check, each.signature.failure_class) for each in found] == [("tone", "fail")]


def test_secrets_are_masked_in_samples():
    error = SpanError("ShopError", "refused: key sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc")
    (found, *_) = list_failures(evaluated([code(1, "quote()", error)]))
    assert "4eC39HqLyjWDarjtT1zdp7dc" not in found.sample


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("169.254.169.254:80", "metadata service"),
        ("127.0.0.1:5432", "loopback address"),
        ("[::1]:80", "loopback address"),
        ("10.0.0.7:443", "internal address"),
        ("8.8.8.8:53", "public address"),
        ("db.internal:5432", "internal host"),
        ("evil.example:443", "named host"),
        ("", "named host"),
    ],
)
def test_kinds_of_hosts(target, kind):
    assert classify_host(target) == kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ada/.ssh/config", "credentials"),
        ("/etc/shadow", "credentials"),
        ("/etc/passwd", "system configuration"),
        ("/srv/app/.env", "credentials"),
        ("/proc/1/environ", "process information"),
        ("/home/ada/x", "home folder"),
        ("/tmp/x", "temporary folder"),
        ("/srv/data", "other path"),
        ("", "other path"),
    ],
)
def test_kinds_of_paths(path, kind):
    assert classify_path(path) == kind
