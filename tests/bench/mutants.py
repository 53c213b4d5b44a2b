"""Scans mutated snippets: none may raise, hang, or get a scanner error.

    python tests/bench/mutants.py [--count 100000] [--seed 7]

The seeds are the repository's own snippets of every kind and language. A mutant is up to three of them, cut,
doubled, spliced into each other or changed in some characters. They are text: nothing of them is executed.
Prints what is slow, and each scanner error with the mutant that gave it; exits with 1 where there was one.
`make test` scans a few hundred in `tests/sandbox/scanners/test_growth.py`.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

import yaml

from spanproof.sandbox.scanners.pipeline import Pipeline

_SNIPPETS = Path(__file__).parents[1] / "sandbox" / "scanners"
_LANGUAGES = ("python", "bash", "javascript", "typescript", "sql")
_CHARACTERS = "'\"`(){}[]$;|&<>\\\n #aé*=:,.0%@\t\0﻿"
_TEXTS = frozenset({"code", "crossing", "harmless"})
_SLOW_S = 2.0
"""Processor time of one scan above which it is printed; a mutant has a few hundred characters."""


def read_seeds() -> dict[str, list[str]]:
    """The repository's snippets by language."""
    seeds: dict[str, list[str]] = {language: [] for language in _LANGUAGES}
    for path in sorted(_SNIPPETS.glob("*.yaml")):
        for language, entries in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            for entry in entries.values() if isinstance(entries, dict) else entries:
                texts = [entry] if isinstance(entry, str) else [entry[key] for key in _TEXTS & entry.keys()]
                seeds.get(language, []).extend(sorted(texts))
    return seeds


def mutate(seeds: list[str], chance: random.Random) -> str:
    """A snippet that no person wrote."""
    text = list("".join(chance.choices(seeds, k=chance.randint(1, 3))))
    for _ in range(chance.randint(1, 10)):
        at, length = chance.randrange(len(text) + 1), chance.choice([0, 1, 2, 4, 40])
        match chance.randrange(4):
            case 0:
                text[at : at + length] = chance.choices(_CHARACTERS, k=chance.randint(0, 3))
            case 1:
                text[at:at] = text[at : at + length]
            case 2:
                other = chance.choice(seeds)
                start = chance.randrange(len(other) + 1)
                text[at:at] = other[start : start + length]
            case _:
                del text[at : at + length]
    return "".join(text)


def main() -> None:
    """Scan as many mutants as were wanted."""
    parser = argparse.ArgumentParser(description="Scan mutated snippets.")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    chance, pipeline, seeds = random.Random(given.seed), Pipeline(), read_seeds()
    verdicts: Counter[str] = Counter()
    failed, slowest = 0, 0.0
    for number in range(given.count):
        language = _LANGUAGES[number % len(_LANGUAGES)]
        text = mutate(seeds[language], chance)
        started = time.process_time()
        scan = pipeline.scan(language, text)
        took = time.process_time() - started
        slowest = max(slowest, took)
        verdicts[str(scan.verdict)] += 1
        errors = [one.message for one in scan.findings if one.rule == "scanner_error"]
        failed += bool(errors)
        if errors or took > _SLOW_S:
            print(f"{language}, {took:.2f} s: {'; '.join(errors) or 'slow'}\n{text!r}", flush=True)
    shares = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    print(
        f"{given.count} mutants: {shares}; {failed} scanner errors, slowest {slowest:.2f} s of processor time"
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
