"""Train the model of orders to a model: `sandbox/spanproof/sandbox/scanners/data/weights.txt`.

Usage: python training/rails/train.py [--hold-out SET …]

Fits a logistic regression on the distinct words of each text, and on two or three of them in a row. Keeps
those that say most, and writes their weights in hundredths. With `--hold-out` it writes nothing: it leaves
each of these sets out, and prints what the model finds in it. The README describes the texts.
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
import yaml
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from spanproof.sandbox.scanners.learned_orders import LIKELY, SURE, iter_grams, split_tokens
from spanproof.sandbox.scanners.source import to_lower_case

_ROOT = Path(__file__).parents[2]
_SETS = _ROOT / "tests" / "golden" / "rails"
_WEIGHTS = _ROOT / "sandbox" / "spanproof" / "sandbox" / "scanners" / "data" / "weights.txt"
# What is kept of the words, and how much a paragraph counts beside a text of a set.
_KEPT = 4_000
_PARAGRAPH_WEIGHT = 0.3
_PARAGRAPHS = 4_000

Labelled = list[tuple[str, bool]]


def load_sets() -> dict[str, Labelled]:
    """Return the texts of each set, with whether one is an injection."""
    sets: dict[str, Labelled] = {}
    for path in sorted(_SETS.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        sets[path.stem] = [(row["text"], row["kind"] == "injection") for row in rows]
    for path in sorted(_SETS.glob("*.yaml")):
        content = yaml.safe_load(path.read_text("utf-8"))
        texts = [(text, True) for text in content.get("injections", [])]
        sets[path.stem] = texts + [(text, False) for text in content["harmless"]]
    return sets


def load_paragraphs() -> list[str]:
    """Return paragraphs of the documentation and of packages' descriptions: none is an order to a model."""
    texts = [path.read_text("utf-8") for path in sorted((_ROOT / "docs").rglob("*.md"))]
    named = sorted(distributions(), key=lambda one: one.metadata["Name"].lower())
    texts += [one.metadata.get("Description") or str(one.metadata.get_payload()) for one in named]
    parts = [part.strip() for text in texts for part in text.split("\n\n")]
    found = list(dict.fromkeys(part for part in parts if 80 < len(part) < 1_500))
    return [found[at] for at in np.random.default_rng(0).permutation(len(found))]


def train_model(texts: Labelled, paragraphs: list[str]) -> tuple[int, dict[str, int]]:
    """Return the bias and the weights, in hundredths."""
    vectorizer = CountVectorizer(analyzer=list_grams, min_df=2, binary=True)
    rows = vectorizer.fit_transform([*(text for text, _ in texts), *paragraphs])
    labels = [*(label for _, label in texts), *(False for _ in paragraphs)]
    counts = [*(1.0 for _ in texts), *(_PARAGRAPH_WEIGHT for _ in paragraphs)]
    model = LogisticRegression(C=1.0, max_iter=200).fit(rows, labels, sample_weight=counts)
    pairs = zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True)
    kept = sorted(pairs, key=lambda pair: (-abs(pair[1]), pair[0]))[:_KEPT]
    return round(100 * model.intercept_[0]), {gram: round(100 * weight) for gram, weight in kept}


def list_grams(text: str) -> list[str]:
    """Return the words of a text, alone and in rows."""
    return list(iter_grams(split_tokens(to_lower_case(text))))


def main() -> None:
    """Write the weights, or print what the model finds in sets that it has not seen."""
    parser = argparse.ArgumentParser(description="Train the model of orders to a model.")
    parser.add_argument("--hold-out", nargs="+", default=[])
    arguments = parser.parse_args()
    sets, paragraphs = load_sets(), load_paragraphs()
    if not arguments.hold_out:
        bias, weights = train_model(
            [one for texts in sets.values() for one in texts], paragraphs[:_PARAGRAPHS]
        )
        lines = [str(bias), *(f"{weight} {gram}" for gram, weight in sorted(weights.items()))]
        _WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")
    for name in arguments.hold_out:
        others = [one for other, texts in sets.items() if other != name for one in texts]
        bias, weights = train_model(others, paragraphs[:_PARAGRAPHS])
        print(name, *(_describe(bias, weights, sets[name], label) for label in (True, False)), sep="; ")
        prose = [(text, False) for text in paragraphs[_PARAGRAPHS:]]
        print("   paragraphs not trained on:", _describe(bias, weights, prose, label=False))


def _describe(bias: int, weights: dict[str, int], texts: Labelled, label: bool) -> str:
    chosen = [text for text, injected in texts if injected is label]
    scores = [(bias + sum(weights.get(gram, 0) for gram in set(list_grams(text)))) / 100 for text in chosen]
    sure, likely = sum(score >= SURE for score in scores), sum(score >= LIKELY for score in scores)
    return f"{'injections' if label else 'harmless'} {len(scores)}: sure {sure}, likely {likely - sure}"


if __name__ == "__main__":
    main()
