"""The steps of the demo: collect, show, alert, gate, promote.

Takes a directory of its own. Everything it prints is read from the collector that it ran; it fails when a
step does not give the expected result.
"""

from __future__ import annotations

import os
import queue
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from spanproof.cli.commands.gate import write_report as print_gate
from spanproof.cli.commands.promote import write_case
from spanproof.cli.commands.serve import build_collector
from spanproof.cli.commands.suite import write_report as print_suite
from spanproof.cli.demo.processes import AgentRun, AgentsFailed, opened_webhook, run_agents
from spanproof.cli.engine import opened_engine
from spanproof.cli.options.config import read_config
from spanproof.cli.output.console import console, select_attributes, write_json
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.run_page import build_run_page
from spanproof.cli.output.runs_table import build_run_lines, write_runs
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import ISSUES_URL, UsageProblem
from spanproof.collector.service import Collector
from spanproof.config.model import Config
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.evaluators.scores import find_state
from spanproof.gate import GateReport, evaluate_assertions, parse_assertion
from spanproof.suites import Case, SuiteReport, promote_run, run_suite
from spanproof.trace import get_state

# Name of the file that marks a directory as the demo's own, to be emptied.
_MARK = "made-by-spanproof-demo"

_EVALUATED_S = 120.0
_ALERT_S = 60.0

ASSERTIONS = (
    "groundedness.score >= 0.85 for at_least 90% of cases",
    "boundary.score >= 0.5 for all cases",
    "correctness.score >= 0.5 for at_least 50% of cases",
)

# The cohort that the alert watches: the change of the prompt after which the agents got worse.
_COHORT = {"prompt_version": "v2"}


class NotAsPromised(UsageProblem):
    """A step of the demo did not give the expected result; the message names it."""

    def __init__(self, what: str) -> None:
        expected = "the demo did not give the expected result"
        super().__init__(f"{expected}: {what}", f"please report it at {ISSUES_URL}")


@dataclass(frozen=True, slots=True)
class _Collected:
    pairs: Sequence[tuple[AgentRun, TraceEvaluation]]
    alert: Mapping[str, Any]


def run_demo(directory: Path, *, as_json: bool) -> None:
    """Run the demo and print it; with `as_json`, print one object at the end instead.

    Raises:
        NotAsPromised: a step did not give the expected result.
        UsageProblem: the directory has other files, or the collector cannot start.
    """
    console.quiet = as_json
    _start_directory(directory)
    collected = _run_agents(directory)
    _write_heading("3  The verdicts: a row per run, a column per layer")
    write_runs(
        console,
        [
            line
            for agent, evaluation in collected.pairs
            for line in build_run_lines(evaluation, agent.scenario)
        ],
    )
    misquote = next(evaluation for agent, evaluation in collected.pairs if agent.scenario == "misquote")
    _write_heading("4  One run in detail: it recovered from an error, and misquoted its own result")
    console.print(build_run_page(misquote, misquote.runs[0], name="misquote"))
    _write_alert(collected.alert)
    gate = _run_gate(collected)
    case, suite = _build_promotion(misquote, directory)
    _write_next_commands(misquote, directory)
    console.quiet = False
    if as_json:
        write_json(_build_summary(collected, gate, case, suite))


def _start_directory(directory: Path) -> None:
    """Make the directory, empty; remove nothing but what an earlier demo wrote."""
    if directory.exists() and any(directory.iterdir()):
        if not (directory / _MARK).exists():
            raise UsageProblem(
                f"{directory} is not empty and no earlier demo made it",
                "Name another directory: spanproof demo --directory DIR",
            )
        shutil.rmtree(directory)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / _MARK).touch()


def _run_agents(directory: Path) -> _Collected:
    with opened_webhook() as (url, notifications):
        collector = build_collector(read_config(None, _build_settings(directory, url)))
        _write_heading("1  The collector, with embedded defaults")
        with collector:
            _write_endpoints(collector, directory)
            _write_heading("2  Real agents in a process of their own, exporting over OTLP")
            try:
                agents = run_agents(collector.endpoints.http or "", _write_agent)
            except AgentsFailed as failure:
                raise NotAsPromised(str(failure)) from failure
            with console.status("evaluating"):
                if not collector.evaluated.wait_for(len(agents), _EVALUATED_S):
                    count = format_count(len(agents), "trace")
                    raise NotAsPromised(f"only {collector.evaluated.traces} of {count} evaluated")
            latest = {evaluation.trace.trace_id: evaluation for evaluation in collector.evaluated.latest}
            try:
                alert = notifications.get(timeout=_ALERT_S)
            except queue.Empty:
                raise NotAsPromised("the alert rule did not reach the webhook") from None
    return _Collected([(agent, latest[agent.trace_id]) for agent in agents], alert)


