"""`spanproof gate`: assertions over scores, from the store or from a file; exit 1 when one does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.padding import Padding
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.input.files import write_file
from spanproof.cli.options.store import (
    DEFAULT_STORE,
    opened_store,
    project_option,
    since_ns,
    since_option,
    store_option,
)
from spanproof.cli.output.console import console, inform, print_json
from spanproof.cli.output.hostile import plain
from spanproof.cli.problems import UsageProblem
from spanproof.gate import (
    Assertion,
    AssertionReport,
    CaseState,
    GateReport,
    NoBaseline,
    Verdict,
    check,
    parse,
    parse_lines,
    read_scores,
)
from spanproof.store import with_feedback
from spanproof.trace import Score

_SHOWN = 5
"""Cases against an assertion that are printed; `--json` and `--junit` have all."""

_STYLES = {
    Verdict.PASSED: ("pass", "green"),
    Verdict.FAILED: ("FAIL", "bold red"),
    Verdict.INCONCLUSIVE: ("OPEN", "bold yellow"),
}


@click.command("gate")
@click.option(
    "--assert",
    "texts",
    multiple=True,
    help="An assertion: 'groundedness.score >= 0.85 for at_least 90% of cases'. May be given often.",
)
@click.option(
    "--assertions",
    "file",
    type=click.Path(path_type=Path),
    help="File of assertions, one a line; # comments.",
)
@store_option
@project_option
@since_option
@click.option(
    "--scores",
    "scores_file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="File of `spanproof eval --json` or `suite run --json`, or - for stdin, instead of a store.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="File of the same form, for assertions with `no_worse_than baseline`.",
)
@click.option("--junit", type=click.Path(path_type=Path), help="Write a JUnit file.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on stdout.")
def command(
    texts: tuple[str, ...],
    file: Path | None,
    location: str,
    project: str | None,
    since: str | None,
    scores_file: Path | None,
    baseline: Path | None,
    junit: Path | None,
    as_json: bool,
) -> int:
    """Check assertions over scores.

    Exit code 0 when all hold, 1 when one does not, 2 on misuse.
    """
    if scores_file and (location != DEFAULT_STORE or project or since):
        raise UsageProblem(
            "--scores is given with --store, --project or --since", "Those are for scores out of a store."
        )
    assertions = _assertions(texts, file)
    try:
        with _scores(location, project, since, scores_file) as scores:
            report = check(assertions, scores, _read_baseline(baseline) if baseline else None)
    except NoBaseline as problem:
        raise UsageProblem(
            str(problem), "Add --baseline FILE, written by `spanproof eval --json` or `suite run --json`."
        ) from problem
    if junit:
        write_file(junit, report.to_junit())
        inform(f"wrote {junit}")
    if as_json:
        print_json(report.to_json())
    else:
        print_report(report)
    return EXIT_PASS if report.passed else EXIT_GATE_FAILED


def print_report(report: GateReport) -> None:
    """The report for people: a line per assertion, the cases against it, and which layer fails."""
    for each in report.assertions:
        word, style = _STYLES[each.verdict]
        console.print(Text.assemble((word, style), "  ", (str(each.assertion), "bold")), soft_wrap=True)
        console.print(Padding(plain(each.reason), (0, 0, 0, 6)))
        for case in _shown(each):
            # Cases against an assertion that holds all the same are printed dim.
            style = "dim" if each.verdict is Verdict.PASSED else ""
            console.print(Padding(case, (0, 0, 0, 6)), style=style)
    if not report.passed:
        layers = ", ".join(report.failed_layers)
        console.print(Text(f"gate failed: {layers}", style="bold red"))


def _shown(report: AssertionReport) -> Iterator[Text]:
    for case in report.failing[:_SHOWN]:
        value = "" if case.value is None else f" {case.value:.2f}"
        state = f"{case.state.value}{value}" if case.state is not CaseState.VIOLATED else f"fails{value}"
        yield Text.assemble(
            (f"{state}  ", "bold"),
            plain(case.agent, 24),
            f"  {case.trace_id[:12]}  ",
            plain(case.explanation),
        )
    more = len(report.failing) - _SHOWN
    if more > 0:
        yield Text(f"and {more} more (--json shows all)", style="dim")


def _assertions(texts: tuple[str, ...], file: Path | None) -> list[Assertion]:
    found = [parse(text) for text in texts]
    if file:
        try:
            found += parse_lines(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as problem:
            raise UsageProblem(
                f"{file}: {problem}", "Give a text file with an assertion a line."
            ) from problem
    if not found:
        raise UsageProblem(
            "no assertion is given: a gate that checks nothing would pass",
            "Add --assert 'groundedness.score >= 0.85 for at_least 90% of cases' or --assertions FILE.",
        )
    return found


@contextmanager
def _scores(
    location: str, project: str | None, since: str | None, file: Path | None
) -> Iterator[Iterator[Score]]:
    if file is None:
        with opened_store(location) as store:
            cohort = {"project": project} if project else {}
            scores = store.scores(cohort=cohort, start_ns=since_ns(since))
            yield with_feedback(scores, store.feedback())
        return
    try:
        with click.open_file(str(file), "rb") as lines:
            yield read_scores(lines, str(file))
    except OSError as problem:
        raise UsageProblem(f"{file}: {problem.strerror or problem}", "Give a file of scores.") from problem


def _read_baseline(file: Path) -> Iterator[Score]:
    try:
        with file.open("rb") as lines:
            yield from read_scores(lines, str(file))
    except OSError as problem:
        raise UsageProblem(f"{file}: {problem.strerror or problem}", "Give a file of scores.") from problem
