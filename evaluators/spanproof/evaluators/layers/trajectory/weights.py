"""The weights and bounds of the trajectory layer.

The layer's value is the weighted mean of the metrics that could be measured; a metric that was skipped takes
its weight with it. The label does not come from the value: it fails for the reasons in `FAILING`, whatever
the other metrics say. The table in docs/layers/trajectory.md is held against this file by a test.
"""

from __future__ import annotations

from spanproof.evaluators.scores import get_weights
from spanproof.trace import Layer

WEIGHTS = get_weights(Layer.TRAJECTORY, "trajectory")
"""Weight of each metric in the composite, from the registry of scores; they add up to 1."""

TOOL_CALLING = get_weights(Layer.TRAJECTORY, "tool_calling")
"""Weight of each of the four in `tool_calling`; they add up to 1."""

REASONING = {"stated": 0.25, "consistent": 0.40, "errors_read": 0.35}
"""Weight of each part of `reasoning_quality`; they add up to 1."""

FAILING = ("loops", "recovery", "answered", "action_safety")
"""A failed metric among these fails the trajectory, named in this order."""

USUAL_ACTIONS = 5
"""A run that takes more actions than this is less efficient in proportion: long runs fail more often."""

LOOP_REPEATS = 3
"""So many times the same action with the same outcome is a loop."""

STUCK_REPEATS = 4
"""So many failures in a row with the same error are a loop whatever was changed between them."""

ALIKE = 0.6
"""Share of names two pieces of code must have in common to be nearly the same action."""

LOOP_GAP = 3
"""Repeats further apart than this many actions are no loop: something else was done in between."""

STEPS_AT_HALF = 10
ERRORS_AT_HALF = 2
TOKENS_AT_HALF = 20_000
DOLLARS_AT_HALF = 0.10
"""Where `steps_score`, `consecutive_errors_score`, `tokens_score` and `cost_usd_score` are 0.5.

Steps, tokens and dollars: about what an ordinary run takes; errors: more than one in a row is a bad sign.
"""
