"""The scenarios by name, each with the cohort it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spanproof.cli.demo.agents import coders, graphs


@dataclass(frozen=True, slots=True)
class Scenario:
    """One agent run.

    Attributes:
        name: as it is shown and chosen.
        run: does the run and returns the agent's answer.
        prompt_version: `v1` is the prompt that works, `v2` the change that made it worse.
        task: what kind of task it is.
    """

    name: str
    run: Callable[[], str]
    prompt_version: str
    task: str


SCENARIOS = (
    Scenario("faithful", coders.faithful, "v1", "refund-total"),
    Scenario("misquote", coders.misquote, "v2", "refund-total"),
    Scenario("secret", coders.secret, "v2", "refund-total"),
    Scenario("loop", coders.loop, "v2", "refund-total"),
    Scenario("tools", coders.tools, "v1", "order-cost"),
    Scenario("langgraph", graphs.langgraph, "v1", "refund-total"),
)
