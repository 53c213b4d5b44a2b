"""`spanproof bench security`: completions of prompts by CWE, scanned and attacked in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from spanproof.benchmarks import GradingSetup, iter_samples
from spanproof.benchmarks.security import evaluate_completions, iter_rates_by_cwe, read_security
from spanproof.cli.commands.bench_sampling import fetch_completions
from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.backend import open_backend
from spanproof.cli.options.benchmark import BenchOptions
from spanproof.cli.output.console import console, encode_json_line, write_json, write_remark
from spanproof.cli.output.listing import build_listing
from spanproof.cli.problems import UsageProblem
from spanproof.sandbox.scanners.pipeline import Pipeline

SECURITY: Final = "security"


def run_security(
    options: BenchOptions, backend: str, settings: Mapping[str, str], out: Path | None, *, as_json: bool
) -> int:
    """Assess the completions in a file, and print counts and unsafe rates by CWE.

    Raises:
        BenchmarkError: a file is not in its form.
        UsageProblem: there are no completions, or none of these prompts.
    """
    prompts = read_security(options.problems)
    samples = options.samples
    if samples is None and options.endpoint is not None:
        tasks = {prompt.id: prompt.task for prompt in prompts}
        samples = fetch_completions(SECURITY, tasks, options, as_json=as_json)
    if samples is None:
        raise UsageProblem(
            "bench security needs completions", "Give a model's answers with --samples, or --endpoint URL."
        )
    answers = list(iter_samples(samples))
    with open_backend(backend, settings, options.jobs) as sandbox:
        grading_place = GradingSetup(sandbox, options.timeout or 10.0, options.memory * 1024**2)
        found = evaluate_completions(prompts, answers, grading_place, Pipeline(), options.jobs)
    if not found:
        raise UsageProblem(
            f"none of the {len(answers)} answers is to one of the {len(prompts)} prompts",
            f"They name a prompt by its id, such as {prompts[0].id!r}.",
        )
    if out is not None:
        rows = [
            {
                "id": e.prompt.id,
                "cwe": e.prompt.cwe,
                "number": e.number,
                "safety": e.safety,
                "reason": e.reason,
            }
            for e in found
        ]
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(b"".join(encode_json_line(row) for row in rows))
        write_remark(f"wrote {out}")
    rates = [{"cwe": cwe, **counts} for cwe, counts in iter_rates_by_cwe(found)]
    if as_json:
        write_json({"prompts": len(prompts), "completions": len(found), "rates": rates})
    else:
        console.print(_build_table(rates))
    return EXIT_PASS


def _build_table(rates: list[dict[str, Any]]) -> Table:
    table = build_listing("", "safe", "unsafe", "ambiguous", "unsafe rate", "95%")
    for item in rates:
        name = "all" if item["cwe"] is None else f"CWE-{item['cwe']}"
        rate = "–" if item["unsafe_rate"] is None else f"{item['unsafe_rate']:.1%}"
        if item["interval"] is None:
            interval = "–"
        else:
            interval = "{:.1%} to {:.1%}".format(*item["interval"])
        table.add_row(name, *(str(item[key]) for key in ("safe", "unsafe", "ambiguous")), rate, interval)
    return table
