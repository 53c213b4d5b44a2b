"""Hold recorded traces against what a person concludes from them, by the instrumentors that recorded them.

Usage: python tests/bench/traces.py FOLDER [--index FILE] [--explain] [--json]

FOLDER: OTLP files named FAMILY-SCENARIO.pb (or .json, .jsonl). FILE: scenarios with the labels expected of
their scores; FOLDER/index.yaml where there is one, else the `traces.yaml` beside this script, which says how
to write one. Each file is *right* (every expected score has its label), *skipped* (none is wrong, and for
some the trace lacks the evidence), *nothing to judge* (no agent acted, and every layer says so), or *wrong*.
Exit code 1 where one is wrong. --explain prints every layer's words, to be read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

OWN_INDEX = Path(__file__).with_suffix(".yaml")
SUFFIXES = (".pb", ".json", ".jsonl")
KINDS = ("right", "skipped", "nothing to judge", "wrong")
LAYERS = ("correctness", "boundary", "execution", "groundedness", "trajectory")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One file beside its scenario; `why` says what is wrong, else what was skipped."""

    file: str
    family: str
    kind: str
    why: tuple[str, ...]


def main() -> None:
    """Evaluate the folder, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="with OTLP files named FAMILY-SCENARIO.pb")
    parser.add_argument("--index", type=Path, help="a YAML file of scenarios")
    parser.add_argument("--explain", action="store_true", help="every layer's words")
    parser.add_argument("--json", action="store_true", help="one JSON line per file")
    options = parser.parse_args()
    files = sorted(file for file in options.folder.iterdir() if file.suffix in SUFFIXES)
    beside = options.folder / "index.yaml"
    index = yaml.safe_load((options.index or (beside if beside.exists() else OWN_INDEX)).read_text())
    found = evaluated(files)
    verdicts = [compared(file, found.get(str(file), []), index) for file in files]
    if options.json:
        print("\n".join(json.dumps(asdict(verdict)) for verdict in verdicts))
    else:
        show(verdicts, found if options.explain else {})
    sys.exit(any(verdict.kind == "wrong" for verdict in verdicts))


def evaluated(files: Sequence[Path]) -> dict[str, list[dict[str, Any]]]:
    """What `spanproof eval --json` says of each file: a row per trace."""
    command = [sys.executable, "-m", "spanproof.cli", "eval", "--json", *map(str, files)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode:
        sys.exit(f"spanproof eval ended with exit code {ran.returncode}; nothing was compared")
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in ran.stdout.splitlines():
        row = json.loads(line)
        rows.setdefault(row["file"], []).append(row)
    return rows


def compared(
    file: Path, traces: Sequence[Mapping[str, Any]], index: Mapping[str, Mapping[str, Any]]
) -> Verdict:
    """One file beside what is expected of its scenario."""
    family, _, scenario = file.stem.partition("-")
    if scenario not in index:
        return Verdict(file.name, family, "wrong", (f"no scenario {scenario!r} in the index",))
    expected, runs = index[scenario], [run for trace in traces for run in trace["runs"]]
    said = [layer for run in runs for layer in layers_of(run)]
    wrong = counted_wrong(expected, traces, runs)
    if expected.get("absent") and expected["absent"] in json.dumps(said):
        wrong.append(f"{expected['absent']!r} stands in an explanation")
    if expected.get("nothing"):
        wrong += [f"{each['name']} is not skipped" for each in said if each["outcome"] != "skipped"]
        return Verdict(file.name, family, "wrong" if wrong else "nothing to judge", tuple(wrong))
    lacking: list[str] = []
    for name, label in expected["scores"].items():
        verdict, words = verdict_on(name, runs)
        if verdict == "skipped" and label != "skipped":
            lacking.append(f"{name}: {words}")
        elif verdict != label:
            wrong.append(f"{name} is {verdict}, not {label}: {words}")
    kind = "wrong" if wrong else "skipped" if lacking else "right"
    return Verdict(file.name, family, kind, tuple(wrong or lacking))


def counted_wrong(
    expected: Mapping[str, Any], traces: Sequence[Mapping[str, Any]], runs: Sequence[object]
) -> list[str]:
    """Traces and runs that are more or fewer than expected."""
    counts = (("traces", len(traces)), ("runs", len(runs)))
    return [
        f"{count} {name}, not {expected[name]}"
        for name, count in counts
        if expected.get(name, count) != count
    ]


def layers_of(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The scores of a run that are named as their layers."""
    own = {score["name"]: score for score in run["scores"] if score["span_id"] == run["span_id"]}
    return [own[name] for name in LAYERS if name in own]


def verdict_on(name: str, runs: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """A score over all runs of a file: its worst label with the words for it, else why it was skipped."""
    scores = [score for run in runs for score in run["scores"]
              if score["name"] == name and score["span_id"] == run["span_id"]]  # fmt: skip
    for wanted in ("fail", "pass"):
        for score in scores:
            if score["label"] == wanted:
                return wanted, score["explanation"]
    shown = next((score for score in scores if score["outcome"] != "skipped"), None)
    if shown is not None:
        return shown["outcome"], shown["reason"] or shown["explanation"]
    reasons = dict.fromkeys(score["reason"] for score in scores)
    return "skipped", "; ".join(reasons) or "no run on the trace"


def show(verdicts: Sequence[Verdict], found: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """The table by family, then every file that is not right with its reasons."""
    console = Console()
    for file, traces in found.items():
        console.print(Text(Path(file).name, style="bold"))
        for run in (run for trace in traces for run in trace["runs"]):
            for score in layers_of(run):
                words = score["explanation"] or score["reason"]
                shown = f"  {run['name']}: {score['name']} {score['label'] or score['outcome']}: {words}"
                console.print(Text(shown), soft_wrap=True)
    table = Table("instrumentors", "traces", *KINDS)
    counts = Counter((verdict.family, verdict.kind) for verdict in verdicts)
    for family in dict.fromkeys(verdict.family for verdict in verdicts):
        row = [counts[family, kind] for kind in KINDS]
        table.add_row(family, str(sum(row)), *map(str, row))
    total = Counter(verdict.kind for verdict in verdicts)
    table.add_row("all", str(len(verdicts)), *(str(total[kind]) for kind in KINDS), style="bold")
    console.print(table)
    for verdict in verdicts:
        if verdict.why:
            console.print(Text(f"{verdict.file}: {verdict.kind}"))
            console.print(Text("\n".join(f"  {why}" for why in verdict.why)), soft_wrap=True)


if __name__ == "__main__":
    main()
