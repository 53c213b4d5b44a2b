"""`spanproof suite`: frozen runs judged again, an agent run on a suite's cases, and the cases themselves."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import click
from rich.padding import Padding
from rich.progress import Progress, TaskID
from rich.text import Text

from spanproof.cli.commands.suite_cases import COMMANDS
from spanproof.cli.commands.suite_mine import mine_cases
from spanproof.cli.engine import compute_config_digest, opened_engine
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.agent import AgentOptions, with_agent_options
from spanproof.cli.options.config import with_sandbox_config_options
from spanproof.cli.options.open_policy import get_open_policy, least_judged_option, open_policy_option
from spanproof.cli.options.outputs import Outputs, with_output_options
from spanproof.cli.options.policy import policy_option
from spanproof.cli.output.console import build_progress, console, write_json, write_json_list, write_remark
from spanproof.cli.output.experiment import write_experiment
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import MOST_GREEN_ROWS
from spanproof.cli.output.words import format_count
from spanproof.cli.send_trials import send_trials
from spanproof.config.model import Config
from spanproof.evaluators.engine import Engine
from spanproof.experiments import (
    Experiment,
    Trial,
    evaluate_again,
    read_baseline,
    read_earlier_code,
    run_experiment,
)
from spanproof.gate import OpenPolicy
from spanproof.suites import (
    CaseReport,
    CaseStatus,
    SuiteReport,
    find_suite_policy,
    find_suite_preset,
    load_suite,
    run_suite,
)

_STYLES = {
    CaseStatus.REPRODUCED: "green",
    CaseStatus.FIXED: "bold cyan",
    CaseStatus.REGRESSED: "bold red",
    CaseStatus.CHANGED: "bold yellow",
    CaseStatus.INCONCLUSIVE: "bold yellow",
}


@click.group("suite")
def command() -> None:
    """Suites: promoted runs and cases written by hand."""


for _each in (*COMMANDS, mine_cases):
    command.add_command(_each)


@command.command("run")
@click.argument("suite", type=click.Path(path_type=Path))
@policy_option
@with_sandbox_config_options
@open_policy_option
@least_judged_option
@with_output_options
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on stdout.")
@with_agent_options
def run(
    suite: Path,
    policy_file: Path | None,
    config: Config,
    open_as: str | None,
    least_judged: float | None,
    outputs: Outputs,
    as_json: bool,
    trials: AgentOptions,
) -> int:
    """Replay every case of a suite offline, or run an agent on it.

    Without an agent, exit code 0 means that each frozen run gets the verdicts of its expectation. With an
    agent, it means that each case passes in every trial; an open trial has not passed. Otherwise the exit
    code is 1. Example: spanproof suite run suites/refunds --agent my_agent:make_agent --tools recorded

    The same sections of the configuration apply as for `spanproof eval`; a preset that `suite.yaml` names as
    `policy` takes the place of the configuration's, and --policy the place of both.
    """
    open_policy = get_open_policy(open_as, find_suite_policy(suite))
    baseline = trials.baseline if config.evaluation.structure else None
    earlier = read_earlier_code(baseline) if baseline else {}
    preset = find_suite_preset(suite)
    policy_file = policy_file or (Path(preset) if preset is not None else None)
    judged_by = compute_config_digest(config, policy_file)
    with (
        opened_engine(config, policy_file, runs_before=earlier) as engine,
        build_progress(as_json=as_json) as bar,
    ):
        report: SuiteReport | Experiment
        if trials.rescore is not None:
            report = evaluate_trials(suite, trials.rescore, trials, engine, bar, open_policy, judged_by)
        elif trials.agent is None:
            track = partial(bar.track, description="evaluating")
            report = run_suite(suite, engine, track, open_policy)
        else:
            report = run_trials(suite, trials, engine, bar, open_policy, judged_by)
    if isinstance(report, Experiment) and least_judged is not None:
        report = replace(report, least_judged=least_judged)
    if isinstance(report, Experiment) and trials.send_to:
        write_remark(f"{format_count(send_trials(report, trials.send_to), 'trial')} sent to {trials.send_to}")
    outputs.write(report.to_table(), as_json=as_json, format_page=lambda _: _format_page(report))
    if as_json:
        _write_json_report(report)
    elif isinstance(report, Experiment):
        write_experiment(report)
    else:
        write_report(report)
    return EXIT_PASS if report.passed else EXIT_GATE_FAILED


def _write_json_report(report: SuiteReport | Experiment) -> None:
    if isinstance(report, Experiment):
        write_json_list(report.build_json_head(), "cases", report.iter_json_cases())
    else:
        write_json(report.to_json())


def _format_page(report: SuiteReport | Experiment) -> str:
    # The console's packages are loaded only where a page is written.
    from spanproof.api.report import format_suite_report

    return format_suite_report(report)


def run_trials(
    suite: Path,
    options: AgentOptions,
    engine: Engine,
    bar: Progress,
    open_policy: OpenPolicy,
    configuration: str = "",
) -> Experiment:
    """Run an agent on a suite, with a line on the terminal for each trial that does not pass."""
    assert options.agent is not None, "an agent is given"
    if options.baseline:
        baseline = read_baseline(options.baseline, open_policy)
    else:
        baseline = None
    task = bar.add_task("running the agent", total=len(load_suite(suite)) * options.settings.trials)
    report = partial(write_trial, bar, task)
    try:
        found = run_experiment(
            options.agent,
            suite,
            options.folder,
            engine,
            options.settings,
            report,
            continuation=options.continuation,
            configuration=configuration,
            note=write_remark,
        )
    except KeyboardInterrupt:
        write_remark(f"interrupted; to go on, give the same command with --out {options.folder} --resume")
        raise
    return replace(found, baseline=baseline, quarantine=options.quarantine, open_policy=open_policy)


def evaluate_trials(
    suite: Path,
    origin: Path,
    options: AgentOptions,
    engine: Engine,
    bar: Progress,
    open_policy: OpenPolicy,
    configuration: str = "",
) -> Experiment:
    """Judge the trials of an experiment again, with a line for each that does not pass."""
    report = partial(write_trial, bar, bar.add_task("judging", total=None))
    jobs = options.settings.jobs
    found = evaluate_again(
        origin,
        suite,
        options.folder,
        engine,
        jobs,
        report,
        open_policy,
        options.continuation,
        configuration,
        write_remark,
    )
    return replace(found, quarantine=options.quarantine)


def write_trial(bar: Progress, task: TaskID, trial: Trial) -> None:
    """Advance the bar by a trial; one that did not pass gets a line."""
    bar.advance(task)
    if not trial.passed:
        layer = f"{trial.layer.value}: " if trial.layer else ""
        write_remark(f"{trial.verdict.value}  {trial.case} trial {trial.number}  {layer}{trial.reason}")


def write_report(report: SuiteReport) -> None:
    """Print the report for people: a line per case, what differs from what was frozen, and the counts.

    Of more than a few cases that all are as frozen only the counts are printed.
    """
    all_as_frozen = all(case.status is CaseStatus.REPRODUCED for case in report.cases)
    for case in () if all_as_frozen and len(report.cases) > MOST_GREEN_ROWS else report.cases:
        console.print(_format_case(case), soft_wrap=True)
        for difference in case.differences:
            expected = difference.expected
            snippet = f" of snippet {expected.snippet}" if expected.snippet else ""
            name = f"{expected.layer.value}.{expected.name}{snippet}"
            found = f"{name}: expected {expected.verdict}, found {difference.found_word}: "
            line = Text.assemble(found, format_line(difference.explanation))
            console.print(Padding(line, (0, 0, 0, 6)))
    if report.unfrozen:
        count = format_count(len(report.unfrozen), "case")
        console.print(
            Text(f"{count} without a frozen run: run an agent on them, with --agent", style="yellow")
        )
    if not report.cases:
        console.print(Text("the suite has no frozen runs: nothing was checked", style="bold yellow"))
    counts = [f"{report.count(status)} {status.value}" for status in CaseStatus if report.count(status)]
    counts += [f"{report.open} with an open layer"] if report.open else []
    cases = format_count(len(report.cases), "case")
    console.print(Text(f"{cases}: {', '.join(counts)}" if counts else cases))
    if report.open_policy.remark:
        console.print(Text(report.open_policy.remark, style="yellow"))


def _format_case(report: CaseReport) -> Text:
    fails = [
        expected
        for expected in report.case.expectations
        if expected.is_of_layer and expected.verdict == "fail"
    ]
    status = (f"{report.status.value:12}  ", _STYLES[report.status])
    line = Text.assemble(status, (report.case.id, "bold"))
    if report.passed and fails:
        line.append(f"  fails {fails[0].layer.value} again in the same way: ")
        line.append_text(format_line(fails[0].explanation))
    return line
