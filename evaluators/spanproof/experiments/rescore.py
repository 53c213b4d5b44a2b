"""Stored trials judged again: by today's evaluators and by what the suite requires today, without the agent.

Takes the folder of an experiment; writes another one, with the former as its baseline.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanproof.evaluators.engine import Engine
from spanproof.experiments.agents import AgentKind
from spanproof.experiments.basis import Basis, Continuation, compute_case_digest, load_trials
from spanproof.experiments.comparison import read_baseline
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.experiment import Experiment
from spanproof.experiments.folder import ExperimentFolder
from spanproof.experiments.judge import evaluate_trial
from spanproof.experiments.launch import Ended
from spanproof.experiments.seeds import compute_trial_seed
from spanproof.experiments.trial import Trial, TrialVerdict
from spanproof.gate import OpenPolicy
from spanproof.suites import Case, load_suite
from spanproof.suites.requests import HttpRequest


def evaluate_again(
    origin: Path,
    suite: Path,
    folder: Path,
    engine: Engine,
    jobs: int = 2,
    report: Callable[[Trial], None] = lambda _trial: None,
    open_policy: OpenPolicy = OpenPolicy.NOT_PASSED,
    continuation: Continuation = Continuation.CHANGED,
    configuration: str = "",
    note: Callable[[str], None] = lambda _text: None,
) -> Experiment:
    """Judge the trials of an experiment again.

    Args:
        origin: its folder, which is not changed.
        suite: folder of the suite; trials of cases that it no longer has are left out.
        folder: where the results are written; one that holds part of them is completed.
        engine: judges the runs.
        jobs: trials at once.
        report: called with each trial as it is judged.
        open_policy: what open trials count as.
        continuation: what becomes of the trials that the folder holds.
        configuration: a digest of what the engine was made from.
        note: gets, as a sentence, which trials of the folder count.

    Raises:
        ExperimentError: there is no experiment, none of its cases is in the suite, or `folder` holds another.
        SuiteError: the suite cannot be read.
    """
    source, results = ExperimentFolder(origin), ExperimentFolder(folder)
    origin_head = source.read_head()
    cases = {case.id: case for case in load_suite(suite)}
    trials = [trial for trial in source.read_trials() if trial.case in cases]
    if not trials:
        raise ExperimentError(f"{origin} has no trial of a case of {suite}: name the suite that it ran")
    shared = {key: origin_head[key] for key in ("agent", "seed", "tools")}
    head = {"suite": str(suite.resolve()), **shared, "rescored": str(origin.resolve())}
    tried = sorted({trial.case for trial in trials})
    digests = {case: compute_case_digest(suite, case) for case in tried}
    basis = Basis({"configuration": configuration}, digests)
    wanted = max(trial.number for trial in trials)
    judged = load_trials(results, head, basis, wanted, continuation, note)
    finished = {(trial.case, trial.number) for trial in judged}
    left = [trial for trial in trials if (trial.case, trial.number) not in finished]
    for trial in judged:
        report(trial)

    def judge(trial: Trial) -> Trial:
        result = _evaluate_trial(trial, cases[trial.case], source, origin_head, results, engine)
        return replace(result, basis=basis.compute_digest(trial.case))

    with ThreadPoolExecutor(jobs) as pool:
        for trial in pool.map(judge, left):
            judged.append(results.add_trial(trial))
            report(trial)
    is_comparable = any(_has_outcome(trial) for trial in trials)
    return Experiment(
        str(folder),
        origin_head["agent"]["target"],
        tuple(case for case in cases.values() if case.id in tried),
        tuple(judged),
        wanted,
        baseline=read_baseline(origin, open_policy) if is_comparable else None,
        suite=str(suite),
        results=results,
        open_policy=open_policy,
    )


def _evaluate_trial(
    trial: Trial,
    case: Case,
    source: ExperimentFolder,
    head: Mapping[str, Any],
    results: ExperimentFolder,
    engine: Engine,
) -> Trial:
    """Return a stored trial as it is judged today; its files and spans are copied to the results."""
    has_files = head["agent"]["kind"] != AgentKind.URL
    files = source.read_files(trial.case, trial.number) if has_files else None
    results.write_files(trial.case, trial.number, files or {})
    spans = results.get_trace_file(trial.case, trial.number)
    stored_spans = source.get_trace_file(trial.case, trial.number)
    if stored_spans.exists():
        shutil.copyfile(stored_spans, spans)
    ended = Ended(
        trial.answer,
        trial.error,
        trial.wall_s,
        unknown_calls=trial.unknown_calls,
        files=files,
        requests=tuple(map(HttpRequest.from_json, trial.requests)),
    )
    seed = compute_trial_seed(head["seed"], trial.case, trial.number)
    return evaluate_trial(case, trial.number, ended, spans, engine, seed)


def _has_outcome(trial: Trial) -> bool:
    """Whether a trial counts in a rate: it passed, failed or is open."""
    return trial.verdict.is_judged or trial.verdict is TrialVerdict.OPEN
