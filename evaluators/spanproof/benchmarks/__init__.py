"""Public benchmarks of code: answers to published problems, graded in the sandbox.

read_problems(BENCHMARKS["humaneval"], Source(path)), read_samples(path) → grade_answers → BenchmarkReport
"""

from spanproof.benchmarks.contamination import Contamination, find_signs
from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.formats.sources import Source
from spanproof.benchmarks.journal import Journal
from spanproof.benchmarks.model import Answer, Grade, Graded, Place, Problem
from spanproof.benchmarks.registry import BENCHMARKS, Benchmark, read_problems
from spanproof.benchmarks.report import BenchmarkReport, Protocol, Rate, write_graded
from spanproof.benchmarks.run import GradedAnswer, grade_answers, match_answers
from spanproof.benchmarks.samples import read_samples

__all__ = [
    "BENCHMARKS",
    "Answer",
    "Benchmark",
    "BenchmarkError",
    "BenchmarkReport",
    "Contamination",
    "Grade",
    "Graded",
    "GradedAnswer",
    "Journal",
    "Place",
    "Problem",
    "Protocol",
    "Rate",
    "Source",
    "find_signs",
    "grade_answers",
    "match_answers",
    "read_problems",
    "read_samples",
    "write_graded",
]
