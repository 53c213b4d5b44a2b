"""An agent that calls a shop over HTTP, on a scripted model; run in a process of its own."""

from __future__ import annotations

import json
import urllib.request
from contextlib import suppress
from typing import Any

from smolagents import CodeAgent, tool
from support_agents import ScriptedModel, turn

SHOP = "http://shop.example.com/orders"


@tool
def fetch(path: str) -> str:
    """Fetch a page of the shop.

    Args:
        path: what follows its address.
    """
    with urllib.request.urlopen(SHOP + path, timeout=20) as response:
        return str(response.read().decode())


@tool
def refund(order: str, cents: int) -> str:
    """Refund an order.

    Args:
        order: its id.
        cents: how much.
    """
    body = json.dumps({"order": order, "cents": cents}).encode()
    request = urllib.request.Request(SHOP, body, {"content-type": "application/json"}, method="POST")
    with suppress(OSError), urllib.request.urlopen(request, timeout=20) as response:
        return str(response.read().decode())
    return "refused"


def _make(*code: str) -> Any:
    turns = [turn("I call.", each) for each in code]
    model = ScriptedModel([*turns, turn("Done.", "final_answer('45.00')")])
    return CodeAgent(tools=[fetch, refund], model=model, verbosity_level=0)


def clerk() -> Any:
    return _make("print(fetch('?id=A-17'))")


def busy_clerk() -> Any:
    return _make("print(fetch('?id=A-17'))", "print(refund('A-17', 4500))")
