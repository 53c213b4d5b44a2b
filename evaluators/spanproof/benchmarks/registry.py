"""The benchmarks by name, each with its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.formats.bfcl import iter_bfcl
from spanproof.benchmarks.formats.bigcodebench import iter_bigcodebench
from spanproof.benchmarks.formats.evalplus import iter_evalplus
from spanproof.benchmarks.formats.humaneval import iter_humaneval, iter_humaneval_x, iter_multipl_e
from spanproof.benchmarks.formats.livecodebench import iter_livecodebench
from spanproof.benchmarks.formats.mbpp import iter_mbpp
from spanproof.benchmarks.formats.sources import Source
from spanproof.benchmarks.formats.swe_bench import iter_swe_bench
from spanproof.benchmarks.formats.tau import iter_tau
from spanproof.benchmarks.formats.text_to_sql import iter_text_to_sql
from spanproof.benchmarks.model import Problem


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark whose files can be read.

    Attributes:
        timeout_s: of one program, as its own harness has it or more.
    """

    name: str
    read: Callable[[Source], Iterator[Problem]]
    timeout_s: float = 10.0


def _from_file(read: Callable[[Path], Iterator[Problem]]) -> Callable[[Source], Iterator[Problem]]:
    return lambda source: read(source.problems)


BENCHMARKS: Final = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("humaneval", _from_file(iter_humaneval)),
        Benchmark("humaneval+", _from_file(iter_evalplus), timeout_s=30.0),
        Benchmark("humaneval-x", _from_file(iter_humaneval_x)),
        Benchmark("mbpp", _from_file(iter_mbpp)),
        Benchmark("mbpp+", _from_file(iter_evalplus), timeout_s=30.0),
        Benchmark("multipl-e", _from_file(iter_multipl_e), timeout_s=15.0),
        Benchmark("livecodebench", _from_file(iter_livecodebench)),
        Benchmark("bigcodebench", _from_file(iter_bigcodebench), timeout_s=60.0),
        Benchmark("swe-bench", iter_swe_bench, timeout_s=1800.0),
        Benchmark("text-to-sql", iter_text_to_sql, timeout_s=30.0),
        Benchmark("bfcl", iter_bfcl),
        Benchmark("tau", iter_tau),
    )
}


def read_problems(benchmark: Benchmark, source: Source) -> list[Problem]:
    """Return the problems of a benchmark, of which there is at least one, each with an id of its own.

    Raises:
        BenchmarkError: a file is not in the published format.
        OSError: it cannot be read.
    """
    problems: dict[str, Problem] = {}
    for problem in benchmark.read(source):
        if problem.id in problems:
            raise BenchmarkError(f"{source.problems}: two problems have the id {problem.id!r}")
        problems[problem.id] = problem
    if not problems:
        raise BenchmarkError(f"{source.problems} holds no problems")
    return list(problems.values())
