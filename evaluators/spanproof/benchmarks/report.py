"""The result of a benchmark: rates with their intervals, and the protocol that they were measured by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from spanproof.benchmarks.contamination import Contamination
from spanproof.benchmarks.judged import JudgedReport
from spanproof.benchmarks.model import Answer, Grade, Graded, Problem
from spanproof.benchmarks.run import GradedAnswer
from spanproof.evaluators.intervals import Interval, compute_wilson_interval
from spanproof.gate.pass_rates import pass_at_k, pass_hat_k
from spanproof.sandbox import FailureClass


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a figure was measured: two figures compare where all of it is the same.

    Attributes:
        benchmark: its name.
        problems: how many were answered.
        published: how many the file holds.
        digest: SHA-256 of the problems' file.
        subset: which problems were chosen, in words; empty for all.
        n: answers to each problem: the fewest, and the most.
        k: of pass@k.
        temperature, seed: of the model, None where it is not known.
        model: the snapshot that answered, empty where it is not known.
        turns: attempts of an agent at most; 1 for samples.
        sandbox: the backend that ran the code.
        timeout_s: of one program.
        version: of Spanproof.
    """

    benchmark: str
    problems: int
    published: int
    digest: str
    subset: str
    n: tuple[int, int]
    k: tuple[int, ...]
    temperature: float | None
    seed: int | None
    model: str
    turns: int
    sandbox: str
    timeout_s: float
    version: str


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate over problems.

    Attributes:
        problems: judged ones.
        answers: judged ones.
        pass_at: by k, the unbiased estimator's mean over problems.
        pass_hat: by k, that all of k answers pass.
        interval: of pass@1 over problems, by Wilson.
    """

    problems: int
    answers: int
    pass_at: Mapping[int, float]
    pass_hat: Mapping[int, float]
    interval: Interval | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "problems": self.problems,
            "answers": self.answers,
            "pass_at": {str(k): rate for k, rate in self.pass_at.items()},
            "pass_hat": {str(k): rate for k, rate in self.pass_hat.items()},
            "interval": [self.interval.low, self.interval.high] if self.interval else None,
        }


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """The result of a benchmark; `judged` compares a judge with execution, if one was requested."""

    protocol: Protocol
    problems: Sequence[Problem]
    graded: Sequence[GradedAnswer]
    contamination: Contamination
    judged: JudgedReport | None = None
    _groups: Mapping[str, Mapping[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_groups", {problem.id: problem.groups for problem in self.problems})

    @property
    def test_sets(self) -> tuple[str, ...]:
        """Names of the test sets, the one that is reported first in front."""
        return tuple(dict.fromkeys(name for answer in self.graded for name in answer.grades))

    @property
    def rates(self) -> dict[str, Rate]:
        """The rate of each test set."""
        return {name: self.compute_rate(name, self.graded) for name in self.test_sets}

    @property
    def headline(self) -> Rate:
        """The rate of the set that is reported first."""
        return self.compute_rate(self.test_sets[0], self.graded)

    def iter_rates_by_group(self) -> Iterator[tuple[str, str, Rate]]:
        """Yield dimension, value and the rate of the first test set, where there are several values."""
        name = self.test_sets[0]
        split: dict[tuple[str, str], list[GradedAnswer]] = {}
        for answer in self.graded:
            groups = {**self._groups[answer.answer.problem], "model": answer.answer.model}
            for dimension, value in groups.items():
                split.setdefault((dimension, value), []).append(answer)
        several = Counter(dimension for dimension, _ in split)
        for (dimension, value), found in sorted(split.items()):
            if several[dimension] > 1:
                yield dimension, value, self.compute_rate(name, found)

    def compute_rate(self, test_set: str, graded: Sequence[GradedAnswer]) -> Rate:
        """Return the rate of one test set over answers; unjudged ones are left out."""
        counts: dict[str, list[int]] = {}
        for answer in graded:
            grade = answer.grades.get(test_set)
            if grade is not None and grade.grade is not Grade.UNJUDGED:
                count = counts.setdefault(answer.answer.problem, [0, 0])
                count[0] += grade.passed
                count[1] += 1
        if not counts:
            return Rate(0, 0, {}, {}, None)
        fewest = min(total for _, total in counts.values())
        ks = [k for k in self.protocol.k if k <= fewest]
        at = {k: fmean(pass_at_k(total, passed, k) for passed, total in counts.values()) for k in ks}
        hat = {k: fmean(pass_hat_k(total, passed, k) for passed, total in counts.values()) for k in ks}
        shares = sum(passed / total for passed, total in counts.values())
        return Rate(
            len(counts),
            sum(t for _, t in counts.values()),
            at,
            hat,
            compute_wilson_interval(shares, len(counts)),
        )

    @property
    def unjudged(self) -> dict[str, int]:
        """How many answers could not be judged, by reason."""
        return dict(
            Counter(
                answer.first.reason for answer in self.graded if answer.first.grade is Grade.UNJUDGED
            ).most_common()
        )

    @property
    def defects(self) -> tuple[str, ...]:
        """Problems that were passed by an answer although it fails what the published solution fails."""
        found = (
            answer.answer.problem for answer in self.graded if answer.first.passed and answer.first.reason
        )
        return tuple(dict.fromkeys(found))

    @property
    def turns(self) -> dict[int, int]:
        """How many answers that pass took how many attempts."""
        return dict(
            sorted(Counter(answer.answer.turns for answer in self.graded if answer.first.passed).items())
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data, without the answers."""
        signs = self.contamination
        rates = {name: rate.to_json() for name, rate in self.rates.items()}
        groups = [
            {"dimension": dimension, "value": value, **rate.to_json()}
            for dimension, value, rate in self.iter_rates_by_group()
        ]
        return {
            "protocol": asdict(self.protocol),
            "rates": rates,
            "groups": groups,
            "unjudged": self.unjudged,
            "defects": list(self.defects),
            "judged": self.judged.to_json() if self.judged is not None else None,
            "turns": {str(turn): count for turn, count in self.turns.items()},
            "contamination": {
                "tests_in_prompt": list(signs.tests_in_prompt),
                "duplicates": [list(duplicate) for duplicate in signs.duplicates],
                "verbatim": list(signs.verbatim),
                "gap": _compute_gap_row(signs),
            },
        }


