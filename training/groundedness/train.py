"""Train the choice of groundedness, leaving one set out at a time, and write its weights as text.

Usage: python training/groundedness/train.py TRUTH [--pairs FILE] [--cache DIRECTORY] [--rows N]
       [--left-out DIRECTORY] [--write]

TRUTH holds `SET.jsonl.xz`. For each set in turn a model is trained on the others, its thresholds are chosen
there, and its verdicts on the set left out are printed. With --write, the weights trained on all sets are
written into the package. Needs numpy and scikit-learn, which nothing needs at run time.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data import SETS, Row, read_golden, read_pairs, read_set
from sklearn.ensemble import HistGradientBoostingClassifier

from spanproof.evaluators.layers.groundedness.choose.features import (
    STATE_FEATURES,
    VALUE_FEATURES,
    state_features,
    value_features,
)
from spanproof.evaluators.layers.groundedness.solve.solver import solve
from spanproof.evaluators.layers.groundedness.sources.model import Context, gather
from spanproof.evaluators.layers.groundedness.values.model import Kind

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / "evaluators/spanproof/evaluators/layers/groundedness/choose/weights.json"
# Statements of tables are claims of another manner than answers of agents: they count less.
WEIGHT = {
    "real": 1.0,
    "tatqa": 1.0,
    "golden": 1.0,
    "pairs": 1.0,
    "tabfact": 0.3,
    "infotabs": 0.2,
    "scitab": 0.3,
}
RISING = frozenset(
    [
        "equal",
        "equal_name",
        "equal_scope",
        "equal_quality",
        "margin",
        "task",
        "system",
        "arguments",
        "hit",
        "hit_fit",
        "given",
        "elsewhere",
    ]
)
FALLING = frozenset(
    [
        "other_name",
        "other_label",
        "other_scope",
        "misprint",
        "overtaken",
        "rival_same_field",
        "unfound",
        "slip",
    ]
)


class Features(NamedTuple):
    """A row with the features of its claims: each with the place of its claim."""

    row: Row
    values: list[tuple[int, int, list[float]]]
    states: list[tuple[int, int, list[float]]]


class Model(NamedTuple):
    """A model of values, one of states."""

    values: HistGradientBoostingClassifier
    states: HistGradientBoostingClassifier


def extract(rows: list[Row]) -> list[Features]:
    """Return the features of rows."""
    found = []
    for row in rows:
        solved = solve(gather(row.outputs, Context(row.task, row.system, row.arguments)), row.answer)
        values = [
            (binding.frame.mention.start, binding.frame.mention.end,
             value_features(binding, derivation, solved.base, solved.sources))
            for binding, derivation in solved.values
            if binding.frame.mention.value.kind is not Kind.ID or not binding.equal
        ]  # fmt: skip
        states = [
            (each.claim.frame.mention.start, each.claim.frame.mention.end,
             state_features(each, bool(each.claim.frame.label), each.claim.frame.text))
            for each in solved.states
            if each.equal is not None or each.other is not None
        ]  # fmt: skip
        found.append(Features(row, values, states))
    return found


def samples(name: str, rows: list[Features], states: bool, model: HistGradientBoostingClassifier | None):
    """Return features, labels and weights: of an answer that is wrong somewhere, its least probable claim."""
    x, y, weights = [], [], []
    every = [each.states if states else each.values for each in rows]
    flat = [features for claims in every for _, _, features in claims]
    if model is None:
        guesses = iter([_first_guess(each, states) for each in flat])
    else:
        guesses = iter(model.predict_proba(np.array(flat))[:, 1] if flat else ())
    scores_of = [[float(next(guesses)) for _ in claims] for claims in every]
    for (row, values, stated), scores in zip(rows, scores_of, strict=True):
        claims = stated if states else values
        if not claims or row.label == "uncertain":
            continue
        if row.label == "grounded":
            for _, _, features in claims:
                x.append(features), y.append(1), weights.append(WEIGHT[name] / len(claims) ** 0.25)
        elif row.wrong:
            for start, end, features in claims:
                if any(start < high and low < end for low, high in row.wrong):
                    x.append(features), y.append(0), weights.append(1.5 * WEIGHT[name])
        elif not states or not values:
            features = [each for _, _, each in claims]
            x.append(features[int(np.argmin(scores))]), y.append(0), weights.append(WEIGHT[name])
    return x, y, weights


def _balanced(name: str, x: list, y: list, weights: list) -> tuple[list, list, list]:
    """Return samples with a set's right and wrong claims of one weight each, however many there are.

    What a set's share of wrong answers is says how it was made, and nothing about an agent's answers.
    """
    total = {label: sum(w for w, each in zip(weights, y, strict=True) if each == label) for label in (0, 1)}
    size = 1000.0 * WEIGHT[name]
    return x, y, [size * w / total[each] for w, each in zip(weights, y, strict=True)]


def _first_guess(features: list[float], states: bool) -> float:
    names = STATE_FEATURES if states else VALUE_FEATURES
    stated = dict(zip(names, features, strict=True))
    if states:
        return stated["margin"]
    given = max(stated["task"], stated["system"], stated["arguments"])
    derived = stated["hit"] * (0.8 - 0.4 * stated["chance"])
    return max(stated["equal"] * (1 + 0.3 * stated["margin"]), derived, given) - 0.5 * stated["misprint"]


def fit(data: dict[str, list[Features]], states: bool) -> HistGradientBoostingClassifier:
    """Return a model trained on some sets."""
    names = STATE_FEATURES if states else VALUE_FEATURES
    signs = [1 if name in RISING else -1 if name in FALLING else 0 for name in names]
    model = None
    for _ in range(2):
        parts = [_balanced(name, *samples(name, rows, states, model)) for name, rows in data.items()]
        x, y, weights = (np.array([each for part in parts for each in part[column]]) for column in range(3))
        model = HistGradientBoostingClassifier(
            max_iter=50, max_depth=4, learning_rate=0.15, min_samples_leaf=25, l2_regularization=2.0,
            monotonic_cst=signs, random_state=0,
        ).fit(x, y, sample_weight=weights)  # fmt: skip
    return model


class Answer(NamedTuple):
    """An answer's least probable value and state, and its number of claims."""

    row: Row
    value: float
    state: float
    claims: int


