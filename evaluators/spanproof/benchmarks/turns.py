"""An agent that writes code, reads what the public tests say, and writes again.

In each turn the agent is given the task, its last code and what became of it under the public tests. It ends
when they pass, or after the last turn; the last code is the answer. Private tests are not run before that.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType
from typing import TypeAlias

from spanproof.benchmarks.model import Answer, Graded, GradingSetup, Problem
from spanproof.benchmarks.run import GradedAnswer, run_all
from spanproof.benchmarks.samples import read_code
from spanproof.experiments.agents import AgentKind, AgentUnderTest
from spanproof.experiments.launch import AgentRunner, AgentServers
from spanproof.experiments.listener import OtlpListener
from spanproof.experiments.seeds import compute_trial_seed
from spanproof.experiments.settings import Settings
from spanproof.suites import Case
from spanproof.trace import Cohort

MAX_TURNS = 5

Ask: TypeAlias = Callable[[Problem, str, int], tuple[str | None, str]]
"""Gives an agent a task of a problem with a seed; returns its answer, or None and why there is none."""


def run_turns(problem: Problem, ask: Ask, setup: GradingSetup, turns: int, seed: int) -> Answer:
    """Return an agent's answer to a problem after at most `turns` attempts."""
    task, code, whole = problem.task, "", False
    for turn in range(1, turns + 1):
        text, error = ask(problem, task, seed)
        if text is None:
            return Answer(problem.id, "", turns=turn, error=error)
        code, fenced = read_code(text)
        whole = fenced or problem.language not in ("python", "javascript", "typescript", "bash")
        answer = Answer(problem.id, code, is_whole=whole, turns=turn)
        if turn == turns:
            break
        tried = problem.evaluate_public(answer, setup)
        if tried is None or tried.passed:
            break
        task = _describe_attempt(problem, code, tried)
    return answer


def build_ask(runner: AgentRunner) -> Ask:
    """Return how an agent of an experiment is called: in a process of its own."""

    def ask(problem: Problem, task: str, seed: int) -> tuple[str | None, str]:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", problem.id)[:80]
        case = Case(name, None, "", task, Cohort(task=problem.id), (), (), None)
        with tempfile.TemporaryDirectory(prefix="spanproof-bench-") as folder:
            ended = runner.run(case, (), seed, Path(folder), Path(folder) / "trace.pb")
        return ended.answer, ended.error or ""

    return ask


def run_agent(
    agent: AgentUnderTest,
    problems: Sequence[Problem],
    setup: GradingSetup,
    settings: Settings,
    turns: int,
    report: Callable[[GradedAnswer], None] = lambda _graded: None,
    done: Mapping[tuple[str, int], GradedAnswer] = MappingProxyType({}),
) -> list[GradedAnswer]:
    """Return an agent's answers to all problems, graded: `settings.trials` to each, `settings.jobs` at once.

    Args:
        agent: is run once for each answer and turn.
        problems: in the order of the result.
        setup: where the answers are tried.
        settings: how the agent is run.
        turns: attempts at most.
        report: called with each answer as it is graded.
        done: answers that are there already, by problem and number; the agent is not run for these.

    Raises:
        ExperimentError: the agent cannot be made or started.
    """
    with ExitStack() as stack:
        port = settings.listen_port
        if agent.kind is AgentKind.URL:
            listener = stack.enter_context(OtlpListener(port))
        else:
            listener = None
        servers = AgentServers(agent, settings)
        stack.callback(servers.close)
        idle: SimpleQueue[AgentRunner] = SimpleQueue()
        for _ in range(settings.jobs):
            runner = AgentRunner(agent, settings, servers, listener)
            stack.callback(runner.close)
            idle.put(runner)

        def answer(problem: Problem, number: int) -> GradedAnswer:
            runner = idle.get()
            try:
                seed = compute_trial_seed(settings.seed, problem.id, number)
                reply = run_turns(problem, build_ask(runner), setup, turns, seed)
            finally:
                idle.put(runner)
            return GradedAnswer(reply, number, problem.evaluate(reply, setup))

        pool = stack.enter_context(ThreadPoolExecutor(settings.jobs))
        wanted = [(problem, number) for problem in problems for number in range(1, settings.trials + 1)]
        found = {key: done[key] for problem, number in wanted if (key := (problem.id, number)) in done}
        left = (task for task in wanted if (task[0].id, task[1]) not in found)
        for graded in run_all(pool, answer, left, settings.jobs):
            found[graded.answer.problem, graded.number] = graded
            report(graded)
        return [found[problem.id, number] for problem, number in wanted]


def _describe_attempt(problem: Problem, code: str, tried: Graded) -> str:
    return (
        f"{problem.task}\n\nYour last attempt:\n\n```\n{code.rstrip()}\n```\n\n"
        f"Under the public tests it does not pass: {tried.reason}\n\nCorrect it, and"
        " answer with the whole code."
    )
