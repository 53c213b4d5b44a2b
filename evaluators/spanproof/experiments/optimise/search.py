"""The search: propose, run on train and validation cases, keep the best, and measure it on the held-out ones.

Everything that was proposed or run is in the folder, so an interrupted search goes on: the proposals, and the
experiments of each candidate below its id.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from spanproof.evaluators.engine import Engine
from spanproof.experiments.agents import AgentUnderTest
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.experiment import Experiment
from spanproof.experiments.launch import AgentServers
from spanproof.experiments.optimise.folder import Proposals
from spanproof.experiments.optimise.model import (
    Candidate,
    Measured,
    Optimised,
    Split,
    build_split,
    compare_measured,
    evaluate_candidate,
)
from spanproof.experiments.optimise.proposals import STRATEGIES, Completes, History
from spanproof.experiments.run import run_experiment
from spanproof.experiments.settings import Settings
from spanproof.suites import load_suite


@dataclass(frozen=True, slots=True)
class OptimiserSettings:
    """How to search.

    Attributes:
        variable: environment variable in which the agent gets its prompt.
        strategies: by which proposals are made, in turn.
        rounds: proposals at most.
        patience: rounds without a better candidate before the search ends.
        max_tokens: of the agent over the whole search; no further candidate is run beyond them.
        regression: a suite on which a candidate may not be worse than the start: one that is counts as no
            better candidate, and no proposal is made from it.
        trials: how each case is tried.
        few_cases: whether a suite with too few cases to show a gain is searched.
    """

    variable: str
    strategies: tuple[str, ...] = ("gepa", "few_shot", "meta", "protegi")
    rounds: int = 12
    patience: int = 6
    max_tokens: int | None = None
    regression: Path | None = None
    trials: Settings = field(default_factory=Settings)
    few_cases: bool = False


def run_search(
    agent: AgentUnderTest,
    suite: Path,
    start: str,
    folder: Path,
    engine: Engine,
    model: Completes,
    settings: OptimiserSettings,
    report: Callable[[Measured], None] = lambda _measured: None,
) -> Optimised:
    """Search a better prompt for an agent.

    Args:
        agent: a module's or a program; it reads its prompt from the variable.
        suite: whose cases are split into train, validation and held-out ones.
        start: the prompt as it is.
        folder: of the results; one that holds part of this search is completed.
        engine: judges the runs.
        model: proposes prompts.
        settings: how to search.
        report: called with each candidate once it was run on the validation cases.

    Raises:
        ExperimentError: too few cases, an unknown strategy, another search in the folder, or what
            `run_experiment` and the model raise.
    """
    if unknown := set(settings.strategies) - STRATEGIES.keys():
        raise ExperimentError(f"there is no strategy {sorted(unknown)[0]!r}; known: {', '.join(STRATEGIES)}")
    ids = [case.id for case in load_suite(suite)]
    candidate = Candidate(start)
    proposals = Proposals(folder, _build_basis(candidate, settings))
    split = build_split(ids, settings.trials.seed, few_allowed=settings.few_cases)
    runs = _Runs(agent, suite, folder, engine, settings, split)
    with closing(runs):
        return _Search(runs, proposals, model, settings, report).run(candidate)


def _build_basis(start: Candidate, settings: OptimiserSettings) -> dict[str, object]:
    """Return what an interrupted search has to have in common with the one that goes on."""
    return {
        "start": start.id,
        "variable": settings.variable,
        "strategies": list(settings.strategies),
        "seed": settings.trials.seed,
        "regression": str(settings.regression.resolve()) if settings.regression else None,
    }


class _Runs:
    """Runs candidates, each set of cases once; `tokens` is what the agent has used.

    A prompt has a process of its own, in whose environment it is before the agent is imported.
    """

    def __init__(
        self,
        agent: AgentUnderTest,
        suite: Path,
        folder: Path,
        engine: Engine,
        settings: OptimiserSettings,
        split: Split,
    ) -> None:
        self._agent, self._suite, self._engine, self._settings = agent, suite, engine, settings
        self.folder, self.split = folder, split
        self._found: dict[tuple[str, str], Experiment] = {}
        self._servers: dict[str, AgentServers] = {}
        self.tokens = 0

    def run(self, candidate: Candidate, part: str, suite: Path | None = None) -> Experiment:
        """Return the experiment of a candidate on a part of the suite, or on another suite."""
        key = (candidate.id, part)
        if key not in self._found:
            agent = replace(self._agent, environment=((self._settings.variable, candidate.text),))
            experiment = run_experiment(
                agent,
                suite or self._suite,
                self.folder / "candidates" / candidate.id / part,
                self._engine,
                self._settings.trials,
                only=None if suite else getattr(self.split, part),
                servers=self._open_servers(candidate, agent),
            )
            self.tokens += sum(trial.tokens for trial in experiment.trials)
            self._found[key] = experiment
        return self._found[key]

    def _open_servers(self, candidate: Candidate, agent: AgentUnderTest) -> AgentServers:
        """Return the processes of an agent with this prompt; of others, keep the one run before."""
        servers = self._servers.pop(candidate.id, None) or AgentServers(agent, self._settings.trials)
        while len(self._servers) > 1:
            self._servers.pop(next(iter(self._servers))).close()
        self._servers[candidate.id] = servers
        return servers

    def close(self) -> None:
        """End the agents' processes."""
        for servers in self._servers.values():
            servers.close()

    def run_on_train(self, measured: Sequence[Measured]) -> dict[str, Experiment]:
        """Return the experiments on train cases of these candidates."""
        return {one.candidate.id: self.run(one.candidate, "train") for one in measured}


