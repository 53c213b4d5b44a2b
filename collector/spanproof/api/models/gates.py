"""The answers about gates: assertions with their results, case by case."""

from __future__ import annotations

from pydantic import Field

from spanproof.api.models import Answer
from spanproof.trace import State


class GateCase(Answer):
    """A case that speaks against an assertion."""

    trace_id: str
    run_span_id: str
    agent: str
    state: str
    value: float | None
    explanation: str


class GateMark(Answer):
    """Lines of a snippet that are to blame, with those around them."""

    uri: str
    rule: str
    message: str
    line: int
    end_line: int
    first: int = Field(description="Number of the first line shown.")
    lines: list[str] = Field(description="HTML, escaped, as of a snippet.")


class GateAssertion(Answer):
    """An assertion with its verdict."""

    assertion: str
    layer: str
    state: State
    verdict: str
    reason: str
    judged: int
    satisfied: int
    open: int = Field(description="Cases, scores or trials that are open.")
    share: float | None
    low: float | None
    high: float | None
    failing: list[GateCase]
    marks: list[GateMark] = Field(description="Code to blame; empty where the report holds none.")


class GatePage(Answer):
    """A report of the gate, or of an assertion that was tried."""

    name: str
    state: State = Field(description="The gravest of its assertions; never `pass` where it did not pass.")
    passed: bool
    open_counts_as: str = Field(description="`not-passed`, `pass`, `fail` or `ignore`.")
    cut: bool = Field(description="Whether there were more scores than are read.")
    assertions: list[GateAssertion]
