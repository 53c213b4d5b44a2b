"""A benchmark's result for people: the protocol, the rates, and what they are not to be trusted with."""

from __future__ import annotations

from rich.text import Text

from spanproof.benchmarks import BenchmarkReport, Protocol, Rate
from spanproof.benchmarks.judged import JudgedReport
from spanproof.cli.output.console import console, write_warning
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.words import format_count

_SHOWN = 5


def write_benchmark(report: BenchmarkReport) -> None:
    """Print a report."""
    console.print(_describe_protocol(report.protocol), style="dim", soft_wrap=True)
    ks = report.protocol.k
    table = build_listing("", "problems", *(f"pass@{k}" for k in ks), "pass@1, 95%")
    for name, rate in report.rates.items():
        table.add_row(*_build_cells(name, rate, ks))
    for dimension, value, rate in report.iter_rates_by_group():
        table.add_row(*_build_cells(f"  {dimension} {value}", rate, ks))
    console.print(table)
    if len(report.turns) > 1:
        shown = ", ".join(f"{count} in turn {turn}" for turn, count in report.turns.items())
        console.print(f"passed: {shown}")
    for reason, count in list(report.unjudged.items())[:_SHOWN]:
        console.print(Text.assemble(f"unjudged: {count} × ", format_line(reason)), soft_wrap=True)
    if report.defects:
        names = format_first(report.defects)
        write_warning(f"assertions that the published solution fails, too, are not counted: {names}")
    if report.judged is not None:
        _write_judged(report.judged)
    _write_signs(report)


def _write_judged(judged: JudgedReport) -> None:
    """Print the judge beside execution: rates by model, pairs that change places, the cost of one each."""
    heads = ("model", "answers", "by execution", "by the judge", "false passes", "false fails")
    rates = build_listing(*heads)
    for model, found in judged.models.items():
        share = "–" if found.judged is None else f"{found.judged:.1%}"
        counts = (str(found.answers), f"{found.executed:.1%}", share)
        rates.add_row(
            format_line(model or "not named"), *counts, str(found.false_passes), str(found.false_fails)
        )
    console.print(Text(f"judge {judged.judge} beside execution", style="bold"))
    console.print(rates)
    for better, worse in judged.flips:
        console.print(Text(f"ranked otherwise by the judge: {better} is ahead of {worse} by execution"))
    costs = build_listing("one evaluation", "seconds", "US dollars")
    for name, cost in judged.costs.items():
        seconds, dollars = cost["seconds"], cost["usd"]
        costs.add_row(
            name,
            "–" if seconds is None else f"{seconds:.3f}",
            "not known" if dollars is None else f"{dollars:.6f}",
        )
    console.print(costs)


def _write_signs(report: BenchmarkReport) -> None:
    signs = report.contamination
    if signs.tests_in_prompt:
        write_warning(f"hidden tests are in the prompt of {format_first(signs.tests_in_prompt)}")
    if signs.verbatim:
        write_warning(f"the answer is the published solution, word for word: {format_first(signs.verbatim)}")
    if signs.duplicates:
        pairs = [f"{ours} ~ {theirs} ({alike:.0%})" for ours, theirs, alike in signs.duplicates]
        write_warning(f"near-duplicates in the other split: {format_first(pairs)}")
    gap = signs.gap
    if gap is not None and gap.difference is not None:
        before, after = gap.before, gap.after
        line = (
            f"before {gap.cutoff}: {before[0]} of {before[1]} pass; from then on {after[0]} of {after[1]}:"
            f" {after[0] / after[1] - before[0] / before[1]:+.1%} (95% interval {gap.difference.low:+.1%} to"
            f" {gap.difference.high:+.1%})"
        )
        console.print(Text(line, style="bold yellow" if gap.is_sign else ""), soft_wrap=True)


def _describe_protocol(protocol: Protocol) -> str:
    n = "–".join(str(item) for item in sorted(set(protocol.n)))
    subset = f" ({protocol.subset})" if protocol.subset else ""
    if protocol.temperature is None:
        temperature = "not named"
    else:
        temperature = f"{protocol.temperature:g}"
    seed = "not named" if protocol.seed is None else protocol.seed
    facts = [
        f"{protocol.benchmark}: {protocol.problems} of {format_count(protocol.published, 'problem')}{subset}",
        f"n {n}",
        f"k {', '.join(map(str, protocol.k))}",
        f"model {protocol.model or 'not named'}",
        f"temperature {temperature}",
        f"seed {seed}",
        *([f"{protocol.turns} turns"] if protocol.turns > 1 else []),
        f"sandbox {protocol.sandbox}, {protocol.timeout_s:g} s",
        f"file {protocol.digest[:12]}",
    ]
    return "; ".join(facts)


def _build_cells(name: str, rate: Rate, ks: tuple[int, ...]) -> list[str]:
    shown = [f"{rate.pass_at[k]:.1%}" if k in rate.pass_at else "–" for k in ks]
    if rate.interval:
        interval = f"{rate.interval.low:.1%} to {rate.interval.high:.1%}"
    else:
        interval = "–"
    return [name, str(rate.problems), *shown, interval]


def format_first(names: tuple[str, ...] | list[str]) -> str:
    """Return the first names, and how many more there are."""
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
