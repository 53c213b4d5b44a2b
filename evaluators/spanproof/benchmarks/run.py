"""Answers tried, several at once, and graded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import TypeVar, TypeVarTuple, Unpack

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.model import Answer, Graded, GradingSetup, Problem, build_unjudged_grade
from spanproof.sandbox import SandboxError

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """An answer with its grades.

    Attributes:
        number: of the answer to its problem, from 1.
        grades: by test set, the one that is reported first in front.
    """

    answer: Answer
    number: int
    grades: Mapping[str, Graded]

    @property
    def first(self) -> Graded:
        """The grade by the set that is reported first."""
        return next(iter(self.grades.values()))


def select_answers(problems: Sequence[Problem], answers: Iterable[Answer]) -> list[Answer]:
    """Return the answers to these problems.

    Raises:
        BenchmarkError: no answer is to one of them.
    """
    ids = {problem.id for problem in problems}
    found = list(answers)
    matched = [answer for answer in found if answer.problem in ids]
    if not matched:
        if found:
            example = f"; they name {found[0].problem!r}, problems are {problems[0].id!r}"
        else:
            example = ""
        raise BenchmarkError(
            f"none of the {len(found)} answers is to one of the {len(ids)} problems{example}"
        )
    return matched


def evaluate_answers(
    problems: Sequence[Problem],
    answers: Sequence[Answer],
    setup: GradingSetup,
    jobs: int = 1,
    report: Callable[[GradedAnswer], None] = lambda _graded: None,
    done: Mapping[tuple[str, int], GradedAnswer] = MappingProxyType({}),
) -> list[GradedAnswer]:
    """Return the answers graded, in their order.

    Args:
        problems: that the answers are to.
        answers: one or several for each problem.
        setup: where they are tried.
        jobs: how many at once.
        report: called with each as it is graded.
        done: grades that are known, by problem and number of the answer; of another text they do not count.
    """
    by_id = {problem.id: problem for problem in problems}
    numbers: Counter[str] = Counter()
    left: list[tuple[int, Answer, int]] = []
    found: dict[int, GradedAnswer] = {}
    for position, answer in enumerate(answers):
        numbers[answer.problem] += 1
        number = numbers[answer.problem]
        earlier = done.get((answer.problem, number))
        if earlier is not None and earlier.answer.text == answer.text:
            found[position] = earlier
        else:
            left.append((position, answer, number))

    def grade(position: int, answer: Answer, number: int) -> tuple[int, GradedAnswer]:
        problem = by_id[answer.problem]
        try:
            grades = problem.evaluate(answer, setup)
        except SandboxError as failure:
            grades = dict.fromkeys(problem.test_sets, build_unjudged_grade(str(failure)))
        return position, GradedAnswer(answer, number, grades)

    with ThreadPoolExecutor(jobs) as pool:
        for position, graded in run_all(pool, grade, iter(left), jobs):
            found[position] = graded
            report(graded)
    return [found[position] for position in sorted(found)]


def run_all(
    pool: ThreadPoolExecutor,
    call: Callable[[Unpack[Arguments]], Result],
    left: Iterator[tuple[*Arguments]],
    jobs: int,
) -> Iterator[Result]:
    """Yield results as they come; an interrupt waits for the calls that run and for no other."""
    running: set[Future[Result]] = set()
    while True:
        running |= {pool.submit(call, *wanted) for wanted in islice(left, 2 * jobs - len(running))}
        if not running:
            return
        ended, running = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            yield future.result()
