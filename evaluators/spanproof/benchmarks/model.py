"""What every benchmark shares: problems, answers to them, and the grades that answers get.

A problem grades an answer by a few named test sets, such as `base` and `plus`. What could not be tried
(a package or a toolchain is missing in the sandbox) is unjudged and counts as no failure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, TypeAlias

from spanproof.sandbox import FailureClass, PackageSet, Sandbox


class Grade(StrEnum):
    """The grade of an answer by one test set."""

    PASSED = "passed"
    FAILED = "failed"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class Graded:
    """A grade with its reason.

    Attributes:
        reason: why it did not pass, as a sentence; of one that passed, what the tests are not to be trusted
            with, mostly empty.
        failure: what became of the program that decided, None where none ran.
        wall_s: of all programs that were run for it.
        failed_tests: numbers of the assertions that failed, where the tests came to their end.
    """

    grade: Grade
    reason: str = ""
    failure: FailureClass | None = None
    wall_s: float = 0.0
    failed_tests: tuple[int, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.grade is Grade.PASSED


PASSED = Graded(Grade.PASSED)


def build_failed_grade(reason: str, failure: FailureClass | None = None, wall_s: float = 0.0) -> Graded:
    """Return a failed grade."""
    return Graded(Grade.FAILED, reason, failure, wall_s)


def build_unjudged_grade(reason: str, failure: FailureClass | None = None) -> Graded:
    """Return the grade of what could not be tried."""
    return Graded(Grade.UNJUDGED, reason, failure)


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to one problem.

    Attributes:
        text: the code, the patch, the query, or the calls.
        is_whole: whether it replaces the prompt; else it is its continuation.
        turns: how many attempts the agent made, where it was run.
        error: why there is no answer, empty where there is one.
        model: that gave it; empty where the samples do not name it.
    """

    problem: str
    text: str
    is_whole: bool = False
    turns: int = 1
    error: str = ""
    model: str = ""


OpenImage: TypeAlias = Callable[[str], Sandbox]
"""Opens a sandbox of the docker backend for a local image; raises `SandboxError` where it is not there."""


@dataclass(frozen=True, slots=True)
class GradingSetup:
    """Where answers are tried.

    Attributes:
        sandbox: runs the programs.
        timeout_s: of one program.
        memory_bytes: of one program.
        packages: that every Python program finds beside the runtime.
        open_image: for benchmarks whose instances are container images.
        require_apart: whether tests that must share the answer's interpreter leave it unjudged.
    """

    sandbox: Sandbox
    timeout_s: float = 10.0
    memory_bytes: int = 512 * 1024 * 1024
    packages: PackageSet | None = None
    open_image: OpenImage | None = None
    require_apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(ABC):
    """One problem.

    Attributes:
        id: as its project names it.
        prompt: what a model is given.
        language: of the answer.
        reference: the project's own solution, None where it publishes none.
        published: when the problem became public, where known.
        groups: dimensions for tables: difficulty, platform, category, repository.
        hidden: texts of the tests that decide, to look for in prompts.
    """

    id: str
    prompt: str
    language: str = "python"
    reference: Answer | None = None
    published: date | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()

    @property
    @abstractmethod
    def test_sets(self) -> tuple[str, ...]:
        """Names of the test sets that an answer is graded by, the one that is reported first in front."""

    @abstractmethod
    def evaluate(self, answer: Answer, setup: GradingSetup) -> Mapping[str, Graded]:
        """Return a grade by each test set."""

    def evaluate_public(self, answer: Answer, setup: GradingSetup) -> Graded | None:
        """Return the grade by the tests that an agent may see; None where the problem has none."""
        return None

    @property
    def task(self) -> str:
        """What an agent is given."""
        return self.prompt


Row: TypeAlias = Mapping[str, Any]
"""One entry of a published file."""
