"""`spanproof suite run DIR`: evaluate a suite's cases again, offline; exit 1 unless all are reproduced."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
from rich.padding import Padding
from rich.text import Text

from spanproof.cli.engine import opened_engine
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.config import sandbox_config_options
from spanproof.cli.options.policy import policy_option
from spanproof.cli.output.console import console, print_json, progress, write_junit
from spanproof.cli.output.hostile import plain
from spanproof.cli.output.words import format_count
from spanproof.config.model import Config
from spanproof.suites import CaseReport, CaseStatus, SuiteReport, run_suite

_STYLES = {
    CaseStatus.REPRODUCED: "green",
    CaseStatus.FIXED: "bold cyan",
    CaseStatus.REGRESSED: "bold red",
    CaseStatus.CHANGED: "bold yellow",
    CaseStatus.INCONCLUSIVE: "bold yellow",
}


@click.group("suite")
def command() -> None:
    """Suites of frozen runs."""


@command.command("run")
@click.argument("suite", type=click.Path(path_type=Path))
@policy_option
@sandbox_config_options
@click.option("--junit", type=click.Path(path_type=Path), help="Write a JUnit file.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on stdout.")
def run(
    suite: Path,
    policy_file: Path | None,
    config: Config,
    junit: Path | None,
    as_json: bool,
) -> int:
    """Replay every case of a suite offline.

    Exit code 0 when each gets the verdicts of its expectation, else 1.

    The same sections of the configuration apply as for `spanproof eval`.
    """
    with opened_engine(config, policy_file) as engine, progress(as_json=as_json) as bar:
        report = run_suite(suite, engine, partial(bar.track, description="evaluating"))
    if junit:
        write_junit(junit, report.to_junit())
    if as_json:
        print_json(report.to_json())
    else:
        print_report(report)
    return EXIT_PASS if report.passed else EXIT_GATE_FAILED


def print_report(report: SuiteReport) -> None:
    """The report for people: a line per case, and what differs from what was frozen."""
    for each in report.cases:
        console.print(_case_line(each), soft_wrap=True)
        for difference in each.differences:
            expected = difference.expected
            snippet = f" of snippet {expected.snippet}" if expected.snippet else ""
            name = f"{expected.layer.value}.{expected.name}{snippet}"
            found = f"{name}: expected {expected.verdict}, found {difference.found}: "
            line = Text.assemble(found, plain(difference.explanation))
            console.print(Padding(line, (0, 0, 0, 6)))
    if not report.cases:
        console.print(Text("the suite has no cases: nothing was checked", style="bold yellow"))
    counts = [f"{report.count(status)} {status.value}" for status in CaseStatus if report.count(status)]
    cases = format_count(len(report.cases), "case")
    console.print(Text(f"{cases}: {', '.join(counts)}" if counts else cases))


def _case_line(report: CaseReport) -> Text:
    fails = [each for each in report.case.expectations if each.is_of_layer and each.verdict == "fail"]
    status = (f"{report.status.value:12}  ", _STYLES[report.status])
    line = Text.assemble(status, (report.case.id, "bold"))
    if report.passed and fails:
        line.append(f"  fails {fails[0].layer.value} again in the same way: ")
        line.append_text(plain(fails[0].explanation, 100))
    return line
