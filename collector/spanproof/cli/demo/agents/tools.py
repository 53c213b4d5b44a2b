"""The tools of the demo's agents: a small shop's order and refund records, in cents."""

from __future__ import annotations

from typing import Any

from smolagents import tool

_REFUNDS: dict[str, list[dict[str, Any]]] = {
    "A-17": [
        {"item": "lamp", "cents": 3000, "status": "refunded"},
        {"item": "bulb", "cents": 1500, "status": "refunded"},
    ],
}
_ORDERS: dict[str, dict[str, Any]] = {
    "A-17": {"customer": "C-204", "currency": "USD", "total_cents": 12500, "items": 3},
    "B-02": {"customer": "C-204", "currency": "USD", "total_cents": 7500, "items": 2},
}


@tool  # type: ignore[untyped-decorator]
def refund_lines(order_id: str) -> list[dict[str, Any]]:
    """The refunds of an order, one entry per item.

    Args:
        order_id: Number of the order, like "A-17".
    """
    return [dict(line) for line in _REFUNDS[order_id]]


@tool  # type: ignore[untyped-decorator]
def find_order(order_id: str) -> dict[str, Any]:
    """An order's customer, currency, total in cents and number of items.

    Args:
        order_id: Number of the order, like "A-17".
    """
    return dict(_ORDERS[order_id])


@tool  # type: ignore[untyped-decorator]
def shipping_cents(order_id: str) -> int:
    """What shipping of an order cost, in cents.

    Args:
        order_id: Number of the order, like "A-17".
    """
    return 250 * int(_ORDERS[order_id]["items"])
