"""`spanproof report calibration`: how far each layer, and the judge, agrees with people's labels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import click
from rich.table import Table

from spanproof.cli.exit_codes import EXIT_GATE_FAILED, EXIT_PASS
from spanproof.cli.options.store import StoreQuery, opened_store, with_store_query_options
from spanproof.cli.output.console import console, write_json, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.evaluators.intervals import Interval, compute_wilson_interval
from spanproof.evaluators.judge.agreement import compute_agreement
from spanproof.evaluators.run_state import EXTERNAL_PREFIX
from spanproof.trace import Layer, Score, State, get_state


@click.command("calibration")
@with_store_query_options
@click.option("--source", default="human", show_default=True, help="Source of the labels.")
@click.option("--name", help="Only labels of this name.")
@click.option(
    "--at-least",
    type=click.FloatRange(-1, 1),
    help="Exit with 1 if the lower end of a kappa's interval is below this.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line per layer and evaluator on stdout.")
def command(query: StoreQuery, source: str, name: str | None, at_least: float | None, as_json: bool) -> int:
    """Compare each layer's verdicts with people's labels of the same runs.

    Labels are scores from elsewhere with a verdict, of the layer that they are about. Precision is the share
    of the layer's fails that people fail, recall the share of people's fails that the layer fails; both and
    Cohen's kappa with their 95 % intervals, by layer and by the evaluator that settled it, such as a judge.
    """
    with opened_store(query.location) as store:
        cohort = {"project": query.project} if query.project else None
        pairs: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
        for layer in Layer:
            scores = list(store.scores(layer=layer, cohort=cohort, start_ns=query.since_ns))
            for evaluator, people, ours in _iter_verdict_pairs(
                layer, scores, f"{EXTERNAL_PREFIX}{source}", name
            ):
                for item in ("", evaluator):
                    pairs.setdefault((layer.value, item), []).append((people, ours))
    rows = [_compute_calibration(layer, evaluator, found) for (layer, evaluator), found in pairs.items()]
    if as_json:
        for row in rows:
            write_json(row)
    elif rows:
        console.print(_build_table(rows))
    else:
        write_remark(
            f"no run has both a verdict of its layer and a label from {source!r}; see `POST /v1/scores`"
        )
    lows = [row["kappa"]["low"] for row in rows if not row["evaluator"] and row["kappa"] is not None]
    too_low = at_least is not None and (not lows or min(lows) < at_least)
    return EXIT_GATE_FAILED if too_low else EXIT_PASS


def _iter_verdict_pairs(
    layer: Layer, scores: Iterable[Score], labelled_by: str, name: str | None
) -> Iterable[tuple[str, bool, bool]]:
    """Yield evaluator, whether people pass a run, and whether the layer does, for each label."""
    own: dict[tuple[str, str], tuple[str, bool]] = {}
    labels: list[tuple[tuple[str, str], bool]] = []
    for score in scores:
        state = get_state(score.outcome)
        if not state.is_judged:
            continue
        run_key, passes = (score.trace_id, score.run_span_id), state is State.PASS
        if score.name == layer.value:
            own[run_key] = (score.evaluator, passes)
        elif score.evaluator == labelled_by and name in (None, score.name):
            labels.append((run_key, passes))
    for run_key, people in labels:
        if run_key in own:
            evaluator, ours = own[run_key]
            yield evaluator, people, ours


def _compute_calibration(layer: str, evaluator: str, pairs: list[tuple[bool, bool]]) -> dict[str, Any]:
    both_fail = pairs.count((False, False))
    ours, theirs = sum(not passes for _, passes in pairs), sum(not passes for passes, _ in pairs)
    agreed = compute_agreement([people for people, _ in pairs], [ours for _, ours in pairs])
    if math.isnan(agreed.kappa):
        kappa = None
    else:
        kappa = {"value": agreed.kappa, "low": agreed.low, "high": agreed.high}
    return {
        "layer": layer,
        "evaluator": evaluator or None,
        "labels": len(pairs),
        "precision": _compute_share(both_fail, ours),
        "recall": _compute_share(both_fail, theirs),
        "kappa": kappa,
    }


def _compute_share(part: int, whole: int) -> dict[str, Any] | None:
    interval: Interval | None = compute_wilson_interval(part, whole)
    if interval is None:
        return None
    return {"value": part / whole, "low": interval.low, "high": interval.high, "n": whole}


def _build_table(rows: list[dict[str, Any]]) -> Table:
    table = build_listing("layer", "settled by", "labels", "precision", "recall", "kappa")
    for row in rows:
        table.add_row(
            row["layer"],
            format_line(row["evaluator"] or "all"),
            str(row["labels"]),
            *(_format_share(row[key]) for key in ("precision", "recall")),
            "–" if row["kappa"] is None else "{value:.2f} ({low:.2f} to {high:.2f})".format(**row["kappa"]),
        )
    return table


def _format_share(share: dict[str, Any] | None) -> str:
    if share is None:
        return "–"
    return "{value:.0%} ({low:.0%} to {high:.0%}) of {n}".format(**share)
