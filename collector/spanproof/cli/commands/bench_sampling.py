"""`spanproof bench --endpoint` and `--judge`: completions of a model requested, and kept in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from spanproof.benchmarks import GradedAnswer, Problem
from spanproof.benchmarks.judged import JudgedReport, build_judge_tasks, read_judgements
from spanproof.benchmarks.sampling import ModelRequest, run_sampling
from spanproof.cli.options.benchmark import BenchOptions
from spanproof.cli.output.console import build_progress, write_remark, write_warning
from spanproof.cli.output.words import format_count
from spanproof.cli.problems import UsageProblem, build_page_url
from spanproof.evaluators.prices import Price, PriceError, find_price, load_prices


def fetch_completions(name: str, tasks: Mapping[str, str], options: BenchOptions, *, as_json: bool) -> Path:
    """Return the file that holds the completions of these tasks, after those that lack were requested.

    Raises:
        BenchmarkError: the endpoint gives none, or the file is of another request.
        UsageProblem: no model is named, or the budget was spent before the first completion.
    """
    if not options.model or options.endpoint is None:
        raise UsageProblem("--endpoint needs the name of a model", "Give it by --model.")
    path = options.completions or _get_file(name, options.model)
    request = ModelRequest(
        options.model,
        options.endpoint,
        options.temperature,
        options.seed or 0,
        _find_price(options),
        options.max_cost,
    )
    _write_completions(tasks, request, path, options, options.trials, as_json=as_json)
    return path


def fetch_judgements(
    name: str,
    problems: Sequence[Problem],
    graded: Sequence[GradedAnswer],
    options: BenchOptions,
    *,
    as_json: bool,
) -> JudgedReport:
    """Return what the model of --judge says of each answer that was run, beside its grade.

    Raises:
        BenchmarkError: the endpoint gives no reply, or the file is of another request.
        UsageProblem: no endpoint is named, or the budget was spent before the first reply.
    """
    endpoint = options.judge_endpoint or options.endpoint
    if endpoint is None:
        raise UsageProblem("--judge needs an endpoint", "Give it by --judge-endpoint URL.")
    path = options.judgements or _get_file(f"{name}-judge", options.judge)
    price = _find_listed_price(options.judge, options)
    request = ModelRequest(options.judge, endpoint, 0.0, options.seed or 0, price, options.max_cost)
    tasks = build_judge_tasks(problems, graded)
    _write_completions(tasks, request, path, options, 1, as_json=as_json)
    return read_judgements(path, request, tasks, graded)


def _get_file(name: str, model: str) -> Path:
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{name}-{model}")
    return Path(".spanproof/bench") / f"{slug}.jsonl"


def _write_completions(
    tasks: Mapping[str, str],
    request: ModelRequest,
    path: Path,
    options: BenchOptions,
    count: int,
    *,
    as_json: bool,
) -> None:
    """Complete the file, and print what that came to."""
    if request.price is not None and (old := request.price.describe_age(datetime.now(UTC).date())):
        write_warning(f"{request.model}: {old}, by --prices FILE or --price IN OUT")
    with build_progress(as_json=as_json) as bar:
        task = bar.add_task("completions", total=len(tasks) * count)
        found = run_sampling(
            tasks, request, path, count, options.jobs, lambda kept: bar.update(task, completed=kept)
        )
    if found.stopped:
        write_warning(f"{found.stopped}: {found.kept} of {len(tasks) * count} completions are kept")
    if not found.kept:
        raise UsageProblem("there is no completion to grade", "Raise --max-cost.")
    cost = "cost unknown" if found.cost_usd is None else f"${found.cost_usd:.4f}"
    tokens = f"{found.tokens_in} tokens in, {found.tokens_out} out"
    write_remark(
        f"{format_count(found.kept, 'completion')} in {path}, {found.requested} new; {tokens}; {cost}"
    )


def _find_price(options: BenchOptions) -> Price | None:
    """Return the price of --model: of --price, else a listed one."""
    if options.price:
        return Price(*options.price)
    return _find_listed_price(options.model, options)


def _find_listed_price(model: str, options: BenchOptions) -> Price | None:
    """Return the price of a model in the file of --prices or the shipped list; None where neither has it.

    Raises:
        UsageProblem: the file is in another form.
    """
    try:
        return find_price(model, load_prices(options.prices) if options.prices else {})
    except PriceError as problem:
        raise UsageProblem(f"--prices: {problem}", f"{build_page_url('bench')} shows its form.") from problem
