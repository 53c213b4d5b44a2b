"""Why something was not judged: the causes of open and of skipped outcomes, and their words.

A cause is what outcomes are counted and grouped by; the sentence of an outcome names the value, the step or
the model that it is about, and is for reading only.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Cause(StrEnum):
    """Why an outcome is open or skipped."""

    # Open: there is something to judge, and what decides could not be settled.
    VALUE_NOT_FOUND = "value-not-found"
    VALUE_NOT_CERTAIN = "value-not-certain"
    VALUE_FROM_CODE = "value-from-code"
    NO_CHECKABLE_CLAIM = "no-checkable-claim"
    NO_OUTPUT = "no-output"
    NOTHING_SUCCEEDED = "nothing-succeeded"
    CODE_UNDER_REVIEW = "code-under-review"
    REPLAY_BROKE_OFF = "replay-broke-off"
    CODE_NOT_RUN = "code-not-run"
    RECOVERY_NOT_CERTAIN = "recovery-not-certain"
    JUDGE_BELOW_BOUND = "judge-below-bound"
    ROOT_MISSING = "root-missing"

    # Skipped: there is nothing to judge, or the trace lacks what is needed.
    NO_CODE = "no-code"
    NO_ANSWER = "no-answer"
    ANSWER_OF_ANOTHER_RUN = "answer-of-another-run"
    NO_ACTION = "no-action"
    NO_AGENT = "no-agent"
    CONTENT_HIDDEN = "content-hidden"
    CONTENT_CUT = "content-cut"
    NOT_RECORDED = "not-recorded"
    NOT_REPLAYED = "not-replayed"
    NOT_COMPARABLE = "not-comparable"
    NOT_SUPPORTED = "not-supported"
    NOT_CONFIGURED = "not-configured"
    NOTHING_OF_THE_KIND = "nothing-of-the-kind"
    NOT_SAMPLED = "not-sampled"
    BUDGET_SPENT = "budget-spent"
    TOO_MANY_SPANS = "too-many-spans"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    EVALUATOR = "evaluator"
    """An evaluator of the user's gave its own reason."""


LEFT_UNJUDGED: Final = frozenset(
    (
        Cause.CONTENT_HIDDEN,
        Cause.CONTENT_CUT,
        Cause.NOT_RECORDED,
        Cause.NOT_REPLAYED,
        Cause.NOT_COMPARABLE,
        Cause.NOT_SUPPORTED,
        Cause.NOT_SAMPLED,
        Cause.BUDGET_SPENT,
        Cause.TOO_MANY_SPANS,
    )
)
"""Causes of a skipped verdict although there was something to judge; of the others there was nothing."""


CAUSE_WORDS: Final[Mapping[Cause, tuple[str, str]]] = MappingProxyType(
    {
        Cause.VALUE_NOT_FOUND: (
            "answer holds a value that no source has",
            "answers hold a value that no source has",
        ),
        Cause.VALUE_NOT_CERTAIN: (
            "answer holds a value whose source is not certain",
            "answers hold a value whose source is not certain",
        ),
        Cause.VALUE_FROM_CODE: (
            "answer holds a value that only the agent's own code has",
            "answers hold a value that only the agent's own code has",
        ),
        Cause.NO_CHECKABLE_CLAIM: (
            "answer states nothing that can be compared with an output",
            "answers state nothing that can be compared with an output",
        ),
        Cause.NO_OUTPUT: (
            "answer has no output to be compared with",
            "answers have no output to be compared with",
        ),
        Cause.NOTHING_SUCCEEDED: (
            "answer follows a run in which nothing succeeded",
            "answers follow a run in which nothing succeeded",
        ),
        Cause.CODE_UNDER_REVIEW: (
            "run has code under review that no replay settles",
            "runs have code under review that no replay settles",
        ),
        Cause.REPLAY_BROKE_OFF: (
            "run has code that broke off its replay",
            "runs have code that broke off its replay",
        ),
        Cause.CODE_NOT_RUN: (
            "run has code that compiles, and its result is not known",
            "runs have code that compiles, and its result is not known",
        ),
        Cause.RECOVERY_NOT_CERTAIN: (
            "run may have recovered from a failure",
            "runs may have recovered from a failure",
        ),
        Cause.JUDGE_BELOW_BOUND: (
            "verdict is that of a judge below its bound",
            "verdicts are those of judges below their bound",
        ),
        Cause.ROOT_MISSING: (
            "run waits for the root of its trace",
            "runs wait for the root of their trace",
        ),
        Cause.NO_CODE: ("run has no code", "runs have no code"),
        Cause.NO_ANSWER: ("run has no answer on the trace", "runs have no answer on the trace"),
        Cause.ANSWER_OF_ANOTHER_RUN: (
            "run passes on the answer of another, which is judged there",
            "runs pass on the answer of another, which is judged there",
        ),
        Cause.NO_ACTION: ("run has no action on the trace", "runs have no action on the trace"),
        Cause.NO_AGENT: (
            "trace holds a tool call without its agent",
            "traces hold a tool call without its agent",
        ),
        Cause.CONTENT_HIDDEN: (
            "run's content is hidden by its producer",
            "runs' content is hidden by their producer",
        ),
        Cause.CONTENT_CUT: ("run's content is cut on the trace", "runs' content is cut on the trace"),
        Cause.NOT_RECORDED: (
            "outcome is not on the trace",
            "outcomes are not on the trace",
        ),
        Cause.NOT_REPLAYED: ("snippet was not replayed", "snippets were not replayed"),
        Cause.NOT_COMPARABLE: (
            "replay cannot be compared with the record",
            "replays cannot be compared with the record",
        ),
        Cause.NOT_SUPPORTED: (
            "snippet is in a language that this check does not read",
            "snippets are in a language that this check does not read",
        ),
        Cause.NOT_CONFIGURED: ("check is not configured here", "checks are not configured here"),
        Cause.NOTHING_OF_THE_KIND: (
            "run has nothing that this score is about",
            "runs have nothing that this score is about",
        ),
        Cause.NOT_SAMPLED: ("run was left out by sampling", "runs were left out by sampling"),
        Cause.BUDGET_SPENT: (
            "layer had spent its budget of processor time",
            "layers had spent their budget of processor time",
        ),
        Cause.TOO_MANY_SPANS: (
            "span is beyond the number that is judged",
            "spans are beyond the number that is judged",
        ),
        Cause.REFUSED: (
            "step was refused by a guard or a budget",
            "steps were refused by a guard or a budget",
        ),
        Cause.WITHDRAWN: (
            "score was withdrawn by a later evaluation",
            "scores were withdrawn by a later evaluation",
        ),
        Cause.EVALUATOR: (
            "outcome was skipped by an evaluator of your own",
            "outcomes were skipped by evaluators of your own",
        ),
    }
)
"""What each cause says of one and of many."""


def describe_cause(cause: Cause, count: int) -> str:
    """Return a cause with its count: `57 answers hold a value that no source has`."""
    one, many = CAUSE_WORDS[cause]
    return f"{count:,} {one if count == 1 else many}"
