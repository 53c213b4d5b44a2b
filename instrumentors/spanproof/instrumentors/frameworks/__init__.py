"""Instrumentors, one for each framework."""
