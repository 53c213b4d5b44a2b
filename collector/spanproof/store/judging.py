"""What is open, what judges settled of it, and what a judge of the rest costs for 1,000 runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spanproof.evaluators.judge.estimate import compute_token_estimate
from spanproof.evaluators.judge.measure import Share
from spanproof.evaluators.prices import Price
from spanproof.store.store import Store
from spanproof.trace import Layer, Scored, State, get_state

# Open traces whose size the estimate is taken from; reading one takes about 2 ms.
_SAMPLED: Final = 50
_PER_THOUSAND: Final = 1_000
_JUDGED_LAYERS: Final = (Layer.CORRECTNESS, Layer.BOUNDARY, Layer.GROUNDEDNESS)


@dataclass(frozen=True, slots=True)
class OpenVerdicts:
    """The open verdicts of one layer.

    Attributes:
        open: of the verdicts that could be given, those that are open.
        settled: of the verdicts that a judge was queried about, those that it settled.
        dollars_per_1000_runs: what asking the judge about what is open costs; None where nothing is open or
            the price is not known.
    """

    layer: Layer
    open: Share
    settled: Share
    dollars_per_1000_runs: float | None


def list_open_verdicts(
    store: Store, price: Price | None, *, start_ns: int, end_ns: int, cohort: Mapping[str, str] | None = None
) -> list[OpenVerdicts]:
    """Return what is open on each layer that a judge can settle.

    Args:
        store: that is read.
        price: of the judge's model.
        start_ns: Unix nanoseconds of the first span time counted.
        end_ns: Unix nanoseconds of the first span time no longer counted.
        cohort: dimension to value.
    """
    judged = store.browse.count_judged(start_ns=start_ns, cohort=cohort or {})
    if price is not None:
        costs = _group_costs(store, price, start_ns, cohort or {})
    else:
        costs = {}
    found = []
    for layer in _JUDGED_LAYERS:
        counted = store.fail_rate(layer, cohort=cohort, start_ns=start_ns, end_ns=end_ns, failing=0)
        share = Share(counted.open, counted.judgeable)
        own = costs.get(layer, [])
        dollars = None
        if own and share.value is not None:
            dollars = _PER_THOUSAND * share.value * sum(own) / len(own)
        queried, settled = judged.get(layer, (0, 0))
        found.append(OpenVerdicts(layer, share, Share(settled, queried), dollars))
    return found


def _group_costs(
    store: Store, price: Price, start_ns: int, cohort: Mapping[str, str]
) -> dict[Layer, list[float]]:
    """Return what judging each of some open verdicts would cost, by layer."""
    rows = store.traces(since_ns=start_ns, states=[State.OPEN], limit=_SAMPLED, cohort=cohort)
    costs: dict[Layer, list[float]] = {}
    for evaluation in store.evaluations([row.trace_id for row in rows]):
        for run in evaluation.runs:
            for layer, outcome in run.layers.items():
                if isinstance(outcome, Scored) and get_state(outcome) is State.OPEN:
                    tokens = compute_token_estimate(run.run, layer, outcome)
                    costs.setdefault(layer, []).append(
                        price.compute_dollars(tokens.tokens_in, tokens.tokens_out)
                    )
    return costs
