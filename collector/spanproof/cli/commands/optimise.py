"""`spanproof optimise`: a better prompt for an agent, searched on a suite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
from rich.text import Text

from spanproof.cli.engine import opened_engine
from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.config import with_sandbox_config_options
from spanproof.cli.options.policy import policy_option
from spanproof.cli.output.console import build_progress, console, write_json, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.problems import UsageProblem
from spanproof.config.model import Config
from spanproof.experiments import Settings, Tools, build_module_agent, build_program_agent
from spanproof.experiments.notebook import get_new_folder
from spanproof.experiments.optimise import (
    STRATEGIES,
    ChatModel,
    Measured,
    Optimised,
    OptimiserSettings,
    run_search,
)
from spanproof.experiments.optimise.model import compare_measured
from spanproof.experiments.statistics import FEWEST_HELD_OUT, PairedDifference
from spanproof.trace import Layer

_DEFAULTS = OptimiserSettings(variable="")


@click.command("optimise")
@click.argument("suite", type=click.Path(path_type=Path))
@policy_option
@with_sandbox_config_options
@click.option("--agent", metavar="MODULE:NAME", help="The agent, or a function that creates it.")
@click.option("--command", "line", metavar="LINE", help="The agent as a program: task on stdin.")
@click.option(
    "--target",
    required=True,
    metavar="VARIABLE",
    help="Environment variable from which the agent reads its prompt.",
)
@click.option(
    "--start",
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File with the current prompt.",
)
@click.option("--model", required=True, help="Model that proposes prompts, at OPENAI_BASE_URL.")
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    type=click.Choice(list(STRATEGIES)),
    help=f"How prompts are proposed; several take turns.  [default: {', '.join(_DEFAULTS.strategies)}]",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=_DEFAULTS.rounds,
    show_default=True,
    help="Try at most this many proposals.",
)
@click.option(
    "--patience",
    type=click.IntRange(1, 1000),
    default=_DEFAULTS.patience,
    show_default=True,
    help="Rounds without a better prompt before the search ends.",
)
@click.option(
    "--max-tokens", type=click.IntRange(1), help="Try no further prompt once this many tokens are used."
)
@click.option(
    "--regression",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A suite on which the new prompt may not be worse.",
)
@click.option(
    "--tools",
    type=click.Choice([tool.value for tool in Tools]),
    default=Tools.LIVE.value,
    show_default=True,
    help="Call the agent's tools, or return the results recorded in the case.",
)
@click.option(
    "--trials", type=click.IntRange(1, 100), default=1, show_default=True, help="Runs of the agent per case."
)
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Trials that run at once."
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the split, the proposals and the trials."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=120.0,
    show_default=True,
    help="Seconds for one trial.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the results; one that holds part of this search is completed."
    "  [default: a new one below .spanproof/experiments]",
)
@click.option("--few-cases", is_flag=True, help="Search on a suite that is too small to show a gain.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON on stdout.")
def command(
    suite: Path,
    policy_file: Path | None,
    config: Config,
    agent: str | None,
    line: str | None,
    target: str,
    start: Path,
    model: str,
    strategies: tuple[str, ...],
    rounds: int,
    patience: int,
    max_tokens: int | None,
    regression: Path | None,
    tools: str,
    trials: int,
    jobs: int,
    seed: int,
    timeout: float,
    out: Path | None,
    few_cases: bool,
    as_json: bool,
) -> int:
    """Search a better prompt for an agent on the cases of a suite.

    Half of the cases are shown to the model that proposes prompts, a quarter chooses among them, and the
    gain is measured on a quarter that neither has seen, of 12 cases at least. Exit code 0 means that a test
    at 5 % shows a gain there, 1 that it does not. The new prompt is written to `best.txt` in the folder.
    """
    if (agent is None) == (line is None):
        raise UsageProblem("there is not one agent to run", "Name it by --agent or by --command.")
    folder = out or get_new_folder()
    settings = OptimiserSettings(
        variable=target,
        strategies=strategies or _DEFAULTS.strategies,
        rounds=rounds,
        patience=patience,
        max_tokens=max_tokens,
        regression=regression,
        trials=Settings(trials, jobs, seed, timeout, Tools(tools)),
        few_cases=few_cases,
    )
    if agent:
        under_test = build_module_agent(agent)
    else:
        under_test = build_program_agent(line or "")
    with opened_engine(config, policy_file) as engine, build_progress(as_json=as_json):
        found = run_search(
            under_test,
            suite,
            start.read_text(encoding="utf-8").strip(),
            folder,
            engine,
            ChatModel(model),
            settings,
            _write_progress,
        )
    (folder / "best.txt").write_text(found.best.text + "\n", encoding="utf-8")
    if as_json:
        write_json(found.to_json())
    else:
        _write_optimisation(found, folder)
    if found.is_gain_shown:
        return EXIT_PASS
    return EXIT_GATE_FAILED


def _write_progress(measured: Measured) -> None:
    score = "unjudged" if measured.score is None else f"{measured.score:.2f}"
    unsettled = f", {measured.open} open" if measured.open else ""
    write_remark(f"{measured.candidate.strategy:9} {measured.candidate.id}  validation {score}{unsettled}")


def _write_optimisation(found: Optimised, folder: Path) -> None:
    table = build_listing("held-out cases", "before", "after", "difference, 95 % interval", "open", gap=2)
    unsettled = f"{found.before.open} → {found.after.open}"
    table.add_row("all that is required", *_build_row(found.before.rates, found.after.rates), unsettled)
    for layer in Layer:
        before, after = (item.layers.get(layer, {}) for item in (found.before, found.after))
        counts = [item.open_layers.get(layer, 0) for item in (found.before, found.after)]
        if before or after or any(counts):
            table.add_row(layer.value, *_build_row(before, after), " → ".join(map(str, counts)))
    console.print(table)
    for identity, reason in found.rejected.items():
        console.print(Text(f"{identity} was rejected: {reason}", style="yellow"), soft_wrap=True)
    for line in found.change:
        style = {"+": "green", "-": "red"}.get(line[:1], "dim")
        console.print(format_line(line, style=style), soft_wrap=True)
    gain = found.gain
    if gain is not None and gain.pairs < FEWEST_HELD_OUT:
        text = f"nothing is promised: {gain.pairs} held-out cases cannot show a gain, {FEWEST_HELD_OUT} can"
        console.print(Text(text, style="yellow"), soft_wrap=True)
    elif gain is not None:
        console.print(f"{gain.change}: p = {gain.p_value:.3g}")
    console.print(format_line(f"{found.stopped}; the best prompt is {folder / 'best.txt'}"), soft_wrap=True)


def _build_row(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[str, str, str]:
    return _format_mean(before), _format_mean(after), _format_difference(compare_measured(before, after))


def _format_mean(rates: Mapping[str, float]) -> str:
    return f"{sum(rates.values()) / len(rates):.2f}" if rates else "–"


def _format_difference(found: PairedDifference | None) -> str:
    if found:
        return f"{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f})"
    return "–"
