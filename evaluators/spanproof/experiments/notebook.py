"""`spanproof.experiments.run`: an experiment from a notebook or a script, with an engine of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from spanproof.evaluators.engine import Engine
from spanproof.experiments.agents import build_module_agent
from spanproof.experiments.basis import Continuation
from spanproof.experiments.errors import ExperimentError, check_count
from spanproof.experiments.experiment import Experiment
from spanproof.experiments.run import run_experiment
from spanproof.experiments.settings import Settings, Tools
from spanproof.gate import OpenPolicy, parse_open_policy
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline

Choice = TypeVar("Choice", bound=StrEnum)


def run(
    agent: str,
    suite: str | Path,
    trials: int = 1,
    *,
    folder: str | Path | None = None,
    jobs: int = 2,
    seed: int = 0,
    timeout_s: float = 120.0,
    tools: str = Tools.LIVE,
    backend: str = "jail",
    open_policy: str = OpenPolicy.NOT_PASSED,
    continuation: str = Continuation.CHANGED,
) -> Experiment:
    """Run an agent on every case of a suite and judge each run.

    Args:
        agent: `package.module:name`: a factory, a framework's agent, or a function that takes the task. It
            runs in a process of its own, so write one that is defined in a notebook to a module.
        suite: folder of the suite.
        trials: how often each case is tried.
        folder: where the results are written; else a new one below `.spanproof/experiments`.
        jobs: trials at once.
        seed: of the experiment; each trial has its own, by case and number.
        timeout_s: of one trial.
        tools: `live`, or `recorded`: answered from the case.
        backend: the sandbox in which the agent's code is replayed; without one here, nothing is replayed.
        open_policy: what open trials count as: `not-passed`, `pass`, `fail` or `ignore`.
        continuation: what becomes of the trials that the folder holds: `changed` runs again what rests on
            something that changed, `resume` refuses a change, `fresh` starts anew.

    Raises:
        ExperimentError: an argument is not what was expected, the agent cannot be made, or the folder holds
            another experiment.
        SuiteError: the suite cannot be read.
        ValueError: `open_policy` is none of its values.
    """
    for name, number in {"trials": trials, "jobs": jobs}.items():
        check_count(name, number)
    if not isinstance(agent, str):
        raise ExperimentError(
            f"agent must be a text, package.module:name, got {type(agent).__name__}: an agent runs in a"
            " process of its own, so write it to a module"
        )
    settings = Settings(trials, jobs, seed, timeout_s, _parse_choice(Tools, "tools", tools))
    location = Path(folder) if folder else get_new_folder()
    policy = parse_open_policy("spanproof.experiments.run", open_policy)
    with open_engine(backend) as engine:
        found = run_experiment(
            build_module_agent(agent),
            Path(suite),
            location,
            engine,
            settings,
            continuation=_parse_choice(Continuation, "continuation", continuation),
            note=print,
        )
    return replace(found, open_policy=policy)


def _parse_choice(choices: type[Choice], name: str, value: str) -> Choice:
    """Return one of an enum's values.

    Raises:
        ExperimentError: it is none.
    """
    if value not in list(choices):
        raise ExperimentError(f"{name} must be one of {', '.join(choices)}, got {value!r:.40}")
    return choices(value)


@contextmanager
def open_engine(backend: str) -> Iterator[Engine]:
    """Open an engine with a sandbox; where the backend cannot run here, nothing is replayed."""
    with open_sandbox(backend) as sandbox:
        usable = sandbox.availability().usable
        yield Engine(
            pipeline=Pipeline(),
            sandbox=sandbox if usable else None,
            replay_disabled_reason="" if usable else f"the backend {backend!r} cannot run here",
        )


def get_new_folder() -> Path:
    """Return a folder for a new experiment, named by the time."""
    return Path(".spanproof/experiments") / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
