"""Two judges side by side, on answers that people labelled.

In: answers with their runs and labels, from the store or from lines of JSON. Out: what each judge says of
each, and how the two differ: precision and recall with intervals, cost, and whether one is right more often.
A judge rules on every sentence that the rules do not call wrong, so that both are queried about the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import comb

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.evaluator import Evaluator
from spanproof.evaluators.judge.cost import COST_NAME
from spanproof.evaluators.judge.measure import Share
from spanproof.evaluators.judge.sentences import find_ruling
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    Errored,
    Label,
    Layer,
    Payload,
    Ruling,
    Scored,
    Span,
    SpanKind,
    ToolCall,
    Trace,
    digest,
    trace_of,
)


class BadAnswers(ValueError):  # noqa: N818 - names the input
    """A line of labelled answers cannot be read; the message names the line and the field."""


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """An answer with the run that it is of, and whether a person passes its groundedness."""

    id: str
    trace: Trace
    run_span_id: str
    passes: bool


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """What a judge says of an answer.

    Attributes:
        ruling: None where it was not queried, as the rules call the answer wrong, or gave no usable reply.
        error: why it gave none.
    """

    ruling: Ruling | None
    dollars: float = 0.0
    error: str = ""

    @property
    def was_queried(self) -> bool:
        """Whether the judge was queried about the answer."""
        return self.ruling is not None or bool(self.error)

    def is_right(self, passes: bool) -> bool:
        """Whether it says what the person says; what it does not decide is not right."""
        return self.ruling is (Ruling.TRUE if passes else Ruling.FALSE)


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """One judge on the answers that both were queried about."""

    name: str
    decided: Share
    right: Share
    precision: Share
    recall: Share
    dollars: float
    errors: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two judges on the same answers.

    Attributes:
        answers: how many both were queried about.
        p_value: of McNemar's exact test, that neither is right more often.
    """

    first: JudgeFigures
    second: JudgeFigures
    answers: int
    both_right: int
    only_first_right: int
    only_second_right: int
    neither_right: int
    p_value: float