def encode_graded(graded: GradedAnswer) -> dict[str, Any]:
    """Return a graded answer as JSON data."""
    return {
        "problem": graded.answer.problem,
        "number": graded.number,
        "turns": graded.answer.turns,
        "is_whole": graded.answer.is_whole,
        "error": graded.answer.error,
        "grades": {
            name: {
                "grade": grade.grade.value,
                "reason": grade.reason,
                "failure_class": grade.failure.value if grade.failure else None,
                "wall_s": round(grade.wall_s, 4),
                "failed_tests": list(grade.failed_tests),
            }
            for name, grade in graded.grades.items()
        },
        "answer": graded.answer.text,
        "model": graded.answer.model,
    }


def read_graded(row: Mapping[str, Any]) -> GradedAnswer:
    """Return what `encode_graded` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is no graded answer.
    """
    grades = {
        str(name): Graded(
            Grade(grade["grade"]),
            str(grade["reason"]),
            FailureClass(grade["failure_class"]) if grade["failure_class"] is not None else None,
            float(grade["wall_s"]),
            tuple(int(test) for test in grade["failed_tests"]),
        )
        for name, grade in row["grades"].items()
    }
    answer = Answer(
        str(row["problem"]),
        str(row["answer"]),
        bool(row["is_whole"]),
        int(row["turns"]),
        str(row["error"]),
        str(row.get("model") or ""),
    )
    return GradedAnswer(answer, int(row["number"]), grades)


def _compute_gap_row(signs: Contamination) -> dict[str, Any] | None:
    gap = signs.gap
    if gap is None:
        return None
    return {
        "cutoff": gap.cutoff.isoformat(),
        "before": list(gap.before),
        "after": list(gap.after),
        "difference": [gap.difference.low, gap.difference.high] if gap.difference else None,
        "sign": gap.is_sign,
    }