class _Search:
    def __init__(
        self,
        runs: _Runs,
        proposals: Proposals,
        model: Completes,
        settings: OptimiserSettings,
        report: Callable[[Measured], None],
    ) -> None:
        self._runs, self._proposals, self._model = runs, proposals, model
        self._settings, self._report = settings, report
        self._measured: list[Measured] = []
        self._rejected: dict[str, str] = {}

    def run(self, start: Candidate) -> Optimised:
        self._run_candidate(start)
        stopped = self._run_rounds()
        best = self._best.candidate
        # The only runs on held-out cases: nothing is chosen by them.
        before, after = (
            evaluate_candidate(version, self._runs.run(version, "held_out")) for version in (start, best)
        )
        return Optimised(best, tuple(self._measured), before, after, stopped, self._rejected)

    def _run_rounds(self) -> str:
        """Propose and measure until something ends it; returns what."""
        settings, idle = self._settings, 0
        for number in range(settings.rounds):
            if self._best.score == 1.0:
                return "every validation case passes"
            if settings.max_tokens is not None and self._runs.tokens >= settings.max_tokens:
                return f"the budget of {settings.max_tokens} tokens is spent: {self._runs.tokens} were used"
            if idle >= settings.patience:
                return f"{idle} rounds brought nothing better"
            before = self._best
            candidate = self._proposals.load(number, self._find_proposal)
            if candidate and candidate.id not in {measured.candidate.id for measured in self._measured}:
                self._run_candidate(candidate)
            idle = 0 if _read_score(self._best) > _read_score(before) else idle + 1
        return f"{settings.rounds} rounds were made"

    def _find_proposal(self, number: int) -> Candidate | None:
        settings = self._settings
        seed = settings.trials.seed + number
        strategy = STRATEGIES[settings.strategies[number % len(settings.strategies)]]
        train = self._runs.run_on_train(self._accepted)
        draw = random.Random(seed)  # noqa: S311 - no secret
        return strategy(History(self._accepted, train, self._model, draw, seed))

    def _run_candidate(self, candidate: Candidate) -> None:
        """Run a candidate on the validation cases, and one that would be the best on the regression suite."""
        measured = evaluate_candidate(candidate, self._runs.run(candidate, "validation"))
        self._measured.append(measured)
        start = self._measured[0].candidate
        if self._best is measured and (regression := self._describe_regression(start, candidate)):
            self._rejected[candidate.id] = regression
        self._report(measured)

    @property
    def _accepted(self) -> tuple[Measured, ...]:
        return tuple(measured for measured in self._measured if measured.candidate.id not in self._rejected)

    @property
    def _best(self) -> Measured:
        """The candidate with the best score; of equals the cheaper one, then the first."""
        return min(self._accepted, key=lambda entry: (-_read_score(entry), entry.tokens))

    def _describe_regression(self, start: Candidate, candidate: Candidate) -> str:
        suite = self._settings.regression
        if suite is None or candidate is start:
            return ""
        before, now = (
            evaluate_candidate(version, self._runs.run(version, "regression", suite))
            for version in (start, candidate)
        )
        worse = sorted(case for case, rate in before.rates.items() if now.rates.get(case, 0.0) < rate)
        difference = compare_measured(before.rates, now.rates)
        if difference is None or difference.mean < 0:
            return f"worse on the regression suite: {', '.join(worse) or 'no case was judged'}"
        return ""


def _read_score(measured: Measured) -> float:
    return measured.score or 0.0