def read_labelled_answers(lines: Iterable[str]) -> list[LabelledAnswer]:
    """Read `{"id"?, "task"?, "outputs": [text], "answer": text, "label": "pass"|"fail"}`, one a line.

    Raises:
        BadAnswers: a line is not of this form.
    """
    return [_parse_answer(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def judge_answers(
    judge: Evaluator,
    answers: Sequence[LabelledAnswer],
    workers: int = 4,
    answered: Callable[[], None] = lambda: None,
) -> list[JudgedAnswer]:
    """Return what a judge says of each answer.

    Args:
        judge: that rules on sentences, and is queried about passed answers as well.
        answers: with their runs.
        workers: answers at a time.
        answered: called after each, in any thread.
    """
    engine = Engine(pipeline=Pipeline(), sandbox=None, layers=(Layer.GROUNDEDNESS,), evaluators=(judge,))

    def judge_one(answer: LabelledAnswer) -> JudgedAnswer:
        evaluation = engine.evaluate(answer.trace)
        run = next(other for other in evaluation.runs if other.run.span_id == answer.run_span_id)
        own = next((score for score in run.scores if score.name == Layer.GROUNDEDNESS.value), None)
        cost = next((score.outcome for score in run.scores if score.name == COST_NAME), None)
        dollars = (cost.raw or 0.0) if isinstance(cost, Scored) else 0.0
        answered()
        if own is None:
            return JudgedAnswer(None, dollars)
        if isinstance(own.outcome, Errored):
            return JudgedAnswer(None, dollars, own.outcome.message)
        return JudgedAnswer(find_ruling(own.outcome, judge.name), dollars)

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(judge_one, answers))


def compare_judges(
    names: tuple[str, str],
    answers: Sequence[LabelledAnswer],
    first: Sequence[JudgedAnswer],
    second: Sequence[JudgedAnswer],
) -> Comparison:
    """Compare what two judges say of the same answers.

    Answers that neither was queried about, as the rules call them wrong, are left out.
    """
    queried = [
        (answer.passes, one, other)
        for answer, one, other in zip(answers, first, second, strict=True)
        if one.was_queried or other.was_queried
    ]
    rights = [(one.is_right(passes), other.is_right(passes)) for passes, one, other in queried]
    only_first, only_second = rights.count((True, False)), rights.count((False, True))
    return Comparison(
        _measure_figures(names[0], [(passes, one) for passes, one, _ in queried]),
        _measure_figures(names[1], [(passes, other) for passes, _, other in queried]),
        len(queried),
        rights.count((True, True)),
        only_first,
        only_second,
        rights.count((False, False)),
        compute_sign_test(only_first, only_second),
    )


def compute_sign_test(one: int, other: int) -> float:
    """Return the two-sided p-value of so many against so many, where chance gives half of them each.

    McNemar's exact test (Psychometrika 12, 1947): only answers on which the two differ say anything.
    """
    total = one + other
    if not total:
        return 1.0
    tail = sum(comb(total, number) for number in range(min(one, other) + 1)) / 2**total
    return float(min(1.0, 2 * tail))


def _measure_figures(name: str, judged: Sequence[tuple[bool, JudgedAnswer]]) -> JudgeFigures:
    decided = [answer for _, answer in judged if answer.ruling in (Ruling.TRUE, Ruling.FALSE)]
    fails = [passes for passes, answer in judged if answer.ruling is Ruling.FALSE]
    right_fails = sum(not passes for passes in fails)
    right = sum(answer.is_right(passes) for passes, answer in judged)
    wrong_answers = sum(not passes for passes, _ in judged)
    return JudgeFigures(
        name,
        Share(len(decided), len(judged)),
        Share(right, len(judged)),
        Share(right_fails, len(fails)),
        Share(right_fails, wrong_answers),
        sum(answer.dollars for _, answer in judged),
        sum(bool(answer.error) for _, answer in judged),
    )


def _parse_answer(number: int, line: str) -> LabelledAnswer:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as problem:
        raise BadAnswers(f"line {number}: no JSON: {problem.msg}") from problem
    if not isinstance(row, dict):
        raise BadAnswers(f"line {number}: must be a JSON object")
    task, outputs, answer, label = (row.get(key) for key in ("task", "outputs", "answer", "label"))
    if not isinstance(answer, str) or not answer.strip():
        raise BadAnswers(f"line {number}: answer must be a text")
    if not isinstance(outputs, list) or not all(isinstance(output, str) for output in outputs):
        raise BadAnswers(f"line {number}: outputs must be an array of texts")
    if label not in list(Label):
        raise BadAnswers(f"line {number}: label must be 'pass' or 'fail', got {label!r}")
    if task is not None and not isinstance(task, str):
        raise BadAnswers(f"line {number}: task must be a text")
    trace = build_answer_trace(task or "", outputs, answer)
    return LabelledAnswer(str(row.get("id", number)), trace, _RUN_SPAN_ID, label == Label.PASS)


_RUN_SPAN_ID = "a" * 16


def build_answer_trace(task: str, outputs: Sequence[str], answer: str) -> Trace:
    """Return a trace of a run whose tools returned these outputs."""
    trace_id = digest(task, *outputs, answer)[:32]
    # Nanoseconds of no day: only their order counts.
    root = Span(
        trace_id, _RUN_SPAN_ID, None, "agent", SpanKind.AGENT, 1, 10 * len(outputs) + 20,
        input=Payload(task, task) if task else None, output=Payload(answer, answer),
    )  # fmt: skip
    tools = [
        Span(
            trace_id, f"{number:016x}", _RUN_SPAN_ID, "tool", SpanKind.TOOL, 10 * number, 10 * number + 5,
            tool=ToolCall("tool", {}), output=Payload(output, output),
        )
        for number, output in enumerate(outputs, 1)
    ]  # fmt: skip
    return trace_of([root, *tools])
