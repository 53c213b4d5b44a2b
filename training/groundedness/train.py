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
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data import SETS, Row, is_kept, read_golden, read_pairs, read_set
from generated import generate
from periods import generate_periods
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from spanproof.evaluators.groundedness_rules import GroundednessRule as Rule
from spanproof.evaluators.layers.groundedness.choose.features import (
    STATE_FEATURES,
    VALUE_FEATURES,
    state_features,
    value_features,
)
from spanproof.evaluators.layers.groundedness.choose.model import Choice, Thresholds, Trees
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.solve.solver import solve
from spanproof.evaluators.layers.groundedness.sources.model import Context, gather
from spanproof.evaluators.layers.groundedness.verdict.decide import decide

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / "evaluators/spanproof/evaluators/layers/groundedness/choose/weights.json"
# Statements of tables are claims of another manner than answers of agents: they count less.
WEIGHT = {
    "real": 1.0,
    "tatqa": 1.0,
    "golden": 1.0,
    "pairs": 1.0,
    "generated": 0.7,
    "periods": 0.5,
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
        "free_margin",
        "beside",
        "shown",
        "equal_context",
        "requested_hit",
        "requested_lead",
        "hit_sign",
        "hit_subject",
        "subject",
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
        "free_same_field",
        "requested_slip",
        "operand",
        "hit_fair_chance",
    ]
)


JUDGED = ("real", "tatqa", "golden", "pairs")
"""The sets whose rows are answers; statements of tables rest on steps that are not enumerated."""
_RELATIONS = frozenset((Rule.SUPERLATIVE, Rule.COMPARISON, Rule.QUANTIFIER, Rule.DIRECTION))


class Claimed(NamedTuple):
    """A claim of a row: its features, and what the rules and the sources say of it whatever its probability.

    Attributes:
        kind: `value` or `state`, which a model judges, or `relation`, which is settled or open without one.
        least: the probability that a rule gives it at least.
        settled: whether a rule refutes it; `refutable` whether another value may take its place.
        supported: whether something bears it out.
        known: whether it is an identifier that a source has, which the models are not trained with.
    """

    kind: str
    start: int
    end: int
    features: list[float]
    least: float
    settled: bool
    refutable: bool
    supported: bool
    known: bool


class Features(NamedTuple):
    """A row with its claims."""

    row: Row
    claims: list[Claimed]

    def of(self, kind: str) -> list[Claimed]:
        """Return the claims of a kind that a model is trained with."""
        return [claim for claim in self.claims if claim.kind == kind and not claim.known]


class Model(NamedTuple):
    """A model of values, one of states."""

    values: HistGradientBoostingClassifier
    states: HistGradientBoostingClassifier


def _constant(probability: float) -> Choice:
    """Return a choice that gives every claim the same probability: what is decided then, the rules decide."""
    odds = 40.0 * (2 * probability - 1)
    trees = Trees((), odds, ())
    return Choice(trees, trees, Thresholds(0.5, 0.5, 0.0, 0.0))


_NEVER, _ALWAYS = _constant(0.0), _constant(1.0)


def extract(rows: list[Row]) -> list[Features]:
    """Return the claims of rows."""
    found = []
    for row in rows:
        solved = solve(gather(row.outputs, Context(row.task, row.system, row.arguments)), row.answer)
        features: dict[tuple[int, int, bool], list[float]] = {}
        for binding, derivation in solved.values:
            place = (binding.frame.mention.start, binding.frame.mention.end, False)
            features[place] = value_features(binding, derivation, solved.base, solved.sources, solved.read)
        for stated in solved.states:
            mention = stated.claim.frame.mention
            features[mention.start, mention.end, True] = state_features(stated)
        pairs = zip(decide(solved, _NEVER).claims, decide(solved, _ALWAYS).claims, strict=True)
        found.append(Features(row, [_claimed(low, high, features) for low, high in pairs]))
    return found


def _claimed(low: Claim, high: Claim, features: dict[tuple[int, int, bool], list[float]]) -> Claimed:
    is_state = low.kind is ClaimKind.STATUS
    relation = low.rule in _RELATIONS or (low.start, low.end, is_state) not in features
    return Claimed(
        "relation" if relation else "state" if is_state else "value",
        low.start,
        low.end,
        [] if relation else features[low.start, low.end, is_state],
        low.confidence if high.verdict is not Verdict.CONTRADICTED else 0.0,
        high.verdict is Verdict.CONTRADICTED,  # whatever its probability: by a rule
        low.verdict is Verdict.CONTRADICTED,
        high.verdict is Verdict.GROUNDED,
        low.rule is Rule.KNOWN_IDENTIFIER,
    )


