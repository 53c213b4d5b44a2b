"""Stored trials judged again: by today's evaluators and by what the suite requires today, without the agent.

Takes the folder of an experiment; writes another one, with the former as its baseline.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from spanproof.evaluators.engine import Engine
from spanproof.experiments.agents import AgentKind
from spanproof.experiments.basis import Basis, Continuation, compute_case_digest, take_up
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.experiment import Experiment, read_baseline
from spanproof.experiments.folder import ExperimentFolder
from spanproof.experiments.judge import judge_trial
from spanproof.experiments.launch import Ended
from spanproof.experiments.seeds import compute_trial_seed
from spanproof.experiments.trial import Trial, TrialVerdict
from spanproof.gate import OpenPolicy
from spanproof.suites import load_suite
from spanproof.suites.requests import HttpRequest


def rescore_experiment(
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
    known = source.read_head()
    cases = {case.id: case for case in load_suite(suite)}
    trials = [trial for trial in source.read_trials() if trial.case in cases]
    if not trials:
        raise ExperimentError(f"{origin} has no trial of a case of {suite}: name the suite that it ran")
    given = {key: known[key] for key in ("agent", "seed", "tools")}
    head = {"suite": str(suite.resolve()), **given, "rescored": str(origin.resolve())}
    tried = [case for case in cases if case in {trial.case for trial in trials}]
    basis = Basis(
        {"configuration": configuration}, {case: compute_case_digest(suite, case) for case in tried}
    )
    done = take_up(results, head, basis, max(trial.number for trial in trials), continuation, note)
    has_files = known["agent"]["kind"] != AgentKind.URL

    def judge(trial: Trial) -> Trial:
        files = source.read_files(trial.case, trial.number) if has_files else None
        results.write_files(trial.case, trial.number, files or {})
        spans = results.trace_file(trial.case, trial.number)
        if source.trace_file(trial.case, trial.number).exists():
            shutil.copyfile(source.trace_file(trial.case, trial.number), spans)
        ended = Ended(
            trial.answer,
            trial.error,
            trial.wall_s,
            unknown_calls=trial.unknown_calls,
            files=files,
            requests=tuple(map(HttpRequest.from_json, trial.requests)),
        )
        seed = compute_trial_seed(known["seed"], trial.case, trial.number)
        judged = judge_trial(cases[trial.case], trial.number, ended, spans, engine, seed)
        return replace(judged, basis=basis.compute_digest(trial.case))

    found = list(done)
    had = {(trial.case, trial.number) for trial in done}
    left = [trial for trial in trials if (trial.case, trial.number) not in had]
    for trial in done:
        report(trial)
    with ThreadPoolExecutor(jobs) as pool:
        for trial in pool.map(judge, left):
            found.append(results.append(trial))
            report(trial)
    is_counted = any(trial.verdict.is_judged or trial.verdict is TrialVerdict.OPEN for trial in trials)
    return Experiment(
        str(folder),
        known["agent"]["target"],
        tuple(case for case in cases.values() if case.id in tried),
        tuple(found),
        max(trial.number for trial in trials),
        baseline=read_baseline(origin, open_policy) if is_counted else None,
        suite=str(suite),
        results=results,
        open_policy=open_policy,
    )
