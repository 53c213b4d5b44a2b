"""`spanproof gate`: assertions over scores, from the store or from a file; exit 1 when one does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click
from rich.padding import Padding
from rich.text import Text

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.open_policy import get_open_policy, least_judged_option, open_policy_option
from spanproof.cli.options.outputs import Outputs, with_output_options
from spanproof.cli.options.store import StoreQuery, opened_store, parse_span, with_store_query_options
from spanproof.cli.output.console import console, write_json
from spanproof.cli.output.hostile import format_line
from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.score_rows import build_run_row
from spanproof.gate import (
    LEAST_JUDGED_SHARE,
    Assertion,
    AssertionReport,
    CaseState,
    CaseTrials,
    GateFile,
    GateReport,
    NoBaseline,
    Verdict,
    evaluate_assertions,
    iter_scores,
    parse_assertion,
    read_gate_file,
)
from spanproof.gate.outputs import ResultTable, RunRow
from spanproof.store import with_feedback
from spanproof.trace import Score

# Cases against an assertion that are printed; `--json` and the files of results have all.
_SHOWN = 5

# Traces whose code is read out of a store for a report.
_MAX_TRACES = 200

_Runs = MutableMapping[tuple[str, str], RunRow]

_STYLES = {
    Verdict.PASSED: ("pass", "green"),
    Verdict.FAILED: ("FAIL", "bold red"),
    Verdict.INCONCLUSIVE: ("inconclusive", "bold yellow"),
}


@click.command("gate")
@click.option(
    "--assert",
    "texts",
    multiple=True,
    help="An assertion: 'groundedness.score >= 0.85 for at_least 90% of cases'. May be given several times.",
)
@click.option(
    "--assertions",
    "file",
    type=click.Path(path_type=Path),
    help="File of assertions: one per line, YAML, or JSON.",
)
@with_store_query_options
@click.option(
    "--scores",
    "scores_file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Instead of a store, output of `spanproof eval --json` or `suite run --json`; - is stdin.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="Earlier output of the same form, for assertions with `no_worse_than baseline`.",
)
@click.option(
    "--baseline-window",
    "window",
    help="Use this time before --since as the baseline: 7d.",
)
@open_policy_option
@least_judged_option
@with_output_options
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on stdout.")
def command(
    texts: tuple[str, ...],
    file: Path | None,
    query: StoreQuery,
    scores_file: Path | None,
    baseline: Path | None,
    window: str | None,
    open_as: str | None,
    least_judged: float | None,
    outputs: Outputs,
    as_json: bool,
) -> int:
    """Check assertions over scores.

    Exit code 0 if all hold, 1 if one does not, 2 on misuse. Example: spanproof gate --since 24h --assert
    'groundedness.score >= 0.85 for at_least 90% of cases'
    """
    _check_sources(query, scores_file, baseline, window)
    assertions = _parse_assertions(texts, file, has_baseline=bool(baseline or window))
    open_policy = get_open_policy(open_as, assertions.open_policy)
    if assertions.least_judged is None:
        of_file = LEAST_JUDGED_SHARE
    else:
        of_file = assertions.least_judged
    least = of_file if least_judged is None else least_judged
    runs: _Runs = {}
    try:
        with _open_scores(query, scores_file, runs if outputs.needs_code else None) as scores:
            before = _load_baseline(query, baseline, window)
            report = evaluate_assertions(
                assertions.assertions, scores, before, open_policy, least, assertions.failure_fields
            )
    except NoBaseline as problem:
        raise UsageProblem(
            str(problem),
            "Add --baseline FILE, written by `spanproof eval --json` or `suite run --json`;"
            " out of a store, --baseline-window 7d.",
        ) from problem
    failing: list[TraceEvaluation] = []
    if outputs.needs_code and not scores_file:
        failing = _read_failing(query, report)
        runs.update(
            ((item.trace.trace_id, run.run.span_id), build_run_row(run))
            for item in failing
            for run in item.runs
        )
    outputs.write(
        report.to_table(runs),
        as_json=as_json,
        format_page=lambda table: _format_page(report, table, failing),
    )
    if as_json:
        write_json(report.to_json())
    else:
        write_report(report)
    return EXIT_PASS if report.passed else EXIT_GATE_FAILED


def _check_sources(
    query: StoreQuery, scores_file: Path | None, baseline: Path | None, window: str | None
) -> None:
    """Raise a `UsageProblem` where scores, or a baseline, come from two places."""
    if scores_file and query.is_chosen:
        raise UsageProblem(
            "--scores is given with --store, --project or --since", "Those are for scores out of a store."
        )
    if baseline and window:
        raise UsageProblem("--baseline and --baseline-window are both given", "Leave one of them out.")
    if window and (scores_file or query.since_ns is None):
        raise UsageProblem(
            "--baseline-window is without --since", "Say which window of the store is judged: --since 24h."
        )


def _load_baseline(
    query: StoreQuery, file: Path | None, window: str | None
) -> Iterable[Score | CaseTrials] | None:
    if file:
        return _iter_file_scores(file)
    return _read_window(query, window) if window else None


def write_report(report: GateReport) -> None:
    """Print the report for people: each assertion, the cases against it, and the verdict.

    An assertion that holds without a case against it is one line.
    """
    for assertion in report.assertions:
        word, style = _STYLES[assertion.verdict]
        head = Text.assemble((word, style), "  ", (str(assertion.assertion), "bold"))
        if assertion.verdict is Verdict.PASSED and not assertion.failing:
            console.print(
                head.append_text(Text.assemble(": ", format_line(assertion.reason))), soft_wrap=True
            )
            continue
        console.print(head, soft_wrap=True)
        console.print(Padding(format_line(assertion.reason), (0, 0, 0, 6)))
        for case in _iter_failing_lines(assertion):
            # Cases against an assertion that holds all the same are printed dim.
            console.print(
                Padding(case, (0, 0, 0, 6)), style="dim" if assertion.verdict is Verdict.PASSED else ""
            )
    if report.open_policy.remark:
        console.print(Text(report.open_policy.remark, style="yellow"))
    if report.passed:
        console.print(Text("gate passed", style="bold green"))
    else:
        failed = ", ".join(report.failed_layers)
        console.print(Text(f"gate failed: {failed}" if failed else "gate failed", style="bold red"))


def _iter_failing_lines(report: AssertionReport) -> Iterator[Text]:
    for case in report.failing[:_SHOWN]:
        value = "" if case.value is None else f" {case.value:.2f}"
        if case.state is not CaseState.VIOLATED:
            state = f"{case.state.value}{value}"
        else:
            state = f"fails{value}"
        agent, trace = format_line(case.agent), f"  {case.trace_id[:12]}  "
        yield Text.assemble((f"{state}  ", "bold"), agent, trace, format_line(case.explanation))
    if (more := len(report.failing) - _SHOWN) > 0:
        yield Text(f"and {more} more (--json shows all)", style="dim")


def _parse_assertions(texts: tuple[str, ...], file: Path | None, *, has_baseline: bool) -> GateFile:
    """Return the assertions of the options and of the file, with what the file says of open verdicts."""
    found: list[Assertion] = [parse_assertion(text) for text in texts]
    of_file = GateFile(())
    if file:
        try:
            of_file = read_gate_file(file, has_baseline=has_baseline)
            found += of_file.assertions
        except (OSError, UnicodeDecodeError) as problem:
            raise UsageProblem(
                f"{file}: {problem}", "Give a file of assertions: one a line, or YAML."
            ) from problem
    if not found:
        raise UsageProblem(
            "no assertion is given: a gate that checks nothing would pass",
            "Add --assert 'groundedness.score >= 0.85 for at_least 90% of cases' or --assertions FILE.",
        )
    return replace(of_file, assertions=tuple(found))


@contextmanager
def _open_scores(
    query: StoreQuery, file: Path | None, runs: _Runs | None
) -> Iterator[Iterator[Score | CaseTrials]]:
    if file is not None:
        yield _iter_file_scores(file, runs)
        return
    with opened_store(query.location) as store:
        cohort = {"project": query.project} if query.project else {}
        scores = store.scores(cohort=cohort, start_ns=query.since_ns)
        yield with_feedback(scores, store.feedback())


def _read_window(query: StoreQuery, window: str) -> list[Score]:
    """Return the scores of so long before the window that is judged."""
    assert query.since_ns is not None
    start_ns = max(0, query.since_ns - parse_span("--baseline-window", window))
    with opened_store(query.location) as store:
        cohort = {"project": query.project} if query.project else {}
        scores = store.scores(cohort=cohort, start_ns=start_ns, end_ns=query.since_ns)
        return list(with_feedback(scores, store.feedback()))


def _read_failing(query: StoreQuery, report: GateReport) -> list[TraceEvaluation]:
    """Return the first traces against the assertions, out of the store."""
    failing = [case for assertion in report.assertions for case in assertion.failing]
    traces = list(dict.fromkeys(case.trace_id for case in failing))[:_MAX_TRACES]
    with opened_store(query.location) as store:
        return list(store.evaluations(traces, query.project))


def _format_page(report: GateReport, table: ResultTable, failing: Sequence[TraceEvaluation]) -> str:
    # The console's packages are loaded only where a page is written.
    from spanproof.api.report import format_gate_report

    return format_gate_report(report, table, failing)


def _iter_file_scores(file: Path, runs: _Runs | None = None) -> Iterator[Score | CaseTrials]:
    """Yield the scores of a file, of stdin for `-`; `runs` gets the runs with their code."""
    try:
        with click.open_file(str(file), "rb") as lines:
            yield from iter_scores(lines, str(file), runs)
    except OSError as problem:
        raise UsageProblem(f"{file}: {problem.strerror or problem}", "Give a file of scores.") from problem