def judge(model: Model, rows: list[Features]) -> list[Answer]:
    """Return the least probabilities of each answer."""
    values = _least(model.values, [each.values for each in rows])
    states = _least(model.states, [each.states for each in rows])
    return [
        Answer(each.row, value, state, len(each.values) + len(each.states))
        for each, value, state in zip(rows, values, states, strict=True)
    ]


def _least(
    model: HistGradientBoostingClassifier, rows: list[list[tuple[int, int, list[float]]]]
) -> list[float]:
    """Return the least probability of each row's claims, 1 where it has none; all are predicted at once."""
    flat = [features for claims in rows for _, _, features in claims]
    scores = iter(model.predict_proba(np.array(flat))[:, 1] if flat else ())
    return [min((float(next(scores)) for _ in claims), default=1.0) for claims in rows]


def verdict(answer: Answer, limits: dict[str, float]) -> str:
    """Return an answer's verdict, as the package decides it."""
    budget = min(1.0, (6 / max(1, answer.claims)) ** 0.5)
    if answer.value < limits["accuse"] * budget or answer.state < limits["accuse_state"] * budget:
        return "contradicted"
    enough = answer.value >= limits["accept"] and answer.state >= limits["accept_state"]
    return "grounded" if answer.claims and enough else "uncertain"


def _quantile(answers: list[Answer], take: Callable[[Answer], float], accused: float) -> float:
    """Return the threshold below which so many of a set's faithful answers lie."""
    faithful = [answer for answer in answers if answer.row.label == "grounded"]
    scores = sorted(take(answer) / min(1.0, (6 / max(1, answer.claims)) ** 0.5) for answer in faithful)
    return scores[int(accused * len(scores))]


def share(answers: list[Answer], limits: dict[str, float], *, right: bool) -> float:
    """Return how many of a set's faithful, or of its other answers are accepted."""
    meant = [answer for answer in answers if (answer.row.label == "grounded") is right]
    return sum(verdict(answer, limits) == "grounded" for answer in meant) / max(1, len(meant))


def choose(judged: dict[str, list[Answer]], accused: float = 0.012, passed: float = 0.1) -> dict[str, float]:
    """Return thresholds: each set's faithful answers accused at most so often, its changed ones passed so often.

    Sets of statements about tables are left aside: their statements rest on steps that are not enumerated.
    """  # noqa: E501
    kept = [rows for name, rows in judged.items() if name in ("real", "tatqa", "golden", "pairs")]
    limits = {"accept": 0.5, "accept_state": 0.5, "accuse": 0.0, "accuse_state": 0.0}
    for name, take in (("accuse", lambda a: a.value), ("accuse_state", lambda a: a.state)):
        # The set in which alarms are most often false decides.
        limits[name] = min(
            0.35 if name == "accuse" else 0.2, *(_quantile(rows, take, accused) for rows in kept)
        )
    best = -1.0
    for accept in np.linspace(0.3, 0.9, 25):
        for state in (0.3, 0.4, 0.5, 0.6, 0.7):
            stated = {**limits, "accept": float(accept), "accept_state": state}
            # Every set counts the same, however many rows it has.
            slips = float(np.mean([share(rows, stated, right=False) for rows in kept]))
            taken = float(np.mean([share(rows, stated, right=True) for rows in kept]))
            score = taken - 3 * max(0.0, slips - passed)
            if score > best:
                best, limits = score, stated
    return limits


