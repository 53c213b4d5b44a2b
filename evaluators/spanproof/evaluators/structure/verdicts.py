"""From measures to outcomes: a value from 0 to 1 and a sentence for each, and the places behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from spanproof.evaluators.layers.common import format_count
from spanproof.evaluators.scores import Unit
from spanproof.evaluators.structure.left import CodeFile, Files
from spanproof.evaluators.structure.measures import (
    Finding,
    FunctionSize,
    Size,
    compare_api,
    compute_size,
    count_duplicates,
    list_dead_code,
    select_readable,
)
from spanproof.trace import Cause, Evidence, Outcome, Scored, Skipped

# McCabe's limit for the paths through one function.
_PATHS_AT_HALF: Final = 10.0

_LINES_AT_HALF: Final = 200.0
_SHOWN: Final = 10


def compute_outcomes(before: Files, after: Files) -> dict[str, Outcome]:
    """Return the outcome of each measure by its name; those of two runs where both have a file.

    Args:
        before: files of the run before; empty where there is none.
        after: files that the run leaves.
    """
    files = select_readable(after.values())
    shared = sorted(before.keys() & after.keys())
    measures: dict[str, Callable[[], Outcome]] = {
        "complexity": lambda: _evaluate_complexity(compute_size(files)),
        "code_lines": lambda: _evaluate_code_lines(compute_size(files)),
        "duplication": lambda: _evaluate_duplication(*count_duplicates(files)),
        "dead_code": lambda: _evaluate_dead_code([file for file in files if file.is_python]),
    }
    if shared:
        measures["growth"] = lambda: _evaluate_growth(before, after, shared)
        measures["public_api"] = lambda: _evaluate_public_api(before, after)
    if not files:
        unread = ", ".join(sorted(after)[:3])
        reason = f"no code that parses, in a language that can be measured: {unread}"
        return dict.fromkeys(measures, Skipped(reason, Cause.NOTHING_OF_THE_KIND))
    return {name: _run_measure(measure) for name, measure in measures.items()}


def _run_measure(one: Callable[[], Outcome]) -> Outcome:
    try:
        return one()
    except RecursionError:
        return Skipped("the code is nested too deeply to be read", Cause.NOT_SUPPORTED)


def _evaluate_complexity(found: Size) -> Outcome:
    ranked = sorted(found.functions, key=lambda function: -function.paths)
    if not ranked:
        return Skipped("no line of code", Cause.NO_CODE)
    worst = ranked[0]
    sentence = f"{format_count(worst.paths, 'path')} through {_describe_place(worst)}"
    if len(ranked) > 1:
        sentence += f", the most of {len(ranked)} pieces of code"
    facts = tuple(
        Evidence(f"{_describe_place(function)}: {format_count(function.paths, 'path')}")
        for function in ranked[:_SHOWN]
    )
    value = _PATHS_AT_HALF / (_PATHS_AT_HALF + worst.paths)
    return Scored(value, None, f"{sentence}.", facts, raw=float(worst.paths), unit=Unit.PATHS)


def _describe_place(function: FunctionSize) -> str:
    if function.is_top:
        return f"the code outside functions of {function.file}"
    return f"{function.name} at line {function.line} of {function.file}"


def _evaluate_code_lines(found: Size) -> Outcome:
    sentence = f"{format_count(found.lines, 'line')} of code, without blanks and comments."
    value = _LINES_AT_HALF / (_LINES_AT_HALF + found.lines)
    return Scored(value, None, sentence, raw=float(found.lines), unit=Unit.LINES)


def _evaluate_duplication(lines: int, found: Sequence[Finding]) -> Outcome:
    repeated = sum(finding.lines for finding in found)
    if not repeated:
        return Scored(1.0, None, "No block of code repeats another.")
    of_all = f"{repeated} of {format_count(lines, 'line')}"
    sentence = f"{of_all} repeat an earlier block; the first, {_format_finding(found[0])}."
    return Scored(1 - repeated / lines, None, sentence, _list_facts(found))


def _evaluate_dead_code(files: Sequence[CodeFile]) -> Outcome:
    if not files:
        return Skipped("dead code is found in Python alone", Cause.NOT_SUPPORTED)
    found = list_dead_code(files)
    if not found:
        return Scored(1.0, None, "Every import, private name and line is used.")
    lines = sum(len(file.source.splitlines()) for file in files)
    dead = min(lines, sum(finding.lines for finding in found))
    sentence = (
        f"Nothing uses {dead} of {format_count(lines, 'line')}; the first, {_format_finding(found[0])}."
    )
    return Scored(1 - dead / lines, None, sentence, _list_facts(found))


def _format_finding(finding: Finding) -> str:
    return f"line {finding.line} of {finding.file}: {finding.what}"


def _list_facts(found: Sequence[Finding]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(f"{_format_finding(finding)} ({format_count(finding.lines, 'line')})")
        for finding in found[:_SHOWN]
    )


def _evaluate_growth(before: Files, after: Files, shared: Sequence[str]) -> Outcome:
    """Return how much of the larger of size and complexity the run before had, in files that both have."""
    pairs = [(before[name], after[name]) for name in shared]
    measured = [pair for pair in pairs if len(select_readable(pair)) == 2]
    if not measured:
        return Skipped(
            "the code of the run before does not parse, or this run's does not", Cause.NOT_COMPARABLE
        )
    old, new = compute_size([pair[0] for pair in measured]), compute_size([pair[1] for pair in measured])
    ratios = [had / has for had, has in ((old.lines, new.lines), (old.paths, new.paths)) if has]
    sentence = (
        f"{_format_change(old.lines, new.lines, 'line')} and {_format_change(old.paths, new.paths, 'path')}"
    )
    return Scored(min(1.0, *ratios), None, f"{sentence} since the run before.")


def _format_change(before: int, after: int, noun: str) -> str:
    return f"{before} to {format_count(after, noun)}"


def _evaluate_public_api(before: Files, after: Files) -> Outcome:
    change = compare_api(before, after)
    if not change.names:
        return Skipped(
            "the run before has no public name in a Python file that both have", Cause.NOT_COMPARABLE
        )
    if not change.broken:
        return Scored(
            1.0, None, f"All of {format_count(change.names, 'public name')} of the run before still hold."
        )
    first, how = next(iter(change.broken.items()))
    sentence = f"{len(change.broken)} of {format_count(change.names, 'public name')} broke; {first}: {how}."
    facts = tuple(Evidence(f"{name}: {how}") for name, how in list(change.broken.items())[:_SHOWN])
    return Scored(1 - len(change.broken) / change.names, None, sentence, facts)
