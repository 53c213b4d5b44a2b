"""How an experiment is run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tools(StrEnum):
    """Where the answers to the agent's tool calls come from."""

    LIVE = "live"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class Settings:
    """How each case is tried.

    Attributes:
        trials: how often each case is tried.
        jobs: trials at once.
        seed: of the experiment; each trial has its own, by case and number.
        timeout_s: of one trial; the agent is killed then, with all that it started.
        tools: who answers tool calls; programs and services always call their own.
        refuse_unknown: whether a call that is not on record raises in the agent; else it is made live.
        listen_port: of loopback, where a service sends its spans (OTLP over HTTP).
        max_tokens, max_cost_usd: of the whole experiment; no further trial begins beyond them.
    """

    trials: int = 1
    jobs: int = 2
    seed: int = 0
    timeout_s: float = 120.0
    tools: Tools = Tools.LIVE
    refuse_unknown: bool = True
    listen_port: int = 4318
    max_tokens: int | None = None
    max_cost_usd: float | None = None
