"""Measure how fast answers to a benchmark of code are graded, beside a plain reference harness in one run.

Usage: python tests/bench/code_benchmarks.py HUMANEVAL.jsonl [--mutants] [--workers 2]

HUMANEVAL: the published file. The reference does what published harnesses do: a process for each answer,
which runs prompt, solution and tests by `exec` under a time limit, with no wall around it; it is given the
published solutions only. Printed: problems per second of both, their ratio, and how many solutions pass.
With --mutants each solution is changed in one place (a comparison turned, a number moved by one), and how
many of these pass is printed, too: they run in the sandbox alone.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from spanproof.benchmarks import (
    BENCHMARKS,
    Answer,
    GradingSetup,
    Problem,
    Source,
    evaluate_answers,
    read_problems,
)
from spanproof.benchmarks.files import iter_rows
from spanproof.sandbox.registry import open_sandbox

_TURNED = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


def _execute(program: str) -> None:
    exec(program, {"__name__": "__main__"})


def run_plain(program: str) -> bool:
    """Run one program in a process of its own, as the published harness does."""
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_execute, args=(program,))
    process.start()
    process.join(10.0)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode == 0


class Mutation(ast.NodeTransformer):
    """Changes the first comparison or number that it meets."""

    done = False

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        turned = _TURNED.get(type(node.ops[0]))
        if not self.done and turned is not None:
            self.done = True
            node.ops[0] = turned()
            return node
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not self.done and type(node.value) is int:
            self.done = True
            return ast.Constant(node.value + 1)
        return node


def mutate(problem: Problem) -> Answer | None:
    """Return the published solution, changed in one place; None where there is none to change."""
    assert problem.reference is not None
    change = Mutation()
    tree = change.visit(ast.parse(problem.prompt + problem.reference.text))
    return Answer(problem.id, ast.unparse(tree), is_whole=True) if change.done else None


def time_sandbox(problems: Sequence[Problem], answers: Sequence[Answer], workers: int) -> tuple[float, int]:
    """Return seconds, and how many answers pass."""
    with open_sandbox("jail", workers=workers, settings={}) as sandbox:
        place = GradingSetup(sandbox)
        evaluate_answers(problems, answers[:1], place)  # the sandbox starts with its first program
        start = time.perf_counter()
        graded = evaluate_answers(problems, answers, place, workers)
        return time.perf_counter() - start, sum(each.first.passed for each in graded)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--mutants", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    problems = read_problems(BENCHMARKS["humaneval"], Source(given.file))
    programs = [
        f"{row['prompt']}{row['canonical_solution']}\n{row['test']}\ncheck({row['entry_point']})\n"
        for _, row in iter_rows(given.file)
    ]
    with ProcessPoolExecutor(given.workers) as pool:
        list(pool.map(run_plain, ["pass"] * given.workers))  # its processes start
        start = time.perf_counter()
        plain = sum(pool.map(run_plain, programs))
        plain_s = time.perf_counter() - start
    answers = [each.reference for each in problems if each.reference is not None]
    ours_s, ours = time_sandbox(problems, answers, given.workers)
    total = len(problems)
    print(f"reference harness  {plain} of {total} pass  {total / plain_s:6.1f} problems/s")
    print(f"spanproof bench    {ours} of {total} pass  {total / ours_s:6.1f} problems/s")
    print(f"ratio              {plain_s / ours_s:.2f} of the reference's throughput")
    if given.mutants:
        mutants = [each for each in map(mutate, problems) if each is not None]
        _, passed = time_sandbox(problems, mutants, given.workers)
        print(f"mutants            {passed} of {len(mutants)} pass")


if __name__ == "__main__":
    main()
