"""Public benchmarks of code: answers to published problems, graded in the sandbox.

read_problems(BENCHMARKS["humaneval"], Source(path)), iter_samples(path) → evaluate_answers → BenchmarkReport
"""

from spanproof.benchmarks.contamination import Contamination, evaluate_contamination
from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.formats.sources import Source
from spanproof.benchmarks.journal import Journal
from spanproof.benchmarks.model import Answer, Grade, Graded, GradingSetup, Problem
from spanproof.benchmarks.registry import BENCHMARKS, Benchmark, read_problems
from spanproof.benchmarks.report import BenchmarkReport, Protocol, Rate, encode_graded
from spanproof.benchmarks.run import GradedAnswer, evaluate_answers, select_answers
from spanproof.benchmarks.samples import iter_samples

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
    "GradingSetup",
    "Journal",
    "Problem",
    "Protocol",
    "Rate",
    "Source",
    "encode_graded",
    "evaluate_answers",
    "evaluate_contamination",
    "iter_samples",
    "read_problems",
    "select_answers",
]
