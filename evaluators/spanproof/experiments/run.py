"""An experiment: an agent run on every case of a suite, several times, each run judged.

Takes an agent, a suite and an engine; gives an `Experiment`. Trials run in parallel, each in a process of
its own, and are written as they end. An interrupted experiment goes on where it stopped.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

from spanproof.evaluators.engine import Engine
from spanproof.experiments.agents import AgentKind, AgentUnderTest
from spanproof.experiments.basis import Basis, Continuation, compute_basis, list_agent_code, load_trials
from spanproof.experiments.code_digest import remove_stale_bytecode
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.experiment import Experiment
from spanproof.experiments.folder import ExperimentFolder
from spanproof.experiments.judge import evaluate_trial
from spanproof.experiments.launch import AgentRunner, AgentServers
from spanproof.experiments.listener import OtlpListener
from spanproof.experiments.seeds import compute_trial_seed
from spanproof.experiments.settings import Settings, Tools
from spanproof.experiments.trial import Trial
from spanproof.suites import Case, list_recorded_calls, load_suite
from spanproof.suites.environment import describe_changed_environment


def run_experiment(
    agent: AgentUnderTest,
    suite: Path,
    folder: Path,
    engine: Engine,
    settings: Settings | None = None,
    report: Callable[[Trial], None] = lambda _trial: None,
    only: frozenset[str] | None = None,
    servers: AgentServers | None = None,
    continuation: Continuation = Continuation.CHANGED,
    configuration: str = "",
    note: Callable[[str], None] = lambda _text: None,
) -> Experiment:
    """Run an agent on a suite.

    Args:
        agent: which one.
        suite: the folder of the suite.
        folder: where the results are written; trials that it holds count while nothing that they rest on
            has changed.
        engine: judges the runs.
        settings: how often, how long and with which tools.
        report: called with each trial as it ends.
        only: ids of the cases to run; None runs all.
        servers: the processes of this agent, which outlive the experiment; None starts and ends its own.
        continuation: what becomes of the trials that the folder holds.
        configuration: a digest of what the engine was made from; trials are run again where it changed.
        note: gets, as a sentence, which trials of the folder count.

    Raises:
        ExperimentError: the agent cannot be made, the suite has no case with a task, or the folder holds
            another experiment, or one that cannot be resumed.
        SuiteError: the suite cannot be read; nothing is run then.
    """
    settings = settings or Settings()
    _check_tools(agent, settings)
    cases = [case for case in load_suite(suite) if only is None or case.id in only]
    if not cases:
        raise ExperimentError(f"{suite} has no cases: promote a run, or write a case.yaml with a task")
    for case in cases:
        if not case.task:
            raise ExperimentError(f"{suite}: case {case.id} has no task to give to an agent; write one")
    results = ExperimentFolder(folder)
    head = {
        "suite": str(suite.resolve()),
        "agent": {"kind": agent.kind.value, "target": agent.target},
        "seed": settings.seed,
        "tools": settings.tools.value,
        "image": agent.image,
    }
    if changed := describe_changed_environment(cases, engine.sandbox):
        note(changed)
    code = list_agent_code(agent)
    remove_stale_bytecode(code)
    basis = compute_basis(agent, code, suite, [case.id for case in cases], settings, configuration)
    done = load_trials(results, head, basis, settings.trials, continuation, note)
    for trial in done:
        report(trial)
    with ExitStack() as stack:
        is_service = agent.kind is AgentKind.URL
        if is_service:
            listener = stack.enter_context(_open_listener(settings.listen_port))
        else:
            listener = None
        if servers is None:
            servers = AgentServers(agent, settings)
            stack.callback(servers.close)
        runner = _Runner(agent, engine, settings, results, basis, servers, listener)
        stack.callback(runner.close)
        found = runner.run(cases, done, report)
    return Experiment(
        str(folder),
        agent.target,
        tuple(cases),
        found,
        settings.trials,
        runner.stopped,
        suite=str(suite),
        results=results,
    )


class _Runner:
    """Runs the trials that are left, within the budget; `stopped` says why it ended early."""

    def __init__(
        self,
        agent: AgentUnderTest,
        engine: Engine,
        settings: Settings,
        results: ExperimentFolder,
        basis: Basis,
        servers: AgentServers,
        listener: OtlpListener | None,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._results = results
        self._basis = basis
        self._idle: SimpleQueue[AgentRunner] = SimpleQueue()
        for _ in range(settings.jobs):
            self._idle.put(AgentRunner(agent, settings, servers, listener))
        self.stopped = ""

    def run(
        self, cases: Sequence[Case], done: Sequence[Trial], report: Callable[[Trial], None]
    ) -> tuple[Trial, ...]:
        found = list(done)
        had = {(trial.case, trial.number) for trial in done}
        left = (
            (case, number)
            for number in range(1, self._settings.trials + 1)
            for case in cases
            if (case.id, number) not in had
        )
        with ThreadPoolExecutor(self._settings.jobs) as pool:
            running: set[Future[Trial]] = set()
            try:
                while True:
                    self._start_trials(pool, running, left, found)
                    if not running:
                        return tuple(found)
                    ended, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in ended:
                        trial = future.result()
                        found.append(self._results.add_trial(trial))
                        report(trial)
            except BaseException:
                # Agents that run cannot be stopped in the middle: what they do is paid for, and kept.
                for future in [future for future in running if not future.cancel()]:
                    if future.exception() is None:
                        self._results.add_trial(future.result())
                raise

    def close(self) -> None:
        """Give up the connections to the agent's process."""
        while not self._idle.empty():
            self._idle.get().close()

    def _start_trials(
        self,
        pool: ThreadPoolExecutor,
        running: set[Future[Trial]],
        left: Iterator[tuple[Case, int]],
        found: Sequence[Trial],
    ) -> None:
        """Start trials until as many run as may, none is left, or the budget is spent."""
        while len(running) < self._settings.jobs:
            spent = _describe_overspent(found, self._settings)
            following = next(left, None)
            if following is None:
                return
            if spent:
                self.stopped = spent
                return
            running.add(pool.submit(self._run_trial, *following))

    def _run_trial(self, case: Case, number: int) -> Trial:
        trace_file = self._results.get_trace_file(case.id, number)
        trace_file.unlink(missing_ok=True)
        seed = compute_trial_seed(self._settings.seed, case.id, number)
        agent = self._idle.get()
        try:
            with tempfile.TemporaryDirectory(prefix="spanproof-trial-") as folder:
                ended = agent.run(case, list_recorded_calls(case), seed, Path(folder), trace_file.resolve())
        finally:
            self._idle.put(agent)
        self._results.write_files(case.id, number, ended.files or {})
        trial = evaluate_trial(case, number, ended, trace_file, self._engine, seed)
        return replace(trial, basis=self._basis.compute_digest(case.id))


def _check_tools(agent: AgentUnderTest, settings: Settings) -> None:
    if settings.tools is Tools.RECORDED and agent.kind is not AgentKind.MODULE:
        raise ExperimentError(
            f"the tools of {agent.target!r} cannot answer from the record: only an agent that is given as"
            " package.module:name runs where we can put the record in; leave out --tools recorded"
        )


def _open_listener(port: int) -> OtlpListener:
    try:
        return OtlpListener(port)
    except OSError as problem:
        raise ExperimentError(
            f"port {port} of 127.0.0.1, where the service sends its spans, cannot be used:"
            f" {problem.strerror}; name another with --listen-port"
        ) from problem


def _describe_overspent(found: Sequence[Trial], settings: Settings) -> str:
    """Return which budget is spent, as a sentence; empty where none is."""
    tokens = sum(trial.tokens for trial in found)
    cost = sum(trial.cost_usd or 0.0 for trial in found)
    if settings.max_tokens is not None and tokens >= settings.max_tokens:
        return f"the budget of {settings.max_tokens} tokens is spent: {tokens} were used"
    if settings.max_cost_usd is not None and cost >= settings.max_cost_usd:
        return f"the budget of ${settings.max_cost_usd:g} is spent: ${cost:.4f} was used"
    return ""
