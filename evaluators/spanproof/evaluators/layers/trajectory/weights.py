"""Every weight and bound of the trajectory layer, in one place.

The layer's value is the weighted mean of the metrics that could be measured; a metric that was skipped takes
its weight with it. The label does not come from the value: it fails for the reasons in `FAILING`, whatever
the other metrics say.
"""

from __future__ import annotations

WEIGHTS = {
    "task_completion": 0.25,
    "recovery": 0.15,
    "loops": 0.15,
    "action_safety": 0.15,
    "step_efficiency": 0.12,
    "goal_progress": 0.10,
    "tool_selection": 0.08,
}
"""Weight of each metric in the composite; they add up to 1."""

FAILING = ("loops", "recovery", "task_completion", "action_safety")
"""A failed metric among these fails the trajectory, in this order of telling."""

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
