"""How a new prompt is proposed: six ways, each from what the search knows so far.

Models are any that an OpenAI-compatible endpoint serves. What a model writes is data: a proposal without the
tags that it was to use is dropped.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.experiment import Experiment
from spanproof.experiments.optimise.model import Candidate, Measured, select_front

_MOST_EXAMPLES, _MOST_FAILURES, _MOST_CHARACTERS = 3, 5, 600
_PROMPT = re.compile(r"<prompt>(.*?)</prompt>", re.DOTALL)
_FORM = "Write the whole new prompt between <prompt> and </prompt>. Keep every placeholder of the old one."


class Completes(Protocol):
    """A model: takes a request, gives its reply."""

    def fetch_reply(self, request: str, *, seed: int) -> str:
        """Return the reply."""


class ChatModel:
    """A model behind `OPENAI_BASE_URL`, as `OPENAI_API_KEY`."""

    def __init__(self, model: str, *, timeout_s: float = 60.0) -> None:
        """Open a client.

        Raises:
            ExperimentError: the client cannot be opened.
        """
        try:
            from openai import OpenAI, OpenAIError
        except ImportError as problem:
            raise ExperimentError(
                "the model that proposes prompts needs the package openai: pip install 'spanproof[judge]'"
            ) from problem
        self._model = model
        self._errors = OpenAIError
        try:
            self._client = OpenAI(timeout=timeout_s, max_retries=2)
        except OpenAIError as problem:
            raise ExperimentError(f"the model {model} cannot be reached: {problem}") from problem

    def fetch_reply(self, request: str, *, seed: int) -> str:
        """Return the reply.

        Raises:
            ExperimentError: there was none.
        """
        try:
            reply = self._client.chat.completions.create(
                model=self._model, messages=[{"role": "user", "content": request}], seed=seed, temperature=1.0
            )
        except self._errors as problem:
            raise ExperimentError(f"the model {self._model} gave no proposal: {problem}") from problem
        return reply.choices[0].message.content or ""


@dataclass(frozen=True, slots=True)
class History:
    """What a strategy may use. It holds nothing of a validation case but scores.

    Attributes:
        measured: all candidates on the validation cases, less those that lose on the regression suite.
        train: the experiments on the train cases, by candidate.
        draw: the source of chance of this proposal.
    """

    measured: Sequence[Measured]
    train: Mapping[str, Experiment]
    model: Completes
    draw: random.Random
    seed: int

    @property
    def best(self) -> Candidate:
        """The candidate with the best score, the first of equals."""
        return max(self.measured, key=lambda entry: entry.score or 0.0).candidate


Strategy = Callable[[History], Candidate | None]


def fetch_variation(history: History) -> Candidate | None:
    """Return the start prompt written anew: random search."""
    start = history.measured[0].candidate
    return _fetch_candidate(
        "random", start, history, f"Write a variation of this prompt.\n{_format_candidate(start)}"
    )


def fetch_history_proposal(history: History) -> Candidate | None:
    """Return a prompt written from those so far with scores, the best last: OPRO (Yang et al. 2023)."""
    ranked = sorted(history.measured, key=lambda entry: entry.score or 0.0)
    listing = "\n".join(
        f"score {measured.score or 0.0:.2f}:\n{_format_candidate(measured.candidate)}"
        for measured in ranked[-8:]
    )
    request = (
        f"Below are prompts of an agent and their scores, 0 to 1. Write one that scores higher.\n{listing}"
    )
    return _fetch_candidate("meta", history.best, history, request)


def fetch_gradient_proposal(history: History) -> Candidate | None:
    """Return the best prompt edited against a critique of it: ProTeGi (Pryzant et al. 2023)."""
    parent = history.best
    failures = _format_failures(history, parent)
    if not failures:
        return None
    critique = history.model.fetch_reply(
        f"Here are a prompt of an agent and runs of it that failed. Give the reasons in the prompt.\n"
        f"{_format_candidate(parent)}\n{failures}",
        seed=history.seed,
    )
    request = (
        f"Edit this prompt against the critique.\n{_format_candidate(parent)}\nCritique: {critique[:4000]}"
    )
    return _fetch_candidate("protegi", parent, history, request)


def fetch_reflection_proposal(history: History) -> Candidate | None:
    """Return a Pareto-front prompt rewritten from its failed runs: GEPA-like (Agrawal et al. 2025)."""
    front = select_front(history.measured)
    if front:
        parent = history.draw.choice(front).candidate
    else:
        parent = history.best
    failures = _format_failures(history, parent)
    if not failures:
        return None
    request = (
        "An agent ran with this prompt. Read what went wrong in each run, find what the prompt has to teach,"
        f" and write a better one.\n{_format_candidate(parent)}\n{failures}"
    )
    return _fetch_candidate("gepa", parent, history, request)


def find_example_proposal(history: History) -> Candidate | None:
    """Return the best prompt with passed train runs as examples, without a model (Khattab et al. 2023)."""
    parent = history.best
    examples = _format_examples(history, parent)
    if examples:
        return Candidate(parent.instruction, examples, "few_shot", parent.id)
    return None


def fetch_pair_proposal(history: History) -> Candidate | None:
    """Return an instruction with independently drawn examples: MIPRO-like (Opsahl-Ong et al. 2024).

    Every other instruction is new, written from what the train cases have in common; the rest are known ones.
    """
    parent = history.draw.choice(history.measured).candidate
    examples = _format_examples(history, history.draw.choice(history.measured).candidate)
    if len(history.measured) % 2:
        tasks = "\n".join(f"Task: {text}" for text in _select_tasks(history))
        request = (
            "An agent gets tasks like these. Find what they have in common and what an answer needs, and"
            f" write a better prompt.\n{tasks}\n{_format_candidate(parent)}"
        )
        written = _fetch_candidate("mipro", parent, history, request)
        return replace(written, examples=examples) if written else None
    if examples:
        return Candidate(parent.instruction, examples, "mipro", parent.id)
    return None


STRATEGIES: Mapping[str, Strategy] = {
    "random": fetch_variation,
    "few_shot": find_example_proposal,
    "meta": fetch_history_proposal,
    "protegi": fetch_gradient_proposal,
    "gepa": fetch_reflection_proposal,
    "mipro": fetch_pair_proposal,
}


def _fetch_candidate(strategy: str, parent: Candidate, history: History, request: str) -> Candidate | None:
    found = _PROMPT.search(history.model.fetch_reply(f"{request}\n{_FORM}", seed=history.seed))
    text = found.group(1).strip() if found else ""
    if text:
        return Candidate(text, parent.examples, strategy, parent.id)
    return None


def _format_candidate(candidate: Candidate) -> str:
    return f"<prompt>\n{candidate.instruction}\n</prompt>"


def _format_failures(history: History, candidate: Candidate) -> str:
    """Return failed train runs as text: task, answer, and what was wrong with it."""
    experiment = history.train.get(candidate.id)
    lines = []
    for result in experiment.cases if experiment else ():
        if failed := result.first_failure:
            answer = (failed.answer or "none")[:_MOST_CHARACTERS]
            reason = failed.reason[:_MOST_CHARACTERS]
            lines.append(f"Task: {result.case.task}\nAnswer: {answer}\nWrong: {reason}\n")
    history.draw.shuffle(lines)
    return "\n".join(lines[:_MOST_FAILURES])


def _select_tasks(history: History) -> list[str]:
    """Return tasks of train cases, each once."""
    cases = [result.case for experiment in history.train.values() for result in experiment.cases]
    tasks = sorted({case.task[:_MOST_CHARACTERS] for case in cases if case.task})
    return history.draw.sample(tasks, min(_MOST_FAILURES, len(tasks)))


def _format_examples(history: History, candidate: Candidate) -> str:
    experiment = history.train.get(candidate.id)
    if experiment is None:
        return ""
    passed = []
    for result in experiment.cases:
        for trial in result.trials[:1]:
            answer = trial.answer or ""
            if trial.passed and 0 < len(answer) <= _MOST_CHARACTERS:
                passed.append(f"Task: {result.case.task}\nAnswer: {answer}")
    if not passed:
        return ""
    drawn = history.draw.sample(passed, min(_MOST_EXAMPLES, len(passed)))
    return "Examples:\n\n" + "\n\n".join(drawn)
