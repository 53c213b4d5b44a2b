"""A model's judgement beside execution: where the two rank models otherwise, and what each costs.

In: graded answers, and a model that is given each task with its answer and says whether it is right. Out: the
pass rates of both by model that answered, the pairs of models that change places, cost and time of each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from spanproof.benchmarks.model import Grade, Problem
from spanproof.benchmarks.run import GradedAnswer
from spanproof.benchmarks.sampling import CompletionFile, ModelRequest

_QUESTION: Final = (
    "Does the answer solve the task? Nothing is run: read the code. Reply with one word, yes or no."
)
_REPLY: Final = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer that was run and that a model judged.

    Attributes:
        ran_ok: whether it passed its tests.
        judged_ok: what the judge says; None where its reply is neither yes nor no.
        run_s, judge_s: time of both.
        judge_usd: None where no price is known.
    """

    model: str
    ran_ok: bool
    judged_ok: bool | None
    run_s: float
    judge_s: float
    judge_usd: float | None


@dataclass(frozen=True, slots=True)
class ModelRates:
    """The rates of one model that answered.

    Attributes:
        judged: the share that the judge passes, of those that it ruled on; None of none.
        false_passes: answers that the judge passes and that fail their tests.
        false_fails: answers that it fails and that pass them.
    """

    answers: int
    executed: float
    judged: float | None
    false_passes: int
    false_fails: int


@dataclass(frozen=True, slots=True)
class JudgedReport:
    """A judge beside execution, over all answers that could be run."""

    judge: str
    answers: Sequence[JudgedAnswer]

    @property
    def models(self) -> dict[str, ModelRates]:
        """The rates by model that answered, the best by execution first."""
        by_model: dict[str, list[JudgedAnswer]] = {}
        for answer in self.answers:
            by_model.setdefault(answer.model, []).append(answer)
        rates = {model: _compute_rates(answers) for model, answers in by_model.items()}
        return dict(sorted(rates.items(), key=lambda entry: (-entry[1].executed, entry[0])))

    @property
    def flips(self) -> tuple[tuple[str, str], ...]:
        """The pairs of models whose order the judge turns around: the better one by execution first."""
        flips = []
        for (first, better), (second, worse) in combinations(self.models.items(), 2):
            if better.judged is None or worse.judged is None:
                continue
            if better.executed > worse.executed and better.judged < worse.judged:
                flips.append((first, second))
        return tuple(flips)

    @property
    def costs(self) -> dict[str, dict[str, float | None]]:
        """Mean seconds and US dollars of one evaluation, by execution and by the judge."""
        dollars = [answer.judge_usd for answer in self.answers if answer.judge_usd is not None]
        return {
            "execution": {"seconds": _compute_mean([answer.run_s for answer in self.answers]), "usd": 0.0},
            "judge": {
                "seconds": _compute_mean([answer.judge_s for answer in self.answers]),
                "usd": fsum(dollars) / len(dollars) if dollars else None,
            },
        }

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "judge": self.judge,
            "models": {
                model: {name: getattr(rates, name) for name in rates.__dataclass_fields__}
                for model, rates in self.models.items()
            },
            "flips": [list(pair) for pair in self.flips],
            "costs": self.costs,
        }


def build_judge_tasks(problems: Sequence[Problem], graded: Sequence[GradedAnswer]) -> dict[str, str]:
    """Return what the judge is given, by a key of the answer; unjudged answers are left out."""
    tasks = {problem.id: problem.task for problem in problems}
    return {
        _build_key(
            answer
        ): f"Task:\n{tasks[answer.answer.problem]}\n\nAnswer:\n{answer.answer.text}\n\n{_QUESTION}"
        for answer in graded
        if answer.first.grade is not Grade.UNJUDGED
    }


def read_judgements(
    path: Path, request: ModelRequest, tasks: Mapping[str, str], graded: Sequence[GradedAnswer]
) -> JudgedReport:
    """Return the judge beside execution, from the file that holds its replies."""
    replies = CompletionFile(path, request).read(tasks, 1)
    found = []
    for answer in graded:
        reply = replies.get((_build_key(answer), 1))
        if reply is None:
            continue
        price = request.price
        found.append(
            JudgedAnswer(
                answer.answer.model,
                answer.first.passed,
                _find_verdict(reply["completion"]),
                answer.first.wall_s,
                reply["wall_s"],
                price.compute_dollars(reply["tokens_in"], reply["tokens_out"]) if price is not None else None,
            )
        )
    return JudgedReport(request.model, found)


def _build_key(graded: GradedAnswer) -> str:
    return f"{graded.answer.problem}#{graded.number}"


def _find_verdict(text: str) -> bool | None:
    found = _REPLY.match(text)
    return found[1].lower() == "yes" if found else None


def _compute_rates(answers: Sequence[JudgedAnswer]) -> ModelRates:
    rulings = [(answer.judged_ok, answer.ran_ok) for answer in answers if answer.judged_ok is not None]
    return ModelRates(
        len(answers),
        fmean(answer.ran_ok for answer in answers),
        _compute_mean([judged_ok for judged_ok, _ran_ok in rulings]),
        rulings.count((True, False)),
        rulings.count((False, True)),
    )


def _compute_mean(numbers: Sequence[float]) -> float | None:
    return fmean(numbers) if numbers else None
