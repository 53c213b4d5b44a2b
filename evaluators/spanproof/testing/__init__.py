"""Tests of agents with pytest: the plug-in and its fixture.

This file and `plugin` import nothing of the evaluators: pytest loads them in every project that has
Spanproof.
"""