def report(name: str, answers: list[Answer], limits: dict[str, float]) -> None:
    """Print the verdicts on a set, by label, and for real answers by kind."""
    stated: dict[str, Counter[str]] = defaultdict(Counter)
    for answer in answers:
        found = verdict(answer, limits)
        stated[answer.row.label][found] += 1
        if name == "real":
            kind = answer.row.source if answer.row.kind == "clean" else answer.row.kind
            stated[f"{answer.row.label} {kind[:12]}"][found] += 1
    print(name, {key: round(value, 3) for key, value in limits.items()})
    for key, counted in sorted(stated.items()):
        shares = "  ".join(
            f"{each} {counted[each] / counted.total():.2f}"
            for each in ("grounded", "contradicted", "uncertain")
        )
        print(f"    {key:28}{counted.total():6}  {shares}", flush=True)


def written(model: HistGradientBoostingClassifier, names: tuple[str, ...]) -> dict[str, object]:
    """Return a model as plain numbers."""
    trees = [
        [
            [-1, round(float(node["value"]), 5), 0, 0] if node["is_leaf"]
            else [int(node["feature_idx"]), round(float(node["num_threshold"]), 5), int(node["left"]), int(node["right"])]  # noqa: E501
            for node in stage[0].nodes
        ]
        for stage in model._predictors  # noqa: SLF001 - it has no public name
    ]  # fmt: skip
    return {"features": list(names), "base": float(model._baseline_prediction.ravel()[0]), "trees": trees}  # noqa: SLF001


def as_text(model: Model, limits: dict[str, float]) -> str:
    """Return a model and its thresholds as the package reads them."""
    stated = {
        "thresholds": {key: round(value, 5) for key, value in limits.items()},
        "values": written(model.values, VALUE_FEATURES),
        "states": written(model.states, STATE_FEATURES),
    }
    return json.dumps(stated, separators=(",", ":")) + "\n"


def main() -> None:
    """Extract, train with each set left out, report; write the weights of all sets if stated so."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument(
        "--cache", type=Path, help="keep extracted features here, and use those that are kept"
    )
    parser.add_argument("--rows", type=int, default=600, help="rows of each set")
    parser.add_argument("--only", nargs="*", help="sets to leave out in turn; all without it")
    parser.add_argument(
        "--left-out", type=Path, help="write here, as SET.json, the weights trained without each set"
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    data: dict[str, list[Features]] = {}
    for name in (*SETS, "golden", *(["pairs"] if options.pairs else [])):
        kept = options.cache / f"{name}.pickle" if options.cache else None
        if kept is not None and kept.exists():
            data[name] = pickle.loads(kept.read_bytes())  # noqa: S301 - written by this script
            continue
        if name == "golden":
            rows = read_golden(ROOT / "tests/golden/groundedness")
        else:
            rows = (
                read_pairs(options.pairs) if name == "pairs" else read_set(options.truth, name, options.rows)
            )
        data[name] = extract(rows)
        print(f"{name}: {len(rows)} rows read", flush=True)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps(data[name]))
    for left in options.only if options.only is not None else data:
        rest = {name: rows for name, rows in data.items() if name != left}
        model = Model(fit(rest, states=False), fit(rest, states=True))
        limits = choose({name: judge(model, rows) for name, rows in rest.items()})
        report(left, judge(model, data[left]), limits)
        if options.left_out:
            options.left_out.mkdir(parents=True, exist_ok=True)
            (options.left_out / f"{left}.json").write_text(as_text(model, limits), encoding="utf-8")
    if options.write:
        model = Model(fit(data, states=False), fit(data, states=True))
        judged = {name: judge(model, rows) for name, rows in data.items()}
        limits = choose(judged)
        for name in data:
            report(f"(trained with) {name}", judged[name], limits)
        WEIGHTS.write_text(as_text(model, limits), encoding="utf-8")


if __name__ == "__main__":
    main()
