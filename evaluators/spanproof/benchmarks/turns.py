"""An agent that writes code, reads what the public tests say, and writes again.

In each turn the agent is given the task, its last code and what became of it under the public tests. It ends
when they pass, or after the last turn; the last code is the answer. Private tests are not run before that.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import TypeAlias

from spanproof.benchmarks.model import Answer, Graded, Place, Problem
from spanproof.benchmarks.samples import take_code
from spanproof.experiments.agents import AgentKind, AgentUnderTest
from spanproof.experiments.launch import AgentRunner
from spanproof.experiments.listener import OtlpListener
from spanproof.experiments.settings import Settings
from spanproof.suites import Case
from spanproof.trace import Cohort

MAX_TURNS = 5

Ask: TypeAlias = Callable[[Problem, str, int], tuple[str | None, str]]
"""Gives an agent a task of a problem with a seed; returns its answer, or None and why there is none."""


def answer_problem(problem: Problem, ask: Ask, place: Place, turns: int, seed: int) -> Answer:
    """Return an agent's answer to a problem after at most `turns` attempts."""
    task, code, whole = problem.task, "", False
    for turn in range(1, turns + 1):
        text, error = ask(problem, task, seed)
        if text is None:
            return Answer(problem.id, "", turns=turn, error=error)
        code, fenced = take_code(text)
        whole = fenced or problem.language not in ("python", "javascript", "typescript", "bash")
        answer = Answer(problem.id, code, is_whole=whole, turns=turn)
        if turn == turns:
            break
        tried = problem.try_public(answer, place)
        if tried is None or tried.passed:
            break
        task = _describe_attempt(problem, code, tried)
    return answer


def ask_agent(runner: AgentRunner) -> Ask:
    """Return how an agent of an experiment is called: in a process of its own."""

    def ask(problem: Problem, task: str, seed: int) -> tuple[str | None, str]:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", problem.id)[:80]
        case = Case(name, None, "", task, Cohort(task=problem.id), (), (), None)
        with tempfile.TemporaryDirectory(prefix="spanproof-bench-") as folder:
            ended = runner.run(case, (), seed, Path(folder), Path(folder) / "trace.pb")
        return ended.answer, ended.error or ""

    return ask


def answer_all(
    agent: AgentUnderTest, problems: Sequence[Problem], place: Place, settings: Settings, turns: int
) -> list[Answer]:
    """Return an agent's answers to all problems, `settings.trials` to each, `settings.jobs` at once.

    Raises:
        ExperimentError: the agent cannot be made or started.
    """
    with ExitStack() as stack:
        port = settings.listen_port
        listener = stack.enter_context(OtlpListener(port)) if agent.kind is AgentKind.URL else None
        idle: SimpleQueue[AgentRunner] = SimpleQueue()
        for _ in range(settings.jobs):
            runner = AgentRunner(agent, settings, listener)
            stack.callback(runner.close)
            idle.put(runner)

        def answer(problem: Problem, seed: int) -> Answer:
            runner = idle.get()
            try:
                return answer_problem(problem, ask_agent(runner), place, turns, seed)
            finally:
                idle.put(runner)

        pool = stack.enter_context(ThreadPoolExecutor(settings.jobs))
        running = [
            pool.submit(answer, problem, settings.seed + trial)
            for problem in problems
            for trial in range(settings.trials)
        ]
        return [each.result() for each in running]


def _describe_attempt(problem: Problem, code: str, tried: Graded) -> str:
    return (
        f"{problem.task}\n\nYour last attempt:\n\n```\n{code.rstrip()}\n```\n\n"
        f"Under the public tests it does not pass: {tried.reason}\n\nCorrect it, and"
        " answer with the whole code."
    )
