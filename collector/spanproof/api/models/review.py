"""The answers about what people review, and how they agree with verdicts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from spanproof.api import models
from spanproof.api.models import Answer, Nanoseconds
from spanproof.trace import Cause, Layer, Ruling, State


class WaitingSentence(Answer):
    """A sentence of an answer, with what it was bound to: its characters are `answer[start:end]`."""

    start: int
    end: int
    text: str
    bindings: list[str] = Field(description="What its claims were bound to, in words, one each.")


class SentenceLabel(Answer):
    """A person's ruling on a sentence of an answer."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]
    ruling: Ruling


class Waiting(Answer):
    """A verdict on a layer of a run that no person has judged, with what one needs to judge it."""

    trace_id: str
    run_span_id: str
    agent: str
    release: str
    started_ns: Nanoseconds
    layer: Layer
    outcome: models.Outcome
    state: State
    cause: Cause | None = Field(description="Why it is open; null where it is not.")
    cause_words: str = Field(description="The cause in words, with what it is about; empty where none is.")
    task: str | None = Field(description="The task of the run; null where the trace does not say.")
    answer: str | None = Field(description="What the run answered; null where the trace does not say.")
    evidence: list[models.Fact] = Field(description="The facts behind the verdict, the strongest first.")
    project: str
    assignee: str = Field(description="Who is to review it; empty is no person.")
    due_ns: Nanoseconds = Field(description="By when; 0 is no date.")
    sentences: list[WaitingSentence] = Field(
        description="Of groundedness, the sentences to rule on: the open ones, in order."
    )


class Queue(Answer):
    """Verdicts that no person has judged: open ones first, then fails, then a tenth of the passes.

    Within each the newest come first.
    """

    layer: Layer | None = Field(description="Whose verdicts they are; null where they are of every layer.")
    total: int = Field(description="How many wait, counted up to 1,000.")
    more: bool = Field(description="Whether more wait than were counted.")
    waiting: list[Waiting]


class NewAssignment(Answer):
    """A verdict is assigned to a person; the former assignment of it is replaced."""

    trace_id: Annotated[str, Field(min_length=1, max_length=32)]
    run_span_id: Annotated[str, Field(min_length=1, max_length=16)]
    layer: Layer
    assignee: Annotated[str, Field(pattern=r"^[a-z0-9_]{0,50}$", description="Empty takes it back.")]
    due_ns: Annotated[int, Field(ge=0, lt=2**63, description="By when; 0 is no date.")] = 0
    author: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,50}$", description="Who assigns it.")] = "human"
    project: Annotated[
        str | None,
        Field(max_length=500, description="Of the trace, where several projects have one with this id."),
    ] = None


class Assigned(Answer):
    """Who reviews a verdict."""

    trace_id: str
    run_span_id: str
    layer: Layer
    assignee: str
    due_ns: Nanoseconds


class NewLabel(Answer):
    """A person's verdict on a layer of a run; a later one of the same author replaces it."""

    trace_id: Annotated[str, Field(min_length=1, max_length=32)]
    run_span_id: Annotated[str, Field(min_length=1, max_length=16)]
    layer: Layer
    verdict: Literal["pass", "fail"]
    note: Annotated[str, Field(max_length=5000)] = ""
    correction: Annotated[
        str | None, Field(max_length=20_000, description="The right answer, where the run's is wrong.")
    ] = None
    author: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,50}$", description="Who says so.")] = "human"
    sentences: Annotated[
        tuple[SentenceLabel, ...],
        Field(max_length=200, description="Rulings on sentences of the answer, kept beside the verdict."),
    ] = ()
    project: Annotated[
        str | None,
        Field(max_length=500, description="Of the trace, where several projects have one with this id."),
    ] = None


class PersonsLabel(Answer):
    """A person's verdict beside ours."""

    trace_id: str
    run_span_id: str
    layer: Layer
    author: str
    agent: str
    verdict: str
    note: str
    given_ns: Nanoseconds
    ours: str | None = Field(description="Our verdict; null where there is none.")
    project: str = Field(description="Of the trace; empty where the label names none.")


class LabelList(Answer):
    """People's verdicts, newest first."""

    labels: list[PersonsLabel]
    next: str | None


class Share(Answer):
    """A share with its 95 % Wilson interval; null where it is of nothing."""

    part: int
    whole: int
    share: float | None
    low: float | None
    high: float | None


class LayerAgreement(Answer):
    """How far one layer agrees with people. A fail is what is to be found."""

    layer: Layer
    labelled: int
    compared: int = Field(description="Labels where we gave a verdict, too.")
    both_pass: int
    both_fail: int
    only_people_fail: int
    only_we_fail: int
    precision: Share = Field(description="Of our fails, those that people call fail.")
    recall: Share = Field(description="Of people's fails, those that we found.")
    kappa: float | None = Field(description="Cohen's; null where one side always says the same.")
    kappa_low: float | None
    kappa_high: float | None


class WeekAgreement(Answer):
    """How far one layer agreed with the labels of a week."""

    layer: Layer
    start_ns: Nanoseconds = Field(description="Monday, 00:00 UTC.")
    agreed: Share


class AgreementPage(Answer):
    """How far each layer agrees with people, and week by week."""

    layers: list[LayerAgreement]
    weeks: list[WeekAgreement] = Field(description="In order of time.")
