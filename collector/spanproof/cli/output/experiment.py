"""An experiment for people: the rates first, then a line per case, then what flipped.

An experiment in which every case passed, as before, is three lines: the rates, what it took, the folder.
"""

from __future__ import annotations

from rich.padding import Padding
from rich.text import Text

from spanproof.cli.output.console import console, write_warning
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.words import format_count
from spanproof.evaluators.intervals import Interval
from spanproof.experiments import CaseResult, CaseStatus, Experiment, TrialVerdict
from spanproof.gate import Verdict, describe_gravest_cause

_STYLES = {
    CaseStatus.PASSED: "green",
    CaseStatus.FIXED: "bold green",
    CaseStatus.FLAKY: "bold yellow",
    CaseStatus.REPRODUCED: "bold red",
    CaseStatus.REGRESSED: "bold red",
    CaseStatus.FAILED: "bold red",
    CaseStatus.ERRORED: "bold red",
    CaseStatus.OPEN: "bold yellow",
    CaseStatus.INCONCLUSIVE: "bold yellow",
}
_VERDICT_STYLES = {
    Verdict.PASSED: "bold green",
    Verdict.FAILED: "bold red",
    Verdict.INCONCLUSIVE: "bold yellow",
}
_MARKS = {
    TrialVerdict.PASSED: "✓",
    TrialVerdict.FAILED: "✗",
    TrialVerdict.ERRORED: "!",
    TrialVerdict.OPEN: "○",
    TrialVerdict.UNJUDGED: "?",
}
_SHOWN_TRIALS = 20


def write_experiment(experiment: Experiment) -> None:
    """Print an experiment."""
    _write_rates(experiment)
    if not _is_all_green(experiment):
        for result in experiment.cases:
            _write_case(result)
        _write_comparison(experiment)
        _write_rates_of_parts(experiment)
    _write_expense(experiment)
    if experiment.floating_models:
        names = ", ".join(experiment.floating_models)
        write_warning(
            f"the model name {names} is an alias: what answers to it may change; name a dated snapshot"
        )
    if experiment.stopped:
        write_warning(f"not all trials were run: {experiment.stopped}; give the same --out to go on")
    console.print(Text(f"results: {experiment.folder}", style="dim"), soft_wrap=True)


def _is_all_green(experiment: Experiment) -> bool:
    """Return whether no case has news: each passed in every trial, and none is compared or newly fixed."""
    passed = all(result.status is CaseStatus.PASSED for result in experiment.cases)
    return passed and experiment.verdict is Verdict.PASSED and experiment.comparison is None


def _write_rates(experiment: Experiment) -> None:
    rate, interval = experiment.compute_pass_at(1), experiment.interval
    line = Text(experiment.conclusion, style=_VERDICT_STYLES[experiment.verdict])
    if rate is not None:
        line.append(f"; pass@1 {rate:.1%}, {interval}", style="not bold")
    k = experiment.wanted
    at, hat = experiment.compute_pass_at(k), experiment.compute_pass_hat(k)
    if k > 1 and at is not None and hat is not None:
        line.append(f"; pass@{k} {at:.1%}; pass^{k} {hat:.1%}", style="not bold")
    console.print(line, soft_wrap=True)
    causes = [cause for case in experiment.cases for cause in case.open_causes]
    left_out = [
        f"{layer} is not required by {format_count(cases, 'case')} (requires)"
        for layer, cases in experiment.left_out_layers.items()
    ]
    remarks = filter(None, [describe_gravest_cause(causes), experiment.open_policy.remark, *left_out])
    if remark := "; ".join(remarks):
        console.print(Text(remark, style="yellow"), soft_wrap=True)


def _write_case(result: CaseResult) -> None:
    marks = "".join(_MARKS[trial.verdict] for trial in result.trials[:_SHOWN_TRIALS])
    status = "quarantined" if result.quarantined else result.status.value
    line = Text.assemble(
        (f"{status:12}", _STYLES[result.status]), "  ", (result.case.id, "bold"), f"  {marks}"
    )
    if len(result.trials) > 1:
        unsettled = f", {result.open} open" if result.open else ""
        line.append(f"  {result.passed} of {len(result.trials)}{unsettled}")
    console.print(line, soft_wrap=True)
    first = result.first_failure
    if first is not None:
        layer = f"{first.layer.value}: " if first.layer else ""
        reason = Text.assemble(f"trial {first.number}: {layer}", format_line(first.reason))
        console.print(Padding(reason, (0, 0, 0, 6)))
        if first.unknown_calls:
            names = ", ".join(sorted({str(call["tool"]) for call in first.unknown_calls}))
            count = format_count(len(first.unknown_calls), "call")
            console.print(
                Padding(Text(f"{count} without a recorded result: {names}", style="dim"), (0, 0, 0, 6))
            )


def _write_comparison(experiment: Experiment) -> None:
    found = experiment.comparison
    if found is None:
        return
    by = found.difference
    if by is None:
        console.print("no case is in both this experiment and the baseline", style="yellow")
        return
    origin = experiment.baseline.origin if experiment.baseline else ""
    console.print(
        f"beside {origin}: {found.change}: {by.mean:+.1%} over {format_count(found.cases, 'case')}"
        f" (95% interval {by.low:+.1%} to {by.high:+.1%}, p = {by.p_value:.3g};"
        f" McNemar p = {found.mcnemar_p:.3g})",
        soft_wrap=True,
    )
    for word, cases in found.flipped:
        if cases:
            console.print(Padding(Text(f"{word}: {', '.join(cases)}"), (0, 0, 0, 6)))


def _write_rates_of_parts(experiment: Experiment) -> None:
    """Print the layers that failed or are open, and passed trials by tag and cohort."""
    table = build_listing("", "trials", "rate", "95%", "open")
    for layer, counts in experiment.count_by_layer().items():
        if counts.failed or counts.open:
            interval = experiment.compute_layer_interval(layer)
            cells = _build_cells(counts.failed, counts.judged, interval)
            table.add_row(f"{layer} failed", *cells, str(counts.open))
    for dimension, value, group in experiment.groups:
        name = Text.assemble(f"{dimension} ", format_line(value), " passed")
        interval = experiment.compute_group_interval(dimension, value)
        table.add_row(name, *_build_cells(group.passed, group.counted, interval), str(group.open))
    if table.row_count:
        console.print(table)


def _build_cells(part: int, whole: int, interval: Interval | None) -> tuple[str, str, str]:
    if interval is None:
        return f"{part} of {whole}", "", ""
    return f"{part} of {whole}", f"{part / whole:.1%}", f"{interval.low:.1%} to {interval.high:.1%}"


def _write_expense(experiment: Experiment) -> None:
    wall = sum(trial.wall_s for trial in experiment.trials)
    judging = sum(trial.judge_s for trial in experiment.trials)
    tokens = sum(trial.tokens for trial in experiment.trials)
    cost = f", ${experiment.cost_usd:.4f}" if experiment.cost_usd is not None else ""
    rate, over_run = experiment.step_success, experiment.run_success_by_steps
    steps = f"; {rate:.1%} of steps succeeded" if rate is not None else ""
    run = f", all steps of a run in {over_run:.1%}" if over_run is not None else ""
    line = f"the agent ran {wall:.1f} s, the verdicts took {judging:.1f} s; {tokens} tokens{cost}{steps}{run}"
    console.print(line, style="dim", soft_wrap=True)