def samples(name: str, rows: list[Features], states: bool, model: HistGradientBoostingClassifier | None):
    """Return features, labels and weights: of an answer that is wrong somewhere, its least probable claim."""
    x, y, weights = [], [], []
    kind = "state" if states else "value"
    every = [[(c.start, c.end, c.features) for c in each.of(kind)] for each in rows]
    flat = [features for claims in every for _, _, features in claims]
    if model is None:
        guesses = iter([_first_guess(each, states) for each in flat])
    else:
        guesses = iter(model.predict_proba(np.array(flat))[:, 1] if flat else ())
    scores_of = [[float(next(guesses)) for _ in claims] for claims in every]
    for (row, claimed), claims, scores in zip(rows, every, scores_of, strict=True):
        row_has_both = {"value", "state"} <= {claim.kind for claim in claimed}
        if not claims or row.label == "uncertain":
            continue
        if row.label == "grounded":
            for _, _, features in claims:
                x.append(features), y.append(1), weights.append(WEIGHT[name] / len(claims) ** 0.25)
        elif row.wrong:
            for start, end, features in claims:
                if any(start < high and low < end for low, high in row.wrong):
                    x.append(features), y.append(0), weights.append(1.5 * WEIGHT[name])
        elif not states or not row_has_both:
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
    """An answer's claims with their probabilities."""

    row: Row
    claims: list[tuple[Claimed, float]]

    @property
    def budget(self) -> float:
        """Return what the thresholds of accusation are multiplied by, as the package does."""
        return min(1.0, (6 / max(1, len(self.claims))) ** 0.5)


def judge(model: Model, rows: list[Features]) -> list[Answer]:
    """Return the probabilities of each answer's claims; all are predicted at once."""
    scores: dict[str, Iterator[float]] = {"relation": repeat(1.0)}
    for kind, trees in (("value", model.values), ("state", model.states)):
        flat = [claim.features for each in rows for claim in each.claims if claim.kind == kind]
        scores[kind] = iter(trees.predict_proba(np.array(flat))[:, 1] if flat else ())
    return [
        Answer(row, [(claim, max(claim.least, float(next(scores[claim.kind])))) for claim in claims])
        for row, claims in rows
    ]


def verdict(answer: Answer, limits: dict[str, float]) -> str:
    """Return an answer's verdict, as the package decides it."""
    grounded = bool(answer.claims)
    for claim, probability in answer.claims:
        ending = "_state" if claim.kind == "state" else ""
        accuse = limits[f"accuse{ending}"] * answer.budget
        if claim.settled or (claim.refutable and (probability <= 0.01 or probability < accuse)):
            return "contradicted"
        enough = claim.kind == "relation" or probability >= limits[f"accept{ending}"]
        grounded = grounded and claim.supported and enough
    return "grounded" if grounded else "uncertain"


def _quantile(answers: list[Answer], kind: str, accused: float) -> float:
    """Return the threshold below which so many of a set's faithful answers lie."""
    faithful = [answer for answer in answers if answer.row.label == "grounded"]
    scores = sorted(
        min((p for claim, p in each.claims if claim.kind == kind and claim.refutable), default=1.0)
        / each.budget
        for each in faithful
    )
    return scores[int(accused * len(scores))]


def choose(judged: dict[str, list[Answer]], accused: float = 0.015, passed: float = 0.15) -> dict[str, float]:
    """Return thresholds: faithful answers are accused at most so often, changed ones passed so often.

    Every set is judged by a model that has not seen it: of sets that it was trained with, a model is too sure.
    States are many in an answer and seldom in a table: they get a tenth of the accusations.
    """  # noqa: E501
    limits = {"accept": 0.0, "accept_state": 0.0, "accuse": 0.0, "accuse_state": 0.0}
    for name, kind, most, share in (
        ("accuse", "value", 0.35, accused),
        ("accuse_state", "state", 0.05, accused / 10),
    ):
        # The set in which alarms are most often false decides.
        limits[name] = min(most, *(_quantile(rows, kind, share) for rows in judged.values()))
    # What is left open whatever the thresholds of acceptance are, is never accepted.
    least = {
        right: [
            np.array([
                [_least(each, "value"), _least(each, "state")] if verdict(each, limits) == "grounded" else [-1, -1]  # noqa: E501
                for each in rows if (each.row.label == "grounded") is right
            ])
            for rows in judged.values()
        ]
        for right in (True, False)
    }  # fmt: skip
    best = -1.0
    # In the sets as weighted half of the claims are wrong, in use few: below .46 too many wrong ones pass.
    for accept in np.linspace(0.46, 0.8, 35):
        for state in np.linspace(0.5, 0.9, 9):
            # Every set counts the same, however many rows it has.
            taken, slips = (
                float(np.mean([np.mean((rows >= (accept, state)).all(axis=1)) for rows in least[right]]))
                for right in (True, False)
            )
            score = taken - 3 * max(0.0, slips - passed)
            if score > best:
                best = score
                limits |= {"accept": float(accept), "accept_state": float(state)}
    return limits


