"""An evaluation engine for commands: built from a configuration, with its sandbox, for every run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spanproof.cli.options.backend import open_backend
from spanproof.cli.options.policy import load_pipeline
from spanproof.cli.output.console import write_remark, write_warning
from spanproof.config.engine import build_engine
from spanproof.config.model import Config
from spanproof.evaluators.engine import Engine
from spanproof.sandbox import Sandbox
from spanproof.trace import digest

if TYPE_CHECKING:
    from spanproof.evaluators.structure import Files


@contextmanager
def opened_engine(
    config: Config,
    policy_file: Path | None = None,
    *,
    replay: bool = True,
    workers: int = 1,
    probe: bool = True,
    runs_before: Mapping[str, Files] | None = None,
) -> Iterator[Engine]:
    """Open an engine that evaluates every run, with its sandbox, which is closed afterwards.

    Where the backend cannot run on this machine, the engine evaluates the record alone, and stderr says why.

    Args:
        config: what it is built from.
        policy_file: replaces the configuration's.
        replay: whether code may run again at all.
        workers: programs run at once.
        probe: whether to check now that the backend can run here; else it is checked when code first runs.
        runs_before: the code of runs before, by task, which structural metrics compare with.

    Raises:
        UsageProblem, PolicyError, EvaluatorError, JudgeError, BadFixture: the configuration cannot be used.
    """
    every_run = config.evaluation.model_copy(update={"sampling": ()})
    unsampled = config.model_copy(update={"evaluation": every_run})
    pipeline = load_pipeline(policy_file or config.policy)

    def build(sandbox: Sandbox | None, no_replay: str = "") -> Engine:
        return build_engine(unsampled, pipeline, sandbox, no_replay, runs_before)

    if not (replay and config.evaluation.replay):
        yield build(None, "replay is switched off")
        return
    backend = config.sandbox.backend
    with open_backend(backend, config.sandbox.settings, workers) as sandbox:
        missing = sandbox.availability().missing if probe else ()
        if not missing:
            yield build(sandbox)
            return
        reason = f"the backend {backend!r} cannot run here: {missing[0].detail or missing[0].name}"
        write_warning(f"no replay: {reason}")
        if missing[0].remedy:
            write_remark(f"  remedy: {missing[0].remedy}")
        yield build(None, reason)


def compute_config_digest(config: Config, policy_file: Path | None = None) -> str:
    """Return a digest of what an engine judges by: the configuration, its policy, its evaluators' files."""
    policy = policy_file or config.policy
    path = Path(policy) if policy is not None else None
    is_file = path is not None and path.is_file()
    if path is not None and is_file:
        text = path.read_text(encoding="utf-8", errors="replace")
    else:
        text = str(policy)
    files = [
        evaluator.file
        for evaluator in config.evaluators
        if evaluator.file is not None and evaluator.file.is_file()
    ]
    code = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    return digest(config.model_dump_json(), text, *code)


def write_silent_evaluators(config: Config, score_names: Collection[str]) -> None:
    """Warn of the user's functions that gave no score although there were scores: a rule may be misspelt."""
    for evaluator in config.evaluators:
        if not score_names or evaluator.name in score_names:
            continue
        rule = evaluator.attach.model_dump(mode="json", exclude_unset=True) or {"kind": evaluator.attach.kind}
        why = f"nothing here fits `attach` ({', '.join(f'{key}: {value}' for key, value in rule.items())})"
        if evaluator.layer not in config.evaluation.layers:
            why = f"its layer, {evaluator.layer}, is not judged (evaluation.layers)"
        write_warning(f"the evaluator {evaluator.name!r} gave no score: {why}")