def _build_settings(directory: Path, webhook: str) -> tuple[str, ...]:
    rule = {
        "name": "eval-fail-rate-of-prompt-v2",
        "layer": "groundedness",
        "cohort": _COHORT,
        "min_count": 1,
        "threshold": 0.3,
        # A run is no evidence of a rate, and the demo shows what an alert is.
        "lower_bound": False,
        "for_s": 0,
        "notify": [{"kind": "webhook", "url": webhook}],
    }
    return (
        f"store.location={directory / 'store'}",
        f"wal.directory={directory / 'wal'}",
        # The agents' process exports all spans at its end: none comes late.
        "assembly.quiet_s=1.5",
        # A setting is read as YAML, and JSON is YAML.
        f"alerts={orjson.dumps([rule]).decode()}",
    )


def _write_endpoints(collector: Collector, directory: Path) -> None:
    for sentence in collector.endpoints.moved:
        console.print(Text(f"   {sentence}", style="yellow"))
    console.print(Text(f"   OTLP gRPC {collector.endpoints.grpc}   HTTP {collector.endpoints.http}"))
    console.print(Text(f"   store     {directory / 'store'} (ClickHouse in this process)"))


def _write_agent(agent: AgentRun) -> None:
    if agent.error is None:
        answer = agent.answer
    else:
        answer = f"raised {agent.error}"
    console.print(
        Text.assemble(f"   {agent.scenario:10} ", (agent.trace_id[:8], "dim"), "  ", format_line(answer))
    )


def _write_alert(alert: Mapping[str, Any]) -> None:
    _write_heading("5  An alert on the eval-fail-rate of one cohort reached a webhook")
    lines = [format_line(str(alert["summary"]))]
    for score in alert["alerts"][0]["scores"]:
        explanation = format_line(score["explanation"])
        lines.append(Text.assemble(("behind it  ", "dim"), f"{score['trace_id'][:8]} ", explanation))
    for line in lines:
        console.print(Padding(line, (0, 0, 0, 3)))


def _run_gate(collected: _Collected) -> GateReport:
    _write_heading("6  A gate over the same scores, as CI would run it")
    scores = [score for _, evaluation in collected.pairs for score in evaluation.scores]
    report = evaluate_assertions([parse_assertion(text) for text in ASSERTIONS], scores)
    print_gate(report)
    if report.passed:
        raise NotAsPromised("the gate passed, though a run misquotes its result")
    return report


def _build_promotion(misquote: TraceEvaluation, directory: Path) -> tuple[Case, SuiteReport]:
    _write_heading("7  The misquote, promoted into a suite, fails again in the same way, offline")
    suite = directory / "suite"
    case = promote_run(misquote, misquote.runs[0].run.span_id, suite)
    write_case(case, suite / "cases" / case.id)
    with opened_engine(Config()) as engine:
        report = run_suite(suite, engine)
    print_suite(report)
    if not report.passed:
        raise NotAsPromised("the promoted case did not fail again in the same way")
    return case, report


def _write_next_commands(misquote: TraceEvaluation, directory: Path) -> None:
    _write_heading("Look further")
    # Where the program is on no PATH, the path by which it was started.
    if shutil.which("spanproof"):
        program = "spanproof"
    else:
        program = os.path.relpath(sys.argv[0])
    store = directory / "store"
    for words in (
        f"console --store {store} --open",
        f"traces --store {store}",
        f"show {misquote.trace.trace_id[:8]} --store {store}",
        f"suite run {directory / 'suite'}",
        "serve          # the same collector, as a service",
        "doctor         # which isolation this machine has",
    ):
        console.print(Text(f"   {program} {words}"), soft_wrap=True)


def _build_summary(
    collected: _Collected, gate: GateReport, case: Case, suite: SuiteReport
) -> dict[str, object]:
    runs = [
        {**select_attributes(agent, "scenario trace_id answer"), **_to_run_row(run)}
        for agent, evaluation in collected.pairs
        for run in evaluation.runs
    ]
    return {
        "runs": runs,
        "alert": dict(collected.alert),
        "gate": gate.to_json(),
        "promoted": case.id,
        "suite": suite.to_json(),
    }


def _to_run_row(run: RunEvaluation) -> dict[str, object]:
    sub_scores: dict[str, str] = {}
    for score in run.scores:
        is_of_run = score.span_id == run.run.span_id and score.name != score.layer
        state = find_state(score.layer, score.name, score.outcome) if is_of_run else None
        if state is not None:
            sub_scores[score.name] = state.value
    return {
        "state": run.state.value,
        "layers": {layer.value: get_state(outcome).value for layer, outcome in run.layers.items()},
        "sub_scores": sub_scores,
    }


def _write_heading(title: str) -> None:
    console.print()
    console.print(Rule(Text(title, style="bold"), align="left", style="dim"))
