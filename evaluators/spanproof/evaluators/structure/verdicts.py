"""From measures to outcomes: a value from 0 to 1 and a sentence for each, and the places behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from spanproof.evaluators.layers.common import counted
from spanproof.evaluators.scores import Unit
from spanproof.evaluators.structure.left import CodeFile, Files
from spanproof.evaluators.structure.measures import (
    Finding,
    FunctionSize,
    Size,
    api_change,
    dead_code,
    duplicates,
    readable,
    size,
)
from spanproof.trace import Evidence, Outcome, Scored, Skipped

_PATHS_AT_HALF: Final = 10.0
"""McCabe's limit for the paths through one function."""

_LINES_AT_HALF: Final = 200.0
_SHOWN: Final = 10


def measure(before: Files, after: Files) -> dict[str, Outcome]:
    """Return the outcome of each measure by its name; those of two runs where both have a file.

    Args:
        before: files of the run before; empty where there is none.
        after: files that the run leaves.
    """
    files = readable(after.values())
    shared = sorted(before.keys() & after.keys())
    measures: dict[str, Callable[[], Outcome]] = {
        "complexity": lambda: _complexity(size(files)),
        "code_lines": lambda: _code_lines(size(files)),
        "duplication": lambda: _duplication(*duplicates(files)),
        "dead_code": lambda: _dead_code([file for file in files if file.is_python]),
    }
    if shared:
        measures["growth"] = lambda: _growth(before, after, shared)
        measures["public_api"] = lambda: _public_api(before, after)
    if not files:
        unread = ", ".join(sorted(after)[:3])
        reason = f"no code that parses, in a language that can be measured: {unread}"
        return dict.fromkeys(measures, Skipped(reason))
    return {name: _measure_nested(each) for name, each in measures.items()}


def _measure_nested(one: Callable[[], Outcome]) -> Outcome:
    try:
        return one()
    except RecursionError:
        return Skipped("the code is nested too deeply to be read")


def _complexity(found: Size) -> Outcome:
    ranked = sorted(found.functions, key=lambda each: -each.paths)
    if not ranked:
        return Skipped("no line of code")
    worst = ranked[0]
    sentence = f"{counted(worst.paths, 'path')} through {_place_of(worst)}"
    if len(ranked) > 1:
        sentence += f", the most of {len(ranked)} pieces of code"
    facts = tuple(Evidence(f"{_place_of(each)}: {counted(each.paths, 'path')}") for each in ranked[:_SHOWN])
    value = _PATHS_AT_HALF / (_PATHS_AT_HALF + worst.paths)
    return Scored(value, None, f"{sentence}.", facts, raw=float(worst.paths), unit=Unit.PATHS)


def _place_of(function: FunctionSize) -> str:
    if function.is_top:
        return f"the code outside functions of {function.file}"
    return f"{function.name} at line {function.line} of {function.file}"


def _code_lines(found: Size) -> Outcome:
    sentence = f"{counted(found.lines, 'line')} of code, without blanks and comments."
    value = _LINES_AT_HALF / (_LINES_AT_HALF + found.lines)
    return Scored(value, None, sentence, raw=float(found.lines), unit=Unit.LINES)


def _duplication(lines: int, found: Sequence[Finding]) -> Outcome:
    repeated = sum(each.lines for each in found)
    if not repeated:
        return Scored(1.0, None, "No block of code repeats another.")
    sentence = f"{repeated} of {counted(lines, 'line')} repeat an earlier block; the first, {_say(found[0])}."
    return Scored(1 - repeated / lines, None, sentence, _facts(found))


def _dead_code(files: Sequence[CodeFile]) -> Outcome:
    if not files:
        return Skipped("dead code is found in Python alone")
    found = dead_code(files)
    if not found:
        return Scored(1.0, None, "Every import, private name and line is used.")
    lines = sum(len(file.source.splitlines()) for file in files)
    dead = min(lines, sum(each.lines for each in found))
    sentence = f"Nothing uses {dead} of {counted(lines, 'line')}; the first, {_say(found[0])}."
    return Scored(1 - dead / lines, None, sentence, _facts(found))


def _say(finding: Finding) -> str:
    return f"line {finding.line} of {finding.file}: {finding.what}"


def _facts(found: Sequence[Finding]) -> tuple[Evidence, ...]:
    return tuple(Evidence(f"{_say(each)} ({counted(each.lines, 'line')})") for each in found[:_SHOWN])


def _growth(before: Files, after: Files, shared: Sequence[str]) -> Outcome:
    """Return how much of the larger of size and complexity the run before had, in files that both have."""
    pairs = [(before[name], after[name]) for name in shared]
    measured = [pair for pair in pairs if len(readable(pair)) == 2]
    if not measured:
        return Skipped("the code of the run before does not parse, or this run's does not")
    old, new = size([pair[0] for pair in measured]), size([pair[1] for pair in measured])
    ratios = [had / has for had, has in ((old.lines, new.lines), (old.paths, new.paths)) if has]
    sentence = f"{_from_to(old.lines, new.lines, 'line')} and {_from_to(old.paths, new.paths, 'path')}"
    return Scored(min(1.0, *ratios), None, f"{sentence} since the run before.")


def _from_to(before: int, after: int, noun: str) -> str:
    return f"{before} to {counted(after, noun)}"


def _public_api(before: Files, after: Files) -> Outcome:
    change = api_change(before, after)
    if not change.names:
        return Skipped("the run before has no public name in a Python file that both have")
    if not change.broken:
        return Scored(
            1.0, None, f"All of {counted(change.names, 'public name')} of the run before still hold."
        )
    first, how = next(iter(change.broken.items()))
    sentence = f"{len(change.broken)} of {counted(change.names, 'public name')} broke; {first}: {how}."
    facts = tuple(Evidence(f"{name}: {how}") for name, how in list(change.broken.items())[:_SHOWN])
    return Scored(1 - len(change.broken) / change.names, None, sentence, facts)
