"""Agents under test by pytest: the plug-in, and what its fixture gives.

This file and `plugin` import nothing of the evaluators: pytest loads them in every project that has
Spanproof.
"""
