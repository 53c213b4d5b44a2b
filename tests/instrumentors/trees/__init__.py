"""Scenarios whose span trees are golden files: `tests/golden/instrumentors/<framework>_<scenario>.txt`.

A scenario is a function of what is recorded; one that runs things side by side says so with `_side_by_side`
at the end of its name, since its siblings have no order.
"""
