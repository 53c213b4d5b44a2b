"""What is open in a store, what judges settled of it, and what a judge of the rest costs for 1,000 runs.

Beside it: notifications of alerts that a target did not get.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

from rich.text import Text

from spanproof.cli.options.store import opened_store
from spanproof.cli.output.console import console, select_attributes, write_json
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.words import format_count
from spanproof.config.model import JudgeChoice
from spanproof.evaluators.judge.estimate import EXAMPLE_MODEL
from spanproof.evaluators.judge.measure import Share
from spanproof.evaluators.prices import find_price
from spanproof.store import Delivery, Store
from spanproof.store.judging import OpenVerdicts, list_open_verdicts

_WINDOW_NS: Final = 7 * 86_400 * 10**9


def write_open_verdicts(location: str, choice: JudgeChoice, *, as_json: bool) -> None:
    """Write what is open in a store in the last seven days, by layer, and what is undelivered.

    Args:
        location: of the store.
        choice: the configured judge, whose model has the price.
        as_json: as one JSON object.
    """
    model = choice.model or EXAMPLE_MODEL
    end = time.time_ns() + 1
    with opened_store(location) as store:
        price = find_price(model, choice.load_prices())
        found = list_open_verdicts(store, price, start_ns=end - _WINDOW_NS, end_ns=end)
        undelivered = _list_undelivered(store, end - _WINDOW_NS)
    if as_json:
        layers = [_to_row(item) for item in found]
        missing = [select_attributes(item, "rule target state attempts error") for item in undelivered]
        write_json(
            {"judge": choice.model or None, "priced_as": model, "layers": layers, "undelivered": missing}
        )
        return
    names = ("layer", "open", "settled by a judge", "a judge of it, for 1,000 runs")
    table = build_listing(*names, title="open verdicts of the last 7 days", gap=2)
    for item in found:
        table.add_row(
            item.layer.value, _format_share(item.open), _format_share(item.settled), _format_dollars(item)
        )
    console.print(table)
    console.print(Text(_describe_judge(choice, model)), soft_wrap=True)
    _write_undelivered(undelivered)


def _list_undelivered(store: Store, since_ns: int) -> list[Delivery]:
    """Return deliveries that go on to be tried, and those given up since then, the newest first."""
    return [
        delivery
        for delivery in store.alerts.deliveries()
        if not delivery.is_settled or (delivery.state == "given_up" and delivery.at_ns >= since_ns)
    ]


def _write_undelivered(deliveries: Iterable[Delivery]) -> None:
    """Print how many notifications each target did not get, with the newest error."""
    by_target: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        by_target.setdefault(delivery.target, []).append(delivery)
    for target, missing in by_target.items():
        newest = missing[0]
        count = format_count(len(missing), "notification")
        text = f"{target} did not get {count}, the newest of {newest.rule}: {newest.state} {newest.error}"
        console.print(format_line(text.strip()), soft_wrap=True)
    if by_target:
        console.print("`spanproof alerts list` shows the alerts and every error.")


def _describe_judge(choice: JudgeChoice, model: str) -> str:
    if choice.model:
        return f"The judge is {choice.model}{f' at {choice.endpoint}' if choice.endpoint else ''}."
    return (
        f"No judge is configured; the costs are those of {model}. An endpoint and a model are enough, and a"
        " local server costs nothing: judge: {endpoint: http://localhost:11434/v1, model: qwen3:8b}"
    )


def _to_row(found: OpenVerdicts) -> dict[str, Any]:
    return {
        "layer": found.layer.value,
        "judgeable": found.open.whole,
        "open": found.open.part,
        "open_share": found.open.value,
        "queried": found.settled.whole,
        "settled": found.settled.part,
        "settled_share": found.settled.value,
        "dollars_per_1000_runs": found.dollars_per_1000_runs,
    }


def _format_share(share: Share) -> str:
    if share.value is None:
        return "–"
    return f"{share.value:.0%} ({share.part:,} of {share.whole:,})"


def _format_dollars(found: OpenVerdicts) -> str:
    dollars = found.dollars_per_1000_runs
    return "–" if dollars is None else f"about ${dollars:.2f}"
