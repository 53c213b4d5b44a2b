"""Prints `docs/semconv.md`."""

from spanproof.semconv.reference import reference

print(reference(), end="")
