"""Recorded HTTP calls, answered inside the program's own network namespace."""
