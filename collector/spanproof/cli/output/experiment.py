"""An experiment for people: the rates first, then a line per case, then what flipped."""

from __future__ import annotations

from rich.padding import Padding
from rich.text import Text

from spanproof.cli.output.console import console, warn
from spanproof.cli.output.hostile import plain
from spanproof.cli.output.words import format_count
from spanproof.experiments import CaseResult, CaseStatus, Experiment, TrialVerdict

_STYLES = {
    CaseStatus.PASSED: "green",
    CaseStatus.FIXED: "bold green",
    CaseStatus.FLAKY: "bold yellow",
    CaseStatus.REPRODUCED: "bold red",
    CaseStatus.REGRESSED: "bold red",
    CaseStatus.FAILED: "bold red",
    CaseStatus.INCONCLUSIVE: "bold yellow",
}
_MARKS = {TrialVerdict.PASSED: "✓", TrialVerdict.FAILED: "✗", TrialVerdict.UNJUDGED: "?"}
_SHOWN_TRIALS = 20


def print_experiment(experiment: Experiment) -> None:
    """Print an experiment."""
    _print_rates(experiment)
    for result in experiment.cases:
        _print_case(result)
    _print_comparison(experiment)
    _print_layers(experiment)
    if experiment.floating_models:
        names = ", ".join(experiment.floating_models)
        warn(f"the model name {names} is an alias: what answers to it may change; name a dated snapshot")
    if experiment.stopped:
        warn(f"not all trials were run: {experiment.stopped}; give the same --out to go on")
    console.print(Text(f"results: {experiment.folder}", style="dim"), soft_wrap=True)


def _print_rates(experiment: Experiment) -> None:
    rate, interval = experiment.pass_at(1), experiment.interval
    passed = experiment.count(CaseStatus.PASSED) + experiment.count(CaseStatus.FIXED)
    cases = format_count(len(experiment.cases), "case")
    style = "bold green" if experiment.passed else "bold red"
    line = Text(f"{passed} of {cases} passed in every trial", style=style)
    if rate is not None:
        line.append(f"; pass@1 {rate:.1%}, {interval}", style="not bold")
    k = experiment.wanted
    at, hat = experiment.pass_at(k), experiment.pass_hat(k)
    if k > 1 and at is not None and hat is not None:
        line.append(f"; pass@{k} {at:.1%}; pass^{k} {hat:.1%}", style="not bold")
    console.print(line, soft_wrap=True)


def _print_case(result: CaseResult) -> None:
    marks = "".join(_MARKS[trial.verdict] for trial in result.trials[:_SHOWN_TRIALS])
    status = "quarantined" if result.quarantined else result.status.value
    line = Text.assemble(
        (f"{status:12}", _STYLES[result.status]), "  ", (result.case.id, "bold"), f"  {marks}"
    )
    if len(result.trials) > 1:
        line.append(f"  {result.passed} of {len(result.trials)}")
    console.print(line, soft_wrap=True)
    first = result.first_failure
    if first is not None:
        layer = f"{first.layer.value}: " if first.layer else ""
        reason = Text.assemble(f"trial {first.number}: {layer}", plain(first.reason))
        console.print(Padding(reason, (0, 0, 0, 6)))
        if first.unknown_calls:
            names = ", ".join(sorted({str(each["tool"]) for each in first.unknown_calls}))
            count = format_count(len(first.unknown_calls), "call")
            console.print(
                Padding(Text(f"{count} without a recorded result: {names}", style="dim"), (0, 0, 0, 6))
            )


def _print_comparison(experiment: Experiment) -> None:
    found = experiment.comparison
    if found is None:
        return
    if found.difference is None or found.low is None or found.high is None:
        console.print("no case is in both this experiment and the baseline", style="yellow")
        return
    origin = experiment.baseline.origin if experiment.baseline else ""
    console.print(
        f"beside {origin}: {found.difference:+.1%} over {format_count(found.cases, 'case')} (95% interval"
        f" {found.low:+.1%} to {found.high:+.1%}); McNemar p = {found.p_value:.3g}",
        soft_wrap=True,
    )
    for word, cases in found.flipped:
        if cases:
            console.print(Padding(Text(f"{word}: {', '.join(cases)}"), (0, 0, 0, 6)))


def _print_layers(experiment: Experiment) -> None:
    failed = [
        f"{layer} {failed} of {judged}"
        for layer, (failed, judged) in experiment.fail_rates().items()
        if failed
    ]
    if failed:
        console.print(f"failed trials by layer: {', '.join(failed)}", soft_wrap=True)
    costs = [trial.cost_usd for trial in experiment.trials if trial.cost_usd is not None]
    wall = sum(trial.wall_s for trial in experiment.trials)
    tokens = sum(trial.tokens for trial in experiment.trials)
    cost = f", ${sum(costs):.4f}" if costs else ""
    steps = experiment.step_success
    success = f"; {steps:.1%} of steps succeeded" if steps is not None else ""
    console.print(f"{wall:.1f} s of agents, {tokens} tokens{cost}{success}", style="dim", soft_wrap=True)