def _least(answer: Answer, kind: str) -> float:
    """Return the least probability of an answer's claims of a kind, 1 where it has none."""
    return min((probability for claim, probability in answer.claims if claim.kind == kind), default=1.0)


class Trainer:
    """Trains a model of all sets but some, each once."""

    def __init__(self, data: dict[str, list[Features]]) -> None:
        self.data = data
        self.models: dict[frozenset[str], Model] = {}

    def model(self, *without: str) -> Model:
        """Return the model of all sets but these."""
        key = frozenset(without)
        if key not in self.models:
            rest = {name: rows for name, rows in self.data.items() if name not in key}
            self.models[key] = Model(fit(rest, states=False), fit(rest, states=True))
        return self.models[key]

    def limits(self, *without: str) -> dict[str, float]:
        """Return thresholds chosen on each other set that is judged, by a model that has not seen it either."""  # noqa: E501
        others = [name for name in JUDGED if name in self.data and name not in without]
        return choose({name: judge(self.model(*without, name), self.data[name]) for name in others})


OF_ANSWER = ("digits", "small", "year", "spelled", "soft", "negated", "inexact", "few", "requested")
"""What is known of a value claim without any output; its kind is as well."""


def control(trainer: Trainer, left: str) -> tuple[float, float]:
    """Return how well a set's right and wrong values are separated, as the area under the curve.

    First by the model that has not seen the set, then by one of its like that sees the answer alone: where
    the second is not near .5, what was changed shows without the outputs.
    """
    seen = [place for place, name in enumerate(VALUE_FEATURES) if name in OF_ANSWER or name.startswith("is_")]
    rest = {name: rows for name, rows in trainer.data.items() if name != left}
    parts = [_balanced(name, *samples(name, rows, states=False, model=None)) for name, rows in rest.items()]
    x, y, weights = (np.array([each for part in parts for each in part[column]]) for column in range(3))
    blind = HistGradientBoostingClassifier(max_iter=50, max_depth=4, learning_rate=0.15, min_samples_leaf=25, random_state=0)  # fmt: skip  # noqa: E501
    blind.fit(x[:, seen], y, sample_weight=weights)
    model = trainer.model(left).values
    x, y, _ = (np.array(each) for each in samples(left, trainer.data[left], states=False, model=model))
    return (
        float(roc_auc_score(y, model.predict_proba(x)[:, 1])),
        float(roc_auc_score(y, blind.predict_proba(x[:, seen])[:, 1])),
    )


def report(name: str, answers: list[Answer], limits: dict[str, float]) -> None:
    """Print the verdicts on the half of a set that is reported, by label, and for real answers by kind."""
    stated: dict[str, Counter[str]] = defaultdict(Counter)
    for answer in answers:
        if name in SETS and not is_kept(answer.row.family):
            continue
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
    parser.add_argument(
        "--rows", type=int, default=600, help="rows of each set of statements; of answers all are read"
    )
    parser.add_argument("--only", nargs="*", help="sets to leave out in turn; all without it")
    parser.add_argument(
        "--left-out", type=Path, help="write here, as SET.json, the weights trained without each set"
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    data: dict[str, list[Features]] = {}
    for name in (*SETS, "golden", "generated", "periods", *(["pairs"] if options.pairs else [])):
        kept = options.cache / f"{name}.pickle" if options.cache else None
        if kept is not None and kept.exists():
            data[name] = pickle.loads(kept.read_bytes())  # noqa: S301 - written by this script
            continue
        if name == "golden":
            rows = read_golden(ROOT / "tests/golden/groundedness")
        elif name == "generated":
            rows = generate(options.rows // 2)
        elif name == "periods":
            rows = generate_periods(options.rows // 2)
        else:
            rows = (
                read_pairs(options.pairs)
                if name == "pairs"
                else read_set(options.truth, name, 1 << 30 if name in JUDGED else options.rows)
            )
        data[name] = extract(rows)
        print(f"{name}: {len(rows)} rows read", flush=True)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps(data[name]))
    trainer = Trainer(data)
    for left in options.only if options.only is not None else data:
        if left in ("generated", "periods"):
            continue
        model, limits = trainer.model(left), trainer.limits(left)
        report(left, judge(model, data[left]), limits)
        print("    values separated: {:.2f}, by the answer alone: {:.2f}".format(*control(trainer, left)))
        if options.left_out:
            options.left_out.mkdir(parents=True, exist_ok=True)
            (options.left_out / f"{left}.json").write_text(as_text(model, limits), encoding="utf-8")
    if options.write:
        model, limits = trainer.model(), trainer.limits()
        for name, rows in data.items():
            report(f"(trained with) {name}", judge(model, rows), limits)
        WEIGHTS.write_text(as_text(model, limits), encoding="utf-8")


if __name__ == "__main__":
    main()
