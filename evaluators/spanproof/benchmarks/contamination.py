"""Signs that a benchmark says less than it seems to: its tests or its problems were known before.

Each is a sign, no proof: hidden tests that stand in a prompt, problems that occur in another split, answers
that are the published solution, and a pass rate that falls at the date a model's training ended.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from spanproof.benchmarks.model import Answer, Problem
from spanproof.benchmarks.run import GradedAnswer
from spanproof.evaluators.intervals import Interval, compute_difference_interval

_WORD = re.compile(r"\w+|[^\w\s]")
_WORDS_IN_A_SHINGLE = 5
_NEAR = 0.8
_FEW_WORDS = 12


@dataclass(frozen=True, slots=True)
class Gap:
    """Pass rates of problems published before a date, and on it or later.

    Attributes:
        before, after: passed and judged.
        difference: of the rates, after less before, with its 95 % interval; None where a side is empty.
    """

    cutoff: date
    before: tuple[int, int]
    after: tuple[int, int]
    difference: Interval | None

    @property
    def is_sign(self) -> bool:
        """Whether the later rate is lower beyond chance."""
        return self.difference is not None and self.difference.high < 0


@dataclass(frozen=True, slots=True)
class Contamination:
    """The signs that were looked for.

    Attributes:
        tests_in_prompt: problems whose prompt holds a test that decides.
        duplicates: pairs of near-duplicate problems: an id, the other's id, and how alike (Jaccard).
        verbatim: problems with an answer that is the published solution, word for word.
        gap: None where no date is known or given.
    """

    tests_in_prompt: tuple[str, ...] = ()
    duplicates: tuple[tuple[str, str, float], ...] = ()
    verbatim: tuple[str, ...] = ()
    gap: Gap | None = None


def evaluate_contamination(
    problems: Sequence[Problem],
    graded: Sequence[GradedAnswer],
    other: Sequence[Problem] = (),
    cutoff: date | None = None,
) -> Contamination:
    """Return the signs of contamination.

    Args:
        problems: of the benchmark.
        graded: answers to them.
        other: problems of another split, such as what a model was tuned on.
        cutoff: when the model's training ended.
    """
    return Contamination(
        tuple(problem.id for problem in problems if holds_tests(problem)),
        tuple(iter_near_duplicates(problems, other)),
        tuple(_iter_verbatim(problems, [answer.answer for answer in graded])),
        compute_gap(problems, graded, cutoff) if cutoff else None,
    )


def holds_tests(problem: Problem) -> bool:
    """Return whether a problem's prompt holds a test that decides, white space apart."""
    prompt = "".join(problem.prompt.split())
    return any(
        len(squeezed) > 12 and squeezed in prompt for squeezed in ("".join(t.split()) for t in problem.hidden)
    )


def iter_near_duplicates(
    problems: Sequence[Problem], other: Sequence[Problem]
) -> Iterable[tuple[str, str, float]]:
    """Yield problems of two splits that are alike, by shingles of five words of their prompts."""
    theirs = [
        (problem.id, shingles) for problem in other if (shingles := _list_shingle_hashes(problem.prompt))
    ]
    holders: dict[int, list[int]] = {}
    for position, (_, shingles) in enumerate(theirs):
        for shingle in shingles:
            holders.setdefault(shingle, []).append(position)
    for problem in problems:
        ours = _list_shingle_hashes(problem.prompt)
        shared = Counter(position for shingle in ours for position in holders.get(shingle, ()))
        for position, common in shared.most_common(3):
            name, shingles = theirs[position]
            alike = common / (len(ours) + len(shingles) - common)
            if alike >= _NEAR:
                yield problem.id, name, round(alike, 3)


def compute_gap(problems: Sequence[Problem], graded: Sequence[GradedAnswer], cutoff: date) -> Gap | None:
    """Return the pass rates before and after a date; None where no problem has a date."""
    dates = {problem.id: problem.published for problem in problems if problem.published}
    if not dates:
        return None
    sides = {False: [0, 0], True: [0, 0]}
    for answer in graded:
        when = dates.get(answer.answer.problem)
        if when is None or answer.first.grade.value == "unjudged":
            continue
        side = sides[when >= cutoff]
        side[0] += answer.first.passed
        side[1] += 1
    before, after = (sides[False][0], sides[False][1]), (sides[True][0], sides[True][1])
    return Gap(cutoff, before, after, compute_difference_interval(before, after))


def _iter_verbatim(problems: Sequence[Problem], answers: Sequence[Answer]) -> Iterable[str]:
    solutions = {
        problem.id: _split_words(problem.reference.text) for problem in problems if problem.reference
    }
    seen = set()
    for answer in answers:
        published = solutions.get(answer.problem)
        # Short solutions are written alike by anyone.
        if not published or len(published) <= _FEW_WORDS or answer.problem in seen:
            continue
        if _holds(_split_words(answer.text), published):
            seen.add(answer.problem)
            yield answer.problem


def _holds(words: Sequence[str], wanted: Sequence[str]) -> bool:
    return "\0".join(("", *wanted, "")) in "\0".join(("", *words, ""))


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text)


def _list_shingle_hashes(text: str) -> set[int]:
    words = [word.lower() for word in _split_words(text)]
    last = len(words) - _WORDS_IN_A_SHINGLE
    return {hash(tuple(words[start : start + _WORDS_IN_A_SHINGLE])) for start in range(max(0, last + 1))}
