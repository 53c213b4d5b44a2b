"""Train the model that names languages where structure does not: `detect/weights.txt`.

Usage: python training/detection/train.py SOURCES

SOURCES is a folder with the packages README.md names, unpacked. Takes beginnings and middles of their files,
and snippets written by `templates.py`; fits a multinomial logistic regression on distinct trigrams, keeps the
trigrams that say most, and writes their weights as eight-bit numbers. The same folder gives the same file.
"""

from __future__ import annotations

import random
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from documents import a_json, a_yaml
from other_languages import OTHER_KINDS
from templates import bash, html, javascript, other, prose, python, sql, typescript

from spanproof.evaluators.detect import learned

KINDS = [
    "prose", "python", "sql", "bash", "javascript", "typescript", "json", "yaml", "html",
    *(f"other/{kind}" for kind in OTHER_KINDS),
]  # fmt: skip
_TPC = ("tpc-h.sql", "tpc-ds.sql")
"""The queries of the TPC benchmarks stand under their own terms: they are left out."""

EACH = 2_500
KEPT = 3_500
PASSES = 40


def pieces(texts: Iterator[str], draw: random.Random) -> Iterator[str]:
    """A beginning and some middles of each text, two to twenty lines long."""
    for text in texts:
        lines = text.splitlines()
        for start in [0, *(draw.randrange(len(lines)) for _ in range(3) if lines)]:
            piece = "\n".join(lines[start : start + draw.randint(2, 20)]).strip("\n")
            if len(piece.strip()) > 20:
                yield piece


def files(folder: Path, *suffixes: str, but: tuple[str, ...] = ()) -> Iterator[str]:
    """The texts of a folder's files, in the order of their names."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name.endswith(suffixes) and not path.name.endswith(but):
            yield path.read_text("utf-8", errors="ignore")[:60_000]


def comments(texts: Iterator[str]) -> Iterator[str]:
    """Prose of sources: docstrings and block comments of several words."""
    for text in texts:
        for block in re.findall(r'"""([^"]{60,900})"""', text):
            plain = "\n".join(line.strip() for line in block.splitlines() if ">>>" not in line)
            if plain.count(" ") > 12:
                yield plain


def paragraphs(texts: Iterator[str]) -> Iterator[str]:
    """Prose of Markdown: its paragraphs outside of fences, indented ones left out."""
    for text in texts:
        for paragraph in re.split(r"\n\s*\n", re.sub(r"```.*?(?:```|\Z)", "", text, flags=re.DOTALL)):
            if paragraph.count(" ") > 7 and not re.search(r"^(?: {4}|\t|<|---)", paragraph, re.MULTILINE):
                yield paragraph.strip("\n")[:900]


def material(sources: Path, draw: random.Random) -> dict[str, list[str]]:
    """Texts of each kind."""
    standard = Path(sysconfig.get_paths()["stdlib"])
    without_packages = sorted(standard.glob("*.py")) + sorted(standard.glob("[a-h]*/*.py"))
    library = [path.read_text("utf-8", errors="ignore")[:60_000] for path in without_packages]
    written: dict[str, Callable[[random.Random], str]] = {
        "sql": sql, "bash": bash, "typescript": typescript, "prose": prose,
        "python": python, "javascript": javascript, "json": a_json, "yaml": a_yaml,
        "html": html, **{f"other/{kind}": partial(other, forms) for kind, forms in OTHER_KINDS.items()},
    }  # fmt: skip
    found: dict[str, list[str]] = {
        "python": list(pieces(iter(library), draw)),
        "javascript": list(pieces(files(sources, ".js", ".mjs"), draw)),
        "typescript": list(pieces(files(sources, ".ts", but=(".d.ts",)), draw)),
        "sql": list(pieces(files(sources, ".sql", but=_TPC), draw)),
        "html": list(pieces(files(sources, ".html"), draw)),
        "prose": [*comments(iter(library)), *paragraphs(files(sources, ".md"))],
        "yaml": list(pieces(files(sources, ".yaml", ".yml"), draw)),
        "other/java": list(pieces(files(sources, ".java"), draw)),
        "other/c": list(pieces(files(sources, ".c", ".h"), draw)),
        "other/go": list(pieces(files(sources, ".go"), draw)),
        "other/rust": list(pieces(files(sources, ".rs"), draw)),
        "other/files": list(pieces(files(sources, ".css"), draw)),
        "bash": list(pieces(files(sources, ".bash", ".sh"), draw)),
    }
    chosen = {}
    for kind in KINDS:
        texts = found.get(kind, [])
        draw.shuffle(texts)
        if kind in written:
            texts = texts[: EACH // 2]
            texts += [written[kind](draw)[:600] for _ in range(EACH // 2 if texts else EACH)]
        chosen[kind] = texts[:EACH]
    return chosen


def fit(texts: list[str], labels: np.ndarray, vocabulary: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Weights and bias of a regularised multinomial regression, by full-batch Adam."""
    index = {trigram: at for at, trigram in enumerate(vocabulary)}
    rows = [[index[t] for t in sorted(learned.list_trigrams(text)) if t in index] for text in texts]
    matrix = np.zeros((len(texts), len(vocabulary)), dtype=np.float32)
    for at, row in enumerate(rows):
        matrix[at, row] = 1.0 / max(1.0, np.sqrt(len(row)))
    wanted = np.eye(len(KINDS), dtype=np.float32)[labels]
    weights = np.zeros((len(vocabulary), len(KINDS)), dtype=np.float32)
    bias = np.zeros(len(KINDS), dtype=np.float32)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, PASSES + 1):
        scores = matrix @ weights + bias
        scores -= scores.max(axis=1, keepdims=True)
        chances = np.exp(scores)
        chances /= chances.sum(axis=1, keepdims=True)
        error = (chances - wanted) / len(texts)
        slope = matrix.T @ error + 1e-6 * weights
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights -= 0.3 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        bias -= 0.5 * error.sum(axis=0)
    chosen = (matrix @ weights + bias).argmax(axis=1)
    print(f"fits {float((chosen == labels).mean()):.4f} of {len(texts)} training texts")
    return weights, bias


def main() -> None:
    """Read, fit, write."""
    draw = random.Random(0)  # noqa: S311 - a shuffle, no secret
    chosen = material(Path(sys.argv[1]), draw)
    print({kind: len(texts) for kind, texts in chosen.items()})
    texts = [text for kind in KINDS for text in chosen[kind]]
    labels = np.array([at for at, kind in enumerate(KINDS) for _ in chosen[kind]])
    seen = Counter(trigram for text in texts for trigram in learned.list_trigrams(text))
    common = [trigram for trigram, times in seen.most_common(3 * KEPT) if times > 5 and trigram.isascii()]
    weights, _ = fit(texts, labels, common)
    spread = weights.std(axis=1) * np.sqrt([seen[trigram] for trigram in common])
    kept = sorted(common[at] for at in np.argsort(-spread)[:KEPT])
    weights, bias = fit(texts, labels, kept)
    scale = 127.0 / float(np.abs(weights).max())
    packed = np.clip(np.rint(weights * scale), -127, 127).astype(int) + 128
    lines = [",".join(KINDS) + " " + ",".join(str(round(float(b) * scale)) for b in bias) + f" {scale:.3f}"]
    for trigram, row in zip(kept, packed, strict=True):
        name = trigram.encode("unicode_escape").decode("ascii")
        lines.append(f"{name} {bytes(int(weight) for weight in row).hex()}")
    Path(learned.__file__).with_name(learned.WEIGHTS).write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
