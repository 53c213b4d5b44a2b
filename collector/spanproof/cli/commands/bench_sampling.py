"""`spanproof bench --endpoint`: completions of a model requested, and kept in a file of samples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from spanproof.benchmarks.sampling import ModelRequest, sample_completions
from spanproof.cli.options.benchmark import BenchOptions
from spanproof.cli.output.console import inform, make_progress, warn
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem
from spanproof.evaluators.prices import Price, find_price


def fetch_completions(name: str, tasks: Mapping[str, str], options: BenchOptions, *, as_json: bool) -> Path:
    """Return the file that holds the completions of these tasks, after those that lack were requested.

    Raises:
        BenchmarkError: the endpoint gives none, or the file is of another request.
        UsageProblem: no model is named, or the budget was spent before the first completion.
    """
    if not options.model or options.endpoint is None:
        raise UsageProblem("--endpoint needs the name of a model", "Give it by --model.")
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{name}-{options.model}")
    path = options.completions or Path(".spanproof/bench") / f"{slug}.jsonl"
    request = ModelRequest(
        options.model,
        options.endpoint,
        options.temperature,
        options.seed or 0,
        Price(*options.price) if options.price else find_price(options.model, {}),
        options.max_cost,
    )
    with make_progress(as_json=as_json) as bar:
        task = bar.add_task("completions", total=len(tasks) * options.trials)
        found = sample_completions(
            tasks,
            request,
            path,
            options.trials,
            options.jobs,
            lambda kept: bar.update(task, completed=kept),
        )
    if found.stopped:
        warn(f"{found.stopped}: {found.kept} of {len(tasks) * options.trials} completions are kept")
    if not found.kept:
        raise UsageProblem("there is no completion to grade", "Raise --max-cost.")
    cost = "cost unknown" if found.cost_usd is None else f"${found.cost_usd:.4f}"
    tokens = f"{found.tokens_in} tokens in, {found.tokens_out} out"
    inform(f"{format_count(found.kept, 'completion')} in {path}, {found.requested} new; {tokens}; {cost}")
    return path
