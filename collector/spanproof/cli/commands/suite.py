"""`spanproof suite run DIR`: evaluate a suite's cases again, offline; exit 1 unless all are reproduced."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
from rich.padding import Padding
from rich.text import Text

from spanproof.cli.engine import opened_engine
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.input.files import write_file
from spanproof.cli.options.backend import configured_backend_options, override_backend
from spanproof.cli.options.config import config_option, read_config
from spanproof.cli.options.policy import policy_option
from spanproof.cli.output.console import console, inform, print_json, progress
from spanproof.cli.output.hostile import plain
from spanproof.cli.output.words import format_count
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
@configured_backend_options
@click.option("--junit", type=click.Path(path_type=Path), help="Write a JUnit file.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on stdout.")
@config_option
def run(
    suite: Path,
    policy_file: Path | None,
    backend: str | None,
    settings: dict[str, str],
    junit: Path | None,
    as_json: bool,
    file: Path | None,
) -> int:
    """Replay every case of a suite offline.

    Exit code 0 when each gets the verdicts of its expectation, else 1.

    The same sections of the configuration apply as for `spanproof eval`.
    """
    config = override_backend(read_config(file, ()), backend, settings)
    with opened_engine(config, policy_file) as engine, progress(as_json=as_json) as bar:
        report = run_suite(suite, engine, partial(bar.track, description="evaluating"))
    if junit:
        write_file(junit, report.to_junit())
        inform(f"wrote {junit}")
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
            line = Text.assemble(
                f"{expected.layer.value}.{expected.name}{snippet}: "
                f"expected {expected.verdict}, found {difference.found}: ",
                plain(difference.explanation),
            )
            console.print(Padding(line, (0, 0, 0, 6)))
    if not report.cases:
        console.print(Text("the suite has no cases: nothing was checked", style="bold yellow"))
    found = [f"{report.count(status)} {status.value}" for status in CaseStatus if report.count(status)]
    console.print(
        Text(": ".join([format_count(len(report.cases), "case"), *([", ".join(found)] if found else [])]))
    )


def _case_line(report: CaseReport) -> Text:
    fails = [each for each in report.case.expectations if each.is_of_layer and each.verdict == "fail"]
    line = Text.assemble(
        (f"{report.status.value:12}", _STYLES[report.status]), "  ", (report.case.id, "bold")
    )
    if report.passed and fails:
        line.append(f"  fails {fails[0].layer.value} again in the same way: ")
        line.append_text(plain(fails[0].explanation, 100))
    return line
