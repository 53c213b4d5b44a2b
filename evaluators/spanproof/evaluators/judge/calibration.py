"""Calibration: a judge beside people's labels.

Comes in: JSON Lines of material with a label each. Goes out: how far the judge agrees, on rows that had no
part in choosing the threshold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spanproof.evaluators.judge.agreement import Agreement, compute_agreement, compute_threshold
from spanproof.evaluators.judge.client import Judge
from spanproof.evaluators.judge.errors import JudgeError, JudgeUnavailable
from spanproof.evaluators.judge.prompt import Part
from spanproof.evaluators.judge.question import build_question
from spanproof.evaluators.judge.rubric import Rubric
from spanproof.evaluators.judge.sentence_prompt import SentencePrompt
from spanproof.evaluators.judge.sentences import AnswerSentence
from spanproof.trace import Label, Layer, Ruling, digest

_VALUES: Final[Mapping[Ruling, float]] = {Ruling.TRUE: 1.0, Ruling.UNKNOWN: 0.5, Ruling.FALSE: 0.0}


class Split(StrEnum):
    """What a row is for."""

    THRESHOLD = "threshold"
    REPORT = "report"


class BadLabels(ValueError):  # noqa: N818 - names the input
    """A row of labels cannot be read; the message names the line, the field and what it must be."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Material, what people say of it, and what the row is for."""

    id: str
    rubric: str
    material: Mapping[str, str]
    label: Label
    split: Split


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of one rubric.

    Attributes:
        threshold: the score to pass at, chosen on the threshold rows.
        agreement: on the report rows, at that threshold.
        errors: rows the judge gave no usable reply on, with the reason; they count for nothing.
    """

    rubric: str
    threshold: float
    agreement: Agreement
    errors: Mapping[str, str]


def read_labels(lines: Iterable[str], rubrics: Mapping[str, Rubric]) -> list[Labelled]:
    """Read labels: `{"id"?, "rubric", "material": {title: text}, "label": "pass"|"fail", "split"?}`.

    A row without a split is given one by its material: half of them each.

    Raises:
        BadLabels: a row is not of this form.
    """
    return [_parse_label(number, line, rubrics) for number, line in enumerate(lines, 1) if line.strip()]


def compute_calibration(
    judge: Judge,
    rubric: Rubric,
    rows: Sequence[Labelled],
    workers: int = 4,
    answered: Callable[[], None] = lambda: None,
) -> Calibration:
    """Ask the judge about every row and compare.

    Args:
        judge: the judge to calibrate.
        rubric: of all rows.
        rows: what people said.
        workers: questions at a time.
        answered: called after each row, in any thread.

    Raises:
        BadLabels: one of the two splits has no row, or rows of one label alone.
        JudgeUnavailable: of one of them the judge answered no row.
    """
    _check_splits(rubric, rows)

    def ask(row: Labelled) -> float | str:
        answer = _evaluate_row(judge, rubric, row)
        answered()
        return answer

    with ThreadPoolExecutor(workers) as pool:
        answers = list(pool.map(ask, rows))
    errors = {row.id: answer for row, answer in zip(rows, answers, strict=True) if isinstance(answer, str)}
    scored = [(row, score) for row, score in zip(rows, answers, strict=True) if isinstance(score, float)]
    chosen = [(row.label is Label.PASS, score) for row, score in scored if row.split is Split.THRESHOLD]
    shown = [(row.label is Label.PASS, score) for row, score in scored if row.split is Split.REPORT]
    if not chosen or not shown:
        raise JudgeUnavailable(
            f"the judge answered {len(scored)} of the {len(rows)} rows of the rubric {rubric.name}, none of"
            f" the split {Split.REPORT if chosen else Split.THRESHOLD}; its first error:"
            f" {next(iter(errors.values()))}"
        )
    threshold = compute_threshold([people for people, _ in chosen], [score for _, score in chosen])
    agreed = compute_agreement([people for people, _ in shown], [score >= threshold for _, score in shown])
    return Calibration(rubric.name, threshold, agreed, errors)


def _check_splits(rubric: Rubric, rows: Sequence[Labelled]) -> None:
    counts = {split: sum(row.split is split for row in rows) for split in Split}
    if not all(counts.values()):
        raise BadLabels(
            f"rubric {rubric.name}: {counts[Split.THRESHOLD]} rows to choose a threshold on,"
            f" {counts[Split.REPORT]} to report on; there must be one of each"
        )
    for split, what in ((Split.THRESHOLD, "to choose a threshold on"), (Split.REPORT, "to report on")):
        labels = {row.label for row in rows if row.split is split}
        if len(labels) == 1:
            (label,) = labels
            lacking = Label.FAIL if label is Label.PASS else Label.PASS
            raise BadLabels(
                f"rubric {rubric.name}: the {counts[split]} rows {what} are all labelled {label}: they say"
                f" no agreement from chance; add some that people {lacking}, or set `split` by hand"
            )


def _evaluate_row(judge: Judge, rubric: Rubric, row: Labelled) -> float | str:
    """Return the judge's score, or why there is none."""
    try:
        if rubric.layer is Layer.GROUNDEDNESS and rubric.score == Layer.GROUNDEDNESS.value:
            (ruling,) = judge.fetch_reply(_build_sentence_prompt(rubric, row.material))
            return _VALUES[ruling.ruling]
        return judge.fetch_reply(build_question(rubric, row.material.items())).score
    except JudgeError as problem:
        return str(problem)


def _build_sentence_prompt(rubric: Rubric, material: Mapping[str, str]) -> SentencePrompt:
    """Return the prompt about an answer as one sentence, in the form that the evaluator uses."""
    steps = [Part(title, text) for title, text in material.items() if title not in ("task", "answer")]
    answer = material.get("answer", "")
    sentence = AnswerSentence(answer, 0, len(answer))
    return SentencePrompt(rubric, material.get("task", ""), steps, answer, (sentence,))


def _parse_label(number: int, line: str, rubrics: Mapping[str, Rubric]) -> Labelled:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as problem:
        message = f"{problem.msg} at character {problem.pos + 1}"
        raise BadLabels(f"line {number}: no JSON: {message}") from problem
    if not isinstance(row, dict):
        raise BadLabels(f"line {number}: must be a JSON object")
    rubric, material, label = row.get("rubric"), row.get("material"), row.get("label")
    if not isinstance(rubric, str) or rubric not in rubrics:
        raise BadLabels(f"line {number}: rubric {rubric!r} is none of {', '.join(rubrics)}")
    if not isinstance(material, dict) or not all(isinstance(text, str) for text in material.values()):
        raise BadLabels(f"line {number}: material must be an object of texts by title")
    if label not in list(Label):
        raise BadLabels(f"line {number}: label must be 'pass' or 'fail', got {label!r}")
    split = row.get("split") or _classify_split(material)
    if split not in list(Split):
        raise BadLabels(f"line {number}: split must be 'threshold' or 'report', got {split!r}")
    return Labelled(str(row.get("id", number)), rubric, material, Label(label), Split(split))


def _classify_split(material: Mapping[str, str]) -> Split:
    odd = int(digest(*material.keys(), *material.values())[-1], 16) % 2
    return Split.THRESHOLD if odd else Split.REPORT
